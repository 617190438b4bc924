//! What the user protects stays, however it is spelled, and a rule that protects nothing stops the run.

use std::fs;

use crate::harness::{Dir, Ftk, Mounted};

/// Creates a copy in `p/inbox` and an older one that ftk would keep, and in `p/keep` the one to protect.
fn copies() -> Dir {
    let dir = Dir::new();
    dir.file("p/inbox/a", b"the same").file("p/keep/longer name", b"the same");
    dir
}

const DELETE: [&str; 4] = ["dup", "prune", "--action", "delete"];

/// Runs in a directory below.
fn inside(ftk: Ftk, dir: &Dir, below: &str) -> Ftk {
    ftk.under(dir, ["sh", "-c", &format!("cd {below} && exec \"$@\""), "sh"])
}

fn is_there(dir: &Dir, path: &str) -> bool {
    dir.path(path).exists()
}

#[test]
fn a_path_to_keep_is_found_however_it_is_spelled() {
    let there = copies().path("p/keep").to_str().unwrap().to_owned();
    for (below, args) in [
        (".", &["--keep", "path=p/keep/*", "p"][..]),
        (".", &["--keep", "path=./p/keep/*", "p"]),
        (".", &["--keep", "path=p/keep/*", "./p/"]),
        (".", &["--keep", "path=keep/*", "p"]),
        ("p", &["--keep", "path=keep/*", "."]),
        ("p", &["--keep", "path=./keep/*", "."]),
        ("p", &["--keep", "path=keep//longer name", "inbox", "keep"]),
    ] {
        let dir = copies();
        inside(dir.ftk(DELETE).args(["--yes"]).args(args), &dir, below).run().status(0);
        assert!(is_there(&dir, "p/keep/longer name") && !is_there(&dir, "p/inbox/a"), "{args:?} in {below}");
    }
    let dir = copies();
    let absolute = format!("path={}/*", dir.path("p/keep").display());
    dir.ftk(DELETE).args(["--yes", "--keep", &absolute, "p"]).run().status(0);
    assert!(is_there(&dir, "p/keep/longer name") && !is_there(&dir, "p/inbox/a"), "{absolute}");
    // A path that is not there.
    let absolute = format!("path={there}/*");
    let dir = copies();
    let run = dir.ftk(DELETE).args(["--yes", "--keep", &absolute, "p"]).run().status(2);
    run.stderr_has("matched nothing, so nothing was changed");
    assert!(is_there(&dir, "p/keep/longer name") && is_there(&dir, "p/inbox/a"));
}

/// A glob that matches the path of the starting point up to some name means what follows.
#[test]
fn a_glob_in_the_path_of_the_starting_point_protects_what_is_below_it() {
    for (exclude, paths) in [
        ("p/*/keep", &["p/inner"][..]),
        ("./p//inn?r/keep/", &["./p/inner/."]),
        ("@/p/*/keep", &["p/inner"]),
        ("@/p/*/keep", &["p/inner", "p/other"]),
        ("@/*/inner/keep", &["@/p/inner"]),
        ("{@/p,elsewhere}/*/keep", &["p/inner"]),
    ] {
        let dir = Dir::new();
        dir.file("p/inner/a", b"the same").file("p/inner/keep/longer name", b"the same").dir("p/other");
        let absolute = |text: &&str| text.replace('@', dir.path("").to_str().unwrap().trim_end_matches('/'));
        let run = dir.ftk(DELETE).args(["--yes", "-E", &absolute(&exclude)]).args(paths.iter().map(absolute));
        run.run().status(0).stderr_lacks("matched nothing");
        assert!(
            is_there(&dir, "p/inner/keep/longer name") && is_there(&dir, "p/inner/a"),
            "{exclude} {paths:?}"
        );
    }
}

#[test]
fn a_unit_is_recognised_however_it_is_spelled() {
    let tree = || {
        let dir = Dir::new();
        dir.file("p/Apps/A.app/in/longer name", b"the same").file("p/inbox/a", b"the same");
        dir
    };
    let in_unit = "p/Apps/A.app/in/longer name";
    for (below, unit, paths) in [
        (".", "*.app", &["p"][..]),
        (".", "A.app/", &["p"]),
        (".", "Apps/*.app", &["p"]),
        (".", "./Apps/A.app", &["p"]),
        (".", "p/Apps", &["p"]),
        (".", "p/Apps/A.app/.", &["./p"]),
        ("p", "./Apps", &["."]),
        // The unit is above the starting points, or one itself.
        (".", "*.app", &["p/inbox", "p/Apps/A.app/in"]),
        (".", "A.app", &["p/inbox", "p/Apps/A.app/in/longer name"]),
        (".", "Apps/*.app", &["p/inbox", "p/Apps/A.app/in"]),
        (".", "p/Apps", &["p/inbox", "p/Apps/A.app/in"]),
        (".", "*.app", &["p/inbox", "p/Apps/A.app"]),
        ("p/Apps/A.app", "*.app", &[".", "../../inbox"]),
        ("p/Apps/A.app/in", "*.app", &[".", "../../../inbox"]),
    ] {
        let dir = tree();
        let ftk = dir.ftk(DELETE).args(["--yes", "--keep", "path=*inbox*", "--unit", unit]).args(paths);
        inside(ftk, &dir, below).run().status(0);
        assert!(is_there(&dir, in_unit), "{unit} of {paths:?} in {below}");
        // The file in the unit is a copy, so the other one may go.
        let dir = tree();
        let ftk = dir.ftk(DELETE).args(["--yes", "--unit", unit]).args(paths);
        inside(ftk, &dir, below).run().status(0);
        assert!(is_there(&dir, in_unit) && !is_there(&dir, "p/inbox/a"), "{unit} of {paths:?} in {below}");
    }
}

