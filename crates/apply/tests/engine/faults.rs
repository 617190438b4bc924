//! Fault injection: every system call of an action fails in turn, with each plausible error, and the process
//! is killed before each call. The victim's name must lead to its old file or to the requested result, and no
//! content may be lost.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::harness::{Tree, ino, is_root, is_too_slow, needs, old_time, set_mode};

/// The system calls that act and undo make, and the plausible errors of each.
pub(crate) const FAULTS: &[(&str, &[&str])] = &[
    ("copy_file_range", &["EIO"]),
    ("faccessat", &["EACCES", "EROFS"]),
    ("fadvise64", &["EIO"]),
    ("fchmod", &["EPERM", "EROFS"]),
    ("fchmodat", &["EPERM", "EROFS"]),
    ("fchown", &["EPERM", "EROFS"]),
    ("fchownat", &["EPERM", "EROFS"]),
    ("fdatasync", &["EIO", "ENOSPC"]),
    ("fgetxattr", &["EIO"]),
    ("flock", &["EWOULDBLOCK", "ENOLCK"]),
    ("flistxattr", &["EIO", "EOPNOTSUPP"]),
    ("fremovexattr", &["EPERM"]),
    ("fsetxattr", &["ENOSPC", "EPERM"]),
    ("fstat", &["EIO"]),
    ("fstatfs", &["EIO", "ENOSYS"]),
    ("fsync", &["EIO", "EDQUOT"]),
    ("ftruncate", &["EIO", "ENOSPC"]),
    ("getcwd", &["ENOENT"]),
    ("getdents64", &["EIO", "ENOMEM"]),
    ("getxattr", &["EIO"]),
    ("ioctl", &["EOPNOTSUPP", "EIO"]),
    ("linkat", &["EMLINK", "ENOSPC", "EDQUOT", "EXDEV", "EACCES", "EPERM", "EROFS", "EIO", "ENAMETOOLONG"]),
    ("listxattr", &["EIO"]),
    ("lseek", &["EIO", "EINVAL"]),
    ("mkdirat", &["ENOSPC", "EACCES", "EROFS"]),
    ("newfstatat", &["EIO", "EACCES"]),
    ("openat", &["EACCES", "EMFILE", "EIO"]),
    ("openat2", &["ENOSYS", "EPERM", "EAGAIN", "EIO"]),
    ("pread64", &["EIO"]),
    ("pwrite64", &["EIO", "ENOSPC"]),
    ("readlinkat", &["ENOENT", "EIO"]),
    ("removexattr", &["EPERM"]),
    ("renameat", &["EACCES", "EIO", "ENOSPC"]),
    ("renameat2", &["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EINVAL", "ENOENT", "EXDEV"]),
    ("setxattr", &["ENOSPC", "EPERM"]),
    ("statx", &["EIO"]),
    ("syncfs", &["EIO"]),
    ("symlinkat", &["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "ENAMETOOLONG"]),
    ("unlinkat", &["EACCES", "EPERM", "EROFS", "EIO", "EBUSY"]),
    ("utimensat", &["EPERM", "EROFS"]),
    ("write", &["ENOSPC", "EIO"]),
];

/// Returns the example `act`, which is built together with the tests.
pub(crate) fn act_program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/act");
    assert!(program.is_file(), "cargo test without --test builds {}", program.display());
    program
}

/// What is done to one pair of files.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    Hardlink,
    Symlink,
    Delete,
    Move,
    Trash,
    Replace,
    Create,
    Metadata,
    UndoHardlink,
    UndoSymlink,
    UndoDelete,
    UndoMove,
    UndoTrash,
    UndoReplace,
    UndoCreate,
    UndoMetadata,
}

impl Scene {
    fn is_undo(self) -> bool {
        matches!(
            self,
            Self::UndoHardlink
                | Self::UndoSymlink
                | Self::UndoDelete
                | Self::UndoMove
                | Self::UndoTrash
                | Self::UndoReplace
                | Self::UndoCreate
                | Self::UndoMetadata
        )
    }

    /// Returns whether a damaged file is restored.
    fn replaces(self) -> bool {
        matches!(self, Self::Replace | Self::UndoReplace)
    }

    /// Returns whether a missing file is restored.
    fn creates(self) -> bool {
        matches!(self, Self::Create | Self::UndoCreate)
    }

    /// Returns whether only metadata changes.
    fn sets_metadata(self) -> bool {
        matches!(self, Self::Metadata | Self::UndoMetadata)
    }

