//! `update --parity`: a parity file stays current, and gives up nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use super::super::records::{json, verify};
use super::parity::{flip, noise, protect, tree};
use super::repair_from;
use crate::harness::{Dir, Ftk, Run, needs, sha256};

/// Returns the command that records the tree and protects it.
pub(crate) fn reprotecting(dir: &Dir, args: &[&str]) -> Ftk {
    let manifest = dir.aside("manifest");
    let update = dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest);
    update.arg("--parity").arg(dir.aside("parity")).args(args)
}

/// Records the tree and protects it.
pub(super) fn reprotect(dir: &Dir, args: &[&str]) -> Run {
    reprotecting(dir, args).run()
}

/// Loses these files, and repairs them.
fn heals(dir: &Dir, names: &[&str]) {
    let files: Vec<_> = names.iter().map(|name| fs::read(dir.path(name)).unwrap()).collect();
    names.iter().for_each(|name| fs::remove_file(dir.path(name)).unwrap());
    let part = names.iter().flat_map(|name| ["--path", *name]);
    repair_from(dir, &["parity"], &["--missing", "--yes"].into_iter().chain(part).collect::<Vec<_>>())
        .status(0);
    for (name, content) in names.iter().zip(files) {
        assert_eq!(fs::read(dir.path(name)).unwrap(), content, "{name}");
    }
    fs::remove_dir_all(dir.aside("state")).unwrap();
}

fn is_undamaged(dir: &Dir) {
    dir.ftk(["manifest", "verify", "--parity"]).arg(dir.aside("parity")).run().status(0);
}

