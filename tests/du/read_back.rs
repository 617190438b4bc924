//! `--from`: files instead of the disk.

use serde_json::Value;

use super::tree;
use crate::harness::{Dir, needs, sha256};

#[test]
fn a_manifest_has_the_sums_of_the_disk() {
    needs!("zstd");
    let dir = tree();
    // A manifest would read all of it.
    std::fs::remove_file(dir.path("hole")).unwrap();
    let manifest = dir.aside("manifest.jsonl");
    dir.ftk(["manifest", "create", ".", "-q", "-o"]).arg(&manifest).run().status(0);
    dir.ftk([] as [&str; 0]).instead(&dir, ["zstd", "-q"]).arg(&manifest).run().status(0);
    let compressed = dir.aside("manifest.jsonl.zst");
    for args in
        [&["-s"][..], &["-d9"], &["-a"], &["-a", "--top", "5"], &["--json", "-a"], &["--apparent-size"]]
    {
        let disk = dir.ftk(["du"]).args(args).run().status(0);
        for file in [&manifest, &compressed] {
            dir.ftk(["du", "--from"]).arg(file).args(args).run().status(0).stdout(&disk.out);
        }
        let run = dir.ftk(["du", "--from", "-"]).args(args).stdin(&std::fs::read(&compressed).unwrap());
        run.run().status(0).stdout(&disk.out);
    }
}

#[test]
fn directories_that_a_manifest_lacks_are_made() {
    let dir = tree();
    // A manifest would read all of it.
    std::fs::remove_file(dir.path("hole")).unwrap();
    let manifest = dir.aside("manifest.jsonl");
    dir.ftk(["manifest", "create", ".", "-q", "-t", "f", "-o"]).arg(&manifest).run().status(0);
    let disk = dir.ftk(["du", "-t", "f", "-d9", "--json"]).run().status(0);
    dir.ftk(["du", "-d9", "--json", "--from"]).arg(&manifest).run().status(0).stdout(&disk.out);
}

#[test]
fn other_files_are_refused() {
    let dir = Dir::new();
    dir.file("empty", b"")
        .file("text", b"hello\n")
        .file("cut", b"[1,2,{},[{\"name\":\"/x\"},{\"name\":\"a\"}");
    dir.file("version", b"[2,0,{},[{\"name\":\"/x\"}]]")
        .file("float", b"[1,2,{},[{\"name\":\"/x\",\"asize\":1.5}]]");
    dir.file("slash", b"[1,2,{},[{\"name\":\"/x\"},{\"name\":\"a/b\"}]]")
        .file("two", b"[1,2,{},[{\"name\":\"x\"}]]x");
    for (file, why) in [
        ("empty", "the file ends early"),
        ("text", "expected `[`"),
        ("cut", "the file ends early"),
        ("version", "expected version 1"),
        ("float", "expected a whole number"),
        ("slash", "a name contains NUL or `/`"),
        ("two", "expected the end of the file"),
    ] {
        let run = dir.ftk(["du", "--from", file]).run().status(2).stdout("");
        run.stderr_has(&format!("'{file}': ")).stderr_has(why);
    }
    dir.ftk(["du", "--from", "nothing"]).run().status(2).stderr_has("cannot open 'nothing'");
    dir.ftk(["du", "--from", "text", "-n", "x"])
        .run()
        .status(2)
        .stderr_has("--from cannot be used with --name");
    dir.ftk(["du", "--from", "text", "-L"]).run().status(2).stderr_has("--from cannot be used with --follow");
    dir.ftk(["du", "--from", "text", "x"]).run().status(2).stderr_has("cannot be used with");
}

#[test]
fn a_list_without_allocated_bytes_is_refused() {
    let dir = Dir::new();
    dir.file("a", b"x");
    let list = dir.ftk(["hash", "a"]).run().status(0);
    dir.file("sums", &list.out);
    let import = dir.ftk(["manifest", "import", "--format", "sha256", "sums"]).run();
    dir.file("imported", &import.out);
    let run = dir.ftk(["du", "--from", "imported"]).run().status(2).stdout("");
    run.stderr_has("has no allocated_bytes");
}

