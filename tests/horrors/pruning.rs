//! Contents that other tools lost while copies were linked, moved or deleted.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use rustix::fs::{XattrFlags, lsetxattr};
use rustix::process::Signal;

use crate::harness::{Dir, bytes, has, has_read, needs, sha256, signal, skip, wait_until};
use crate::manifest::records::seal;

pub(super) const ACTIONS: [&str; 4] = ["hardlink", "symlink", "delete", "move=away"];

fn ino(dir: &Dir, path: &str) -> u64 {
    fs::symlink_metadata(dir.path(path)).unwrap().ino()
}

/// A symbolic link is never treated as a copy of its target.
#[test]
fn h01_a_symbolic_link_is_not_a_copy() {
    for action in ACTIONS {
        for args in
            [&["."][..], &["-L", "."], &["-L", "link", "real"], &["link", "real"], &["-L", "dir link", "dir"]]
        {
            let dir = Dir::new();
            dir.file("real", b"content").symlink("real", "link");
            dir.file("dir/a", b"more").symlink("dir", "dir link").symlink("a", "dir/0");
            let run = dir.ftk(["dup", "prune", "--yes", "--action", action]).args(args).run();
            run.check(fs::read(dir.path("real")).is_ok_and(|it| it == b"content"), "real is there");
            run.check(fs::symlink_metadata(dir.path("real")).unwrap().is_file(), "and a file");
            run.check(fs::read(dir.path("dir/a")).is_ok_and(|it| it == b"more"), "the other file is there");
            run.check(fs::symlink_metadata(dir.path("dir/a")).unwrap().is_file(), "and a file");
        }
    }
}

/// The same with options that prefer links, and with a report. The property tests of plans have links with all rules.
#[test]
fn h01_no_option_treats_a_link_as_a_copy() {
    let flags: [&[&str]; 3] = [
        &["--keep", "path=*link*", "--metadata-may-differ", "--allow-unused-rules"],
        &["--reference", "dir link"],
        &["--quarantine", "away"],
    ];
    for action in ["hardlink", "reflink", "symlink", "delete"] {
        for follow in [&[][..], &["-L"]] {
            for flags in flags.iter().filter(|flags| action == "delete" || !flags.contains(&"--quarantine")) {
                let dir = Dir::new();
                dir.file("dir/real", b"content").symlink("dir/real", "link").symlink("dir", "dir link");
                let is_there = || {
                    let is_file = fs::symlink_metadata(dir.path("dir/real")).is_ok_and(|it| it.is_file());
                    is_file && fs::read(dir.path("dir/real")).is_ok_and(|it| it == b"content")
                };
                dir.ftk(["dup", "--json", "-o", "../report", ".", "link", "dir link"]).args(follow).run();
                for args in [&["prune", ".", "link", "dir link"][..], &["apply", "../report"]] {
                    let follow = if args[0] == "apply" { &[] } else { follow };
                    let ftk = dir.ftk(["dup"]).args(args).args(["--yes", "--action", action]);
                    let run = ftk.args(*flags).args(follow).run();
                    run.check(is_there(), "the file is there");
                }
            }
        }
    }
}

/// If there are copies and links to them, at least one file is kept.
#[test]
fn h01_one_file_is_kept_among_links() {
    for keep in ["first", "shortest", "path=*link*"] {
        for follow in [&[][..], &["-L"]] {
            let dir = Dir::new();
            dir.file("z", b"content").file("y", b"content").symlink("z", "0link").symlink("y", "1");
            let args = ["dup", "prune", "--yes", "--action", "delete", "--keep", keep];
            dir.ftk(args).args(follow).run();
            let files = ["y", "z"].iter().filter(|path| dir.path(path).exists()).count();
            assert!(files >= 1, "{keep} {follow:?}");
        }
    }
}

