//! A manifest that is damaged or gone: `repair` uses the one in a parity file, and writes it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::super::records::{create, verify};
use super::parity::{flip, noise, protect, tree};
use super::{damage, mark, repair_from};
use crate::harness::Dir;

/// A tree with a parity file, a damaged file and a damaged manifest. Returns the manifest as it was.
fn damaged() -> (Dir, Vec<u8>) {
    let dir = tree();
    protect(&dir, &["--redundancy", "20%"]).status(0);
    damage(&dir.path("small/30"));
    let good = fs::read(dir.aside("manifest")).unwrap();
    flip(&dir.aside("manifest"), good.len() as u64 / 2);
    (dir, good)
}

#[test]
fn a_damaged_manifest_is_restored_first() {
    let (dir, good) = damaged();
    let manifest = dir.aside("manifest");
    let bad = fs::read(&manifest).unwrap();
    // Without a parity file nothing can be done.
    fs::create_dir(dir.aside("empty")).unwrap();
    repair_from(&dir, &["empty"], &[]).status(2).stderr_has("manifest': ");
    let plan = repair_from(&dir, &["parity"], &[]).status(0);
    plan.stderr_has("parity' is used, which is of ").stderr_has("would also replace");
    assert_eq!(fs::read(&manifest).unwrap(), bad, "a plan changes nothing");
    let run = repair_from(&dir, &["parity"], &["--yes"]).status(0);
    run.stderr_has("manifest.damaged'").stderr_has("repaired 1 file");
    assert_eq!(fs::read(&manifest).unwrap(), good);
    assert_eq!(fs::read(dir.aside("manifest.damaged")).unwrap(), bad);
    verify(&dir, &[]).status(0).stdout("");
    // It is not replaced by another one.
    flip(&manifest, 3 * good.len() as u64 / 4);
    repair_from(&dir, &["parity"], &["--yes"]).status(2).stderr_has("cannot keep");
    fs::remove_file(dir.aside("manifest.damaged")).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(0);
}

#[test]
fn a_manifest_that_is_gone_is_written_in_the_format_of_its_name() {
    let (dir, good) = damaged();
    fs::remove_file(dir.aside("manifest")).unwrap();
    repair_from(&dir, &["parity"], &[]).status(0).stderr_has("would also write");
    assert!(!dir.aside("manifest").exists());
    for name in ["manifest", "manifest.zst"] {
        let ftk = dir.ftk(["manifest", "repair", "."]).arg(dir.aside(name)).arg("--from");
        ftk.arg(dir.aside("parity")).arg("--yes").run().status(0);
    }
    assert_eq!(fs::read(dir.aside("manifest")).unwrap(), good);
    assert!(fs::read(dir.aside("manifest.zst")).unwrap().starts_with(b"\x28\xb5\x2f\xfd"));
    let verified = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("manifest.zst")).run();
    verified.status(0);
}

#[test]
fn what_is_not_known_to_be_a_manifest_is_left() {
    let (dir, good) = damaged();
    let manifest = dir.aside("manifest");
    for content in [&b"a letter\n"[..], b"\xFF\xD8\xFF\xE0 a photograph"] {
        fs::write(&manifest, content).unwrap();
        let run = repair_from(&dir, &["parity"], &["--yes"]).status(2);
        run.stderr_has("move it away");
        assert_eq!(fs::read(&manifest).unwrap(), content);
    }
    fs::remove_file(&manifest).unwrap();
    fs::create_dir(&manifest).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(2);
    fs::remove_dir(&manifest).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(0);
    assert_eq!(fs::read(&manifest).unwrap(), good);
}

#[test]
fn with_other_root_the_manifest_is_used_and_not_written() {
    let (dir, _) = damaged();
    let bad = fs::read(dir.aside("manifest")).unwrap();
    let run = repair_from(&dir, &["parity"], &["--yes", "--other-root"]).status(0);
    run.stderr_has("is used, which is of").stderr_has("repaired 1 file");
    assert_eq!(fs::read(dir.aside("manifest")).unwrap(), bad);
}

#[test]
fn the_newest_of_several_manifests_is_used() {
    let dir = tree();
    protect(&dir, &[]).status(0);
    fs::rename(dir.aside("parity"), dir.aside("old")).unwrap();
    dir.file("new", b"new");
    create(&dir, &[]);
    protect(&dir, &[]).status(0);
    let newest = fs::read(dir.aside("manifest")).unwrap();
    for order in [["old", "parity"], ["parity", "old"]] {
        fs::remove_file(dir.aside("manifest")).unwrap();
        repair_from(&dir, &order, &["--yes"]).status(0);
        assert_eq!(fs::read(dir.aside("manifest")).unwrap(), newest, "{order:?}");
    }
    // One whose manifest is lost is named, and the other is used.
    let len = fs::metadata(dir.aside("parity")).unwrap().len();
    let pages: Vec<u64> = (2..len / 4096 - 1).collect();
    let bytes = fs::read(dir.aside("parity")).unwrap();
    let of_manifest = |page: &&u64| bytes[(**page as usize + 1) * 4096 - 9] == 2;
    for page in pages.iter().filter(of_manifest) {
        flip(&dir.aside("parity"), page * 4096 + 77);
    }
    fs::remove_file(dir.aside("manifest")).unwrap();
    let run = repair_from(&dir, &["parity", "old"], &["--yes"]).status(0);
    run.stderr_has("parity' cannot be used: both copies of the manifest").stderr_has("old' is used");
    fs::remove_file(dir.aside("manifest")).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(2);
    assert!(!dir.aside("manifest").exists());
}

#[test]
fn after_a_scrub_or_an_update_what_still_matches_is_used() {
    let dir = tree();
    protect(&dir, &["--redundancy", "20%"]).status(0);
    // A new file, an edited one and a moved one.
    dir.file("new", b"new").file("small/3", b"edited");
    fs::rename(dir.path("small/5"), dir.path("moved")).unwrap();
    let manifest = dir.aside("manifest");
    dir.ftk(["manifest", "update", "."]).arg(&manifest).arg("-o").arg(&manifest).run().status(0);
    damage(&dir.path("large"));
    damage(&dir.path("moved"));
    mark(&dir);
    dir.ftk(["manifest", "scrub", "."]).arg(&manifest).run().status(1);
    let plan = repair_from(&dir, &["parity"], &[]).status(0);
    plan.check(plan.text().contains("parity"), "the plan says where contents come from");
    repair_from(&dir, &["parity"], &["--yes"]).status(0).stderr_has("repaired 2 files");
    assert_eq!(fs::read(dir.path("large")).unwrap(), noise(200_000, 99));
    assert_eq!(fs::read(dir.path("small/3")).unwrap(), b"edited");
    // What is new is in no parity file.
    damage(&dir.path("new"));
    let run = repair_from(&dir, &["parity"], &["--yes"]).status(1);
    run.check(run.text().contains("no COPY has its recorded content"), "the reason is said");
}

#[test]
fn a_manifest_that_cannot_be_kept_stays() {
    let (dir, _) = damaged();
    let bad = fs::read(dir.aside("manifest")).unwrap();
    fs::set_permissions(dir.aside("manifest"), fs::Permissions::from_mode(0o444)).unwrap();
    repair_from(&dir, &["parity"], &["--yes"]).status(2);
    assert_eq!(fs::read(dir.aside("manifest")).unwrap(), bad);
}
