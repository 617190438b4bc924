//! `--dirs`, `--unit` and `--contained`: what is reported, what is pruned, and what is never taken apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::tree::{Dice, contents_of, plant};
use crate::harness::{Dir, Ftk};

/// Two equal directories with a subdirectory, and a copy of one of their files.
fn twins() -> Dir {
    let dir = Dir::new();
    for top in ["t/a", "t/b"] {
        dir.file(format!("{top}/x"), &[7; 10_000]).file(format!("{top}/sub/y"), &[8; 5000]);
        dir.symlink("x", &format!("{top}/link"));
    }
    dir.file("t/other/x", &[7; 10_000]).file("t/other/z", b"unique");
    dir
}

fn prune(dir: &Dir, args: &[&str]) -> Ftk {
    dir.ftk(["dup", "prune", "--dirs"]).args(args)
}

/// Returns how many random trees a test plants.
pub(super) fn random_trees() -> u64 {
    std::env::var("FTK_TEST_RANDOM_TREES").map_or(40, |number| number.parse().unwrap())
}

#[test]
fn paths_of_directories_come_first() {
    let dir = twins();
    let run = dir.ftk(["dup", "--dirs", "t"]).run().status(0);
    run.check(run.text() == "t/a\nt/b\n\nt/a/x\nt/other/x\n\n", "directories, then files outside");
    run.stderr_has("2 equal directories in 1 group waste 15.00 kB");
    let run = dir.ftk(["dup", "--dirs", "-0", "t"]).run().status(0);
    run.check(run.out == b"t/a\0t/b\0\0t/a/x\0t/other/x\0\0", "the same with NUL");
}

#[test]
fn directories_for_people() {
    let dir = twins();
    let run = dir.ftk(["dup", "--dirs", "--format", "screen", "t"]).run().status(0);
    run.stdout(
        "  2 × 15.00 kB   2 files   wastes 15.00 kB\n    t/a/\n    t/b/\n\n  \
         then 2 files in 1 group outside of these waste 10.00 kB\n\n  \
         2 × 10.00 kB   wastes 10.00 kB\n    t/a/x\n    t/other/x\n\n",
    );
}

#[test]
fn nothing_more_is_read_for_directories() {
    let dir = twins();
    dir.file("t/c/only", &[1; 77_777]);
    let stats = |args: &[&str]| {
        let file = dir.aside("stats");
        dir.ftk(["dup", "t", "--stats", file.to_str().unwrap()]).args(args).run().status(0);
        let stats: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let phases = stats["phases"].as_array().unwrap().iter();
        phases.filter_map(|phase| phase["bytes"].as_u64()).sum::<u64>()
    };
    assert_eq!(stats(&["--dirs", "--contained", "50%", "--json"]), stats(&[]));
}

#[test]
fn what_was_excluded_or_unreadable_makes_a_difference() {
    let dir = twins();
    let run = dir.ftk(["dup", "--dirs", "-E", "y", "t"]).run().status(0);
    run.check(!run.text().starts_with("t/a\n"), "an entry was excluded");
    run.stderr_has(
        "directories not compared as a whole: entries were excluded, not readable, or reached twice",
    );
    let run = dir.ftk(["dup", "--dirs", "--max-size", "9000", "t"]).run().status(0);
    run.check(run.text() == "t/a/sub\nt/b/sub\n\n", "only the subdirectories are known");
    dir.lock("t/a/sub");
    let run = dir.ftk(["dup", "--dirs", "t"]).unprivileged(&dir).run().status(2);
    run.check(!run.text().starts_with("t/a\n"), "a directory is unreadable");
}

