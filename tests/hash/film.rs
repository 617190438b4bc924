//! Film hash lists: MHL 1.1 and ASC MHL 2.0, with `ascmhl` as the reference.

use std::fs;

use crate::harness::{Dir, Run, needs};

/// Runs a tool in the directory.
fn tool(dir: &Dir, words: &[&str]) -> Run {
    dir.ftk([] as [&str; 0]).instead(dir, words).run()
}

/// A card with a directory, an empty one, an empty file, and a name that XML escapes.
fn card() -> Dir {
    let dir = Dir::new();
    dir.file("T/Clips/a.mov", b"one").file("T/Clips/deep/b.mov", b"two").dir("T/empty");
    dir.file("T/s & <x>.txt", b"three").file("T/zero", b"");
    dir
}

/// Checks the history of `T`, and returns the lines without those of generations.
fn check(dir: &Dir, status: i32) -> String {
    let run = dir.ftk(["hash", "--check", "T"]).run().status(status);
    let text = String::from_utf8(run.out).unwrap();
    text.lines().filter(|line| !line.contains(".mhl: OK")).map(|line| format!("{line}\n")).collect()
}

/// Returns the path of a generation.
fn generation(dir: &Dir, at: &str, number: u32) -> String {
    let names =
        fs::read_dir(dir.path(at)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found = names.into_iter().find(|name| name.starts_with(&format!("{number:04}_")));
    format!("{at}/{}", found.expect("a generation"))
}

const ALL_OK: &str = "Clips/deep/b.mov: OK\nClips/a.mov: OK\ns & <x>.txt: OK\nzero: OK\n";

#[test]
fn histories_by_each_algorithm() {
    needs!("ascmhl");
    for algorithm in ["md5", "sha1", "xxh128", "xxh3", "xxh64", "c4"] {
        let dir = card();
        tool(&dir, &["ascmhl", "create", "-h", algorithm, "T"]).status(0);
        assert_eq!(check(&dir, 0), ALL_OK, "{algorithm}");
        tool(&dir, &["ascmhl", "create", "-h", "md5", "T"]).status(0);
        assert_eq!(check(&dir, 0), ALL_OK, "{algorithm} and md5");
        dir.file("T/Clips/a.mov", b"0ne");
        assert!(check(&dir, 1).contains("Clips/a.mov: FAILED\n"), "{algorithm}");
    }
}

/// The history is found by its directory, the one around it, and its chain file; names are relative to the card.
#[test]
fn a_history_has_several_names() {
    needs!("ascmhl");
    let dir = card();
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    let one = generation(&dir, "T/ascmhl", 1);
    let expected = format!("{}: OK\n{ALL_OK}", &one[2..]);
    for path in ["T", "T/", "T/ascmhl", "T/ascmhl/ascmhl_chain.xml"] {
        dir.ftk(["hash", "--check", path]).run().status(0).stdout(&expected);
    }
    dir.ftk(["hash", "--check", &one]).run().status(0).stdout(ALL_OK);
    dir.ftk(["hash", "--check", "-q", "--new", "T"]).run().status(0).stdout("");
    dir.ftk(["hash", "--check", "--only", "zero", "T"]).run().status(0).stdout_has("zero: OK\n");
    // Other lists on the card are not passed over.
    dir.file("T/Clips/SHA256SUMS", format!("{}  a.mov\n", "0".repeat(64)).as_bytes());
    let run = dir.ftk(["hash", "--check", "T"]).run().status(2).stdout_has("zero: OK\n");
    run.stderr_has(
        "'T' is checked by its history, and has other lists: check 'T/Clips/SHA256SUMS' by itself\n",
    );
    fs::remove_file(dir.path("T/Clips/SHA256SUMS")).unwrap();
    // A copy is checked with the lists of the card.
    tool(&dir, &["cp", "-a", "T", "copy"]).status(0);
    dir.file("copy/zero", b"0");
    fs::remove_dir_all(dir.path("copy/ascmhl")).unwrap();
    dir.ftk(["hash", "--check", "-q", "--root", "copy", "T"]).run().status(1).stdout("zero: FAILED\n");
    let list = fs::read(dir.path(&one)).unwrap();
    let check = || dir.ftk(["hash", "--check", "-q"]).stdin(&list);
    check().run().status(2).stderr_has("'-' is a film hash list: --root names the directory of its files");
    check().args(["--root", "T"]).run().status(0);
}

#[test]
fn a_failed_check_is_not_the_truth() {
    needs!("ascmhl");
    let dir = card();
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    dir.file("T/zero", b"0");
    tool(&dir, &["ascmhl", "create", "T"]).status(11);
    assert_eq!(check(&dir, 1), ALL_OK.replace("zero: OK", "zero: FAILED"));
    dir.file("T/zero", b"");
    assert_eq!(check(&dir, 0), ALL_OK);
    let two = generation(&dir, "T/ascmhl", 2);
    dir.ftk(["hash", "--check", &two])
        .run()
        .status(2)
        .stderr_has("cannot check 'zero': its digest is that of a failed check");
}

#[test]
fn renamed_and_ignored_files() {
    needs!("ascmhl");
    let dir = card();
    dir.file("T/x.tmp", b"").file("T/.DS_Store", b"");
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    fs::rename(dir.path("T/Clips"), dir.path("T/Reel")).unwrap();
    fs::rename(dir.path("T/s & <x>.txt"), dir.path("T/y.txt")).unwrap();
    dir.ftk(["hash", "--check", "-q", "T"]).run().status(1).stdout_has("s & <x>.txt: FAILED open or read\n");
    tool(&dir, &["ascmhl", "create", "-dr", "-i", "*.tmp", "T"]).status(0);
    fs::remove_file(dir.path("T/x.tmp")).unwrap();
    dir.file("T/y.tmp", b"");
    tool(&dir, &["ascmhl", "diff", "T"]).status(0);
    dir.ftk(["hash", "--check", "-q", "--new", "T"]).run().status(0).stdout("");
    dir.file("T/new", b"");
    tool(&dir, &["ascmhl", "diff", "T"]).status(21);
    dir.ftk(["hash", "--check", "-q", "--new", "T"]).run().status(1).stdout("new: NEW\n");
}

#[test]
fn edited_and_removed_generations_are_found() {
    needs!("ascmhl");
    let dir = card();
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    tool(&dir, &["ascmhl", "create", "T"]).status(0);
    let one = generation(&dir, "T/ascmhl", 1);
    let list = fs::read_to_string(dir.path(&one)).unwrap();
    let quiet = || dir.ftk(["hash", "--check", "-q", "T"]).run();
    dir.file(&one, list.replace("original", "verified").as_bytes());
    quiet().status(1).stdout(format!("{}: FAILED\n", &one[2..]));
    dir.ftk(["manifest", "import", "T"]).run().status(2).stderr_has("has been edited");
    // Even if it is no longer a list.
    dir.file(&one, b"<");
    quiet().status(1).stdout(format!("{}: FAILED\n", &one[2..]));
    fs::remove_file(dir.path(&one)).unwrap();
    quiet().status(1).stdout(format!("{}: FAILED open or read\n", &one[2..]));
    dir.file(&one, list.as_bytes());
    quiet().status(0);
    dir.file("T/ascmhl/0003_T.mhl", list.as_bytes());
    quiet().status(1).stdout("ascmhl/0003_T.mhl: NEW\n");
    fs::remove_file(dir.path("T/ascmhl/0003_T.mhl")).unwrap();
    // Without the line of a generation, its file is not in the chain, and the chain has a gap.
    let chain = fs::read_to_string(dir.path("T/ascmhl/ascmhl_chain.xml")).unwrap();
    let (start, end) =
        (chain.find("  <hashlist").unwrap(), chain.find("  <hashlist sequencenr=\"2\"").unwrap());
    dir.file("T/ascmhl/ascmhl_chain.xml", format!("{}{}", &chain[..start], &chain[end..]).as_bytes());
    quiet().status(1).stdout(format!("{}: NEW\n", &one[2..])).stderr_has("the chain file has a gap");
    fs::remove_file(dir.path("T/ascmhl/ascmhl_chain.xml")).unwrap();
    dir.ftk(["hash", "--check", "T/ascmhl"])
        .run()
        .status(2)
        .stderr_has("cannot read 'ascmhl/ascmhl_chain.xml'");
}

#[test]
fn nested_histories() {
    needs!("ascmhl");
    let dir = card();
    for (algorithm, at) in
        [("xxh128", "T/Clips"), ("xxh128", "T"), ("md5", "T"), ("c4", "T/Clips/deep"), ("md5", "T")]
    {
        tool(&dir, &["ascmhl", "create", "-h", algorithm, at]).status(0);
    }
    let run = dir.ftk(["hash", "--check", "T"]).run().status(0);
    run.stdout_has("Clips/deep/b.mov: OK\n").stdout_has("Clips/ascmhl/0001_").stderr_lacks("hash");
    dir.file("T/Clips/deep/b.mov", b"twO");
    dir.ftk(["hash", "--check", "-q", "T"]).run().status(1).stdout_has("Clips/deep/b.mov: FAILED");
    dir.file("T/Clips/deep/b.mov", b"two");
    let inner = generation(&dir, "T/Clips/deep/ascmhl", 1);
    fs::remove_file(dir.path(&inner)).unwrap();
    dir.ftk(["hash", "--check", "-q", "T"])
        .run()
        .status(1)
        .stdout(format!("{}: FAILED open or read\n", &inner[2..]));
    fs::remove_dir_all(dir.path("T/Clips/ascmhl")).unwrap();
    dir.ftk(["hash", "--check", "-q", "T"])
        .run()
        .status(1)
        .stdout_has("Clips/ascmhl/0002_")
        .stdout_has("mhl: FAILED open or read\n");
}

/// A list whose directory hashes do not follow from its files contradicts itself, even if its chain file was made to fit.
#[test]
fn wrong_directory_hashes_are_found() {
    needs!("ascmhl");
    for (element, what) in [("content", "content hash"), ("structure", "structure hash")] {
        let dir = card();
        tool(&dir, &["ascmhl", "create", "-h", "md5", "T"]).status(0);
        let one = generation(&dir, "T/ascmhl", 1);
        let list = fs::read_to_string(dir.path(&one)).unwrap();
        let at = list.rfind(&format!("<{element}>")).unwrap();
        let digit = at + list[at..].find("\">").unwrap() + 2;
        let other = if &list[digit..=digit] == "0" { "1" } else { "0" };
        dir.file(&one, format!("{}{other}{}", &list[..digit], &list[digit + 1..]).as_bytes());
        let c4 = tool(&dir, &["ascmhl-debug", "hash", "-h", "c4", &one]).status(0).out;
        let c4 = String::from_utf8(c4).unwrap();
        let c4 =
            c4.split_whitespace().find(|word| word.starts_with("c4") && word.len() == 90).unwrap().to_owned();
        let chain = fs::read_to_string(dir.path("T/ascmhl/ascmhl_chain.xml")).unwrap();
        let (start, end) = (chain.find("<c4>").unwrap() + 4, chain.find("</c4>").unwrap());
        dir.file("T/ascmhl/ascmhl_chain.xml", format!("{}{c4}{}", &chain[..start], &chain[end..]).as_bytes());
        dir.ftk(["hash", "--check", "-q", "T"])
            .run()
            .status(1)
            .stderr_has(&format!("the {what} by md5 of"))
            .stderr_has("does not follow from the digests of its files");
    }
}

fn legacy(hashes: &str) -> Vec<u8> {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<hashlist version=\"1.1\">\n{hashes}\n</hashlist>\n")
        .into_bytes()
}

