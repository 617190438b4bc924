//! An action and its undo in a small tree, and what must hold after every fault.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, setxattr};

use super::snapshot::{Node, Snapshot, difference, snapshot};
use crate::harness::{Dir, Ftk, Run, is_root};

/// An action on copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Hardlink,
    Symlink,
    Delete,
    Move,
    Trash,
}

impl Action {
    fn option(self) -> &'static str {
        match self {
            Self::Hardlink => "hardlink",
            Self::Symlink => "symlink",
            Self::Delete => "delete",
            Self::Move => "move=../to",
            Self::Trash => "trash",
        }
    }
}

/// The command that a fault is injected into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Prune,
    /// `prune --dirs`, in a tree that also has two equal directories.
    PruneDirs,
    /// `prune --remove-empty-dirs`, in a tree with directories that become empty.
    PruneEmptied,
    Apply,
    /// `apply` of a report of a manifest, to the tree that the option `--root` names.
    ApplyRecorded,
    Undo,
    /// `undo` of `PruneDirs`.
    UndoDirs,
    /// `undo` of `PruneEmptied`.
    UndoEmptied,
}

/// Two equal directories, of which the first one is kept.
const TWINS: [&str; 2] = ["p", "q"];

/// The kept files.
const KEEPERS: &[&str] = &["a/x1", "b/y1", "p/1", "p/in/2"];

/// A tree, and a snapshot of it before the action.
pub(super) struct Stage {
    pub(super) dir: Dir,
    action: Action,
    before: Snapshot,
    /// The directories that the action may remove, with their inode numbers.
    directories: BTreeMap<PathBuf, (u64, DirectoryState)>,
}

/// Owner, permissions and time of modification of a directory.
#[derive(Debug, PartialEq, Eq)]
struct DirectoryState {
    uid: u32,
    mode: u32,
    mtime: (i64, i64),
}

/// Returns the state of the directories at and below these.
fn directories(dir: &Dir, tops: &[&str]) -> BTreeMap<PathBuf, (u64, DirectoryState)> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<_> = tops.iter().map(|top| dir.path(top)).collect();
    while let Some(path) = waiting.pop() {
        let Ok(it) = fs::symlink_metadata(&path) else { continue };
        if it.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            let (uid, mode, mtime) = (it.uid(), it.mode() & 0o7777, (it.mtime(), it.mtime_nsec()));
            found.insert(path, (it.ino(), DirectoryState { uid, mode, mtime }));
        }
    }
    found
}

/// The directories that the actions may remove.
const REMOVABLE: &[&str] = &["q", "e", "f"];

impl Stage {
    /// Creates the tree and runs what must precede the command.
    pub(super) fn new(command: Command, action: Action) -> Self {
        let dir = Dir::new();
        dir.file("a/x1", b"content x").file("b/x3", b"content x").file("b/z", b"neither");
        // One file with two names, both of which are removed.
        dir.file("a/x2", b"content x").hard_link("a/x2", "x4");
        dir.file("b/y1", b"y").file("y2", b"y");
        for name in ["a/x1", "a/x2", "b/x3", "b/y1", "y2"] {
            _ = setxattr(dir.path(name), "user.note", b"mine", XattrFlags::empty());
        }
        if matches!(command, Command::PruneDirs | Command::UndoDirs) {
            for twin in TWINS {
                dir.file(format!("{twin}/1"), b"one").file(format!("{twin}/in/2"), b"two");
                dir.file(format!("{twin}/in/none"), b"").symlink("1", &format!("{twin}/link"));
                dir.dir(format!("{twin}/empty"));
            }
        }
        if matches!(command, Command::PruneEmptied | Command::UndoEmptied) {
            dir.file("e/in/x5", b"content x").file("e/in/deep/x6", b"content x").dir("e/none/at all");
            dir.file("f/x7", b"content x");
        }
        // A killed undo that has set the owner of a directory must also set the rest.
        for path in ["q/in", "e/in"].map(|path| dir.path(path)).iter().filter(|path| path.exists()) {
            fs::set_permissions(path, Permissions::from_mode(0o750)).unwrap();
            if is_root() {
                chown(path, Some(65534), Some(65534)).unwrap();
            }
        }
        let directories = directories(&dir, REMOVABLE);
        let mut stage = Self { before: snapshot(&dir.aside("")), dir, action, directories };
        match command {
            Command::Prune | Command::PruneDirs | Command::PruneEmptied => {}
            Command::Apply => {
                let report = stage.dir.ftk(["dup", "--json"]).run().status(0).out;
                fs::write(stage.dir.aside("report"), report).unwrap();
                stage.before = snapshot(&stage.dir.aside(""));
            }
            Command::ApplyRecorded => {
                stage.dir.ftk(["manifest", "create", ".", "-o", "../m.jsonl"]).run().status(0);
                let search = ["dup", "--manifests", "../m.jsonl", "--json", "-o", "../report"];
                stage.dir.ftk(search).run().status(0);
                stage.before = snapshot(&stage.dir.aside(""));
            }
            Command::Undo => _ = stage.command(Command::Prune).run().status(0),
            Command::UndoEmptied => _ = stage.command(Command::PruneEmptied).run().status(0),
            Command::UndoDirs => _ = stage.command(Command::PruneDirs).run().status(0),
        }
        stage
    }

