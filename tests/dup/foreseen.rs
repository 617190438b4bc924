//! `ftk undo --dry-run` foretells what `ftk undo` does; and `--other-root`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::Command;

use super::tree::plant;
use super::undo::snapshot;
use crate::harness::{Dir, Run, is_root, skip};

/// Returns the first word and the path of each line, and `fail` with the path of each error.
fn lines(run: &Run) -> Vec<(String, String)> {
    let parse = |line: &str| {
        let mut words = line.split_whitespace().map(|word| word.trim_end_matches('/').to_owned());
        (words.next().unwrap(), words.next().unwrap())
    };
    // What was undone before is not foretold.
    let steps = run.text().lines().map(parse).filter(|(word, _)| word != "leave");
    let path =
        |line: &str| Some(line.strip_prefix("ftk: '")?.split_once("': ")?.0.trim_end_matches('/').to_owned());
    steps.chain(run.err.lines().filter_map(path).map(|path| ("fail".into(), path))).collect()
}

fn undo(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["undo", "--last"]).args(args).run()
}

/// A trial: the preview said that 33 files would be restored when the kept copies were gone, and none was.
#[test]
fn the_preview_of_an_undo_makes_its_checks() {
    let changes: [&dyn Fn(&Dir); 9] = [
        &|dir| fs::remove_dir_all(dir.path("nas")).unwrap(),
        &|dir| fs::remove_file(dir.path("nas/1")).unwrap(),
        &|dir| fs::write(dir.path("nas/2"), "a longer content").unwrap(),
        &|dir| fs::write(dir.path("nas/2"), "3").unwrap(),
        // The same content, with another time.
        &|dir| fs::write(dir.path("nas/2"), "2").unwrap(),
        &|dir| _ = dir.file("card/sub/3", b"another file"),
        &|dir| _ = fs::rename(dir.path("card"), dir.path("elsewhere")),
        &|dir| {
            _ = fs::rename(dir.path("card/sub"), dir.path("card/old"));
            fs::create_dir(dir.path("card/sub")).unwrap();
        },
        &|dir| _ = fs::remove_dir_all(dir.path("away")),
    ];
    for action in [
        &["--action", "delete"][..],
        &["--action", "delete", "--remove-empty-dirs"],
        &["--action", "delete", "--dirs"],
        &["--action", "hardlink"],
        &["--action", "symlink"],
        &["--action", "move=away"],
        &["--action", "delete", "--quarantine", "away", "--remove-empty-dirs"],
    ] {
        for (nth, change) in changes.iter().enumerate() {
            let dir = Dir::new();
            for name in ["1", "2", "3"] {
                dir.file(format!("nas/{name}"), name.as_bytes());
                dir.file(format!("card/sub/{name}"), name.as_bytes());
            }
            dir.ftk(["dup", "prune", "--yes", "--reference", "nas", "card"]).args(action).run().status(0);
            change(&dir);
            let before = snapshot(&dir);
            let plan = undo(&dir, &["--dry-run"]);
            assert!(snapshot(&dir) == before, "{action:?} {nth}");
            let run = undo(&dir, &[]);
            assert_eq!(plan.code(), run.code(), "{action:?} {nth}: {} {}", plan.err, run.err);
            if run.err.contains("cannot undo") {
                continue;
            }
            assert_eq!(lines(&plan), lines(&run), "{action:?} {nth}");
            if run.code() == 2 {
                plan.stderr_has(" could not be restored: ").stderr_has("Nothing was changed.\n");
            } else {
                plan.stderr_has(", if the contents are unchanged. Nothing was changed: omit --dry-run");
            }
        }
    }
}

/// After an interrupted or partial undo, only what is left is foretold, as for a whole random tree.
#[test]
fn the_preview_of_a_second_undo_has_what_is_left() {
    for args in [&["--action", "delete"][..], &["--action", "delete", "--dirs"], &["--action", "hardlink"]] {
        let dir = Dir::new();
        plant(&dir, 91, 60);
        let run = dir.ftk(["dup", "prune", "--yes", ".", "--json"]).args(args).run().status(0);
        let kept =
            run.text().lines().find(|line| line.starts_with("{\"action\":\"keep\",\"path\":")).unwrap();
        let kept: serde_json::Value = serde_json::from_str(kept).unwrap();
        let kept = dir.path(kept["path"].as_str().unwrap());
        let content = fs::read(&kept).unwrap();
        fs::write(&kept, "edit").unwrap();
        let run = undo(&dir, &[]);
        let plan = undo(&dir, &["--dry-run"]).status(run.code());
        let failed = |run: &Run| lines(run).into_iter().filter(|it| it.0 == "fail").collect::<Vec<_>>();
        assert_eq!(lines(&plan), failed(&run), "{args:?}");
        fs::write(&kept, content).unwrap();
        let plan = undo(&dir, &["--dry-run"]);
        assert_eq!(lines(&plan), lines(&undo(&dir, &[])), "{args:?}");
    }
}

