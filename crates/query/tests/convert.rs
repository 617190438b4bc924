//! Sets: what is in them, and which directories are refused.

use std::fs;

use crate::harness::Dir;

/// A tree with odd names.
fn tree(dir: &Dir) {
    dir.file("t/b/two", b"2")
        .file("t/b/one", b"1")
        .file("t/-a", b"1")
        .file("t/new\nline", b"")
        .raw_file(b"t/\xff/x.TXT", b"x");
    std::os::unix::fs::symlink("b/one", dir.path("t/link")).unwrap();
    fs::hard_link(dir.path("t/b/one"), dir.path("t/b/hard")).unwrap();
}

#[test]
fn every_entry_is_a_row_in_order() {
    let dir = Dir::new();
    tree(&dir);
    let set = dir.set("t", &[]);
    let rows = dir.ask(&[
        "sql",
        "SELECT path, path_b64, parent, parent_b64, name, extension, type FROM entries ORDER BY path, path_b64",
        &set,
        "--format",
        "csv",
    ]);
    assert_eq!(
        rows,
        "path,path_b64,parent,parent_b64,name,extension,type\r\n\
         ,/w==,.,,,,directory\r\n\
         ,/y94LlRYVA==,,/w==,x.TXT,txt,file\r\n\
         -a,,.,,-a,,file\r\n\
         .,,,,.,,directory\r\n\
         b,,.,,b,,directory\r\n\
         b/hard,,b,,hard,,file\r\n\
         b/one,,b,,one,,file\r\n\
         b/two,,b,,two,,file\r\n\
         link,,.,,link,,symlink\r\n\
         \"new\nline\",,.,,\"new\nline\",,file\r\n"
    );
    let contents = dir.ask(&["sql", "SELECT digest FROM contents", &set, "--format", "csv"]);
    let digests: Vec<_> = contents.lines().skip(1).collect();
    assert_eq!(digests.len(), 6);
    assert!(digests.is_sorted(), "{contents}");
}

