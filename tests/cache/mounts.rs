//! File systems whose files are remembered across mounts, and those whose files never are.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{cached, counted, place, settle, stored};
use crate::harness::{Dir, Image, Mounted, bytes, needs, skip};

#[test]
fn files_in_memory_are_never_stored() {
    let dir = Dir::new();
    const TMPFS: u32 = 0x0102_1994;
    if rustix::fs::statfs(dir.path("")).unwrap().f_type as u32 != TMPFS {
        assert!(std::env::var_os("CI").is_none(), "no room in /dev/shm");
        return skip("no room in /dev/shm");
    }
    dir.file("file", b"content");
    settle();
    assert_eq!((cached(&dir, &["hash", "."]), cached(&dir, &["hash", "file", "."])), (0, 0));
    assert_eq!(stored(&dir), 0);
}

fn never_stored_in(dir: &Dir, view: &str) {
    for _ in 0..2 {
        let file = format!("{view}/file");
        for args in [["hash", view], ["hash", &file]] {
            assert_eq!(cached(dir, &args), 0, "{args:?}");
        }
    }
    assert_eq!(stored(dir), 0);
}

#[test]
fn files_on_fuse_are_never_stored() {
    let Some(dir) = place() else { return };
    dir.file("real/file", b"content").dir("view");
    settle();
    // The second one says that it is ext4 on a disk.
    for options in ["rw", "fsname=/dev/vda,subtype=ext4"] {
        let mount = ["bindfs", "-o", options, "real", "view"].map(str::to_owned);
        let Some(_view) = Mounted::by(&dir, mount, "view") else { return };
        never_stored_in(&dir, "view");
        assert_eq!(cached(&dir, &["hash", "."]), 0);
        assert_eq!(cached(&dir, &["hash", "."]), 1, "only the file below");
        dir.ftk(["cache", "clear"]).run().status(0);
    }
}

#[test]
fn files_on_an_overlay_are_never_stored() {
    let Some(dir) = place() else { return };
    dir.file("lower/file", b"content");
    settle();
    let Some(_merged) = Mounted::overlay(&dir.path("")) else { return };
    never_stored_in(&dir, "merged");
    assert_eq!(cached(&dir, &["hash", "merged", "lower"]), 0);
    assert_eq!(cached(&dir, &["hash", "merged", "lower"]), 1, "only the file below");
    dir.file("merged/file", b"changed");
    settle();
    assert_eq!(cached(&dir, &["hash", "merged", "lower", "upper"]), 1);
    cached(&dir, &["hash", "merged", "lower", "upper"]);
}

/// A block-wise copy has the same identity, inode numbers and times.
#[test]
fn nothing_is_stored_or_reused_while_a_copy_of_the_file_system_is_mounted() {
    let Some(dir) = place() else { return };
    let Some(image) = Image::new(&dir, "ext4", 16 << 20) else { return };
    {
        let Some(_mounted) = image.mount(&dir, "one") else { return };
        dir.file("one/file", &bytes(1, 5000));
    }
    settle();
    let copy = Image { path: dir.aside("copy") };
    fs::copy(&image.path, &copy.path).unwrap();
    // The copy differs in a byte, and its times do not show it.
    change_a_byte(&copy, &bytes(1, 5000));
    let one = image.mount(&dir, "one").unwrap();
    let both = copy.mount(&dir, "two").unwrap();
    for _ in 0..2 {
        for args in [&["hash", "one"][..], &["hash", "two"], &["hash", "one", "two"], &["hash", "one/file"]] {
            assert_eq!(cached(&dir, args), 0);
        }
    }
    assert_eq!(stored(&dir), 0);
    drop(both);
    assert_eq!((cached(&dir, &["hash", "one"]), cached(&dir, &["hash", "one"])), (0, 1));
    let both = copy.mount(&dir, "two").unwrap();
    assert_eq!((cached(&dir, &["hash", "one"]), cached(&dir, &["hash", "two"])), (0, 0));
    drop((one, both));
}

