//! `protect`, `verify --parity` and `repair --from PARITY`: files heal without a copy.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::records::{create, json, lines, seal, verify};
use super::reprotect::reprotect;
use super::{copy, damage, journal, mark, names, repair_from, said};
use crate::harness::{Dir, Mounted, Run, needs, sha256};

/// Returns bytes that have no pattern.
pub(super) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// A tree of small files, a large one and copies.
pub(super) fn tree() -> Dir {
    let dir = Dir::new();
    for nth in 0..40_u64 {
        dir.file(format!("small/{nth}"), &noise(100 + 300 * nth as usize, nth + 1));
    }
    dir.file("large", &noise(200_000, 99)).file("again", &noise(100, 1)).file("empty", b"");
    create(&dir, &[]);
    dir
}

pub(super) fn protect(dir: &Dir, args: &[&str]) -> Run {
    let command = dir.ftk(["manifest", "protect", "."]).arg(dir.aside("manifest"));
    command.arg("-o").arg(dir.aside("parity")).args(args).run()
}

fn repair(dir: &Dir, args: &[&str]) -> Run {
    repair_from(dir, &["parity"], args)
}

fn verify_parity(dir: &Dir) -> Run {
    dir.ftk(["manifest", "verify", "--parity"]).arg(dir.aside("parity")).run()
}

fn has(run: &Run, text: &str) {
    run.check(run.text().contains(text), text);
}

/// Flips a byte of a file; its size and mtime stay.
pub(super) fn flip(path: &Path, at: u64) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[!byte[0]], at).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn damaged_and_missing_files_heal_without_a_copy_and_undo_brings_the_damage_back() {
    let dir = tree();
    has(&protect(&dir, &["--redundancy", "20%"]).status(0), "protected 41 contents");
    assert_eq!(fs::metadata(dir.aside("parity")).unwrap().permissions().mode() & 0o777, 0o600);
    has(&verify_parity(&dir).status(0), "undamaged");
    flip(&dir.path("small/7"), 50);
    flip(&dir.path("large"), 123_456);
    fs::remove_file(dir.path("small/9")).unwrap();
    let broken = fs::read(dir.path("large")).unwrap();
    let plan =
        repair(&dir, &["--missing"]).status(0).stderr_has("would repair 2 files and restore 1 missing file");
    plan.check(plan.text().contains("large"), "the plan lists the files");
    assert_eq!(fs::read(dir.path("large")).unwrap(), broken, "a plan changes nothing");
    repair(&dir, &["--missing", "--yes"])
        .status(0)
        .stderr_has("repaired 2 files and restored 1 missing file");
    verify(&dir, &[]).status(0).stdout("");
    let kept = names(&dir.aside("state").join("ftk"));
    assert!(kept.iter().all(|name| !name.starts_with("computed-")), "{kept:?}");
    dir.ftk(["undo"]).arg(journal(&dir)).run().status(0);
    assert_eq!(fs::read(dir.path("large")).unwrap(), broken);
    assert!(!dir.path("small/9").exists());
}

#[test]
fn marked_files_heal_and_lose_their_marks() {
    let dir = tree();
    protect(&dir, &[]).status(0);
    damage(&dir.path("small/30"));
    mark(&dir);
    repair(&dir, &["--yes"]).status(0).stderr_has("removed 1 mark of damage");
    verify(&dir, &[]).status(0).stdout("");
}

#[test]
fn contents_are_found_under_other_names() {
    let dir = tree();
    protect(&dir, &["--redundancy", "5%"]).status(0);
    // Renamed files are no erasures, or these would exhaust the parity.
    fs::rename(dir.path("small"), dir.path("renamed")).unwrap();
    flip(&dir.path("large"), 5);
    let run = repair(&dir, &["--max-missing", "100%", "--yes"]).status(0);
    run.check(run.text().contains("repair"), "the large file heals");
    assert_eq!(sha256(&fs::read(dir.path("large")).unwrap()), sha256(&noise(200_000, 99)));
}

