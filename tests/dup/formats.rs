//! The formats of the report, for users and programs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::Value;

use crate::harness::{Dir, needs, sha256};

/// Creates two files and a hard link of one of them, of 10,000 bytes each, and a pair of 3 bytes.
fn small_tree() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", &[7; 10_000]).file("t/b", &[7; 10_000]).hard_link("t/b", "t/c");
    dir.file("t/x,\"y\"", b"abc").raw_file(b"t/\xff", b"abc").file("t/alone", b"abcd");
    dir
}

/// Returns the bytes that pruning the small tree frees.
fn frees(dir: &Dir) -> u64 {
    ["t/a", "t/x,\"y\""].map(|path| fs::metadata(dir.path(path)).unwrap().blocks() * 512).iter().sum()
}

/// Formats some thousands of bytes as ftk does.
fn human(bytes: u64) -> String {
    format!("{}.{:02} kB", bytes / 1000, (bytes % 1000 + 5) / 10)
}

#[test]
fn screen_format() {
    let dir = small_tree();
    let run = dir.ftk(["dup", "--format", "screen", "t"]).run().status(0);
    let expected = "  3 × 10.00 kB   wastes 10.00 kB\n    t/a\n    t/b\n    t/c   ⛓ hard link of the one above\n\n  \
                    2 × 3 B   wastes 3 B\n    t/x,\"y\"\n    t/\\xff\n\n";
    run.check(run.text() == expected, "the screen");
    let free = human(frees(&dir));
    run.stderr_has("  scanned 6 files in ")
        .stderr_has(&format!(", found 5 files in 2 groups\n  2 surplus copies; pruning would free {free}\n"));
    let run = dir.ftk(["dup", "-q", "t"]).run().status(0);
    run.stderr("");
}

/// On a terminal the default is the screen format, with names escaped; -0 prints them as they are.
#[test]
fn h22_names_are_escaped_on_a_terminal() {
    needs!("script");
    let dir = Dir::new();
    dir.raw_file(b"\x1b[31mred", b"abc")
        .raw_file("rev\u{202e}gpj".as_bytes(), b"abc")
        .raw_file(b"\xff\n", b"abc");
    let on_a_terminal = |args: &str| {
        let line = format!("'{}' {args}", env!("CARGO_BIN_EXE_ftk"));
        dir.ftk([""; 0]).instead(&dir, ["script", "-qec", &line, "/dev/null"]).run().status(0)
    };
    let run = on_a_terminal("dup -q --color never");
    let shown =
        "  3 × 3 B   wastes 6 B\r\n    ./\\x1b[31mred\r\n    ./rev\\u{202e}gpj\r\n    ./\\xff\\n\r\n\r\n";
    assert_eq!(run.text(), shown);
    for args in [
        "dup -q --format fdupes",
        "dup -q --format csv",
        "dup -q --json",
        "dup prune -q --action delete --color never .",
    ] {
        let run = on_a_terminal(args);
        let acts = |c: char| (c.is_control() && c != '\r' && c != '\n') || c == '\u{202e}';
        run.check(!run.text().contains(acts), "no control characters");
    }
    let run = on_a_terminal("dup -q -0");
    run.check(run.out.windows(5).any(|part| part == b"\x1b[31m"), "-0 is raw");
}

#[test]
fn hard_links_are_marked_with_the_name_they_link_to() {
    let dir = Dir::new();
    dir.file("1", b"same").file("2", b"same").hard_link("1", "3");
    let run = dir.ftk(["dup", "--format", "screen"]).run().status(0);
    run.check(run.text().contains("    ./3   ⛓ hard link of './1'\n"), "the linked name is printed");
}

#[test]
fn fdupes_format_has_one_name_of_each_file() {
    let dir = small_tree();
    dir.ftk(["dup", "t"]).run().status(0).stdout(b"t/a\nt/b\n\nt/x,\"y\"\nt/\xff\n\n");
    dir.ftk(["dup", "-0", "t"]).run().status(0).stdout(b"t/a\0t/b\0\0t/x,\"y\"\0t/\xff\0\0");
    dir.ftk(["dup", "t", "-o", "report"]).run().status(0).stdout("");
    assert_eq!(fs::read(dir.path("report")).unwrap(), b"t/a\nt/b\n\nt/x,\"y\"\nt/\xff\n\n");
}