/// A hard link to another file system is an error, and the file is not replaced by anything else.
#[test]
fn h05_another_file_system_is_an_error() {
    let (Ok(there), here) = (tempfile::tempdir_in("/dev/shm"), Dir::on_disk()) else {
        return skip("no second file system");
    };
    here.file("a", b"content");
    fs::write(there.path().join("b"), b"content").unwrap();
    if fs::metadata(there.path()).unwrap().dev() == fs::metadata(here.path("")).unwrap().dev() {
        return skip("no second file system");
    }
    let before = fs::metadata(there.path().join("b")).unwrap();
    let run =
        here.ftk(["dup", "prune", "--action", "hardlink", "--yes", "a"]).arg(there.path()).run().status(2);
    run.check(run.err.contains(": refused: "), "refused");
    run.check(
        run.err.contains("other file system") || run.err.contains("another file system"),
        "the reason is printed",
    );
    let after = fs::symlink_metadata(there.path().join("b")).unwrap();
    assert_eq!((after.ino(), after.nlink(), after.is_file()), (before.ino(), 1, true));
    let run =
        here.ftk(["dup", "prune", "--action", "move=away", "--yes", "a"]).arg(there.path()).run().status(2);
    run.check(there.path().join("b").exists(), "it was not moved");
    // The plan and the script refuse it, too.
    let plan = here.ftk(["dup", "prune", "--action", "move=away", "a"]).arg(there.path()).run().status(2);
    plan.check(plan.err.contains(": refused: "), "refused");
    let script = here.ftk(["dup", "prune", "--script", "--action", "move=away", "a"]).arg(there.path());
    let script = script.run().status(2).stderr_has(": refused: ");
    script.check(!script.text().contains("\nftk_move "), "it is not in the script");
}

/// Files and their temporary names can have the maximum length.
#[test]
fn h07_names_of_maximum_length() {
    for action in ACTIONS {
        let dir = Dir::new();
        let long = "n".repeat(255);
        dir.file("a", b"content").file(&long, b"content");
        dir.ftk(["dup", "prune", ".", "--yes", "--action", action]).run().status(0);
        assert_eq!(fs::read(dir.path("a")).unwrap(), b"content");
        match action {
            "hardlink" => assert_eq!(ino(&dir, &long), ino(&dir, "a")),
            "symlink" => assert!(fs::symlink_metadata(dir.path(&long)).unwrap().is_symlink()),
            _ => assert!(!dir.path(&long).exists()),
        }
    }
}

/// An outdated report is refused, in whatever way a file was replaced, even if size and mtime are the same.
#[test]
fn h08_a_stale_result_is_refused() {
    let ways = [
        "printf CONTENT > {}",
        "printf CONTENT | dd of={} conv=notrunc status=none",
        "printf C | dd of={} conv=notrunc bs=1 status=none",
        "printf CONTENT > new && touch -r {} new && mv new {}",
        "touch -r {} stamp && printf CONTENT > {} && touch -r stamp {}",
        "cp -p {} old && truncate -s 0 {} && printf CONTENT >> {} && touch -r old {}",
        "touch -r {} stamp && rm {} && printf CONTENT > {} && touch -r stamp {}",
    ];
    for action in ACTIONS {
        for (way, [side, other]) in ways.into_iter().flat_map(|way| [(way, ["a", "b"]), (way, ["b", "a"])]) {
            let dir = Dir::new();
            dir.file("a", b"content").file("b", b"content");
            dir.ftk(["dup", "--json", "-o", "../report"]).run().status(0);
            dir.ftk([""; 0]).instead(&dir, ["sh", "-c", &way.replace("{}", side)]).run().status(0);
            let new = fs::read(dir.path(side)).unwrap();
            let run = dir.ftk(["dup", "apply", "--yes", "--action", action, "../report"]).run().status(2);
            run.check(run.err.contains("ftk: './b': refused: "), way);
            assert_ne!(new, b"content");
            assert_eq!(fs::read(dir.path(side)).unwrap(), new, "{way}");
            assert_eq!(fs::read(dir.path(other)).unwrap(), b"content", "{way}");
        }
    }
}