#[test]
fn what_is_beyond_the_redundancy_is_said_and_left() {
    let dir = tree();
    protect(&dir, &["--redundancy", "1%"]).status(0);
    fs::remove_dir_all(dir.path("small")).unwrap();
    flip(&dir.path("large"), 5);
    let before = fs::read(dir.path("large")).unwrap();
    let run = repair(&dir, &["--max-missing", "100%", "--missing", "--yes"]).status(1);
    run.check(run.text().contains("too much is lost: "), "the reason is said");
    assert_eq!(fs::read(dir.path("large")).unwrap(), before);
    assert!(!dir.path("small/39").exists());
}

#[test]
fn a_copy_and_parity_together_restore_what_neither_has_alone() {
    let dir = tree();
    copy(&dir, "copy");
    protect(&dir, &["--redundancy", "5%"]).status(0);
    fs::remove_dir_all(dir.path("small")).unwrap();
    fs::remove_file(dir.aside("copy").join("small/3")).unwrap();
    let missing = ["--max-missing", "100%", "--missing"];
    repair_from(&dir, &["parity"], &missing).status(1);
    repair_from(&dir, &["copy"], &missing).status(1);
    repair_from(&dir, &["copy", "parity"], &[&missing[..], &["--yes"]].concat()).status(0);
    verify(&dir, &[]).status(0).stdout("");
}

#[test]
fn rot_is_never_protected() {
    let dir = tree();
    damage(&dir.path("small/20"));
    flip(&dir.path("large"), 150_000);
    fs::remove_file(dir.path("small/21")).unwrap();
    fs::write(dir.path("small/23"), "an edit, of another size").unwrap();
    let run = protect(&dir, &[]).status(1).stderr_lacks("cannot read");
    for path in ["small/20", "large", "small/21", "small/23"] {
        run.check(run.text().contains(&format!("skipped  {path}  ")), "it is reported");
    }
    run.check(run.text().contains("protected 37 contents"), "the others are protected");
    flip(&dir.path("small/22"), 3);
    let bad = fs::read(dir.path("large")).unwrap();
    repair(&dir, &["--yes"]).status(1);
    assert_eq!(sha256(&fs::read(dir.path("small/22")).unwrap()), sha256(&noise(100 + 300 * 22, 23)));
    assert_eq!(fs::read(dir.path("large")).unwrap(), bad);
}

/// A share of thousands of percent says nothing.
#[test]
fn the_share_of_parity_is_only_printed_if_it_is_below_the_contents() {
    let dir = Dir::new();
    dir.file("a", b"tiny");
    dir.ftk(["manifest", "create", ".", "-o"]).arg(dir.aside("manifest")).run().status(0);
    let run = protect(&dir, &[]).status(0);
    run.check(run.text().contains("kB, more than the contents: 1 recovery block in 1 group\n"), "words");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let dir = tree();
    fs::set_permissions(dir.path("small/20"), Permissions::from_mode(0o000)).unwrap();
    fs::create_dir(dir.aside("to")).unwrap();
    fs::set_permissions(dir.aside("to"), Permissions::from_mode(0o777)).unwrap();
    let unreadable = dir.ftk(["manifest", "protect", "."]).arg(dir.aside("manifest"));
    let run = unreadable.arg("-o").arg(dir.aside("to/parity")).unprivileged(&dir).run().status(2);
    has(
        &run.stderr_has("cannot read './small/20': permission denied"),
        "skipped  small/20  permission denied",
    );
    // A parity file that cannot be opened is not taken for a copy.
    protect(&dir, &[]).status(0);
    fs::set_permissions(dir.aside("parity"), Permissions::from_mode(0o000)).unwrap();
    let closed = dir.ftk(["manifest", "repair", "."]).arg(dir.aside("manifest")).arg("--from");
    let run = closed.arg(dir.aside("parity")).unprivileged(&dir).run();
    run.status(2).stderr_has("cannot open").stderr_has("parity': permission denied");
}

