//! `ftk dup undo`: restores the tree.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use rustix::fs::{XattrFlags, getxattr, setxattr};

use super::tree::plant;
use crate::harness::{Chain, Dir};

/// The restorable parts of an entry: everything except its inode number and ctime.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Known {
    mode: u32,
    uid: u32,
    gid: u32,
    mtime: (i64, i64),
    content: Vec<u8>,
}

/// Returns everything except directories and the file that marks one for moved files.
pub(super) fn snapshot(dir: &Dir) -> BTreeMap<PathBuf, Known> {
    let mut known = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(dir.path(&path)).unwrap();
        let mut content = Vec::new();
        if metadata.is_dir() {
            waiting
                .extend(fs::read_dir(dir.path(&path)).unwrap().map(|it| path.join(it.unwrap().file_name())));
            continue;
        } else if metadata.is_file() {
            content = fs::read(dir.path(&path)).unwrap();
        } else if metadata.is_symlink() {
            content = fs::read_link(dir.path(&path)).unwrap().as_os_str().as_bytes().to_vec();
        }
        let (mode, uid, gid) = (metadata.mode(), metadata.uid(), metadata.gid());
        let mtime = (metadata.mtime(), metadata.mtime_nsec());
        if path.ends_with("FTK-QUARANTINE.TAG") {
            continue;
        }
        known.insert(path, Known { mode, uid, gid, mtime, content });
    }
    known
}

fn journal(dir: &Dir) -> PathBuf {
    let mut entries = fs::read_dir(dir.aside("state").join("ftk")).unwrap();
    let journal = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    journal
}

#[test]
fn undo_restores_everything() {
    for (seed, args) in [
        (59, &["--action", "delete"][..]),
        (60, &["--action", "hardlink"]),
        (61, &["--action", "symlink"]),
        (62, &["--action", "move=away"]),
        (63, &["--action", "delete", "--quarantine", "away"]),
    ] {
        let dir = Dir::new();
        plant(&dir, seed, 80);
        let before = snapshot(&dir);
        dir.ftk(["dup", "prune", ".", "--yes"]).args(args).run().status(0);
        let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
        run.check(run.text().contains("  restore  "), "what is restored is listed");
        assert!(snapshot(&dir) == before, "{args:?}");
        // Another undo changes nothing.
        let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
        run.stderr_has("  nothing is left to undo: ")
            .stderr_has(" entries are as they were before the run\n");
        assert!(snapshot(&dir) == before, "{args:?}");
    }
}

#[test]
fn files_created_since_are_not_overwritten() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same").file("c", b"same");
    dir.ftk(["dup", "prune", ".", "--action", "move=away", "--yes"]).run().status(0);
    dir.file("b", b"a new file of that name");
    let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(2);
    run.check(run.text().contains("  restore  ./c"), "one file is restored");
    run.check(run.err.contains("ftk: './b': "), "the other is not restored");
    run.stderr_has("  restored 1 file; 1 file could not be restored\n")
        .stderr_has("  1 file left to undo: repeat");
    assert_eq!(fs::read(dir.path("b")).unwrap(), b"a new file of that name");
}

#[test]
fn deleted_files_come_back_with_their_metadata() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    fs::set_permissions(dir.path("b"), fs::Permissions::from_mode(0o640)).unwrap();
    let is_root = crate::harness::is_root();
    if is_root {
        std::os::unix::fs::chown(dir.path("b"), Some(12), Some(34)).unwrap();
    }
    let has_xattrs = setxattr(dir.path("b"), "user.note", b"mine", XattrFlags::empty()).is_ok();
    let before = snapshot(&dir);
    dir.ftk(["dup", "prune", ".", "--keep", "first", "--action", "delete", "--yes"]).run().status(0);
    assert!(!dir.path("b").exists());
    let run = dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    run.check(run.text().contains("  restore  ./b"), "it is restored");
    assert!(snapshot(&dir) == before);
    let mut value = [0; 9];
    if has_xattrs {
        assert_eq!(getxattr(dir.path("b"), "user.note", &mut value), Ok(4));
        assert_eq!(&value[..4], b"mine");
    }
    dir.ftk(["undo"]).arg(journal(&dir)).run().status(0).stderr_has("  nothing is left to undo: ");
}