/// A trial: the kept directory was replaced by a copy of it, and the deleted files could not come back.
#[test]
fn files_come_back_from_another_kept_directory_if_that_is_wanted() {
    let dir = Dir::new();
    for name in ["1", "2", "3"] {
        dir.file(format!("nas/{name}"), name.as_bytes()).file(format!("card/{name}"), name.as_bytes());
    }
    let before = snapshot(&dir);
    dir.ftk(["dup", "prune", "--yes", "--action", "delete", "--reference", "nas", "card"]).run().status(0);
    fs::rename(dir.path("nas"), dir.aside("old")).unwrap();
    let copied = Command::new("cp").arg("-a").arg(dir.aside("old")).arg(dir.path("nas")).status().unwrap();
    assert!(copied.success());
    fs::write(dir.path("nas/3"), "9").unwrap();
    for args in [&["--dry-run"][..], &[]] {
        let run =
            undo(&dir, args).status(2).stderr_has("--other-root copies from the directory that is there now");
        run.check(run.err.matches("'nas' is not the directory that was recorded").count() == 3, "why");
        run.stderr_lacks("repeat this command");
        assert_eq!(fs::read_dir(dir.path("card")).unwrap().count(), 0);
    }
    // What has another content than the deleted file is not copied.
    let plan = undo(&dir, &["--dry-run", "--other-root"]).status(2);
    let run = undo(&dir, &["--other-root"]).status(2);
    assert_eq!(lines(&plan), lines(&run));
    let words: Vec<_> = lines(&run).into_iter().map(|(word, _)| word).collect();
    assert_eq!(words, ["restore", "restore", "fail"]);
    fs::write(dir.path("nas/3"), "3").unwrap();
    undo(&dir, &["--other-root"]).status(0).stderr_has("nothing is left to undo");
    let now = snapshot(&dir);
    assert_eq!(now.len(), before.len());
    for name in ["1", "2"] {
        assert_eq!(fs::read(dir.path(format!("card/{name}"))).unwrap(), name.as_bytes());
    }
    // The directory of the deleted files must still be that of the run.
    dir.ftk(["dup", "prune", "--yes", "--action", "delete", "--reference", "nas", "card"]).run().status(0);
    fs::rename(dir.path("card"), dir.path("moved")).unwrap();
    fs::create_dir(dir.path("card")).unwrap();
    let run =
        undo(&dir, &["--other-root"]).status(2).stderr_has("repeat this command when the cause is gone");
    run.check(run.says("'card' is not the directory that was recorded"), "why");
}

/// A trial: the preview said that a file would be restored, and the undo that it could not.
#[test]
fn a_directory_without_write_permission_is_foreseen() {
    if !is_root() {
        return skip("only root gives files to the user who may not write");
    }
    for action in ["delete", "hardlink", "move=away"] {
        let dir = Dir::new();
        dir.file("t/k/a", b"same").file("t/v/b", b"same").file("t/w/c", b"same").dir("log");
        let own = |path: &str| chown(dir.path(path), Some(65534), Some(65534)).unwrap();
        ["", "t", "t/k", "t/v", "t/w", "t/k/a", "t/v/b", "t/w/c", "log"].into_iter().for_each(own);
        let prune =
            ["dup", "prune", "--action", action, "--keep", "first", "--yes", "--journal", "log/j", "t"];
        dir.ftk(prune).unprivileged(&dir).run().status(0);
        let mode = |mode| fs::set_permissions(dir.path("t/v"), fs::Permissions::from_mode(mode)).unwrap();
        mode(0o555);
        let undo = |args: &[&str]| dir.ftk(["undo", "log/j"]).args(args).unprivileged(&dir).run();
        let plan = undo(&["--dry-run"]).status(2);
        let plan = plan.stderr_has("ftk: 't/v/b': cannot write to its directory: permission denied");
        assert_eq!(lines(&plan), lines(&undo(&[]).status(2)), "{action}");
        mode(0o755);
        undo(&["--dry-run"]).status(0).stdout_has("t/v/b");
        undo(&[]).status(0);
        assert_eq!(fs::read(dir.path("t/v/b")).unwrap(), b"same");
    }
}
