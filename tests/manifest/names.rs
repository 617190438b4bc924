//! Names that differ only in their Unicode normal form, as after a copy to HFS+.

use std::fs;

use serde_json::json;

use super::records::{create, json as objects, verify};
use crate::harness::Dir;

/// The name and something else differ: that something is the verdict, also with the option.
#[test]
fn other_metadata_of_a_respelled_name_is_no_respelling_alone() {
    let dir = Dir::new();
    dir.file(NFC, &[7; 200]);
    create(&dir, &[]);
    fs::rename(dir.path(NFC), dir.path(NFD)).unwrap();
    crate::harness::set_mode(&dir.path(NFD), 0o600);
    let args = ["--ignore", "mtime"];
    let run = verify(&dir, &args).status(1);
    run.check(run.text().contains(&format!("metadata\t{NFC}\tname NFC → NFD, mode ")), "other metadata");
    let run = verify(&dir, &[&args[..], &["--normalize-names"]].concat()).status(1);
    run.check(run.text().contains(&format!("metadata\t{NFC}\tmode ")), "still other metadata");
}

const NFC: &str = "caf\u{e9}";
const NFD: &str = "cafe\u{301}";

/// Records a tree, gives its names another normal form, and changes a file below them.
fn respelled() -> Dir {
    let dir = Dir::new();
    dir.file("ascii", b"ascii").file(format!("{NFC}/x"), b"x").file(format!("{NFC}/{NFC}"), b"");
    dir.file(format!("{NFC}/gone"), b"").file(format!("{NFC}/edited"), b"before");
    fs::rename(create(&dir, &[]), dir.aside("old")).unwrap();
    fs::rename(dir.path(NFC), dir.path(NFD)).unwrap();
    fs::rename(dir.path(format!("{NFD}/{NFC}")), dir.path(format!("{NFD}/{NFD}"))).unwrap();
    fs::remove_file(dir.path(format!("{NFD}/gone"))).unwrap();
    dir.file(format!("{NFD}/edited"), b"after!!").file(format!("{NFD}/new"), b"");
    fs::rename(create(&dir, &[]), dir.aside("new")).unwrap();
    fs::copy(dir.aside("old"), dir.aside("manifest")).unwrap();
    dir
}

#[test]
fn names_in_another_normal_form_are_reported_as_such() {
    let dir = respelled();
    let commands = [("verify", ["missing", "new"]), ("diff", ["removed", "added"])];
    for (command, [missing, new]) in commands {
        let run = |args: &[&str]| match command {
            "verify" => verify(&dir, args),
            _ => dir.ftk(["manifest", "diff"]).args([dir.aside("old"), dir.aside("new")]).args(args).run(),
        };
        let size = if command == "diff" { "\tsize 0" } else { "" };
        let below = [
            format!("modified\t{NFC}/edited\tsize 6 \u{2192} 7"),
            format!("{missing}\t{NFC}/gone{size}"),
            // It is only in the tree, so its path is that of the tree.
            format!("{new}\t{NFD}/new{size}"),
        ];
        let first = |run: &crate::harness::Run| -> Vec<String> {
            run.text().lines().map(|line| line.split(", mtime").next().unwrap().to_owned()).collect()
        };
        let names = [
            format!("respelled\t{NFC}\tname NFC \u{2192} NFD"),
            format!("respelled\t{NFC}/{NFC}\tname NFC \u{2192} NFD"),
        ];
        let found = run(&[]).status(1);
        assert_eq!(first(&found), [&names[..], &below].concat(), "{command}");
        found
            .stderr_has("1 modified, 2 respelled, 1 ")
            .stderr_has("  2 names differ only in the Unicode normal form: --normalize-names accepts this\n");
        let found = run(&["--normalize-names"]).status(1);
        assert_eq!(first(&found), below, "{command}");
        let found = objects(&run(&["--json"]));
        let member = if command == "verify" { "verdict" } else { "change" };
        let expected = json!({
            member: "respelled", "path": NFC, "new_path": NFD, "old_form": "NFC", "new_form": "NFD",
        });
        assert_eq!(found[0], expected);
        let edited = (&found[2]["path"], &found[2]["new_path"]);
        assert_eq!(edited, (&format!("{NFC}/edited").into(), &format!("{NFD}/edited").into()));
    }
}

/// Nothing but the names differs, in either direction.
#[test]
fn a_copy_with_other_normal_forms_verifies() {
    let dir = Dir::new();
    for path in [format!("{NFC}/{NFD}/x"), format!("{NFC}/b"), "\u{212a}".into(), "z".into()] {
        dir.file(path, b"");
    }
    dir.symlink("x", &format!("{NFC}/li\u{e9}n"));
    create(&dir, &["--type", "f", "--type", "l"]);
    fs::rename(dir.path(NFC), dir.path(NFD)).unwrap();
    fs::rename(dir.path(format!("{NFD}/{NFD}")), dir.path(format!("{NFD}/{NFC}"))).unwrap();
    fs::rename(dir.path(format!("{NFD}/li\u{e9}n")), dir.path(format!("{NFD}/lie\u{301}n"))).unwrap();
    fs::rename(dir.path("\u{212a}"), dir.path("K")).unwrap();
    let run = verify(&dir, &["--normalize-names"]).status(0).stdout("");
    run.stderr_has("  5 of 5 as recorded\n");
    // Directories are not recorded here, so what is below them is reported.
    let run = verify(&dir, &[]).status(1);
    run.stderr_has("  1 of 5 as recorded; 4 respelled   (status 1)\n");
}

/// A directory that cannot be listed is unreadable under its recorded name.
#[test]
fn a_directory_with_another_name_that_cannot_be_listed_is_not_missing() {
    let dir = Dir::new();
    dir.file(format!("{NFC}/x"), b"x").file("z", b"z");
    create(&dir, &[]);
    fs::rename(dir.path(NFC), dir.path(NFD)).unwrap();
    dir.lock(NFD);
    for option in ["--normalize-names", "--mode=strict"] {
        let run = dir.ftk(["manifest", "verify", option, "."]).arg(dir.aside("manifest"));
        let run = run.unprivileged(&dir).run().status(2);
        run.check(run.text().contains(&format!("unreadable\t{NFC}/x")), "its state is not known");
    }
}
