//! Steps that free nothing or change a snapshot are not done, and the reported numbers are what a file system frees.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Dir, Mounted, bytes, wait_until};

/// Runs `btrfs subvolume` with these arguments.
fn subvolume(args: &[&str], paths: &[&Path]) {
    let mut btrfs = Command::new("btrfs");
    btrfs.args(["-q", "subvolume"]).args(args).args(paths);
    assert!(btrfs.status().unwrap().success(), "{btrfs:?}");
}

/// A btrfs with the subvolume `work` that has the file `f`, and its read-only snapshot `snap`.
fn with_snapshot() -> Option<Mounted> {
    let mounted = Mounted::new("btrfs")?;
    let [work, snap] = ["work", "snap"].map(|name| mounted.path(name));
    subvolume(&["create"], &[&work]);
    fs::write(work.join("f"), bytes(7, 1_000_000)).unwrap();
    subvolume(&["snapshot", "-r"], &[&work, &snap]);
    Some(mounted)
}

/// Runs `ftk dup prune` on these paths of the file system, and returns its output.
fn prune(mounted: &Mounted, args: &[&str], paths: &[&str]) -> String {
    let dir = Dir::new();
    let run = dir.ftk(["dup", "prune"]).args(args).args(paths.iter().map(|path| mounted.path(path))).run();
    run.status(0).text().to_owned()
}

/// Returns the lines that begin with this word.
fn lines<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let word = format!("  {word:<8} ");
    text.lines().filter(|line| line.starts_with(&word)).collect()
}

#[test]
fn a_copy_in_a_snapshot_is_neither_kept_nor_removed() {
    let Some(mounted) = with_snapshot() else { return };
    for paths in [&["snap", "work"][..], &["work", "snap"], &["."]] {
        for args in [&["--yes"][..], &["--yes", "--dirs"], &["--yes", "--keep", "first"]] {
            let text = prune(&mounted, &[&["--action", "delete"], args].concat(), paths);
            let left = lines(&text, "leave");
            assert!(left.len() == 1 && left[0].contains("snap"), "{text}");
            assert!(left[0].ends_with("on a read-only file system, mount or subvolume"), "{text}");
            assert!(mounted.path("work/f").exists() && mounted.path("snap/f").exists(), "{args:?}");
        }
    }
    // The only copy outside of a snapshot goes if the user names the one in the snapshot.
    let snap = mounted.path("snap").into_os_string().into_string().unwrap();
    for named in [["--keep".to_owned(), format!("path={snap}/*")], ["--reference".to_owned(), snap]] {
        let text = prune(&mounted, &["--action", "delete", &named[0], &named[1]], &["snap", "work"]);
        assert!(lines(&text, "delete")[0].contains("work/f"), "{text}");
    }
}

#[test]
fn what_a_snapshot_holds_is_not_freed_and_the_plan_says_so() {
    let Some(mounted) = with_snapshot() else { return };
    fs::write(mounted.path("work/long name"), bytes(7, 1_000_000)).unwrap();
    subvolume(&["snapshot", "-r"], &[&mounted.path("work"), &mounted.path("snap2")]);
    for args in [&[][..], &["--yes"]] {
        let text = prune(&mounted, &[&["--action", "delete"], args].concat(), &["work"]);
        let deleted = lines(&text, "delete");
        assert!(deleted.len() == 1 && deleted[0].contains("work/long name"), "{text}");
        assert!(
            deleted[0].ends_with("frees nothing: other files, as in a snapshot, have its blocks"),
            "{text}"
        );
    }
}

