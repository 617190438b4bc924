//! `ftk dup prune`: the result of each action, and that nothing is done without `--yes`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::tree::plant;
use crate::harness::{Dir, Mounted, Run, gnu_find, ino, needs};

/// Creates two equal files and a different one.
fn pair() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", &[7; 10_000]).file("t/b", &[7; 10_000]).file("t/other", &[8; 10_000]);
    dir
}

/// Returns all metadata of the tree, as GNU find prints it.
fn everything(dir: &Dir) -> Vec<u8> {
    let format = "%p %i %n %s %m %U %G %T@ %C@ %l\\0";
    let run = dir.ftk([""; 0]).instead(dir, ["find", ".", "-printf", format]).run().status(0);
    let mut records: Vec<_> = run.out.split(|&byte| byte == 0).collect();
    records.sort();
    records.join(&0)
}

#[test]
fn a_plan_changes_nothing() {
    for action in ["hardlink", "symlink", "delete", "move=away"] {
        let dir = pair();
        let before = everything(&dir);
        let run = dir.ftk(["dup", "prune", "--action", action, "t"]).run().status(0);
        run.check(run.text().starts_with("  keep     t/a "), "the first stays");
        run.check(run.text().contains(" t/b"), "the second goes");
        run.stderr_has(". Nothing was changed: add --yes to do it.\n");
        assert_eq!(everything(&dir), before, "{action}");
        assert!(!dir.aside("state").exists(), "there is no journal of a plan");
    }
}

#[test]
fn a_plan_as_text() {
    let dir = Dir::new();
    dir.file("t/old", &[7; 10_000]).file("t/new", &[7; 10_000]);
    dir.ftk([""; 0]).instead(&dir, ["touch", "-d", "2019-07-02 18:22", "t/old"]).run().status(0);
    let frees = fs::metadata(dir.path("t/new")).unwrap().blocks() * 512;
    let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--keep", "oldest", "t"]).run().status(0);
    let expected = format!(
        "  keep     t/old{:42}oldest (2019-07-02 18:22)\n  link     t/new{:42}frees {}.{:02} kB\n",
        "",
        "",
        frees / 1000,
        (frees % 1000 + 5) / 10,
    );
    assert_eq!(run.text(), expected);
    run.stderr_has("  would link 1 file and free ");
}

#[test]
fn a_plan_as_json() {
    let dir = pair();
    let frees = fs::metadata(dir.path("t/b")).unwrap().blocks() * 512;
    let args = ["dup", "prune", "--action", "delete", "--keep", "first", "--json", "t"];
    let run = dir.ftk(args).run().status(0);
    let lines: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["action"], &lines[0]["path"], &lines[0]["why"]),
        (&"keep".into(), &"t/a".into(), &"first".into())
    );
    assert_eq!(
        (&lines[1]["action"], &lines[1]["path"], &lines[1]["keeper"]),
        (&"delete".into(), &"t/b".into(), &"t/a".into())
    );
    assert_eq!(lines[1]["freed_bytes"], frees);
    let summary = &lines[2]["summary"];
    assert_eq!(
        (&summary["is_plan"], &summary["files"], &summary["freed_bytes"]),
        (&true.into(), &1.into(), &frees.into())
    );
}

#[test]
fn hardlink() {
    let dir = pair();
    let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", "t"]).run().status(0);
    run.check(run.text().contains("  link     t/b "), "what was done is listed");
    let run = run.stderr_has("  journal: ").stderr_has("  linked 1 file and freed ");
    run.stderr_has("  to undo this: ftk undo ");
    assert_eq!(ino(&dir.path("t/a")), ino(&dir.path("t/b")));
    assert_eq!(fs::read(dir.path("t/b")).unwrap(), [7; 10_000]);
    assert_eq!(fs::read(dir.path("t/other")).unwrap(), [8; 10_000]);
}

#[test]
fn symlink() {
    let dir = pair();
    dir.ftk(["dup", "prune", "--action", "symlink", "--yes", "t"]).run().status(0);
    let target = fs::read_link(dir.path("t/b")).unwrap();
    assert_eq!(target, fs::canonicalize(dir.path("t/a")).unwrap());
    assert_eq!(fs::read(dir.path("t/b")).unwrap(), [7; 10_000]);
}

