//! The ready-made forms: each shows what a visitor is shown, whatever the number of threads.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use ftk_walk::{Fields, FileType, Op, Step, WalkError, Walker};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::oracle::{entries, make};
use crate::support::tree;

const THREADS: [usize; 3] = [1, 2, 4];

/// Returns everything below `root`, in the order of the standard library's paths.
fn naive(root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![root.to_owned()];
    if root.symlink_metadata().unwrap().is_dir() {
        paths.extend(fs::read_dir(root).unwrap().flat_map(|entry| naive(&entry.unwrap().path())));
    }
    paths.sort();
    paths
}

fn size(path: &Path) -> u64 {
    path.symlink_metadata().unwrap().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn all_forms_show_the_same(entries in entries()) {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &entries);
        let expected = naive(dir.path());
        for threads in THREADS {
            let walker = || Walker::new([dir.path()]).threads(threads);
            let parts = walker().fold(Vec::new, |paths, entry| {
                paths.push(entry.unwrap().path());
                Step::Descend
            });
            let mut folded = parts.concat();
            folded.sort();
            prop_assert_eq!(&folded, &expected);
            for bound in [0, 1, 7, 1000] {
                let mut streamed: Vec<_> =
                    walker().stream(bound).map(|entry| entry.unwrap().into_path()).collect();
                streamed.sort();
                prop_assert_eq!(&streamed, &expected);
            }
            let (collected, errors) = walker().prefetch(Fields::SIZE).collect_sorted();
            prop_assert!(errors.is_empty());
            for entry in &collected {
                prop_assert_eq!(entry.metadata().unwrap().size, size(entry.path()));
                prop_assert_eq!(Some(entry.file_name()), entry.path().file_name());
            }
            let collected: Vec<_> = collected.into_iter().map(|entry| entry.into_path()).collect();
            prop_assert_eq!(&collected, &expected);
            let (counts, errors) = walker().fold_dirs(
                |sum: &mut (usize, u64), entry| {
                    sum.0 += 1;
                    sum.1 += entry.metadata()?.size;
                    Ok(Step::Descend)
                },
                |sum, below| *sum = (sum.0 + below.0, sum.1 + below.1),
            );
            prop_assert!(errors.is_empty());
            let sums = |dir: &Path| {
                let below = || expected.iter().filter(|path| path.starts_with(dir));
                (below().count(), below().map(|path| size(path)).sum::<u64>())
            };
            let dirs = expected.iter().filter(|path| path.symlink_metadata().unwrap().is_dir());
            let expected: BTreeMap<_, _> = dirs.map(|dir| (dir.clone(), sums(dir))).collect();
            prop_assert_eq!(&counts.iter().cloned().collect::<BTreeMap<_, _>>(), &expected);
            prop_assert_eq!(counts.len(), expected.len());
            for (nth, (path, _)) in counts.iter().enumerate() {
                prop_assert!(counts[nth..].iter().all(|(later, _)| later == path || !later.starts_with(path)));
            }
        }
    }

    #[test]
    fn overlapping_starting_points_are_in_order_too(entries in entries(), picks in prop::collection::vec(0..100_usize, 1..6)) {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &entries);
        let all = naive(dir.path());
        let roots: Vec<_> = picks.iter().map(|pick| all[pick % all.len()].clone()).collect();
        let expected: Vec<_> =
            all.iter().filter(|path| roots.iter().any(|root| path.starts_with(root))).cloned().collect();
        for threads in THREADS {
            let (collected, errors) = Walker::new(&roots).threads(threads).collect_sorted();
            prop_assert!(errors.is_empty());
            let paths: Vec<_> = collected.into_iter().map(|entry| entry.into_path()).collect();
            prop_assert_eq!(&paths, &expected);
            // A starting point below another one counts only there.
            let (counts, _) = Walker::new(&roots).threads(threads).fold_dirs(
                |count: &mut usize, _| {
                    *count += 1;
                    Ok(Step::Descend)
                },
                |count, below| *count += below,
            );
            let tops = counts.iter().filter(|(path, _)| roots.contains(path));
            prop_assert_eq!(tops.map(|(_, count)| count).sum::<usize>(), expected.len());
        }
    }
}

