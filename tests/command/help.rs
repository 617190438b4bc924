//! Every help page, as a user sees it.

use insta::assert_snapshot;

use crate::harness::Dir;

fn page(args: &[&str]) -> String {
    let run = Dir::new().ftk(args).run().status(0).stderr("");
    run.text().to_owned()
}

#[test]
fn ftk() {
    assert_snapshot!("ftk-short", page(&["-h"]));
    assert_snapshot!("ftk-long", page(&["--help"]));
}

#[test]
fn find() {
    assert_snapshot!("find-short", page(&["find", "-h"]));
    assert_snapshot!("find-long", page(&["find", "--help"]));
}

#[test]
fn hash() {
    assert_snapshot!("hash-short", page(&["hash", "-h"]));
    assert_snapshot!("hash-long", page(&["hash", "--help"]));
}

#[test]
fn dup() {
    assert_snapshot!("dup-short", page(&["dup", "-h"]));
    assert_snapshot!("dup-long", page(&["dup", "--help"]));
    for command in ["prune", "apply", "undo"] {
        assert_snapshot!(format!("dup-{command}"), page(&["dup", command, "--help"]));
    }
}

#[test]
fn manifest() {
    assert_snapshot!("manifest", page(&["manifest", "--help"]));
    for command in ["create", "verify", "diff", "update", "unique"] {
        assert_snapshot!(format!("manifest-{command}"), page(&["manifest", command, "--help"]));
    }
}

#[test]
fn cmp() {
    assert_snapshot!("cmp-short", page(&["cmp", "-h"]));
    assert_snapshot!("cmp-long", page(&["cmp", "--help"]));
}

#[test]
fn calibrate() {
    assert_snapshot!("calibrate-short", page(&["calibrate", "-h"]));
    assert_snapshot!("calibrate-long", page(&["calibrate", "--help"]));
}

#[test]
fn completions() {
    assert_snapshot!("completions-short", page(&["completions", "-h"]));
    assert_snapshot!("completions-long", page(&["completions", "--help"]));
}

#[test]
fn man() {
    assert_snapshot!("man-short", page(&["man", "-h"]));
    assert_snapshot!("man-long", page(&["man", "--help"]));
}

#[test]
fn help() {
    assert_snapshot!("help-short", page(&["help", "-h"]));
    for (words, same) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "dup"], &["dup", "--help"]),
        (&["help", "dup", "prune"], &["dup", "prune", "--help"]),
        (&["help", "manifest", "create"], &["manifest", "create", "--help"]),
        (&["help", "help"], &["help", "--help"]),
    ] {
        assert_eq!(page(words), page(same));
    }
    let dir = Dir::new();
    for words in
        [&["help", "nonsense"][..], &["help", "dup", "nonsense"], &["help", "coming-from", "nonsense"]]
    {
        dir.ftk(words).run().status(2).stdout("").stderr_has("nonsense");
    }
}

/// Commands, examples and exit statuses fit on one screen.
#[test]
fn the_first_page_fits_one_screen() {
    let run = Dir::new().ftk(["--help"]).run();
    run.check(run.text().lines().count() <= 30, "30 lines");
    run.check(run.text().lines().all(|line| line.chars().count() <= 100), "100 columns");
}

#[test]
fn version() {
    assert_eq!(page(&["--version"]), format!("ftk {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(page(&["-V"]), page(&["--version"]));
}

#[test]
fn help_touches_no_argument() {
    let dir = Dir::new();
    dir.ftk(["hash", "--help", "missing"]).run().status(0).stderr("");
    dir.ftk(["hash", "-o", "made", "--help"]).run().status(0);
    assert!(!dir.path("made").exists());
}