#[test]
fn h87_a_snapshot_is_changed_only_on_request() {
    let Some(mounted) = with_snapshot() else { return };
    subvolume(&["create"], &[&mounted.path("other")]);
    fs::write(mounted.path("other/g"), bytes(7, 1_000_000)).unwrap();
    let keep = ["--action", "reflink", "--keep", "newest", "--yes"];
    let text = prune(&mounted, &keep, &["other", "snap"]);
    assert!(lines(&text, "leave")[0].contains("snap/f") && lines(&text, "clone").is_empty(), "{text}");
    assert!(lines(&text, "leave")[0].ends_with("--into-snapshots permits to clone it"), "{text}");
    // A directory with a snapshot in it is taken apart.
    for (nth, name) in ["one", "two"].into_iter().enumerate() {
        let inner = mounted.path(&format!("{name}/inner"));
        fs::create_dir(mounted.path(name)).unwrap();
        subvolume(&["create"], &[&inner]);
        fs::write(inner.join("x"), bytes(8, 1_000_000)).unwrap();
        fs::write(mounted.path(&format!("{name}/y")), bytes(9, 1_000_000)).unwrap();
        if nth == 1 {
            let mut btrfs = Command::new("btrfs");
            btrfs.args(["property", "set", "-ts"]).arg(inner).args(["ro", "true"]);
            assert!(btrfs.status().unwrap().success());
        }
    }
    let dir = Dir::new();
    let args = ["dup", "prune", "--dirs", "--action", "reflink", "--yes"];
    let run = dir.ftk(args).args(["one", "two"].map(|name| mounted.path(name))).run().status(2);
    let refused: Vec<_> = run.err.lines().filter(|line| line.contains(": refused: ")).collect();
    assert!(refused.len() == 1 && refused[0].contains("two/inner/x"), "{}", run.err);
    let why = "in a read-only subvolume, such as a snapshot: --into-snapshots permits to clone it";
    run.check(refused[0].ends_with(&format!("the victim is {why}")), "the reason");
    // Nothing is freed as long as another file has the blocks.
    let into = [&keep[..], &["--into-snapshots"]].concat();
    let text = prune(&mounted, &into, &["other", "snap"]);
    assert!(lines(&text, "leave")[0].contains("frees nothing"), "{text}");
    fs::remove_file(mounted.path("work/f")).unwrap();
    assert!(Command::new("sync").arg("-f").arg(mounted.path(".")).status().unwrap().success());
    let text = prune(&mounted, &into, &["other", "snap"]);
    assert!(lines(&text, "clone")[0].contains("snap/f"), "{text}");
    let delete = ["dup", "prune", "--action", "delete", "--into-snapshots", "."];
    dir.ftk(delete).run().status(2).stderr_has("--into-snapshots needs --action reflink");
}

/// A directory is not removed because a kept one has its files in a snapshot.
#[test]
fn a_snapshot_inside_a_kept_directory_is_no_copy() {
    let Some(mounted) = with_snapshot() else { return };
    fs::create_dir_all(mounted.path("a")).unwrap();
    subvolume(&["snapshot", "-r"], &[&mounted.path("work"), &mounted.path("a/sub")]);
    fs::create_dir_all(mounted.path("longer/sub")).unwrap();
    fs::write(mounted.path("longer/sub/f"), bytes(7, 1_000_000)).unwrap();
    let dir = Dir::new();
    let args = ["dup", "prune", "--dirs", "--action", "delete", "--yes"];
    let run = dir.ftk(args).args(["a", "longer"].map(|name| mounted.path(name))).run();
    run.check(mounted.path("longer/sub/f").exists(), "the copy that can be written");
}

#[test]
fn h88_links_are_not_torn_from_names_outside_of_the_scan() {
    for action in ["hardlink", "symlink"] {
        let dir = Dir::new();
        dir.file("d0/f", b"the same").file("d1/f", b"the same").dir("d2").hard_link("d1/f", "d2/f");
        let run = dir.ftk(["dup", "prune", "--yes", "--action", action, "d0", "d1"]).run().status(0);
        run.check(lines(run.text(), "keep")[0].contains("d1/f"), "the file with a name outside is kept");
        let text = run.text();
        assert!(text.contains(" d0/f ") && text.contains("  frees 4.10 kB"), "{text}");
        assert_eq!(dir.path("d1/f").metadata().unwrap().nlink(), if action == "hardlink" { 3 } else { 2 });
        // A rule comes first. Then nothing is freed, so nothing is done.
        let dir = Dir::new();
        dir.file("d0/f", b"the same").file("d1/f", b"the same").dir("d2").hard_link("d1/f", "d2/f");
        let args = ["dup", "prune", "--yes", "--action", action, "--keep", "first", "d0", "d1"];
        let run = dir.ftk(args).run().status(0);
        let left = lines(run.text(), "leave");
        assert!(left.len() == 1 && left[0].contains("d1/f"), "{}", run.text());
        assert!(left[0].ends_with("frees nothing: other links or files have its blocks, or it has none"));
        assert_eq!(dir.path("d1/f").metadata().unwrap().nlink(), 2);
    }
}

