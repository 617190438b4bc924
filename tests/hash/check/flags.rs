//! Each flag of --check, and the exit status.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, needs, sha256};

/// Creates files and lists: `ok` matches its digest, `bad` does not, `gone` is missing.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("ok", b"1").file("bad", b"2");
    let line = |name: &str, content: &[u8]| format!("{}  {name}\n", sha256(content));
    dir.file("good", line("ok", b"1").as_bytes());
    dir.file("list", (line("ok", b"1") + &line("bad", b"!") + &line("gone", b"3")).as_bytes());
    dir.file("mixed", format!("nonsense\n{}", line("ok", b"1")).as_bytes());
    dir.file("lost", line("gone", b"3").as_bytes());
    dir
}

const LINES: &str = "ok: OK\nbad: FAILED\ngone: FAILED open or read\n";

#[test]
fn results_in_the_order_of_the_list_and_a_summary() {
    let dir = tree();
    let run = dir.ftk(["hash", "--check", "good"]).run().status(0).stdout("ok: OK\n");
    run.stderr_has("  1 ok, 1 B in ").stderr_lacks("ftk: ");
    let run = dir.ftk(["hash", "-c", "list"]).run().status(1).stdout(LINES);
    run.stderr_has("ftk: WARNING: 1 listed file is missing\n")
        .stderr_lacks("'gone'")
        .stderr_has("ftk: WARNING: 1 computed checksum did NOT match\n")
        .stderr_has("  1 ok, 1 failed, 1 missing, 2 B in ");
    let both = format!("{LINES}ok: OK\n");
    dir.ftk(["hash", "-c", "list", "good"]).run().status(1).stdout(both);
}

#[test]
fn a_list_from_standard_input() {
    let dir = tree();
    let list = fs::read(dir.path("list")).unwrap();
    dir.ftk(["hash", "-c"]).stdin(&list).run().status(1).stdout(LINES);
    dir.ftk(["hash", "-c", "-"]).stdin(&list).run().status(1).stdout(LINES);
    // A pipe can be a list.
    let run = dir.ftk(["--version"]).instead(&dir, ["sh", "-c", "cat list | \"$0\" hash -c /dev/stdin"]);
    run.arg(env!("CARGO_BIN_EXE_ftk")).run().status(1).stdout(LINES);
}

#[test]
fn quiet_omits_files_that_are_ok() {
    let dir = tree();
    for flag in ["-q", "--quiet"] {
        let run = dir.ftk(["hash", "-c", flag, "list"]).run().status(1);
        run.stdout("bad: FAILED\ngone: FAILED open or read\n").stderr_has("WARNING").stderr_lacks("  1 ok");
        dir.ftk(["hash", "-c", flag, "good"]).run().status(0).stdout("").stderr("");
    }
}

#[test]
fn status_prints_nothing() {
    let dir = tree();
    for (list, status) in [("good", 0), ("list", 1), ("mixed", 0), ("lost", 1)] {
        for json in [&[][..], &["--json"], &["--warn"]] {
            let run = dir.ftk(["hash", "-c", "--status", list]).args(json).run();
            run.status(status).stdout("").stderr("");
        }
    }
    // A file that is not a list is an error even with --status.
    dir.file("empty", b"");
    let run = dir.ftk(["hash", "-c", "--status", "empty"]).run().status(2).stdout("");
    run.stderr("ftk: 'empty': no properly formatted checksum lines found: it is empty\n");
}

#[test]
fn ignore_missing() {
    let dir = tree();
    let run = dir.ftk(["hash", "-c", "--ignore-missing", "list"]).run().status(1);
    run.stdout("ok: OK\nbad: FAILED\n").stderr_lacks("gone").stderr_lacks("missing").stderr_lacks("read\n");
    dir.ftk(["hash", "-c", "--ignore-missing", "good"]).run().status(0);
    // If no file was verified, the check fails.
    let run = dir.ftk(["hash", "-c", "--ignore-missing", "lost"]).run().status(1).stdout("");
    run.stderr_has("ftk: 'lost': no file was verified\n");
    // A path below a file counts as missing; an unreadable file does not.
    dir.file("below", format!("{}  ok/x\n{}  ok\n", sha256(b""), sha256(b"1")).as_bytes());
    dir.ftk(["hash", "-c", "--ignore-missing", "below"]).run().status(0).stdout("ok: OK\n");
    dir.dir("d").file("dirs", format!("{}  d\n{}  ok\n", sha256(b""), sha256(b"1")).as_bytes());
    let run = dir.ftk(["hash", "-c", "--ignore-missing", "dirs"]).run().status(2);
    run.stdout("d: FAILED open or read\nok: OK\n")
        .stderr_has("ftk: cannot read 'd': it is not a regular file\n");
}