    fn action(self) -> &'static str {
        match self {
            Self::Hardlink | Self::UndoHardlink => "hardlink",
            Self::Symlink | Self::UndoSymlink => "symlink",
            Self::Delete | Self::UndoDelete => "delete",
            Self::Move | Self::UndoMove => "to",
            Self::Trash | Self::UndoTrash => "trash",
            Self::Replace | Self::UndoReplace => "replace",
            Self::Create | Self::UndoCreate => "create",
            Self::Metadata | Self::UndoMetadata => "metadata",
        }
    }
}

/// A pair of files. For an undo, the action has already been performed.
struct Stage {
    tree: Tree,
    scene: Scene,
    keeper: u64,
    victim: u64,
}

/// What [`PutBack`](ftk_apply::PutBack) sets of a file: permissions, owner, mtime and an attribute.
type Metadata = (u32, u32, SystemTime, Vec<u8>);

fn metadata(path: &Path) -> Metadata {
    let stat = fs::symlink_metadata(path).unwrap();
    let mut value = [0; 9];
    let len = getxattr(path, "user.note", &mut value[..]).unwrap_or(0);
    (stat.mode() & 0o7777, stat.uid(), stat.modified().unwrap(), value[..len].to_vec())
}

/// The metadata of a victim that gets that of the keeper.
fn other_metadata() -> Metadata {
    let uid = if is_root() { 12 } else { rustix::process::geteuid().as_raw() };
    let note = if has_attributes() { b"else".to_vec() } else { Vec::new() };
    (0o604, uid, old_time() + Duration::from_secs(5), note)
}

/// Returns whether the file system of the tree has extended attributes.
fn has_attributes() -> bool {
    let tree = Tree::new();
    setxattr(tree.file("x", "x"), "user.note", b"x", XattrFlags::empty()).is_ok()
}