#[test]
fn a_deleted_file_is_copied_back_from_any_kept_copy() {
    for args in [&[][..], &["--dirs"]] {
        let dir = Dir::new();
        let [a, b, c, d] = ["1/x", "2/x", "3/x", "4/x"];
        for path in [a, b, c, d] {
            dir.file(path, b"same");
        }
        // The two oldest stay.
        let run = dir.ftk(["dup", "prune", "--min-copies", "3", "--action", "delete", "--yes"]);
        run.args(args).arg(".").run().status(0);
        let gone: Vec<_> = [a, b, c, d].into_iter().filter(|path| !dir.path(path).exists()).collect();
        let kept: Vec<_> = [a, b, c, d].into_iter().filter(|path| dir.path(path).exists()).collect();
        assert_eq!((gone.len(), kept.len()), (1, 3));
        // The first kept copies have changed or are gone.
        fs::write(dir.path(kept[0]), "edit").unwrap();
        fs::remove_file(dir.path(kept[1])).unwrap();
        dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
        assert_eq!(fs::read(dir.path(gone[0])).unwrap(), b"same");
    }
    // Without any requirement, all kept copies are recorded too.
    let dir = Dir::new();
    dir.file("r1/x", b"same").file("r2/x", b"same").file("v/x", b"same");
    let args = ["dup", "prune", "--reference", "r1", "--reference", "r2", "--action", "delete", "--yes", "."];
    dir.ftk(args).run().status(0);
    assert!(!dir.path("v/x").exists());
    for (path, other) in [("r1/x", "r2/x"), ("r2/x", "r1/x")] {
        let (content, _) = (fs::read(dir.path(path)).unwrap(), fs::write(dir.path(path), "edit").unwrap());
        assert_eq!(fs::read(dir.path(other)).unwrap(), b"same");
        let copy = dir.aside("copy");
        fs::copy(journal(&dir), &copy).unwrap();
        dir.ftk(["undo".as_ref(), copy.as_os_str()]).run().status(0);
        assert_eq!(fs::read(dir.path("v/x")).unwrap(), b"same");
        fs::remove_file(dir.path("v/x")).unwrap();
        fs::write(dir.path(path), content).unwrap();
    }
    for path in ["r1/x", "r2/x"] {
        fs::write(dir.path(path), "edit").unwrap();
    }
    let run = dir.ftk(["undo"]).arg(journal(&dir)).run().status(2);
    run.check(run.says("the keeper changed (its content)"), "the reason is given");
}

/// Each run removes or links what the run before has kept.
#[test]
fn undo_goes_back_one_run_at_a_time() {
    for action in ["delete", "hardlink", "symlink", "move=../away"] {
        let dir = Dir::new();
        for (nth, path) in ["t/1/x", "t/2/x", "t/3/x"].iter().enumerate() {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 + nth as u64);
            dir.file(path, b"same");
            fs::File::options().write(true).open(dir.path(path)).unwrap().set_modified(time).unwrap();
        }
        let before = snapshot(&dir);
        let removes = action == "delete" || action.starts_with("move");
        let empty: &[&str] = if removes { &["--remove-empty-dirs"] } else { &[] };
        for (kept, tops) in [("t/2/x", &["t/1", "t/2"][..]), ("t/3/x", &["t"])] {
            let keep = format!("path={kept}");
            let args = ["dup", "prune", "--yes", "--action", action, "--keep", &keep];
            dir.ftk(args).args(empty).args(tops).run().status(0);
        }
        assert!(snapshot(&dir) != before, "{action}");
        let list = || {
            let run = dir.ftk(["undo", "--list"]).run().status(0);
            run.text().lines().map(|line| line.contains("(undone)")).collect::<Vec<_>>()
        };
        assert_eq!(list(), [false, false]);
        dir.ftk(["undo", "--last"]).run().status(0);
        assert_eq!(list(), [true, false], "{action}");
        dir.ftk(["undo", "--last"]).run().status(0);
        assert_eq!(list(), [true, true], "{action}");
        assert!(snapshot(&dir) == before, "{action}");
        dir.ftk(["undo", "--last"]).run().status(2).stderr_has("nothing is left to undo in ");
    }
}

