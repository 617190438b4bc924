//! `--action trash`, with gio and trash-cli as other users of the trash.

use std::fs;
use std::path::PathBuf;

use crate::harness::{Dir, Run, has};

/// Two copies, one of them with a name that must be encoded.
const ODD: &str = "away/a b%\u{fc}[x]+&~'";

fn tree() -> Dir {
    // gio uses no trash in memory.
    let dir = Dir::on_disk();
    dir.file("keep/k", b"same content").file(ODD, b"same content");
    dir
}

fn prune(dir: &Dir, more: &[&str]) -> Run {
    let args = ["dup", "prune", "--action", "trash", "--reference", "keep", "keep", "away"];
    dir.ftk(args).args(more).run()
}

fn trash(dir: &Dir, below: &str) -> PathBuf {
    dir.aside("data").join("Trash").join(below)
}

#[test]
fn a_copy_goes_to_the_trash_and_comes_back() {
    let dir = tree();
    let run = prune(&dir, &[]).status(0).stderr_has("would trash 1 file. Nothing was changed");
    run.check(run.text().contains(&format!("  trash    {ODD}")), "the plan");
    assert!(!dir.aside("data").exists());
    let run = prune(&dir, &["--yes"]).status(0);
    run.check(!dir.path(ODD).exists() && dir.path("keep/k").exists(), "it is gone");
    let run = run.stderr_has("  trashed 1 file\n").stderr_has("to undo this: ftk undo ");
    let name = ODD.strip_prefix("away/").unwrap();
    assert!(trash(&dir, "files").join(name).exists());
    // There is nothing left to do, also if the trash is below a starting point.
    let again =
        dir.ftk(["dup", "prune", "--action", "trash", "--yes", "keep", "away"]).arg(dir.aside("data")).run();
    again.status(0).stderr_has("nothing to do");
    let journal = run.err.split("ftk undo '").nth(1).unwrap().split('\'').next().unwrap().to_owned();
    let listed = dir.ftk(["undo", "--list"]).run().status(0);
    listed.check(listed.text().contains("1 file trashed"), "the list names the action");
    dir.ftk(["undo", &journal]).run().status(0);
    assert!(dir.path(ODD).exists() && !trash(&dir, "files").join(name).exists());
    assert_eq!(fs::read_dir(trash(&dir, "info")).unwrap().count(), 0);
}

#[test]
fn directories_and_sidecars_go_file_by_file() {
    let dir = Dir::new();
    dir.file("keep/d/a", b"1").file("keep/d/sub/b", b"22").file("away/d/a", b"1").file("away/d/sub/b", b"22");
    let run = prune(&dir, &["--dirs", "--yes"]).status(0);
    assert!(!dir.path("away").exists() || !dir.path("away/d").exists(), "{}", run.text());
    assert!(trash(&dir, "files/a").exists() && trash(&dir, "files/b").exists());
    dir.ftk(["undo", "--last"]).run().status(0);
    assert_eq!(fs::read(dir.path("away/d/sub/b")).unwrap(), b"22");
    let run = prune(&dir, &["--remove-empty-dirs", "--yes"]).status(0);
    run.check(!dir.path("away/d").exists(), "the directories are empty");
    dir.ftk(["undo", "--last"]).run().status(0);
    assert!(dir.path("away/d/sub/b").exists());
    let dir = Dir::new();
    for top in ["keep", "away"] {
        dir.file(format!("{top}/a.jpg"), b"picture").file(format!("{top}/a.jpg.xmp"), b"notes");
    }
    prune(&dir, &["--with-sidecars", "xmp", "--yes"]).status(0).stderr_has("trashed 2 files");
    assert!(trash(&dir, "info/a.jpg.xmp.trashinfo").exists());
    dir.ftk(["undo", "--last"]).run().status(0);
    assert!(dir.path("away/a.jpg").exists() && dir.path("away/a.jpg.xmp").exists());
}

#[test]
fn conflicts_and_missing_places() {
    let dir = tree();
    prune(&dir, &["--script"]).status(2).stderr_has("--script cannot be used with --action trash");
    prune(&dir, &["--quarantine", "q"]).status(2).stderr_has("--quarantine needs --action delete");
    let run = dir
        .ftk([""; 0])
        .instead(&dir, ["env", "-u", "HOME", "-u", "XDG_DATA_HOME", env!("CARGO_BIN_EXE_ftk")]);
    let run = run.args(["dup", "prune", "--action", "trash", "keep", "away"]).run();
    run.status(2).stderr_has("neither XDG_DATA_HOME nor HOME is an absolute path");
    let report = dir.ftk(["dup", "--json"]).run().status(0).out;
    let apply = ["dup", "apply", "-", "--action", "trash", "--reference", "keep", "--yes"];
    dir.ftk(apply).stdin(&report).run().status(0).stderr_has("trashed 1 file");
}

/// gio writes the same record, and trash-cli lists and restores both files.
#[test]
fn other_programs_read_and_write_the_same_trash() {
    let (gio, cli) = (has("gio"), has("trash-list"));
    let dir = tree();
    dir.file("away/other", b"theirs");
    prune(&dir, &["--yes"]).status(0);
    let record = |name: &str| fs::read_to_string(trash(&dir, "info").join(name)).unwrap();
    let name = ODD.strip_prefix("away/").unwrap();
    if gio {
        // The file has the same name and place.
        let ours = record(&format!("{name}.trashinfo"));
        dir.file(ODD, b"theirs");
        dir.ftk([""; 0]).instead(&dir, ["gio", "trash", ODD]).run().status(0);
        let records: Vec<_> =
            fs::read_dir(trash(&dir, "info")).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(records.len(), 2, "{records:?}");
        let theirs = records.iter().find(|path| !path.ends_with(format!("{name}.trashinfo"))).unwrap();
        let theirs = fs::read_to_string(theirs).unwrap();
        let path = |text: &str| text.lines().nth(1).unwrap().to_owned();
        assert_eq!(path(&theirs), path(&ours));
        fs::remove_dir_all(trash(&dir, "")).unwrap();
        dir.file(ODD, b"same content");
        prune(&dir, &["--yes"]).status(0);
    }
    if cli {
        let listed = dir.ftk([""; 0]).instead(&dir, ["trash-list"]).run();
        let expected = fs::canonicalize(dir.path("away")).unwrap().join(name);
        let has_line = String::from_utf8_lossy(&listed.out)
            .lines()
            .any(|line| line.ends_with(expected.to_str().unwrap()));
        listed.check(has_line, "trash-list shows it");
        let restore = "cd away && echo 0 | trash-restore";
        dir.ftk([""; 0]).instead(&dir, ["sh", "-c", restore]).run().status(0);
        assert_eq!(fs::read(dir.path(ODD)).unwrap(), b"same content");
        assert_eq!(fs::read_dir(trash(&dir, "info")).unwrap().count(), 0);
        dir.ftk(["undo", "--last"]).run().status(0);
    }
}