#[test]
fn compressed_and_old_manifests_give_the_same_rows() {
    let dir = Dir::new();
    tree(&dir);
    let set = dir.set("t", &[]);
    let all = |set: &str| {
        dir.ask(&["sql", "SELECT * FROM entries ORDER BY path, path_b64", set, "--format", "csv"])
    };
    dir.ftk(&["manifest", "create", "t", "-o", "z.jsonl.zst"]).status(0);
    dir.ask(&["convert", "z.jsonl.zst", "-o", "z"]);
    let without_verified = |text: String| -> String {
        // The start of the run is the time of the verification.
        let lines = text.lines().map(|line| line.rsplitn(4, ',').nth(3).unwrap_or_default().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without_verified(all("z")), without_verified(all(&set)));
}

#[test]
fn several_inputs_are_merged_in_path_order() {
    let dir = Dir::new();
    dir.file("a/1", b"1").file("a/3", b"3").file("b/2", b"2").file("b/4", b"3");
    for tree in ["a", "b"] {
        dir.ftk(&["manifest", "create", tree, "-o", &format!("{tree}.jsonl")]).status(0);
    }
    dir.ask(&["convert", "b.jsonl", "a.jsonl", "-o", "set"]);
    let rows =
        dir.ask(&["sql", "SELECT source, path FROM entries WHERE type = 'file'", "set", "--format", "csv"]);
    assert_eq!(rows, "source,path\r\na,1\r\nb,2\r\na,3\r\nb,4\r\n");
    let error = dir.refused(&["convert", "a.jsonl", "b.jsonl", "--source", "x", "-o", "same"]);
    assert!(error.contains("convert them separately"), "{error}");
}

#[test]
fn a_set_appears_only_when_it_is_complete() {
    let dir = Dir::new();
    tree(&dir);
    dir.set("t", &[]);
    let text = fs::read_to_string(dir.path("t.jsonl")).unwrap();
    dir.file("cut.jsonl", &text.as_bytes()[..text.len() / 2]);
    dir.file("edited.jsonl", text.replace("b/two", "b/twO").as_bytes());
    for name in ["cut", "edited"] {
        dir.refused(&["convert", &format!("{name}.jsonl"), "-o", name]);
        assert!(!dir.path(name).exists(), "{name}");
    }
    dir.file("other.jsonl", b"{\"path\":\"a\"}\n");
    dir.refused(&["convert", "other.jsonl", "-o", "other"]);
    dir.refused(&["convert", "missing.jsonl", "-o", "other"]);
    assert!(!dir.path("other").exists());
}

#[test]
fn only_new_and_empty_directories_become_sets() {
    let dir = Dir::new();
    tree(&dir);
    let set = dir.set("t", &[]);
    assert!(dir.refused(&["convert", "t.jsonl", "-o", &set]).contains("already a set"));
    dir.file("full/x", b"");
    assert!(dir.refused(&["convert", "t.jsonl", "-o", "full"]).contains("not empty"));
    fs::create_dir(dir.path("empty")).unwrap();
    dir.ask(&["convert", "t.jsonl", "-o", "empty"]);
}

#[test]
fn an_edited_or_incomplete_set_is_refused() {
    let dir = Dir::new();
    tree(&dir);
    let set = dir.set("t", &[]);
    let ask = ["largest", &set];
    let file = dir.path("t.set/entries-1.parquet");
    let whole = fs::read(&file).unwrap();
    let mut edited = whole.clone();
    edited[whole.len() / 2] ^= 1;
    fs::write(&file, &edited).unwrap();
    assert!(dir.refused(&ask).contains("its content differs"));
    fs::write(&file, &whole[1..]).unwrap();
    assert!(dir.refused(&ask).contains("its size differs"));
    fs::remove_file(&file).unwrap();
    assert!(dir.refused(&ask).contains("cannot open"));
    fs::write(&file, &whole).unwrap();
    dir.ask(&ask);
    let seal = dir.path("t.set/_set.jsonl");
    let text = fs::read_to_string(&seal).unwrap();
    fs::write(&seal, text.replacen("\"rows\":", "\"rows\":1", 1)).unwrap();
    assert!(dir.refused(&ask).contains("cannot use"));
    fs::remove_file(&seal).unwrap();
    assert!(dir.refused(&ask).contains("not a complete set"));
}

#[test]
fn the_main_algorithm_can_be_chosen() {
    let dir = Dir::new();
    dir.file("t/a", b"a");
    dir.ftk(&["manifest", "create", "-a", "sha256", "-a", "md5", "-a", "crc32", "t", "-o", "t.jsonl"])
        .status(0);
    dir.ask(&["convert", "t.jsonl", "-o", "first"]);
    let sql = "SELECT algorithm, digest, md5 FROM entries WHERE type = 'file'";
    let rows = dir.ask(&["sql", sql, "first", "--format", "csv"]);
    assert_eq!(
        rows.lines().nth(1).unwrap(),
        "sha256,ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb,0cc175b9c0f1b6a831c399e269772661"
    );
    dir.ask(&["convert", "t.jsonl", "-a", "md5", "-o", "second"]);
    let sql = "SELECT algorithm, digest, sha256, crc32 FROM entries WHERE type = 'file'";
    let rows = dir.ask(&["sql", sql, "second", "--format", "csv"]);
    assert!(rows.contains("md5,0cc175b9c0f1b6a831c399e269772661,ca97"), "{rows}");
    assert!(dir.refused(&["convert", "t.jsonl", "-a", "crc32", "-o", "third"]).contains("does not identify"));
    assert!(dir.refused(&["convert", "t.jsonl", "-a", "blake3", "-o", "third"]).contains("not all inputs"));
}

#[test]
fn a_duplicate_report_is_an_input() {
    let dir = Dir::new();
    dir.file("t/a", b"same").file("t/d/b", b"same").file("t/c", b"other");
    let report = dir.ftk(&["dup", "--json", "t"]);
    dir.file("report.jsonl", &report.out);
    dir.ask(&["convert", "report.jsonl", "-o", "set"]);
    let rows = dir.ask(&["sql", "SELECT path, size_bytes, algorithm FROM entries", "set", "--format", "csv"]);
    assert_eq!(rows, "path,size_bytes,algorithm\r\na,4,xxh128\r\nd/b,4,xxh128\r\n");
    // A report of manifests names files that are in the manifests too.
    dir.set("t", &[]);
    let report = dir.ftk(&["dup", "--json", "--manifests", "t.jsonl"]).status(0);
    dir.file("recorded.jsonl", &report.out);
    let error = dir.refused(&["convert", "recorded.jsonl", "-o", "recorded"]);
    assert!(error.contains("it is a report of manifests: convert the manifests"), "{error}");
}