#[test]
fn undo_restores_permissions() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    for path in ["a", "b"] {
        fs::set_permissions(dir.path(path), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let before = snapshot(&dir);
    dir.ftk(["dup", "prune", ".", "--action", "symlink", "--yes"]).run().status(0);
    dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
    assert_eq!(snapshot(&dir), before);
}

/// If a run was killed between two names of one file, undo joins them again.
#[test]
fn undo_rejoins_hard_links_if_only_some_were_replaced() {
    for action in ["hardlink", "symlink"] {
        let dir = Dir::new();
        dir.file("a", b"same").file("b", b"same");
        fs::hard_link(dir.path("b"), dir.path("c")).unwrap();
        fs::hard_link(dir.path("b"), dir.aside("c")).unwrap();
        // A run would leave the file if the report said that it has another name.
        let report = dir.ftk(["dup", "--json"]).run().status(0).text().replace("\"nlink\":3", "\"nlink\":2");
        let args = ["dup", "apply", "-", "--edited", "--keep", "first", "--action", action, "--yes"];
        dir.ftk(args).stdin(report.as_bytes()).run().status(0);
        fs::rename(dir.aside("c"), dir.path("c")).unwrap();
        let run = dir.ftk(["dup", "undo"]).arg(journal(&dir)).run().status(0);
        run.check(run.text().contains("  leave    ./c"), "the hard link is unchanged");
        let [a, b, c] = ["a", "b", "c"].map(|path| fs::symlink_metadata(dir.path(path)).unwrap().ino());
        assert!(a != b && b == c, "{action}");
    }
}

#[test]
fn h26_files_that_are_not_journals_are_errors() {
    let dir = Dir::new();
    dir.file("empty", b"").file("text", b"no journal\n");
    for path in ["empty", "text", "missing"] {
        dir.ftk(["dup", "undo", path]).run().status(2).stderr_has(path);
    }
    dir.ftk(["undo", "empty"]).run().status(2).stderr_has("'empty': it is empty: nothing was done\n");
}

#[test]
fn undo_finds_the_last_run_and_lists_all() {
    let dir = Dir::new();
    dir.ftk(["undo", "--list"]).run().status(0).stdout("").stderr_has("no runs to undo");
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("no journal in");
    let contents = [["a", "b"], ["c", "d"]];
    for [one, other] in contents {
        dir.file(one, one.as_bytes()).file(other, one.as_bytes());
        dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", one, other]).run().status(0);
    }
    let inode = |path: &str| fs::metadata(dir.path(path)).unwrap().ino();
    let list = dir.ftk(["undo", "--list"]).run().status(0);
    let lines: Vec<_> = list.text().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.contains("  1 file linked  in ")), "{lines:?}");
    let json = dir.ftk(["undo", "--list", "--json"]).run().status(0);
    let runs: Vec<serde_json::Value> =
        json.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(runs[0]["start_ns"].as_i64() > runs[1]["start_ns"].as_i64(), "the newest first");
    assert_eq!(runs[0]["steps"], serde_json::json!([{"action": "hardlink", "files": 1, "undone": 0}]));
    assert_eq!(runs[0]["left"], 1);

    let last = dir.ftk(["undo", "--last"]).run().status(0);
    last.stderr_has(runs[0]["journal"].as_str().unwrap())
        .stderr_has("  the last run that is not undone: 20")
        .stderr_has("  1 file linked in '")
        .stderr_has("nothing is left to undo");
    assert!(inode("a") == inode("b") && inode("c") != inode("d"));
    let list = dir.ftk(["undo", "--list"]).run().status(0);
    let marked: Vec<_> = list.text().lines().map(|line| line.contains("1 file linked (undone)")).collect();
    assert_eq!(marked, [true, false]);
    dir.ftk(["undo", "--last"]).run().status(0).stderr_has(runs[1]["journal"].as_str().unwrap());
    assert!(inode("a") != inode("b"), "it goes on to the run before");
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("nothing is left to undo in ");

    // With a journal that cannot be used, the last run is not known.
    fs::write(dir.aside("state").join("ftk/dup-x.jsonl"), "{}\n").unwrap();
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("cannot tell which run is the last one");
    // One of an earlier run does no harm.
    let unusable = |start_ns: i64| {
        let header = serde_json::json!({"ftk": "journal", "version": 2, "cwd": "/", "start_ns": start_ns});
        fs::write(dir.aside("state").join("ftk/dup-y.jsonl"), format!("{header}\nno record\n")).unwrap();
    };
    fs::rename(dir.aside("state").join("ftk/dup-x.jsonl"), dir.aside("x")).unwrap();
    dir.ftk(["dup", "prune", "--action", "hardlink", "--yes", "a", "b"]).run().status(0);
    unusable(i64::MAX);
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("cannot tell which run is the last one");
    unusable(1);
    dir.ftk(["undo", "--last"]).run().status(0).stderr_has("restored 1 file");
    dir.ftk(["undo", "--last"]).run().status(2).stderr_has("cannot tell which run is the last one");
    fs::rename(dir.aside("x"), dir.aside("state").join("ftk/dup-x.jsonl")).unwrap();
    dir.ftk(["undo", "--list"]).run().status(2).stderr_has("it is not a journal of ftk");
    for args in [&["--last", "--list"][..], &["--last", "x"]] {
        dir.ftk(["undo"]).args(args).run().status(2);
    }
    dir.ftk(["undo"]).run().status(2).stderr_has("use --last for the most recent run");
}