#[test]
fn what_is_missing_elsewhere_is_listed() {
    let dir = twins();
    let run = dir.ftk(["dup", "--contained", "99%", "t/other", "t/a"]).run().status(0);
    run.check(run.text().is_empty(), "by bytes, but not by files");
    let run = dir.ftk(["dup", "--contained", "50%", "t/other", "t/a"]).run().status(0);
    for of in ["of  t/a/ ", "of  t/other/ ", "1 file is nowhere else: --json lists it"] {
        run.check(run.text().contains(of), "one of two files each, as people read it, also in a pipe");
    }
    let run = dir.ftk(["dup", "--contained", "50%", "--json", "t/other", "t/a"]).run().status(0);
    run.check(
        run.text().contains("\"in\":[{\"path\":\"t/other\",\"files\":1,\"bytes\":10000}]"),
        "where the copies are",
    );
    run.check(run.text().contains("\"missing\":[{\"path\":\"t/a/sub/y\"}]"), "what is nowhere else");
    // `apply` ignores what is only contained.
    let report = dir.aside("report");
    fs::write(&report, &run.out).unwrap();
    dir.ftk(["dup", "apply", "--action", "delete"]).arg(&report).run().status(0).stdout("");
}

#[test]
fn ambiguous_output_is_rejected() {
    let dir = twins();
    for (args, why) in [
        (&["--dirs", "--format", "csv"][..], "has only files"),
        (&["--contained", "90%", "-0"], "all files of a group are equal"),
        (&["--dirs", "--contained", "90%", "--format", "fdupes"], "all files of a group are equal"),
        (&["--ignore-names"], "--dirs"),
        (&["--contained", "0%"], "more than 0%"),
        (&["--unit", "["], "--unit"),
    ] {
        dir.ftk(["dup", "t"]).args(args).run().status(2).stderr_has(why);
    }
    prune(&dir, &["--action", "symlink", "t"]).run().status(2).stderr_has("single files only");
}

