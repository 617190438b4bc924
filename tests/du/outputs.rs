//! What is printed: the tree, lines, and JSON.

use std::fs;

use serde_json::Value;

use super::tree;
use crate::harness::{Dir, Run, bytes, needs};

/// Sizes that do not depend on the file system: only regular files, and their sizes.
const EXACT: [&str; 4] = ["du", "--apparent-size", "-t", "f"];

fn scene() -> Dir {
    let dir = Dir::new();
    dir.file("srv/photos/2019/a", &bytes(1, 8_120)).file("srv/photos/raw/b", &bytes(2, 4_010));
    dir.file("srv/backup/c", &bytes(3, 6_900)).file("srv/d", &bytes(4, 10));
    for nth in 0..31 {
        dir.file(format!("srv/small{nth}/e"), &bytes(nth, 4));
    }
    dir
}

fn on_a_terminal(dir: &Dir, args: &str) -> Run {
    let shell = format!("{} {args} 2>/dev/null", env!("CARGO_BIN_EXE_ftk"));
    dir.ftk([] as [&str; 0]).instead(dir, ["script", "-qec", &shell, "/dev/null"]).run()
}

#[test]
fn a_tree_on_a_terminal() {
    needs!("script");
    let dir = scene();
    let run = on_a_terminal(&dir, "du --apparent-size -t f --top 5 srv").status(0);
    let expected = "
    19 kB  100 %  srv
    12 kB   63 %  ├─ photos                                     2
   8.1 kB   42 %  │  ├─ 2019                                    1
   4.0 kB   21 %  │  └─ raw                                     1
   6.9 kB   36 %  ├─ backup                                     1
    134 B    1 %  └─ (32 smaller)
";
    assert_eq!(format!("\n{}", run.text().replace('\r', "")), expected);
    let run = on_a_terminal(&dir, "du --apparent-size -t f -sh srv srv/d").status(0);
    assert_eq!(run.text().replace('\r', ""), "      19K  100 %  srv\n       10    0 %  srv/d\n");
}

#[test]
fn names_cannot_act_on_a_terminal() {
    needs!("script");
    let dir = tree();
    let run = on_a_terminal(&dir, "du -a odd").status(0);
    run.check(!run.out.contains(&0x1b) && run.text().contains("\\x1b[31m"), "escaped");
    let run = on_a_terminal(&dir, "du --format ncdu odd").status(0);
    run.check(!run.out.contains(&0x1b), "escaped");
}

#[test]
fn lines_elsewhere() {
    let dir = scene();
    let lines =
        "19164\tsrv\n12130\tsrv/photos\n8120\tsrv/photos/2019\n4010\tsrv/photos/raw\n6900\tsrv/backup\n";
    dir.ftk(EXACT).args(["--top", "5", "srv"]).run().status(0).stdout(lines);
    let run = dir.ftk(EXACT).args(["-d9", "srv"]).run().status(0);
    run.check(run.text().lines().count() == 36, "all of them");
    dir.ftk(EXACT).args(["-s0", "srv"]).run().status(0).stdout(b"19164\tsrv\0");
    let exact = ["du", "--apparent-size", "--where", "type = f"];
    let run = dir.ftk(exact).args(["-a", "--top", "3", "srv"]).run().status(0);
    run.stdout("19164\tsrv\n12130\tsrv/photos\n8120\tsrv/photos/2019\n");
    let run = dir.ftk(exact).args(["-ad1", "srv"]).run().status(0);
    run.check(run.text().contains("\n10\tsrv/d\n"), "files too");
}

#[test]
fn equally_large_entries_are_sorted_by_name() {
    let dir = Dir::new();
    for name in ["c", "a", "b", "e", "d"] {
        dir.file(format!("{name}/x"), b"1");
    }
    for threads in ["mono", "8"] {
        let run = dir.ftk(EXACT).args(["--top", "4", "-j", threads]).run().status(0);
        run.stdout("5\t.\n1\t./a\n1\t./b\n1\t./c\n");
        let exact = ["du", "--apparent-size", "--where", "type = f"];
        let run = dir.ftk(exact).args(["-a", "--top", "3", "-d1", "-j", threads]).run().status(0);
        run.stdout("5\t.\n1\t./a\n1\t./b\n");
    }
}

