//! Cases in which nothing is read: holes, the same file, and different sizes.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ftk_sched::Stop;

use super::oracle::Files;
use crate::files::Tuning;
use crate::testing::open;
use crate::{End, FileResources, Lines, Method, Mismatch, Options, Side, Source, compare, sizes_differ};

const TIB: u64 = 1 << 40;

/// Creates a file of `len` bytes that contains only the given bytes.
fn sparse(path: &Path, len: u64, bytes: &[(u64, u8)]) {
    let file = fs::File::create(path).unwrap();
    file.set_len(len).unwrap();
    for &(at, byte) in bytes {
        file.write_all_at(&[byte], at).unwrap();
    }
}

/// Reading a tebibyte would take minutes.
#[test]
fn holes_are_not_read() {
    let both = [(0, 1), (TIB / 3, 2), (TIB / 2, b'\n')];
    let files = Files::made_by(|a, b| {
        sparse(a, TIB, &both);
        sparse(b, TIB, &both);
    });
    for workers in [1, 3] {
        assert_eq!(files.compare(&Options::default(), workers, Tuning::DEFAULT).end, End::Together);
    }
    let files = Files::made_by(|a, b| {
        sparse(a, TIB, &both);
        sparse(b, TIB + 5, &[&both[..], &[(TIB - 1, 7)]].concat());
    });
    let options = Options { max_mismatches: 8, lines: true, ..Options::default() };
    for workers in [1, 3] {
        let answer = files.compare(&options, workers, Tuning::DEFAULT);
        assert_eq!(answer.found, [Mismatch { offset: TIB - 1, a: 0, b: 7 }]);
        assert_eq!(answer.end, End::Shorter { side: Side::A, bytes: TIB });
        assert_eq!(answer.lines, Some(Lines { newlines: 1, is_line_start: false }));
    }
}

#[test]
fn nothing_after_the_last_wanted_mismatch_is_read() {
    const AT: u64 = 3 << 20;
    let files = Files::made_by(|a, b| {
        sparse(a, TIB, &[]);
        sparse(b, TIB, &[(AT, 1), (AT + 1, 1), (TIB / 2, 1)]);
    });
    for method in [Method::Mapped, Method::Stream] {
        for workers in [1, 4] {
            let options = Options { max_mismatches: 2, method, shortcuts: false, ..Options::default() };
            let answer = files.compare(&options, workers, Tuning::DEFAULT);
            assert_eq!(answer.found.iter().map(|it| it.offset).collect::<Vec<_>>(), [AT, AT + 1]);
            assert_eq!(answer.end, End::Enough { at: AT + 2 });
        }
    }
}

#[test]
fn the_stop_flag_ends_a_long_search() {
    let files = Files::made_by(|a, b| {
        sparse(a, TIB, &[]);
        sparse(b, TIB, &[]);
    });
    for method in [Method::Mapped, Method::Stream] {
        for workers in [1, 3] {
            let options = Options { method, shortcuts: false, ..Options::default() };
            let (stop, done) = (Stop::new(), AtomicU64::new(0));
            let resources = FileResources { workers, memory: 1 << 30, stop: &stop, done: &done };
            let (a, b) = (Source::File(&files.a), Source::File(&files.b));
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while done.load(Relaxed) < 10 << 20 {
                        std::thread::yield_now();
                    }
                    stop.raise();
                });
                compare(a, b, &options, &resources, &mut |_| unreachable!("nothing differs"))
            });
            assert_eq!(outcome.unwrap().end, End::Stopped);
            assert!(done.load(Relaxed) < TIB);
        }
    }
}

#[test]
fn a_hole_equals_zeros() {
    const LEN: usize = 20 << 20;
    let files = Files::made_by(|a, b| {
        sparse(a, LEN as u64, &[]);
        fs::write(b, vec![0; LEN]).unwrap();
    });
    for shortcuts in [true, false] {
        let options = Options { shortcuts, ..Options::default() };
        assert_eq!(files.compare(&options, 2, Tuning::DEFAULT).end, End::Together);
    }
}