#[test]
fn strict_and_warn() {
    let dir = tree();
    let summary = "ftk: WARNING: 1 line is improperly formatted ('mixed', line 1: neither ";
    dir.ftk(["hash", "-c", "mixed"]).run().status(0).stdout("ok: OK\n").stderr_has(summary);
    dir.ftk(["hash", "-c", "--strict", "mixed"]).run().status(2).stdout("ok: OK\n").stderr_has(summary);
    for flag in ["-w", "--warn"] {
        let run = dir.ftk(["hash", "-c", flag, "mixed"]).run().status(0);
        run.stderr_has("ftk: 'mixed': 1: improperly formatted checksum line: ").stderr_has(summary);
    }
    let run = dir.ftk(["hash", "-c", "--strict", "good"]).run().status(0);
    run.stderr_lacks("WARNING");
}

#[test]
fn flags_need_check() {
    let dir = tree();
    for flag in ["--ignore-missing", "--status", "--strict", "--warn", "-w", "--new"] {
        dir.ftk(["hash", flag, "good"]).run().status(2).stdout("").stderr_has("--check");
    }
    dir.ftk(["hash", "--check", "--diff", "good", "good"]).run().status(2);
}

#[test]
fn the_length_of_an_untagged_digest_selects_the_algorithm() {
    let dir = tree();
    for (algorithm, name) in
        ["md5", "sha1", "sha256", "sha512", "xxh64", "sha224", "sha384", "crc32"].map(|it| (it, it))
    {
        let list = dir.ftk(["hash", "-a", algorithm, "ok"]).run().out;
        let run = dir.ftk(["hash", "-c"]).stdin(&list).run().status(0).stdout("ok: OK\n");
        run.stderr_has(&format!("   {name}\n")).stderr_lacks("assumed");
        dir.ftk(["hash", "-c", "-q"]).stdin(&list).run().status(0).stderr("");
        let run = dir.ftk(["hash", "-c", "-a", algorithm]).stdin(&list).run().status(0);
        run.stderr_lacks("assumed");
    }
    for algorithm in ["blake3", "blake2b", "xxh128", "sha3-256", "sha3-512", "crc32c"] {
        let list = dir.ftk(["hash", "-a", algorithm, "ok"]).run().out;
        let run = dir.ftk(["hash", "-c"]).stdin(&list).run().status(1).stdout("ok: FAILED\n");
        let assumed = match list.len() - b"  ok\n".len() {
            8 => "crc32",
            32 => "md5",
            64 => "sha256",
            _ => "sha512",
        };
        run.stderr_has(&format!(
            "  'ok' has the listed digest by {algorithm}, but not by {assumed}, which its length suggests: add -a \
             {algorithm}\n"
        ));
        // What is intact shows that the algorithm is right.
        let mixed = [&list[..], &dir.ftk(["hash", "-a", "sha256", "ok"]).run().out].concat();
        dir.ftk(["hash", "-c"]).stdin(&mixed).run().status(1).stderr_lacks("suggests");
        dir.ftk(["hash", "-c", "-a", algorithm]).stdin(&list).run().status(0).stdout("ok: OK\n");
        // Of several algorithms, the one with digests of this length is used.
        let several = format!("sha1,{algorithm}");
        dir.ftk(["hash", "-c", "-a", &several]).stdin(&list).run().status(0).stdout("ok: OK\n");
    }
}