fn give_other_metadata(path: &Path) {
    let (mode, uid, time, note) = other_metadata();
    _ = setxattr(path, "user.note", &note, XattrFlags::empty());
    if is_root() {
        std::os::unix::fs::chown(path, Some(uid), None).unwrap();
    }
    set_mode(path, mode);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

const CONTENT: &str = "the only content there is";

/// What a damaged file contains.
const DAMAGED: &str = "the only c0ntent there is";

impl Stage {
    fn new(scene: Scene) -> Self {
        let tree = Tree::new();
        for name in ["k", "dir/v"] {
            let path = tree.file(name, CONTENT);
            _ = setxattr(&path, "user.note", b"mine", XattrFlags::empty());
            set_mode(&path, 0o640);
        }
        // Other users can change names here.
        set_mode(&tree.path("dir"), 0o777);
        let (keeper, victim) = (ino(&tree.path("k")), ino(&tree.path("dir/v")));
        if scene.replaces() {
            tree.file("dir/v", DAMAGED);
        } else if scene.creates() {
            fs::remove_file(tree.path("dir/v")).unwrap();
        } else if scene.sets_metadata() {
            give_other_metadata(&tree.path("dir/v"));
        }
        let stage = Self { tree, scene, keeper, victim };
        if scene.is_undo() {
            let mut act = Command::new(act_program());
            let done = stage.directed(&mut act, false).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        }
        stage
    }

    fn directed<'c>(&self, command: &'c mut Command, undo: bool) -> &'c mut Command {
        command.current_dir(self.tree.path(""));
        match undo {
            true => command.args(["undo", "journal"]),
            false => command.args([self.scene.action(), "k", "dir/v", "journal"]),
        }
    }

    /// Runs the scene under strace with these options.
    fn play(&self, options: &[String]) -> Output {
        let mut strace = Command::new("strace");
        strace.args(options).arg(act_program());
        self.directed(&mut strace, self.scene.is_undo()).output().unwrap()
    }

    /// Undoes the action without faults.
    fn undo(&self) -> Output {
        self.directed(&mut Command::new(act_program()), true).output().unwrap()
    }

    /// Returns whether the victim is the old file, or after an undo an equal file.
    fn is_old(&self) -> bool {
        let path = self.tree.path("dir/v");
        let Ok(now) = fs::symlink_metadata(&path) else { return self.scene.creates() };
        if self.scene.sets_metadata() {
            return now.ino() == self.victim && metadata(&path) == other_metadata();
        }
        let content = if self.scene.replaces() { DAMAGED } else { CONTENT };
        !self.scene.creates()
            && now.is_file()
            && now.ino() != self.keeper
            && (now.ino() == self.victim || self.scene.is_undo() || now.nlink() == 1)
            && (now.mode() & 0o7777, now.modified().unwrap()) == (0o640, old_time())
            && fs::read(path).unwrap() == content.as_bytes()
    }

    /// Returns whether the action has been performed.
    fn is_acted_on(&self) -> bool {
        let path = self.tree.path("dir/v");
        match self.scene {
            Scene::Hardlink | Scene::UndoHardlink => path.exists() && ino(&path) == self.keeper,
            Scene::Symlink | Scene::UndoSymlink => {
                path.is_symlink() && fs::metadata(&path).is_ok_and(|target| target.ino() == self.keeper)
            }
            Scene::Delete | Scene::UndoDelete => !path.exists(),
            Scene::Metadata | Scene::UndoMetadata => {
                ino(&path) == self.victim && metadata(&path) == metadata(&self.tree.path("k"))
            }
            Scene::Replace | Scene::UndoReplace | Scene::Create | Scene::UndoCreate => {
                fs::symlink_metadata(&path).is_ok_and(|now| {
                    now.ino() != self.victim
                        && now.ino() != self.keeper
                        && (now.mode() & 0o7777, now.modified().unwrap()) == (0o640, old_time())
                        && fs::read(&path).unwrap() == CONTENT.as_bytes()
                })
            }
            Scene::Trash | Scene::UndoTrash => {
                let moved = fs::symlink_metadata(self.tree.path("home/files/v"));
                let record = fs::read_to_string(self.tree.path("home/info/v.trashinfo"));
                let is_complete = record.is_ok_and(|text| text.contains("/dir/v\nDeletionDate="));
                !path.exists() && is_complete && moved.is_ok_and(|moved| moved.ino() == self.victim)
            }
            Scene::Move | Scene::UndoMove => {
                let moved = fs::symlink_metadata(self.tree.path("to/dir/v"));
                !path.exists() && moved.is_ok_and(|moved| moved.ino() == self.victim)
            }
        }
    }

    fn strays(&self) -> Vec<String> {
        self.tree.names().into_iter().filter(|name| name.contains(".ftk-")).collect()
    }

    /// Returns whether the victim has a private name, as it has for a moment while it is proven not to be the
    /// keeper, or to be the file that moves.
    fn is_aside(&self) -> bool {
        let strays = self.strays();
        !self.tree.path("dir/v").exists()
            && matches!(&strays[..], [stray] if ino(&self.tree.path(stray)) == self.victim)
    }

    /// Checks what must hold after every fault.
    fn assert_nothing_lost(&self, what: &str) {
        self.assert_keeper(what);
        if self.scene.sets_metadata() && self.is_partly_set() {
            return;
        }
        assert!(self.is_old() != self.is_acted_on(), "{what}: {:?}", self.tree.names());
    }

    /// Returns whether the victim has its content, and each part of its metadata is the old or the new one. No single call
    /// sets all of it.
    fn is_partly_set(&self) -> bool {
        let path = self.tree.path("dir/v");
        let (now, old, new) = (metadata(&path), other_metadata(), metadata(&self.tree.path("k")));
        ino(&path) == self.victim
            && fs::read(&path).unwrap() == CONTENT.as_bytes()
            && [old.0, new.0, old.0 & new.0].contains(&now.0)
            && [old.1, new.1].contains(&now.1)
            && [old.2, new.2].contains(&now.2)
            && [old.3, new.3].contains(&now.3)
    }

    fn assert_keeper(&self, what: &str) {
        let keeper = self.tree.path("k");
        assert_eq!(fs::read(&keeper).unwrap(), CONTENT.as_bytes(), "{what}");
        assert_eq!(ino(&keeper), self.keeper, "{what}");
    }
}

/// Counts the system calls by name: before the journal was opened, and from then on.
fn calls(scene: Scene, options: &[String]) -> BTreeMap<String, (usize, usize)> {
    let stage = Stage::new(scene);
    let log = stage.tree.path("log");
    let mut all = vec!["-o".to_owned(), log.to_str().unwrap().to_owned()];
    all.extend_from_slice(options);
    let output = stage.play(&all);
    assert!(output.status.success() || !options.is_empty(), "{output:?}");
    calls_in(&fs::read_to_string(log).unwrap())
}

/// Counts the system calls in a log of strace by name: before the journal was opened, and from then on.
pub(crate) fn calls_in(log: &str) -> BTreeMap<String, (usize, usize)> {
    let mut counts = BTreeMap::<_, (usize, usize)>::new();
    let mut has_begun = false;
    for line in log.lines() {
        has_begun |= line.contains("\"journal\"") && line.starts_with("openat(");
        let Some((name, _)) = line.split_once('(') else { continue };
        let (before, within) = counts.entry(name.to_owned()).or_default();
        *(if has_begun { within } else { before }) += 1;
    }
    assert!(has_begun, "{log}");
    counts
}