#[test]
fn json_format() {
    let dir = small_tree();
    let run = dir.ftk(["dup", "--json", "t"]).run().status(0);
    let lines: Vec<&str> = run.text().lines().collect();
    assert_eq!(lines.len(), 4);
    let json = |nth: usize| -> Value { serde_json::from_str(lines[nth]).unwrap() };
    let header = json(0);
    assert_eq!((&header["ftk"], &header["version"]), (&"dup-report".into(), &1.into()));
    assert_eq!((&header["algorithm"], &header["verified"]), (&"xxh128".into(), &false.into()));
    assert_eq!(header["roots"][0]["path"], "t");
    assert_eq!(header["arguments"][1]["text"], "--json");
    assert!(header["start_ns"].as_u64().unwrap() > 1_700_000_000_000_000_000);
    let group = json(1);
    assert_eq!((&group["group"], &group["size_bytes"]), (&1.into(), &10_000.into()));
    let members = group["members"].as_array().unwrap();
    for (member, (path, cluster)) in members.iter().zip([("t/a", 0), ("t/b", 1), ("t/c", 1)]) {
        let metadata = fs::metadata(dir.path(path)).unwrap();
        assert_eq!((&member["path"], &member["cluster"]), (&path.into(), &cluster.into()));
        assert_eq!(member["dev"], metadata.dev());
        assert_eq!(member["ino"], metadata.ino());
        assert_eq!(member["nlink"], metadata.nlink());
        assert_eq!(member["allocated_bytes"], metadata.blocks() * 512);
        assert_eq!(member["mtime_ns"], metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec());
        assert_eq!(member["ctime_ns"], metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec());
        assert_eq!(member["root"], 0);
    }
    assert_eq!(json(2)["members"][1]["path_b64"], "dC//");
    let earlier = run.text().len() - lines[3].len() - 1;
    let footer = json(3)["footer"].clone();
    assert_eq!(footer["records"], 3);
    assert_eq!(footer["sha256"], sha256(&run.out[..earlier]));
    // The digest is that of `ftk hash`.
    let digest = dir.ftk(["hash", "-a", "xxh128", "t/a"]).run().status(0);
    assert!(digest.text().starts_with(group["digest"].as_str().unwrap()));
}

#[test]
fn a_report_differs_in_its_header_only() {
    let dir = small_tree();
    let report = |threads: &str| {
        let run = dir.ftk(["dup", "--format", "json", "-j", threads, "t"]).run().status(0);
        let lines: Vec<String> = run.text().lines().map(str::to_owned).collect();
        lines[1..lines.len() - 1].to_vec()
    };
    assert_eq!(report("1"), report("4"));
}

#[test]
fn csv_format() {
    let dir = small_tree();
    let run = dir.ftk(["dup", "--format", "csv", "t"]).run().status(0);
    let lines: Vec<&str> = run.text().split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 6);
    let columns = "group,size_bytes,digest,path,path_b64,root,cluster,dev,ino,nlink,allocated_bytes,mtime_ns,ctime_ns,mtime,prune";
    assert_eq!(lines[0], columns);
    // The default rules keep one file of each group, with all its names.
    let fates: Vec<_> = lines[1..].iter().map(|line| line.rsplit(',').next().unwrap()).collect();
    let plan = dir.ftk(["dup", "prune", "--action", "delete", "t"]).run().status(0);
    let kept = |path: &str| plan.text().lines().any(|line| line.contains("keep ") && line.contains(path));
    assert_eq!(fates[..3].iter().filter(|fate| **fate == "keep").count(), if kept("t/a") { 1 } else { 2 });
    for (line, fate) in lines[1..4].iter().zip(&fates) {
        let path = ["t/a", "t/b", "t/c"].into_iter().find(|path| line.contains(*path)).unwrap();
        assert_eq!(*fate == "keep", kept(path), "{line}");
    }
    for line in &lines[1..] {
        let fields: Vec<_> = line.rsplit(',').collect();
        let (time, ns) = (fields[1], fields[3].parse::<i128>().unwrap());
        assert!(
            time.ends_with('Z') && time.parse::<jiff::Timestamp>().unwrap().as_nanosecond() == ns,
            "{line}"
        );
    }
    assert!(lines[1].starts_with("1,10000,") && lines[1].contains(",t/a,,0,0,"));
    assert!(lines[3].contains(",t/c,,0,1,"));
    assert!(lines[4].contains(",\"t/x,\"\"y\"\"\",,0,0,"));
    assert!(lines[5].contains(",,dC//,0,1,"));
    assert!(lines.iter().skip(1).all(|line| line.starts_with(['1', '2'])));
}

/// Empty files are equal, and no waste. They are listed on request.
#[test]
fn empty_files_are_listed_on_request() {
    let dir = small_tree();
    dir.file("t/e1", b"").file("t/e2", b"").file("t/sub/e3", b"").dir("t/none");
    dir.ftk(["dup", "t"]).run().status(0).stdout(b"t/a\nt/b\n\nt/x,\"y\"\nt/\xff\n\n");
    let run = dir.ftk(["dup", "t", "--empty"]).run().status(0).stdout("t/e1\nt/e2\nt/sub/e3\n\n");
    run.stderr_has("  2 surplus copies; pruning would free nothing\n");
    let run = dir.ftk(["dup", "t", "--empty", "--json"]).run().status(0);
    run.check(run.text().contains("\"min_size_bytes\":0"), "the header");
    dir.ftk(["dup", "t", "--empty", "--min-size", "1"]).run().status(0).stdout("");
    let run = dir.ftk(["dup", "--min-size", "0", "t"]).run().status(0);
    run.check(run.out.ends_with(b"\n\nt/e1\nt/e2\nt/sub/e3\n\n"), "after all others");
    // An empty file may be needed where it is.
    let prune = ["dup", "prune", "--action", "delete", "--empty", "t"];
    dir.ftk(prune).run().status(2).stderr_has("--empty needs --min-size 0 here");
    let run = dir.ftk(prune).args(["--min-size", "0"]).run().status(0);
    run.check(run.text().lines().filter(|line| line.contains("delete ")).count() == 2, "two of three");
}