/// A digest that differs is no reason to doubt the algorithm, in one file or in many: only an intact file is.
#[test]
fn a_file_that_differs_has_no_excuse() {
    let dir = tree();
    for n_files in [1, 40] {
        for algorithm in ["md5", "sha256", "blake3", "crc32"] {
            for nth in 0..n_files {
                dir.file(format!("many/{nth}"), format!("content {nth}").as_bytes());
            }
            let list = dir.ftk(["hash", "-a", algorithm, "many"]).run().out;
            for nth in 0..n_files {
                dir.file(format!("many/{nth}"), b"tampered");
            }
            let run = dir.ftk(["hash", "-c"]).stdin(&list).run().status(1);
            assert_eq!(run.text().matches(": FAILED\n").count(), n_files, "{algorithm}");
            let run = run.stderr_lacks("suggests").stderr_lacks("-a ");
            run.stderr_has(&format!("WARNING: {n_files} computed checksum"));
        }
        // One intact file is enough, also among those that changed, and below a root.
        let list = dir.ftk(["hash", "-a", "blake3", "--root", "many"]).run().out;
        for nth in 1..n_files {
            dir.file(format!("many/{nth}"), b"tampered again, so it is longer");
        }
        let run = dir.ftk(["hash", "-c", "--root", "many"]).stdin(&list).run().status(1);
        run.stderr_has("'0' has the listed digest by blake3, but not by sha256, which");
    }
}

/// `sha256sum -c` finds no line in such a list.
#[test]
fn a_list_without_the_algorithm_asked_for_is_an_error() {
    let dir = tree();
    let tagged = dir.ftk(["hash", "-a", "md5,sha256", "ok"]).run().out;
    let hashdeep = format!("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n1,{},ok\n", sha256(b"1"));
    for (name, list, found) in [
        ("tagged", tagged, &["md5", "sha256"][..]),
        ("hashdeep", hashdeep.into_bytes(), &["sha256"]),
        ("list.sfv", dir.ftk(["hash", "--sfv", "ok"]).run().out, &["crc32"]),
        ("openssl", format!("SHA2-256(ok)= {}\n", sha256(b"1")).into_bytes(), &["sha256"]),
    ] {
        dir.file(name, &list);
        let said = format!("ftk: no line of '{name}' has sha512 or blake3: the digests are by ");
        dir.ftk(["hash", "-c", name]).run().status(0);
        for args in [&[][..], &["--status"], &["-q"], &["--json"], &["--root", "."]] {
            let run = dir.ftk(["hash", "-c", "-a", "sha512,blake3", name]).args(args).run().status(2);
            run.stderr_has(&said);
        }
        let run = dir.ftk(["hash", "--diff", "-a", "sha512,blake3", name, name]).run().status(2);
        run.stderr_has(&said);
        for algorithm in found {
            dir.ftk(["hash", "-c", "-a", algorithm, name]).run().status(0).stderr_lacks("no line");
        }
    }
    // A trial: one of two algorithms was not checked, without a word.
    let two = format!(
        "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n1,{},{},ok\n",
        "c4ca4238a0b923820dcc509a6f75849b",
        sha256(b"1")
    );
    dir.file("two", two.as_bytes()).file("ok.sha256", format!("{}  ok\n", sha256(b"1")).as_bytes());
    let said = "ftk: no line of 'two' has sha1 or sha512: the digests are by sha256 and md5\n";
    for args in [&[][..], &["--status"], &["-q"], &["--json"], &["--only", "ok"]] {
        dir.ftk(["hash", "-c", "-a", "sha1,md5,sha512", "two"]).args(args).run().status(2).stderr_has(said);
    }
    // The algorithms of -a are alternatives for untagged lines.
    dir.ftk(["hash", "-c", "-a", "sha256,sha1", "ok.sha256"]).run().status(0);
    let lists = |algorithms: &str| dir.ftk(["hash", "-c", "-a", algorithms, "two", "list.sfv"]).run();
    lists("sha256,crc32").status(0);
    lists("md5,crc32,sha1").status(2).stderr_has("no line of the lists has sha1: the digests are by ");
    // All digests of a file count, whatever is asked for.
    dir.file("two", two.replace("c4ca", "c4cb").as_bytes());
    dir.ftk(["hash", "-c", "-a", "sha256", "two"]).run().status(1).stdout("ok: FAILED\n");
    for command in [&["hash", "--update", "tagged"][..], &["manifest", "import", "tagged", "-o", "new.jsonl"]]
    {
        let run = dir.ftk(command).args(["-a", "sha512"]).run().status(2).stdout("");
        run.stderr_has("no line of 'tagged' has sha512: the digests are by ");
    }
    assert!(!dir.path("new.jsonl").exists());
}