    pub(super) fn command(&self, command: Command) -> Ftk {
        let ftk = self.dir.ftk(["--io", "sync", "-j", "mono", "dup"]);
        let ftk = match command {
            Command::Prune => ftk.args(["prune", "."]),
            Command::PruneDirs => ftk.args(["prune", ".", "--dirs"]),
            Command::PruneEmptied => ftk.args(["prune", ".", "--remove-empty-dirs"]),
            Command::Apply => ftk.args(["apply", "../report"]),
            Command::ApplyRecorded => ftk.args(["apply", "../report", "--root", "m.jsonl=."]),
            Command::Undo | Command::UndoDirs | Command::UndoEmptied => {
                return ftk.args(["undo", "../journal"]);
            }
        };
        // The files may have the same time or not.
        ftk.args(["--keep", "first", "--action", self.action.option(), "--yes", "--journal", "../journal"])
    }

    fn root(&self) -> PathBuf {
        self.dir.aside("")
    }

    /// Checks that every name leads to its old content, or was removed or replaced by the action while the
    /// content still exists under another name.
    pub(super) fn check_contents(&self) -> Result<(), String> {
        let now = snapshot(&self.root());
        for (path, node) in &self.before {
            if path.starts_with(Path::new("tree").join(TWINS[0])) && now.get(path) != Some(node) {
                return Err(format!("{} was kept, but differs: {:?}", path.display(), now.get(path)));
            }
            let Node::File { content, .. } = node else { continue };
            let found = fs::read(self.root().join(path)).ok();
            let is_linked = matches!(now.get(path), Some(Node::Link { .. }));
            let holds = match (self.action, now.get(path)) {
                (_, Some(Node::File { .. })) => true,
                (Action::Symlink, Some(Node::Link { .. })) => true,
                (Action::Delete, None) => is_file_of(&now, |_| true, content),
                (Action::Move, None) => {
                    let to = Path::new("to").join(path.strip_prefix("tree").unwrap());
                    // While it is moved, it has a temporary name next to its own, or is in a private directory next to the
                    // new one.
                    let is_aside = |it: &Path| is_ours(it) && it.parent() == path.parent();
                    let is_inside = |it: &Path| {
                        let private = it.parent().filter(|_| it.file_name() == to.file_name());
                        private.is_some_and(|private| is_ours(private) && private.parent() == to.parent())
                    };
                    is_file_of(&now, |it| *it == to || is_aside(it) || is_inside(it), content)
                }
                (Action::Trash, None) => {
                    let is_aside = |it: &Path| is_ours(it) && it.parent() == path.parent();
                    is_file_of(&now, |it| it.starts_with("data/Trash/files") || is_aside(it), content)
                }
                _ => false,
            };
            if !holds || (now.contains_key(path) && found.as_ref() != Some(content)) {
                return Err(format!("{} is lost: {:?}", path.display(), now.get(path)));
            }
            if is_linked && !is_file_of(&now, |_| true, content) {
                return Err(format!("{} is only a link", path.display()));
            }
        }
        Ok(())
    }

