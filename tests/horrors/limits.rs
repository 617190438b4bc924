//! Few descriptors, little memory, missing permissions.

use super::commands::{READING, Scene, every};
use crate::harness::{Chain, Dir, gnu_find, hash_lines, needs, records, sha256, skip, sorted, uring};

/// Readers to try; the ring needs a descriptor itself.
fn readers() -> Vec<&'static str> {
    if uring() { vec!["auto", "sync", "uring"] } else { vec!["auto", "sync"] }
}

/// An unreadable file is named and sets the status in every mode; the other files are processed.
#[test]
fn h27_errors_reach_the_status() {
    let dir = Dir::new();
    for nth in 0..50 {
        dir.file(format!("{}/{nth}", nth % 5), format!("{nth}").as_bytes());
    }
    dir.lock("3/33");
    for threads in ["auto", "mono", "8"] {
        for io in readers() {
            let run = dir.ftk(["hash", ".", "-j", threads, "--io", io]).unprivileged(&dir).run().status(2);
            run.check(hash_lines(&run.out).len() == 49, "the others have their lines");
            run.stderr_has("ftk: cannot open './3/33': permission denied\n")
                .stderr_has("  1 file not hashed");
        }
    }
    let run = dir.ftk(["hash", "3/33"]).unprivileged(&dir).run().status(2).stdout("");
    run.stderr_has("ftk: cannot open '3/33': permission denied\n");
}

/// A directory that cannot be listed, in a subdirectory or as an argument, is an error for every number of
/// workers.
#[test]
fn h48_errors_count_in_every_mode() {
    let dir = Dir::new();
    for nth in 0..40 {
        dir.file(format!("{nth}/a/x"), b"").file(format!("{nth}/b/x"), b"");
    }
    dir.lock("17/a").lock("39/b");
    for threads in ["mono", "2", "8", "auto"] {
        for command in
            [&["find"][..], &["find", "--sort"], &["find", "-c"], &["find", "-q", "-n", "absent"], &["hash"]]
        {
            for argument in [".", "17", "17/a"] {
                let ftk = dir.ftk(command).args(["-j", threads, argument]);
                let run = ftk.unprivileged(&dir).run().status(2);
                let path = if argument == "." { "./17/a" } else { "17/a" };
                run.stderr_has(&format!("ftk: cannot open '{path}': permission denied\n"));
            }
        }
        // The directory itself and everything next to it is listed.
        let run = dir.ftk(["find", "-c", "-j", threads]).unprivileged(&dir).run().status(2);
        run.stdout("199\n");
    }
}

/// With few descriptors everything is still listed.
#[test]
fn h52_few_descriptors_at_depth() {
    let chain = Chain::new("deep", 1000, 1);
    let dir = chain.dir();
    for threads in ["mono", "8"] {
        dir.ftk(["find", "-c", "-j", threads])
            .limit(dir, "-n 16")
            .run()
            .status(0)
            .stdout("2001\n")
            .stderr("");
        for io in readers() {
            let ftk = dir.ftk(["hash", ".", "-j", threads, "--io", io]).limit(dir, "-n 16");
            let run = ftk.run().status(0);
            let lines = hash_lines(&run.out);
            run.check(lines.len() == 1000, "each file has a line");
            for level in 1..=1000 {
                let digest = &lines[&chain.file(level)];
                run.check(*digest == sha256(level.to_string().as_bytes()), "the digest is right");
            }
        }
    }
}

#[test]
fn h52_few_descriptors_at_width() {
    needs!("find");
    let dir = Dir::new();
    for nth in 0..1000 {
        dir.file(format!("{nth}/x"), format!("{nth}").as_bytes());
    }
    let everything = gnu_find(&dir, &["."]);
    for threads in ["mono", "8"] {
        let run = dir.ftk(["find", "-0", "-j", threads]).limit(&dir, "-n 16").run().status(0);
        run.check(sorted(records(&run.out, 0)) == everything, "everything is listed");
        for io in readers() {
            let run = dir.ftk(["hash", ".", "-j", threads, "--io", io]).limit(&dir, "-n 16").run().status(0);
            let lines = hash_lines(&run.out);
            run.check(lines.len() == 1000, "each file has a line");
            for (path, digest) in &lines {
                let nth = path.split(|&byte| byte == b'/').nth(1).unwrap();
                run.check(*digest == sha256(nth), "the digest is right");
            }
        }
    }
}

/// Empty or tiny trees need little memory. The limit applies to writable memory, which is more than the
/// memory in use. 8 MiB is less than a tenth of what a careless implementation needed.
#[test]
fn h56_little_memory_for_little_work() {
    let dir = Dir::new();
    dir.dir("empty").file("tiny/x", b"abc");
    let roots: Vec<_> = (0..60).map(|nth| format!("roots/{nth}")).collect();
    for root in &roots {
        dir.dir(root);
    }
    let enough = dir.ftk(["find", "empty"]).limit(&dir, "-d 100").run();
    if enough.code() == 0 {
        return skip("ulimit -d does not limit anything here");
    }
    let under = |args: &[&str]| dir.ftk(args).args(["-j", "mono"]).limit(&dir, "-d 8192").run().status(0);
    for command in [&["find"][..], &["find", "--sort"], &["hash", "-a", "blake3"], &["hash"]] {
        under(&[command, &["empty"]].concat());
        under(&[command, &["tiny"]].concat());
        let roots: Vec<_> = roots.iter().map(String::as_str).collect();
        under(&[command, &roots].concat());
    }
}

