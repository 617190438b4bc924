//! A tree for tests, and runs of the engine in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ftk_apply::{
    ActError, Action, ActionOptions, Chosen, Engine, Freed, Journal, QUARANTINE, Seen, Step, Undone,
    open_journal_to_undo, undo,
};
use ftk_file::{FileType, Seal, Sealer, Stat, Symlinks};
use ftk_harness::Dir;
pub(crate) use ftk_harness::{Mounted, bytes, has, ino, is_root, is_too_slow, needs, set_mode, skip};
use ftk_sched::Stop;
use rustix::fs::CWD;

/// A directory that is removed after the test.
pub(crate) struct Tree {
    dir: Dir,
    /// The file system that contains the files, if it is not that of `dir`.
    mounted: Option<Mounted>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        Self { dir: Dir::new(), mounted: None }
    }

    /// A tree in a new file system. Returns `None` as [`Mounted::new`] does.
    pub(crate) fn on(kind: &str) -> Option<Self> {
        Some(Self { mounted: Some(Mounted::new(kind)?), dir: Dir::new() })
    }

    /// A tree in a file system that is mounted.
    pub(crate) fn in_mounted(mounted: Mounted) -> Self {
        Self { mounted: Some(mounted), dir: Dir::new() }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        let path = self.mounted.as_ref().map_or_else(|| self.dir.path(below), |mounted| mounted.path(below));
        path.components().collect() // without a slash at the end
    }

    /// Bytes in use in the file system that was made for the tree.
    pub(crate) fn used(&self) -> u64 {
        self.mounted.as_ref().map_or(0, Mounted::used)
    }

    /// Writes a file with a fixed mtime, and creates its directories.
    pub(crate) fn file(&self, below: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old_time()).unwrap();
        path
    }

    /// Returns the present state of a file, as a scan of the tree would record it.
    pub(crate) fn seen(&self, below: &str) -> Seen {
        seen(&self.path(below), self.path("").as_os_str().len())
    }

    pub(crate) fn step(&self, victim: &str, keeper: &str) -> Step {
        Step::new(self.seen(victim), self.seen(keeper))
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path("journal")
    }

    /// Returns the number of the line with the first intent in the journal, from 0, and the intent.
    pub(crate) fn intent(&self) -> (usize, serde_json::Value) {
        let journal = fs::read_to_string(self.journal()).unwrap();
        let mut records =
            journal.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let nth = records.position(|record| record.get("action").is_some()).unwrap();
        (nth, serde_json::from_str(journal.lines().nth(nth).unwrap()).unwrap())
    }

    /// Changes the journal as if the victim of the first step had had the inode number of another file. If the recorded time of
    /// birth stays, it tells the two apart. File systems without one do not record it.
    pub(crate) fn reuse_inode(&self, path: &str, has_birth: bool) {
        let victim = self.intent().1["victim"]["ino"].clone();
        let number: serde_json::Value = ino(&self.path(path)).into();
        let mut journal = String::new();
        for line in fs::read_to_string(self.journal()).unwrap().lines() {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            if record.get("victim").is_some_and(|it| it["ino"] == victim) {
                record["victim"]["ino"] = number.clone();
                record["identity"]["ino"] = number.clone();
                let identity = record["identity"].as_object_mut().unwrap();
                if !has_birth {
                    identity.remove("birth_ns");
                }
            }
            journal += &format!("{record}\n");
        }
        fs::write(self.journal(), journal).unwrap();
    }

    /// Returns the sorted paths of all files in the tree except the journal and the mark of a directory for moved files.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut directories = vec![self.path("")];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.symlink_metadata().unwrap().is_dir() {
                    directories.push(path);
                } else if path != self.journal() && !path.ends_with(QUARANTINE.to_str().unwrap()) {
                    names.push(path.strip_prefix(self.path("")).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        names.sort();
        names
    }

    /// Runs the steps with a new journal, and returns the outcomes.
    pub(crate) fn run(&self, action: Action, steps: Vec<Step>) -> Vec<Result<Freed, ActError>> {
        self.run_by(action, ActionOptions::default(), steps)
    }

    pub(crate) fn run_by(
        &self,
        action: Action,
        options: ActionOptions,
        steps: Vec<Step>,
    ) -> Vec<Result<Freed, ActError>> {
        let mut outcomes = Vec::new();
        _ = fs::remove_file(self.journal());
        let mut journal = Journal::create(&self.journal()).unwrap();
        let mut engine = Engine::new(action, options).unwrap();
        let expected = steps.clone();
        engine
            .run(steps, &mut journal, &Stop::new(), |step, outcome| {
                assert_eq!(*step, expected[outcomes.len()], "reported in order");
                outcomes.push(outcome);
            })
            .unwrap();
        journal.finish().unwrap();
        assert_eq!(outcomes.len(), expected.len());
        outcomes
    }

    /// Runs one step, which must succeed, and returns the bytes it freed.
    pub(crate) fn done(&self, action: Action, victim: &str, keeper: &str) -> u64 {
        self.run(action, vec![self.step(victim, keeper)]).remove(0).unwrap().0
    }

    /// Runs one step, which must be refused or fail, and returns the error.
    pub(crate) fn refused(&self, action: Action, victim: &str, keeper: &str) -> ActError {
        self.run(action, vec![self.step(victim, keeper)]).remove(0).unwrap_err()
    }

    /// Returns an entry as a list shows it that was made with this sealer.
    pub(crate) fn chosen(&self, below: &str, sealer: &Sealer) -> Chosen {
        let path = self.path(below);
        let file_type = Stat::at(CWD, &path, Symlinks::NoFollow).unwrap().file_type;
        Chosen { seen: self.seen(below), file_type, below: seal(&path, sealer) }
    }

    /// Runs chosen entries with a new journal, and returns the outcomes.
    pub(crate) fn run_chosen(
        &self,
        action: Action,
        chosen: &[Chosen],
        sealer: &Sealer,
    ) -> Vec<Result<Freed, ActError>> {
        _ = fs::remove_file(self.journal());
        let mut journal = Journal::create(&self.journal()).unwrap();
        let mut engine = Engine::new(action, ActionOptions::default()).unwrap();
        let mut run = |it| engine.run_chosen(it, sealer, &mut journal, &Stop::new()).unwrap();
        let outcomes = chosen.iter().map(&mut run).collect();
        journal.finish().unwrap();
        outcomes
    }

    /// Undoes the journal and returns the outcomes; that of the last step comes first.
    pub(crate) fn undo(&self) -> Vec<Result<Undone, ActError>> {
        let mut outcomes = Vec::new();
        if !self.journal().exists() {
            return outcomes; // nothing was done
        }
        let journal = open_journal_to_undo(&self.journal()).unwrap();
        undo(journal, &Stop::new(), |_, outcome| outcomes.push(outcome)).unwrap();
        outcomes
    }
}

