//! `-o FILE`: the file is complete or unchanged.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, lchown};

use crate::harness::{Dir, is_root, records, skip};

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

#[test]
fn a_new_file() {
    let dir = Dir::new();
    dir.file("x", b"abc").dir("out");
    dir.ftk(["hash", "x", "-o", "out/list"]).run().status(0).stdout("");
    assert_eq!(fs::read_to_string(dir.path("out/list")).unwrap(), format!("{ABC}  x\n"));
    assert_eq!(fs::read_dir(dir.path("out")).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn an_existing_file_keeps_its_mode() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("list", b"old");
    fs::set_permissions(dir.path("list"), Permissions::from_mode(0o640)).unwrap();
    dir.ftk(["hash", "x", "-o", "list"]).run().status(0);
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), format!("{ABC}  x\n"));
    assert_eq!(fs::metadata(dir.path("list")).unwrap().mode() & 0o7777, 0o640);
}

#[test]
fn through_a_symbolic_link() {
    let dir = Dir::new();
    dir.file("x", b"abc")
        .file("real/list", b"old")
        .symlink("real/list", "link")
        .symlink("real/new", "dangling");
    for (link, real) in [("link", "real/list"), ("dangling", "real/new")] {
        dir.ftk(["hash", "x", "-o", link]).run().status(0);
        assert!(fs::symlink_metadata(dir.path(link)).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(dir.path(real)).unwrap(), format!("{ABC}  x\n"));
    }
}

/// As with `-o` and a glob, but without a name of a list.
#[test]
fn a_file_that_is_no_text_is_not_replaced() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    dir.ftk(["manifest", "create", "-o", "../m.jsonl", "."]).run().status(0);
    let kinds = [
        &b"\xff\xd8\xff\xe0\0\x10JFIF"[..],
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04",
        b"\x1f\x8b\x08",
        b"\x7fELF\x02",
    ];
    for args in [
        &["hash", "x"][..],
        &["hash", "--tree", "."],
        &["dup", "."],
        &["dup", "--json", "."],
        &["report", "."],
        &["manifest", "create", "."],
        &["manifest", "export", "--format", "mtree", "../m.jsonl"],
        &["manifest", "plan", "--shards", "2", "."],
        &["manifest", "update", ".", "../m.jsonl"],
        &["manifest", "create", "--tar", "x.tar"],
    ] {
        for content in kinds {
            fs::write(dir.aside("picture"), content).unwrap();
            let run = dir.ftk(args).args(["-o", "../picture"]).run().status(2);
            run.stderr_has("'../picture' is ");
            assert_eq!(fs::read(dir.aside("picture")).unwrap(), content, "{args:?}");
        }
    }
    fs::write(dir.aside("picture"), kinds[0]).unwrap();
    for option in ["--stats", "--metrics"] {
        let run = dir.ftk(["hash", "x", option, "../picture"]).run().status(2);
        run.stderr_has(&format!("{option}: '../picture' is not a text file"));
        assert_eq!(fs::read(dir.aside("picture")).unwrap(), kinds[0]);
    }
    // Names end with NUL, and manifests may be compressed: ftk replaces what it wrote itself.
    for args in
        [&["hash", "-z", "x", "-o", "../nul"][..], &["manifest", "create", ".", "--force", "-o", "../m.zst"]]
    {
        dir.ftk(args).run().status(0);
        dir.ftk(args).run().status(0);
    }
}

/// The results of the readable files are kept, but replace no list.
#[test]
fn the_list_of_a_run_with_failures_is_written() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("list", b"old");
    for (list, written) in [("list", "list.incomplete"), ("new", "new")] {
        dir.ftk(["hash", "x", "missing", "-o", list]).run().status(2);
        assert_eq!(fs::read_to_string(dir.path(written)).unwrap(), format!("{ABC}  x\n"));
    }
    assert_eq!(fs::read_to_string(dir.path("list")).unwrap(), "old");
}