#[test]
fn h41_directories_are_equal_only_with_names_types_targets_and_empty_files() {
    type Change = (&'static str, fn(&Dir));
    let changes: [Change; 6] = [
        ("an empty file", |dir| _ = dir.file("t/b/empty", b"")),
        ("an empty directory", |dir| _ = dir.dir("t/b/nothing")),
        ("a name", |dir| fs::rename(dir.path("t/b/x"), dir.path("t/b/X")).unwrap()),
        ("a target", |dir| {
            fs::remove_file(dir.path("t/b/link")).unwrap();
            dir.symlink("y", "t/b/link");
        }),
        ("a type", |dir| {
            fs::remove_file(dir.path("t/b/link")).unwrap();
            dir.file("t/b/link", b"x");
        }),
        ("a FIFO", |dir| _ = dir.fifo("t/b/fifo")),
    ];
    for (what, change) in changes {
        let dir = twins();
        change(&dir);
        let run = dir.ftk(["dup", "--dirs", "t"]).run().status(0);
        run.check(run.text().starts_with("t/a/sub\nt/b/sub\n\n"), what);
    }
    // A file that is added after the search keeps its directory, and everything else in it that was not handled.
    let dir = twins();
    let report = dir.aside("report");
    let run = dir.ftk(["dup", "--dirs", "--json", "t"]).run().status(0);
    fs::write(&report, &run.out).unwrap();
    dir.file("t/b/sub/new", b"new");
    let args = ["dup", "apply", "--action", "delete", "--yes"];
    let run = dir.ftk(args).arg(&report).run().status(2);
    run.check(run.err.contains("ftk: 't/b/': refused: "), "the directory is refused");
    assert_eq!(fs::read(dir.path("t/b/sub/new")).unwrap(), b"new");
    assert!(dir.path("t/b/x").exists() && dir.path("t/b/sub/y").exists());
}

#[test]
fn h64_a_unit_is_never_taken_apart() {
    for extra in [&[][..], &["--dirs"]] {
        let dir = Dir::new();
        for app in ["A", "B"] {
            dir.file(format!("d/{app}.app/version.plist"), b"content")
                .file(format!("d/{app}.app/bin/run"), app.as_bytes());
        }
        dir.file("d/C.app/version.plist", b"content")
            .file("d/C.app/bin/run", b"A")
            .file("d/version", b"content");
        let run = dir.ftk(["dup", "--unit", "*.app", "d"]).args(extra).run().status(0);
        run.check(run.text().starts_with("d/A.app\nd/C.app\n\n"), "equal units are a group");
        let args = ["dup", "prune", "--action", "delete", "--yes", "--unit", "*.app", "d"];
        let run = dir.ftk(args).args(extra).run().status(0);
        run.check(!dir.path("d/C.app").exists() && !dir.path("d/version").exists(), "copies go as a whole");
        for app in ["A", "B"] {
            assert_eq!(fs::read(dir.path(format!("d/{app}.app/version.plist"))).unwrap(), b"content");
            assert_eq!(fs::read(dir.path(format!("d/{app}.app/bin/run"))).unwrap(), app.as_bytes());
        }
    }
}

#[test]
fn a_plan_says_where_a_directory_is() {
    let dir = twins();
    let run = prune(&dir, &["--action", "delete", "t"]).run().status(0);
    run.check(
        run.text().contains("  keep     t/a/ ") && run.text().contains("is in t/a/: 2 files, frees "),
        "the plan",
    );
    run.check(run.text().contains("in a directory that stays as a whole"), "its files stay");
    run.stderr_has("would delete 3 files and 1 directory and free ");
    let run = prune(&dir, &["--action", "delete", "--json", "t"]).run().status(0);
    run.check(
        run.text().contains(
            "\"path\":\"t/b\",\"is_plan\":true,\"keeper\":\"t/a\",\"is_directory\":true,\"files\":2,",
        ),
        "as JSON",
    );
}

#[test]
fn rules_apply_to_directories() {
    let dir = twins();
    let goes = |args: &[&str]| {
        let run = prune(&dir, &["--action", "delete"]).args(args).run().status(0);
        let line =
            |line: &str| line.trim_start().strip_prefix("delete ").map(|rest| rest.trim_start().to_owned());
        let first = |rest: String| rest.split_whitespace().next().unwrap().to_owned();
        run.text().lines().filter_map(line).map(first).collect::<Vec<_>>()
    };
    assert_eq!(goes(&["t"]), ["t/b/", "t/other/x"]);
    assert_eq!(goes(&["--keep", "path=*b*", "t"]), ["t/a/", "t/other/x"]);
    assert_eq!(goes(&["--min-copies", "2", "t"]), ["t/other/x"]);
    assert_eq!(goes(&["--reference", "t/b", "t/a", "t/other"]), ["t/a/", "t/other/x"]);
    // The first copy stays in any case.
    assert_eq!(goes(&["--keep-one-per", "t/b", "t"]), ["t/other/x"]);
    assert_eq!(goes(&["--keep-one-per", "t/b/sub", "t"]), ["t/other/x"]);
    assert_eq!(goes(&["--keep-one-per", "t/a/sub", "t"]), ["t/b/", "t/other/x"]);
    assert_eq!(goes(&["--isolate", "t"]), [""; 0]);
    assert_eq!(goes(&["--isolate", "t/a/", "t/b/", "t/other"]), ["t/b/", "t/other/x"]);
}

#[test]
fn a_directory_that_contains_a_reference_stays() {
    let dir = twins();
    let references = ["--reference", "t/a/sub", "--reference", "t/b/sub"];
    for action in ["delete", "move=away", "hardlink"] {
        let before = everything(&dir, "t/b/sub");
        prune(&dir, &["--action", action, "--yes", "t/a", "t/b"]).args(references).run().status(0);
        assert_eq!(everything(&dir, "t/b/sub"), before, "{action}");
    }
}

#[test]
fn directories_of_hard_links_are_not_two_copies() {
    let dir = Dir::new();
    for top in ["t/a", "t/c", "t/d"] {
        dir.file(format!("{top}/in/x"), &[7; 10_000]);
    }
    fs::create_dir_all(dir.path("t/b/in")).unwrap();
    fs::hard_link(dir.path("t/a/in/x"), dir.path("t/b/in/x")).unwrap();
    let args = ["--action", "delete", "--min-copies", "2", "--yes"];
    fs::write(dir.path("report"), dir.ftk(["dup", "--dirs", "--json", "t"]).run().status(0).text()).unwrap();
    for run in [prune(&dir, &args[..4]).arg("t"), dir.ftk(["dup", "apply", "report"]).args(&args[..4])] {
        let run = run.run().status(0);
        run.check(run.text().contains("  keep     t/b/   "), "another name of the first copy");
        run.check(run.text().contains("contains hard links of the kept files"), "why");
        run.check(run.text().contains("  delete   t/d/   "), "the third copy");
    }
    dir.ftk(["dup", "apply", "report"]).args(args).run().status(0);
    assert!(dir.path("t/b").exists() && dir.path("t/c").exists() && !dir.path("t/d").exists());
    prune(&dir, &["--action", "delete", "--yes", "--keep", "path=*/c", "t"]).run().status(0);
    assert!(!dir.path("t/a").exists() && !dir.path("t/b").exists() && dir.path("t/c").exists());
}

#[test]
fn directories_that_share_some_files_stay_together() {
    let dir = Dir::new();
    for top in ["t/a", "t/b"] {
        dir.file(format!("{top}/x"), &[7; 10_000]).file(format!("{top}/y"), &[8; 5000]);
    }
    fs::remove_file(dir.path("t/b/y")).unwrap();
    dir.hard_link("t/a/y", "t/b/y");
    let run = prune(&dir, &["--action", "delete", "--yes", "t"]).run().status(0);
    run.stderr_has("nothing to do");
    // Links can replace the files that are not links yet.
    prune(&dir, &["--action", "hardlink", "--yes", "t"]).run().status(0).stderr_has("linked 1 file");
    let ino = |path: &str| fs::metadata(dir.path(path)).unwrap().ino();
    assert_eq!(ino("t/a/x"), ino("t/b/x"));
}

#[test]
fn a_report_of_a_directory_that_is_gone_is_refused() {
    let dir = twins();
    let report = dir.aside("report");
    dir.ftk(["dup", "--dirs", "--json", "-o"]).arg(&report).arg("t").run().status(0);
    fs::rename(dir.path("t/a"), dir.path("t/c")).unwrap();
    let run = dir.ftk(["dup", "apply", "--action", "delete", "--yes"]).arg(&report).run().status(2);
    run.check(run.err.contains("ftk: 't/a/': refused: "), "the directory that is gone");
    assert!(dir.path("t/b/x").exists(), "the only other one stays");
}

#[test]
fn links_replace_the_files_of_a_directory() {
    let dir = twins();
    dir.file("t/a/sub/empty", b"").file("t/b/sub/empty", b"");
    prune(&dir, &["--action", "hardlink", "--yes", "t"]).run().status(0);
    let ino = |path: &str| fs::metadata(dir.path(path)).unwrap().ino();
    assert_eq!((ino("t/a/x"), ino("t/a/sub/y")), (ino("t/b/x"), ino("t/b/sub/y")));
    assert_ne!(ino("t/a/sub/empty"), ino("t/b/sub/empty"));
    let run = dir.ftk(["dup", "--dirs", "t"]).run().status(0);
    run.check(run.out.is_empty(), "directories of the same hard links are no copies");
}

#[test]
fn a_script_removes_a_directory() {
    for action in ["delete", "move=away"] {
        let dir = twins();
        let script = prune(&dir, &["--action", action, "--script", "t"]).run().status(0);
        fs::write(dir.aside("script"), &script.out).unwrap();
        let sh = ["sh", dir.aside("script").to_str().unwrap()].map(str::to_owned);
        dir.ftk([""; 0]).instead(&dir, sh).run().status(0);
        assert!(!dir.path("t/b").exists() && dir.path("t/a/x").exists(), "{action}");
        if action != "delete" {
            assert!(dir.path("away/t/b/x").exists() && dir.path("away/t/b/link").is_symlink());
        }
        // A script that is too late does nothing.
        let dir = twins();
        fs::write(dir.aside("script"), &script.out).unwrap();
        fs::write(dir.path("t/b/new"), "new").unwrap();
        let text = fs::read_to_string(dir.aside("script")).unwrap();
        let cwd = text.lines().find(|line| line.starts_with("cd '")).unwrap();
        let here = format!("cd '{}' || exit 2", dir.path("").to_str().unwrap());
        fs::write(dir.aside("script"), text.replace(cwd, &here)).unwrap();
        let sh = ["sh", dir.aside("script").to_str().unwrap()].map(str::to_owned);
        dir.ftk([""; 0]).instead(&dir, sh).run().status(2);
        assert_eq!(fs::read(dir.path("t/b/new")).unwrap(), b"new");
    }
}

/// Returns type, mode, mtime and content of every entry.
fn everything(dir: &Dir, root: &str) -> BTreeMap<Vec<u8>, (u32, i64, i64, Vec<u8>)> {
    let mut entries = BTreeMap::new();
    let mut waiting = vec![dir.path(root)];
    while let Some(path) = waiting.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        let content = if stat.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else if stat.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if stat.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        entries.insert(
            path.into_os_string().into_encoded_bytes(),
            (stat.mode(), stat.mtime(), stat.mtime_nsec(), content),
        );
    }
    entries
}

