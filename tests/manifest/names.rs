//! Names that differ only in their Unicode normal form, as after a copy to HFS+.

use std::fs;

use serde_json::json;

use super::damage::flip;
use super::records::{Manifest, create, json as objects, verify};
use super::repair::{copy, repair};
use crate::harness::{Dir, Run};

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

/// Returns a recorded tree with a copy, and a tree with other names. One of its files is damaged.
fn damaged() -> Dir {
    let dir = Dir::new();
    for nth in 0..5 {
        dir.file(format!("{NFC}/{NFC}{nth}"), &[nth; 200]);
    }
    create(&dir, &[]);
    copy(&dir, "copy");
    fs::rename(dir.path(NFC), dir.path(NFD)).unwrap();
    for nth in 0..5 {
        let name = |form| dir.path(format!("{NFD}/{form}{nth}"));
        fs::rename(name(NFC), name(NFD)).unwrap();
    }
    flip(&dir.path(format!("{NFD}/{NFD}3")));
    dir
}

fn manifest(dir: &Dir, command: &str, args: &[&str]) -> Run {
    dir.ftk(["manifest", command, "."]).arg(dir.aside("manifest")).args(args).run()
}

#[test]
fn damage_below_other_names_is_damage_for_every_command() {
    let dir = damaged();
    let path = format!("{NFC}/{NFC}3");
    let run = verify(&dir, &["--normalize-names"]).status(1);
    run.check(run.text().starts_with(&format!("corrupted\t{path}\t")), "the recorded path");
    let run = manifest(&dir, "scrub", &[]).status(1).stderr_has("  4 files verified, ");
    let run = run.stderr_has("  6 respelled: left for `ftk manifest update`\n");
    run.check(run.text().starts_with(&format!("corrupted\t{path}\t")), "the recorded path");
    let run = manifest(&dir, "scrub", &["--json"]).status(1);
    let results = objects(&run).pop().unwrap();
    assert_eq!(
        (&results["respelled"], &results["missing"], &results["new"]),
        (&6.into(), &0.into(), &0.into())
    );
    let names = "  6 names in another Unicode normal form than recorded: repair renames nothing, update records them\n";
    for options in [&[][..], &["--yes"]] {
        let run = repair(&dir, options).status(1).stderr_has(" 1 file, 200 B").stderr_has(names);
        run.check(run.text().contains(&format!("  repair   {NFD}/{NFD}3 ")), "the present path");
    }
    // The manifest keeps its paths, and the mark is gone.
    assert!(Manifest::read(&dir.aside("manifest")).entry(&path)["damaged_ns"].is_null());
    verify(&dir, &["--normalize-names"]).status(0);
    repair(&dir, &["--json"]).status(1).stderr_has("no damage");
}

#[test]
fn an_update_records_names_as_they_are_now() {
    let dir = damaged();
    let [old, new] = [NFC, NFD].map(|name| format!("{name}/{name}3"));
    let before = Manifest::read(&dir.aside("manifest"));
    // Records of names are kept, too, if nothing may change.
    for _ in 0..2 {
        let run = manifest(&dir, "update", &["--append-only", "-o", "../manifest"]).status(1);
        run.stderr_has(&format!("'{NFC}' is not as recorded: name NFC \u{2192} NFD\n"))
            .stderr_has(&format!("'{old}' is corrupted"))
            .stderr_has("  5 entries missing or changed: the old records are kept");
        assert_eq!(Manifest::read(&dir.aside("manifest")).paths, before.paths);
    }
    for _ in 0..2 {
        let run = manifest(&dir, "update", &["-o", "../manifest"]).status(1);
        run.stderr_has(&format!("'{new}' is corrupted"));
    }
    let after = Manifest::read(&dir.aside("manifest"));
    assert_eq!(after.entry(&new)["sha256"], before.entry(&old)["sha256"]);
    assert_eq!(after.paths.len(), before.paths.len());
    let run = verify(&dir, &[]).status(1);
    run.check(run.text().starts_with("corrupted\t") && run.text().lines().count() == 1, "the damage alone");
    // Both spellings name the file.
    manifest(&dir, "update", &["-o", "../manifest", "--accept", &new]).status(0);
    verify(&dir, &[]).status(0);
    let dir = damaged();
    manifest(&dir, "update", &["-o", "../manifest", "--accept", &old])
        .status(0)
        .stderr_has("  6 names in another Unicode normal form, recorded as they are now\n");
    verify(&dir, &[]).status(0);
}

#[test]
fn missing_files_are_restored_in_the_directory_with_another_name() {
    let dir = damaged();
    fs::remove_file(dir.path(format!("{NFD}/{NFD}1"))).unwrap();
    repair(&dir, &[]).status(1).stderr_has("1 missing (--missing restores it)");
    let run = repair(&dir, &["--missing", "--yes"]).status(1).stderr_has("restored 1 missing file");
    // Its own name is the recorded one: nothing is known of another.
    run.check(run.text().contains(&format!("  restore  {NFD}/{NFC}1 ")), "the present directory");
    assert!(!dir.path(NFC).exists(), "no second directory");
    verify(&dir, &["--normalize-names"]).status(0);
}

/// Exact names are pairs, so the other name is missing.
#[test]
fn names_that_are_the_same_are_paired_first() {
    let dir = Dir::new();
    dir.file(NFC, &[1; 200]).file(NFD, &[2; 200]);
    create(&dir, &[]);
    copy(&dir, "copy");
    fs::remove_file(dir.path(NFD)).unwrap();
    flip(&dir.path(NFC));
    let run = repair(&dir, &["--missing"]).status(0).stderr_lacks("normal form");
    run.check(run.text().contains(&format!("  repair   {NFC} ")), "the damaged file");
    run.check(run.text().contains(&format!("  restore  {NFD} ")), "the missing file");
    manifest(&dir, "scrub", &[])
        .status(1)
        .stderr_has("  1 missing: left for")
        .stderr_has("  1 damaged file: see ");
}

#[test]
fn selection_options_match_one_spelling() {
    let dir = Dir::new();
    dir.file(NFC, b"").file("z", b"");
    create(&dir, &["-E", NFC]);
    verify(&dir, &[]).status(0);
    fs::rename(dir.path(NFC), dir.path(NFD)).unwrap();
    let run = verify(&dir, &["--normalize-names", "--ignore", "mtime"]).status(1);
    run.check(run.text() == format!("new\t{NFD}\n"), "the other spelling is not excluded");
}