/// Changes one byte of the content of a file on an image that is not mounted.
fn change_a_byte(image: &Image, content: &[u8]) {
    let found = fs::read(&image.path).unwrap();
    let mut at = (0..found.len()).step_by(1024).filter(|&at| found[at..].starts_with(&content[..1024]));
    let (Some(at), None) = (at.next(), at.next()) else { panic!("the content is there once") };
    File::options()
        .write(true)
        .open(&image.path)
        .unwrap()
        .write_all_at(&[!content[7]], at as u64 + 7)
        .unwrap();
}

#[test]
fn digests_are_reused_after_the_file_system_was_mounted_again() {
    let Some(dir) = place() else { return };
    for (kind, len) in [("ext4", 16 << 20), ("xfs", 512 << 20), ("btrfs", 512 << 20)] {
        let (Some(image), Some(other)) = (Image::new(&dir, kind, len), Image::new(&dir, "ext2", 1 << 20))
        else {
            return;
        };
        {
            let Some(_mounted) = image.mount(&dir, "point") else { return };
            dir.file("point/d/a", &bytes(1, 5000)).file("point/b", &bytes(2, 100_000));
            settle();
            assert_eq!(
                (cached(&dir, &["hash", "point"]), cached(&dir, &["hash", "point"])),
                (0, 2),
                "{kind}"
            );
        }
        // This takes the device number of the first mount.
        let taken = other.mount(&dir, "other").unwrap();
        let mounted = image.mount(&dir, "elsewhere").unwrap();
        assert_eq!(cached(&dir, &["hash", "elsewhere"]), 2, "{kind}");
        assert_eq!(cached(&dir, &["hash", "elsewhere/b"]), 1, "{kind}");
        assert_eq!(cached(&dir, &["hash", "other"]), 0);
        drop((mounted, taken));
    }
}

#[test]
fn subvolumes_and_snapshots_have_their_own_digests() {
    let Some(dir) = place() else { return };
    let Some(image) = Image::new(&dir, "btrfs", 512 << 20) else { return };
    let Some(_mounted) = image.mount(&dir, "point") else { return };
    let run =
        |command: &[&str]| dir.ftk([""; 0]).instead(&dir, ["btrfs"].iter().chain(command)).run().status(0);
    run(&["-q", "subvolume", "create", "point/one"]);
    dir.file("point/one/file", b"one");
    settle();
    assert_eq!((cached(&dir, &["hash", "point"]), cached(&dir, &["hash", "point"])), (0, 1));
    run(&["-q", "subvolume", "snapshot", "point/one", "point/two"]);
    dir.file("point/two/file", b"two");
    settle();
    assert_eq!(cached(&dir, &["hash", "point"]), 1);
    assert_eq!(cached(&dir, &["hash", "point"]), 2);
    assert_eq!(cached(&dir, &["hash", "point/two/file", "point/one"]), 2);
}

/// The snapshot may have the times of a file that changed shortly before without its last bytes.
#[test]
fn snapshots_share_the_digests_of_files_that_were_not_young() {
    let Some(dir) = place() else { return };
    let Some(image) = Image::of_old_files(&dir, &[("a", b"a"), ("b", b"b"), ("c", b"c")]) else { return };
    let Some(_mounted) = image.mount(&dir, "point") else { return };
    let run =
        |command: &[&str]| dir.ftk([""; 0]).instead(&dir, ["btrfs"].iter().chain(command)).run().status(0);
    run(&["-q", "subvolume", "snapshot", "point", "point/tree"]);
    dir.file("point/tree/young", b"young");
    run(&["-q", "subvolume", "snapshot", "-r", "point/tree", "point/one"]);
    run(&["-q", "subvolume", "snapshot", "-r", "point/tree", "point/two"]);
    settle();
    let cached = |name: &str| cached(&dir, &["hash", &format!("point/{name}")]);
    assert_eq!((cached("one"), cached("one"), cached("two")), (0, 3, 3));
    assert_eq!((cached("tree"), cached("tree")), (3, 4));
    assert_eq!(
        (cached("one"), cached("two/young")),
        (3, 0),
        "what is known of the tree is not known of them"
    );
}

