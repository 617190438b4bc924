//! `ftk manifest export`, compared with the tools whose formats it writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use serde_json::Value;

use super::records::{Manifest, create, lines, name, seal};
use crate::harness::{Dir, Run, is_root, needs};

/// Names that some format has to encode.
pub(super) const ODD: [&[u8]; 22] = [
    b"a b",
    b"-dash",
    b"#hash",
    b"eq=ual",
    b"*glob[x]?",
    b"back\\slash\\n",
    b"q'\"$(id)",
    b"~tilde",
    b"..x",
    b"comma,1",
    b" lead",
    b"trail ",
    b"tab\t",
    b"c1 \xc2\x85x",
    b"caf\xc3\xa9",
    b"\x01\x7f\x1b[31m",
    b"percent %25 %0A %",
    b"cr\rx",
    b"new\nline",
    b"\n",
    b"\xff\xe9",
    b"half \xc3",
];

/// A tree with odd names, whose order in a manifest is not that of its directories. No devices and FIFOs: `hashdeep`
/// opens them.
pub(super) fn tree() -> Dir {
    let dir = Dir::new();
    for (nth, name) in ODD.iter().enumerate() {
        dir.raw_file(name, format!("content {nth}").as_bytes());
        dir.raw_file(&[b"sub/", *name].concat(), b"");
    }
    dir.file("d/x", b"1").file("d-e", b"2").file("d-f/y", b"3").file("d.g", b"4").dir("empty/...");
    dir.hard_link("d/x", "sub/linked");
    dir
}

fn export(dir: &Dir, format: &str) -> Run {
    let create = dir.ftk(["manifest", "create", ".", "-a", "sha256,md5,blake3", "--force", "-o"]);
    create.arg(dir.aside("manifest")).run().status(0);
    again(dir, format)
}

/// Exports the same manifest.
fn again(dir: &Dir, format: &str) -> Run {
    dir.ftk(["manifest", "export", "--format", format]).arg(dir.aside("manifest")).run()
}

fn tool(dir: &Dir, words: &[&str], input: &[u8]) -> Run {
    dir.ftk([] as [&str; 0]).instead(dir, words).stdin(input).run()
}

fn set_mtime(dir: &Dir, path: &str, time: SystemTime) {
    let file = fs::File::open(dir.path(path)).unwrap();
    file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
}

/// Adds what only some formats can represent.
fn add_special(dir: &Dir) {
    dir.fifo("fifo").socket("socket").symlink("a b\n#\\", "link");
    if is_root() {
        tool(dir, &["mknod", "null", "c", "1", "3"], b"").status(0);
        tool(dir, &["mknod", "loop", "b", "7", "300"], b"").status(0);
    }
    tool(dir, &["chmod", "4755", "d/x"], b"").status(0);
    set_mtime(dir, "d-e", SystemTime::UNIX_EPOCH - Duration::from_millis(1_500));
    set_mtime(dir, "d.g", SystemTime::UNIX_EPOCH + Duration::from_nanos(7));
    set_mtime(dir, "empty", SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 33));
}

#[test]
fn mtree_verifies_an_export() {
    needs!("mtree");
    let dir = tree();
    add_special(&dir);
    let list = export(&dir, "mtree").status(0).out;
    assert!(list.is_ascii() && list.starts_with(b"#mtree\n. type=dir mode="));
    tool(&dir, &["mtree", "-p", "."], &list).status(0).stdout("").stderr("");
    // mtree notices each kind of change, so it has understood every keyword.
    for (command, noticed) in [
        ("printf x > d.g", "sha256"),
        ("chmod 600 d/x", "permissions"),
        ("touch -d 2001-01-01 d-e", "modification time"),
        ("rm link; ln -s b link", "link ref"),
        ("rm empty/...x; mkdir empty/n", "extra: empty/n"),
        ("rm -r d-f", "missing: ./d-f"),
    ] {
        tool(&dir, &["sh", "-c", command], b"");
        let run = tool(&dir, &["mtree", "-p", "."], &list).status(2);
        run.check(run.text().contains(noticed), noticed);
        export(&dir, "mtree").status(0);
        let list = again(&dir, "mtree").out;
        tool(&dir, &["mtree", "-p", "."], &list).status(0);
    }
}

