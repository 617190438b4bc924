//! Directories whose entries are shared by several workers.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use ftk_walk::{Directory, Entry, FileType, Follow, Step, Visitor, WalkError, Walker};
use proptest::prelude::*;

/// A visitor that works on each entry, and checks the order of the calls.
struct Work<'w> {
    work: &'w (dyn Fn(&mut Entry<'_>) -> Step + Sync),
    shares: bool,
    dir: Option<PathBuf>,
    seen: Vec<PathBuf>,
    /// Directories, each as often as this visitor has entered it.
    entered: Vec<PathBuf>,
    errors: Vec<WalkError>,
}

impl<'w> Work<'w> {
    fn new(shares: bool, work: &'w (dyn Fn(&mut Entry<'_>) -> Step + Sync)) -> Self {
        Self { work, shares, dir: None, seen: Vec::new(), entered: Vec::new(), errors: Vec::new() }
    }
}

impl Visitor for Work<'_> {
    type Dir = PathBuf;

    fn entry(&mut self, dir: Option<&PathBuf>, entry: &mut Entry<'_>) -> Step {
        assert_eq!(self.dir.as_ref(), dir, "entries come between `enter` and `leave`");
        assert!(dir.is_none_or(|dir| entry.path().parent() == Some(dir)));
        self.seen.push(entry.path());
        (self.work)(entry)
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }

    fn descend(&mut self, _: Option<&PathBuf>, entry: &mut Entry<'_>) -> PathBuf {
        entry.path()
    }

    fn enter(&mut self, dir: &PathBuf, opened: &Directory<'_>) -> Step {
        assert_eq!(*dir, opened.path());
        assert_eq!(opened.metadata().ino, opened.ino());
        self.entered.push(dir.clone());
        assert_eq!(self.dir.replace(dir.clone()), None);
        Step::Descend
    }

    fn leave(&mut self, dir: &PathBuf) {
        assert_eq!(self.dir.take().as_ref(), Some(dir));
    }

    fn shares_directories(&self) -> bool {
        self.shares
    }
}

/// Makes `files` files and `dirs` directories with a file each.
fn flat(files: usize, dirs: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for nth in 0..files {
        fs::write(dir.path().join(format!("f{nth}")), "x").unwrap();
    }
    for nth in 0..dirs {
        fs::create_dir(dir.path().join(format!("d{nth}"))).unwrap();
        fs::write(dir.path().join(format!("d{nth}/f")), "x").unwrap();
    }
    dir
}

fn sleep(time: Duration) -> impl Fn(&mut Entry<'_>) -> Step + Sync {
    move |entry| {
        if entry.depth() > 0 {
            std::thread::sleep(time);
        }
        Step::Descend
    }
}

/// The entries that each of two workers was shown.
fn shares(dir: &Path, shares: bool, time: Duration) -> Vec<usize> {
    let work = sleep(time);
    let parts = Walker::new([dir]).threads(2).run(|_| Work::new(shares, &work));
    parts.iter().map(|part| part.seen.len()).collect()
}

/// 200 files with a millisecond of work each are done by both workers, about half by each.
#[test]
fn a_flat_directory_keeps_all_workers_busy() {
    let dir = flat(200, 0);
    let shown = shares(dir.path(), true, Duration::from_millis(1));
    assert_eq!(shown.iter().sum::<usize>(), 201);
    assert!(shown.iter().all(|&seen| seen > 60), "{shown:?}");
    // Three files are two for one and one for the other.
    let few = flat(3, 0);
    let shown = shares(few.path(), true, Duration::from_millis(20));
    assert!(shown.iter().all(|&seen| seen > 0), "{shown:?}");
}

#[test]
fn a_visitor_that_does_not_ask_gets_whole_directories() {
    let dir = flat(50, 0);
    assert_eq!(shares(dir.path(), false, Duration::from_millis(1)), [51, 0]);
}

#[test]
fn entries_with_little_work_are_not_handed_over() {
    let dir = flat(3000, 0);
    let work = |_: &mut Entry<'_>| Step::Descend;
    let parts = Walker::new([dir.path()]).threads(2).run(|_| Work::new(true, &work));
    // The system may interrupt a worker at any time, which looks like work.
    let entered: usize = parts.iter().map(|part| part.entered.len()).sum();
    assert!(entered <= 10, "{entered}");
}

