//! Directories whose entries are shared by several workers.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use ftk_walk::{Directory, Entry, Follow, Step, Visitor, WalkError, Walker};
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

/// Makes the entries of a walk with two workers so expensive that every second one is handed over, and makes the calling
/// thread wait for the other worker. So the result does not depend on how busy the machine is.
struct Team {
    caller: ThreadId,
    /// Entries below the starting point that the calling thread and the other one have begun.
    begun: Mutex<[usize; 2]>,
    changed: Condvar,
}

impl Team {
    fn new() -> Self {
        Self { caller: thread::current().id(), begun: Mutex::new([0; 2]), changed: Condvar::new() }
    }

    /// Works on an entry: on the calling thread until the other one has begun `others` entries, given how many the
    /// calling thread has begun. Returns how many this thread has begun, and whether it is the calling one.
    fn work(&self, entry: &Entry<'_>, others: impl Fn(usize) -> usize) -> (usize, bool) {
        let is_caller = thread::current().id() == self.caller;
        if entry.depth() == 0 {
            return (0, is_caller);
        }
        // Much more than a batch has to be worth.
        thread::sleep(Duration::from_millis(1));
        let mut begun = self.begun.lock().unwrap();
        begun[usize::from(!is_caller)] += 1;
        self.changed.notify_all();
        let mine = begun[usize::from(!is_caller)];
        if is_caller {
            let is_early = |begun: &mut [usize; 2]| begun[1] < others(mine);
            let (_begun, wait) =
                self.changed.wait_timeout_while(begun, Duration::from_secs(60), is_early).unwrap();
            assert!(!wait.timed_out(), "the other worker was given nothing");
        }
        (mine, is_caller)
    }
}

/// The calling thread shows two entries, and hands over the one between them. So when it shows its third entry, it has
/// handed over two, and so on.
fn all_but_one(mine: usize) -> usize {
    mine - 1
}

/// The other worker takes at least one part.
fn one(mine: usize) -> usize {
    usize::from(mine > 1)
}

/// The entries that each of two workers was shown.
fn shares(dir: &Path, shares: bool, others: fn(usize) -> usize) -> Vec<usize> {
    let team = Team::new();
    let work = |entry: &mut Entry<'_>| {
        team.work(entry, others);
        Step::Descend
    };
    let parts = Walker::new([dir]).threads(2).run(|_| Work::new(shares, &work));
    parts.iter().map(|part| part.seen.len()).collect()
}

/// Files with much work are done by both workers, half by each. The calling thread is also shown the starting point.
#[test]
fn a_flat_directory_keeps_all_workers_busy() {
    for files in [3, 201] {
        let dir = flat(files, 0);
        assert_eq!(shares(dir.path(), true, all_but_one), [1 + files.div_ceil(2), files / 2]);
    }
}

#[test]
fn a_visitor_that_does_not_ask_gets_whole_directories() {
    let dir = flat(50, 0);
    assert_eq!(shares(dir.path(), false, |_| 0), [51, 0]);
}

#[test]
fn a_flat_directory_is_collected_in_order() {
    let dir = flat(500, 20);
    let team = Team::new();
    let walker = Walker::new([dir.path()]).threads(2).filter_entry(move |entry| {
        team.work(entry, one);
        true
    });
    let (entries, errors) = walker.collect_sorted();
    assert_eq!((entries.len(), errors.len()), (541, 0));
    assert!(entries.iter().map(|entry| entry.path()).is_sorted());
}

#[test]
fn a_stop_in_a_part_ends_the_walk() {
    let dir = flat(300, 0);
    let team = Team::new();
    let work = |entry: &mut Entry<'_>| match team.work(entry, one) {
        (5, false) => Step::Stop,
        (mine, true) if mine > 1 => {
            // Until the other worker has told the walk.
            thread::sleep(Duration::from_millis(100));
            Step::Descend
        }
        _ => Step::Descend,
    };
    let parts = Walker::new([dir.path()]).threads(2).run(|_| Work::new(true, &work));
    assert_eq!(parts[1].seen.len(), 5);
    assert!(parts[0].seen.len() < 200, "{}", parts[0].seen.len());
}

#[test]
fn a_panic_in_a_part_ends_the_walk() {
    let dir = flat(300, 0);
    let team = Team::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let work = |entry: &mut Entry<'_>| match team.work(entry, one) {
            (1, false) => std::panic::resume_unwind(Box::new("in a part")),
            _ => Step::Descend,
        };
        Walker::new([dir.path()]).threads(2).run(|_| Work::new(true, &work)).len()
    }));
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"in a part"));
}

/// A part belongs to the directory, whatever its path is now.
#[test]
fn files_in_parts_are_opened_relative_to_the_directory() {
    let dir = flat(0, 0);
    let (outer, moved) = (dir.path().join("d"), dir.path().join("moved"));
    fs::create_dir(&outer).unwrap();
    for nth in 0..201 {
        fs::write(outer.join(nth.to_string()), "x").unwrap();
    }
    let team = Team::new();
    let work = |entry: &mut Entry<'_>| {
        let begun = team.work(entry, all_but_one);
        if entry.depth() > 0 {
            assert!(entry.open().is_ok(), "{}", entry.path().display());
        }
        if begun == (30, false) {
            fs::rename(&outer, &moved).unwrap();
        }
        Step::Descend
    };
    let parts = Walker::new([&outer]).threads(2).run(|_| Work::new(true, &work));
    let seen: BTreeSet<_> = parts.iter().flat_map(|part| &part.seen).collect();
    assert_eq!(seen.len(), 202);
    assert_eq!(parts[1].seen.len(), 100);
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
                thread::sleep(Duration::from_micros(cost));
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