#[test]
fn bsdtar_reads_an_export() {
    needs!("bsdtar");
    let dir = tree();
    add_special(&dir);
    // bsdtar opens every file of a specification that it converts.
    fs::remove_file(dir.path("socket")).unwrap();
    let list = export(&dir, "mtree").status(0).out;
    let kept = "--options=!all,type,mode,uid,gid,size,time,link,device";
    let theirs =
        tool(&dir, &["bsdtar", "--format=mtree", kept, "-cf", "-", "@-"], &list).status(0).stderr("").out;
    let words = |list: &[u8]| -> BTreeSet<Vec<String>> {
        let line = |line: &str| {
            let mut words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            // bsdtar writes no zero before a mode, and does not always pad nanoseconds.
            for word in &mut words {
                if let Some(mode) = word.strip_prefix("mode=") {
                    *word = format!("mode={}", mode.trim_start_matches('0'));
                }
                if let Some((seconds, nanos)) =
                    word.strip_prefix("time=").and_then(|time| time.split_once('.'))
                {
                    *word = format!("time={seconds}.{}", nanos.parse::<u32>().unwrap());
                }
            }
            words.retain(|word| !["sha256=", "md5=", "nlink="].iter().any(|it| word.starts_with(it)));
            words[1..].sort_unstable();
            words
        };
        let text = String::from_utf8(list.to_vec()).unwrap();
        // bsdtar writes some characters as they are.
        let text = text.replace("\\052", "*").replace("\\077", "?").replace("\\133", "[");
        text.lines().filter(|line| !line.starts_with('#')).map(line).collect()
    };
    assert_eq!(words(&with_paths(&list)), words(&theirs));
}

/// Returns a nested specification with the path of each entry from the root in place of its name.
fn with_paths(list: &[u8]) -> Vec<u8> {
    let (mut dirs, mut lines) = (Vec::new(), Vec::new());
    for line in str::from_utf8(list).unwrap().lines() {
        if line == ".." {
            dirs.pop().unwrap();
            continue;
        }
        let (name, keywords) = line.split_once(' ').unwrap_or((line, ""));
        let path = [&dirs[..], &[name]].concat().join("/");
        if keywords.starts_with("type=dir") {
            dirs.push(name);
        }
        lines.push(if keywords.is_empty() { path } else { format!("{path} {keywords}") });
    }
    lines.join("\n").into_bytes()
}

#[test]
fn hashdeep_audits_an_export() {
    needs!("hashdeep");
    let dir = tree();
    let run = export(&dir, "hashdeep").status(2).stdout("");
    run.stderr_has("hashdeep cannot represent '\\n': the name contains a newline (nor 3 more entries)\n");
    for folder in ["", "sub/"] {
        for name in ["\n", "new\nline"] {
            fs::remove_file(dir.path(format!("{folder}{name}"))).unwrap();
        }
    }
    let list = export(&dir, "hashdeep").status(0).out;
    fs::write(dir.aside("list"), &list).unwrap();
    let known = dir.aside("list");
    let audit = ["hashdeep", "-r", "-l", "-a", "-k", known.to_str().unwrap(), "."];
    tool(&dir, &audit, b"").status(0);
    dir.file("d.g", b"5");
    tool(&dir, &audit, b"").status(1);
    // The same lines as those of hashdeep, apart from their order and the comments.
    export(&dir, "hashdeep");
    let theirs = tool(&dir, &["hashdeep", "-c", "md5,sha256", "-r", "-l", "."], b"").status(0).out;
    let theirs: BTreeSet<_> =
        theirs.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#")).collect();
    let create = dir.ftk(["manifest", "create", ".", "-a", "md5,sha256", "--force", "-o"]);
    create.arg(dir.aside("manifest")).run().status(0);
    let ours = again(&dir, "hashdeep").status(0).out;
    assert_eq!(ours.split(|byte| *byte == b'\n').collect::<BTreeSet<_>>(), theirs);
}