/// One user makes paths that would make a journal that no undo can read.
#[test]
fn a_step_whose_record_would_be_too_long_is_not_carried_out() {
    let name: &'static str = Box::leak("\u{1}".repeat(250).into_boxed_str());
    let chain = Chain::new(name, 700, 700);
    let dir = chain.dir();
    dir.file("a", b"700").file("b", b"same").file("c", b"same");
    let prune = ["dup", "prune", "--action", "delete", "--yes", "--keep", "first", "--journal", "../j", "."];
    let run = dir.ftk(prune).run().status(2);
    run.check(
        run.err.contains("its record in the journal would be longer than 1 MiB"),
        "the reason is given",
    );
    assert!(dir.path("a").exists() && dir.path("b").exists() && !dir.path("c").exists());
    assert!(fs::metadata(dir.path("../j")).unwrap().len() < 10_000);
    dir.ftk(["undo", "../j"]).run().status(0).stderr_has("restored 1 file");
    assert_eq!(fs::read(dir.path("c")).unwrap(), b"same");
}

/// If the last run cannot be undone, an older one stays as it is.
#[test]
fn undo_of_the_last_run_never_takes_an_older_one() {
    let dir = Dir::new();
    dir.file("a", b"same").file("b", b"same");
    dir.ftk(["dup", "prune", "--action", "delete", "--yes", "a", "b"]).run().status(0);
    let of_prune = journal(&dir);
    for (kind, why) in
        [("delete-entry", "if it was killed, `ftk undo "), ("reflink", "needs no undo (1 file")]
    {
        // The journal of a later run, made from the one of the first.
        let text = fs::read_to_string(&of_prune).unwrap();
        let (header, steps) = text.split_once('\n').unwrap();
        let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
        header["start_ns"] = (header["start_ns"].as_i64().unwrap() + 1).into();
        let steps = steps.replace("\"action\":\"delete\"", &format!("\"action\":\"{kind}\""));
        let later = of_prune.with_file_name("later.jsonl");
        fs::write(&later, format!("{header}\n{steps}")).unwrap();
        let run = dir.ftk(["undo", "--last"]).run().status(2);
        run.stderr_has("the last run ")
            .stderr_has(why)
            .stderr_has("name its journal (see `ftk undo --list`)");
        assert!(!dir.path("b").exists(), "{kind}");
        fs::remove_file(&later).unwrap();
    }
    dir.ftk(["undo", "--last"]).run().status(0);
    assert!(dir.path("b").exists());
}