/// Runs the scene with each fault in turn; `options` are used in all runs.
fn play_with_faults(scene: Scene, options: &[&str]) {
    needs!("strace");
    if is_too_slow("injected faults") {
        return;
    }
    let options: Vec<_> = match options {
        _ if options == NO_UNNAMED => without_unnamed_files(scene),
        options => options.iter().map(|&option| option.to_owned()).collect(),
    };
    let counts = calls(scene, &options);
    let mut played = 0;
    for (name, &(before, within)) in &counts {
        let Some(errors) = errors_of(name, within) else { continue };
        for nth in before + 1..=before + within {
            let ways = errors.iter().map(|error| format!("error={error}")).chain(["signal=KILL".to_owned()]);
            for way in ways {
                let all = injecting(&options, &format!("inject={name}:{way}:when={nth}"));
                play_once(scene, &all, &format!("{scene:?} {}", all.join(" ")), way.starts_with("signal"));
                played += 1;
            }
        }
    }
    assert!(played > 50, "{played}");
}

/// Returns the options of strace for one more fault. It stops only at calls into which something is injected.
pub(crate) fn injecting(options: &[String], inject: &str) -> Vec<String> {
    let injected = options.iter().map(String::as_str).chain([inject]);
    let names = injected.filter_map(|option| option.strip_prefix("inject=")?.split(':').next());
    let trace = format!("trace={}", names.collect::<Vec<_>>().join(","));
    let mut all = options.to_vec();
    all.extend(["-o", "/dev/null", "-e", &trace, "-e", inject].map(str::to_owned));
    // With a seccomp filter strace is faster, but cannot deliver signals.
    if !inject.contains(":signal=") {
        all.extend(["-f", "--seccomp-bpf"].map(str::to_owned));
    }
    all
}

/// Returns the errors to inject into a system call, or `None` if its errors are harmless. `within` is how often the
/// engine makes the call.
pub(crate) fn errors_of(name: &str, within: usize) -> Option<&'static [&'static str]> {
    let unknown = [
        "access",
        "arch_prctl",
        "brk",
        "clock_gettime",
        "close",
        "exit_group",
        "getrandom",
        "mmap",
        "munmap",
        "readlink", // finds the time zone; without one, times are in UTC
        "prctl",    // reads the auxiliary vector; if this fails, the clock is read by a system call
    ];
    let harmless = |name: &str| {
        unknown.contains(&name)
            || ["fcntl", "getegid", "geteuid", "mremap", "prlimit64", "read", "sigaltstack"].contains(&name)
    };
    let fault = FAULTS.iter().find(|(call, _)| *call == name);
    assert!(fault.is_some() || within == 0 || harmless(name), "a call that is not in the table: {name}");
    fault.map(|(_, errors)| *errors)
}

fn play_once(scene: Scene, options: &[String], what: &str, is_killed: bool) {
    let stage = Stage::new(scene);
    let output = stage.play(options);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let what = format!("{what}: {output:?}");
    let has_proof = options.iter().any(|option| option.contains("fstatfs"));
    // A move out of a directory of others takes the file into a private one first.
    let moves = matches!(scene, Scene::Move | Scene::UndoMove | Scene::Trash | Scene::UndoTrash);
    let may_be_aside = has_proof || moves;
    if is_killed && may_be_aside && stage.is_aside() {
        stage.assert_keeper(&what);
    } else {
        stage.assert_nothing_lost(&what);
    }
    if !is_killed {
        // If the empty file of a proof cannot be removed, it is left, and the error names it.
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_reported = |stray: &String| has_proof && stderr.contains(stray.trim_start_matches("dir/"));
        assert!(stage.strays().iter().all(is_reported), "{what}: {:?}", stage.strays());
        // The reported outcome must be true, whatever failed later.
        if ["done", "Restored", "Removed"].iter().any(|word| said.contains(word)) {
            assert!(stage.is_acted_on() != scene.is_undo(), "{what}");
        } else if output.status.code() == Some(1) {
            assert!(stage.is_old() != scene.is_undo(), "{what}");
        }
        return;
    }
    // After a kill, undo of the journal cleans up, if there is a journal.
    let repaired = stage.undo();
    let repaired_what = format!("{what}\n{repaired:?}\n{:?}", stage.tree.names());
    if !scene.is_undo() {
        assert_eq!(stage.strays(), [""; 0], "{repaired_what}");
    }
    assert!(!stage.tree.path("home/info/v.trashinfo").exists(), "{repaired_what}");
    match scene {
        Scene::Delete => stage.assert_nothing_lost(&repaired_what),
        _ => assert!(stage.is_old(), "{repaired_what}"),
    }
}