    /// Returns the temporary names that a run left over.
    pub(super) fn strays(&self) -> Vec<String> {
        let now = snapshot(&self.root());
        let strays = now.keys().filter(|path| is_ours(path));
        strays.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Checks that the tree is as it was before the action; directories for moved files may remain, and the file that
    /// marks them.
    pub(super) fn check_unchanged(&self) -> Result<(), String> {
        let mut now = snapshot(&self.root());
        let is_mark = |path: &Path| *path == *Path::new("to/FTK-QUARANTINE.TAG");
        let is_of_moves = |path: &Path| path.starts_with("to") || path.starts_with("data");
        now.retain(|path, node| !(is_of_moves(path) && (*node == Node::Dir || is_mark(path))));
        let differs = difference(&self.before, &now);
        if !differs.is_empty() {
            return Err(differs.join("; "));
        }
        let directories = directories(&self.dir, REMOVABLE);
        for (path, (ino, before)) in &self.directories {
            let (ino_now, now) = &directories[path];
            // The time of a directory that was not removed is that of the last change of a name in it.
            let mtime = if ino == ino_now { now.mtime } else { before.mtime };
            if *now != (DirectoryState { mtime, ..*before }) {
                return Err(format!("{} was {before:?} and is {now:?}", path.display()));
            }
        }
        Ok(())
    }

    /// Checks that the hard links lead to one file again.
    pub(super) fn check_hard_links(&self) -> Result<(), String> {
        let [a, b] = ["a/x2", "x4"].map(|name| fs::symlink_metadata(self.dir.path(name)).unwrap().ino());
        if a == b { Ok(()) } else { Err("two names of one file lead to two".into()) }
    }

    /// Checks that everything reported as done was done.
    pub(super) fn check_report(&self, run: &Run) -> Result<(), String> {
        let is_acted_on = |path: &str| match fs::symlink_metadata(self.dir.path(path)) {
            Ok(now) => match self.action {
                Action::Hardlink => {
                    // A copy becomes a keeper if no more links of the first one can be made.
                    KEEPERS.iter().chain(&["b/x3", "a/x2"]).any(|keeper| {
                        *keeper != path
                            && fs::metadata(self.dir.path(keeper)).is_ok_and(|it| it.ino() == now.ino())
                    })
                }
                Action::Symlink => now.is_symlink(),
                Action::Delete | Action::Move | Action::Trash => false,
            },
            Err(_) => matches!(self.action, Action::Delete | Action::Move | Action::Trash),
        };
        let is_restored = |path: &str| {
            let ino = |path: &str| fs::symlink_metadata(self.dir.path(path)).map_or(0, |it| it.ino());
            let is_file = |path: &str| self.dir.path(path).is_file() && !self.dir.path(path).is_symlink();
            // Only directories that were removed had links and directories.
            let is_other =
                || (path.starts_with(TWINS[1]) || path == "f" || path.starts_with("e/")) && ino(path) != 0;
            if is_file(path) { KEEPERS.iter().all(|keeper| ino(keeper) != ino(path)) } else { is_other() }
        };
        for line in run.text().lines() {
            let mut words = line.split_whitespace();
            let (Some(verb), Some(path)) = (words.next(), words.next()) else { continue };
            let path = path.trim_start_matches("./");
            if ["link", "symlink", "delete", "move"].contains(&verb) && !is_acted_on(path) {
                return Err(format!("false report: {line}"));
            }
            if verb == "remove" && self.dir.path(path).exists() {
                return Err(format!("false report: {line}"));
            }
            if verb == "restore" && !is_restored(path) {
                return Err(format!("false report: {line}"));
            }
        }
        Ok(())
    }
}

fn is_ours(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".ftk-"))
}

/// Returns whether a regular file with this content has an accepted path.
fn is_file_of(now: &Snapshot, has: impl Fn(&PathBuf) -> bool, wanted: &[u8]) -> bool {
    now.iter()
        .any(|(path, node)| matches!(node, Node::File { content, .. } if content == wanted) && has(path))
}