/// Only a file that does not exist is missing. One that exists and cannot be read is an error with its reason.
#[test]
fn missing_and_unreadable_files_are_told_apart() {
    let dir = Dir::new();
    dir.file("file", b"1")
        .file("locked", b"1")
        .file("closed/x", b"1")
        .dir("dir")
        .symlink("nowhere", "broken");
    dir.symlink("loop", "loop").socket("socket");
    let cases = [
        ("gone", "missing", ""),
        ("gone/x", "missing", ""),
        ("file/x", "missing", ""),
        ("broken", "missing", ""),
        ("locked", "unreadable", "cannot open 'locked': permission denied"),
        ("closed/x", "unreadable", "cannot open 'closed/x': permission denied"),
        ("dir", "unreadable", "cannot read 'dir': it is not a regular file"),
        ("loop", "unreadable", "cannot read 'loop': it is not a regular file"),
        ("socket", "unreadable", "cannot read 'socket': it is not a regular file"),
    ];
    dir.lock("locked").lock("closed");
    let check = |name: &str| {
        let list = format!("{}  {name}\n", sha256(b"1"));
        dir.ftk(["hash", "-c", "--json"]).stdin(list.as_bytes()).unprivileged(&dir).run()
    };
    for (name, verdict, said) in cases {
        let run = check(name).status(if verdict == "missing" { 1 } else { 2 });
        let record: Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!(record["verdict"], verdict, "{name}");
        let run = run.stderr_has(said).stderr_has(&format!("  1 {verdict}, "));
        run.check(run.err.contains("ftk: cannot") == (verdict == "unreadable"), "an error has its reason");
    }
    let list: String = cases.iter().map(|(name, ..)| format!("{}  {name}\n", sha256(b"1"))).collect();
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).unprivileged(&dir).run().status(2);
    let run = run.stderr_has("ftk: WARNING: 4 listed files are missing\n");
    run.stderr_has("ftk: WARNING: 5 listed files could not be read\n")
        .stderr_has("  4 missing, 5 unreadable, ");
}

#[test]
fn verdicts_as_json() {
    let dir = tree();
    dir.raw_file(b"\xff", b"x").dir("d");
    let mut list = fs::read(dir.path("list")).unwrap();
    list.extend_from_slice(format!("MD5 (d) = {}\n", "0".repeat(32)).as_bytes());
    list.extend_from_slice(&[sha256(b"x").as_bytes(), b"  \xff\n"].concat());
    let run = dir.ftk(["hash", "-c", "--json"]).stdin(&list).run().status(2);
    let records: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = serde_json::json!([
        { "path": "ok", "verdict": "ok", "algorithm": "sha256", "expected": sha256(b"1"), "found": sha256(b"1") },
        { "path": "bad", "verdict": "failed", "algorithm": "sha256", "expected": sha256(b"!"), "found": sha256(b"2") },
        { "path": "gone", "verdict": "missing", "algorithm": "sha256", "expected": sha256(b"3"),
          "error": "no such file or directory" },
        { "path": "d", "verdict": "unreadable", "algorithm": "md5", "expected": "0".repeat(32),
          "error": "it is not a regular file" },
        { "path_b64": "/w==", "verdict": "ok", "algorithm": "sha256", "expected": sha256(b"x"), "found": sha256(b"x") },
    ]);
    assert_eq!(Value::Array(records), expected);
    let run = dir.ftk(["hash", "-c", "--json", "-q"]).stdin(&list).run().status(2);
    assert_eq!(run.text().lines().count(), 3, "files that are ok are omitted");
}

#[test]
fn into_a_file() {
    let dir = tree();
    dir.ftk(["hash", "-c", "list", "-o", "verdicts"]).run().status(1).stdout("");
    assert_eq!(fs::read_to_string(dir.path("verdicts")).unwrap(), LINES);
    let run = dir.ftk(["hash", "-c", "list", "-o", "list"]).run().status(2).stdout("");
    run.stderr_has("'list' is both input and output");
    assert!(!fs::read(dir.path("list")).unwrap().is_empty());
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    dir.ftk(["hash", "-c", "list"])
        .stdout(full)
        .run()
        .status(2)
        .stderr_has("cannot write to standard output");
}