#[test]
fn errors_are_returned_in_path_order() {
    let dir = tree(&["a/", "b"]);
    let roots = ["missing", "a", "b/x", "b"].map(|name| dir.path().join(name));
    let ops = |errors: &[WalkError]| -> Vec<_> {
        errors.iter().map(|error| (error.op, error.path().file_name().unwrap().to_owned())).collect()
    };
    let expected = [(Op::Stat, "x".into()), (Op::Stat, "missing".into())];
    let (entries, errors) = Walker::new(&roots).collect_sorted();
    assert_eq!((entries.len(), ops(&errors)), (2, expected.to_vec()));
    let (dirs, errors) = Walker::new(&roots).fold_dirs(|(), _| Ok(Step::Descend), |(), ()| ());
    assert_eq!((dirs.len(), ops(&errors)), (2, expected.to_vec()));
    let failed = Walker::new(&roots).stream(1).filter(Result::is_err).count();
    assert_eq!(failed, 2);
}

#[test]
fn an_error_of_the_closure_is_returned_and_the_walk_continues() {
    let dir = tree(&["d/", "d/f", "e"]);
    let (dirs, errors) = Walker::new([dir.path()]).fold_dirs(
        |seen: &mut usize, entry| {
            *seen += 1;
            Err(entry_error(entry))
        },
        |seen, below| *seen += below,
    );
    assert_eq!(dirs.iter().map(|dir| dir.1).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(errors.len(), 4);
}

fn entry_error(entry: &ftk_walk::Entry<'_>) -> WalkError {
    entry.error(Op::Read, std::io::Error::other("refused"))
}

#[test]
fn a_directory_that_is_not_entered_counts_for_the_one_above() {
    let dir = tree(&["d/", "d/f", "e/", "g"]);
    let count = |walker: Walker, skipped: &str| {
        let (dirs, _) = walker.fold_dirs(
            |seen: &mut usize, entry| {
                *seen += 1;
                Ok(if entry.file_name() == skipped { Step::Next } else { Step::Descend })
            },
            |seen, below| *seen += below,
        );
        let name = |path: PathBuf| path.file_name().unwrap().to_owned();
        dirs.into_iter().map(|(path, seen)| (name(path), seen)).collect::<Vec<_>>()
    };
    let top = dir.path().file_name().unwrap().to_owned();
    let walker = || Walker::new([dir.path()]);
    assert_eq!(count(walker(), "d"), [("e".into(), 1), (top.clone(), 4)]);
    assert_eq!(count(walker().max_depth(1), ""), [(top.clone(), 4)]);
    assert_eq!(count(walker().max_depth(0), ""), [(top.clone(), 1)]);
    let file = || Walker::new([dir.path().join("g"), dir.path().join("e")]);
    assert_eq!(count(file(), ""), [("e".into(), 1), ("g".into(), 1)]);
    assert_eq!(count(file(), "e"), [("e".into(), 1), ("g".into(), 1)]);
}

#[test]
fn max_depth_is_that_of_find() {
    let dir = tree(&["a/b/c/", "a/b/f", "d", "e/"]);
    for depth in 0..5 {
        let output = std::process::Command::new("find")
            .arg(dir.path())
            .args(["-maxdepth", &depth.to_string()])
            .output()
            .unwrap();
        let mut expected: Vec<_> = output.stdout.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        expected.retain(|path| !path.is_empty());
        expected.sort();
        let (entries, _) = Walker::new([dir.path()]).max_depth(depth).collect_sorted();
        let mut paths: Vec<_> = entries.iter().map(|it| it.path().as_os_str().as_bytes().to_vec()).collect();
        paths.sort();
        assert_eq!(paths, expected, "{depth}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn other_file_systems_are_shown_and_not_entered() {
    let proc = |same| {
        let walker = Walker::new(["/"]).same_file_system(same).max_depth(2);
        let (entries, _) =
            walker.filter_entry(|entry| entry.depth() == 2 || entry.file_name() == "proc").collect_sorted();
        entries.iter().filter(|entry| entry.path().starts_with("/proc")).count()
    };
    assert_eq!(proc(true), 1);
    assert!(proc(false) > 10);
}

#[test]
fn a_filter_skips_entries_and_what_is_below_them() {
    let dir = tree(&[".hidden/", ".hidden/f", "d/", "d/.f", "d/g"]);
    let hidden = dir.path().join(".hidden");
    let walker = Walker::new([dir.path(), &hidden]);
    let walker = walker.filter_entry(|entry| !entry.file_name().as_bytes().starts_with(b"."));
    let (entries, _) = walker.collect_sorted();
    let paths: Vec<_> = entries.iter().map(|it| it.path().strip_prefix(dir.path()).unwrap()).collect();
    // A starting point is never filtered.
    assert_eq!(paths, ["", ".hidden", ".hidden/f", "d", "d/g"].map(Path::new));
}

#[test]
fn prefetched_metadata_is_there_before_the_filter_and_failures_are_errors() {
    let dir = tree(&["gone", "stays", "zero"]);
    fs::write(dir.path().join("zero"), "").unwrap();
    let gone = dir.path().join("gone");
    fs::remove_file(&gone).unwrap();
    let walker = Walker::new([dir.path(), &gone]).prefetch(Fields::SIZE);
    let walker = walker.filter_entry(|entry| entry.metadata().unwrap().size > 0);
    let (entries, errors) = walker.collect_sorted();
    assert_eq!(entries.len(), 2);
    assert_eq!((errors.len(), errors[0].op), (1, Op::Stat));
}

/// Returns a walk over a directory with this many files, and how many of them were shown so far.
fn counted(files: usize, threads: usize) -> (TempDir, Walker, Arc<AtomicUsize>) {
    let dir = tempfile::tempdir().unwrap();
    for nth in 0..files {
        fs::write(dir.path().join(nth.to_string()), "").unwrap();
    }
    let shown = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&shown);
    let walker = Walker::new([dir.path()]).threads(threads).filter_entry(move |_| {
        counter.fetch_add(1, SeqCst);
        true
    });
    (dir, walker, shown)
}

#[test]
fn a_dropped_stream_ends_the_walk() {
    for (bound, taken) in [(0, 0), (0, 3), (5, 1), (100, 200)] {
        let (_dir, walker, shown) = counted(2000, 4);
        let mut stream = walker.stream(bound);
        assert_eq!(stream.by_ref().take(taken).count(), taken);
        drop(stream);
        assert!(shown.load(SeqCst) < 1000, "{}", shown.load(SeqCst));
    }
}

/// The walk does not run ahead of its consumer by more than the bound and a batch for each worker.
#[test]
fn a_stream_waits_for_its_consumer() {
    let (_dir, walker, shown) = counted(1000, 2);
    let mut stream = walker.stream(100);
    assert!(stream.next().is_some());
    while shown.load(SeqCst) < 100 {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(shown.load(SeqCst) <= 100 + 3 * 64, "{}", shown.load(SeqCst));
    assert_eq!(stream.count(), 1000);
    assert_eq!(shown.load(SeqCst), 1000);
}

#[test]
fn a_panic_of_a_filter_reaches_the_consumer() {
    let dir = tree(&["f"]);
    let walker =
        || Walker::new([dir.path()]).filter_entry(|_| std::panic::resume_unwind(Box::new("refused")));
    let outcome = catch_unwind(AssertUnwindSafe(|| walker().stream(1).count()));
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"refused"));
    drop(walker().stream(1));
}

#[test]
fn a_stop_ends_fold_and_returns_what_there_is() {
    let dir = tree(&["a", "b", "c"]);
    let parts = Walker::new([dir.path()]).threads(1).fold(
        || 0,
        |seen, entry| {
            *seen += 1;
            if entry.unwrap().file_type() == FileType::Directory { Step::Descend } else { Step::Stop }
        },
    );
    assert_eq!(parts, [2]);
}