#[test]
fn a_file_equals_itself_unless_different_bytes_are_skipped() {
    let mut files = Files::new(b"aaab", b"");
    files.b = open(&files.path(Side::A));
    assert_eq!(files.compare(&Options::default(), 1, Tuning::DEFAULT).end, End::Together);
    let options = Options { skip_a: 1, ..Options::default() };
    let answer = files.compare(&options, 1, Tuning::DEFAULT);
    assert_eq!(answer.found, [Mismatch { offset: 2, a: b'b', b: b'a' }]);
    assert_eq!(answer.end, End::Shorter { side: Side::A, bytes: 3 });
}

#[test]
fn all_of_a_file_may_be_skipped() {
    let files = Files::new(b"aa", b"aa");
    for skip_a in [2, 3, u64::MAX / 2, u64::MAX] {
        for limit in [None, Some(1), Some(u64::MAX)] {
            let options = Options { skip_a, limit, lines: true, ..Options::default() };
            let answer = files.compare(&options, 2, Tuning { alone: 1, ..Tuning::DEFAULT });
            assert_eq!((answer.end, answer.found.len()), (End::Shorter { side: Side::A, bytes: 0 }, 0));
            assert_eq!(answer.lines, Some(Lines { newlines: 0, is_line_start: true }));
        }
    }
}

#[test]
fn different_sizes_prove_a_difference_unless_synthetic() {
    let files = Files::new(&[1; 10_000], &[1; 10_001]);
    fs::File::open(files.path(Side::A)).unwrap().sync_all().unwrap();
    fs::File::open(files.path(Side::B)).unwrap().sync_all().unwrap();
    let (a, b) = (open(&files.path(Side::A)), open(&files.path(Side::B)));
    let differ = |options: Options| sizes_differ(&a, &b, &options);
    assert!(differ(Options::default()));
    assert!(!differ(Options { limit: Some(10_000), ..Options::default() }));
    assert!(!differ(Options { skip_b: 1, ..Options::default() }));
    assert!(!sizes_differ(&a, &open(Path::new("/proc/self/limits")), &Options::default()));
}

/// The kernel reports a size of 0 bytes for one file and of 4096 for the others.
#[test]
fn synthetic_sizes_of_small_files_are_not_trusted() {
    for file in ["/proc/self/limits", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/notes"] {
        let file = Path::new(file);
        let Ok(bytes) = fs::read(file) else { continue };
        let mut files = Files::new(b"", &bytes);
        files.a = open(file);
        for limit in [None, Some(20)] {
            let options = Options { limit, ..Options::default() };
            let answer = files.compare(&options, 2, Tuning::DEFAULT);
            assert_eq!((answer.end, answer.found.len()), (End::Together, 0), "{file:?} {limit:?}");
        }
    }
}

/// The kernel reports more bytes than the calling thread compares alone, but the files have fewer.
#[test]
fn synthetic_sizes_of_large_files_are_not_trusted() {
    let files = ["/sys/kernel/mm/transparent_hugepage/enabled", "/sys/class/net/lo/mtu"].map(Path::new);
    let file = files.into_iter().find(|path| path.exists()).expect("no file with a synthetic size found");
    let mut files = Files::new(b"", b"");
    (files.a, files.b) = (open(file), open(file));
    let options = Options { shortcuts: false, ..Options::default() };
    let answer = files.compare(&options, 2, Tuning { alone: 1, ..Tuning::DEFAULT });
    assert_eq!((answer.end, answer.found.len()), (End::Together, 0));
}

/// One file for which the kernel reports 0 bytes, and one that is larger.
#[test]
fn a_file_with_synthetic_size_is_read_to_its_end() {
    let file = Path::new("/proc/self/limits");
    let Ok(bytes) = fs::read(file) else { return };
    let tuning = Tuning { alone: bytes.len() as u64 / 2, ..Tuning::DEFAULT };
    for (other, end) in [
        (bytes.clone(), End::Together),
        ([&bytes[..], b"more"].concat(), End::Shorter { side: Side::A, bytes: bytes.len() as u64 }),
    ] {
        let mut files = Files::new(b"", &other);
        files.a = open(file);
        let answer = files.compare(&Options::default(), 2, tuning);
        assert_eq!((answer.end, answer.found.len()), (end, 0));
    }
}