const MD5_OF_ONE: &str = "<md5>f97c5d29941bfb1b2fdab0874906ab82</md5>";

#[test]
fn lists_of_version_1_are_relative_to_their_directory() {
    let dir = Dir::new();
    let list = legacy(&format!("<hash><file>Clips/a.mov</file><size>3</size>{MD5_OF_ONE}</hash>"));
    dir.file("T/Clips/a.mov", b"one").file("T/T.mhl", &list).file("T/list.xml", &list);
    for path in ["T/T.mhl", "T/list.xml"] {
        dir.ftk(["hash", "--check", path]).run().status(0).stdout("Clips/a.mov: OK\n");
    }
    dir.file("sums", b"d41d8cd98f00b204e9800998ecf8427e  x\n");
    dir.ftk(["hash", "--check", "T/T.mhl", "sums"]).run().status(2).stderr_has("'sums' is no film hash list");
    dir.file("U/U.mhl", &list);
    dir.ftk(["hash", "--check", "T/T.mhl", "U/U.mhl"]).run().status(2).stderr_has("are in another directory");
    dir.ftk(["hash", "--update", "T/T.mhl"])
        .run()
        .status(2)
        .stderr_has("is a film hash list, which is not updated");
    let wrong = legacy(&format!("<hash><file>Clips/a.mov</file><size>4</size>{MD5_OF_ONE}</hash>"));
    dir.file("T/T.mhl", &wrong);
    dir.ftk(["hash", "--check", "T/T.mhl"]).run().status(1).stdout("Clips/a.mov: FAILED\n");
}