#[test]
fn an_undo_restores_directories_with_their_metadata() {
    let dir = twins();
    fs::set_permissions(dir.path("t/b/sub"), fs::Permissions::from_mode(0o1555)).unwrap();
    dir.ftk([""; 0])
        .instead(&dir, ["touch", "-d", "2001-02-03 04:05:06.789", "t/b/sub", "t/b"])
        .run()
        .status(0);
    let before = everything(&dir, "t/b");
    let journal = dir.aside("journal");
    let quarantine = ["--action", "delete", "--quarantine", "away", "--yes", "t", "--journal"];
    let run = prune(&dir, &quarantine).arg(&journal).run();
    if run.code() == 2 {
        // Only root may remove entries of a directory without write permission.
        run.check(run.err.contains("ftk: 't/b/': "), "the directory is not writable");
    } else {
        assert!(!dir.path("t/b").exists());
    }
    dir.ftk(["undo"]).arg(&journal).run().status(0);
    assert_eq!(everything(&dir, "t/b"), before);
    dir.ftk(["undo"]).arg(&journal).run().status(0);
    assert_eq!(everything(&dir, "t/b"), before);
}

/// Copies some directories of a random tree into other places.
fn copy_some(dir: &Dir, dice: &mut Dice) {
    for nth in 0..1 + dice.below(3) {
        let from = format!("d{}", dice.below(4));
        if dir.path(&from).exists() {
            let to = format!("{}c{nth}", *dice.pick(&["", "d0/", "d1/", "e/"]));
            fs::create_dir_all(dir.path(&to).parent().unwrap()).unwrap();
            dir.ftk([""; 0]).instead(dir, ["cp", "-r", "--preserve=mode", &from, &to]).run();
        }
    }
}