/// Returns whether this is a file with this content.
pub(crate) fn holds(path: &Path, content: impl AsRef<[u8]>) -> bool {
    fs::read(path).is_ok_and(|found| found == content.as_ref())
}

/// Returns the seal of everything below an entry.
pub(crate) fn seal(path: &Path, sealer: &Sealer) -> Seal {
    let mut sum = Seal::default();
    let stat = Stat::at(CWD, path, Symlinks::NoFollow).unwrap();
    if stat.file_type == FileType::Directory {
        for entry in fs::read_dir(path).unwrap().map(Result::unwrap) {
            let below = Stat::at(CWD, entry.path(), Symlinks::NoFollow).unwrap();
            sum += sealer.entry(stat.identity(), entry.file_name().as_bytes(), &below);
            sum += seal(&entry.path(), sealer);
        }
    }
    sum
}

/// Returns the state of a file, as a scan would record it.
pub(crate) fn seen(path: &Path, root_len: usize) -> Seen {
    seen_as(&Stat::at(CWD, path, Symlinks::NoFollow).unwrap(), path, root_len)
}

/// Returns the recorded state of a file that had this path when `stat` was made.
pub(crate) fn seen_as(stat: &Stat, path: &Path, root_len: usize) -> Seen {
    Seen { path: path.as_os_str().as_bytes().to_vec(), root_len, version: stat.version() }
}

/// A time whose nanoseconds have nine digits.
pub(crate) fn old_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::new(1_234_567_890, 123_456_789)
}