macro_rules! scenes {
    ($($name:ident: $scene:ident, $options:expr;)*) => {$(
        #[test]
        fn $name() {
            play_with_faults(Scene::$scene, $options);
        }
    )*};
}

/// Options of strace that simulate a file system that cannot exchange two names.
const NO_EXCHANGE: &[&str] = &["-e", "inject=renameat2:error=EINVAL"];

/// Stands for the options that simulate a file system without files that have no name.
const NO_UNNAMED: &[&str] = &["no unnamed files"];

/// Returns the options that let every call fail that makes a file without a name.
fn without_unnamed_files(scene: Scene) -> Vec<String> {
    let stage = Stage::new(scene);
    let log = stage.tree.path("log");
    stage.play(&["-e", "trace=openat", "-o", log.to_str().unwrap()].map(str::to_owned));
    let log = fs::read_to_string(log).unwrap();
    let calls = log.lines().filter(|line| line.starts_with("openat(")).enumerate();
    let unnamed: Vec<_> =
        calls.filter(|(_, line)| line.contains("O_TMPFILE")).map(|(nth, _)| nth + 1).collect();
    assert!(!unnamed.is_empty(), "{log}");
    ["-e".to_owned(), format!("inject=openat:error=EOPNOTSUPP:when={}", unnamed[0])].into()
}

/// Options of strace that simulate a file system of unknown type, on which the engine must prove that two
/// files are distinct.
const UNKNOWN: &[&str] = &["-e", "inject=fstatfs:error=EIO"];

/// Like `UNKNOWN`, but the file system also rejects all rename flags, as FUSE file systems do.
const UNKNOWN_WITHOUT_FLAGS: &[&str] =
    &["-e", "inject=fstatfs:error=EIO", "-e", "inject=renameat2:error=EINVAL"];

scenes! {
    h06_hardlink: Hardlink, &[];
    h06_hardlink_without_exchange: Hardlink, NO_EXCHANGE;
    h06_symlink: Symlink, &[];
    h06_symlink_without_exchange: Symlink, NO_EXCHANGE;
    h06_delete: Delete, &[];
    h06_delete_without_exchange: Delete, NO_EXCHANGE;
    h06_relocate: Move, &[];
    h06_trash: Trash, &[];
    h06_replace: Replace, &[];
    h06_replace_without_exchange: Replace, NO_EXCHANGE;
    h06_create: Create, &[];
    h06_create_without_exchange: Create, NO_EXCHANGE;
    h06_metadata: Metadata, &[];
    h06_undo_of_metadata: UndoMetadata, &[];
    h06_undo_of_replace: UndoReplace, &[];
    h06_undo_of_create: UndoCreate, &[];
    h06_undo_of_hardlink: UndoHardlink, &[];
    h06_undo_of_symlink: UndoSymlink, &[];
    h06_undo_of_move: UndoMove, &[];
    h06_undo_of_trash: UndoTrash, &[];
    h06_replace_without_unnamed_files: Replace, NO_UNNAMED;
    h06_create_without_unnamed_files: Create, NO_UNNAMED;
    h06_undo_of_replace_without_unnamed_files: UndoReplace, NO_UNNAMED;
    h06_undo_of_hardlink_without_unnamed_files: UndoHardlink, NO_UNNAMED;
    h06_undo_of_symlink_without_unnamed_files: UndoSymlink, NO_UNNAMED;
    h06_undo_of_delete_without_unnamed_files: UndoDelete, NO_UNNAMED;
    h06_undo_of_delete: UndoDelete, &[];
    h58_hardlink_after_a_proof: Hardlink, UNKNOWN;
    h58_symlink_after_a_proof: Symlink, UNKNOWN;
    h58_delete_after_a_proof: Delete, UNKNOWN;
    h58_move_after_a_proof: Move, UNKNOWN;
    h58_trash_after_a_proof: Trash, UNKNOWN;
    h58_symlink_after_a_proof_without_flags: Symlink, UNKNOWN_WITHOUT_FLAGS;
    h58_delete_after_a_proof_without_flags: Delete, UNKNOWN_WITHOUT_FLAGS;
}