/// A directory that was replaced by a symbolic link is not followed.
#[test]
fn h09_links_that_replaced_a_directory_are_not_followed() {
    for action in ACTIONS {
        for swapped in ["t/keep", "t/go"] {
            let dir = Dir::new();
            dir.file("t/keep/x", b"content").file("t/go/x", b"content").file("outside/x", b"content");
            let report = dir.aside("report");
            dir.ftk(["dup", "--json", "t", "-o"]).arg(&report).run().status(0);
            fs::rename(dir.path(swapped), dir.path("t/was")).unwrap();
            dir.symlink("../outside", swapped);
            let before = ino(&dir, "outside/x");
            let args = ["dup", "apply", "--yes", "--keep", "path=t/keep/*", "--action", action];
            dir.ftk(args).arg(&report).run().status(2);
            assert_eq!(
                (ino(&dir, "outside/x"), fs::read(dir.path("outside/x")).unwrap()),
                (before, b"content".into())
            );
            assert_eq!(fs::metadata(dir.path("outside/x")).unwrap().nlink(), 1);
            assert_eq!(fs::read(dir.path("t/was/x")).unwrap(), b"content");
        }
    }
}

/// Each kind of metadata that a link would lose or change is protected.
#[test]
fn h11_every_kind_of_metadata_is_kept() {
    // The capability to bind low ports, in the format of the kernel.
    let capability = [[1, 0, 0, 2], [0, 4, 0, 0], [0; 4], [0; 4], [0; 4]].concat();
    let set =
        |path: &Path, name: &str, value: &[u8]| lsetxattr(path, name, value, XattrFlags::empty()).is_ok();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).is_ok();
    let acl = |path: &Path| {
        has("setfacl") && Command::new("setfacl").args(["-m", "u:12:r"]).arg(path).status().is_ok()
    };
    type Change<'c> = (&'c str, &'c dyn Fn(&Path) -> bool);
    let changes: [Change<'_>; 9] = [
        ("mode", &|path| mode(path, 0o600)),
        ("setuid", &|path| mode(path, 0o4755)),
        ("setgid", &|path| mode(path, 0o2755)),
        ("owner", &|path| chown(path, Some(12), None).is_ok()),
        ("group", &|path| chown(path, None, Some(34)).is_ok()),
        ("attribute", &|path| set(path, "user.note", b"mine")),
        ("access control list", &acl),
        ("capability", &|path| set(path, "security.capability", &capability)),
        ("label", &|path| set(path, "security.selinux", b"system_u:object_r:etc_t:s0")),
    ];
    for action in ["hardlink", "symlink"] {
        for (what, change) in changes {
            for side in ["a", "b"] {
                let dir = Dir::new();
                dir.file("a", b"content").file("b", b"content");
                if !change(&dir.path(side)) {
                    skip(&format!("{what} cannot be had here"));
                    continue;
                }
                let before = fs::symlink_metadata(dir.path("b")).unwrap();
                let run = dir.ftk(["dup", "prune", ".", "--yes", "--action", action]).run().status(2);
                run.check(run.err.contains("ftk: './b': refused: ") && run.err.contains(" differ"), what);
                let after = fs::symlink_metadata(dir.path("b")).unwrap();
                assert_eq!(
                    (after.ino(), after.mode(), after.nlink()),
                    (before.ino(), before.mode(), 1),
                    "{what}"
                );
                assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()), "{what}");
                assert_eq!(
                    (after.mtime_nsec(), after.ctime_nsec()),
                    (before.mtime_nsec(), before.ctime_nsec())
                );
            }
        }
    }
}

/// All hard links of a file are replaced in one run, and another run has nothing to do.
#[test]
fn h12_all_hard_links_of_a_file_are_replaced() {
    let dir = Dir::new();
    dir.file("a", &bytes(1, 50_000)).file("b", &bytes(1, 50_000));
    for nth in 0..10 {
        dir.hard_link("b", &format!("b{nth}")).hard_link("a", &format!("a{nth}"));
    }
    let frees = fs::metadata(dir.path("b")).unwrap().blocks() * 512;
    let run = dir.ftk(["dup", "prune", ".", "--action", "hardlink", "--yes", "--json"]).run().status(0);
    run.check(
        run.text().contains(&format!("\"files\":11,\"directories\":0,\"freed_bytes\":{frees},")),
        "freed once",
    );
    assert_eq!(fs::metadata(dir.path("b7")).unwrap().nlink(), 22);
    let again = dir.ftk(["dup", "prune", ".", "--action", "hardlink", "--yes"]).run().status(0);
    again.stdout("").stderr_has("  nothing to do\n");
    // A hard link outside the scanned tree keeps the file allocated, so the other file is linked.
    let dir = Dir::new();
    dir.file("t/a", &bytes(1, 50_000)).file("t/b", &bytes(1, 50_000)).hard_link("t/b", "outside");
    let args = ["dup", "prune", "--action", "hardlink", "--yes", "--json", "t"];
    let run = dir.ftk(args).args(["--keep", "first"]).run().status(0);
    run.check(run.text().contains("\"freed_bytes\":0,\"refused\":0"), "nothing is freed");
    run.check(run.text().contains("\"files\":0,"), "nothing is done");
    let run = dir.ftk(args).run().status(0);
    run.check(
        run.text().contains(&format!("\"files\":1,\"directories\":0,\"freed_bytes\":{frees},")),
        "freed",
    );
    assert_eq!(fs::metadata(dir.path("outside")).unwrap().nlink(), 3);
    assert_eq!(fs::read(dir.path("outside")).unwrap(), bytes(1, 50_000));
}

