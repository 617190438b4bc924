//! Wrong totals, and work that does not end.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Dir, Mounted, bytes, gnu_find, wait_until};

/// Returns the numbers of files and freed bytes that a run of `prune --yes` reports.
fn prune(dir: &Dir, action: &str, tree: &Path) -> (u64, u64) {
    let run = dir.ftk(["dup", "prune", "--yes", "--json", "--action", action]).arg(tree).run().status(0);
    let last: Value = serde_json::from_str(run.text().lines().last().unwrap()).unwrap();
    let summary = &last["summary"];
    (summary["files"].as_u64().unwrap(), summary["freed_bytes"].as_u64().unwrap())
}

/// Files with the attribute `C` cannot share blocks with files without it; the kernel returns `EINVAL`.
#[test]
fn h68_a_file_that_cannot_share_blocks_is_refused_once() {
    let Some(mounted) = Mounted::new("btrfs") else { return };
    let content = bytes(3, 300_000);
    for (nth, fixed) in ["a", "b"].into_iter().enumerate() {
        let tree = mounted.path(&format!("tree{nth}"));
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(fixed), b"").unwrap();
        assert!(Command::new("chattr").arg("+C").arg(tree.join(fixed)).status().unwrap().success());
        for name in ["a", "b"] {
            fs::write(tree.join(name), &content).unwrap();
        }
        let dir = Dir::new();
        for args in [&[][..], &["--keep", "newest"]] {
            let run = dir.ftk(["dup", "prune", "--yes", "--action", "reflink"]).args(args).arg(&tree).run();
            let run = run.status(2).stderr_has("; 1 refused");
            run.check(run.err.matches(": refused: ").count() == 1, "refused once");
            run.check(
                run.err.contains("does not support this action on these files"),
                "the reason is printed",
            );
            for name in ["a", "b"] {
                assert!(fs::read(tree.join(name)).unwrap() == content, "{name}");
            }
        }
    }
}

/// Many files that end in the middle of a block, so that an overestimate for each would add up.
fn unaligned_tails(kind: &str) {
    const FILES: u64 = 300;
    /// Blocks of metadata are allocated and freed, too.
    const TOLERANCE: u64 = 1 << 19;
    let Some(mounted) = Mounted::new(kind) else { return };
    let dir = Dir::new();
    let tree = mounted.path("tree");
    fs::create_dir(&tree).unwrap();
    for nth in 0..FILES {
        // Two blocks, the last of them partly filled.
        let content = bytes(nth, 4097 + nth as usize);
        for copy in ["a", "b"] {
            fs::write(tree.join(format!("{nth}{copy}")), &content).unwrap();
        }
    }
    let before = mounted.used();
    let (files, said) = prune(&dir, "reflink", &tree);
    assert_eq!(files, FILES, "{kind}");
    let freed = || before.saturating_sub(mounted.used());
    assert!(said.abs_diff(freed()) <= TOLERANCE, "{kind}: {said} said, {} found", freed());
    // h70: another run frees nothing and reports that.
    let before = mounted.used();
    assert_eq!(prune(&dir, "reflink", &tree), (0, 0), "{kind}");
    assert!(before.abs_diff(mounted.used()) <= TOLERANCE, "{kind}");
}

#[test]
fn h69_h70_tails_of_blocks_on_btrfs() {
    unaligned_tails("btrfs");
}

#[test]
fn h69_h70_tails_of_blocks_on_xfs() {
    unaligned_tails("xfs");
}

#[test]
fn h70_a_second_run_frees_nothing() {
    let Some(mounted) = Mounted::new("tmpfs") else { return };
    for action in ["hardlink", "symlink", "delete"] {
        let (dir, tree) = (Dir::new(), mounted.path(action));
        fs::create_dir(&tree).unwrap();
        for name in ["a", "b", "c"] {
            fs::write(tree.join(name), bytes(5, 1_000_000)).unwrap();
        }
        fs::hard_link(tree.join("c"), tree.join("d")).unwrap();
        let before = mounted.used();
        let (_, said) = prune(&dir, action, &tree);
        // A symbolic link needs one block or none.
        wait_until(|| said.abs_diff(before - mounted.used()) <= 3 * 4096);
        let after = mounted.used();
        let summary = dir.ftk(["dup", "--summary", "--json"]).arg(&tree).run().status(0);
        summary.check(summary.text().contains("\"freed_bytes\":0,"), "nothing would be freed");
        assert_eq!(prune(&dir, action, &tree), (0, 0), "{action}");
        assert_eq!(mounted.used(), after, "{action}");
    }
}

