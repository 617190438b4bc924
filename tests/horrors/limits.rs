//! Few descriptors, little memory, no permission.

use crate::harness::{Chain, Dir, gnu_find, hash_lines, needs, records, sha256, skip, sorted, uring};

/// Readers to try; the ring takes a descriptor itself.
fn readers() -> Vec<&'static str> {
    if uring() { vec!["auto", "sync", "uring"] } else { vec!["auto", "sync"] }
}

/// One file that cannot be read: the others are processed, it is named, and the status says so in every mode.
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

/// A directory that cannot be listed, deep down or as an argument, is an error whoever meets it.
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
        // The directory itself is there, and so is everything beside it.
        let run = dir.ftk(["find", "-c", "-j", threads]).unprivileged(&dir).run().status(2);
        run.stdout("199\n");
    }
}

/// Few descriptors are no reason to leave anything out.
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
            run.check(lines.len() == 1000, "every file has a line");
            for level in 1..=1000 {
                let digest = &lines[&chain.file(level)];
                run.check(*digest == sha256(level.to_string().as_bytes()), "and its own digest");
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
            run.check(lines.len() == 1000, "every file has a line");
            for (path, digest) in &lines {
                let nth = path.split(|&byte| byte == b'/').nth(1).unwrap();
                run.check(*digest == sha256(nth), "and its own digest");
            }
        }
    }
}

/// An empty directory, a tiny one and sixty of them take next to nothing. The limit is on what a process may
/// write to, which is more than what it does write to; 8 MiB of it are not a tenth of what a careless tool
/// took.
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