#[test]
fn nothing_is_touched_when_the_command_cannot_start() {
    let dir = Dir::new();
    dir.file("list", b"old");
    let before = fs::metadata(dir.path("list")).unwrap();
    for args in [&["-n", "[a"][..], &["-a", "nonsense"], &["-j", "0"]] {
        dir.ftk(["hash", ".", "-o", "list"]).args(args).run().status(2);
    }
    let after = fs::metadata(dir.path("list")).unwrap();
    assert_eq!(
        (before.ino(), before.mtime_nsec(), before.len()),
        (after.ino(), after.mtime_nsec(), after.len())
    );
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 1);
}

/// A read-only list is not replaced, although the permissions of the directory allow it.
#[test]
fn a_file_that_may_not_be_written() {
    let dir = Dir::new();
    dir.file("x", b"abc").file("list", b"old");
    fs::set_permissions(dir.path("list"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(dir.path(""), Permissions::from_mode(0o777)).unwrap();
    dir.ftk(["hash", "x", "-o", "list"])
        .unprivileged(&dir)
        .run()
        .status(2)
        .stderr_has("ftk: cannot write 'list'");
    assert_eq!(fs::read(dir.path("list")).unwrap(), b"old");
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 2);
}

#[test]
fn special_files_are_written_in_place() {
    let dir = Dir::new();
    dir.file("x", b"abc");
    let line = format!("{ABC}  x\n");
    dir.ftk(["hash", "x", "-o", "/dev/null"]).run().status(0).stdout("");
    dir.ftk(["hash", "x", "-o", "/dev/stdout"]).run().status(0).stdout(&line);
    dir.ftk(["hash", "x", "-o", "/proc/self/fd/1"]).run().status(0).stdout(&line);
    dir.fifo("fifo");
    let path = dir.path("fifo");
    let reader = std::thread::spawn(move || fs::read(path).unwrap());
    dir.ftk(["hash", "x", "-o", "fifo"]).run().status(0).stdout("");
    assert_eq!(reader.join().unwrap(), line.as_bytes());
}

/// A reader that closes the pipe early, such as `head`, is no error.
#[test]
fn a_closed_pipe_is_success() {
    let dir = Dir::new();
    for nth in 0..3000 {
        dir.file(format!("{}/{nth}-{}", nth % 7, "long".repeat(40)), b"");
    }
    for args in [
        &["find"][..],
        &["find", "--sort"],
        &["find", "-0", "-j", "mono"],
        &["hash", "-a", "md5", "."],
        &["hash", "--json", "."],
    ] {
        // Two lines are read of an output far larger than a pipe holds.
        let pipe = "{ \"$@\"; echo $? >&3; } 3>../status | head -n 2";
        let run = dir.ftk(args).under(&dir, ["sh", "-c", pipe, "sh"]).run().status(0);
        run.check(run.out.iter().filter(|&&byte| byte == b'\n').count() <= 2, "two lines came");
        run.check(!run.out.is_empty(), "something came");
        let status = fs::read_to_string(dir.aside("status")).unwrap();
        run.check(status == "0\n", &format!("the status is {status}"));
        run.check(!run.err.contains("roken pipe"), "no message is printed");
    }
}

/// Lines of different workers are never mixed.
#[test]
fn lines_of_different_workers_are_not_mixed() {
    let dir = Dir::new();
    for nth in 0..5000 {
        dir.file(format!("{}/{nth}-{}", nth % 50, "x".repeat(nth % 200)), b"");
    }
    let run = dir.ftk(["find", "-t", "f", "-j", "8"]).run().status(0);
    let lines = records(&run.out, b'\n');
    assert_eq!(lines.len(), 5000);
    for line in &lines {
        run.check(
            line.starts_with(b"./") && dir.path(str::from_utf8(line).unwrap()).is_file(),
            "each line is a file",
        );
    }
}

/// The user who plants links, files and FIFOs.
const OTHER: u32 = 65534;

/// Whatever the settings of the kernel are: root is not sent elsewhere by what another user made in a directory like /tmp,
/// and does not wait for a reader that never comes.
#[test]
fn h95_what_another_user_planted_is_refused() {
    if !is_root() {
        return skip("only root changes owners");
    }
    let dir = Dir::new();
    dir.file("x", b"abc").file("etc/passwd", b"of root").dir("tmp").file("tmp/file", b"old").fifo("tmp/fifo");
    dir.symlink("../etc/passwd", "tmp/link")
        .symlink("../etc/new", "tmp/dangling")
        .symlink("../etc", "tmp/etc");
    for name in ["tmp/file", "tmp/fifo", "tmp/link", "tmp/dangling", "tmp/etc"] {
        lchown(dir.path(name), Some(OTHER), Some(OTHER)).unwrap();
    }
    fs::set_permissions(dir.path("tmp"), Permissions::from_mode(0o1777)).unwrap();
    for name in ["tmp/file", "tmp/fifo", "tmp/link", "tmp/dangling", "tmp/etc/passwd", "tmp/etc/new"] {
        for option in ["-o", "--stats", "--metrics"] {
            let run = dir.ftk(["hash", "x", option, name]).run().status(2);
            run.stdout("").stderr_has("cannot write ").stderr_has("another user");
        }
    }
    let journal = ["dup", "prune", "x", "--action", "delete", "--yes", "--journal", "tmp/etc/journal"];
    dir.ftk(journal).run().status(2).stderr_has("another user");
    assert!(!dir.path("etc/journal").exists());
    dir.fifo("fifo");
    chown(dir.path("fifo"), Some(OTHER), Some(OTHER)).unwrap();
    dir.ftk(["hash", "x", "-o", "fifo"]).run().status(2).stderr_has("it is a FIFO of another user");
    assert_eq!(fs::read(dir.path("etc/passwd")).unwrap(), b"of root");
    assert_eq!(fs::read(dir.path("tmp/file")).unwrap(), b"old");
    assert!(!dir.path("etc/new").exists());
    // The pipe of a shell may belong to anyone, and an own FIFO is written.
    let pipe = ["sh", "-c", "exec 3>&1; \"$@\" -o /dev/fd/3", "sh"];
    dir.ftk(["hash", "x"]).under(&dir, pipe).run().status(0).stdout(format!("{ABC}  x\n"));
    dir.fifo("own");
    let own = ["sh", "-c", "cat own & exec \"$@\" -o own", "sh"];
    dir.ftk(["hash", "x"]).under(&dir, own).run().status(0).stdout(format!("{ABC}  x\n"));
}

/// Without any permission to write, a record was put away: no command of any caller replaces it.
#[test]
fn a_read_only_file_is_not_replaced() {
    let dir = Dir::new();
    dir.file("t/x", b"abc").file("t/y", b"new");
    dir.ftk(["manifest", "create", "t", "-o", "m.jsonl"]).run().status(0);
    dir.file("t/SHA256SUMS", format!("{ABC}  x\n").as_bytes());
    let files = ["m.jsonl", "t/SHA256SUMS"];
    let read = || files.map(|name| fs::read(dir.path(name)).unwrap());
    let before = read();
    let commands: [&[&str]; 7] = [
        &["manifest", "update", "t", "m.jsonl", "-o", "m.jsonl"],
        &["manifest", "update", "t", "m.jsonl", "-o", "m.jsonl", "--force"],
        &["manifest", "create", "t", "-o", "m.jsonl", "--force"],
        &["manifest", "scrub", "t", "m.jsonl"],
        &["hash", "--root", "t", "-o", "t/SHA256SUMS"],
        &["hash", "--update", "t/SHA256SUMS"],
        &["hash", "t/x", "--stats", "m.jsonl"],
    ];
    files.iter().for_each(|name| fs::set_permissions(dir.path(name), Permissions::from_mode(0o444)).unwrap());
    for command in commands {
        let why = if is_root() { ": it is read-only (mode 0444)\n" } else { ": permission denied\n" };
        let run = dir.ftk(command).run().status(2).stdout("");
        run.stderr_has("ftk: cannot ").stderr_has(why);
    }
    assert_eq!(read(), before);
    files.iter().for_each(|name| fs::set_permissions(dir.path(name), Permissions::from_mode(0o644)).unwrap());
    for command in &commands[1..6] {
        dir.ftk(*command).run().status(0);
    }
    assert!(read().iter().zip(&before).all(|(now, before)| now != before));
}

/// Its user stops a terminal, or no process writes to a FIFO: root waits for neither, in any directory.
#[test]
fn no_output_and_no_input_is_a_device_or_fifo_of_another_user() {
    if !is_root() {
        return skip("only root changes owners");
    }
    let dir = Dir::new();
    dir.file("x", b"abc").dir("theirs").fifo("theirs/fifo").fifo("own").symlink("/dev/null", "null");
    // As /dev/tty, which works only where a process has a terminal: to open this one fails in any case.
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path("theirs/device"),
        rustix::fs::FileType::CharacterDevice,
        rustix::fs::Mode::from_raw_mode(0o666),
        rustix::fs::makedev(5, 0),
    )
    .unwrap();
    for name in ["theirs", "theirs/fifo", "theirs/device"] {
        lchown(dir.path(name), Some(OTHER), Some(OTHER)).unwrap();
    }
    for option in ["-o", "--stats", "--metrics"] {
        let run = dir.ftk(["hash", "x", option, "theirs/device"]).run().status(2);
        run.stderr_has("it is a device of another user");
        dir.ftk(["hash", "x", option, "null"]).run().status(0);
    }
    let inputs: &[&[&str]] = &[
        &["hash", "--check"],
        &["hash", "--lines"],
        &["hash", "--files-from"],
        &["find", "--files0-from"],
        &["hash", "--diff"],
        &["du", "--from"],
        &["dup", "apply", "--action", "delete"],
        &["report", "-o", "page"],
        &["manifest", "verify", "."],
        &["manifest", "diff"],
        &["manifest", "import"],
        &["manifest", "merge"],
        &["manifest", "export", "--format", "sha256"],
        &["manifest", "plan", "--shards", "2"],
    ];
    for input in inputs {
        for (name, what) in [("theirs/fifo", "a FIFO of another user"), ("theirs/device", "a device")] {
            let twice = if input.iter().any(|word| word.ends_with("diff")) { 2 } else { 1 };
            let run = dir.ftk(*input).args(vec![name; twice]).under(&dir, ["timeout", "60"]).run();
            run.status(2).stderr_has(&format!("it is {what}"));
        }
    }
    // An own FIFO, and the pipe of another user that the caller passes, are read.
    let own = ["sh", "-c", "echo x > own & exec \"$@\" own", "sh"];
    let one = "x\n";
    dir.ftk(["find", "--files-from"]).under(&dir, own).run().status(0).stdout(one);
    dir.ftk(["find", "--files-from", "/dev/stdin"]).stdin(b"x\n").run().status(0).stdout(one);
    dir.ftk(["find", "--files-from", "/dev/null"]).run().status(0).stdout("");
}

#[test]
fn a_new_file_belongs_to_the_caller() {
    if !is_root() {
        return skip("only root changes owners");
    }
    let dir = Dir::new();
    dir.file("x", b"abc").file("list", b"old");
    chown(dir.path("list"), Some(OTHER), Some(OTHER)).unwrap();
    dir.ftk(["hash", "x", "-o", "list"]).run().status(0);
    let list = fs::metadata(dir.path("list")).unwrap();
    assert_eq!(
        (list.uid(), list.gid(), fs::read_to_string(dir.path("list")).unwrap()),
        (0, 0, format!("{ABC}  x\n"))
    );
}