/// A number of duplicates at which other tools have aborted.
fn many_duplicates(n: u32) {
    let dir = Dir::new();
    for nth in 0..n {
        if nth % 1000 == 0 {
            dir.dir(format!("t/{}", nth / 1000));
        }
        fs::write(dir.path(format!("t/{}/{nth}", nth / 1000)), b"x").unwrap();
    }
    let list = || fs::File::create(dir.aside("list")).unwrap();
    // On a busy machine this takes minutes.
    let ftk = dir.ftk(["dup", "prune", "--yes", "--action", "delete", "t"]).stdout(list());
    let output = ftk.spawn().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let list = fs::read_to_string(dir.aside("list")).unwrap();
    let deleted = list.lines().filter(|line| line.starts_with("  delete   ")).count();
    assert_eq!((deleted, list.lines().count()), (n as usize - 1, n as usize));
    let left = gnu_find(&dir, &["t", "-type", "f"]);
    assert_eq!(left, [b"t/0/0".to_vec()], "one is left");
}

#[test]
fn h75_50_000_duplicates_in_one_run() {
    many_duplicates(50_000);
}

#[test]
#[ignore = "takes minutes: 500,000 files, which a soak prunes"]
fn h75_500_000_duplicates_in_one_run() {
    many_duplicates(500_000);
}

/// Hard links within groups, between directories and to names outside the tree are counted the same way in
/// every run.
#[test]
fn h77_totals_are_the_same_in_every_run() {
    let dir = Dir::new();
    for nth in 0..5 {
        dir.dir(format!("t/{nth}"));
    }
    for nth in 0..60_u64 {
        let content = bytes(nth % 13, 3000 + 500 * (nth as usize % 13));
        dir.file(format!("t/{}/{nth}", nth % 5), &content);
        for copy in 0..nth % 4 {
            dir.hard_link(&format!("t/{}/{nth}", nth % 5), &format!("t/{}/{nth} {copy}", (nth + copy) % 5));
        }
        if nth % 9 == 0 {
            dir.hard_link(&format!("t/{}/{nth}", nth % 5), &format!("elsewhere {nth}"));
        }
    }
    for form in [&["--summary"][..], &["--summary", "--json"], &["--format", "csv"], &["--format", "fdupes"]]
    {
        let run = |threads| dir.ftk(["dup", "-j", threads, "t"]).args(form).run().status(0).out;
        let first = run("mono");
        assert!(!first.is_empty());
        for threads in ["mono", "1", "2", "3", "8", "16", "mono"] {
            assert!(run(threads) == first, "{form:?} {threads}");
        }
    }
}

/// Hard links in directories that many workers list at the same time.
#[test]
fn h77_hard_links_count_for_the_same_directory_in_every_run() {
    let dir = Dir::new();
    for nth in 0..300_u64 {
        dir.file(format!("{}/{}/f{nth}", nth % 7, nth % 11), &bytes(nth, 10 * nth as usize));
        for link in 1..4 {
            let nth_dir = (nth * link) % 13;
            dir.dir(format!("{nth_dir}/x{link}/y"));
            dir.hard_link(&format!("{}/{}/f{nth}", nth % 7, nth % 11), &format!("{nth_dir}/x{link}/y/{nth}"));
        }
    }
    for args in [&["-d9"][..], &["-a", "--apparent-size"], &["-a", "--top", "9"], &["-s"], &["--json"]] {
        let first = dir.ftk(["du", "-j", "mono"]).args(args).run().status(0);
        for threads in ["2", "8", "8", "8"] {
            dir.ftk(["du", "-j", threads]).args(args).run().status(0).stdout(&first.out);
        }
        let mut roots: Vec<_> = (0..13).map(|nth| nth.to_string()).collect();
        let lines = |roots: &[String]| {
            let run = dir.ftk(["du"]).args(args).args(roots).run().status(0);
            let mut lines: Vec<_> = run.text().lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let forwards = lines(&roots);
        roots.reverse();
        assert!(lines(&roots) == forwards, "the order of the arguments changes the sums");
    }
}
