//! Reflinks, on file systems that support them: btrfs and XFS in an image file made for the test.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ftk_apply::{
    ActError, Action, ActionOptions, Engine, Freed, Journal, Reach, Refusal, Side, Step, Undone, probe,
    script,
};
use ftk_sched::Stop;
use rustix::fs::{CWD, Mode, OFlags, openat, statvfs, syncfs};

use crate::harness::{has, is_root, is_too_slow, old_time, seen, set_mode, skip};

/// A file system that exists as long as this value. It is already unmounted, and an open descriptor keeps it
/// alive.
struct Mounted {
    top: OwnedFd,
    _image: tempfile::NamedTempFile,
}

impl Mounted {
    /// Creates the file system. Returns `None`, and reports it, if loop devices are not available; with
    /// `FTK_TEST_LOOP` set that is a failure.
    fn new(kind: &str) -> Option<Self> {
        if is_too_slow("loop devices") {
            return None;
        }
        let required = std::env::var_os("FTK_TEST_LOOP").is_some_and(|value| value == "1");
        match Self::mount(kind) {
            Ok(mounted) => Some(mounted),
            Err(why) => {
                assert!(!required, "{kind}: {why}");
                skip(&format!("{kind}: {why}"));
                None
            }
        }
    }

    fn mount(kind: &str) -> Result<Self, String> {
        if !is_root() || !Path::new("/dev/loop-control").exists() {
            return Err("no loop devices, or no permission to mount them".into());
        }
        let program = format!("mkfs.{kind}");
        if !has(&program, if kind == "xfs" { "xfsprogs" } else { "btrfs-progs" }) {
            return Err(format!("no {program}"));
        }
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(512 << 20).unwrap(); // XFS requires 300 MiB
        run(Command::new(program).arg("-q").arg(image.path()))?;
        let point = tempfile::tempdir().unwrap();
        run(Command::new("mount").args(["-o", "loop", "-t", kind]).arg(image.path()).arg(point.path()))?;
        let top = openat(CWD, point.path(), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        run(Command::new("umount").arg("-l").arg(point.path())).unwrap();
        Ok(Self { top: top.unwrap(), _image: image })
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}/{name}", std::process::id(), self.top.as_raw_fd()))
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(old_time()).unwrap();
        path
    }

    fn step(&self, victim: &str, keeper: &str) -> Step {
        let root_len = self.path("").as_os_str().len();
        Step::new(seen(&self.path(victim), root_len), seen(&self.path(keeper), root_len))
    }

    fn run(&self, step: Step) -> Result<Freed, ActError> {
        _ = fs::remove_file(self.path("journal"));
        let mut journal = Journal::create(&self.path("journal")).unwrap();
        let mut outcomes = Vec::new();
        let mut engine = Engine::new(Action::Reflink, ActionOptions::default()).unwrap();
        engine.run([step], &mut journal, &Stop::new(), |_, outcome| outcomes.push(outcome)).unwrap();
        journal.finish().unwrap();
        outcomes.remove(0)
    }

    /// Returns the bytes in use, after a sync.
    fn used(&self) -> u64 {
        // btrfs frees blocks some transactions later.
        for _ in 0..3 {
            syncfs(&self.top).unwrap();
            run(Command::new("sync").arg("-f").arg(self.path(""))).unwrap();
        }
        let all = statvfs(self.path("")).unwrap();
        (all.f_blocks - all.f_bfree) * all.f_frsize
    }