#[test]
fn a_flat_directory_is_collected_in_order() {
    let dir = flat(500, 20);
    let walker = Walker::new([dir.path()]).threads(4).filter_entry(|_| {
        std::thread::sleep(Duration::from_micros(100));
        true
    });
    let (entries, _) = walker.collect_sorted();
    assert_eq!(entries.len(), 541);
    assert!(entries.iter().map(|entry| entry.path()).is_sorted());
}

#[test]
fn a_stop_in_a_part_ends_the_walk() {
    let dir = flat(300, 0);
    let seen = AtomicUsize::new(0);
    let work = |_: &mut Entry<'_>| {
        std::thread::sleep(Duration::from_millis(1));
        if seen.fetch_add(1, SeqCst) == 50 { Step::Stop } else { Step::Descend }
    };
    let parts = Walker::new([dir.path()]).threads(4).run(|_| Work::new(true, &work));
    let shown: usize = parts.iter().map(|part| part.seen.len()).sum();
    assert!((51..=54).contains(&shown), "{shown}");
}

#[test]
fn a_panic_in_a_part_ends_the_walk() {
    let dir = flat(300, 0);
    let seen = AtomicUsize::new(0);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let work = |_: &mut Entry<'_>| {
            std::thread::sleep(Duration::from_millis(1));
            if seen.fetch_add(1, SeqCst) == 50 {
                std::panic::resume_unwind(Box::new("fifty"));
            }
            Step::Descend
        };
        Walker::new([dir.path()]).threads(4).run(|_| Work::new(true, &work)).len()
    }));
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"fifty"));
}

/// A part belongs to the directory, whatever its path is now.
#[test]
fn files_in_parts_are_opened_relative_to_the_directory() {
    let dir = flat(200, 0);
    let (outer, moved) = (dir.path().join("d"), dir.path().join("moved"));
    fs::create_dir(&outer).unwrap();
    for nth in 0..200 {
        fs::write(outer.join(nth.to_string()), "x").unwrap();
    }
    let renamed = AtomicUsize::new(0);
    let work = |entry: &mut Entry<'_>| {
        if entry.file_type() == FileType::Regular && entry.depth() == 1 {
            std::thread::sleep(Duration::from_millis(1));
            assert!(entry.open().is_ok(), "{}", entry.path().display());
            if renamed.fetch_add(1, SeqCst) == 30 {
                fs::rename(&outer, &moved).unwrap();
            }
        }
        Step::Descend
    };
    let parts = Walker::new([&outer]).threads(3).run(|_| Work::new(true, &work));
    let seen: BTreeSet<_> = parts.iter().flat_map(|part| &part.seen).collect();
    assert_eq!(seen.len(), 201);
    assert!(parts.iter().all(|part| part.errors.is_empty()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever the entries cost, and whether they are directories, each is shown once.
    #[test]
    fn each_entry_is_shown_once(
        files in 0..150_usize,
        dirs in 0..40_usize,
        costs in prop::collection::vec(0..400_u64, 1..8),
        threads in 1..6_usize,
        all_links in any::<bool>(),
    ) {
        let dir = flat(files, dirs);
        let turn = AtomicUsize::new(0);
        let work = |_: &mut Entry<'_>| {
            let cost = costs[turn.fetch_add(1, SeqCst) % costs.len()];
            if cost > 100 {
                std::thread::sleep(Duration::from_micros(cost));
            }
            Step::Descend
        };
        let follow = if all_links { Follow::Always } else { Follow::Never };
        let parts = Walker::new([dir.path()]).threads(threads).follow(follow).run(|_| Work::new(true, &work));
        prop_assert!(parts.iter().all(|part| part.errors.is_empty() && part.dir.is_none()));
        let mut seen: Vec<_> = parts.iter().flat_map(|part| part.seen.clone()).collect();
        prop_assert_eq!(seen.len(), 1 + files + 2 * dirs);
        seen.sort();
        seen.dedup();
        prop_assert_eq!(seen.len(), 1 + files + 2 * dirs);
    }
}