/// A new mount has another device number, and FUSE file systems invent new inode numbers.
#[test]
fn h58_a_victim_with_new_device_and_inode_numbers_is_restored() {
    needs!("strace");
    for scene in [Scene::Delete, Scene::Hardlink, Scene::Symlink, Scene::Move] {
        let stage = Stage::new(scene);
        let kill = [
            "-o",
            "/dev/null",
            "-e",
            "inject=fstatfs:error=EIO",
            "-e",
            "inject=renameat2:signal=KILL:when=2",
        ];
        stage.play(&kill.map(str::to_owned));
        assert!(stage.is_aside(), "{scene:?}: {:?}", stage.tree.names());
        // Simulates new inode numbers: the victim's number is not found, and the keeper has the victim's old
        // number.
        let journal = fs::read_to_string(stage.tree.journal()).unwrap();
        let [victim, keeper] = [stage.victim, stage.keeper].map(|ino| format!("\"ino\":{ino},"));
        assert!(journal.contains(&victim) && journal.contains(&keeper), "{journal}");
        let journal = journal.replace(&victim, "\"ino\":1,").replace(&keeper, &victim);
        fs::write(stage.tree.journal(), journal).unwrap();
        let undo = || {
            let mut strace = Command::new("strace");
            strace.args(&kill[..4]).arg(act_program());
            stage.directed(&mut strace, true).output().unwrap()
        };
        // Another user could have put the file there. A deleted file is restored from the keeper.
        if scene != Scene::Delete {
            let output = undo();
            assert!(!output.status.success() && stage.is_aside(), "{scene:?}: {output:?}");
            set_mode(&stage.tree.path("dir"), 0o755);
        }
        let output = undo();
        assert!(stage.is_old(), "{scene:?}: {output:?} {:?}", stage.tree.names());
        assert_eq!(stage.strays(), [""; 0], "{scene:?}: {output:?}");
    }
}

#[test]
fn h06_a_call_that_always_fails_leaves_the_victim_unchanged() {
    needs!("strace");
    for scene in [Scene::Hardlink, Scene::Symlink, Scene::Delete, Scene::Move] {
        for (name, error) in
            [("unlinkat", "EIO"), ("renameat2", "EIO"), ("newfstatat", "EACCES"), ("fsync", "EIO")]
        {
            let before = calls(scene, &[]).get(name).map_or(0, |(before, _)| *before);
            let inject = format!("inject={name}:error={error}:when={}+", before + 1);
            let stage = Stage::new(scene);
            let output = stage.play(&["-o", "/dev/null", "-e", &inject].map(str::to_owned));
            let what = format!("{scene:?} {inject}: {output:?}");
            stage.assert_nothing_lost(&what);
            // Files that could not be removed are reported.
            for stray in stage.strays() {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(said.contains(stray.trim_start_matches("dir/")), "{what}");
            }
        }
    }
}

/// Runs the scene, and makes the change while strace delays the first `call`: after the last check of the
/// files, and before the call has an effect.
fn changed_before(scene: Scene, call: &str, change: impl Fn(&Tree)) -> (Stage, Output) {
    changed_during(scene, &format!("{call}:delay_enter=3000000:when=1"), change)
}