/// Sizes near the limits of 64 bits add up without overflow.
#[test]
fn huge_sizes() {
    let dir = Dir::new();
    let huge = u64::MAX;
    let list = format!(
        "[1,2,{{\"progname\":\"x\"}},[{{\"name\":\"/x\",\"asize\":{huge},\"dsize\":{huge}}},\
         {{\"name\":\"a\",\"asize\":{huge},\"dsize\":{huge}}},{{\"name\":\"b\",\"asize\":{huge},\"dsize\":{huge}}}]]"
    );
    let sum = u128::from(huge) * 3;
    dir.ftk(["du", "-s", "--from", "-"])
        .stdin(list.as_bytes())
        .run()
        .status(0)
        .stdout(format!("{sum}\t/x\n"));
    let run = dir.ftk(["du", "-a", "--json", "--from", "-"]).stdin(list.as_bytes()).run().status(0);
    run.check(run.text().contains(&format!("\"allocated_bytes\":{sum},\"apparent_bytes\":{sum}")), "exact");
    dir.ftk(["du", "-sh", "--from", "-"]).stdin(list.as_bytes()).run().status(0).stdout("48E\t/x\n");
    let larger = list.replace(&huge.to_string(), "18446744073709551616");
    let run = dir.ftk(["du", "-s", "--from", "-"]).stdin(larger.as_bytes()).run().status(2);
    run.stderr_has("a number is too large");
}

/// Several hosts may know one file system by different device numbers, and others by the same one.
#[test]
fn hard_links_that_several_hosts_recorded_count_once() {
    let dir = Dir::new();
    let fs = |digit: &str| format!(r#""fs":"{}","#, digit.repeat(32));
    let digest = "0".repeat(64);
    // The file system, the device, and the inode of a, b and c. All are names of files with two links.
    let total = |identities: [(String, u32, u32); 3]| {
        let mut manifest = String::from(
            r#"{"ftk":"manifest","version":2,"root":"/x","algorithms":["sha256"],"xattrs":false,"options":[],"start_ns":1}"#,
        );
        manifest.push('\n');
        for (name, (fs, dev, ino)) in ["a", "b", "c"].into_iter().zip(identities) {
            manifest += &format!(
                r#"{{"path":"{name}","type":"file","size_bytes":1,"allocated_bytes":512,{fs}"dev":{dev},"ino":{ino},"nlink":2,"digests":{{"sha256":"{digest}"}}}}"#
            );
            manifest.push('\n');
        }
        let sha256 = sha256(manifest.as_bytes());
        manifest += &format!("{{\"footer\":{{\"records\":4,\"sha256\":\"{sha256}\"}}}}\n");
        dir.file("m", manifest.as_bytes());
        let run = dir.ftk(["du", "-s", "--from", "m"]).run().status(0);
        let report = dir.ftk(["report", "--json", "m"]).run().status(0);
        let report: Value = serde_json::from_str(report.text()).unwrap();
        let total: u32 = run.text().split('\t').next().unwrap().parse().unwrap();
        assert_eq!(report["space"]["allocated_bytes"][0], total);
        total
    };
    assert_eq!(total([(fs("1"), 7, 5), (fs("1"), 8, 5), (fs("1"), 9, 6)]), 1024);
    assert_eq!(total([(fs("1"), 7, 5), (fs("2"), 7, 5), (fs("1"), 7, 5)]), 1024);
    let none = String::new;
    assert_eq!(total([(none(), 7, 5), (none(), 8, 5), (none(), 7, 5)]), 1024);
    assert_eq!(total([(fs("0"), 0, 5), (none(), 0, 5), (none(), 1, 5)]), 1536);
}
