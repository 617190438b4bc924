//! What a run says about its journal, and where its errors go.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::harness::{Dir, Run};

/// Returns the summary, which is the last object.
fn summary(run: &Run) -> Value {
    let last: Value = serde_json::from_str(run.text().lines().last().unwrap()).unwrap();
    last["summary"].clone()
}

fn pair() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/b", b"same");
    dir
}

#[test]
fn the_summary_in_json_names_the_journal() {
    let dir = pair();
    let prune = ["dup", "prune", "--action", "delete", "--keep", "first", "--json", "t"];
    let plan = summary(&dir.ftk(prune).run().status(0));
    assert!(plan.get("journal").is_none(), "{plan}");
    let run = summary(&dir.ftk(prune).args(["--yes", "--journal", "x"]).run().status(0));
    assert_eq!((&run["journal"], &run["files"]), (&"x".into(), &1.into()));
    let plan = summary(&dir.ftk(["undo", "--json", "--dry-run", "x"]).run().status(0));
    let (left, undone) = (&plan["left"], &plan["undone"]);
    assert_eq!((&plan["is_plan"], left, undone), (&true.into(), &1.into(), &1.into()), "{plan}");
    let run = dir.ftk(["undo", "--json", "x"]).run().status(0);
    let text = "{\"summary\":{\"is_plan\":false,\"undone\":1,\"incomplete\":0,\"failed\":0,\"left\":0,\"journal\":\"x\"}}\n";
    assert!(run.text().ends_with(text), "{}", run.text());
    // What another user or program has put there is not overwritten.
    dir.ftk(prune).args(["--yes", "--journal", "y"]).run().status(0);
    dir.file("t/b", b"new");
    let run = summary(&dir.ftk(["undo", "--json", "y"]).run().status(2));
    assert_eq!((&run["undone"], &run["failed"], &run["left"]), (&0.into(), &1.into(), &1.into()), "{run}");
    // A journal that cannot be read has no summary.
    dir.file("z", b"nonsense").ftk(["undo", "--json", "z"]).run().status(2).stdout("");
}

/// The message is there whatever happens to the output, and only once.
#[test]
fn errors_of_steps_are_on_standard_error() {
    let dir = pair();
    dir.file("log/.keep", b"");
    let mode =
        |path: &str, mode| fs::set_permissions(dir.path(path), fs::Permissions::from_mode(mode)).unwrap();
    mode("log", 0o777);
    let prune = ["dup", "prune", "--action", "delete", "--keep", "first", "--yes", "t"];
    let failed = "ftk: 't/b': cannot rename the file: permission denied\n";
    for (nth, args) in [&[][..], &["-q"], &["--json"], &["-q", "--json"]].into_iter().enumerate() {
        mode("t", 0o555);
        let command = dir.ftk(prune).args(args).args(["--journal", &format!("log/{nth}")]);
        let run = command.unprivileged(&dir).run().status(2);
        run.check(run.err.matches("permission denied").count() == 1, "it is said once");
        let is_json = args.contains(&"--json");
        run.check(run.text().matches("permission denied").count() == usize::from(is_json), "the object");
        run.stderr_has(failed);
        mode("t", 0o755);
    }
    // A plan says so as well, and what undo cannot do.
    mode("t/b", 0o600);
    let plan =
        dir.ftk(["dup", "prune", "--action", "hardlink", "--keep", "first", "-q", "t"]).run().status(2);
    plan.stderr("ftk: 't/b': refused: permissions differ (0600, the keeper has 0644)\n");
    // Undo obeys no journal in a directory that others can write to.
    mode("log", 0o755);
    dir.ftk(prune).args(["--journal", "log/last"]).run().status(0);
    dir.file("t/b", b"new");
    for args in [&["--dry-run"][..], &[]] {
        let run = dir.ftk(["undo", "-q", "log/last"]).args(args).run().status(2).stdout("");
        run.check(run.err.starts_with("ftk: 't/b': ") && run.err.lines().count() == 1, "one line");
    }
}

/// The user need not look for a journal that is not there.
#[test]
fn a_journal_without_steps_is_removed_and_that_is_said() {
    let dir = pair();
    let prune = ["dup", "prune", "--action", "delete", "--yes", "--journal", "x"];
    let removed = "  no step was begun: the journal is removed\n";
    let run = dir.ftk(prune).args(["--json", "t/a"]).run().status(0).stderr_has(removed);
    assert!(summary(&run).get("journal").is_none() && !dir.path("x").exists());
    dir.ftk(prune).args(["-q", "t/a"]).run().status(0).stderr("");
    // All steps are refused.
    fs::set_permissions(dir.path("t/b"), fs::Permissions::from_mode(0o600)).unwrap();
    let refused = ["dup", "prune", "--action", "hardlink", "--yes", "--journal", "x", "t"];
    dir.ftk(refused).run().status(2).stderr_has(removed).stderr_lacks("to undo this");
    assert!(!dir.path("x").exists());
    dir.ftk(prune).arg("t").run().status(0).stderr_lacks(removed).stderr_has("to undo this: ftk undo 'x'");
}

/// A trial: after a run that changed nothing, `undo --last` undid an older one in another place.
#[test]
fn the_last_run_is_undone_only_from_its_working_directory() {
    let dir = pair();
    dir.file("elsewhere/c", b"c");
    let prune = ["dup", "prune", "--action", "delete", "--yes"];
    dir.ftk(prune).args(["--keep", "first", "t"]).run().status(0);
    let there = |args: &[&str]| dir.ftk(args).under(&dir, ["env", "-C", "elsewhere"]).run();
    there(&[&prune[..], &["."]].concat()).status(0).stderr_has("nothing to do");
    let run = there(&["undo", "--last"]).status(2).stdout("");
    let place = dir.path("").canonicalize().unwrap();
    let place = place.to_str().unwrap().trim_end_matches('/');
    let run = run.stderr_has("ftk: the last run that is not undone was not here (20");
    let run =
        run.stderr_has(&format!("1 file deleted in '{place}'): nothing was undone; to undo it: ftk undo /"));
    assert!(!dir.path("t/b").exists());
    let looked = there(&["undo", "--last", "--dry-run"]).status(0);
    looked.stderr_has(&format!("  1 file deleted in '{place}'\n"));
    // What the message says works from there.
    let journal = run.err.trim_end().rsplit(' ').next().unwrap().to_owned();
    there(&["undo", &journal]).status(0);
    assert_eq!(fs::read(dir.path("t/b")).unwrap(), b"same");
}