#[test]
fn several_links_that_free_space_together_are_made() {
    let dir = Dir::new();
    dir.file("a", b"the same").file("b", b"the same").hard_link("b", "c").hard_link("b", "d");
    let run = dir.ftk(["dup", "prune", "--yes", "--action", "hardlink", "--keep", "first", "."]).run();
    let linked = lines(run.status(0).text(), "link").len();
    assert_eq!((linked, dir.path("a").metadata().unwrap().nlink()), (3, 4));
}

#[test]
fn files_without_blocks_are_not_linked() {
    let dir = Dir::new();
    dir.file("e", b"").file("f", b"").hole("h", 1 << 20).hole("i", 1 << 20);
    for action in ["hardlink", "symlink"] {
        let args = ["dup", "prune", "--yes", "--min-size", "0", "--action", action, "."];
        let run = dir.ftk(args).run().status(0);
        let left = lines(run.text(), "leave").len();
        run.check(left == 2 && lines(run.text(), "link").is_empty(), "both stay");
        for name in ["e", "f", "h", "i"] {
            assert_eq!(dir.path(name).symlink_metadata().unwrap().nlink(), 1);
        }
    }
    // In whole directories, too.
    let dir = Dir::new();
    dir.hole("a/h", 1 << 20).file("a/f", b"content").hole("bb/h", 1 << 20).file("bb/f", b"content");
    let run = dir.ftk(["dup", "prune", "--yes", "--dirs", "--action", "hardlink", "."]).run().status(0);
    assert!(lines(run.text(), "leave")[0].contains("h") && lines(run.text(), "link").len() == 1);
}

/// Returns what all outputs say that a deletion frees, for people and in JSON: `4.10 kB` and the bytes, and whether these
/// are an upper bound. They must agree.
fn promised(dir: &Dir, tree: &Path) -> (String, u64, bool) {
    let json = |args: &[&str]| -> Value {
        let run = dir.ftk(args).arg(tree).run().status(0);
        serde_json::from_str(run.text().lines().last().unwrap()).unwrap()
    };
    let is_upper_bound = |object: &Value| object["is_upper_bound"].as_bool().unwrap_or_default();
    let totals = json(&["dup", "--summary", "--json"]);
    let plan = &json(&["dup", "prune", "--action", "delete", "--json"])["summary"];
    assert_eq!(totals["freed_bytes"], plan["freed_bytes"]);
    assert_eq!(is_upper_bound(&totals), is_upper_bound(plan));
    let text = dir.ftk(["dup", "--summary"]).arg(tree).run().status(0).text().to_owned();
    let text = text.rsplit_once("pruning would free ").unwrap().1.trim_end();
    for args in [&["dup"][..], &["dup", "-0"], &["dup", "--format", "screen"], &["dup", "--json"]] {
        let run = dir.ftk(args).arg(tree).run().status(0);
        run.stderr_has(&format!("pruning would free {text}\n"));
    }
    if text != "nothing" {
        let run = dir.ftk(["dup", "prune", "--action", "delete"]).arg(tree).run().status(0);
        run.stderr_has(&format!(" and free {text}."));
    }
    let page = dir.aside("page.html");
    dir.ftk(["report", "--dup", "-o"]).arg(&page).arg(tree).run().status(0);
    let page = fs::read_to_string(page).unwrap();
    let data = format!("\"freed_bytes\":{},\"is_upper_bound\":{}", plan["freed_bytes"], is_upper_bound(plan));
    assert!(page.contains(&data), "{data}");
    (text.to_owned(), plan["freed_bytes"].as_u64().unwrap(), is_upper_bound(plan))
}