/// Rules that were to protect something and do not.
fn unused(dir: &Dir) -> Vec<Vec<&'static str>> {
    dir.dir("empty").file("list", b"p/inbox/a\np/keep/longer name\n");
    vec![
        vec!["--unit", "nothing", "p"],
        vec!["--unit", "p/nothing", "p"],
        vec!["--keep", "path=p/nothing/*", "p"],
        vec!["--keep", "oldest", "--keep", "path=nothing", "p"],
        vec!["--reference", "empty", "p"],
        vec!["--keep-one-per", "empty", "p"],
        vec!["--isolate", "--files-from", "list"],
        vec!["-E", "nothing", "p"],
        vec!["--exclude-where", "path = \"p/nothing\"", "p"],
    ]
}

#[test]
fn a_rule_that_protects_nothing_stops_the_run() {
    let n = unused(&copies()).len();
    for nth in 0..n {
        let dir = copies();
        let args = &unused(&dir)[nth];
        // A plan names the rule, and changes nothing anyway.
        dir.ftk(DELETE).args(args).run().status(0).stderr_has("matched nothing");
        dir.ftk(DELETE).args(args).arg("-q").run().status(0).stderr_lacks("matched nothing");
        let json = dir.ftk(DELETE).args(args).arg("--json").run().status(0);
        json.check(json.text().contains("\"unused_rules\":[{\"rule\":\"--"), "the summary has it");
        let run = dir.ftk(DELETE).args(args).arg("--yes").run().status(2).stdout("");
        run.stderr_has("matched nothing, so nothing was changed (--allow-unused-rules permits it)");
        let script = dir.ftk(DELETE).args(args).arg("--script").run().status(2).stdout("");
        script.check(
            is_there(&dir, "p/inbox/a") && is_there(&dir, "p/keep/longer name"),
            "nothing was changed",
        );
        let allowed = dir.ftk(DELETE).args(args).args(["--yes", "--allow-unused-rules"]).run().status(0);
        let left = ["p/inbox/a", "p/keep/longer name"].iter().filter(|path| is_there(&dir, path)).count();
        allowed.check(left == 1, &format!("{args:?}: {left} files are left"));
    }
}

#[test]
fn a_rule_that_matches_is_no_reason_to_stop() {
    for args in [
        &["--unit", "keep", "p"][..],
        &["--keep", "newest", "--keep", "path=p/keep/*", "p"],
        &["--reference", "p/keep", "p"],
        &["--keep-one-per", "p/inbox", "--keep-one-per", "p", "p"],
        &["--isolate", "p/inbox", "p/keep"],
        // A reference without copies.
        &["--reference", "other", "p"],
        // Without copies, there is nothing that a path could match.
        &["--keep", "path=nothing", "p/inbox"],
    ] {
        let dir = copies();
        dir.file("other/b", b"something else");
        let run = dir.ftk(DELETE).args(args).arg("--yes").run().status(0);
        run.stderr_lacks("matched nothing");
    }
}

/// Rules are checked when a report is made, and again when it is applied.
#[test]
fn a_report_with_an_unused_rule_is_not_applied() {
    let dir = copies();
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "-E", "nothing", "--unit", "no\u{202e}thing", "p", "-o"])
        .arg(&report)
        .run()
        .status(0);
    let apply = || dir.ftk(["dup", "apply", "--action", "delete"]).arg(&report);
    apply().run().status(0).stderr_has(
        "the report was made with --exclude=nothing --unit=no\\u{202e}thing, which matched nothing",
    );
    for how in ["--yes", "--script"] {
        let run = apply().arg(how).run().status(2).stdout("");
        run.stderr_has("which matched nothing, so nothing was changed (--allow-unused-rules permits it)");
    }
    assert!(is_there(&dir, "p/inbox/a") && is_there(&dir, "p/keep/longer name"));
    apply().args(["--yes", "--allow-unused-rules"]).run().status(0);
    assert!(is_there(&dir, "p/inbox/a") != is_there(&dir, "p/keep/longer name"));

    let dir = copies();
    dir.dir("empty").file("other/x", b"something else");
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "p", "-o"]).arg(&report).run().status(0);
    for args in [
        &["--reference", "empty"][..],
        &["--reference", "other"],
        &["--keep-one-per", "empty"],
        &["--keep", "path=nothing"],
    ] {
        let apply = || dir.ftk(["dup", "apply", "--action", "delete"]).arg(&report).args(args);
        apply().run().status(0).stderr_has("matched nothing");
        for how in ["--yes", "--script"] {
            apply().arg(how).run().status(2).stdout("").stderr_has("matched nothing, so nothing was changed");
        }
    }
    assert!(is_there(&dir, "p/inbox/a") && is_there(&dir, "p/keep/longer name"));
    let list = dir.aside("list");
    fs::write(&list, "p/inbox/a\np/keep/longer name\n").unwrap();
    dir.ftk(["dup", "--json", "--files-from"]).arg(&list).arg("-o").arg(&report).run().status(0);
    let run = dir.ftk(["dup", "apply", "--action", "delete", "--isolate", "--yes"]).arg(&report).run();
    run.status(2).stderr_has("--isolate matched nothing");
}