/// Files beyond the limit of hard links remain unchanged, with a message.
#[test]
fn h13_the_limit_of_links() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..5 {
        dir.file(format!("{nth}"), b"content");
    }
    let log = dir.aside("log");
    let args = [
        "strace",
        "-f",
        "-o",
        log.to_str().unwrap(),
        "-e",
        "trace=linkat",
        "-e",
        "inject=linkat:error=EMLINK:when=3+",
    ];
    let ftk = dir.ftk(["dup", "prune", ".", "--action", "hardlink", "--yes", "-j", "1"]);
    let run = ftk.under(&dir, args).run().status(0);
    run.check(run.text().contains("as many hard links as the file system allows"), "the reason is printed");
    for nth in 0..5 {
        assert_eq!(fs::read(dir.path(format!("{nth}"))).unwrap(), b"content");
    }
    assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), 5, "no other files are left over");
}

/// Directories that became empty are kept.
#[test]
fn h14_no_directory_is_removed() {
    let dir = Dir::new();
    dir.file("up/t/a/x", b"content").file("up/t/b/c/x", b"content");
    dir.ftk(["dup", "prune", "--action", "delete", "--yes", "up/t"]).run().status(0);
    assert!(dir.path("up/t/b/c").is_dir() && !dir.path("up/t/b/c/x").exists());
}

/// The files that a run writes are neither read nor pruned.
#[test]
fn h17_own_output_files_are_skipped() {
    let dir = Dir::new();
    dir.file("empty", b"").file("also empty", b"");
    let args =
        ["dup", "prune", ".", "--min-size", "0", "--action", "delete", "--yes", "--journal", "journal"];
    let run = dir.ftk(args).run().status(0);
    run.check(!run.text().contains("journal"), "the journal is no copy of anything");
    run.stderr_has("skipped: 1 own output file");
    let out = fs::File::create(dir.path("script")).unwrap();
    dir.ftk(["dup", "prune", ".", "--min-size", "0", "--action", "delete", "--script"])
        .stdout(out)
        .run()
        .status(0);
    assert!(!fs::read_to_string(dir.path("script")).unwrap().contains("./script"));
}

