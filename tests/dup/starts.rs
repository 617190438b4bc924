//! What `ftk dup prune` acts on: only PATHs that were named and that exist; and what it lists for other programs.

use std::fs;

use crate::harness::{Dir, Run, records};

/// Two directories with the same three files, and a third one.
fn copies() -> Dir {
    let dir = Dir::new();
    for name in ["1", "2", "3"] {
        dir.file(format!("nas/{name}"), name.as_bytes()).file(format!("card/{name}"), name.as_bytes());
    }
    dir.dir("other");
    dir
}

fn prune(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["dup", "prune", "--action", "delete"]).args(args).run()
}

fn files(dir: &Dir) -> usize {
    ["nas", "card"].iter().map(|it| fs::read_dir(dir.path(it)).unwrap().count()).sum()
}

/// A trial: names in a pipe were ignored, and the copies in the working directory went.
#[test]
fn a_command_that_acts_needs_its_path() {
    let dir = copies();
    for how in [&["--yes"][..], &[], &["--script"], &["--list"], &["--reference", "nas", "--yes"]] {
        let names = ["dup", "prune", "--action", "delete"];
        let run = dir.ftk(names).args(how).stdin(b"card/1\0").run().status(2).stdout("");
        run.stderr_has(
            "missing: a PATH: `.` is the working directory; `--files0-from -` reads names from the pipe",
        );
        let run = dir.ftk(names).args(how).run().status(2).stdout("");
        run.stderr_has("missing: a PATH: `.` is the working directory; see `ftk dup prune -h`\n");
    }
    assert_eq!(files(&dir), 6);
    let listed = ["dup", "prune", "--action", "delete", "--yes", "--keep", "first", "--files0-from", "-"];
    dir.ftk(listed).stdin(b"nas/1\0card/1\0").run().status(0).stderr_has("  deleted 1 file");
    assert!(files(&dir) == 5 && !dir.path("card/1").exists());
    // An empty list names nothing, so nothing is done.
    dir.ftk(listed).stdin(b"").run().status(0).stderr_has("  nothing to do\n");
    assert_eq!(files(&dir), 5);
}

/// A trial: a mistyped PATH was an error, and 32 files went.
#[test]
fn a_starting_point_that_cannot_be_searched_stops_a_run_that_acts() {
    let dir = copies();
    let state = || fs::read_dir(dir.aside("state/ftk")).map_or(0, Iterator::count);
    for args in [
        &["--reference", "nas", "card", "missing"][..],
        &["missing/", "nas", "card"],
        &["nas", "card", "nas/missing"],
        &["--dirs", "nas", "missing", "card"],
        &["nas", "card", "--files-from", "list"],
    ] {
        fs::write(dir.path("list"), "missing\n").unwrap();
        for how in ["--yes", "--script"] {
            let run = prune(&dir, args);
            run.status(2).stderr_has("missing");
            let before = state();
            let run = prune(&dir, &[args, &[how]].concat()).status(2).stdout("");
            run.stderr_has("could not be searched, so nothing was changed\n");
            assert_eq!((files(&dir), state()), (6, before), "{args:?} {how}");
        }
    }
    prune(&dir, &["--reference", "missing", "card", "--yes"]).status(2).stderr_has("the reference 'missing'");
    // Below a starting point, the run goes on without what it cannot list.
    dir.file("card/sub/4", b"4").lock("card/sub");
    let run =
        dir.ftk(["dup", "prune", "--action", "delete", "--list", "nas", "card"]).unprivileged(&dir).run();
    run.status(2).stderr_has("; 1 directory not compared (listed above; status 2)\n");
}

/// The hint about PATHs that are treated alike is not printed together with a rule about places.
#[test]
fn rules_about_places_are_known() {
    let dir = copies();
    let alike = "are treated alike";
    prune(&dir, &["nas", "card"]).status(0).stderr_has(alike);
    prune(&dir, &["nas", "card", "--keep", "oldest"]).status(0).stderr_has(alike);
    for rule in
        [["--keep", "path=nas/*"], ["--keep", "argument"], ["--keep-one-per", "nas"], ["--reference", "nas"]]
    {
        prune(&dir, &[&["nas", "card"][..], &rule].concat()).status(0).stderr_lacks(alike);
    }
}

/// `--list` prints the paths of the plan with the same options, whatever the action.
#[test]
fn the_list_has_the_paths_of_the_plan() {
    let dir = copies();
    dir.file("card/odd\n", b"odd").file("nas/x", b"odd").file("card/only", b"only");
    for rules in [
        &["nas", "card"][..],
        &["card", "nas", "--keep", "first"],
        &["--reference", "nas", "card", "--remove-empty-dirs"],
        &["--dirs", "--min-copies", "2", "nas", "card"],
        &["--keep", "path=card/*", "nas", "card"],
    ] {
        let plan = prune(&dir, &[rules, &["--json"]].concat()).status(0);
        let plan: Vec<serde_json::Value> =
            plan.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let goes = |it: &&serde_json::Value| ["delete", "remove"].iter().any(|word| it["action"] == *word);
        let planned: Vec<_> =
            plan.iter().filter(goes).map(|it| it["path"].as_str().unwrap().as_bytes().to_vec()).collect();
        let run = prune(&dir, &[rules, &["--list", "-0"]].concat()).status(0);
        assert_eq!(records(&run.out, 0), planned, "{rules:?}");
        let run = prune(&dir, &[rules, &["--list"]].concat()).status(0);
        let lines: Vec<u8> = planned.iter().flat_map(|path| [&path[..], b"\n"].concat()).collect();
        assert_eq!(run.out, lines);
    }
    // A program may remove what is listed.
    for typo in [&["-E", "photso"][..], &["--keep", "path=zzz*"], &["missing"]] {
        prune(&dir, &[&["nas", "card", "--list"], typo].concat()).status(2).stdout("");
    }
    prune(&dir, &["nas", "card", "--list", "--yes"]).status(2).stderr_has("--yes");
    prune(&dir, &["nas", "card", "-0"]).status(2).stderr_has("--list");
    assert_eq!(files(&dir), 9);
}
