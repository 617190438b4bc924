//! What is not read: holes, the same file, sizes that say it all.

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

/// A file of so many bytes that holds nothing but these.
fn sparse(path: &Path, len: u64, bytes: &[(u64, u8)]) {
    let file = fs::File::create(path).unwrap();
    file.set_len(len).unwrap();
    for &(at, byte) in bytes {
        file.write_all_at(&[byte], at).unwrap();
    }
}

/// To read a tebibyte would take minutes.
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
fn what_lies_behind_the_last_mismatch_wanted_is_not_read() {
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
fn a_stop_ends_a_long_search() {
    let files = Files::made_by(|a, b| {
        sparse(a, TIB, &[]);
        sparse(b, TIB, &[]);
    });
    for method in [Method::Mapped, Method::Stream] {
        for workers in [1, 3] {
            let options = Options { method, shortcuts: false, ..Options::default() };
            let (stop, done) = (Stop::new(), AtomicU64::new(0));
            let env = FileResources { workers, memory: 1 << 30, stop: &stop, done: &done };
            let (a, b) = (Source::File(&files.a), Source::File(&files.b));
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while done.load(Relaxed) < 5 << 20 {
                        std::thread::yield_now();
                    }
                    stop.raise();
                });
                compare(a, b, &options, &env, &mut |_| unreachable!("nothing differs"))
            });
            assert_eq!(outcome.unwrap().end, End::Stopped);
            assert!(done.load(Relaxed) < TIB);
        }
    }
}

#[test]
fn a_hole_is_zeros() {
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
fn a_file_is_the_same_as_itself_unless_it_is_shifted() {
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
fn sizes_say_it_all_where_they_can_be_believed() {
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

/// The kernel says 0 bytes of the one and 4096 of the other.
#[test]
fn sizes_that_lie_are_not_believed() {
    for lie in ["/proc/self/limits", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/notes"] {
        let lie = Path::new(lie);
        let Ok(bytes) = fs::read(lie) else { continue };
        let mut files = Files::new(b"", &bytes);
        files.a = open(lie);
        for limit in [None, Some(20)] {
            let options = Options { limit, ..Options::default() };
            let answer = files.compare(&options, 2, Tuning::DEFAULT);
            assert_eq!((answer.end, answer.found.len()), (End::Together, 0), "{lie:?} {limit:?}");
        }
    }
}

/// The kernel says more bytes than the calling thread alone would compare, and there are fewer.
#[test]
fn sizes_that_lie_are_not_believed_of_large_files_either() {
    let lies = ["/sys/kernel/mm/transparent_hugepage/enabled", "/sys/class/net/lo/mtu"].map(Path::new);
    let lie = lies.into_iter().find(|path| path.exists()).expect("a kernel that shows files of its own");
    let mut files = Files::new(b"", b"");
    (files.a, files.b) = (open(lie), open(lie));
    let options = Options { shortcuts: false, ..Options::default() };
    let answer = files.compare(&options, 2, Tuning { alone: 1, ..Tuning::DEFAULT });
    assert_eq!((answer.end, answer.found.len()), (End::Together, 0));
}

/// A file of which the kernel says 0 bytes, and another that is large.
#[test]
fn what_a_large_file_is_compared_with_is_read_to_its_end() {
    let lie = Path::new("/proc/self/limits");
    let Ok(bytes) = fs::read(lie) else { return };
    let tuning = Tuning { alone: bytes.len() as u64 / 2, ..Tuning::DEFAULT };
    for (other, end) in [
        (bytes.clone(), End::Together),
        ([&bytes[..], b"more"].concat(), End::Shorter { side: Side::A, bytes: bytes.len() as u64 }),
    ] {
        let mut files = Files::new(b"", &other);
        files.a = open(lie);
        let answer = files.compare(&Options::default(), 2, tuning);
        assert_eq!((answer.end, answer.found.len()), (end, 0));
    }
}
