//! Histories of ASC MHL as manifests, and manifests as generations of such histories.

use std::fs;

use crate::harness::{Dir, Run, needs};

fn tool(dir: &Dir, words: &[&str]) -> Run {
    dir.ftk([] as [&str; 0]).instead(dir, words).run()
}

fn card() -> Dir {
    let dir = Dir::new();
    dir.file("T/Clips/a.mov", b"one").file("T/Clips/deep/b.mov", b"two").dir("T/empty").dir("T/Clips-2");
    dir.file("T/Clips-2/c.mov", b"c")
        .file("T/s & <x>.txt", b"three")
        .file("T/zero", b"")
        .file("T/.DS_Store", b"");
    dir
}

/// Makes a manifest of the card, and exports it into its history.
fn append(dir: &Dir, algorithms: &str) -> Run {
    dir.ftk(["manifest", "create", "T", "-a", algorithms, "-o", "m.jsonl", "--force"]).run().status(0);
    dir.ftk(["manifest", "export", "--format", "ascmhl", "m.jsonl", "-o", "T"]).run()
}

/// All that `ascmhl` can say about the history.
fn is_accepted(dir: &Dir) {
    tool(dir, &["ascmhl", "diff", "T"]).status(0);
    tool(dir, &["ascmhl-debug", "verify", "T"]).status(0);
    let run = tool(dir, &["ascmhl-debug", "verify", "-dh", "-v", "T"]).status(0);
    run.stdout_has("verification of root folder   OK").stdout_lacks("ERROR");
}

#[test]
fn ascmhl_accepts_generations_and_goes_on() {
    needs!("ascmhl");
    for algorithms in ["xxh128", "md5,sha512", "xxh64,xxh3,sha1"] {
        let dir = card();
        append(&dir, algorithms).status(0).stderr_has("generation 1 of 'T': 5 files");
        is_accepted(&dir);
        append(&dir, algorithms).status(0).stderr_has("generation 2 of 'T': 5 files");
        is_accepted(&dir);
        dir.ftk(["hash", "--check", "-q", "--new", "T"]).run().status(0).stdout("");
        tool(&dir, &["ascmhl", "create", "T"]).status(0);
        dir.ftk(["hash", "--check", "-q", "--new", "T"]).run().status(0).stdout("");
        append(&dir, &format!("{algorithms},sha256")).status(0).stderr_has("generation 4 of 'T'");
        is_accepted(&dir);
        let info = tool(&dir, &["ascmhl", "info", "-v", "T"]).status(0);
        info.stdout_has("Generation 4");
    }
}

#[test]
fn a_history_of_ascmhl_goes_on() {
    needs!("ascmhl");
    let dir = card();
    tool(&dir, &["ascmhl", "create", "-h", "md5", "T"]).status(0);
    append(&dir, "xxh128").status(2).stderr_has("the history has it by md5: make a manifest with -a md5");
    append(&dir, "md5,xxh128").status(0);
    is_accepted(&dir);
    dir.file("T/zero", b"0").file("T/new", b"");
    fs::remove_file(dir.path("T/Clips/a.mov")).unwrap();
    append(&dir, "md5,xxh128,sha1").status(1).stderr_has("generation 3 of 'T': 5 files, 1 failed, 1 missing");
    dir.ftk(["hash", "--check", "-q", "T"])
        .run()
        .status(1)
        .stdout("Clips/a.mov: FAILED open or read\nzero: FAILED\n");
    tool(&dir, &["ascmhl", "diff", "T"]).status(10);
    tool(&dir, &["ascmhl-debug", "verify", "T"]).status(11);
    tool(&dir, &["ascmhl", "create", "-h", "md5", "T"]).status(11);
}

#[test]
fn what_a_generation_cannot_hold_is_refused() {
    let dir = card();
    append(&dir, "sha256").status(2).stderr_has("it records sha256; ascmhl can hold md5");
    let export = ["manifest", "export", "--format", "ascmhl", "m.jsonl"];
    dir.ftk(export).run().status(2).stderr_has("needs -o");
    dir.ftk(export).args(["-o", "m.jsonl"]).run().status(2);
    dir.ftk(["manifest", "create", "T", "-E", "zero", "-a", "md5", "-o", "part.jsonl"]).run().status(0);
    dir.ftk(["manifest", "export", "--format", "ascmhl", "part.jsonl", "-o", "T"])
        .run()
        .status(2)
        .stderr_has("it does not have all entries of a tree");
    dir.symlink("zero", "T/link");
    append(&dir, "md5").status(2).stderr_has("cannot represent 'link'");
    fs::remove_file(dir.path("T/link")).unwrap();
    dir.raw_file(b"T/\x01", b"");
    append(&dir, "md5").status(2).stderr_has("XML cannot hold the character U+0001");
    assert!(!dir.path("T/ascmhl").exists());
}

#[test]
fn broken_and_nested_histories_are_not_continued() {
    needs!("ascmhl");
    let dir = card();
    tool(&dir, &["ascmhl", "create", "T/Clips"]).status(0);
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    append(&dir, "xxh128").status(2).stderr_has("has the nested history 'Clips/'");
    fs::remove_dir_all(dir.path("T/Clips/ascmhl")).unwrap();
    append(&dir, "xxh128").status(2).stderr_has("is missing");
    assert_eq!(fs::read_dir(dir.path("T/ascmhl")).unwrap().count(), 2);
    // `ascmhl` continues a nested history also if no outer one records it.
    let dir = card();
    tool(&dir, &["ascmhl", "create", "T/Clips/deep"]).status(0);
    append(&dir, "xxh128").status(2).stderr_has("has the nested history 'Clips/deep/'");
    assert!(!dir.path("T/ascmhl").exists());
    let dir = card();
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    tool(&dir, &["ascmhl", "create", "T/Clips"]).status(0);
    append(&dir, "xxh128").status(2).stderr_has("has the nested history 'Clips/'");
}

#[test]
fn histories_and_lists_are_imported() {
    needs!("ascmhl");
    let dir = card();
    tool(&dir, &["ascmhl", "create", "-h", "md5", "T"]).status(0);
    dir.file("T/new", b"n");
    tool(&dir, &["ascmhl", "create", "-h", "xxh128", "T"]).status(0);
    // All files have a digest by XXH128, and not all by MD5.
    for (path, words) in [("T", &[][..]), ("T/ascmhl", &["--format", "mhl"])] {
        dir.ftk(["manifest", "import", path, "-o", "m.jsonl", "--force"])
            .args(words)
            .run()
            .status(0)
            .stderr_has("6 entries");
        dir.ftk(["manifest", "verify", "T", "m.jsonl"]).run().status(1).stderr_lacks("corrupted");
    }
    dir.ftk(["hash", "--format", "mhl", "T", "-o", "T/T.mhl"]).run().status(0);
    dir.ftk(["manifest", "import", "T/T.mhl", "-o", "n.jsonl"]).run().status(0);
    dir.file("T/zero", b"0");
    dir.ftk(["manifest", "verify", "T", "n.jsonl"]).run().status(1).stdout_has("zero");
}
