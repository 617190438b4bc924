//! Commands that use the manifests of shards: within the range of one, or all parts as one manifest.

use std::fs;

use crate::harness::{Dir, Run};

use super::super::records::{Manifest, lines, seal};

/// A tree of three directories and a file, its manifest, and a plan with three shards.
fn planned() -> Dir {
    let dir = Dir::on_disk();
    for name in ["a/one", "a/two", "b/one", "b/two", "c/one", "c/two", "d"] {
        dir.file(format!("t/{name}"), name.as_bytes());
    }
    dir.file("t/b/\n", b"newline").raw_file(b"t/b/\xff", b"no UTF-8");
    run(&dir, &["create", "t", "-o", "whole.jsonl"]).status(0);
    run(&dir, &["plan", "--shards", "3", "whole.jsonl", "-o", "plan"]).status(0);
    dir.dir("parts").dir("hashed");
    dir
}

fn run(dir: &Dir, args: &[&str]) -> Run {
    dir.ftk(["manifest"]).args(args).run()
}

fn part(number: u32) -> String {
    format!("parts/part-{number}.jsonl")
}

fn create(dir: &Dir, number: u32) {
    let (shard, part) = (format!("{number}/3"), part(number));
    run(dir, &["create", "--shard", &shard, "--plan", "plan", "t", "-o", &part, "--force"]).status(0);
}

/// The tree with parts of all shards: by the plan, and by hash.
fn parted() -> Dir {
    let dir = planned();
    for number in 1..=3 {
        create(&dir, number);
        let (shard, part) = (format!("{number}/3"), format!("hashed/{number}.jsonl"));
        run(&dir, &["create", "--shard", &shard, "t", "-o", &part]).status(0);
    }
    dir
}

/// Returns the number of the part that has an entry.
fn owner(dir: &Dir, path: &str) -> u32 {
    let has = |number: &u32| Manifest::read(&dir.path(part(*number))).entries.contains_key(path.as_bytes());
    let owners: Vec<_> = (1..=3).filter(has).collect();
    assert_eq!(owners.len(), 1, "{path} has one owner");
    owners[0]
}

#[test]
fn each_part_is_verified_within_its_shard() {
    let dir = parted();
    for set in ["parts/part-", "hashed/"] {
        for number in 1..=3 {
            run(&dir, &["verify", "t", &format!("{set}{number}.jsonl")]).status(0).stdout("");
        }
    }
    // Damage, a new file and a missing one are each found by exactly one shard.
    dir.file("t/b/two", b"B/TWO!!").file("t/bb", b"new");
    fs::remove_file(dir.path("t/c/one")).unwrap();
    for set in ["parts/part-", "hashed/"] {
        let mut found = Vec::new();
        for number in 1..=3 {
            let run = run(&dir, &["verify", "--mode", "content", "t", &format!("{set}{number}.jsonl")]);
            found.extend(
                run.text().lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")),
            );
        }
        found.sort();
        assert_eq!(found, ["missing c/one", "modified b/two", "new bb"], "{set}");
    }
}

#[test]
fn a_whole_manifest_is_verified_and_updated_within_a_shard() {
    let dir = parted();
    for number in 1..=3 {
        let shard = ["--shard", &format!("{number}/3"), "--plan", "plan"];
        let verify = [&["verify", "t", "whole.jsonl", "--all"][..], &shard].concat();
        let entries = Manifest::read(&dir.path(part(number))).paths.len();
        let run_ = run(&dir, &verify).status(0);
        assert_eq!(run_.text().lines().count(), entries);
        let new = format!("new-{number}.jsonl");
        run(&dir, &[&["update", "t", "whole.jsonl", "-o", &new][..], &shard].concat()).status(0);
        let [new, old] = [new, part(number)].map(|path| Manifest::read(&dir.path(path)).untimed());
        assert_eq!(new.entries, old.entries);
        assert_eq!(new.header["shard"], old.header["shard"]);
    }
    let shard = ["--shard", "1/3", "--plan", "plan"];
    let replaced = [&["update", "t", "whole.jsonl", "-o", "whole.jsonl"][..], &shard].concat();
    run(&dir, &replaced).status(2).stderr_has("the new manifest must not replace it");
    run(&dir, &[&["scrub", "t", "whole.jsonl"][..], &shard].concat())
        .status(2)
        .stderr_has("records more than one shard");
    run(&dir, &["verify", "t", "whole.jsonl"]).status(0);
}