/// A report with records that lack a valid digest or identity is refused.
#[test]
fn h03_records_that_prove_nothing_are_refused() {
    let dir = Dir::new();
    dir.file("a", b"content").file("b", b"content").file("c", b"other");
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "-o"]).arg(&report).run().status(0);
    let text = fs::read_to_string(&report).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (header, group) = (lines[0], lines[1]);
    let digest = group.split('"').nth(7).unwrap();
    assert_eq!(digest.len(), 32);
    let ino = format!("\"ino\":{},", ino(&dir, "b"));
    for (what, group) in [
        ("no digest", group.replace(&format!("\"digest\":\"{digest}\","), "")),
        ("an empty digest", group.replace(digest, "")),
        ("a short digest", group.replace(digest, &digest[..30])),
        ("a long digest", group.replace(digest, &format!("{digest}00"))),
        ("the digest of another algorithm", group.replace(digest, &sha256(b"content"))),
        ("no hexadecimal digits", group.replace(digest, &"x".repeat(32))),
        ("a digest that is null", group.replace(&format!("\"{digest}\""), "null")),
        ("no inode number", group.replace(&ino, "")),
        ("a negative inode number", group.replace(&ino, "\"ino\":-1,")),
        ("a path twice", group.replace("./b", "./a")),
        ("no path", group.replace("\"path\":\"./b\",", "")),
        ("an empty path", group.replace("./b", "")),
        ("a path elsewhere", group.replace("./b", "/etc/passwd")),
        ("a way out", group.replace("./b", "./../b")),
        ("a path with a NUL", group.replace("./b", "./b\\u0000")),
        ("an unknown starting point", group.replace("\"root\":0", "\"root\":7")),
        ("no object", "[]".into()),
        ("no JSON", "{".into()),
        ("nothing", String::new()),
    ] {
        for yes in [&[][..], &["--yes"]] {
            let args = ["dup", "apply", "-", "--action", "delete"];
            let report = seal(&[header, &group]);
            let run = dir.ftk(args).args(yes).stdin(report.as_bytes()).run().status(2).stdout("");
            run.stderr_has("ftk: bad report '-': line 2: ");
        }
        assert!(dir.path("a").exists() && dir.path("b").exists(), "{what}");
    }
    for (bad, why) in [
        (header.replace("dup-report", "manifest"), "not a report of"),
        (header.replace("\"version\":1", "\"version\":3"), "version 3"),
        // Version 2 is that of reports of manifests.
        (header.replace("\"version\":1", "\"version\":2"), "does not name a manifest"),
        (header.replace("xxh128", "crc32"), "unknown digest algorithm"),
        (group.to_owned(), "not the header"),
    ] {
        let run = dir.ftk(["dup", "apply", "-", "--action", "delete", "--yes"]);
        let run = run.stdin(seal(&[&*bad, group]).as_bytes()).run().status(2).stdout("");
        run.stderr_has("ftk: bad report '-': line 1: ").stderr_has(why);
    }
}

/// If one inode has more names than links, inode numbers are not trusted, and such files are not touched.
#[test]
fn h37_repeated_inode_numbers_are_not_trusted() {
    let dir = Dir::new();
    dir.file("a", b"content").file("b", b"content");
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "-o"]).arg(&report).run().status(0);
    // As on a file system that gives all files one inode number.
    let text = fs::read_to_string(&report).unwrap();
    let text = text.replace(&format!("\"ino\":{},", ino(&dir, "b")), &format!("\"ino\":{},", ino(&dir, "a")));
    fs::write(&report, text).unwrap();
    for action in ACTIONS {
        let args = ["dup", "apply", "--edited", "--yes", "--action", action];
        dir.ftk(args).arg(&report).run().status(0).stderr_has("  nothing to do\n");
        assert!(dir.path("a").exists() && dir.path("b").exists());
    }
}

/// A signal ends an undo between two steps too, and the next one completes it.
#[test]
fn h49_a_signal_ends_an_undo_between_two_steps() {
    for with in [Signal::TERM, Signal::INT] {
        let dir = Dir::new();
        let names: Vec<String> = (0..3000).map(|nth| format!("{nth:04}")).collect();
        names.iter().for_each(|name| _ = dir.file(name, b"content"));
        let journal = dir.aside("journal");
        let args =
            ["dup", "prune", ".", "--action", "hardlink", "--yes", "--journal", journal.to_str().unwrap()];
        dir.ftk(args).run().status(0);
        let links = || fs::metadata(dir.path("0000")).unwrap().nlink();
        assert_eq!(links(), 3000);
        let child = dir.ftk(["undo", journal.to_str().unwrap()]).spawn();
        wait_until(|| links() < 2980);
        signal(&child, with);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(with.as_raw()));
        let text = String::from_utf8(output.stdout).unwrap();
        let count =
            |word: &str| text.lines().filter(|line| line.trim_start().starts_with(word)).count() as u64;
        assert_eq!(count("restore ") + count("not done "), 2999, "every step is on the list");
        assert!(links() > 1, "it was over before the signal came");
        assert_eq!(count("not done "), links() - 1, "what is not done is as it was");
        assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), names.len(), "no other files are left over");
        dir.ftk(["undo", journal.to_str().unwrap()]).run().status(0);
        assert_eq!(links(), 1);
    }
}