#[test]
fn sha256sum_checks_an_export() {
    needs!("sha256sum");
    let dir = tree();
    add_special(&dir);
    dir.file("-", b"not standard input");
    let list = export(&dir, "sha256").status(0).out;
    tool(&dir, &["sha256sum", "-c", "--strict", "--quiet"], &list).status(0).stdout("").stderr("");
    let lines = list.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines, 2 * ODD.len() + 7 - 1);
    dir.file("d.g", b"5");
    tool(&dir, &["sha256sum", "-c", "--quiet"], &list).status(1).stdout("./d.g: FAILED\n");
}

/// What ncdu reads, it writes again.
#[test]
fn ncdu_reads_an_export() {
    needs!("ncdu");
    let dir = tree();
    add_special(&dir);
    dir.file("d-e", b"2");
    let ours = export(&dir, "ncdu").status(0).out;
    let theirs = tool(&dir, &["ncdu", "-e", "-f-", "-o-"], &ours).status(0).out;
    let [ours, theirs] = [ours, theirs].map(|export| {
        // Bytes that are not UTF-8 stand for themselves.
        let text: String = export.iter().map(|byte| char::from(*byte)).collect();
        let export: Value = serde_json::from_str(&text).unwrap();
        let mut entries = BTreeMap::new();
        flatten(&export[3], "", &mut entries);
        entries
    });
    assert_eq!(ours, theirs);
    let manifest = Manifest::read(&dir.aside("manifest"));
    let latin = |path: &[u8]| path.iter().map(|byte| char::from(*byte)).collect::<String>();
    let expected: BTreeMap<_, _> =
        manifest.entries.iter().map(|(path, entry)| (latin(path), entry)).collect();
    let paths: Vec<_> = ours.keys().map(|path| path.strip_prefix("./").unwrap_or(path)).collect();
    assert_eq!(
        paths.iter().collect::<BTreeSet<_>>(),
        expected.keys().map(|it| it.as_str()).collect::<Vec<_>>().iter().collect()
    );
    for (path, entry) in &ours {
        let recorded = expected[path.strip_prefix("./").unwrap_or(path)];
        assert_eq!(entry["asize"], recorded["size_bytes"], "{path}");
        assert_eq!(entry["dsize"], recorded["allocated_bytes"], "{path}");
        let is_plain = ["file", "directory"].contains(&recorded["type"].as_str().unwrap());
        assert_eq!(entry.get("notreg").is_none(), is_plain, "{path}");
    }
    assert_eq!(ours["./d/x"]["hlnkc"], true);
    // Everyone else accepts the names that are UTF-8.
    let text = again(&dir, "ncdu").out;
    assert!(str::from_utf8(&text).is_err() && !text.contains(&0x7f));
}

fn flatten(node: &Value, parent: &str, entries: &mut BTreeMap<String, Value>) {
    let (info, contents) = match node {
        Value::Array(nodes) => (&nodes[0], &nodes[1..]),
        entry => (entry, &[][..]),
    };
    let path = format!("{parent}{}", info["name"].as_str().unwrap());
    let mut info = info.clone();
    for size in ["asize", "dsize"] {
        info.as_object_mut().unwrap().entry(size).or_insert(0.into());
    }
    assert!(entries.insert(path.clone(), info).is_none());
    for node in contents {
        flatten(node, &format!("{path}/"), entries);
    }
}

