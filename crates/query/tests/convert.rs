//! Sets: what is in them, and which directories are refused.

use std::fs;
use std::process::Command;

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
    let digests = dir.ask(&["sql", "SELECT digest FROM digests", &set, "--format", "csv"]);
    let digests: Vec<_> = digests.lines().skip(1).collect();
    assert_eq!(digests.len(), 6);
    assert!(digests.is_sorted(), "{digests:?}");
    // Each digest is that of the entry with its number.
    let sql = "SELECT count(*) FROM entries e JOIN digests d ON e.source = d.source AND e.row_id = d.row_id
        WHERE e.digest = d.digest AND e.algorithm = d.algorithm";
    assert_eq!(dir.ask(&["sql", sql, &set, "--format", "csv"]).lines().nth(1), Some("6"));
}

#[test]
fn compressed_and_old_manifests_give_the_same_rows() {
    let dir = Dir::new();
    tree(&dir);
    let set = dir.set("t", &[]);
    // The start of the run is the time of the verification.
    let sql = "SELECT * EXCEPT (verified_ns) FROM entries ORDER BY path, path_b64";
    let all = |set: &str| dir.ask(&["sql", sql, set, "--format", "csv"]);
    dir.ftk(&["manifest", "create", "t", "-o", "z.jsonl.zst"]).status(0);
    dir.ask(&["convert", "z.jsonl.zst", "-o", "z"]);
    assert_eq!(all("z"), all(&set));
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
        // The seal of a manifest is checked while its entries are read.
        assert_eq!(fs::read_dir(dir.path(name)).unwrap().count(), 0, "{name}");
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
    // In the middle are the indexes.
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

/// Copies a set and a manifest of the same tree. Version 1 had all columns in its files, and text for digests.
fn version_1(dir: &Dir) {
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/version-1");
    fs::create_dir(dir.path("old")).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.path("old").join(file.file_name())).unwrap();
    }
    dir.ask(&["convert", "old/manifest.jsonl", "-o", "new"]);
}

#[test]
fn sets_of_version_1_are_read() {
    let dir = Dir::new();
    version_1(&dir);
    let both = |args: &[&str]| ["old", "new"].map(|set| dir.ask(&[args, &[set, "--format", "csv"]].concat()));
    for (sql, rows) in [
        ("SELECT * EXCEPT (row_id) FROM entries ORDER BY path, path_b64", 11),
        ("SELECT * FROM contents ORDER BY digest, path, path_b64", 7),
        ("SELECT * EXCEPT (row_id) FROM digests ORDER BY digest", 7),
    ] {
        let [old, new] = both(&["sql", sql]);
        assert_eq!((old.lines().count(), old), (rows + 1, new));
    }
    for question in ["duplicates", "rotten", "duplicate-directories", "by-extension", "versions-of"] {
        let [old, new] = both(&[question]);
        assert_eq!(old, new, "{question}");
    }
    assert_eq!(dir.ask(&["missing-in", "old", "new", "--format", "json"]), "");
    assert_eq!(dir.ask(&["changed", "old", "new", "--format", "json"]), "");
    dir.ask(&["check", "old", "new"]);
    // Pages have no checksums, so all bytes are compared before each question.
    let file = dir.path("old/entries-1.parquet");
    let mut bytes = fs::read(&file).unwrap();
    bytes[100] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert!(dir.refused(&["largest", "old"]).contains("its content differs"));
}