/// Like `changed_before`, with any injection that includes a delay.
fn changed_during(scene: Scene, injection: &str, change: impl Fn(&Tree)) -> (Stage, Output) {
    let stage = Stage::new(scene);
    let mut strace = Command::new("strace");
    let delay = format!("inject={injection}");
    strace.args(["-o", "/dev/null", "-e", &delay]).arg(act_program());
    let strace = stage.directed(&mut strace, scene.is_undo()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = strace.spawn().unwrap();
    // Waits until the step is in the journal. Less than a millisecond later, the process reaches the call
    // that strace delays.
    while !fs::read_to_string(stage.tree.journal()).is_ok_and(|journal| journal.contains("\"step\":0")) {
        thread::yield_now();
    }
    thread::sleep(Duration::from_millis(300));
    change(&stage.tree);
    let output = running.wait_with_output().unwrap();
    (stage, output)
}

#[test]
fn h08_a_keeper_removed_at_the_last_moment_is_detected() {
    needs!("strace");
    let cases = [
        (Scene::Hardlink, "linkat"),
        (Scene::Hardlink, "renameat2"),
        (Scene::Symlink, "renameat2"),
        (Scene::Delete, "renameat2"),
        (Scene::Move, "renameat2"),
    ];
    let check = |scene, call, is_replaced| {
        let (stage, output) = changed_before(scene, call, |tree| {
            if is_replaced {
                fs::rename(tree.file("new", "some other content, as long"), tree.path("k")).unwrap();
            } else {
                fs::remove_file(tree.path("k")).unwrap();
            }
        });
        assert_eq!(output.status.code(), Some(1), "{scene:?} {call}: {output:?}");
        assert!(stage.is_old(), "{scene:?} {call}: {output:?}");
        assert_eq!(stage.strays(), [""; 0], "{scene:?} {call}: {output:?}");
    };
    thread::scope(|scope| {
        for (scene, call) in cases {
            for is_replaced in [true, false] {
                scope.spawn(move || check(scene, call, is_replaced));
            }
        }
    });
}

/// Other bytes of the same length are written into either file after the last check.
#[test]
fn h08_writes_at_the_last_moment_are_not_lost() {
    use std::os::unix::fs::FileExt;

    needs!("strace");
    let check = |scene: Scene, name: &str| {
        let (stage, output) = changed_before(scene, "renameat2", |tree| {
            fs::File::options().write(true).open(tree.path(name)).unwrap().write_all_at(b"NEW", 0).unwrap();
        });
        let what = format!("{scene:?} {name}: {output:?}");
        assert_eq!(output.status.code(), Some(1), "{what}");
        for other in ["dir/v", "k"] {
            let content = fs::read(stage.tree.path(other)).unwrap();
            assert_eq!(content.starts_with(b"NEW"), other == name, "{what}: {other}");
        }
        assert_eq!(stage.tree.names(), ["dir/v", "k"], "{what}");
        assert_ne!(ino(&stage.tree.path("dir/v")), ino(&stage.tree.path("k")), "{what}");
    };
    thread::scope(|scope| {
        for scene in [Scene::Hardlink, Scene::Symlink, Scene::Delete, Scene::Move] {
            for name in ["dir/v", "k"] {
                scope.spawn(move || check(scene, name));
            }
        }
    });
}

/// If names cannot be exchanged, there is another check after the file system has reported that.
#[test]
fn h08_changes_at_the_last_moment_are_detected_without_exchange() {
    use std::os::unix::fs::FileExt;

    type Change = fn(&Tree);
    const CHANGES: [(&str, Change); 4] = [
        ("the victim is replaced", |tree| {
            fs::rename(tree.file("new", "the only one"), tree.path("dir/v")).unwrap();
        }),
        ("the victim is written", |tree| {
            let file = fs::File::options().write(true).open(tree.path("dir/v")).unwrap();
            file.write_all_at(b"NEW", 0).unwrap();
        }),
        ("the keeper is replaced", |tree| {
            fs::rename(tree.file("new", "some other content, as long"), tree.path("k")).unwrap();
        }),
        ("the keeper is removed", |tree| fs::remove_file(tree.path("k")).unwrap()),
    ];
    needs!("strace");
    let check = |scene: Scene, (what, change): (&str, Change)| {
        let left = std::sync::Mutex::new(None);
        let injection = "renameat2:error=EINVAL:delay_enter=3000000:when=1";
        let (stage, output) = changed_during(scene, injection, |tree| {
            change(tree);
            let victim = tree.path("dir/v");
            *left.lock().unwrap() = Some((ino(&victim), fs::read(victim).unwrap()));
        });
        let what = format!("{scene:?}, {what}: {output:?}");
        assert_eq!(output.status.code(), Some(1), "{what}");
        let victim = stage.tree.path("dir/v");
        let found = fs::symlink_metadata(&victim).unwrap();
        assert!(found.is_file(), "{what}");
        assert_eq!(Some((ino(&victim), fs::read(&victim).unwrap())), left.into_inner().unwrap(), "{what}");
        assert_eq!(stage.strays(), [""; 0], "{what}");
    };
    thread::scope(|scope| {
        for scene in [Scene::Hardlink, Scene::Symlink, Scene::Delete] {
            for change in CHANGES {
                scope.spawn(move || check(scene, change));
            }
        }
    });
}

/// The keeper's name leads to another file while the link is made, and to the keeper again at the next check.
#[test]
fn h08_a_link_to_the_wrong_file_is_detected() {
    needs!("strace");
    let injection = "linkat,renameat2:delay_enter=3000000:when=1";
    let (stage, output) = changed_during(Scene::Hardlink, injection, |tree| {
        let (keeper, aside) = (tree.path("k"), tree.path("aside"));
        fs::rename(&keeper, &aside).unwrap();
        tree.file("k", "some other content, as long");
        // The link has been made, and the exchange of the names is delayed.
        thread::sleep(Duration::from_millis(4200));
        fs::rename(&aside, &keeper).unwrap();
    });
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stage.is_old(), "{output:?}");
    assert_eq!(stage.tree.names(), ["dir/v", "k"], "{output:?}");
}