    /// Whether more than `bytes` bytes are free than `before`, soon. XFS frees the blocks of removed files in the
    /// background.
    fn has_freed(&self, before: u64, bytes: u64) -> bool {
        let mut tries = 0..100;
        tries.any(|_| {
            let is_free = self.used() + bytes < before;
            if !is_free {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            is_free
        })
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {output:?}")) }
}

/// Returns bytes that cannot be compressed.
fn random(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Returns the metadata of a file that a reflink must not change: inode number, mode, owner, size, mtime and
/// ctime.
fn look(path: &Path) -> (u64, u32, u32, u64, i64, i64, i64, i64) {
    let now = fs::metadata(path).unwrap();
    (
        now.ino(),
        now.mode(),
        now.uid(),
        now.len(),
        now.mtime(),
        now.mtime_nsec(),
        now.ctime(),
        now.ctime_nsec(),
    )
}

fn shares_blocks(kind: &str) {
    let Some(mounted) = Mounted::new(kind) else { return };
    // Longer than one system call can share, and the last block is incomplete.
    let content = random((40 << 20) + 1234);
    mounted.file("k", &content);
    let victim = mounted.file("v", &content);
    set_mode(&victim, 0o400);
    std::os::unix::fs::chown(&victim, Some(12), Some(34)).unwrap();
    let before = mounted.used();
    let looked = look(&victim);
    let step = mounted.step("v", "k");
    assert_eq!(probe(&mut Reach::new(), &Action::Reflink, &step).unwrap(), None);
    let Freed(freed) = mounted.run(step).unwrap();
    assert_eq!(look(&victim), looked, "{kind}: all but the blocks stays");
    assert_eq!(fs::read(&victim).unwrap(), content);
    let difference = before.abs_diff(mounted.used());
    assert!(
        freed >= 40 << 20 && freed.abs_diff(difference) < 1 << 20,
        "{kind}: {freed} said, {difference} found"
    );
    // Everything is shared already, which is found without another comparison.
    assert_eq!(mounted.run(mounted.step("v", "k")).unwrap(), Freed(0), "{kind}");
    let journal = ftk_apply::open_journal_to_undo(&mounted.path("journal")).unwrap();
    let mut undone = Vec::new();
    ftk_apply::undo(journal, &Stop::new(), |_, outcome| undone.push(outcome.unwrap())).unwrap();
    assert_eq!(undone, [Undone::AsItWas]);

    // The last byte differs: the victim must not change at all.
    let mut other = content.clone();
    *other.last_mut().unwrap() ^= 1;
    let victim = mounted.file("d", &other);
    let looked = look(&victim);
    assert!(matches!(mounted.run(mounted.step("d", "k")), Err(ActError::Refused(Refusal::ContentDiffers))));
    assert_eq!(fs::read(&victim).unwrap(), other);
    assert_eq!(look(&victim), looked);

    // Changed just before: detected by its times, or by the kernel.
    let step = mounted.step("d", "k");
    fs::File::options().write(true).open(&victim).unwrap().write_all_at(b"new", 99).unwrap();
    assert!(matches!(mounted.run(step), Err(ActError::Refused(Refusal::Changed { side: Side::Victim, .. }))));

    // Small files, empty files, and files with holes.
    for (nth, content) in
        [&content[..1], &content[..4096], &content[..5000], &content[..200_000]].iter().enumerate()
    {
        let [k, v] = ["k", "v"].map(|name| format!("{name}{nth}"));
        mounted.file(&k, content);
        mounted.file(&v, content);
        mounted.run(mounted.step(&v, &k)).unwrap();
        assert_eq!(fs::read(mounted.path(&v)).unwrap(), **content);
    }
    for name in ["hole k", "hole v"] {
        let file = fs::File::create(mounted.path(name)).unwrap();
        file.write_all_at(&content[..100_000], 3 << 20).unwrap();
        file.set_len(50 << 20).unwrap();
    }
    let expected = fs::read(mounted.path("hole k")).unwrap();
    mounted.run(mounted.step("hole v", "hole k")).unwrap();
    assert_eq!(fs::read(mounted.path("hole v")).unwrap(), expected);

    if kind == "btrfs" {
        without_copy_on_write(&mounted);
    }
    script_shares_blocks(&mounted, kind);
}

/// btrfs does not share blocks of such a file with ordinary files: the step is refused, and the file does not
/// change.
fn without_copy_on_write(mounted: &Mounted) {
    let content = random(300_000);
    mounted.file("cow", &content);
    for (victim, keeper) in [("nocow", "cow"), ("cow", "nocow")] {
        let path = mounted.file("nocow", b"");
        run(Command::new("chattr").arg("+C").arg(&path)).unwrap();
        mounted.file("nocow", &content);
        let outcome = mounted.run(mounted.step(victim, keeper));
        assert!(matches!(outcome, Err(ActError::Refused(_) | ActError::Failed { .. })), "{outcome:?}");
        assert!(["cow", "nocow"].iter().all(|name| fs::read(mounted.path(name)).unwrap() == content));
    }
}

/// The script requires the `cp` of the coreutils.
fn script_shares_blocks(mounted: &Mounted, kind: &str) {
    let content = random(8 << 20);
    mounted.file("script k", &content);
    let victim = mounted.file("script v", &content);
    set_mode(&victim, 0o640);
    let before = mounted.used();
    let step = mounted.step("script v", "script k");
    let mut text = script::header(b"/");
    text.extend_from_slice(&script::step(&step, &Action::Reflink, 0));
    text.extend_from_slice(&script::footer());
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    run(Command::new("sh").arg(file.path())).unwrap();
    let now = fs::metadata(&victim).unwrap();
    assert_eq!((now.mode() & 0o7777, now.modified().unwrap()), (0o640, old_time()), "{kind}");
    assert_eq!(fs::read(&victim).unwrap(), content);
    assert!(mounted.has_freed(before, 7 << 20), "{kind}");
}

#[test]
fn h10_on_btrfs() {
    shares_blocks("btrfs");
}

#[test]
fn h10_on_xfs() {
    shares_blocks("xfs");
}

#[test]
fn h37_equal_inode_numbers_of_btrfs_subvolumes_are_different_files() {
    let Some(mounted) = Mounted::new("btrfs") else { return };
    for name in ["one", "two"] {
        let path = mounted.path(name);
        run(Command::new("btrfs").args(["subvolume", "create"]).arg(&path)).unwrap();
        fs::write(path.join("f"), random(1 << 20)).unwrap();
    }
    let (one, two) = (mounted.path("one/f"), mounted.path("two/f"));
    assert_eq!(fs::metadata(&one).unwrap().ino(), fs::metadata(&two).unwrap().ino());
    // The files are on different subvolumes and cannot be hard links, but they can share blocks.
    let mut journal = Journal::create(&mounted.path("journal 2")).unwrap();
    let mut engine = Engine::new(Action::Hardlink, ActionOptions::default()).unwrap();
    let step = mounted.step("one/f", "two/f");
    engine
        .run([step.clone()], &mut journal, &Stop::new(), |_, outcome| {
            assert!(matches!(outcome, Err(ActError::Refused(Refusal::OtherFileSystem))), "{outcome:?}");
        })
        .unwrap();
    assert!(mounted.run(step).unwrap() >= Freed(1 << 20));
}