#[test]
fn pruning_directories_loses_no_content_and_undo_restores_everything() {
    for seed in 0..random_trees() {
        let mut dice = Dice::new(900 + seed);
        let dir = Dir::new();
        plant(&dir, 900 + seed, 25);
        copy_some(&dir, &mut dice);
        let action = *dice.pick(&["hardlink", "delete", "move=../away"]);
        let mut args: Vec<&str> = vec!["--action", action, "--yes"];
        let rule = *dice.pick(&["first", "newest", "shortest", "path=*c*"]);
        args.extend(["--keep", rule, "--min-size", *dice.pick(&["0", "1"])]);
        if dice.below(3) == 0 {
            args.extend(["--unit", "c*"]);
        }
        let journal = dir.aside("journal");
        let contents = |dir: &Dir| -> BTreeSet<Vec<u8>> {
            contents_of(dir, ".").into_iter().map(|(_, content, _)| content).collect()
        };
        let names = |dir: &Dir| -> BTreeMap<Vec<u8>, Vec<u8>> {
            contents_of(dir, ".").into_iter().map(|(path, content, _)| (path, content)).collect()
        };
        let (before, entries) = (contents(&dir), names(&dir));
        let run = prune(&dir, &args).arg("--journal").arg(&journal).arg(".").run();
        run.check(run.code() == 0 || run.err.contains(": refused: "), &format!("{seed}: nothing fails"));
        run.check(contents(&dir) == before, &format!("{seed}: every content is left"));
        if action != "delete" && journal.exists() {
            dir.ftk(["undo"]).arg(&journal).run().status(0);
            run.check(names(&dir) == entries, &format!("{seed}: undo restores every name"));
        }
    }
}