/// A plan that deletes says on what its undo depends.
#[test]
fn deletion_is_warned_of_before_it_is_done() {
    const WARNING: &str = "  undo restores these files as long as a kept copy is unchanged\n";
    let dir = pair();
    for args in [&[][..], &["--json"]] {
        let run = dir.ftk(["dup", "prune", "--action", "delete", "t"]).args(args).run().status(0);
        let last = format!(". Nothing was changed: add --yes to do it.\n{WARNING}");
        run.check(run.err.ends_with(&last), "it is the last line");
    }
    let run = dir.ftk(["dup", "prune", "--action", "delete", "--script", "t"]).run().status(0);
    let warning = "  a script keeps no journal, so its deletions cannot be undone\n";
    run.check(run.err.ends_with(warning), "it is the last line");
    for args in [
        &["--action", "hardlink", "t"][..],
        &["--action", "move=away", "t"],
        &["--action", "delete", "--quarantine", "away", "t"],
        &["--action", "delete", "t/a"],
    ] {
        dir.ftk(["dup", "prune"]).args(args).run().status(0).stderr_lacks("as long as a kept copy");
    }
}

#[test]
fn delete() {
    let dir = pair();
    let run = dir.ftk(["dup", "prune", "--action", "delete", "--yes", "t"]).run().status(0);
    run.stderr_has("  deleted 1 file and freed ")
        .stderr_has("  to undo this: ftk undo ")
        .stderr_has("  undo restores these files as long as a kept copy is unchanged\n");
    assert_eq!(gnu_find(&dir, &["t", "-type", "f"]), [b"t/a".to_vec(), b"t/other".to_vec()]);
}

/// A linked name gets the times of the kept file, which people sort photos by.
#[test]
fn links_that_change_times_say_so() {
    let dir = pair();
    for (name, seconds) in [("t/a", 1), ("t/b", 2)] {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::open(dir.path(name)).unwrap().set_modified(time).unwrap();
    }
    let prune = |args: &[&str]| dir.ftk(["dup", "prune", "t", "--action"]).args(args).run().status(0);
    prune(&["hardlink"]).stderr_has("  1 file would get the mtime of the kept file\n");
    prune(&["delete"]).stderr_lacks("mtime");
    prune(&["hardlink", "--yes"]).stderr_has("  1 file got the mtime of the kept file\n");
    let dir = pair();
    for name in ["t/a", "t/b"] {
        fs::File::open(dir.path(name)).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    dir.ftk(["dup", "prune", "t", "--action", "hardlink"]).run().status(0).stderr_lacks("mtime");
}

/// The lines of a plan and of a run differ, also if the last one is missing.
#[test]
fn each_step_in_json_says_whether_it_is_done() {
    let dir = pair();
    for (yes, is_plan) in [(&[][..], true), (&["--yes"], false)] {
        let run = dir.ftk(["dup", "prune", "--action", "delete", "--json", "t"]).args(yes).run().status(0);
        let lines: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[1]["action"], &lines[1]["is_plan"]), (&"delete".into(), &is_plan.into()));
    }
}