/// Python's csv module reads every member of every entry back.
#[test]
fn python_reads_an_export_to_csv() {
    needs!("python3");
    let dir = tree();
    add_special(&dir);
    let table = export(&dir, "csv").status(0).out;
    let program = "import csv, io, json, sys\n\
        text = io.TextIOWrapper(sys.stdin.buffer, 'utf-8', newline='')\n\
        for row in csv.DictReader(text, strict=True): print(json.dumps(row))\n";
    let run = tool(&dir, &["python3", "-c", program], &table).status(0);
    let manifest = Manifest::read(&dir.aside("manifest"));
    let mut seen = 0;
    for (row, expected) in run.text().lines().zip(&manifest.paths) {
        let row: BTreeMap<String, String> = serde_json::from_str(row).unwrap();
        let bytes = |member: &str| match (&*row[member], &*row[&format!("{member}_b64")]) {
            (text, "") => text.as_bytes().to_vec(),
            ("", b64) => BASE64.decode(b64.as_bytes()).unwrap(),
            both => panic!("{both:?}"),
        };
        assert_eq!(bytes("path"), *expected);
        let entry = &manifest.entries[expected];
        for (member, value) in entry.as_object().unwrap() {
            match (&**member, value) {
                ("path" | "path_b64", _) => {}
                ("target" | "target_b64", _) => assert_eq!(bytes("target"), name(entry, "target")),
                ("digests", digests) => {
                    for (algorithm, digest) in digests.as_object().unwrap() {
                        assert_eq!(row[algorithm], digest.as_str().unwrap());
                    }
                }
                (member, Value::String(text)) => assert_eq!(row[member], *text),
                ("tree", tree) => assert_eq!(serde_json::from_str::<Value>(&row["tree"]).unwrap(), *tree),
                (member, value) => assert_eq!(row[member], value.to_string(), "{member}"),
            }
        }
        let columns = row.values().filter(|value| !value.is_empty()).count();
        let digests = entry["digests"].as_object().map_or(0, |digests| digests.len() - 1);
        assert_eq!(columns, entry.as_object().unwrap().len() + digests, "{row:?}");
        seen += 1;
    }
    assert_eq!(seen, manifest.paths.len());
}

#[test]
fn bagit_validates_an_export() {
    needs!("bagit", "python3");
    let dir = Dir::new();
    // bagit-python removes blanks at the end of a line, ends lines at U+0085 too, and does not decode `%25`.
    let is_for_python = |name: &&&[u8]| {
        str::from_utf8(name).is_ok_and(|name| name.trim_end() == name && !name.contains(['%', '\u{85}']))
    };
    for name in ODD.iter().filter(is_for_python) {
        dir.raw_file(&[b"bag/data/x", *name].concat(), name)
            .raw_file(&[b"bag/data/sub/x", *name].concat(), b"");
    }
    dir.dir("bag/data/empty");
    let manifest = dir.aside("manifest");
    let create = dir.ftk(["manifest", "create", "bag/data", "-a", "sha512,blake3,md5", "-o"]);
    create.arg(&manifest).run().status(0);
    let write = || dir.ftk(["manifest", "export", "--format", "bagit", "-o", "bag"]).arg(&manifest);
    write().run().status(0).stdout("");
    let validate = || tool(&dir, &["python3", "-m", "bagit", "--validate", "bag"], b"");
    validate().status(0);
    dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    write().run().status(2).stderr_has("'bag/bag-info.txt' exists: --force replaces the files of the bag\n");
    write().arg("--force").run().status(0);
    validate().status(0);
    assert!(!dir.path("bag/manifest-blake3.txt").exists());
    let info = fs::read_to_string(dir.path("bag/bag-info.txt")).unwrap();
    let count = ODD.iter().filter(is_for_python).count();
    let bytes: usize = ODD.iter().filter(is_for_python).map(|name| name.len()).sum();
    assert!(info.contains(&format!("\nPayload-Oxum: {bytes}.{}\n", 2 * count)), "{info}");
    dir.file("bag/data/xcaf\u{e9}", b"caf\xc3\xaa");
    validate().status(1);
    // On standard output: the payload manifest with the first algorithm that BagIt has.
    let list = dir.ftk(["manifest", "export", "--format", "bagit"]).arg(&manifest).run().status(0).out;
    assert_eq!(list, fs::read(dir.path("bag/manifest-sha512.txt")).unwrap());
}

/// bagit-python decodes only the first two newlines of a name.
#[test]
fn bagit_refuses_names_with_three_newlines() {
    needs!("bagit", "python3");
    for (name, status) in [("1\n2\n3", 0), ("1\n2\n3\n4", 1)] {
        let dir = Dir::new();
        dir.file("bag/data/x", b"x").raw_file(format!("bag/data/{name}").as_bytes(), b"y");
        dir.ftk(["manifest", "create", "bag/data", "-o", "m"]).run().status(0);
        dir.ftk(["manifest", "export", "--format", "bagit", "-o", "bag", "m"]).run().status(0);
        tool(&dir, &["python3", "-m", "bagit", "--validate", "bag"], b"").status(status);
        dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    }
}

