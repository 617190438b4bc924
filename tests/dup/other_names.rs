//! Two names of one directory or file are one thing for `-E` and `--exclude-where`.

use std::fs;
use std::process::Command;

use crate::harness::{Dir, Ftk, skip};

/// Creates `p/a/keep/x` and an older copy `p/o/y`. ftk would remove the first one.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("p/a/keep/x", b"the same")
        .file("p/o/y", b"the same")
        .dir("q/m")
        .file("q/other", b"of another size");
    let old = fs::File::options().write(true).open(dir.path("p/o/y")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    dir
}

fn can_mount() -> bool {
    let bound = Command::new("unshare").args(["-m", "mount", "--bind", "/tmp", "/tmp"]).output();
    let can_mount = bound.is_ok_and(|output| output.status.success());
    if !can_mount {
        skip("no mounts are possible here");
    }
    can_mount
}

/// Runs after `setup`, in a mount namespace of its own.
fn after(setup: &str, dir: &Dir, ftk: Ftk) -> Ftk {
    ftk.under(dir, ["unshare", "-m", "sh", "-c", &format!("{setup} && exec \"$@\""), "sh"])
}

const DELETE: [&str; 4] = ["dup", "prune", "--action", "delete"];

/// The forms of `dup`.
const FORMS: [&[&str]; 8] = [
    &["dup", "prune", "--action", "delete", "--allow-unused-rules", "--yes"],
    &["dup", "--json", "-o", "report"],
    &["dup", "prune", "--action", "hardlink", "--yes"],
    &["dup", "prune", "--action", "delete"],
    &["dup", "prune", "--action", "delete", "--script"],
    &["dup"],
    &["dup", "--json"],
    &["dup", "--dirs"],
];

/// Checks that these forms of `dup` stop, name one of the names that are skipped, and change nothing.
fn stops(forms: &[&[&str]], setup: &str, args: &[&str], names: &[&str]) {
    for form in forms {
        let dir = tree();
        let run = after(setup, &dir, dir.ftk(*form).args(args)).run().status(2).stdout("");
        for name in names {
            run.check(run.err.contains(name), name);
        }
        assert!(dir.path("p/a/keep/x").exists() && dir.path("p/o/y").exists(), "{setup} {args:?}");
        assert!(!dir.path("report").exists(), "{setup} {args:?}");
    }
}

#[test]
fn what_is_skipped_under_one_mount_is_not_removed_under_another() {
    if !can_mount() {
        return;
    }
    for (mount, skipped, other) in [
        // The directory, one above it, and one below it.
        ("mount --bind p/a/keep q/m", "p/a/keep", "q/m"),
        ("mount --bind p/a q/m", "p/a/keep", "q/m"),
        ("mount --bind p/a/keep q/m", "p/a", "q/m"),
        ("mount --bind p/a/keep q/m", "q/m", "p/a/keep"),
        ("mount --bind p/a q/m", "q", "p/a/keep"),
        // A file.
        ("mount --bind p/a/keep q/m", "p/a/keep/x", "q/m/x"),
        ("mount --bind p/a q/m", "q/m/keep/x", "p/a/keep/x"),
        ("ln p/a/keep/x p/hard && mount --bind p/a q/m", "q/m/keep/x", "p/a/keep/x"),
        ("mount --bind p/a/keep/x q/other", "q/other", "p/a/keep/x"),
        ("mount --bind p/a/keep/x q/other", "q", "p/a/keep/x"),
        ("mount --bind p/a/keep/x q/other", "p/a/keep/x", "q/other"),
        ("mount --bind p/a/keep/x q/other", "p/a", "q/other"),
    ] {
        // A starting point is never skipped.
        let (starts, in_order) = if skipped == "q" { (&["."][..], 1) } else { (&["p", "q"][..], 2) };
        for nth in 0..in_order {
            let mut starts = starts.to_vec();
            starts.rotate_left(nth);
            let forms = if skipped == "q/m" { &FORMS[..] } else { &FORMS[..1] };
            stops(forms, mount, &[&["-E", skipped][..], &starts].concat(), &[other, "which --exclude skips"]);
        }
    }
    let expression = format!("path = \"{}\"", "p/a/keep");
    stops(
        &FORMS[..2],
        "mount --bind p/a/keep q/m",
        &["--exclude-where", &expression, "p", "q"],
        &["q/m/x", "--exclude-where"],
    );
}

#[test]
fn what_lists_and_tags_skip_is_not_removed_under_another_name() {
    for (setup, args, option) in [
        ("echo /a/keep > list && ln -s ../p/a/keep q/l", ["-L", "--exclude-from", "list"], "--exclude-from"),
        (
            "touch p/a/tag && ln -s ../p/a/keep q/l",
            ["-L", "--exclude-if-present", "tag"],
            "--exclude-if-present",
        ),
    ] {
        stops(&FORMS[..2], setup, &[&args[..], &["p", "q"]].concat(), &["q/l/x", option]);
    }
    // The directory is entered as b/l, where the pattern does not match.
    let setup = "mkdir b && ln -s ../p/a b/l && echo /a/keep > list";
    stops(&FORMS[..1], setup, &["-L", "--exclude-from", "list", "b", "p"], &["--exclude-from"]);
}