/// A PATH below a reference is kept whole, and the plan says so and how to prune in it.
#[test]
fn a_path_below_a_reference_is_named() {
    let plant = || {
        let dir = Dir::new();
        dir.file("p/2019/a", b"aaaa")
            .file("p/in/a", b"aaaa")
            .file("p/in/z1", b"zzzz")
            .file("p/in/z2", b"zzzz");
        dir.file("p/2019/b", b"bbbb").file("p/2020/b", b"bbbb");
        // The copy inside is older.
        fs::File::open(dir.path("p/in/a")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        dir
    };
    let dir = plant();
    let run = dir.ftk(["dup", "prune", "--action", "delete", "--reference", "p", "p/in"]).run().status(0);
    run.stderr_has("  'p/in' is below --reference 'p': all its files are kept\n")
        .stderr_has("  to remove copies in it only: --isolate --keep argument p p/in, without --reference\n");
    let args =
        ["dup", "prune", "--action", "delete", "--isolate", "--keep", "argument", "p", "p/in", "--yes"];
    dir.ftk(args).run().status(0);
    let left = gnu_find(&dir, &["p", "-type", "f"]);
    let expected = ["p/2019/a", "p/2019/b", "p/2020/b", "p/in/z1", "p/in/z2"];
    assert_eq!(left, expected.map(|path| path.as_bytes().to_vec()));
}

#[test]
fn move_and_quarantine() {
    for args in [&["--action", "move=t/away"][..], &["--action", "delete", "--quarantine", "t/away"]] {
        let dir = pair();
        let before = ino(&dir.path("t/b"));
        let plan = dir.ftk(["dup", "prune", "t"]).args(args).run().status(0);
        plan.stderr_has("  destination: 't/away").stderr_has(", where each file has the path it had\n");
        let run = dir.ftk(["dup", "prune", "--yes", "t"]).args(args).run().status(0);
        run.stderr_has("  moved 1 file\n").stderr_has("  destination: 't/away");
        assert!(!dir.path("t/b").exists());
        let away = gnu_find(&dir, &["t/away", "-type", "f", "!", "-name", "FTK-QUARANTINE.TAG"]);
        assert_eq!(away.len(), 1, "{away:?}");
        let away = String::from_utf8(away[0].clone()).unwrap();
        assert_eq!((ino(&dir.path(&away)), fs::read(dir.path(&away)).unwrap()), (before, vec![7; 10_000]));
        // Moved files are skipped by later runs.
        let run = dir.ftk(["dup", "prune", "--yes", "t"]).args(args).run().status(0).stdout("");
        run.stderr_has("skipped: 1 own output file").stderr_has("  nothing to do\n");
    }
}

/// If blocks cannot be shared, no other action replaces it.
#[test]
fn h05_a_failed_reflink_is_not_replaced_by_another_action() {
    let dir = pair();
    let before = everything(&dir);
    let run = dir.ftk(["dup", "prune", "--action", "reflink", "--yes", "t"]).run();
    if run.code() == 0 {
        assert_ne!(ino(&dir.path("t/a")), ino(&dir.path("t/b")), "blocks are shared here");
    } else {
        run.status(2).stderr_has("ftk: --action reflink does not work for the file system of 't/a': ");
        assert_eq!(everything(&dir), before);
    }
}

/// The message names what was typed, not what it becomes.
#[test]
fn a_directory_on_another_file_system_is_refused_by_the_option_that_named_it() {
    let Some(mounted) = Mounted::new("tmpfs") else { return };
    let dir = pair();
    let before = everything(&dir);
    let other = mounted.path("it's away");
    let option = |before: &str| format!("{before}'{}'", other.display().to_string().replace('\'', "'\\''"));
    for (action, typed) in
        [(&["delete", "--quarantine"][..], option("--quarantine ")), (&["move="], option("--action move="))]
    {
        let mut words: Vec<OsString> = action.iter().map(Into::into).collect();
        match words.last_mut() {
            Some(last) if action.len() == 1 => last.push(&other),
            _ => words.push(other.clone().into()),
        }
        let run = dir.ftk(["dup", "prune", "t", "--action"]).args(words).run().status(2).stdout("");
        let run = run.stderr_has(&format!(
            "ftk: {typed} does not work for the file system of 't/a': it is on another one\n"
        ));
        run.stderr_has(&format!(
            "ftk: {typed} works for none of the file systems searched: choose another directory\n"
        ));
        assert_eq!(everything(&dir), before);
    }
}

/// The plan, the report and the summary agree, and another run has nothing to do.
#[test]
fn h12_another_run_finds_nothing_to_do() {
    for action in ["hardlink", "symlink", "delete", "move=../away"] {
        for seed in [40, 41] {
            let dir = Dir::new();
            plant(&dir, seed, 100);
            let args = ["dup", "prune", ".", "--min-size", "0", "--action", action];
            let plan = dir.ftk(args).run().status(0);
            let done = dir.ftk(args).arg("--yes").run().status(0);
            done.check(done.out == plan.out, &format!("{}\nwas planned", String::from_utf8_lossy(&plan.out)));
            let again = dir.ftk(args).arg("--yes").run().status(0);
            let again = again.stderr_has("  nothing to do\n");
            // Empty files are left, since links to one of them would free nothing.
            let is_left = |line: &str| line.starts_with("  keep ") || line.starts_with("  leave ");
            again.check(again.text().lines().all(is_left), "there is nothing left");
        }
    }
}

#[test]
fn the_journal_is_written_to_the_given_path() {
    let dir = pair();
    let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", "--journal", "t/log", "t"]).run();
    run.status(0).stderr_has("  journal: 't/log'\n").stderr_has("ftk undo 't/log'\n");
    assert!(fs::read_to_string(dir.path("t/log")).unwrap().starts_with("{\"ftk\":\""));
    // An existing file is not overwritten.
    let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", "--journal", "t/log", "t"]).run();
    run.status(2).stderr_has("ftk: cannot create the journal 't/log': file exists");
    let state = fs::read_dir(dir.aside("state")).map_or(0, |entries| entries.count());
    assert_eq!(state, 0, "no other journal is written");
}

#[test]
fn each_run_has_its_own_journal() {
    let dir = pair();
    for copy in ["t/c", "t/d"] {
        fs::copy(dir.path("t/a"), dir.path(copy)).unwrap();
        dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", "t"]).run().status(0);
    }
    let journals = fs::read_dir(dir.aside("state").join("ftk")).unwrap();
    assert_eq!(journals.count(), 2);
}

#[test]
fn arguments_that_make_no_sense() {
    let dir = pair();
    for bad in [
        &[][..],
        &["--action", "link"],
        &["--action", "move="],
        &["--action", "hardlink", "--quarantine", "q"],
        &["--action", "delete", "--script", "--yes"],
        &["--action", "delete", "--keep", "best"],
        &["--action", "delete", "--keep", "path=["],
        &["--action", "delete", "--min-copies", "0"],
        &["--action", "delete", "--reference", "missing"],
        &["--action", "delete", "--reference", "t/a"],
    ] {
        let before = everything(&dir);
        dir.ftk(["dup", "prune", "t"]).args(bad).run().status(2).stdout("");
        assert_eq!(everything(&dir), before);
    }
}

/// A file whose owner, permissions or attributes would be lost is not changed.
#[test]
fn h11_links_that_would_lose_metadata_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = pair();
    fs::set_permissions(dir.path("t/b"), fs::Permissions::from_mode(0o600)).unwrap();
    let before: BTreeMap<_, _> = ["t/a", "t/b"].map(|path| (path, ino(&dir.path(path)))).into();
    for yes in [&[][..], &["--yes"]] {
        let run = dir.ftk(["dup", "prune", "--action", "hardlink", "t"]).args(yes).run().status(2);
        run.check(run.err.contains("ftk: 't/b': refused: "), "it is listed");
        run.check(run.err.contains("permissions differ (0600, the keeper has 0644)"), "with the reason");
        let nothing = if yes.is_empty() { "nothing would be done" } else { "nothing was done" };
        run.stderr_has(&format!("  {nothing}; 1 refused\n"));
    }
    for (path, before) in before {
        assert_eq!(ino(&dir.path(path)), before);
    }
    // With --metadata-may-differ it is linked.
    let args = ["dup", "prune", "--action", "hardlink", "--metadata-may-differ", "--journal"];
    dir.ftk(args).arg(dir.aside("journal")).args(["--yes", "t"]).run().status(0);
    assert_eq!(
        (ino(&dir.path("t/a")), fs::metadata(dir.path("t/b")).unwrap().mode() & 0o777),
        (ino(&dir.path("t/b")), 0o644)
    );
    dir.ftk(["dup", "undo"]).arg(dir.aside("journal")).run().status(0);
    assert_eq!(fs::metadata(dir.path("t/b")).unwrap().mode() & 0o777, 0o600);
    // Deletion needs no equal metadata.
    dir.ftk(["dup", "prune", "--action", "delete", "--yes", "t"]).run().status(0);
}