#[test]
fn what_is_new_is_protected_and_what_is_old_stays_so() {
    let dir = tree();
    protect(&dir, &["--redundancy", "20%"]).status(0);
    dir.file("new/1", &noise(3_000, 500)).file("new/2", &noise(60_000, 501));
    fs::rename(dir.path("large"), dir.path("moved")).unwrap();
    fs::remove_file(dir.path("small/5")).unwrap();
    fs::remove_file(dir.path("small/6")).unwrap();
    dir.file("small/6", &noise(1_000, 502));
    let run = reprotect(&dir, &[]).status(0).stderr_has("3 contents added, 2 gone");
    run.check(run.text().is_empty(), "standard output is empty");
    is_undamaged(&dir);
    heals(&dir, &["new/1"]);
    heals(&dir, &["new/2", "small/6"]);
    heals(&dir, &["small/39", "small/7"]);
    verify(&dir, &[]).status(0).stdout("");
    // The manifest in it is the new one.
    fs::remove_file(dir.aside("manifest")).unwrap();
    fs::remove_file(dir.path("new/1")).unwrap();
    repair_from(&dir, &["parity"], &["--missing", "--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
    // Nothing to do.
    reprotect(&dir, &[]).status(0).stderr_has("0 contents added, 2 gone; 0 B encoded, 0 B written");
}

#[test]
fn rot_is_computed_before_it_is_protected_again() {
    let dir = tree();
    protect(&dir, &["--redundancy", "5%"]).status(0);
    // So much is gone that the rest is encoded again. Some of this is damaged.
    (0..8).for_each(|nth| fs::remove_file(dir.path(format!("small/{nth}"))).unwrap());
    let truth = fs::read(dir.path("small/39")).unwrap();
    flip(&dir.path("small/39"), 5_000);
    flip(&dir.path("large"), 70_000);
    dir.file("new", &noise(100, 600));
    let run = reprotect(&dir, &[]).status(1);
    run.stderr_has("2 damaged or missing contents computed to be protected again: run `ftk manifest repair`");
    is_undamaged(&dir);
    assert_ne!(fs::read(dir.path("small/39")).unwrap(), truth, "the tree is not changed");
    repair_from(&dir, &["parity"], &["--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
    reprotect(&dir, &[]).status(0);
}

#[test]
fn what_cannot_be_computed_keeps_its_parity() {
    let dir = tree();
    super::copy(&dir, "copy");
    protect(&dir, &["--redundancy", "2%"]).status(0);
    (0..2).for_each(|nth| fs::remove_file(dir.path(format!("small/{nth}"))).unwrap());
    // More than the recovery blocks restore, but not with a copy.
    (20..40).for_each(|nth| flip(&dir.path(format!("small/{nth}")), 5));
    dir.file("new", &noise(100, 600));
    let run = reprotect(&dir, &[]).status(1);
    run.stderr_has("contents lost: neither the tree nor ");
    heals(&dir, &["new"]);
    repair_from(&dir, &["parity"], &["--yes"]).status(1);
    fs::remove_file(dir.aside("copy/small/20")).unwrap();
    repair_from(&dir, &["copy", "parity"], &["--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
}

#[test]
fn damage_of_new_files_is_never_protected() {
    let dir = tree();
    protect(&dir, &[]).status(0);
    // The manifest records what the file no longer has.
    dir.file("new", &noise(20_000, 700));
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest).run().status(0);
    flip(&dir.path("new"), 9_000);
    let run = reprotect(&dir, &[]).status(1);
    run.check(run.text() == "skipped  new  its content is not the recorded one\n", "it is named");
    flip(&dir.path("new"), 9_000);
    reprotect(&dir, &[]).stderr_has("1 content added");
    heals(&dir, &["new"]);
}

#[test]
fn a_plan_of_an_update_writes_nothing() {
    let dir = tree();
    protect(&dir, &[]).status(0);
    dir.file("new", &noise(20_000, 700));
    let before = [fs::read(dir.aside("parity")).unwrap(), fs::read(dir.aside("manifest")).unwrap()];
    let plan = reprotect(&dir, &["--dry-run"]).status(0);
    plan.stderr_has("1 content would be added, 0 gone; 20.00 kB encoded");
    let plan = json(&reprotect(&dir, &["--dry-run", "--json"]).status(0));
    let plan = plan.iter().find(|it| it["kind"] == "parity_plan").unwrap();
    assert_eq!(
        (&plan["added"], &plan["encoded_bytes"], &plan["new_blocks"]),
        (&1.into(), &20_000.into(), &5.into())
    );
    assert_eq!(before, [fs::read(dir.aside("parity")).unwrap(), fs::read(dir.aside("manifest")).unwrap()]);
    let done = json(&reprotect(&dir, &["--json"]).status(0));
    assert_eq!(
        (&done[0]["kind"], &done[0]["added"], &done[0]["lost"]),
        (&"parity".into(), &1.into(), &0.into())
    );
    assert_eq!(done[0]["parity_bytes"], fs::metadata(dir.aside("parity")).unwrap().len());
}

#[test]
fn if_nothing_changed_nothing_is_written_and_otherwise_old_places_are_used_again() {
    let dir = tree();
    let manifest = dir.aside("manifest");
    protect(&dir, &["--redundancy", "20%"]).status(0);
    let parity = || fs::read(dir.aside("parity")).unwrap();
    let unchanged = || reprotect(&dir, &[]).status(0).stderr_has("0 contents added, 0 gone; 0 B encoded");
    // The record also has when files were last read, which is new after runs that read some.
    let settle = || (0..2).for_each(|_| _ = unchanged());
    settle();
    // Only the time of the run differs.
    let record = fs::read(&manifest).unwrap();
    let before = parity();
    unchanged();
    assert!(fs::read(&manifest).unwrap() != record && parity() == before);
    let done = json(&reprotect(&dir, &["--json"]).status(0));
    assert_eq!(
        (&done[0]["kind"], done[0]["parity_bytes"].as_u64()),
        (&"parity".into(), Some(before.len() as u64))
    );
    // Damage is mended, and a new time of a file is written.
    flip(&dir.aside("parity"), 2 * 4096 + 5);
    unchanged();
    is_undamaged(&dir);
    let mut lens = Vec::new();
    for _ in 0..4 {
        let before = parity();
        fs::File::open(dir.path("large")).unwrap().set_modified(SystemTime::now()).unwrap();
        unchanged();
        assert!(parity() != before);
        lens.push(parity().len());
        is_undamaged(&dir);
        settle();
        let before = parity();
        unchanged();
        assert!(parity() == before);
    }
    assert_eq!(lens, [lens[0]; 4]);
    heals(&dir, &["small/39"]);
    fs::remove_file(&manifest).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(0);
    verify(&dir, &[]).status(0).stdout("");
    // A rule of the record is part of it.
    fs::write(dir.aside("rules"), "growing none/*\n").unwrap();
    reprotect(&dir, &["--rules", dir.aside("rules").to_str().unwrap()]).status(0);
    fs::remove_file(&manifest).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(0);
    assert!(fs::read_to_string(&manifest).unwrap().contains("growing none/*"));
}

#[test]
fn what_cannot_be_updated_is_refused_before_anything_is_written() {
    let dir = tree();
    protect(&dir, &[]).status(0);
    let [manifest, parity] = ["manifest", "parity"].map(|name| dir.aside(name));
    let before = [fs::read(&parity).unwrap(), fs::read(&manifest).unwrap()];
    dir.file("new", b"new");
    let update = || dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("--parity");
    update()
        .arg(&parity)
        .args(["-o", "-"])
        .run()
        .status(2)
        .stderr_has("--parity needs a file for the new manifest");
    update()
        .arg(&parity)
        .arg("-o")
        .arg(&parity)
        .arg("--force")
        .run()
        .status(2)
        .stderr_has("is both input and output");
    update().arg(dir.path("new")).arg("-o").arg(&manifest).run().status(2).stderr_has("not a parity file");
    update().arg(dir.aside("none")).arg("-o").arg(&manifest).run().status(2).stderr_has("cannot open");
    let other = dir.aside("other");
    dir.ftk(["manifest", "create", ".", "-a", "blake3", "-o"]).arg(&other).run().status(0);
    let run = dir.ftk(["manifest", "update", "."]).arg(&other).arg("-o").arg(&other).arg("--parity");
    run.arg(&parity).run().status(2).stderr_has("knows contents by other digests");
    fs::copy(&parity, dir.path("inside")).unwrap();
    update()
        .arg(dir.path("inside"))
        .arg("-o")
        .arg(&manifest)
        .run()
        .status(2)
        .stderr_has("would protect itself");
    assert_eq!(fs::read(dir.path("inside")).unwrap(), before[0]);
    fs::remove_file(dir.path("inside")).unwrap();
    let locked = fs::File::open(&parity).unwrap();
    locked.lock().unwrap();
    reprotect(&dir, &[]).status(2).stderr_has("is in use");
    drop(locked);
    assert_eq!(before, [fs::read(&parity).unwrap(), fs::read(&manifest).unwrap()]);
    let inode = fs::metadata(&parity).unwrap().ino();
    reprotect(&dir, &[]).status(0);
    assert_eq!(fs::metadata(&parity).unwrap().ino(), inode, "it is changed in its place");
}

#[test]
fn another_decoder_reads_an_updated_parity_file() {
    needs!("python3");
    let dir = tree();
    protect(&dir, &["--redundancy", "10%"]).status(0);
    for turn in 0..3_u64 {
        fs::remove_file(dir.path(format!("small/{turn}"))).unwrap();
        dir.file(format!("new/{turn}"), &noise(9_000, 800 + turn));
        reprotect(&dir, &[]).status(0);
    }
    for name in ["small/39", "new/0", "new/2"] {
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