/// The damaged file is written to, or replaced, after the last check before the exchange.
#[test]
fn h08_a_damaged_file_that_changes_at_the_last_moment_is_kept() {
    use std::os::unix::fs::FileExt;

    type Change = fn(&Tree);
    const CHANGES: [(&str, Change); 2] = [
        ("NEW", |tree| {
            let file = fs::File::options().write(true).open(tree.path("dir/v")).unwrap();
            file.write_all_at(b"NEW", 0).unwrap();
        }),
        ("mine", |tree| fs::rename(tree.file("new", "mine"), tree.path("dir/v")).unwrap()),
    ];
    needs!("strace");
    thread::scope(|scope| {
        for (content, change) in CHANGES {
            scope.spawn(move || {
                let (stage, output) = changed_before(Scene::Replace, "renameat2", change);
                assert_eq!(output.status.code(), Some(1), "{output:?}");
                let found = fs::read_to_string(stage.tree.path("dir/v")).unwrap();
                assert!(found.starts_with(content), "{found}: {output:?}");
                assert_eq!(stage.strays(), [""; 0], "{output:?}");
            });
        }
    });
}

/// The copy replaces the last link to content that is on the disk.
#[test]
fn h06_a_copy_is_synced_before_it_gets_its_name() {
    needs!("strace");
    for scene in [Scene::UndoHardlink, Scene::UndoSymlink] {
        let stage = Stage::new(scene);
        let log = tempfile::NamedTempFile::new().unwrap();
        let options = ["-o", log.path().to_str().unwrap(), "-e", "trace=fsync,renameat2"];
        let output = stage.play(&options.map(str::to_owned));
        assert!(output.status.success(), "{output:?}");
        let log = fs::read_to_string(log.path()).unwrap();
        let names: Vec<_> =
            log.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name).collect();
        assert_eq!(names, ["fsync", "renameat2", "fsync"], "{log}");
    }
}

/// Simulates a write that is lost although the kernel reported success.
#[test]
fn h06_a_copy_that_lost_its_bytes_is_not_used() {
    needs!("strace");
    let lost = format!("inject=pwrite64:retval={}", CONTENT.len());
    for scene in [Scene::UndoHardlink, Scene::UndoSymlink] {
        let stage = Stage::new(scene);
        let output = stage.play(&["-o", "/dev/null", "-e", &lost].map(str::to_owned));
        assert_eq!(output.status.code(), Some(1), "{scene:?}: {output:?}");
        assert!(stage.is_acted_on(), "{scene:?}: {output:?}");
        assert_eq!(stage.strays(), [""; 0], "{scene:?}: {output:?}");
    }
}

/// A copy is not used if its source was written to meanwhile.
#[test]
fn h08_writes_during_the_copy_of_an_undo_are_detected() {
    use std::os::unix::fs::FileExt;

    needs!("strace");
    let check = |scene: Scene| {
        let (stage, output) = changed_before(scene, "renameat2", |tree| {
            let keeper = fs::File::options().write(true).open(tree.path("k")).unwrap();
            keeper.write_all_at(b"NEW", 0).unwrap();
        });
        assert_eq!(output.status.code(), Some(1), "{scene:?}: {output:?}");
        assert!(fs::read(stage.tree.path("dir/v")).unwrap().starts_with(b"NEW"), "{scene:?}: {output:?}");
        assert_eq!(stage.tree.names(), ["dir/v", "k"], "{scene:?}: {output:?}");
    };
    thread::scope(|scope| {
        for scene in [Scene::UndoHardlink, Scene::UndoSymlink] {
            scope.spawn(move || check(scene));
        }
    });
}

#[test]
fn h08_a_victim_replaced_at_the_last_moment_is_kept() {
    needs!("strace");
    let check = |scene| {
        let (stage, output) = changed_before(scene, "renameat2", |tree| {
            fs::rename(tree.file("new", "the only one"), tree.path("dir/v")).unwrap();
        });
        assert_eq!(output.status.code(), Some(1), "{scene:?}: {output:?}");
        assert_eq!(fs::read(stage.tree.path("dir/v")).unwrap(), b"the only one", "{scene:?}: {output:?}");
        assert_eq!(stage.tree.names(), ["dir/v", "k"], "{scene:?}: {output:?}");
    };
    thread::scope(|scope| {
        for scene in [Scene::Hardlink, Scene::Symlink, Scene::Delete, Scene::Move] {
            scope.spawn(move || check(scene));
        }
    });
}