#[test]
fn odd_names_survive() {
    let dir = Dir::new();
    for top in [&b"t/a\n\xff"[..], b"t/-b "] {
        for name in [&b"new\nline"[..], b"\xff\xfe", b" ", b"sub/it's"] {
            dir.raw_file(&[top, b"/", name].concat(), &[9; 5000]);
        }
        dir.raw_file(&[top, b"/one"].concat(), top.get(..1).unwrap());
    }
    let journal = dir.aside("journal");
    let before = everything(&dir, "t");
    let run = dir.ftk(["dup", "--dirs", "t"]).run().status(0);
    run.check(run.out == b"t/-b \nt/a\n\xff\n\n", "raw names");
    prune(&dir, &["--action", "move=away", "--yes", "t", "--journal"]).arg(&journal).run().status(0);
    assert!(dir.path("t/-b ").exists() && fs::read_dir(dir.path("t")).unwrap().count() == 1);
    dir.ftk(["undo"]).arg(&journal).run().status(0);
    let without_top = |mut all: BTreeMap<_, _>| {
        all.remove(&dir.path("t").into_os_string().into_encoded_bytes());
        all
    };
    assert_eq!(without_top(everything(&dir, "t")), without_top(before));
}

#[test]
fn a_path_inside_another_one_is_refused() {
    let dir = Dir::new();
    dir.file("a/x", b"1").file("a/in/y", b"2").file("b/x", b"1").file("b/in/y", b"3");
    let run = dir.ftk(["dup", "--dirs", "a", "b", "a/in", "./b/in"]).run().status(2).stdout("");
    run.stderr_has("'a/in' is inside 'a'");
    dir.ftk(["dup", "--contained", "50%", "b/in/y", "b"])
        .run()
        .status(2)
        .stderr_has("'b/in/y' is inside 'b'");
    dir.ftk(["dup", "--dirs", "a", "b", "a"]).run().status(0);
    dir.ftk(["dup", "a", "b", "a/in"]).run().status(0);
}

#[test]
fn few_descriptors_suffice_for_many_directories() {
    let dir = Dir::new();
    for root in ["a", "b"] {
        for nth in 0..60 {
            let content = format!("content {nth}");
            dir.file(format!("t/{root}/{nth}/deep/x"), content.as_bytes());
            dir.symlink("x", &format!("t/{root}/{nth}/deep/link"));
        }
    }
    let before = everything(&dir, "t/b");
    let journal = dir.aside("journal");
    let quarantine = ["--action", "delete", "--quarantine", "away", "--yes", "t", "--journal"];
    prune(&dir, &quarantine).arg(&journal).limit(&dir, "-n 16").run().status(0);
    assert!(!dir.path("t/b").exists());
    dir.ftk(["undo"]).arg(&journal).limit(&dir, "-n 16").run().status(0);
    assert_eq!(everything(&dir, "t/b"), before);
}