#[test]
fn paths_that_lead_out_are_errors() {
    let dir = Dir::new();
    dir.file("a", b"one").file("T/x", b"").symlink("..", "T/up");
    let absolute = dir.path("a").to_str().unwrap().to_owned();
    for path in ["../a", "x/../../a", &absolute, "up/a"] {
        dir.file("T/T.mhl", &legacy(&format!("<hash><file>{path}</file>{MD5_OF_ONE}</hash>")));
        dir.ftk(["hash", "--check", "T/T.mhl"]).run().status(2).stdout_lacks("OK");
    }
    dir.file("T/T.mhl", &legacy(&format!("<hash><file>{absolute}</file>{MD5_OF_ONE}</hash>")));
    dir.ftk(["manifest", "import", "T/T.mhl"]).run().status(2).stderr_has("is absolute");
}

#[test]
fn malformed_lists_are_errors() {
    let dir = Dir::new();
    dir.file("a", b"one");
    let good = format!("<hash><file>a</file>{MD5_OF_ONE}</hash>");
    for (list, why) in [
        (legacy(&good)[..60].to_vec(), "line "),
        (Vec::new(), "the list is cut off"),
        (legacy(&format!("{good}<hash><file>&x;</file></hash>")), "line 3: the entity &x;"),
        (
            legacy(&format!("{good}\n<hash><file>b</file><null/></hash>")),
            "line 4: cannot check 'b': it has no digest",
        ),
        (b"<!DOCTYPE x []>\n<hashlist version=\"1.1\"/>".to_vec(), "line 1: a document type definition"),
        (legacy(""), "no properly formatted"),
    ] {
        dir.file("a.mhl", &list);
        dir.ftk(["hash", "--check", "a.mhl"]).run().status(2).stderr_has(why);
    }
}

