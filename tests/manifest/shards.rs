//! A tree that is recorded in shards, on many hosts, and merged.

mod holes;
mod many;
mod model;
mod shapes;
mod uses;

use std::fs;

use super::records::{Manifest, create, lines_with_trees, seal};
use crate::harness::{Dir, Paused, bytes, has_open, sha256, wait_until};

/// Creates a tree whose names are prefixes of each other.
fn tree() -> Dir {
    let dir = Dir::on_disk();
    for path in [
        "a/x/1",
        "a/x/2",
        "a/y",
        "a-b",
        "ab/c/d",
        "b/.hidden",
        "b/big",
        "z",
        "src/a.c",
        "src/b.o",
        "src/sub/c.o",
    ] {
        dir.file(path, path.as_bytes());
    }
    dir.raw_file(b"a\xff/\xff", b"1").raw_file(b"b/\n", b"2").raw_file(b"b/\n\n", b"3").dir("empty");
    dir.symlink("z", "link").fifo("pipe");
    fs::hard_link(dir.path("z"), dir.path("a/y2")).unwrap();
    dir
}

/// Records all shards, with a plan or without, and returns the arguments of `merge`.
#[track_caller]
fn record(dir: &Dir, shards: u32, plan: Option<&str>, options: &[&str]) -> Vec<String> {
    let mut args = vec!["manifest".to_owned(), "merge".to_owned()];
    for number in 1..=shards {
        let (shard, part) = (format!("{number}/{shards}"), format!("../part-{number}.jsonl"));
        let ftk =
            dir.ftk(["manifest", "create", "--shard", &shard, ".", "-o", &part, "--force"]).args(options);
        let ftk = if let Some(plan) = plan { ftk.args(["--plan", plan]) } else { ftk };
        ftk.run().status(0).stdout("");
        args.insert(2, part); // the order does not matter
    }
    args
}

/// The lines between header and footer, without link groups: no shard knows all names of a file.
fn entries(bytes: &[u8]) -> String {
    let text: Vec<_> = str::from_utf8(bytes).unwrap().split_inclusive('\n').collect();
    text[1..text.len() - 1].iter().map(|line| without_group(line)).collect()
}

fn without_group(line: &str) -> String {
    match line.split_once(",\"link_group\":\"") {
        Some((before, after)) => format!("{before}{}", after.split_once('"').unwrap().1),
        None => line.to_owned(),
    }
}

#[test]
fn merged_shards_are_the_manifest_of_a_single_run() {
    let dir = tree();
    for options in [
        &[][..],
        &["--no-content"],
        &["-a", "md5,sha256", "--no-xattrs"],
        &["-E", "*.o"],
        &["--max-depth", "0"],
        &["--max-depth", "1"],
        &["--max-depth", "2"],
        &["-n", "*.c", "--no-hidden"],
        &["-t", "f"],
    ] {
        let one = create(&dir, options);
        for by in ["entries", "bytes", "cost"] {
            let plan = |source: &[&str]| {
                let plan = ["manifest", "plan", "--shards", "5", "-o", "../plan", "--by", by, "--force"];
                dir.ftk(plan).args(source).run().stdout("")
            };
            // The header says which directory `.` is, whatever the options select.
            plan(&["../manifest"]).status(0);
            let merge = record(&dir, 5, Some("../plan"), options);
            let merged = dir.ftk(&merge).run().status(0).out;
            assert_eq!(entries(&merged), entries(&fs::read(&one).unwrap()), "{options:?} {by}");
        }
        for shards in [1, 2, 7] {
            let merge = record(&dir, shards, None, options);
            let merged = dir.ftk(&merge).run().status(0).out;
            assert_eq!(entries(&merged), entries(&fs::read(&one).unwrap()), "{options:?} {shards}");
        }
        fs::remove_file(one).unwrap();
    }
}