#[test]
fn a_plan_writes_no_file_and_no_file_is_replaced() {
    let dir = tree();
    let plan = dir.ftk(["manifest", "protect", "-n", "."]).arg(dir.aside("manifest")).run().status(0);
    plan.check(plan.text().starts_with("would protect 41 contents"), "the plan");
    assert!(!dir.aside("parity").exists());
    protect(&dir, &[]).status(0);
    let first = fs::read(dir.aside("parity")).unwrap();
    protect(&dir, &[]).status(2).stderr_has("a parity file is never replaced");
    assert_eq!(fs::read(dir.aside("parity")).unwrap(), first);
    let plan =
        dir.ftk(["manifest", "protect", "--json", "-n", "."]).arg(dir.aside("manifest")).run().status(0);
    let plan = &json(&plan)[0];
    assert_eq!((&plan["kind"], plan["parity_bytes"].as_u64()), (&"plan".into(), Some(first.len() as u64)));
}

#[test]
fn a_full_disk_is_noticed_before_a_parity_file_is_written() {
    let point = tempfile::tempdir().unwrap();
    let Some(disk) = Mounted::at(point.path(), ["-t", "tmpfs", "-o", "size=1M", "none"]) else { return };
    let dir = tree();
    let parity = disk.path("parity");
    let protect = |args: &[&str]| {
        let ftk = dir.ftk(["manifest", "protect", "."]).arg(dir.aside("manifest"));
        ftk.arg("-o").arg(&parity).args(args).run()
    };
    let manifest = dir.aside("manifest");
    let update = |args: &[&str]| {
        let ftk = dir.ftk(["manifest", "update", "."]).arg(&manifest).args(args);
        ftk.arg("--parity").arg(&parity).run()
    };
    let full = "not enough space on the file system of '";
    // 50% of 450 kB fit, and of 3 MB more they do not.
    protect(&["--redundancy", "50%"]).status(0);
    let before = fs::read(&parity).unwrap();
    dir.file("new", &noise(3_000_000, 7));
    let output = ["-o", manifest.to_str().unwrap()];
    let plan = update(&["--dry-run"]).status(2).stderr_has(full).stderr_has("1 content would be added");
    plan.check(plan.err.contains(" needed, ") && plan.err.contains(" free; "), "how much is needed and free");
    update(&output).status(2).stderr_has("the parity file is as before: not enough space");
    assert!(fs::read(&parity).unwrap() == before);
    // The manifest is written, and the parity file is of use with it.
    flip(&dir.path("large"), 5);
    let repair = dir.ftk(["manifest", "repair", "."]).arg(&manifest).arg("--from").arg(&parity);
    repair.arg("--yes").run().status(0);
    fs::remove_file(&parity).unwrap();
    let plan = protect(&["--redundancy", "50%", "--dry-run"]).status(2).stderr_has(full);
    has(&plan, "would protect 42 contents");
    protect(&["--redundancy", "50%"]).status(2).stderr_has(full).stderr_has("nothing was written");
    assert_eq!(names(&disk.path("")), [""; 0]);
}