/// After the restore, the file has the times that it had when it was read first.
#[test]
fn a_file_of_a_restored_snapshot_is_read_again() {
    let Some(dir) = place() else { return };
    let Some(image) = Image::new(&dir, "ext4", 16 << 20) else { return };
    let (snapshot, args) = (dir.aside("snapshot"), ["hash", "point"]);
    {
        let Some(_mounted) = image.mount(&dir, "point") else { return };
        dir.file("point/file", b"one");
    }
    fs::copy(&image.path, &snapshot).unwrap();
    for content in [b"two", b"six"] {
        {
            let _mounted = image.mount(&dir, "point").unwrap();
            settle();
            assert_eq!((cached(&dir, &args), cached(&dir, &args)), (0, 1), "the file of the snapshot");
            let file = File::options().write(true).open(dir.path("point/file")).unwrap();
            let time = file.metadata().unwrap().modified().unwrap();
            file.write_all_at(content, 0).unwrap();
            file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
            drop(file);
            settle();
            assert_eq!((cached(&dir, &args), cached(&dir, &args)), (0, 1), "the changed file");
        }
        fs::copy(&snapshot, &image.path).unwrap();
    }
}

/// Rot, as the cache cannot see it: the content of a file changes on the disk without its times.
#[test]
fn an_action_compares_the_bytes_of_files_that_the_cache_takes_for_equal() {
    let Some(dir) = place() else { return };
    let Some(image) = Image::new(&dir, "ext4", 16 << 20) else { return };
    let content = bytes(1, 5000);
    {
        let Some(_mounted) = image.mount(&dir, "point") else { return };
        let other = [&content[..4999], &b"!"[..]].concat();
        dir.file("point/a", &other);
        dir.file("point/b", &other);
        settle();
        dir.ftk(["dup", "--cache", "point"]).run().status(0);
        assert_eq!(stored(&dir), 2);
    }
    {
        // The first block of both is the same. Only one of them changes.
        let found = fs::read(&image.path).unwrap();
        let at =
            (0..found.len()).step_by(1024).find(|&at| found[at..].starts_with(&content[..1024])).unwrap();
        let file = File::options().write(true).open(&image.path).unwrap();
        file.write_all_at(&[!content[7]], at as u64 + 7).unwrap();
    }
    let _mounted = image.mount(&dir, "point").unwrap();
    let read = |name: &str| fs::read(dir.path("point").join(name)).unwrap();
    assert_ne!(read("a"), read("b"));
    let (run, reused) = counted(&dir, dir.ftk(["dup", "--cache", "point"]));
    run.check(run.text().contains("point/b"), "the cache takes them for equal");
    assert!(reused > Some(0));
    for action in ["hardlink", "delete", "symlink"] {
        let run = dir.ftk(["dup", "prune", "--cache", "--yes", "--action", action, "point"]).run();
        run.check(run.code() != 0, "it says that they differ");
        assert_ne!(read("a"), read("b"), "{action}");
    }
}

/// Programs mount files, FIFOs and devices too. Opening a FIFO would wait for its other end.
#[test]
fn a_fifo_that_is_a_mount_point_is_not_opened() {
    let Some(dir) = place() else { return };
    dir.file("t/file", b"content").fifo("fifo").file("point", b"");
    settle();
    let args = ["--bind".into(), dir.path("fifo").into_os_string()];
    let Some(_mounted) = Mounted::at(&dir.path("point"), args) else { return };
    assert_eq!((cached(&dir, &["hash", "t"]), cached(&dir, &["hash", "t"])), (0, 1));
}