/// A plan of the tree itself is that of its manifest, and shards find what is new since.
#[test]
fn new_paths_belong_to_one_shard() {
    let dir = tree();
    create(&dir, &[]);
    let plan = |source: &str| {
        dir.ftk(["manifest", "plan", "--shards", "4", "--by", "bytes", source]).run().status(0).out
    };
    let plan = |source: &str| String::from_utf8(plan(source)).unwrap();
    let (of_tree, of_manifest) = (plan("."), plan("../manifest"));
    let shards = |plan: &str| plan.lines().skip(1).take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(shards(&of_tree), shards(&of_manifest));
    fs::write(dir.aside("plan"), of_tree).unwrap();
    for path in ["a", "a/", "a/x/", "ab/", "src/sub/", "zz"].map(|start| format!("{start}-new")) {
        dir.file(&path, b"new");
    }
    fs::remove_file(dir.path("b/big")).unwrap();
    let one = create_again(&dir);
    let merged = dir.ftk(record(&dir, 4, Some("../plan"), &[])).run().status(0).out;
    assert_eq!(entries(&merged), entries(&one));
    // Hard links are found in different shards.
    let merged = Manifest::parse(&merged);
    let inode = |path: &str| (merged.entry(path)["fs"].clone(), merged.entry(path)["ino"].clone());
    assert_eq!(inode("z"), inode("a/y2"));
}

fn create_again(dir: &Dir) -> Vec<u8> {
    dir.ftk(["manifest", "create", "."]).run().status(0).out
}

/// Everything that needs a whole manifest refuses a part.
#[test]
fn a_part_is_not_a_whole_manifest() {
    let dir = tree();
    create(&dir, &[]);
    dir.ftk(["manifest", "create", "--shard", "2/3", ".", "-o", "../part"]).run().status(0);
    for args in [
        &["manifest", "diff", "../part", "../manifest"][..],
        &["manifest", "diff", "../manifest", "../part"],
        &["manifest", "unique", "../manifest", "../part"],
        &["manifest", "export", "--format", "mtree", "../part"],
        &["manifest", "repair", ".", "../part", "--from", "."],
        &["manifest", "plan", "--shards", "2", "../part"],
    ] {
        let run = dir.ftk(args).run().status(2).stdout("");
        run.stderr_has("records only shard 2 of 3: `ftk manifest merge`");
    }
    dir.ftk(["manifest", "merge", "../manifest"])
        .run()
        .status(2)
        .stderr_has("'../manifest': it records a whole tree");
}

#[test]
fn plans_for_something_else_are_refused() {
    let dir = tree();
    dir.ftk(["manifest", "plan", "--shards", "3", ".", "-o", "../plan"]).run().status(0);
    let refused = |args: &[&str], why: &str| {
        let run = dir.ftk(["manifest", "create", "-o", "../part"]).args(args).run().status(2).stdout("");
        run.stderr_has(why);
        assert!(!dir.aside("part").exists(), "{args:?}");
    };
    refused(&["--shard", "1/3", "--plan", "../plan", "src"], "which is another directory than 'src'");
    refused(&["--shard", "1/4", "--plan", "../plan", "."], "the plan has 3 shards, and 4 are requested");
    refused(&["--shard", "1/3", "--plan", "../plan", ".", "-E", "*.o"], "a plan for a tree with no options");
    refused(&["--shard", "4/3", "--plan", "../plan", "."], "there is no shard 4 of 3");
    refused(&["--shard", "0/3", "."], "there is no shard 0 of 3");
    refused(&["--plan", "../plan", "."], "--shard <K/N>");
    refused(&["--shard", "1/3", "--plan", "../none", "."], "cannot open '../none'");
    refused(&["--shard", "1/3", "--plan", "z", "."], "'z': incomplete");
    let plan = fs::read_to_string(dir.aside("plan")).unwrap();
    fs::write(dir.aside("plan"), plan.replace("\"shards\":3", "\"shards\":2")).unwrap();
    refused(&["--shard", "1/2", "--plan", "../plan", "."], "'../plan': ");
    // The same directory under another path.
    fs::write(dir.aside("plan"), plan).unwrap();
    std::os::unix::fs::symlink(dir.path("."), dir.aside("way")).unwrap();
    for root in [".", "../way", "../way/.", "src/.."] {
        dir.ftk(["manifest", "create", "--shard", "1/3", "--plan", "../plan", root]).run().status(0);
    }
}