/// A signal ends the run between two steps: files listed as done are done, the others are unchanged, and the
/// journal can undo the run.
#[test]
fn h49_a_signal_ends_pruning_between_two_steps() {
    for with in [Signal::TERM, Signal::INT] {
        let dir = Dir::new();
        let names: Vec<String> = (0..3000).map(|nth| format!("{nth:04}")).collect();
        names.iter().for_each(|name| _ = dir.file(name, b"content"));
        let before: Vec<u64> = names.iter().map(|name| ino(&dir, name)).collect();
        let journal = dir.aside("journal");
        let args =
            ["dup", "prune", ".", "--action", "hardlink", "--yes", "--journal", journal.to_str().unwrap()];
        let child = dir.ftk(args).spawn();
        wait_until(|| fs::metadata(dir.path("0000")).unwrap().nlink() > 20);
        signal(&child, with);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(with.as_raw()));
        let text = String::from_utf8(output.stdout).unwrap();
        let listed = |word: &str| {
            let paths =
                text.lines().filter_map(|line| line.trim().strip_prefix(word)?.split_whitespace().next());
            paths.map(|path| path.trim_start_matches("./").to_owned()).collect::<Vec<_>>()
        };
        let (done, left) = (listed("link "), listed("not done "));
        assert_eq!(done.len() + left.len(), names.len() - 1, "every file is on the list");
        assert!(!left.is_empty(), "it was over before the signal came");
        for name in &done {
            assert_eq!(ino(&dir, name), before[0]);
        }
        for (name, before) in names.iter().zip(&before).filter(|(name, _)| left.contains(name)) {
            assert_eq!(ino(&dir, name), *before);
        }
        assert_eq!(fs::read_dir(dir.path("")).unwrap().count(), names.len(), "no other files are left over");
        dir.ftk([OsStr::new("dup"), OsStr::new("undo"), journal.as_os_str()]).run().status(0);
        for name in &names {
            let metadata = fs::metadata(dir.path(name)).unwrap();
            assert_eq!((metadata.nlink(), fs::read(dir.path(name)).unwrap()), (1, b"content".to_vec()));
        }
    }
}

/// A signal while one pair is compared ends the run, and the pair is listed as not done.
#[test]
fn h49_a_signal_ends_a_comparison() {
    const LONG: u64 = 2 << 30;
    let dir = Dir::on_disk();
    dir.zeros("a", LONG).zeros("b", LONG);
    let member = |path: &str| {
        let metadata = fs::metadata(dir.path(path)).unwrap();
        let time =
            |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        format!(
            "{{\"path\":\"{path}\",\"root\":0,\"cluster\":0,\"dev\":{},\"ino\":{},\"nlink\":1,\"allocated_bytes\":{},\
             \"mtime_ns\":{},\"ctime_ns\":{}}}",
            metadata.dev(),
            metadata.ino(),
            512 * metadata.blocks(),
            time(metadata.mtime(), metadata.mtime_nsec()),
            time(metadata.ctime(), metadata.ctime_nsec()),
        )
    };
    let header = "{\"ftk\":\"dup-report\",\"version\":1,\"algorithm\":\"xxh128\",\"roots\":[{\"path\":\"a\"},{\"path\":\"b\"}]}";
    let digest = "0".repeat(32);
    let members = format!("{},{}", member("a"), member("b").replace("\"root\":0", "\"root\":1"));
    let group =
        format!("{{\"group\":1,\"size_bytes\":{LONG},\"digest\":\"{digest}\",\"members\":[{members}]}}");
    let report = dir.aside("report");
    fs::write(&report, seal(&[header, &group])).unwrap();
    for action in ["hardlink", "delete"] {
        let child = dir.ftk(["dup", "apply", "--yes", "--action", action]).arg(&report).spawn();
        wait_until(|| has_read(&child) > 32 << 20);
        signal(&child, Signal::INT);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(Signal::INT.as_raw()), "{text}{err}");
        assert!(text.contains("  not done b"), "{text}");
        assert_eq!(fs::metadata(dir.path("b")).unwrap().nlink(), 1);
    }
}