/// Small inodes have no room for nanoseconds. Without a margin, a second write would have the times of the first.
#[test]
fn a_file_written_again_within_one_tick_of_a_coarse_clock_is_read_again() {
    let Some(dir) = place() else { return };
    let Some(image) = Image::with(&dir, "ext4", 16 << 20, &["-I", "128"]) else { return };
    let Some(_mounted) = image.mount(&dir, "point") else { return };
    let times = || fs::metadata(dir.path("point/file")).map(|all| (all.mtime(), all.ctime())).unwrap();
    dir.file("point/file", b"0000");
    let mut same = 0;
    for nth in 1..=20 {
        dir.ftk(["hash", "point", "--cache"]).run().status(0);
        let before = times();
        let file = File::options().write(true).open(dir.path("point/file")).unwrap();
        file.write_all_at(format!("{nth:04}").as_bytes(), 0).unwrap();
        same += u32::from(times() == before);
        assert_eq!(cached(&dir, &["hash", "point"]), 0);
    }
    assert!(same > 0, "two writes had the same times");
    sleep(Duration::from_millis(3100));
    assert_eq!((cached(&dir, &["hash", "point"]), cached(&dir, &["hash", "point"])), (0, 1));
}

/// A program that writes the content of a file to another one, in one call. It has the first megabyte in memory when
/// it prints a byte, and then waits for one.
const WRITER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
enum { LEN = 8 << 20 };
int main(int count, char **args) {
    volatile char *from = mmap(0, LEN, PROT_READ, MAP_SHARED, open(args[1], O_RDONLY), 0);
    int to = open(args[2], O_WRONLY);
    if (count != 3 || from == MAP_FAILED || to < 0) return 1;
    for (int at = 0; at < 1 << 20; at += 4096) from[at];
    puts("ready");
    fflush(stdout);
    getchar();
    return pwrite(to, (const void *)from, LEN, 0) != LEN;
}
"#;

/// Returns the process that serves a view.
fn server(view: &str) -> Pid {
    let is_ours = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"bindfs\0") && line.split(|&byte| byte == 0).any(|word| word == view.as_bytes())
    };
    let pids = fs::read_dir("/proc").unwrap().filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
    Pid::from_raw(pids.into_iter().find(is_ours).expect("bindfs runs")).unwrap()
}

/// A call of `write` changes the times of the file when it begins. Here it waits in the middle, for a page of its
/// source.
#[test]
fn a_file_read_during_a_long_write_is_read_again() {
    needs!("cc");
    let Some(dir) = place() else { return };
    dir.file("real/from", &bytes(1, 8 << 20)).file("to", &bytes(2, 8 << 20)).dir("view");
    let view = dir.path("view").display().to_string();
    let mount = ["bindfs".into(), dir.path("real").display().to_string(), view.clone()];
    let Some(_view) = Mounted::by(&dir, mount, "view") else { return };
    let (source, program) = (dir.aside("writer.c"), dir.aside("writer"));
    fs::write(&source, WRITER).unwrap();
    assert!(Command::new("cc").arg("-o").args([&program, &source]).status().unwrap().success());
    let mut writer = Command::new(program);
    writer.args([dir.path("view/from"), dir.path("to")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    writer.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
    let server = server(&view);
    kill_process(server, Signal::STOP).unwrap();
    writer.stdin.as_mut().unwrap().write_all(b"!").unwrap();
    settle();
    let run = dir.ftk(["hash", "to", "--cache"]).spawn();
    sleep(Duration::from_millis(400));
    kill_process(server, Signal::CONT).unwrap();
    assert!(writer.wait().unwrap().success());
    assert!(run.wait_with_output().unwrap().status.success());
    assert_eq!(fs::read(dir.path("to")).unwrap(), bytes(1, 8 << 20));
    cached(&dir, &["hash", "to"]);
}