#[test]
fn a_shard_replaces_only_its_own_earlier_manifest() {
    let dir = tree();
    dir.ftk(["manifest", "plan", "--shards", "3", ".", "-o", "../plan"]).run().status(0);
    let shard =
        |args: &[&str]| dir.ftk(["manifest", "create", ".", "-o", "../part", "--shard"]).args(args).run();
    shard(&["1/3", "--plan", "../plan"]).status(0);
    shard(&["1/3", "--plan", "../plan"]).status(0);
    let before = fs::read(dir.aside("part")).unwrap();
    for other in [&["2/3", "--plan", "../plan"][..], &["1/3"], &["1/4"]] {
        shard(other).status(2).stderr_has("is a manifest");
    }
    assert_eq!(fs::read(dir.aside("part")).unwrap(), before);
    // Without a plan, too, another tree and other options are not the same shard.
    fs::remove_file(dir.aside("part")).unwrap();
    shard(&["1/4"]).status(0);
    shard(&["1/4"]).status(0);
    let hashed = fs::read(dir.aside("part")).unwrap();
    let other = dir.ftk(["manifest", "create", "--shard", "1/4", "src", "-o", "../part"]).run();
    other.status(2).stderr_has("is a manifest");
    for other in [&["-E", "*.o"][..], &["-a", "md5"], &["--no-content"], &["--no-xattrs"]] {
        shard(&[&["1/4"], other].concat()).status(2).stderr_has("is a manifest");
    }
    assert_eq!(fs::read(dir.aside("part")).unwrap(), hashed);
    fs::write(dir.aside("part"), &before).unwrap();
    // A plan is not replaced, since the parts made with it would lose their meaning.
    let plan = fs::read(dir.aside("plan")).unwrap();
    for command in [&["plan", "--shards", "4", "."][..], &["create", "."], &["merge", "../part"]] {
        let run = dir.ftk(["manifest"]).args(command).args(["-o", "../plan"]).run();
        run.status(2).stderr_has("is a plan");
    }
    assert_eq!(fs::read(dir.aside("plan")).unwrap(), plan);
    dir.ftk(["manifest", "plan", "--shards", "4", ".", "-o", "../plan", "--force"]).run().status(0);
    // Neither a plan nor a merge replaces a manifest.
    dir.ftk(["manifest", "plan", "--shards", "3", ".", "-o", "../part"])
        .run()
        .status(2)
        .stderr_has("is a manifest");
    dir.ftk(["manifest", "merge", "../part", "-o", "../part", "--force"])
        .run()
        .status(2)
        .stderr_has("both input and output");
    assert_eq!(fs::read(dir.aside("part")).unwrap(), before);
}