/// Contents at the limits of the format, and what is no file.
#[test]
fn special_contents_come_back_and_what_is_no_file_does_not() {
    let dir = Dir::new();
    for nth in 0..60_u64 {
        dir.file(format!("other/{nth}"), &noise(4096, nth + 1));
    }
    let hole = |name: &str, len: u64| {
        dir.file(name, b"");
        File::options().write(true).open(dir.path(name)).unwrap().set_len(len).unwrap();
    };
    dir.file("d/empty", b"").file("d/byte", b"x").file("d/unit", &noise(64, 70));
    dir.file("d/block", &noise(4096, 71)).file("d/large", &noise(16 * 4096, 72));
    hole("d/small hole", 10_000);
    hole("d/large hole", 1 << 20);
    dir.file("d/sparse", &noise(4096, 73));
    File::options().write(true).open(dir.path("d/sparse")).unwrap().write_all_at(b"end", 300_000).unwrap();
    let names = ["empty", "byte", "unit", "block", "large", "small hole", "large hole", "sparse"];
    for name in names {
        fs::set_permissions(dir.path(format!("d/{name}")), Permissions::from_mode(0o640)).unwrap();
    }
    create(&dir, &[]);
    protect(&dir, &["--redundancy", "80%"]).status(0);
    let contents = names.map(|name| fs::read(dir.path(format!("d/{name}"))).unwrap());
    let space = fs::metadata(dir.path("d/large hole")).unwrap().blocks();
    fs::remove_dir_all(dir.path("d")).unwrap();
    let run = repair(&dir, &["--missing", "--max-missing", "100%", "--yes"]).status(0);
    run.stderr_has("restored 8 missing files");
    verify(&dir, &[]).status(0).stdout("");
    for (name, content) in names.iter().zip(contents) {
        assert!(fs::read(dir.path(format!("d/{name}"))).unwrap() == content, "{name}");
    }
    assert_eq!(fs::metadata(dir.path("d/large hole")).unwrap().blocks(), space, "holes stay holes");
    // A mark in the manifest changes nothing.
    let manifest = dir.aside("manifest");
    let mark = |line: &String| match line.contains(r#""path":"d/empty""#) {
        true => format!(r#"{},"damaged_ns":1}}"#, line.strip_suffix('}').unwrap()),
        false => line.clone(),
    };
    fs::write(&manifest, seal(&lines(&manifest).iter().map(mark).collect::<Vec<_>>())).unwrap();
    fs::remove_file(dir.path("d/empty")).unwrap();
    repair(&dir, &[])
        .status(1)
        .stdout("  leave    d/empty                                  damaged and missing: add --missing\n");
    let plan = repair(&dir, &["--missing"]).status(0);
    assert!(said(&plan)[0].starts_with("restore d/empty 0 B from "));
    repair(&dir, &["--missing", "--yes"]).status(0).stderr_has("removed 1 mark of damage");
    verify(&dir, &[]).status(0).stdout("");
    // With a copy as the source, too, these are counted and left.
    dir.symlink("block", "d/link").dir("d/none");
    let update = dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest);
    update.run().status(0);
    copy(&dir, "copy");
    fs::remove_file(dir.path("d/link")).unwrap();
    fs::remove_dir(dir.path("d/none")).unwrap();
    for from in [&["parity"][..], &["copy"], &["copy", "parity"]] {
        repair_from(&dir, from, &["--missing", "--yes"]).status(1).stderr_has(
            "  2 missing links, special files or empty directories cannot be restored by repair\n",
        );
    }
}