/// A failure is reported with the action and its cause.
#[test]
fn a_failure_names_its_cause() {
    let dir = pair();
    dir.file("log/.keep", b"");
    for (path, mode) in [("t", 0o555), ("log", 0o777)] {
        fs::set_permissions(dir.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let args = ["dup", "prune", "--yes", "--journal", "log/journal", "--action", "delete", "t"];
    let run = dir.ftk(args).unprivileged(&dir).run().status(2);
    let failure = "cannot rename the file: permission denied\n";
    run.check(run.err.contains(&format!("ftk: 't/b': {failure}")), "the message is printed");
    fs::set_permissions(dir.path("t"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(dir.path("t/b").exists());
}

/// A file can free nothing for another reason than hard links.
#[test]
fn a_copy_without_blocks_frees_nothing() {
    let dir = Dir::new();
    for path in ["a", "b"] {
        dir.file(path, b"");
        fs::File::options().write(true).open(dir.path(path)).unwrap().set_len(1 << 20).unwrap();
    }
    let run = dir.ftk(["dup", "prune", ".", "--action", "delete"]).run().status(0);
    if fs::metadata(dir.path("b")).unwrap().blocks() == 0 {
        run.check(run.text().ends_with("the file has other hard links, or no blocks\n"), "why");
    }
}

/// If the file system allows no more links to a file, the next copy is kept, and the rest is linked to that
/// one.
#[test]
fn h13_after_the_last_possible_link_another_copy_is_kept() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..8 {
        dir.file(format!("{nth}"), b"same");
    }
    // The fourth file has another name.
    dir.hard_link("4", "4b");
    let strace = ["strace", "-f", "-o", "/dev/null", "-e", "inject=linkat:error=EMLINK:when=4..5"];
    let args = ["dup", "prune", ".", "--action", "hardlink", "--yes", "--journal", "../journal"];
    let run = dir.ftk(args).under(&dir, strace).run().status(0);
    // 1, 2 and 3 are linked to 0. 4 cannot be linked to 0, nor 5 to 4.
    let ino = |name: &str| fs::metadata(dir.path(name)).unwrap().ino();
    let inodes = ["0", "1", "2", "3", "4", "4b", "5", "6", "7"].map(ino);
    let [first, .., third] = inodes;
    let second = inodes[4];
    assert_eq!(inodes, [first, first, first, first, second, second, third, third, third]);
    assert!(first != second && second != third && third != first);
    for (name, why) in
        [("4 ", "as many hard links as"), ("4b", "as many hard links as"), ("5 ", "as many hard links as")]
    {
        let line = run.text().lines().find(|line| line.contains(&format!("./{name}"))).unwrap();
        run.check(line.starts_with("  keep ") && line.contains(why), name);
    }
    run.stderr_has("linked 5 files");
    dir.ftk(["dup", "undo", "../journal"]).run().status(0);
    let inodes: std::collections::BTreeSet<_> = ["0", "1", "2", "3", "4", "5", "6", "7"].map(ino).into();
    assert_eq!((inodes.len(), ino("4b")), (8, second));
}

/// An empty journal is removed.
#[test]
fn a_run_without_actions_leaves_no_journal() {
    let dir = Dir::new();
    dir.file("a", b"one").file("b", b"two");
    for (path, status) in [(".", 0), ("missing", 2)] {
        for journal in [&["--journal", "../journal"][..], &[]] {
            let run = dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", path]).args(journal).run();
            run.status(status);
        }
    }
    assert!(!dir.aside("journal").exists());
    assert_eq!(fs::read_dir(dir.aside("state").join("ftk")).unwrap().count(), 0);
}

/// With `-q`, a run lists only problems and how to undo it. A plan is what was asked for.
#[test]
fn quiet_runs_keep_what_is_needed() {
    let dir = pair();
    dir.file("t/private", &[7; 10_000]);
    fs::set_permissions(dir.path("t/private"), fs::Permissions::from_mode(0o600)).unwrap();
    let prune = |args: &[&str]| {
        let all = ["dup", "prune", "--action", "hardlink", "--keep", "first", "-q", "t"];
        dir.ftk(all).args(args).run().status(2)
    };
    let words = |run: &Run| -> Vec<String> {
        run.text().lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    let refused = "ftk: 't/private': refused: permissions differ (0600, the keeper has 0644)\n";
    let plan = prune(&[]).stderr(refused);
    assert_eq!(words(&plan), ["keep t/a", "link t/b"]);
    let run = prune(&["--yes", "--journal", "log"]).stdout("");
    run.stderr(&format!("{refused}  to undo this: ftk undo 'log'\n"));
    // Nothing is done now.
    prune(&["--yes", "--journal", "other"]).stdout("").stderr(refused);
    dir.ftk(["undo", "-q", "log"]).run().status(0).stdout("").stderr("");
    assert_ne!(ino(&dir.path("t/a")), ino(&dir.path("t/b")));
    // JSON is for programs, which read all of it.
    let run = prune(&["--yes", "--json"]);
    run.check(run.text().contains("\"action\":\"hardlink\""), "the step is listed");
    // What cannot be undone is a problem.
    fs::remove_file(dir.path("t/b")).unwrap();
    dir.file("t/b", b"new");
    let run = dir.ftk(["undo", "-q", "--last"]).run().status(2);
    run.check(run.err.starts_with("  journal: '"), "the journal that was found");
    run.stdout("").stderr_has("\nftk: 't/b': ");
}
