//! `--from`: files instead of the disk.

use super::tree;
use crate::harness::{Dir, needs};

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