#[test]
fn a_shard_that_is_named_must_be_that_of_the_part() {
    let dir = parted();
    for command in ["verify", "scrub"] {
        let with = |shard: &str, plan: &[&str], path: &str| {
            run(&dir, &[&[command, "t", path, "--shard", shard][..], plan].concat())
        };
        with("2/3", &["--plan", "plan"], &part(2)).status(0);
        with("2/3", &[], "hashed/2.jsonl").status(0);
        for (shard, plan, path) in [
            ("1/3", &["--plan", "plan"][..], &*part(2)),
            ("2/3", &[], &part(2)),
            ("2/4", &[], "hashed/2.jsonl"),
            ("2/3", &["--plan", "plan"], "hashed/2.jsonl"),
        ] {
            with(shard, plan, path).status(2).stderr_has("it records shard 2 of 3");
        }
    }
}

#[test]
fn parts_are_updated_and_scrubbed_alone_and_stay_a_set() {
    let dir = parted();
    dir.file("t/b/two", b"edited and longer").file("t/bb", b"new").file("t/zz", b"new");
    fs::remove_file(dir.path("t/c/one")).unwrap();
    for set in ["parts/part-", "hashed/"] {
        for number in 1..=3 {
            let part = format!("{set}{number}.jsonl");
            run(&dir, &["update", "--max-missing", "100%", "t", &part, "-o", &part]).status(0);
            run(&dir, &["scrub", "t", &part]).status(0);
        }
        let folder = set.split('/').next().unwrap();
        run(&dir, &["verify", "t", folder]).status(0).stdout("");
        let merged = format!("{folder}.jsonl");
        let paths = [1, 2, 3].map(|number| format!("{set}{number}.jsonl"));
        run(&dir, &["merge", &paths[0], &paths[1], &paths[2], "-o", &merged]).status(0);
        run(&dir, &["create", "t", "-o", "again.jsonl", "--force"]).status(0);
        let [merged, once] =
            [&*merged, "again.jsonl"].map(|path| Manifest::read(&dir.path(path)).untimed().entries);
        assert_eq!(merged, once, "{set}");
    }
}

#[test]
fn guards_count_within_the_shard() {
    let dir = parted();
    let number = owner(&dir, "c/one");
    for name in ["c/one", "c/two", "d"] {
        fs::remove_file(dir.path(format!("t/{name}"))).unwrap();
    }
    let before = fs::read(dir.path(part(number))).unwrap();
    for command in [&["update", "t", &part(number), "-o", &part(number)][..], &["scrub", "t", &part(number)]]
    {
        run(&dir, command).status(2).stderr_has("recorded entries are missing");
        assert_eq!(fs::read(dir.path(part(number))).unwrap(), before);
    }
    run(&dir, &["update", "t", "whole.jsonl", "-o", "new.jsonl"]).status(0);
    let others = (1..=3).filter(|other| *other != number);
    others.for_each(|other| drop(run(&dir, &["scrub", "t", &part(other)]).status(0)));
}

#[test]
fn an_entry_of_another_shard_is_an_error() {
    let dir = parted();
    let number = owner(&dir, "a/one");
    let mut lines = lines(&dir.path(part(number)));
    let other = fs::read_to_string(dir.path("whole.jsonl")).unwrap();
    lines.push(other.lines().find(|line| line.starts_with("{\"path\":\"d\"")).unwrap().to_owned());
    fs::write(dir.path(part(number)), seal(&lines)).unwrap();
    for args in [
        &["verify", "t", &part(number)][..],
        &["update", "t", &part(number), "-o", "new.jsonl"],
        &["scrub", "t", &part(number)],
        &["diff", "whole.jsonl", "parts"],
        &["unique", "parts", "whole.jsonl"],
    ] {
        run(&dir, args).status(2).stderr_has("'d' belongs to another shard");
    }
}