/// A killed shard leaves nothing, and two runs of one shard make one complete file.
#[test]
fn killed_and_repeated_shards() {
    let dir = Dir::on_disk();
    dir.file("large", &bytes(1, 3_000_000)).file("small", b"small");
    let ftk = || dir.ftk(["manifest", "create", "--shard", "1/1", ".", "-o", "../part"]);
    let slow = || ftk().args(["--limit-rate", "2M", "--io", "sync"]);
    let names = || fs::read_dir(dir.aside(".")).unwrap().count();
    let before = names();
    let mut killed = slow().spawn();
    wait_until(|| has_open(&killed, "large"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(names(), before);
    let first = Paused::when(slow(), |child| has_open(child, "large"));
    ftk().run().status(0);
    let whole = fs::read(dir.aside("part")).unwrap();
    let done = first.go_on();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(entries(&fs::read(dir.aside("part")).unwrap()), entries(&whole));
    assert_eq!(names(), before + 1);
}

#[test]
fn missing_parts_are_named() {
    let dir = tree();
    let merge = record(&dir, 4, None, &[]);
    let without = |numbers: &[usize]| {
        let kept = merge.iter().filter(|arg| !numbers.iter().any(|n| arg.contains(&format!("part-{n}."))));
        dir.ftk(kept).run().status(2).stdout("")
    };
    without(&[2]).stderr_has("1 of 4 shards are missing: 2");
    without(&[1, 3]).stderr_has("2 of 4 shards are missing: 1, 3");
    let twice = dir.ftk(merge.iter().chain([&"../part-3.jsonl".to_owned()])).run().status(2).stdout("");
    twice.stderr_has("'../part-3.jsonl' and '../part-3.jsonl': both are shard 3");
    dir.ftk(["manifest", "create", "--shard", "3/4", ".", "-a", "md5", "-o", "../part-3.jsonl", "--force"])
        .run()
        .status(0);
    without(&[]).stderr_has("not parts of one tree: they have different algorithms");
}

/// Replaces text in a part, and seals the part again.
#[track_caller]
fn edit(dir: &Dir, part: &str, old: &str, new: &str) {
    let text = fs::read_to_string(dir.aside(part)).unwrap();
    let (lines, _) = text.split_once("{\"footer\":").unwrap();
    assert!(lines.contains(old), "{lines}");
    let lines = lines.replacen(old, new, 1);
    let (records, digest) = (lines.lines().count(), sha256(lines.as_bytes()));
    let footer = format!("{{\"footer\":{{\"records\":{records},\"sha256\":\"{digest}\"}}}}\n");
    fs::write(dir.aside(part), lines + &footer).unwrap();
}

#[test]
fn merge_checks_every_line() {
    let dir = tree();
    for plan in [None, Some("../plan")] {
        dir.ftk(["manifest", "plan", "--shards", "1", ".", "-o", "../plan", "--force"]).run().status(0);
        for (old, new, error) in [
            (r#"{"path":"a/x/2","#, "{", "line 7: the path is missing"),
            (r#""path":"a/x/2""#, r#""path":"a/../2""#, "line 7: "),
            (r#""path":"a/x/2","type":"file""#, r#""path":"a/x/2","type":"disk""#, "line 7: "),
            (
                r#""path":"a/x/2","type":"file","#,
                r#""path":"a/x/2","type":"file",,"#,
                "line 7: its JSON is broken",
            ),
        ] {
            let merge = record(&dir, 1, plan, &[]);
            edit(&dir, "part-1.jsonl", old, new);
            let run = dir.ftk(&merge).run().status(2);
            run.stderr_has("'../part-1.jsonl': ").stderr_has(error);
        }
    }
}

/// The footer of a part is valid, but its tree digests show that its entries are others than those that were recorded.
#[test]
fn merge_refuses_parts_whose_entries_were_changed() {
    let dir = tree();
    let merge = record(&dir, 1, None, &[]);
    let part = dir.aside("part-1.jsonl");
    let good = lines_with_trees(&part);
    let at = good.iter().position(|line| line.contains(r#""path":"a/x/2""#)).unwrap();
    let digest = good[at].split_once(r#""sha256":""#).unwrap().1[..64].to_owned();
    for change in ["removed", "renamed", "altered"] {
        let mut lines = good.clone();
        match change {
            "removed" => _ = lines.remove(at),
            "renamed" => lines[at] = lines[at].replace("a/x/2", "a/x/3"),
            _ => lines[at] = lines[at].replace(&digest, &"0".repeat(64)),
        }
        fs::write(&part, seal(&lines)).unwrap();
        let run = dir.ftk(&merge).run().status(2);
        run.stderr_has("tree of 'a/x' is not the digest of the entries below it");
    }
    fs::write(&part, seal(&good)).unwrap();
    dir.ftk(&merge).run().status(0);
}

/// A line may be written in another form than that of ftk.
#[test]
fn a_directory_with_an_unusual_line_gets_its_tree() {
    let dir = tree();
    let one = fs::read(create(&dir, &[])).unwrap();
    let merge = record(&dir, 2, None, &[]);
    for member in [r#""tree":null"#, r#""later":{"a":1,"tree":{}}"#] {
        record(&dir, 2, None, &[]);
        edit(&dir, "part-1.jsonl", r#"{"path":".","#, &format!(r#"{{"path":".",{member},"#));
        let merged = dir.ftk(&merge).run().status(0).out;
        assert_eq!(entries(&merged), entries(&one), "{member}");
    }
}

/// Without a plan, the root is recognised by its inode and not by its name.
#[test]
fn parts_of_two_directories_with_one_name_are_not_merged() {
    let dir = tree();
    let create = |shard: &str, root: &str, part: &str| {
        dir.ftk(["manifest", "create", "--shard", shard, root, "-o", part, "--force"]).run().status(0);
    };
    create("1/2", "src", "../part-1");
    fs::rename(dir.path("src"), dir.path("old")).unwrap();
    dir.file("src/a.c", b"another directory");
    create("2/2", "src", "../part-2");
    let merge = || dir.ftk(["manifest", "merge", "../part-1", "../part-2"]).run();
    merge().status(2).stdout("").stderr_has("not parts of one tree: they have different roots");
    create("2/2", "old", "../part-2");
    merge().status(0);
}