#[test]
fn json_has_the_root_first() {
    let dir = tree();
    let run = dir.ftk(["du", "--json", "-a"]).run().status(0);
    let lines: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["path"], &lines[0]["depth"], &lines[0]["type"]),
        (&".".into(), &0.into(), &"directory".into())
    );
    let sum = |name: &str| {
        let files = lines.iter().filter(|line| line["type"] == "file");
        files.map(|line| line[name].as_u64().unwrap()).sum::<u64>()
    };
    let own: u64 = dir_sizes(&dir);
    assert_eq!(lines[0]["apparent_bytes"], sum("apparent_bytes") + own);
    let files = lines[0]["files"].as_u64().unwrap();
    // Of three inodes with several links, one each is an entry of the output.
    assert_eq!(lines.iter().filter(|line| line["type"] == "file").count() as u64, files - 3);
    let directories = lines.iter().filter(|line| line["type"] == "directory").count() as u64;
    assert_eq!(lines[0]["directories"], directories);
    assert!(lines.iter().any(|line| line["path_b64"] == "Li9vZGQv/w=="), "a name that is not UTF-8");
}

/// The sizes of all directories.
fn dir_sizes(dir: &Dir) -> u64 {
    let run = dir.ftk(["find", "-t", "d", "--format", "{size}"]).run().status(0);
    run.text().lines().map(|line| line.parse::<u64>().unwrap()).sum()
}

#[test]
fn conflicts_and_bad_values_are_refused() {
    let dir = Dir::new();
    for (args, why) in [
        (&["--top", "0"][..], "expected a whole number, 1 or more"),
        (&["-s", "-a"], "cannot be used with"),
        (&["-s", "-d1"], "cannot be used with"),
        (&["--json", "-0"], "--json cannot be used with --null"),
        (&["--json", "-h"], "--json cannot be used with --human-readable"),
        (&["-d", "x"], "expected a whole number"),
        (&["--format", "xml"], "ncdu"),
        (&["nothing"], "cannot stat 'nothing'"),
    ] {
        dir.ftk(["du"]).args(args).run().status(2).stderr_has(why);
    }
}

#[test]
fn help_is_long_only() {
    let dir = scene();
    dir.ftk(["du", "-h", "-s", "--apparent-size", "-t", "f"]).run().status(0).stdout("19K\t.\n");
    let long = dir.ftk(["du", "--help"]).run().status(0);
    dir.ftk(["help", "du"]).run().status(0).stdout(&long.out);
}

#[test]
fn filters_that_match_nothing() {
    let dir = scene();
    let run = dir.ftk(["du", "-s", "-n", "nothing", "srv"]).run().status(0).stdout("0\tsrv\n");
    run.stderr_has("the filters match none of");
}

#[test]
fn the_summary_counts() {
    let dir = Dir::new();
    dir.file("a/x", b"").file("y", b"");
    dir.ftk(["du", "-s"]).run().status(0).stderr_has("  2 files, 2 directories, ");
    dir.ftk(["du", "-sq"]).run().status(0).stderr("");
    fs::remove_dir_all(dir.path("a")).unwrap();
    dir.ftk(["du", "-s"]).run().status(0).stderr_has("  1 file, 1 directory, ");
}

/// As with GNU du, which also opens its output before it counts.
#[test]
fn a_file_that_the_output_goes_to_counts() {
    let dir = Dir::new();
    dir.file("a", b"x");
    let out = fs::File::create(dir.path("out")).unwrap();
    dir.ftk(["du", "-s"]).stdout(out).run().status(0).stderr_has("  2 files, 1 directory, ");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    dir.ftk(["du", "-s"]).stdout(full).run().status(2).stderr_has("cannot write to standard output");
}

/// A trial: `-a -t f --top 10` printed eight directories and two files.
#[test]
fn with_files_alone_only_files_are_printed() {
    let dir = Dir::new();
    dir.file("d/e/large", &[1; 9000]).file("d/middle", &[2; 5000]).file("small", &[3; 100]).dir("empty");
    for args in [&["-a", "-t", "f"][..], &["-a", "-t", "f", "--top", "2"], &["-a", "-t", "f", "-d", "2"]] {
        let run = dir.ftk(["du", "--apparent-size"]).args(args).run().status(0);
        let all = ["9000\t./d/e/large\n", "5000\t./d/middle\n", "100\t./small\n"];
        let expected = match args.last().copied() {
            Some("2") if args.contains(&"--top") => all[..2].concat(),
            Some("2") => all[1..].concat(),
            _ => all.concat(),
        };
        assert_eq!(run.text(), expected, "{args:?}");
    }
}

/// A program gets all directories, and a person the largest 20.
#[test]
fn only_a_terminal_gets_the_largest_without_asking() {
    needs!("script");
    let dir = scene();
    let lines = dir.ftk(["du", "srv"]).run().status(0);
    assert_eq!(lines.text().lines().count(), 36);
    let json = dir.ftk(["du", "--json", "srv"]).run().status(0);
    assert_eq!(json.text().lines().count(), 36);
    assert_eq!(dir.ftk(["du", "--top", "3", "srv"]).run().status(0).text().lines().count(), 3);
    let tree = on_a_terminal(&dir, "du srv");
    assert!(tree.text().contains("smaller)"), "{}", tree.text());
}