/// A directory is entered under one of its paths. A rule may be about the other one.
#[test]
fn rules_for_paths_that_are_not_entered_count() {
    let also_used = ["-E", "other"];
    for (setup, args) in [
        // The starting point is shown at q/m, and entered as `p`.
        ("mount --bind p q/m", &["-E", "q/*/a/keep", "p", "q"][..]),
        ("mount --bind p q/m", &["-E", "q/*/a/keep", "q", "p"]),
        ("mount --bind p q/m", &["--exclude-where", "path = \"q/*/a/keep\"", "q", "p"]),
        // Given twice.
        ("mount --bind p q/m", &["-E", "q/*/a/keep", "p", "q/m"]),
        // The first path to a directory is entered.
        ("mkdir b && ln -s ../p/a b/l", &["-L", "-E", "p/*/keep", "b", "p"]),
        ("mkdir b && ln -s ../p/a b/l", &["-L", "-E", "p/*/keep", "p", "b"]),
        ("mkdir b && ln -s ../p/a b/l", &["-L", "-E", "p/a/keep/?", "p", "b"]),
        ("mkdir b && ln -s ../p/a b/l", &["-L", "--exclude-where", "path = \"p/a/ke*\"", "p", "b"]),
        // Not entered for other reasons.
        ("mkdir p/.h && mount --bind p/a p/.h", &["--no-hidden", "-E", "p/.h/keep", "p"]),
        ("mkdir -p p/d/e/f && mount --bind p/a/keep p/d/e/f", &["--max-depth", "3", "-E", "p/d/e/f/x", "p"]),
    ] {
        if setup.contains("mount") && !can_mount() {
            return;
        }
        stops(&FORMS[..1], setup, &[&also_used[..], args].concat(), &["keep/x", "skip both names"]);
    }
}

#[test]
fn what_a_link_leads_to_is_skipped_under_its_other_name_too() {
    for (setup, args) in [
        ("ln -s ../p/a/keep q/l", &["-L", "-E", "q/l"][..]),
        ("ln -s ../p/a q/l", &["-L", "-E", "l"]),
        ("ln -s ../p/a/keep q/l", &["-L", "-E", "p/a/keep"]),
        (
            "mkdir p/a/keep/in && mv p/a/keep/x p/a/keep/in && ln p/a/keep/in/x p/a/keep/x && ln -s ../p/a/keep/in q/l",
            &["-L", "-E", "p/a/keep"],
        ),
        ("ln -s ../p/a/keep/x q/l", &["-L", "-E", "q/l"]),
        // A starting point that is a link.
        ("ln -s p/a/keep l", &["-E", "p/a", "l"]),
    ] {
        for starts in [["p", "q"], ["q", "p"]] {
            stops(&FORMS[..2], setup, &[args, &starts].concat(), &["skip both names"]);
        }
    }
}

#[test]
fn rules_that_skip_all_names_are_no_reason_to_stop() {
    let goes_on = |setup: &str, args: &[&str]| {
        let dir = tree();
        let run = after(setup, &dir, dir.ftk(DELETE).arg("--yes").args(args)).run().status(0);
        run.check(
            !dir.path("p/a/keep/x").exists() && dir.path("p/o/y").exists(),
            "the newer copy is removed",
        );
    };
    goes_on("touch q/m/z.tmp && mkdir b && ln -s ../q/m b/l", &["-L", "-E", "*.tmp", "b", "p"]);
    goes_on("mkdir b && ln -s ../q/m b/l && touch q/m/z.tmp", &["-L", "-E", "*/z.tmp", "b", "q", "p"]);
    // A link to a file is not removed, so it does not matter.
    goes_on("echo tmp >q/z.tmp && ln -s z.tmp q/l", &["-L", "-E", "z.tmp", "p", "q"]);
    if !can_mount() {
        return;
    }
    goes_on("touch p/a/z.tmp && mount --bind p/a q/m", &["-E", "*.tmp", "p"]);
    goes_on("mkdir p/z && touch p/z/y && mount --bind p/z q/m", &["-E", "p/z", "-E", "q/m", "p", "q"]);
    goes_on("mkdir p/z && touch p/z/y.tmp && mount --bind p/z q/m", &["-E", "*.tmp", "p", "q"]);
    goes_on("mkdir p/z && touch p/z/y && mount --bind p/z q/m", &["-E", "z", "-E", "m", "p", "q"]);
    // Another name of a file that stays is no loss.
    goes_on("echo hard >p/z && ln p/z q/z.tmp && mount --bind p/o q/m", &["-E", "*.tmp", "p", "q"]);
    // What is mounted elsewhere is not below the starting points.
    goes_on("mkdir p/z && touch p/z/y && mount --bind p/z q/m", &["-E", "p/z", "p"]);
    // A glob that matches nothing below the other name.
    goes_on(
        "mkdir -p r/d && mount --bind p/a r/d",
        &["--allow-unused-rules", "-E", "r/*/none", "p/a", "r", "p/o"],
    );
    // A starting point in a directory that is skipped is wanted.
    goes_on("mkdir p/z && mount --bind p/z q/m", &["-E", "a", "p", "p/a/keep", "q"]);
}