/// Deletes the surplus copies, and checks that the file system and the last line say what was promised.
fn assert_promise_is_kept(mounted: &Mounted, (text, bytes, _): &(String, u64, bool)) {
    let dir = Dir::new();
    let before = mounted.used();
    let run = dir.ftk(["dup", "prune", "--action", "delete", "--yes"]).arg(mounted.path("t")).run().status(0);
    let bare = text.strip_prefix("up to ").unwrap_or(text);
    run.check(
        run.err.contains(&format!(" freed {bare}\n")) || run.err.contains(&format!(" freed {text}\n")),
        text,
    );
    // Blocks of metadata are allocated and freed, too.
    wait_until(|| bytes.abs_diff(before.saturating_sub(mounted.used())) <= 1 << 19);
}

#[test]
fn all_numbers_are_what_a_deletion_frees() {
    let dir = Dir::new();
    for name in ["a", "b", "c"] {
        dir.file(format!("t/{name}"), &bytes(1, 250_000));
    }
    let blocks = fs::metadata(dir.path("t/a")).unwrap().blocks() * 512;
    assert_eq!(promised(&dir, &dir.path("t")).1, 2 * blocks);
    // Of two files, the rules keep the older one, and the other one has a name outside of the tree.
    let dir = Dir::new();
    dir.file("t/old", b"same").file("t/a", b"same").hard_link("t/a", "outside");
    dir.ftk([""; 0]).instead(&dir, ["touch", "-d", "2001-01-01", "t/old"]).run().status(0);
    assert_eq!(promised(&dir, &dir.path("t")), ("nothing".to_owned(), 0, false));
}

/// A report does not plan a group of so many names, which need not fit into memory.
#[test]
fn the_figure_of_a_huge_group_is_an_upper_bound() {
    let dir = Dir::new();
    dir.file("t/!", b"same").file("t/a", b"same");
    (0..32_768).for_each(|nth| fs::hard_link(dir.path("t/a"), dir.path(format!("t/{nth}"))).unwrap());
    let blocks = fs::metadata(dir.path("t/a")).unwrap().blocks() * 512;
    let text = format!("pruning would free up to {}\n", indicatif::DecimalBytes(blocks));
    for args in [&["dup", "t"][..], &["dup", "--format", "screen", "t"], &["dup", "--json", "t"]] {
        dir.ftk(args).run().status(0).stderr_has(&format!("  1 surplus copy; {text}"));
    }
    dir.ftk(["dup", "--summary", "t"]).run().status(0).stdout(format!("1 surplus copy; {text}"));
    let totals = dir.ftk(["dup", "--summary", "--json", "t"]).run().status(0);
    let totals: Value = serde_json::from_str(totals.text()).unwrap();
    assert_eq!((&totals["freed_bytes"], &totals["is_upper_bound"]), (&blocks.into(), &true.into()));
}

#[test]
fn shared_blocks_make_an_upper_bound() {
    for kind in ["btrfs", "xfs"] {
        let Some(mounted) = Mounted::new(kind) else { return };
        fs::create_dir(mounted.path("t")).unwrap();
        let cp = |from: &str, to: &str| {
            let mut cp = Command::new("cp");
            cp.args(["--reflink=always"]).args([mounted.path(from), mounted.path(to)]);
            assert!(cp.status().unwrap().success());
        };
        let sync =
            || assert!(Command::new("sync").arg("-f").arg(mounted.path(".")).status().unwrap().success());
        // The file a is the oldest, and c is a clone of b.
        let content = bytes(5, 1 << 22);
        fs::write(mounted.path("t/a"), &content).unwrap();
        fs::write(mounted.path("t/b"), &content).unwrap();
        sync();
        cp("t/b", "t/c");
        sync();
        let both = promised(&Dir::new(), &mounted.path("t"));
        assert_eq!(both, ("up to 4.19 MB".to_owned(), 1 << 22, true), "{kind}");
        assert_promise_is_kept(&mounted, &both);
        // A clone of the kept file frees nothing, and a copy of it everything.
        cp("t/a", "t/d");
        fs::write(mounted.path("t/e"), &content).unwrap();
        sync();
        let copy = promised(&Dir::new(), &mounted.path("t"));
        assert_eq!(copy, ("4.19 MB".to_owned(), 1 << 22, false), "{kind}");
        assert_promise_is_kept(&mounted, &copy);
    }
}
