//! The reported number of freed bytes is what the file system frees. The file systems are created for the
//! test.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, Mounted, bytes, wait_until};

/// Checks that the plan, the report of the run and the file system agree on the freed bytes, and that another
/// run does nothing.
fn assert_freed(mounted: &Mounted, action: &str, tolerance: u64) {
    let tree = mounted.path(action);
    fs::create_dir(&tree).unwrap();
    let content = bytes(9, 5_000_000);
    for name in ["a", "b", "c"] {
        fs::write(tree.join(name), &content).unwrap();
    }
    // One file with two names, and one with another name outside the scanned tree.
    fs::hard_link(tree.join("b"), tree.join("d")).unwrap();
    fs::hard_link(tree.join("c"), mounted.path(&format!("{action} elsewhere"))).unwrap();
    let dir = Dir::new();
    let frees = |yes: &[&str]| {
        let run =
            dir.ftk(["dup", "prune", "--json", "--action", action]).args(yes).arg(&tree).run().status(0);
        let last: Value = serde_json::from_str(run.text().lines().last().unwrap()).unwrap();
        (last["summary"]["files"].as_u64().unwrap(), last["summary"]["freed_bytes"].as_u64().unwrap())
    };
    let before = mounted.used();
    let (_, promised) = frees(&[]);
    let (_, said) = frees(&["--yes"]);
    assert!(promised >= 5_000_000 && said == promised, "{action}: {promised} promised, {said} said");
    // XFS frees the blocks of a removed file some time later.
    wait_until(|| said.abs_diff(before.saturating_sub(mounted.used())) <= tolerance);
    assert_eq!(frees(&["--yes"]), (0, 0), "{action}");
    // Blocks that are shared already cannot be freed, and the report takes that into account.
    if action == "reflink" {
        let run = dir.ftk(["dup", "--summary", "--json"]).arg(&tree).run().status(0);
        let totals: Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!(totals["freed_bytes"], 0);
        assert!(totals["shared_bytes"].as_u64().unwrap() >= 10_000_000, "{totals}");
    }
    for name in ["a", "b", "c", "d"] {
        assert!(
            fs::read(tree.join(name)).map_or(action == "delete", |read| read == content),
            "{action}: {name}"
        );
    }
}

#[test]
fn h42_in_memory() {
    if let Some(mounted) = Mounted::new("tmpfs") {
        ["hardlink", "delete"].iter().for_each(|action| assert_freed(&mounted, action, 0));
        // A symbolic link is a file itself.
        assert_freed(&mounted, "symlink", 4096);
    }
}

/// Blocks of metadata are allocated and freed, too.
#[test]
fn h42_on_btrfs() {
    if let Some(mounted) = Mounted::new("btrfs") {
        ["reflink", "hardlink", "delete"].iter().for_each(|action| assert_freed(&mounted, action, 1 << 19));
    }
}

#[test]
fn h42_on_xfs() {
    if let Some(mounted) = Mounted::new("xfs") {
        ["reflink", "hardlink", "delete"].iter().for_each(|action| assert_freed(&mounted, action, 1 << 19));
    }
}

/// The blocks of a moved file are still in use.
#[test]
fn moved_directories_free_nothing() {
    let dir = Dir::new();
    dir.file("a/x", &bytes(1, 70_000)).file("b/x", &bytes(1, 70_000));
    for yes in [&[][..], &["--yes"]] {
        let run = dir
            .ftk(["dup", "prune", ".", "--json", "--dirs", "--action", "move=../to"])
            .args(yes)
            .run()
            .status(0);
        let last: Value = serde_json::from_str(run.text().lines().last().unwrap()).unwrap();
        let summary = &last["summary"];
        assert_eq!((&summary["files"], &summary["freed_bytes"]), (&1.into(), &0.into()), "{yes:?}");
    }
}
