//! Groups of files that are not equal, and files taken for their own copies.

use std::fs;

use crate::harness::{Dir, bytes, needs, skip, uring};

/// A name reached twice is no copy, however it is reached.
#[test]
fn h02_a_file_is_no_copy_of_itself() {
    let dir = Dir::new();
    dir.file("d/x", b"content").dir("y").symlink("d", "link");
    for args in [
        &[".", "."][..],
        &["d", "d"],
        &["d/x", "d/x"],
        &["d/x", "./y/../d/x"],
        &["d", "d/x"],
        &["d/x", "d"],
        &["d", "link"],
        &["link", "d"],
        &["d", "link/x"],
        &[".", "d", "d/x", "link"],
        &["-L", "."],
        &["-L", "d", "link"],
    ] {
        dir.ftk(["dup"]).args(args).run().status(0).stdout("");
        for action in ["hardlink", "symlink", "delete", "move=away"] {
            let run = dir.ftk(["dup", "prune", "--yes", "--action", action]).args(args).run();
            run.check(run.code() != 1 && fs::read(dir.path("d/x")).is_ok(), "the only name is there");
        }
    }
}

/// A directory that is mounted at a second place too.
#[test]
fn h02_a_bind_mount_makes_no_copies() {
    let dir = Dir::new();
    dir.file("d/x", b"content").dir("e").file("y", b"content");
    let mount = |args: &[&str]| {
        let status = std::process::Command::new(args[0]).args(&args[1..]).current_dir(dir.path("")).status();
        status.is_ok_and(|status| status.success())
    };
    if !rustix::process::geteuid().is_root() || !mount(&["mount", "--bind", "d", "e"]) {
        return skip("only root mounts");
    }
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        for args in [&["d", "e"][..], &["e", "d/x"]] {
            let run = dir.ftk(["dup", "prune", "--yes", "--action", action]).args(args).run();
            run.check(fs::read(dir.path("d/x")).is_ok(), "the only name is there");
            run.check(run.out.is_empty(), "there are no copies");
        }
        let args = ["dup", "prune", "--yes", "--action", action, "--keep", "path=*y"];
        dir.ftk(args).run();
        assert!(["d/x", "y"].iter().all(|path| fs::read(dir.path(path)).is_ok_and(|it| it == b"content")));
    }
    mount(&["umount", "-l", "e"]);
}

/// What was not read has no digest, and nothing in common with anything.
#[test]
fn h03_h44_what_was_not_read_is_in_no_group() {
    let dir = Dir::new();
    for nth in 0..30 {
        dir.file(format!("same/{nth}"), b"one content").file(format!("locked/{nth}"), b"one content");
        dir.lock(&format!("locked/{nth}"));
    }
    let mut readers = vec!["auto", "sync"];
    readers.extend(uring().then_some("uring"));
    for io in readers {
        for threads in ["1", "4"] {
            let args = ["dup", "locked", "same", "--io", io, "-j", threads];
            let run = dir.ftk(args).unprivileged(&dir).run().status(2);
            run.check(
                run.text().lines().filter(|line| !line.is_empty()).count() == 30,
                "those that were read",
            );
            run.check(!run.text().contains("locked"), "and no others");
            run.stderr_has("ftk: cannot open 'locked/29': permission denied\n");
        }
        let args = ["dup", "prune", "--action", "delete", "--yes", "locked", "same", "--io", io];
        dir.ftk(args).arg("--journal").arg(dir.aside("none/j")).unprivileged(&dir).run().status(2);
    }
    assert_eq!(fs::read_dir(dir.path("same")).unwrap().count(), 30);
}

/// Files that go between the walk and their turn to be read.
#[test]
fn h44_what_vanishes_is_in_no_group() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..20 {
        dir.file(format!("{nth}"), b"the same");
    }
    let log = dir.aside("log");
    let strace = ["strace", "-f", "-o", log.to_str().unwrap(), "-e", "trace=openat", "-P", "7", "-P", "8"];
    let run = dir.ftk(["dup", "--io", "sync", "-j", "1"]);
    let run =
        run.under(&dir, strace.iter().copied().chain(["-e", "inject=openat:error=ENOENT"])).run().status(2);
    run.check(!run.text().lines().any(|line| line == "./7" || line == "./8"), "they are not there");
    run.check(run.text().lines().filter(|line| !line.is_empty()).count() == 18, "the others are");
    run.stderr_has("ftk: cannot open './7': no such file or directory\n");
}