/// What a report shows of a unit is a copy of other files, and stays when the report is applied.
#[test]
fn a_unit_stays_when_a_report_is_applied() {
    for (paths, is_dirs) in [
        (&["p"][..], false),
        (&["p"], true),
        (&["p/inbox", "p/A.app/in"], false),
        (&["p/inbox", "p/A.app/in"], true),
        (&["p/inbox/a", "p/A.app/in/longer name"], false),
    ] {
        let dir = Dir::new();
        dir.file("p/A.app/in/longer name", b"the same").file("p/inbox/a", b"the same");
        dir.file("p/A.app/in/sub/x", b"more").file("p/inbox/sub/x", b"more");
        let report = dir.aside("report");
        let args = ["dup", "--json", "--unit", "*.app"];
        let more = if is_dirs { &["--dirs"][..] } else { &[] };
        dir.ftk(args).args(more).args(paths).arg("-o").arg(&report).run().status(0);
        for keep in [&["--keep", "path=*inbox*"][..], &[]] {
            let args = ["dup", "apply", "--action", "delete", "--yes"];
            dir.ftk(args).args(keep).arg(&report).run();
            let unit = ["p/A.app/in/longer name", "p/A.app/in/sub/x"];
            assert!(unit.iter().all(|path| is_there(&dir, path)), "{paths:?} {is_dirs}");
        }
        assert!(!is_there(&dir, "p/inbox/a"), "{paths:?} {is_dirs}");
    }
    let dir = copies();
    dir.ftk(["manifest", "create", "p", "-o", "m"]).run().status(0);
    dir.ftk(["dup", "--manifests", "m", "--unit", "*.app"]).run().status(2);
}

/// A directory is the same one under every path.
#[test]
fn h89_references_are_recognised_by_identity() {
    let dir = copies();
    dir.dir("bind").file("p/keep/inner/longer name too", b"the same").dir("part");
    let keep = dir.path("p/keep");
    let inner = dir.path("p/keep/inner");
    let mount =
        |at: &str, from: &std::path::Path| Mounted::at(&dir.path(at), ["--bind".as_ref(), from.as_os_str()]);
    let Some(_bound) = mount("bind", &keep) else { return };
    let Some(_part) = mount("part", &inner) else { return };
    let kept = || is_there(&dir, "p/keep/longer name") && is_there(&dir, "p/keep/inner/longer name too");
    let report = dir.aside("report");
    // The report names files below the directory, the reference its mount, and the other way round.
    for (scanned, reference) in [
        (&["p"][..], "bind"),
        (&["p/inbox", "bind"], "p/keep"),
        (&["p/inbox", "part"], "p/keep"),
        (&["p/inbox", "part"], "bind"),
        (&["p/inbox", "p/keep/inner"], "part"),
    ] {
        dir.file("p/inbox/a", b"the same");
        dir.ftk(["dup", "--json", "-o"]).arg(&report).args(scanned).run().status(0);
        let args = ["dup", "apply", "--action", "delete", "--yes", "--reference", reference];
        dir.ftk(args).arg(&report).run().status(0).stderr_lacks("matched nothing");
        assert!(kept() && !is_there(&dir, "p/inbox/a"), "{scanned:?} {reference}");
        dir.file("p/inbox/a", b"the same");
        dir.ftk(DELETE).args(["--yes", "--reference", reference]).args(scanned).run().status(0);
        assert!(kept() && !is_there(&dir, "p/inbox/a"), "{scanned:?} {reference}");
    }
    // One copy stays below each directory, whatever path leads there.
    dir.file("p/inbox/a", b"the same").file("p/z/a copy with a long name", b"the same");
    let args = ["--yes", "--keep-one-per", "bind", "--keep-one-per", "p/z", "p"];
    dir.ftk(DELETE).args(args).run().status(0);
    assert!(is_there(&dir, "p/z/a copy with a long name") && is_there(&dir, "p/keep/longer name"));
}
