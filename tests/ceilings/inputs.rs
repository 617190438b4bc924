//! A small input file causes neither a large output nor much memory: twice the input takes at most 2.5 times of both, or is
//! refused.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, Run, needs};

/// The output of a command, and the largest memory that it used.
struct Used {
    run: Run,
    peak: u64,
}

/// Runs a command on the standard input.
fn used(dir: &Dir, args: &[&str], input: &[u8]) -> Used {
    let run = dir.ftk(args).args(["--stats", "../stats"]).stdin(input).run();
    let stats: Value = serde_json::from_slice(&fs::read(dir.aside("stats")).unwrap()).unwrap();
    Used { run, peak: stats["peak_memory_bytes"].as_u64().unwrap() }
}

/// Checks that a command uses at most 2.5 times as much for the second input, which is twice as large. `base`: the memory
/// of the program itself.
#[track_caller]
fn assert_linear(base: u64, small: &Used, large: &Used) {
    let (before, after) = (small.run.out.len(), large.run.out.len());
    assert!(2 * after <= 5 * before, "{after} bytes of output after {before}");
    let [before, after] = [small, large].map(|it| it.peak.saturating_sub(base).max(4 << 20));
    assert!(2 * after <= 5 * before, "{after} bytes of memory after {before}");
}

/// A list of one file in this many directories.
fn list_of_depth(depth: usize) -> Vec<u8> {
    format!("{}  {}x\n", "0".repeat(64), "a/".repeat(depth)).into_bytes()
}

/// Imports a list to the file `m`.
fn import(dir: &Dir, format: &str, list: &[u8]) -> Run {
    let args = ["manifest", "import", "-", "--format", format, "-o", "m"];
    _ = fs::remove_file(dir.path("m"));
    dir.ftk(args).stdin(list).run()
}

const EXPORT: [&str; 5] = ["manifest", "export", "--format", "mtree", "m"];

#[test]
fn h97_the_directories_around_one_file_are_exported_to_mtree_in_linear_space() {
    let dir = Dir::new();
    let base = used(&dir, &["find", "."], b"").peak;
    let export = |depth| {
        import(&dir, "sha256", &list_of_depth(depth)).status(0);
        used(&dir, &EXPORT, b"")
    };
    let [small, large] = [10_000, 20_000].map(export);
    assert_linear(base, &small, &large);
    large.run.check(large.run.out.len() < 300_000, "a line and `..` for each directory");
    large.run.status(0);
    for format in ["mtree", "ncdu"] {
        let run = dir.ftk(["manifest", "export", "--memory", "1M", "--format", format, "m"]).run().status(2);
        run.stderr_has("too large (raise --memory)");
    }
}

#[test]
fn exports_of_deep_paths_are_read_by_other_tools_and_imported_again() {
    needs!("mtree", "bsdtar");
    let dir = Dir::new();
    let deep = "a/".repeat(1500);
    let list: String =
        ["x", "y/z"].iter().map(|name| format!("{}  {deep}{name}\n", "0".repeat(64))).collect();
    import(&dir, "sha256", list.as_bytes()).status(0);
    let spec = used(&dir, &EXPORT, b"").run.status(0).out;
    dir.file("spec", &spec);
    let theirs = dir.ftk([""; 0]).instead(&dir, ["bsdtar", "-tf", "spec"]).run().status(0);
    let paths: Vec<_> = theirs.text().lines().map(|line| line.trim_start_matches("./")).collect();
    assert_eq!(paths.len(), 1 + 1500 + 3, "the root, the directories, `x`, `y` and `z`");
    for name in ["x", "y", "y/z"] {
        assert!(paths.contains(&&*format!("{deep}{name}")), "{name}");
    }
    // Nothing is there, so all of it is missing.
    fs::create_dir(dir.path("empty")).unwrap();
    let missing = dir.ftk([""; 0]).instead(&dir, ["mtree", "-p", "empty", "-f", "spec"]).run();
    missing
        .check(missing.text().lines().any(|line| line == format!("missing: ./{deep}y/z")), "the last file");
    let again = dir.ftk(["manifest", "import", "spec"]).run().status(0);
    for name in ["x", "y/z"] {
        assert!(again.text().contains(&format!("\"path\":\"{deep}{name}\"")), "{name}");
    }
}

