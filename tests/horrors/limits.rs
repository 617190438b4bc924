//! Few descriptors, little memory, missing permissions.

use super::commands::{Command, READING, Scene, every};
use crate::harness::{Chain, hash_lines, records, sha256, skip, sorted, uring};

/// Readers to try; the ring needs a descriptor itself.
fn readers() -> Vec<&'static str> {
    if uring() { vec!["auto", "sync", "uring"] } else { vec!["auto", "sync"] }
}

/// Every command names an unreadable file and exits with status 2.
#[test]
fn h27_h44_h53_every_command_names_unreadable_files() {
    let scene = Scene::new(|dir, tree| {
        (10..60)
            .for_each(|nth| _ = dir.file(format!("{tree}/{}/{nth}", nth % 5), format!("{nth}").as_bytes()));
    });
    scene.dir.file("u/4/44", b"xx").lock("t/3/33");
    for command in READING {
        let summary = match command {
            ["hash", "t"] => "  1 file not hashed",
            ["cmp", ..] => "49 pairs of files compared",
            _ => "",
        };
        for threads in ["auto", "mono", "8"] {
            for io in readers() {
                let run = scene.ftk(command).args(["-j", threads, "--io", io]).unprivileged(&scene.dir).run();
                let run = run.status(2).stderr_has("ftk: cannot open 't/3/33': permission denied\n");
                let run = run.stderr_has(summary);
                run.check(
                    command[0] != "cmp" || run.text() == "content differs\t4/44\tfirst at byte 1\n",
                    "the difference is found",
                );
                let others = run.out.iter().filter(|byte| **byte == b'\n').count();
                run.check(
                    command[0] == "cmp" || command[1] == "verify" || others >= 49,
                    "the others have their lines",
                );
                // Only the header names it, as a file that could not be read.
                let has_line = run.text().lines().skip(1).any(|line| line.contains("3/33\""));
                run.check(command[1] == "verify" || !has_line, "it is not recorded");
            }
        }
    }
}

/// A directory that cannot be listed, deep in the tree or the argument itself, is an error of every command.
#[test]
fn h48_h71_every_command_counts_its_errors_in_every_mode() {
    let scene = Scene::new(|dir, tree| {
        (0..40).for_each(|nth| {
            _ = dir.file(format!("{tree}/{nth}/a/x"), b"").file(format!("{tree}/{nth}/b/x"), b"")
        });
    });
    let more: [Command; 12] = [
        &["find", "-c", "t"],
        &["find", "t", "--exec", "true"],
        &["find", "--status", "-n", "absent", "t"],
        &["hash", "-L", "t"],
        &["dup", "t"],
        &["dup", "--summary", "t"],
        &["dup", "--json", "t", "u"],
        &["dup", "prune", "--action", "delete", "--script", "t"],
        &["dup", "prune", "--action", "hardlink", "--reference", "t", "u"],
        &["manifest", "create", "t"],
        &["cmp", "u", "t"],
        &["cmp", "--quick", "t", "u"],
    ];
    for locked in ["t/17/a", "t"] {
        scene.dir.lock(locked);
        for command in every().filter(|command| command[1] != "--check").chain(more) {
            for threads in ["mono", "2", "8", "auto"] {
                let run = scene.ftk(command).args(["-j", threads]).unprivileged(&scene.dir).run().status(2);
                let run = run.stderr_has(&format!("cannot open '{locked}': permission denied\n"));
                // The directory itself and everything next to it is listed.
                let counts = command[..2] == ["find", "-c"] && locked != "t";
                run.check(!counts || run.text() == "200\n", "the others are counted");
            }
        }
    }
}

/// With few descriptors a copy at any depth is still found, verified and compared.
#[test]
fn h52_every_command_at_depth_with_few_descriptors() {
    let chain = Chain::new("deep", 1000, 1);
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
            run(&["find", "-c"]).stdout("2002\n").stderr("");
            for io in readers() {
                let run = run(&["hash", ".", "--io", io]);
                let lines = hash_lines(&run.out);
                run.check(lines.len() == 1001, "each file has a line");
                for level in 1..=1000 {
                    let digest = &lines[&chain.file(level)];
                    run.check(*digest == sha256(level.to_string().as_bytes()), "the digest is right");
                }
            }
            let verified = run(&["manifest", "verify", ".", "../manifest"]).stdout("");
            verified.stderr_has("2,002 of 2,002 as recorded");
            run(&["manifest", "create", "."]).stderr_has("2,002 entries, 1,001 files read");
            run(&["manifest", "update", ".", "../manifest"]).stderr_has("  2,002 entries");
            run(&["cmp", "--no-shortcuts", ".", "./."]).stderr_has("1,001 pairs of files compared");
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
        let readers = if READING.contains(&command) { readers() } else { vec!["auto"] };
        for (threads, limit) in [("mono", "-n 16"), ("8", "-n 16"), ("4", "-n 24")] {
            for io in &readers {
                let io = if *io == "auto" { &[][..] } else { &["--io", io] };
                let run = scene.ftk(command).args(["-j", threads]).args(io).limit(&scene.dir, limit).run();
                let same = |out: &[u8]| sorted(without_times(out));
                run.check(run.code() == 0 && same(&run.out) == same(&expected), "the same as with many");
            }
        }
    }
}

/// Returns the lines of an output without a manifest's header and footer, which differ from run to run.
fn without_times(out: &[u8]) -> Vec<Vec<u8>> {
    let is_of_the_run = |line: &Vec<u8>| line.starts_with(b"{\"ftk\":") || line.starts_with(b"{\"footer\":");
    records(out, b'\n').into_iter().filter(|line| !is_of_the_run(line)).collect()
}

/// No command needs much memory for empty or tiny trees. The limit applies to writable memory, which is more than the
/// memory in use. 8 MiB is less than a tenth of what a careless implementation needed.
#[test]
fn h56_every_command_takes_little_memory_for_little_work() {
    let empty = Scene::new(|_, _| ());
    let tiny = Scene::new(|dir, tree| _ = dir.file(format!("{tree}/x"), b"abc"));
    if empty.ftk(&["find", "t"]).limit(&empty.dir, "-d 100").run().code() == 0 {
        return skip("ulimit -d does not limit anything here");
    }
    let roots: Vec<_> = (0..60).map(|nth| format!("roots/{nth}")).collect();
    for root in &roots {
        empty.dir.dir(root);
    }
    for command in [&["find"][..], &["find", "--sort"], &["hash", "-a", "blake3"], &["hash"]] {
        let ftk = empty.dir.ftk(command).args(["-j", "mono"]).args(&roots);
        ftk.limit(&empty.dir, "-d 8192").run().status(0);
    }
    for scene in [empty, tiny] {
        for command in every().chain([&["hash", "-a", "blake3", "t"][..]]) {
            let run = scene.ftk(command).args(["-j", "mono"]).limit(&scene.dir, "-d 8192").run();
            run.check(run.code() == 0 || (command[1] == "--check" && run.out.is_empty()), "it is enough");
        }
    }
}