/// A link in a bag could lead out of it, and a list that is not replaced would not describe the new bag.
#[test]
fn a_bag_with_links_or_other_lists_is_refused() {
    let dir = Dir::new();
    dir.file("bag/data/x", b"x").file("keep", b"keep");
    dir.ftk(["manifest", "create", "bag/data", "-o", "m"]).run().status(0);
    let write = |options: &[&str]| {
        let export = ["manifest", "export", "--format", "bagit", "m", "-o", "bag"];
        dir.ftk([&export, options].concat()).run()
    };
    let lists = ["manifest-sha256.txt", "manifest-md5.txt", "tagmanifest-sha256.txt"];
    for name in ["bagit.txt", "bag-info.txt"].into_iter().chain(lists) {
        dir.symlink("../keep", &format!("bag/{name}"));
        write(&[]).status(2).stderr_has(&format!("'bag/{name}' exists: --force replaces"));
        write(&["--force"])
            .status(2)
            .stderr_has(&format!("'bag/{name}' is not a regular file: remove it first"));
        fs::remove_file(dir.path("bag").join(name)).unwrap();
    }
    for name in ["manifest-md5.txt", "tagmanifest-sha256.txt"] {
        dir.file(format!("bag/{name}"), b"");
        write(&["--force"]).status(2).stderr_has(&format!("'bag/{name}' would not belong to the new bag"));
        fs::remove_file(dir.path("bag").join(name)).unwrap();
    }
    assert_eq!(fs::read(dir.path("keep")).unwrap(), b"keep");
    assert_eq!(fs::read_dir(dir.path("bag")).unwrap().count(), 1, "nothing was written");
    write(&[]).status(0);
}

#[test]
fn bags_have_only_files_with_names_in_utf_8() {
    let dir = Dir::new();
    dir.raw_file(b"\xff", b"").raw_file(b"half \xc3", b"").file("% \n\r", b"").symlink("% \n\r", "link");
    let run = export(&dir, "bagit").status(2).stdout("");
    run.stderr_has("bagit cannot represent 'half \\xc3': the name is not UTF-8 (nor 2 more entries)\n");
    fs::remove_file(dir.path("link")).unwrap();
    tool(&dir, &["sh", "-c", "rm half*"], b"").status(0);
    let run = export(&dir, "bagit").status(2).stdout("");
    run.stderr_has("bagit cannot represent '\\xff': the name is not UTF-8\n");
    fs::remove_dir_all(dir.path("")).unwrap();
    dir.file("% \n\r", b"");
    let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    export(&dir, "bagit").status(0).stdout(format!("{digest}  data/%25 %0A%0D\n"));
    // No files are moved into place.
    let run =
        dir.ftk(["manifest", "export", "--format", "bagit", "-o", "."]).arg(dir.aside("manifest")).run();
    run.status(2)
        .stderr_has("'./data' is not a directory: a bag keeps its payload there, and ftk moves no files\n");
    assert!(!dir.path("bagit.txt").exists());
}