#[test]
fn a_damaged_parity_file_still_heals_and_is_reported() {
    let dir = tree();
    protect(&dir, &["--redundancy", "20%"]).status(0);
    let len = fs::metadata(dir.aside("parity")).unwrap().len();
    for at in [100, 4096 * 2 + 5, len - 50, len / 2] {
        flip(&dir.aside("parity"), at);
    }
    has(&verify_parity(&dir).status(1), "damaged: 2 heads");
    flip(&dir.path("large"), 5);
    repair(&dir, &["--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
    // All heads: nothing can be done with it.
    flip(&dir.aside("parity"), 5000);
    verify_parity(&dir).status(2).stderr_has("not a parity file");
}

#[test]
fn the_parity_file_of_another_tree_changes_nothing() {
    let dir = tree();
    protect(&dir, &["--redundancy", "100%"]).status(0);
    // That of another tree, with other contents.
    let other = tree();
    other.file("large", &noise(200_000, 100));
    create(&other, &[]);
    protect(&other, &[]).status(0);
    fs::copy(other.aside("parity"), dir.aside("parity")).unwrap();
    flip(&dir.path("large"), 5);
    let before = fs::read(dir.path("large")).unwrap();
    repair(&dir, &["--yes"]).status(1);
    assert_eq!(fs::read(dir.path("large")).unwrap(), before);
}

#[test]
fn another_decoder_restores_a_file_without_the_manifest() {
    needs!("python3");
    let dir = tree();
    protect(&dir, &["--redundancy", "10%"]).status(0);
    for name in ["small/39", "small/17"] {
        let content = fs::read(dir.path(name)).unwrap();
        fs::remove_file(dir.path(name)).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity_decoder.py");
        let mut decoder = Command::new("python3");
        decoder.arg(script).arg(dir.aside("parity")).arg(dir.path(".")).arg(sha256(&content));
        assert!(decoder.arg(dir.aside("out")).status().unwrap().success(), "{name}");
        assert_eq!(fs::read(dir.aside("out")).unwrap(), content);
        dir.file(name, &content);
    }
}

#[test]
fn abandoned_contents_are_removed_by_the_next_run_and_by_undo() {
    let dir = tree();
    protect(&dir, &["--redundancy", "20%"]).status(0);
    let state = dir.aside("state").join("ftk");
    let abandon = || {
        let abandoned = state.join("computed-0123456789abcdef");
        fs::create_dir_all(&abandoned).unwrap();
        fs::write(abandoned.join("0-1"), "a content that a killed run computed").unwrap();
        abandoned
    };
    // Also by a run that computes nothing.
    let abandoned = abandon();
    repair(&dir, &[]).status(0);
    assert!(abandoned.exists(), "a plan changes nothing");
    let said = "removed the computed contents of 1 killed run";
    repair(&dir, &["--yes"]).status(0).stderr_has(said);
    assert!(!abandoned.exists());
    flip(&dir.path("large"), 5);
    repair(&dir, &["--yes"]).status(0);
    let abandoned = abandon();
    dir.ftk(["undo", "--dry-run"]).arg(journal(&dir)).run().status(0);
    assert!(abandoned.exists(), "a plan changes nothing");
    dir.ftk(["undo"]).arg(journal(&dir)).run().status(0).stderr_has(said);
    assert!(!abandoned.exists());
}

#[test]
fn a_lost_file_raises_the_redundancy_or_is_refused() {
    let dir = tree();
    let plan = |args: &[&str]| {
        let ftk = dir.ftk(["manifest", "protect", ".", "-n", "--json"]).arg(dir.aside("manifest")).args(args);
        ftk.run()
    };
    let burst = |run: &Run| json(run)[0]["burst_bytes"].as_u64().unwrap();
    assert!(burst(&plan(&[]).status(0)) < 200_000);
    assert!(burst(&plan(&["--lost-file", "200K"]).status(0)) >= 200 << 10);
    // More than all contents together: then all of them may be lost.
    let all = plan(&["--lost-file", "1G"]).status(0);
    assert_eq!(json(&all)[0]["recovery_blocks"], json(&all)[0]["blocks"]);
    plan(&["--lost-file", "x"]).status(2);
    // The promise holds.
    protect(&dir, &["--redundancy", "1%", "--lost-file", "200000"]).status(0);
    fs::remove_file(dir.path("large")).unwrap();
    repair(&dir, &["--missing", "--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
}

#[test]
fn what_is_written_for_parity_is_limited_too() {
    let dir = Dir::new();
    dir.file("a", &noise(100_000, 1));
    create(&dir, &[]);
    let takes = |least: u64, run: &dyn Fn() -> Run| {
        let start = Instant::now();
        run().status(0);
        let elapsed = start.elapsed();
        assert!(elapsed >= Duration::from_millis(least), "{elapsed:?}");
    };
    // As many bytes are written as read, and a tenth of a second may be saved up. An update reads a new file twice.
    takes(250, &|| protect(&dir, &["--redundancy", "100%", "--limit-rate", "500kB"]));
    dir.file("b", &noise(100_000, 2));
    takes(450, &|| reprotect(&dir, &["--limit-rate", "500kB"]));
}

#[test]
fn what_is_survived_is_printed() {
    let dir = tree();
    let run = dir.ftk(["manifest", "protect", ".", "-n"]).arg(dir.aside("manifest")).run().status(0);
    has(&run, "survives the loss of any ");
    has(&run, "if one sector in 100,000 is bad, data is lost with a chance of ");
}