#[test]
fn new_lists_of_version_1() {
    let dir = card();
    dir.ftk(["hash", "--format", "mhl", "T", "-o", "T/T.mhl"]).run().status(0);
    let list = fs::read_to_string(dir.path("T/T.mhl")).unwrap();
    assert!(list.contains("<file>s &amp; &lt;x&gt;.txt</file>\n    <size>5</size>"), "{list}");
    assert_eq!(list.matches("<xxhash64be>").count(), 4);
    assert!(!list.contains("T.mhl") && !list.contains(">T/"), "{list}");
    dir.ftk(["hash", "--check", "-q", "--new", "T/T.mhl"]).run().status(0).stdout("");
    dir.ftk(["hash", "--format", "mhl", "-a", "md5,sha1", "--root", "T", "-o", "two.mhl"]).run().status(0);
    let two = fs::read_to_string(dir.path("two.mhl")).unwrap();
    assert_eq!((two.matches("<md5>").count(), two.matches("<sha1>").count()), (5, 5));
    dir.ftk(["hash", "--check", "-q", "--root", "T", "two.mhl"]).run().status(0);
    dir.ftk(["hash", "--diff", "T/T.mhl", "T/T.mhl"]).run().status(0);
    for (words, why) in [
        (&["-a", "sha256", "T"][..], "--format mhl has digests by md5, sha1 and xxh64, and not by sha256"),
        (&["-"], "standard input has no name"),
        (&["--json", "T"], "--format cannot be used with --json"),
        (&[dir.path("T").to_str().unwrap()], "names in a film hash list are relative"),
    ] {
        dir.ftk(["hash", "--format", "mhl"]).args(words).run().status(2).stderr_has(why);
    }
    // The others are listed.
    dir.raw_file(b"T/bad\x01", b"").raw_file(b"T/bad\xff", b"").raw_file(b"T/two\nlines", b"");
    let run = dir.ftk(["hash", "--format", "mhl", "T", "-o", "T/new.mhl"]).run().status(2);
    run.stderr_has("XML cannot hold the character U+0001").stderr_has("the name is not UTF-8");
    dir.ftk(["hash", "--check", "T/new.mhl"]).run().status(0).stdout_has("\\two\\nlines: OK\n");
}