/// Every command names an unreadable file and exits with status 2.
#[test]
fn h27_h44_h53_every_command_names_unreadable_files() {
    let scene = Scene::new(|dir, tree| {
        (10..60)
            .for_each(|nth| _ = dir.file(format!("{tree}/{}/{nth}", nth % 5), format!("{nth}").as_bytes()));
    });
    scene.dir.lock("t/3/33");
    for command in READING {
        for threads in ["auto", "mono", "8"] {
            for io in readers() {
                let run = scene.ftk(command).args(["-j", threads, "--io", io]).unprivileged(&scene.dir).run();
                let run = run.status(2).stderr_has("ftk: cannot open 't/3/33': permission denied\n");
                let others = run.out.iter().filter(|byte| **byte == b'\n').count();
                run.check(
                    command[0] == "cmp" || command[1] == "verify" || others >= 49,
                    "the others have their lines",
                );
                run.check(command[1] == "verify" || !run.text().contains("3/33\""), "it is not recorded");
            }
        }
    }
}

/// A directory that cannot be listed, deep in the tree or the argument itself, is an error of every command.
#[test]
fn h48_every_command_counts_its_errors_in_every_mode() {
    let scene = Scene::new(|dir, tree| {
        (0..40).for_each(|nth| {
            _ = dir.file(format!("{tree}/{nth}/a/x"), b"").file(format!("{tree}/{nth}/b/x"), b"")
        });
    });
    for locked in ["t/17/a", "t"] {
        scene.dir.lock(locked);
        for command in every().filter(|command| command[1] != "--check") {
            for threads in ["mono", "2", "8", "auto"] {
                let run = scene.ftk(command).args(["-j", threads]).unprivileged(&scene.dir).run().status(2);
                run.stderr_has(&format!("ftk: cannot open '{locked}': permission denied\n"));
            }
        }
    }
}

/// With few descriptors a copy at any depth is still found, verified and compared.
#[test]
fn h52_every_command_at_depth_with_few_descriptors() {
    let chain = Chain::new("deep", 1000, 100);
    let dir = chain.dir();
    dir.file("copy", b"500");
    dir.ftk(["manifest", "create", ".", "-o", "../manifest"]).run().status(0);
    dir.ftk(["hash", ".", "-o", "../list"]).run().status(0);
    let group = [b"./copy\n", &chain.file(500)[..], b"\n\n"].concat();
    for limit in ["-n 16", "-n 64"] {
        for threads in ["mono", "8"] {
            let run = |args: &[&str]| dir.ftk(args).args(["-j", threads]).limit(dir, limit).run().status(0);
            run(&["dup"]).stdout(&group);
            run(&["hash", "-q", "--check", "../list"]).stdout("");
            run(&["manifest", "verify", ".", "../manifest"])
                .stdout("")
                .stderr_has("1,012 of 1,012 as recorded");
            run(&["manifest", "create", "."]).stderr_has("1,012 entries, 11 files read");
            run(&["manifest", "update", ".", "../manifest"]).stderr_has("  1,012 entries");
            run(&["cmp", "--no-shortcuts", ".", "./."]).stderr_has("11 pairs of files compared");
        }
    }
}

/// The same for a wide tree.
#[test]
fn h52_every_command_at_width_with_few_descriptors() {
    let scene = Scene::new(|dir, tree| {
        (0..300).for_each(|nth| _ = dir.file(format!("{tree}/{nth}/x"), format!("{nth:03}").as_bytes()));
    });
    for command in every() {
        let expected = scene.ftk(command).args(["-j", "mono"]).run().status(0).out;
        for threads in ["mono", "8"] {
            let run = scene.ftk(command).args(["-j", threads]).limit(&scene.dir, "-n 16").run().status(0);
            let same = |out: &[u8]| sorted(without_times(out));
            run.check(same(&run.out) == same(&expected), "the same as with many");
        }
    }
}

/// Returns the lines of an output without a manifest's header and footer, which differ from run to run.
fn without_times(out: &[u8]) -> Vec<Vec<u8>> {
    let is_of_the_run = |line: &Vec<u8>| line.starts_with(b"{\"ftk\":") || line.starts_with(b"{\"footer\":");
    records(out, b'\n').into_iter().filter(|line| !is_of_the_run(line)).collect()
}

/// No command needs much memory for an empty or tiny tree.
#[test]
fn h56_every_command_takes_little_memory_for_little_work() {
    let empty = Scene::new(|_, _| ());
    let tiny = Scene::new(|dir, tree| _ = dir.file(format!("{tree}/x"), b"abc"));
    if empty.ftk(&["find", "t"]).limit(&empty.dir, "-d 100").run().code() == 0 {
        return skip("ulimit -d does not limit anything here");
    }
    for scene in [empty, tiny] {
        for command in every() {
            let run = scene.ftk(command).args(["-j", "mono"]).limit(&scene.dir, "-d 8192").run();
            run.check(run.code() == 0 || (command[1] == "--check" && run.out.is_empty()), "it is enough");
        }
    }
}