/// A manifest with a selection lacks directories, and an imported one lacks members.
#[test]
fn absent_entries_and_members_are_not_invented() {
    needs!("mtree", "ncdu");
    let dir = Dir::new();
    dir.file("a/b/c", b"x").file("a-b/d", b"y").file("a.txt", b"z");
    dir.ftk(["manifest", "create", ".", "--type", "f", "-o"]).arg(dir.aside("manifest")).run().status(0);
    let list = again(&dir, "mtree").status(0).out;
    tool(&dir, &["mtree", "-p", "."], &list).status(0);
    let text = String::from_utf8(list).unwrap();
    let types: Vec<_> = text.lines().skip(1).map(|line| line.split(" mode=").next().unwrap()).collect();
    assert_eq!(
        types,
        [
            ". type=dir",
            "a-b type=dir",
            "d type=file",
            "..",
            "a.txt type=file",
            "a type=dir",
            "b type=dir",
            "c type=file",
            "..",
            "..",
        ]
    );
    let run = again(&dir, "ncdu").status(0);
    let shape: Value = serde_json::from_str(run.text()).unwrap();
    let mut entries = BTreeMap::new();
    flatten(&shape[3], "", &mut entries);
    let paths: Vec<_> = entries.keys().map(String::as_str).collect();
    assert_eq!(paths, [".", "./a", "./a-b", "./a-b/d", "./a.txt", "./a/b", "./a/b/c"]);
    tool(&dir, &["ncdu", "-f-", "-o-"], &run.out).status(0);
    let bare = seal(&[
        "{\"ftk\":\"manifest\",\"version\":2,\"root\":\"\",\"algorithms\":[\"md5\"],\"xattrs\":false,\"options\":[],\"start_ns\":-1}",
        "{\"path\":\"a\",\"type\":\"file\",\"digests\":{\"md5\":\"d41d8cd98f00b204e9800998ecf8427e\"}}",
    ]);
    let of =
        |format: &str| dir.ftk(["manifest", "export", "-", "--format", format]).stdin(bare.as_bytes()).run();
    of("mtree").status(0).stdout("#mtree\n. type=dir\na type=file md5=d41d8cd98f00b204e9800998ecf8427e\n");
    let run = of("ncdu").status(0);
    assert!(run.text().ends_with("\"timestamp\":0},\n[{\"name\":\".\"},\n{\"name\":\"a\"}]]\n"));
    let csv = of("csv").status(0);
    let (columns, row) = csv.text().split_once("\r\n").unwrap();
    let expected = columns.split(',').map(|column| match column {
        "path" => "a",
        "type" => "file",
        "md5" => "d41d8cd98f00b204e9800998ecf8427e",
        _ => "",
    });
    assert_eq!(row, expected.collect::<Vec<_>>().join(",") + "\r\n");
    of("hashdeep").status(2).stderr_has("hashdeep cannot represent 'a': its size is not recorded\n");
    of("sha256").status(2).stderr_has("it records md5; sha256 can hold sha256 (make a manifest with -a)\n");
}

#[test]
fn an_export_replaces_no_manifest() {
    let dir = Dir::new();
    dir.file("t/a", b"abc");
    let manifest = create(&dir, &[]);
    let before = fs::read(&manifest).unwrap();
    let to =
        |args: &[&str]| dir.ftk(["manifest", "export", "--format", "mtree"]).arg(&manifest).args(args).run();
    let own = manifest.to_str().unwrap();
    to(&["-o", own]).status(2).stderr_has(" is both input and output\n");
    to(&["-o", own, "--force"]).status(2).stderr_has(" is both input and output\n");
    assert_eq!(fs::read(&manifest).unwrap(), before);
    to(&["-o", "/dev/full"])
        .status(2)
        .stdout("")
        .stderr_has("cannot write '/dev/full': no space left on device");
    to(&["-o", "no/such"]).status(2);
    to(&["--json"]).status(2).stdout("").stderr_has("--json cannot be used: ");
    to(&["-o", "list"]).status(0).stdout("").stderr_has("  3 entries exported\n");
    assert!(fs::read(dir.path("list")).unwrap().starts_with(b"#mtree\n"));
    // A line that is not valid is found before anything is written.
    let mut bad = lines(&manifest);
    bad[2] = bad[2].replace("\"directory\"", "\"door\"");
    for format in ["mtree", "csv", "ncdu"] {
        fs::write(dir.aside("bad"), seal(&bad)).unwrap();
        let run =
            dir.ftk(["manifest", "export", "-o", "new", "--format", format]).arg(dir.aside("bad")).run();
        run.status(2).stderr_has("bad': line 3: unknown type \"door\"\n");
        assert!(!dir.path("new").exists());
    }
}

/// Names do not act on a terminal.
#[test]
fn names_are_escaped_on_a_terminal() {
    needs!("script");
    let dir = Dir::new();
    dir.raw_file(b"\x1b[31mred", b"");
    create(&dir, &[]);
    for format in ["mtree", "hashdeep", "sha256", "bagit", "ncdu", "csv"] {
        let (ftk, manifest) = (env!("CARGO_BIN_EXE_ftk"), dir.aside("manifest"));
        let command = format!("{ftk} manifest export -q --format {format} {}", manifest.display());
        let shown =
            dir.ftk([] as [&str; 0]).instead(&dir, ["script", "-qec", &command, "/dev/null"]).run().status(0);
        assert!(
            !shown.out.contains(&0x1b) && shown.text().contains("31mred") || format == "mtree",
            "{}",
            shown.text()
        );
    }
}