#[test]
fn nested_lists_make_manifests_of_linear_size_or_are_refused() {
    let dir = Dir::new();
    let base = used(&dir, &["find", "."], b"").peak;
    let spec = |depth: usize, files: usize| {
        let files: String = (0..files).map(|nth| format!("{nth} type=file\n")).collect();
        format!("#mtree\n. type=dir\n{}{files}", "a type=dir\n".repeat(depth)).into_bytes()
    };
    let args = ["manifest", "import", "-", "--format", "mtree"];
    let [small, large] = [2_000, 4_000].map(|files| used(&dir, &args, &spec(1_000, files)));
    assert_linear(base, &small, &large);
    large.run.status(0);
    for depth in [3_000, 20_000] {
        let deep = used(&dir, &args, &spec(depth, 1));
        assert!(deep.peak < base + (16 << 20), "{}", deep.peak);
        deep.run.status(2).stdout("").stderr_has("the path of its directory is longer than 4096 bytes");
    }
}

#[test]
fn nested_files_of_ncdu_are_listed_in_linear_space_or_refused() {
    let dir = Dir::new();
    let base = used(&dir, &["find", "."], b"").peak;
    let tree = |depth: usize, files: usize| {
        let object = |name: &str| format!("{{\"name\":\"{name}\",\"asize\":1,\"dsize\":512}}");
        let open = format!("[{},", object("a")).repeat(depth);
        let files: Vec<_> = (0..files).map(|nth| object(&nth.to_string())).collect();
        let head = "[1,2,{\"progname\":\"ncdu\"},";
        format!("{head}{open}{}{}]", files.join(","), "]".repeat(depth)).into_bytes()
    };
    let args = ["du", "-a", "--json", "--from", "-"];
    let [small, large] = [2_000, 4_000].map(|files| used(&dir, &args, &tree(1_000, files)));
    assert_linear(base, &small, &large);
    large.run.status(0);
    for depth in [3_000, 29_000] {
        let deep = used(&dir, &args, &tree(depth, 1));
        assert!(deep.peak < base + (16 << 20), "{}", deep.peak);
        deep.run.status(2).stdout("").stderr_has("the path of a directory is longer than 4096 bytes");
    }
}

/// A page has a constant number of nodes, but every directory above an entry is kept until it ends.
#[test]
fn a_page_of_a_deep_tree_fits_into_the_memory_or_is_refused() {
    let dir = Dir::new();
    let args = ["report", "--json", "--memory", "64M", "m"];
    import(&dir, "sha256", &list_of_depth(1)).status(0);
    let base = used(&dir, &args, b"").peak;
    let [small, large] = [40_000, 80_000].map(|depth| {
        import(&dir, "sha256", &list_of_depth(depth)).status(0);
        used(&dir, &args, b"")
    });
    assert_linear(base, &small, &large);
    large.run.status(0);
    import(&dir, "sha256", &list_of_depth(2_000_000)).status(0);
    let deep = used(&dir, &args, b"");
    // What does not count: the line and its path, and the manifest's blocks.
    assert!(deep.peak < base + (64 << 20) + (32 << 20), "{}", deep.peak);
    deep.run.status(2).stdout("").stderr_has("raise --memory");
}

/// Sixteen directories with a link to one ignore file each, and a name that all its lines are compared with.
fn ignoring(lines: &str) -> Dir {
    let dir = Dir::new();
    dir.file("ignore", lines.as_bytes());
    for nth in 0..16 {
        dir.file(format!("t/{nth}/{}", "x".repeat(240)), b"")
            .symlink("../../ignore", &format!("t/{nth}/.ignore"));
    }
    dir
}

#[test]
fn ignore_files_count_towards_the_memory() {
    let lines: String = (0..30_000).map(|nth| format!("*a?{nth}\n")).collect();
    let dir = ignoring(&lines);
    let base = used(&dir, &["find", "-j", "1", "t"], b"").peak;
    let find = |memory| used(&dir, &["find", "-j", "1", "--ignore-files", "--memory", memory, "t"], b"");
    let enough = find("16M");
    assert!(enough.peak < base + (16 << 20), "{}", enough.peak);
    assert_eq!(enough.run.status(0).text().lines().count(), 1 + 3 * 16);
    let too_little = find("1M");
    too_little.run.status(2).stderr_has("its patterns need too much memory (raise --memory)");
}