#[test]
fn a_directory_of_parts_is_a_manifest() {
    let dir = parted();
    for set in ["parts", "hashed"] {
        run(&dir, &["verify", "t", set]).status(0).stdout("");
        run(&dir, &["diff", "whole.jsonl", set]).status(0).stdout("");
        run(&dir, &["diff", set, "whole.jsonl"]).status(0).stdout("");
        run(&dir, &["unique", set, "whole.jsonl"]).status(0).stdout("");
        run(&dir, &["update", "t", set, "-o", "new.jsonl", "--force"]).status(0);
        run(&dir, &["diff", "whole.jsonl", "new.jsonl"]).status(0).stdout("");
    }
    run(&dir, &["diff", "parts", "hashed"]).status(0).stdout("");
}

#[test]
fn sets_that_are_not_complete_are_refused() {
    let dir = parted();
    let refused = |why: &str| {
        for args in [
            &["verify", "t", "parts"][..],
            &["diff", "whole.jsonl", "parts"],
            &["unique", "parts", "whole.jsonl"],
        ] {
            run(&dir, args).status(2).stderr_has(why);
        }
    };
    fs::rename(dir.path(part(2)), dir.path("two")).unwrap();
    refused("1 of 3 shards are missing: 2");
    fs::copy(dir.path(part(1)), dir.path("parts/copy.jsonl")).unwrap();
    refused("both are shard 1");
    fs::copy(dir.path("hashed/2.jsonl"), dir.path("parts/copy.jsonl")).unwrap();
    refused("they have different plans");
    fs::copy(dir.path("whole.jsonl"), dir.path("parts/copy.jsonl")).unwrap();
    refused("'parts/copy.jsonl': it records a whole tree");
    fs::copy(dir.path("two"), dir.path("parts/copy.jsonl")).unwrap();
    run(&dir, &["verify", "t", "parts"]).status(0);
    // A part from a run by another plan.
    run(&dir, &["plan", "--shards", "3", "--by", "bytes", "whole.jsonl", "-o", "other"]).status(0);
    run(&dir, &["create", "--shard", "2/3", "--plan", "other", "t", "-o", "parts/copy.jsonl", "--force"])
        .status(0);
    refused("they have different plans");
    for number in 1..=3 {
        _ = fs::remove_file(dir.path(part(number)));
    }
    fs::remove_file(dir.path("parts/copy.jsonl")).unwrap();
    for args in [["verify", "t", "parts"], ["diff", "whole.jsonl", "parts"]] {
        run(&dir, &args).status(2).stderr_has("is a directory without parts");
    }
    // For `unique`, a directory without parts is a tree.
    run(&dir, &["unique", "parts", "whole.jsonl"]).status(2).stderr_has("'parts' has no files");
    run(&dir, &["verify", "t", "hashed/1.jsonl"]).status(0);
    run(&dir, &["diff", "whole.jsonl", "hashed/1.jsonl"])
        .status(2)
        .stderr_has("it records only shard 1 of 3");
}

/// Each shard sees one half of the move. Nothing is lost, and all parts together show it.
#[test]
fn a_file_that_moves_to_the_range_of_another_shard_is_moved() {
    let dir = parted();
    let (from, to) = (owner(&dir, "a/one"), owner(&dir, "d"));
    assert_ne!(from, to, "the ranges differ");
    fs::create_dir(dir.path("before")).unwrap();
    for number in 1..=3 {
        fs::copy(dir.path(part(number)), dir.path(format!("before/{number}.jsonl"))).unwrap();
    }
    fs::rename(dir.path("t/a/one"), dir.path("t/e")).unwrap();
    let half = |number| run(&dir, &["verify", "--mode", "content", "t", &part(number)]).status(1);
    assert!(half(from).text().contains("missing\ta/one\n"));
    assert!(half(to).text().contains("new\te\n"));
    for number in 1..=3 {
        run(&dir, &["update", "t", &part(number), "-o", &part(number)]).status(0);
    }
    let diff = run(&dir, &["diff", "--mode", "content", "before", "parts"]).status(1);
    assert_eq!(diff.text(), "moved\ta/one\t→ e\n");
    run(&dir, &["unique", "before", "parts"]).status(0).stdout("");
}

#[test]
fn a_tree_that_contains_its_parts_does_not_record_them() {
    let dir = parted();
    fs::rename(dir.path("parts"), dir.path("t/parts")).unwrap();
    let verify = run(&dir, &["verify", "--mode", "content", "t", "t/parts"]).status(1);
    assert_eq!(verify.text(), "new\tparts\n");
}
