//! Reflinks, on file systems that support them: btrfs and XFS in an image file made for the test.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};

use ftk_apply::{ActError, Action, Freed, Reach, Refusal, Side, Step, Undone, probe, script};

use crate::harness::{Tree, bytes, old_time, set_mode};

/// Replaces a file, and returns the bytes that it freed.
fn reflink(tree: &Tree, step: Step) -> Result<Freed, ActError> {
    tree.run(Action::Reflink, vec![step]).remove(0)
}

/// Whether more than `bytes` bytes are free than `before`, soon. XFS frees the blocks of removed files in the background.
fn has_freed(tree: &Tree, before: u64, bytes: u64) -> bool {
    let mut tries = 0..100;
    tries.any(|_| {
        let is_free = tree.used() + bytes < before;
        if !is_free {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        is_free
    })
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output();
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{command:?}: {output:?}");
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
    let Some(tree) = Tree::on(kind) else { return };
    // Longer than one system call can share, and the last block is incomplete.
    let content = bytes(1, (40 << 20) + 1234);
    tree.file("k", &content);
    let victim = tree.file("v", &content);
    set_mode(&victim, 0o400);
    std::os::unix::fs::chown(&victim, Some(12), Some(34)).unwrap();
    let before = tree.used();
    let looked = look(&victim);
    let step = tree.step("v", "k");
    assert_eq!(probe(&mut Reach::new(), &Action::Reflink, &step).unwrap(), None);
    let Freed(freed) = reflink(&tree, step).unwrap();
    assert_eq!(look(&victim), looked, "{kind}: all but the blocks stays");
    assert_eq!(fs::read(&victim).unwrap(), content);
    let difference = before.abs_diff(tree.used());
    assert!(
        freed >= 40 << 20 && freed.abs_diff(difference) < 1 << 20,
        "{kind}: {freed} said, {difference} found"
    );
    // Everything is shared already, which is found without another comparison.
    assert_eq!(reflink(&tree, tree.step("v", "k")).unwrap(), Freed(0), "{kind}");
    assert!(matches!(tree.undo()[..], [Ok(Undone::AsItWas)]));

    // The last byte differs: the victim must not change at all.
    let mut other = content.clone();
    *other.last_mut().unwrap() ^= 1;
    let victim = tree.file("d", &other);
    let looked = look(&victim);
    assert!(matches!(reflink(&tree, tree.step("d", "k")), Err(ActError::Refused(Refusal::ContentDiffers))));
    assert_eq!(fs::read(&victim).unwrap(), other);
    assert_eq!(look(&victim), looked);

    // Changed just before: detected by its times, or by the kernel.
    let step = tree.step("d", "k");
    fs::File::options().write(true).open(&victim).unwrap().write_all_at(b"new", 99).unwrap();
    assert!(matches!(
        reflink(&tree, step),
        Err(ActError::Refused(Refusal::Changed { side: Side::Victim, .. }))
    ));

    // Small files, empty files, and files with holes.
    for (nth, content) in
        [&content[..1], &content[..4096], &content[..5000], &content[..200_000]].iter().enumerate()
    {
        let [k, v] = ["k", "v"].map(|name| format!("{name}{nth}"));
        tree.file(&k, content);
        tree.file(&v, content);
        reflink(&tree, tree.step(&v, &k)).unwrap();
        assert_eq!(fs::read(tree.path(&v)).unwrap(), **content);
    }
    for name in ["hole k", "hole v"] {
        let file = fs::File::create(tree.path(name)).unwrap();
        file.write_all_at(&content[..100_000], 3 << 20).unwrap();
        file.set_len(50 << 20).unwrap();
    }
    let expected = fs::read(tree.path("hole k")).unwrap();
    reflink(&tree, tree.step("hole v", "hole k")).unwrap();
    assert_eq!(fs::read(tree.path("hole v")).unwrap(), expected);

    if kind == "btrfs" {
        without_copy_on_write(&tree);
    }
    script_shares_blocks(&tree, kind);
}

/// btrfs does not share blocks of such a file with ordinary files: the step is refused, and the file does not
/// change.
fn without_copy_on_write(tree: &Tree) {
    let content = bytes(2, 300_000);
    tree.file("cow", &content);
    for (victim, keeper) in [("nocow", "cow"), ("cow", "nocow")] {
        let path = tree.file("nocow", b"");
        run(Command::new("chattr").arg("+C").arg(&path));
        tree.file("nocow", &content);
        let outcome = reflink(tree, tree.step(victim, keeper));
        assert!(matches!(outcome, Err(ActError::Refused(_) | ActError::Failed { .. })), "{outcome:?}");
        assert!(["cow", "nocow"].iter().all(|name| fs::read(tree.path(name)).unwrap() == content));
    }
}

/// The script requires the `cp` of the coreutils.
fn script_shares_blocks(tree: &Tree, kind: &str) {
    let content = bytes(3, 8 << 20);
    tree.file("script k", &content);
    let victim = tree.file("script v", &content);
    set_mode(&victim, 0o640);
    let before = tree.used();
    let step = tree.step("script v", "script k");
    let mut text = script::header(b"/");
    text.extend_from_slice(&script::step(&step, &Action::Reflink, 0));
    text.extend_from_slice(&script::footer());
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    run(Command::new("sh").arg(file.path()));
    let now = fs::metadata(&victim).unwrap();
    assert_eq!((now.mode() & 0o7777, now.modified().unwrap()), (0o640, old_time()), "{kind}");
    assert_eq!(fs::read(&victim).unwrap(), content);
    assert!(has_freed(tree, before, 7 << 20), "{kind}");
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
    let Some(tree) = Tree::on("btrfs") else { return };
    for name in ["one", "two"] {
        let path = tree.path(name);
        run(Command::new("btrfs").args(["subvolume", "create"]).arg(&path));
        fs::write(path.join("f"), bytes(4, 1 << 20)).unwrap();
    }
    let (one, two) = (tree.path("one/f"), tree.path("two/f"));
    assert_eq!(fs::metadata(&one).unwrap().ino(), fs::metadata(&two).unwrap().ino());
    // The files are on different subvolumes and cannot be hard links, but they can share blocks.
    let step = tree.step("one/f", "two/f");
    let outcome = tree.run(Action::Hardlink, vec![step.clone()]).remove(0);
    assert!(matches!(outcome, Err(ActError::Refused(Refusal::OtherFileSystem))), "{outcome:?}");
    assert!(reflink(&tree, step).unwrap() >= Freed(1 << 20));
}