#[test]
fn ignore_files_that_take_too_long_are_refused() {
    // 0.8 MB of lines that are compared at one place of a name, and of lines that could be anywhere in it.
    let dir = ignoring(&"*a?b\n".repeat(160_000));
    dir.file("t/0/axb", b"").file("t/0/ab", b"");
    let run = dir.ftk(["find", "--ignore-files", "t/0", "-n", "a*"]).run().status(0);
    assert_eq!(run.text(), "t/0/ab\n");
    let dir = ignoring(&"*a?b*\n".repeat(130_000));
    let run = dir.ftk(["find", "--ignore-files", "t/0"]).run().status(2);
    run.stderr_has("it has too many patterns with `*` and `?`: matching would take too long");
}

/// A report with the shortest members that are possible: they need the most memory for their length.
fn report_of(files: u64) -> String {
    let member = |nth| {
        format!(
            r#"{{"path":"d/{nth}","root":0,"dev":1,"ino":{nth},"nlink":1,"allocated_bytes":0,"mtime_ns":0,"ctime_ns":0}}"#
        )
    };
    let members: Vec<_> = (0..files).map(member).collect();
    let groups: String = members
        .chunks(2)
        .zip(1..)
        .map(|(pair, nth)| {
            let (digest, pair) = ("0".repeat(32), pair.join(","));
            format!("{{\"group\":{nth},\"size_bytes\":1,\"digest\":\"{digest}\",\"members\":[{pair}]}}\n")
        })
        .collect();
    let header = r#"{"ftk":"dup-report","version":1,"algorithm":"xxh128","roots":[{"path":"d"}]}"#;
    let footer = format!(r#"{{"footer":{{"records":0,"sha256":"{}"}}}}"#, "0".repeat(64));
    format!("{header}\n{groups}{footer}\n")
}

#[test]
fn a_report_fits_into_the_memory_or_is_refused() {
    let dir = Dir::new();
    dir.dir("d");
    let apply = |report: &str, memory| {
        let args = ["dup", "apply", "-", "--edited", "--action", "delete", "--memory", memory];
        used(&dir, &args, report.as_bytes())
    };
    let base = apply(&report_of(2), "64M").peak;
    let report = report_of(50_000);
    let enough = apply(&report, "64M");
    assert!(enough.peak < base + (64 << 20), "{}", enough.peak - base);
    enough.run.status(2).stderr_lacks("raise --memory");
    let too_little = apply(&report, "32M");
    assert!(too_little.peak < base + (32 << 20), "{}", too_little.peak - base);
    too_little.run.status(2).stderr_has("raise --memory");
}

#[test]
fn a_journal_fits_into_the_memory_or_is_refused() {
    let dir = Dir::new();
    let undo = |steps, memory| {
        let identity = r#"{"dev":1,"ino":2,"type":"file","uid":0}"#;
        let file = r#"{"path":"a","root_len":0,"dev":1,"ino":2,"size_bytes":1,"mtime_ns":0,"ctime_ns":0}"#;
        let metadata = r#"{"mode":"0644","uid":0,"gid":0,"atime_ns":0}"#;
        let step = |nth| {
            format!(
                r#"{{"step":{nth},"action":"delete","temp":".ftk-0123456789abcdef","victim":{file},"keeper":{file},"metadata":{metadata},"directory":{identity},"identity":{identity},"nlink":1,"keeper_mode":"0644","blake3":"{}"}}"#,
                "0".repeat(64)
            ) + "\n"
        };
        let header = format!(r#"{{"ftk":"journal","version":2,"cwd":"/none","cwd_identity":{identity}}}"#);
        dir.file("j", format!("{header}\n{}", (0..steps).map(step).collect::<String>()).as_bytes());
        used(&dir, &["undo", "j", "--memory", memory], b"")
    };
    let base = undo(1, "64M").peak;
    let enough = undo(20_000, "64M");
    assert!(enough.peak < base + (64 << 20), "{}", enough.peak - base);
    enough.run.status(2).stderr_has("cannot open '/none'");
    let too_little = undo(20_000, "32M");
    assert!(too_little.peak < base + (32 << 20), "{}", too_little.peak - base);
    too_little.run.status(2).stderr_has("raise --memory");
}