/// A trial: `undo` acts at once, while prune and repair print a plan. The plan is what undo does then.
#[test]
fn a_dry_run_prints_the_steps_and_changes_nothing() {
    for args in [&["--action", "delete"][..], &["--action", "move=away"], &["--action", "delete", "--dirs"]] {
        let dir = Dir::new();
        plant(&dir, 64, 40);
        dir.ftk(["dup", "prune", ".", "--yes"]).args(args).run().status(0);
        let (before, recorded) = (snapshot(&dir), fs::read(journal(&dir)).unwrap());
        let lines = |run: &crate::harness::Run| -> Vec<String> {
            let words = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
            run.text().lines().map(|line| words(line).trim_end_matches('/').to_owned()).collect()
        };
        let plan = dir.ftk(["undo", "--dry-run"]).arg(journal(&dir)).run().status(0);
        let plan =
            plan.stderr_has("  would restore ").stderr_has("Nothing was changed: omit --dry-run to do it.\n");
        assert!(snapshot(&dir) == before);
        assert_eq!(fs::read(journal(&dir)).unwrap(), recorded);
        let last = dir.ftk(["undo", "--last", "--dry-run", "--json"]).run().status(0);
        // The last object is the summary.
        assert_eq!(last.text().lines().count(), lines(&plan).len() + 1);
        let run = dir.ftk(["undo", "--last"]).run().status(0);
        assert_eq!(lines(&run), lines(&plan), "{args:?}");
        let plan = dir.ftk(["undo", "--dry-run"]).arg(journal(&dir)).run().status(0);
        plan.stdout("").stderr("  nothing is left to undo\n");
    }
}

/// A trial: empty directories of the quarantine stayed in the tree.
#[test]
fn directories_that_ftk_made_for_moved_files_are_removed() {
    let dir = Dir::new();
    let all = |dir: &Dir| dir.ftk(["find", "--sort", "."]).run().status(0).text().to_owned();
    dir.file("1/a", b"same")
        .file("1/deep/b", b"same")
        .file("2/c", b"same")
        .file("3/d", b"other")
        .file("4/e", b"other");
    let before = all(&dir);
    let prune = |action: &str, dirs: &[&str]| {
        dir.ftk(["dup", "prune", "--yes", "--action", action]).args(dirs).run().status(0);
    };
    prune("move=new/away", &["1", "2"]);
    assert!(all(&dir).contains("./new/away/FTK-QUARANTINE.TAG"));
    dir.ftk(["undo", "--last"]).run().status(0);
    // `new` is not the quarantine.
    assert_eq!(all(&dir), before.clone() + "./new\n");
    fs::remove_dir(dir.path("new")).unwrap();
    // What another run, or the user, has put there stays, and so does a directory that was there before.
    prune("move=away", &["1", "2"]);
    prune("move=away", &["3", "4"]);
    dir.dir("away/mine");
    fs::write(dir.path("away/1/note"), "n").unwrap();
    dir.ftk(["undo", "--last"]).run().status(0);
    dir.ftk(["undo", "--last"]).run().status(0);
    let left = "./away\n./away/1\n./away/1/note\n./away/FTK-QUARANTINE.TAG\n./away/mine\n";
    assert_eq!(dir.ftk(["find", "--sort", "./away"]).run().status(0).text(), left);
    dir.dir("own/1");
    prune("move=own", &["1", "2"]);
    dir.ftk(["undo", "--last"]).run().status(0);
    assert!(dir.path("own/1").is_dir(), "the user made it");
}