/// The results are the same for every number of workers and every reader, also if several lines name one
/// file.
#[test]
fn workers_and_readers_do_not_change_the_results() {
    let dir = Dir::new();
    for nth in 0..400 {
        dir.file(format!("d{}/f{nth}", nth % 7), format!("{nth}").as_bytes());
    }
    dir.file("large", &vec![7; 3 << 20]);
    let list = dir.ftk(["hash", ".", "-a", "sha256,md5"]).run().out;
    let mut lines: Vec<_> = list.split_inclusive(|&byte| byte == b'\n').collect();
    // Unsorted, repeated, and some with one algorithm only.
    lines.reverse();
    lines.drain(..51);
    let list = [lines.concat(), list.clone()].concat();
    fs::remove_file(dir.path("d1/f1")).unwrap();
    dir.file("d2/f2", b"!");
    let expected = dir.ftk(["hash", "-c", "-j", "1", "--io", "sync"]).stdin(&list).run().status(1).out;
    assert_eq!(expected.split(|&byte| byte == b'\n').count(), 2 * 2 * 401 - 51 + 1);
    for args in [&["-j", "3"][..], &["-j", "2", "--io", "auto"], &["-j", "auto"]] {
        dir.ftk(["hash", "-c"]).args(args).stdin(&list).run().status(1).stdout(&expected);
    }
    if crate::harness::uring() {
        dir.ftk(["hash", "-c", "--io", "uring"]).stdin(&list).run().status(1).stdout(&expected);
    }
}

/// A file is opened once, even if several lines and algorithms name it.
#[test]
fn a_file_is_opened_once() {
    needs!("strace");
    let dir = Dir::new();
    dir.file("d/once", b"1").file("d/other", b"2");
    let list = dir.ftk(["hash", "d/once", "-a", "sha256,md5,blake3"]).run().out;
    let list = [&list[..], &dir.ftk(["hash", "d/other"]).run().out, &list].concat();
    dir.file("list", &list);
    let log = dir.aside("log");
    let wrapper = ["strace", "-f", "-qq", "-e", "trace=openat", "-o", log.to_str().unwrap()];
    let run = dir.ftk(["hash", "-c", "--io", "sync", "list"]).under(&dir, wrapper).run().status(0);
    run.stdout(["d/once: OK\n".repeat(3), "d/other: OK\n".to_owned(), "d/once: OK\n".repeat(3)].concat());
    let log = fs::read_to_string(log).unwrap();
    assert_eq!((log.matches("\"once\"").count(), log.matches("\"other\"").count()), (1, 1), "{log}");
}

#[test]
fn few_descriptors_are_enough() {
    let dir = Dir::new();
    for nth in 0..300 {
        dir.file(format!("d{}/e/f{nth}", nth % 50), format!("{nth}").as_bytes());
    }
    dir.ftk(["hash", ".", "-o", "../list"]).run().status(0);
    for args in [&["-j", "1"][..], &["-j", "3"], &["--root", "."]] {
        let run = dir.ftk(["hash", "-c", "../list"]).args(args).limit(&dir, "-n 16").run().status(0);
        run.stderr_lacks("ftk: ").stderr_has("  300 ok, ");
    }
}

#[test]
fn standard_input_as_a_file() {
    let dir = Dir::new();
    let list = format!("{}  -\n", sha256(b"abc"));
    dir.file("list", list.as_bytes());
    dir.ftk(["hash", "-c", "list"]).stdin(b"abc").run().status(0).stdout("-: OK\n");
    dir.ftk(["hash", "-c", "list"]).stdin(b"abd").run().status(1).stdout("-: FAILED\n");
    // If the list itself is standard input, `-` is an ordinary name.
    dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(1).stdout("-: FAILED open or read\n");
}

#[test]
fn memory_is_bounded() {
    let dir = Dir::new();
    let list: String = (0..20_000).map(|nth| format!("{}  directory/{nth}\n", sha256(b""))).collect();
    dir.file("list", list.as_bytes());
    let run = dir.ftk(["hash", "-c", "--memory", "1M", "list"]).run().status(2).stdout("");
    run.stderr_has("the list is too large (raise --memory)");
    dir.ftk(["hash", "-c", "--memory", "16M", "--status", "list"]).run().status(1);
}
