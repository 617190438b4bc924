//! Comparisons of slices, streams and files must agree with a loop over bytes.

use std::ffi::CString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use ftk_compare::{
    End, FileResources, Method, Mismatch, Options, Side, Source, compare, differences, first_difference,
};
use ftk_read::File;
use ftk_sched::Stop;

/// The length of both files before the input changes them: more than one thread compares alone.
const LEN: usize = (1 << 20) + 100_000;

/// Compares two parts of the input. If the third byte of the input is small enough, also uses its bytes, in
/// groups of four, as changes that make the second of two large files from the first.
pub fn comparisons(data: &[u8]) {
    let [cut, max, workers, data @ ..] = data else { return };
    let (a, b) = data.split_at(usize::from(*cut) * data.len() / 256);
    let options = Options { max_mismatches: u64::from(max % 16), ..Options::default() };
    let expected = by_loop(a, b, &options);
    assert!(differences(a, b).eq(by_loop(a, b, &Options::default()).0.iter().map(|it| it.offset as usize)));
    assert_eq!(first_difference(a, b), expected.0.first().map(|it| it.offset as usize));
    let (mut stream_a, mut stream_b) = (a, b);
    assert_eq!(run(Source::Stream(&mut stream_a), Source::Stream(&mut stream_b), &options, 1), expected);
    if *workers >= 128 {
        return; // Files take a hundred times as long.
    }

    let a: Vec<u8> = (0..LEN).map(|at| (at / 7) as u8).collect();
    let mut b = a.clone();
    for &[low, middle, high, len] in data.as_chunks().0 {
        let at = (usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low)) % LEN;
        let changed = at..LEN.min(at + usize::from(len) * usize::from(len));
        b[changed].iter_mut().for_each(|byte| *byte ^= len);
        if len == 255 {
            b.truncate(at);
            break;
        }
        b.resize(LEN, 0);
    }
    let dir = tempfile::tempdir().expect("a place for two files");
    let files = [("a", &a), ("b", &b)].map(|(name, bytes)| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).expect("room for two files");
        open(&path)
    });
    let expected = by_loop(&a, &b, &options);
    for method in [Method::Mapped, Method::Stream] {
        let options = Options { method, block: 512 << (max / 16), ..options };
        let [a, b] = files.each_ref().map(Source::File);
        assert!(run(a, b, &options, usize::from(workers % 8) + 1) == expected, "{method:?}");
    }
}

fn open(path: &Path) -> File {
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
    File::open(rustix::fs::CWD, &path, false).expect("it was just written")
}

type Answer = (Vec<Mismatch>, End);

fn run(a: Source<'_>, b: Source<'_>, options: &Options, workers: usize) -> Answer {
    let resources = FileResources { workers, memory: 1 << 30, stop: &Stop::new(), done: &AtomicU64::new(0) };
    let mut found = Vec::new();
    let outcome = compare(a, b, options, &resources, &mut |mismatch| {
        found.push(mismatch);
        ControlFlow::Continue(())
    });
    let outcome = outcome.expect("no other process writes to them");
    assert_eq!(outcome.mismatches, found.len() as u64);
    (found, outcome.end)
}

fn by_loop(a: &[u8], b: &[u8], options: &Options) -> Answer {
    let all = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
    let mut found: Vec<_> = all.map(|(at, (&a, &b))| Mismatch { offset: at as u64, a, b }).collect();
    let max = options.max_mismatches as usize;
    if max > 0 && found.len() >= max {
        found.truncate(max);
        let at = found[max - 1].offset + 1;
        return (found, End::Enough { at });
    }
    let side = if a.len() < b.len() { Side::A } else { Side::B };
    let shorter = End::Shorter { side, bytes: a.len().min(b.len()) as u64 };
    (found, if a.len() == b.len() { End::Together } else { shorter })
}