#[test]
fn summary_only() {
    let dir = small_tree();
    let free = frees(&dir);
    let run = dir.ftk(["dup", "--summary", "--json", "t"]).run().status(0);
    let expected = format!(
        "{{\"files\":5,\"groups\":2,\"surplus_files\":2,\"waste_bytes\":10003,\"freed_bytes\":{free},\"shared_bytes\":10000,\"failed\":0}}\n"
    );
    run.stdout(expected);
    let run = dir.ftk(["dup", "--summary", "t"]).run().status(0);
    run.stdout(format!("2 surplus copies; pruning would free {}\n", human(free)));
    let run = dir.ftk(["dup", "--summary", "t/alone"]).run().status(0);
    run.stdout("no duplicates\n");
}

/// Removing a hard link frees nothing if the file has another name outside the tree.
#[test]
fn files_linked_outside_the_tree_free_nothing() {
    let dir = Dir::new();
    dir.file("t/a", &[7; 10_000]).file("t/b", &[7; 10_000]);
    dir.hard_link("t/a", "other a").hard_link("t/b", "other b");
    let run = dir.ftk(["dup", "--summary", "--json", "t"]).run().status(0);
    run.check(run.text().contains("\"waste_bytes\":10000,\"freed_bytes\":0,"), "nothing can be freed");
    dir.ftk(["dup", "--summary", "t"]).run().status(0).stdout("1 surplus copy; pruning would free nothing\n");
}

#[test]
fn conflicting_formats_are_errors() {
    let dir = Dir::new();
    for bad in [
        &["--json", "--format", "csv"][..],
        &["-0", "--json"],
        &["-0", "--summary"],
        &["--format", "xml"],
        &["-a", "md5"],
        &["--min-size", "2", "--max-size", "1"],
    ] {
        dir.ftk(["dup"]).args(bad).run().status(2).stdout("");
    }
}

/// The report that is being written is neither read nor listed.
#[test]
fn h17_the_report_itself_is_skipped() {
    let dir = Dir::new();
    dir.file("a", b"").file("b", b"");
    for form in ["fdupes", "json", "csv"] {
        let run = dir.ftk(["dup", "--min-size", "0", "--format", form, "-o", "report"]).run().status(0);
        run.stdout("");
        let report = fs::read_to_string(dir.path("report")).unwrap();
        assert!(report.contains("./a") && !report.contains("./report"), "{report}");
    }
    let run = dir.ftk(["dup", "report", "-o", "report"]).run().status(2);
    run.stderr_has("'report' is both input and output");
}

/// A group with very many members is written as several lines and read back as one group.
#[test]
fn a_group_of_any_size_is_one_group() {
    let dir = Dir::new();
    let long = "n".repeat(245);
    for nth in 0..22_000 {
        dir.file(format!("{}/{long}{nth}", nth / 1000), b"");
    }
    let report = dir.aside("report");
    dir.ftk(["dup", "--json", "--min-size", "0", "-o"]).arg(&report).run().status(0);
    let text = fs::read_to_string(&report).unwrap();
    assert!(text.lines().count() > 3, "one line would be too long");
    assert!(text.lines().all(|line| line.len() < 9 << 20));
    let run = dir.ftk(["dup", "apply", "--action", "delete"]).arg(&report).run().status(0);
    assert_eq!(run.text().lines().filter(|line| line.starts_with("  keep ")).count(), 1);
    assert_eq!(run.text().lines().count(), 22_000);
}

/// After the reader has closed the pipe, no more members are looked up, since they may be on a slow disk.
#[test]
fn a_closed_pipe_ends_the_lookup_of_members() {
    needs!("strace");
    let dir = Dir::new();
    for nth in 0..2000 {
        let content = format!("{nth}");
        for copy in ["a", "b"] {
            dir.file(format!("{copy}-{nth}-{}", "long".repeat(40)), content.as_bytes());
        }
    }
    for format in ["json", "csv", "screen"] {
        let pipe = "{ strace -qq -o ../log -e trace=write,openat \"$@\"; echo $? >../status; } | head -n 1";
        let run = dir.ftk(["dup", "--format", format]).under(&dir, ["sh", "-c", pipe, "sh"]).run().status(0);
        run.check(!run.out.is_empty(), "something came");
        run.check(
            !run.err.contains("roken pipe") && !run.err.contains("can be freed"),
            "no totals of a part",
        );
        assert_eq!(fs::read_to_string(dir.aside("status")).unwrap(), "0\n", "{format}");
        let log = fs::read_to_string(dir.aside("log")).unwrap();
        let (before, after) = log.split_once("EPIPE").expect("the pipe was closed");
        assert!(before.contains("-long"), "{format}: members are looked at");
        assert!(!after.contains("-long"), "{format}: {after}");
    }
}