/// Few descriptors, no ring: the same groups.
#[test]
fn h44_scarcity_makes_no_groups() {
    let dir = Dir::new();
    for nth in 0..200 {
        dir.file(format!("{}/{nth}", nth % 20), &bytes(nth % 50, 5000));
    }
    let expected = dir.ftk(["dup"]).run().status(0).out;
    for limit in ["-n 16", "-n 24", "-n 64"] {
        for threads in ["1", "4"] {
            let run = dir.ftk(["dup", "-j", threads]).limit(&dir, limit).run().status(0);
            run.stdout(&expected);
        }
    }
}

/// Parts that are equal make no equal files: swapped blocks, equal ends, one byte at each border.
#[test]
fn h32_parts_are_not_the_whole() {
    let dir = Dir::new();
    let (a, b, c) = (bytes(1, 1 << 20), bytes(2, 1 << 20), bytes(3, 1 << 20));
    dir.file("a..b", &[&a[..], &c, &b].concat()).file("b..a", &[&b[..], &c, &a].concat());
    dir.file("a..a", &[&a[..], &c, &a].concat()).file("a.b.a", &[&a[..], &b, &a].concat());
    dir.file("zeros", &vec![0; 3 << 20]).file("zeros but one", &{
        let mut zeros = vec![0; 3 << 20];
        zeros[(3 << 20) / 2 + 7] = 1;
        zeros
    });
    let small = bytes(4, 20_000);
    for at in [0, 4095, 4096, 10_000, 16_383, 16_384, 20_000 - 4096, 19_999] {
        let mut other = small.clone();
        other[at] ^= 1;
        dir.file(format!("small but {at}"), &other);
    }
    dir.file("small", &small);
    dir.ftk(["dup", "--min-size", "0"]).run().status(0).stdout("");
}

/// What is sampled, how many workers there are and which reader: none of it decides what is equal.
#[test]
fn h43_no_plan_changes_the_groups() {
    for files in [2, 31, 33, 70, 400] {
        let dir = Dir::new();
        for nth in 0..files {
            // Equal in size and at both ends, as a plan that leaves out the whole digest would not notice.
            let mut content = bytes(5, 9000);
            content[4500] = (nth % 7) as u8;
            dir.file(format!("{nth:03}"), &content);
        }
        let expected = dir.ftk(["dup", "-j", "1", "--io", "sync", "--verify"]).run().status(0).out;
        for threads in ["1", "2", "4", "auto"] {
            for simd in ["portable", "avx2"] {
                let ftk = dir.ftk(["dup", "-j", threads]);
                let run = ftk.under(&dir, ["env", &format!("FTK_SIMD={simd}")]).run();
                if run.code() != 0 && run.err.contains("FTK_SIMD") {
                    continue; // this CPU lacks it
                }
                run.status(0).stdout(&expected);
            }
        }
    }
}

/// Links, pipes and circles are no files, and none is waited for.
#[test]
fn h35_h36_what_is_no_file_is_no_copy() {
    let dir = Dir::new();
    dir.file("d/a", b"content")
        .fifo("d/fifo")
        .socket("d/socket")
        .symlink("..", "d/up")
        .symlink("a", "d/link");
    for args in [&["."][..], &["-L", "."]] {
        let run = dir.ftk(["dup"]).args(args).run();
        run.check(run.out.is_empty(), "there are no copies");
    }
}

/// Two files whose digests are equal and whose bytes are not cannot be made here for the digests there are. What can
/// be is a report that says they are: it is not believed.
#[test]
fn h33_no_digest_is_believed() {
    let dir = Dir::new();
    dir.file("a", b"content").file("b", b"content");
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "-o"]).arg(&report).run().status(0);
    let times = |path: &str| fs::metadata(dir.path(path)).unwrap().modified().unwrap();
    let before = times("b");
    let file = fs::File::options().write(true).open(dir.path("b")).unwrap();
    std::io::Write::write_all(&mut &file, b"CONTENT").unwrap();
    file.set_modified(before).unwrap();
    // As if the time of the inode had been forged too: the report is brought up to date.
    let ctime = |path: &str| {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs::metadata(dir.path(path)).unwrap();
        format!("{}", i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()))
    };
    let text = fs::read_to_string(&report).unwrap();
    let old = text.rfind("\"ctime_ns\":").unwrap() + 11;
    let end = old + text[old..].find('}').unwrap();
    fs::write(&report, format!("{}{}{}", &text[..old], ctime("b"), &text[end..])).unwrap();
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        let run =
            dir.ftk(["dup", "apply", "--edited", "--yes", "--action", action]).arg(&report).run().status(2);
        run.check(
            run.text().contains("  refuse   ./b ") && run.text().contains("content differs"),
            "refused",
        );
        assert_eq!(fs::read(dir.path("b")).unwrap(), b"CONTENT");
    }
}