/// Writes a manifest with files of many names, sizes and contents, and returns its number of bytes.
fn large_manifest(dir: &Dir, rows: u64) -> u64 {
    use sha2::{Digest as _, Sha256};
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut text = String::from(
        "{\"ftk\":\"manifest\",\"version\":1,\"root\":\"t\",\"algorithms\":[\"sha256\"],\"xattrs\":false,\
         \"options\":[],\"start_ns\":1760000000000000000}\n",
    );
    for nth in 0..rows {
        let digest = hex(&Sha256::digest((nth / 3 * 3).to_le_bytes()));
        let (mtime, ino) = (1_700_000_000_000_000_000 + nth * 7_919_123, 1000 + nth);
        text += &format!(
            "{{\"path\":\"d{:04}/file {nth:07}.txt\",\"type\":\"file\",\"size_bytes\":{nth},\"allocated_bytes\":{},\
             \"mtime_ns\":{mtime},\"ctime_ns\":{},\"mode\":\"0644\",\"uid\":1000,\"gid\":1000,\
             \"fs\":\"000102030405060708090a0b0c0d0e0f\",\"dev\":65024,\"ino\":{ino},\"nlink\":1,\
             \"digests\":{{\"sha256\":\"{digest}\"}}}}\n",
            nth / 100,
            nth.div_ceil(4096) * 4096,
            mtime + 12_345,
        );
    }
    let footer = hex(&Sha256::digest(text.as_bytes()));
    text += &format!("{{\"footer\":{{\"records\":{},\"sha256\":\"{footer}\"}}}}\n", rows + 1);
    dir.file("large.jsonl", text.as_bytes());
    text.len() as u64
}

#[test]
fn a_set_is_small_and_the_same_for_every_number_of_threads() {
    let dir = Dir::new();
    // More than one row group.
    let len = large_manifest(&dir, 150_000);
    dir.ask(&["convert", "large.jsonl", "-o", "set"]);
    let one = Command::new("taskset")
        .args(["-c", "0", env!("CARGO_BIN_EXE_ftk-query"), "convert", "large.jsonl", "-o", "one"])
        .current_dir(dir.path(""))
        .status();
    assert!(one.unwrap().success());
    let mut bytes = 0;
    for file in ["entries-1.parquet", "digests-1.parquet", "_set.jsonl"] {
        let [set, one] = ["set", "one"].map(|set| fs::read(dir.path(set).join(file)).unwrap());
        assert!(set == one, "{file}");
        bytes += set.len() as u64;
    }
    assert!(bytes * 5 <= len, "{bytes} of {len}");
}

/// Questions about few rows read few bytes.
#[test]
fn pages_are_skipped() {
    let dir = Dir::new();
    large_manifest(&dir, 150_000);
    dir.ask(&["convert", "large.jsonl", "-o", "set"]);
    let read = |sql: &str| {
        let run = dir.query(&["sql", sql, "set", "--format", "csv"]).status(0);
        let (_, read) = run.err.trim().split_once(" rows; ").unwrap_or_else(|| panic!("{run:?}"));
        let mut words = read.split(' ');
        let number: f64 = words.next().and_then(|number| number.parse().ok()).unwrap();
        let unit = match words.next() {
            Some("B") => 1.0,
            Some("kB") => 1e3,
            Some("MB") => 1e6,
            other => panic!("{other:?}"),
        };
        (run.text().lines().count() - 1, number * unit)
    };
    let (rows, all) = read("SELECT path, size_bytes FROM entries");
    assert_eq!(rows, 150_000);
    let digest = "SELECT path, digest FROM entries WHERE path = 'd0700/file 0070000.txt'";
    let digest = dir.ask(&["sql", digest, "set", "--format", "csv"]);
    let digest = digest.trim().rsplit(',').next().unwrap();
    for (condition, rows) in [
        ("path LIKE 'd0700/%'", 100),
        ("path = 'd0700/file 0070000.txt'", 1),
        ("size_bytes BETWEEN 70000 AND 70009", 10),
        ("mtime_ns < 1700000000000000000 + 10 * 7919123", 10),
    ] {
        let (found, some) = read(&format!("SELECT path, size_bytes FROM entries WHERE {condition}"));
        assert_eq!(found, rows, "{condition}");
        assert!(some * 5.0 < all, "{condition}: {some} of {all}");
    }
    let (_, all) = read("SELECT digest, row_id FROM digests");
    let (found, some) = read(&format!("SELECT digest, row_id FROM digests WHERE digest = '{digest}'"));
    assert_eq!(found, 3);
    assert!(some * 5.0 < all, "{some} of {all}");
}
