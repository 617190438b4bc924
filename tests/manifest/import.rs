//! `ftk manifest import`, compared with the tools whose lists it reads.

use std::fs;

use super::export::{ODD, tree};
use super::records::{Manifest, create};
use crate::harness::{Dir, Run, is_root, needs, sha256};

fn tool(dir: &Dir, words: &[&str]) -> Vec<u8> {
    dir.ftk([] as [&str; 0]).instead(dir, words).run().status(0).out
}

fn import(dir: &Dir, list: &[u8], args: &[&str]) -> Run {
    dir.ftk(["manifest", "import", "-"]).args(args).stdin(list).run()
}

/// Imports a list, and verifies the tree against it.
fn verified(dir: &Dir, list: &[u8], args: &[&str]) -> Manifest {
    let run = import(dir, list, args).status(0);
    fs::write(dir.aside("imported"), &run.out).unwrap();
    dir.ftk(["manifest", "verify", "."]).arg(dir.aside("imported")).run().status(0).stdout("");
    Manifest::parse(&run.out)
}

/// Both programs list the tree after each other, so only what they record may differ.
fn is_part_of(imported: &Manifest, ours: &Manifest) {
    for (path, entry) in &imported.entries {
        for (member, value) in entry.as_object().unwrap() {
            let expected = &ours.entries[path][member];
            match value.as_object() {
                None => assert_eq!(value, expected, "{member} of {}", path.escape_ascii()),
                Some(digests) => digests.iter().for_each(|(it, digest)| assert_eq!(digest, &expected[it])),
            }
        }
    }
}

fn special(dir: &Dir) {
    dir.fifo("fifo").symlink("a b\n#\\\u{e9}", "link");
    if is_root() {
        tool(dir, &["mknod", "null", "c", "1", "3"]);
    }
    tool(dir, &["touch", "-d", "1969-12-31 23:59:58.5", "d-e"]);
    tool(dir, &["touch", "-d", "@7.000000009", "d.g"]);
}

#[test]
fn specifications_of_mtree_are_read_in_every_form() {
    needs!("mtree", "bsdtar");
    let dir = tree();
    special(&dir);
    let ours = Manifest::read(&create(&dir, &["-a", "sha256,md5"]));
    let keys = "type,mode,uid,gid,nlink,size,time,link,device";
    let classic = tool(&dir, &["mtree", "-c", "-k", &format!("{keys},sha256,md5,uname,flags"), "-p", "."]);
    fs::write(dir.aside("classic"), &classic).unwrap();
    let classic_file = dir.aside("classic");
    let classic_file = classic_file.to_str().unwrap();
    let full = tool(&dir, &["mtree", "-C", "-f", classic_file]);
    let last = tool(&dir, &["mtree", "-D", "-f", classic_file]);
    let bsdtar = |options: &str| {
        let options = format!("--options=!all,{options}");
        tool(&dir, &["bsdtar", "--format=mtree", &options, "-cf", "-", "."])
    };
    for (what, list, has_digests) in [
        ("classic", classic, true),
        ("full paths", full, false),
        ("paths last", last, false),
        ("bsdtar", bsdtar(&format!("{keys},sha256,md5")), true),
        ("bsdtar with /set", bsdtar(&format!("use-set,indent,{keys},sha256,md5")), true),
    ] {
        // The format is recognised.
        let imported = verified(&dir, &list, &[]);
        assert_eq!(imported.paths, ours.paths, "{what}");
        is_part_of(&imported, &ours);
        let algorithms = imported.header["algorithms"].as_array().unwrap().len();
        assert_eq!(algorithms, if has_digests { 2 } else { 0 }, "{what}");
        assert_eq!(imported.entry("d.g")["mtime_ns"], 7_000_000_009_i64, "{what}");
        assert_eq!(imported.entry("d-e")["mtime_ns"], -1_500_000_000_i64, "{what}");
    }
    // Only bsdtar and the classic form have devices on all systems.
    if let Some(null) = ours.entries.get(&b"null"[..]) {
        let list = bsdtar(keys);
        assert_eq!(verified(&dir, &list, &["--format", "mtree"]).entry("null")["rdev"], null["rdev"]);
    }
}

#[test]
fn lists_of_hashdeep_are_read() {
    needs!("hashdeep");
    let dir = tree();
    for name in ["\n", "new\nline"] {
        fs::remove_file(dir.path(name)).unwrap();
        fs::remove_file(dir.path(format!("sub/{name}"))).unwrap();
    }
    let ours = Manifest::read(&create(&dir, &["-a", "md5,sha1,sha256"]));
    let relative = tool(&dir, &["hashdeep", "-c", "md5,tiger,sha1,sha256,whirlpool", "-r", "-l", "."]);
    let imported = verified(&dir, &relative, &[]);
    assert_eq!(imported.header["algorithms"], serde_json::json!(["sha256", "sha1", "md5"]));
    assert_eq!(imported.header["options"][0]["option"], "--type=f");
    assert_eq!(imported.paths.len(), 2 * (ODD.len() - 2) + 5);
    is_part_of(&imported, &ours);
    // Paths are absolute by default.
    let absolute = tool(&dir, &["hashdeep", "-r", "."]);
    let root = fs::canonicalize(dir.path("")).unwrap();
    let run = import(&dir, &absolute, &[]).status(2).stdout("");
    run.stderr_has(" is absolute: name the directory in which the list was made (--root)\n");
    for root in [root.to_str().unwrap().to_owned(), format!("{}/", root.display())] {
        let again = verified(&dir, &absolute, &["--root", &root]);
        assert_eq!(again.paths, imported.paths);
        assert_eq!(again.header["root"], root);
    }
    import(&dir, &absolute, &["--root", "/elsewhere"])
        .status(2)
        .stderr_has(" is not below the root '/elsewhere'\n");
    import(&dir, &absolute, &["--root", &root.to_str().unwrap()[..7]]).status(2);
    // A newline in a name is the end of a line for hashdeep.
    dir.file("new\nline", b"");
    let list = tool(&dir, &["hashdeep", "-r", "-l", "."]);
    import(&dir, &list, &[]).status(2).stdout("").stderr_has(": not 'SIZE,HEX,...,name'\n");
}

#[test]
fn lists_of_sha256sum_are_read() {
    needs!("sha256sum", "find");
    let dir = tree();
    dir.file("d.g", &[b'g'; 64]); // smaller files do not move without an inode
    let ours = Manifest::read(&create(&dir, &[]));
    for options in [&[][..], &["--tag"], &["-b"]] {
        let words = [&["find", ".", "-type", "f", "-exec", "sha256sum"], options, &["{}", "+"]].concat();
        let list = tool(&dir, &words);
        let imported = verified(&dir, &list, &["--format", "sha256"]);
        assert_eq!(imported.paths.len(), 2 * ODD.len() + 5);
        is_part_of(&imported, &ours);
    }
    let list = tool(&dir, &["sh", "-c", "find . -type f -exec sha256sum {} +"]);
    fs::write(dir.aside("imported"), import(&dir, &list, &[]).status(0).out).unwrap();

    // Without sizes, contents are found by their digests alone.
    let is = |command: &str, expected: &str| {
        let run = dir.ftk(["manifest", command]).args([dir.aside("imported"), dir.aside("manifest")]).run();
        let run = if expected.is_empty() { run.status(0) } else { run.status(1) };
        run.stdout(expected);
    };
    is("unique", "");
    fs::rename(dir.path("d.g"), dir.path("moved")).unwrap();
    dir.file("d-e", b"9").file("new", b"new");
    create(&dir, &["--type", "f"]);
    let change = "sha256 d4735e3a\u{2026} \u{2192} 19581e27\u{2026}";
    is("diff", &format!("modified\td-e\t{change}\nmoved\td.g\t\u{2192} moved\nadded\tnew\tsize 3\n"));
    is("unique", "d-e\n");
    let run = dir.ftk(["manifest", "unique"]).args([dir.aside("manifest"), dir.aside("imported")]).run();
    run.status(1).stdout("d-e\nnew\n");
    let run = dir.ftk(["manifest", "verify", ".", "--json"]).arg(dir.aside("imported")).run().status(1);
    let said: Vec<_> = run.text().lines().map(|line| line.split('"').nth(3).unwrap()).collect();
    assert_eq!(said, ["modified", "moved", "new", "not_compared"]);
    // An update completes the records, except that of other content: the list does not show whether it is an edit.
    let run = dir.ftk(["manifest", "update", "."]).arg(dir.aside("imported")).run().status(1);
    let updated = Manifest::parse(&run.out);
    assert!(updated.entry("new")["size_bytes"] == 3 && updated.entry("d-e")["size_bytes"].is_null());
    assert_eq!(updated.entry("d-e")["digests"]["sha256"], sha256(b"2"));
}

#[test]
fn bagit_manifests_are_read() {
    needs!("bagit", "python3");
    let dir = Dir::new();
    for name in ODD.iter().filter(|name| str::from_utf8(name).is_ok() && !name.contains(&b'%')) {
        dir.raw_file(&[b"bag/", *name].concat(), b"x").raw_file(&[b"bag/sub/", *name].concat(), b"y");
    }
    tool(&dir, &["python3", "-m", "bagit", "--quiet", "--md5", "--sha512", "bag"]);
    for algorithm in ["md5", "sha512"] {
        let list = format!("bag/manifest-{algorithm}.txt");
        let run = dir.ftk(["manifest", "import", "--format", "bagit", &list]).run().status(0);
        fs::write(dir.aside("imported"), &run.out).unwrap();
        dir.ftk(["manifest", "verify", "bag/data"]).arg(dir.aside("imported")).run().status(0).stdout("");
        let bytes = fs::read(dir.path(&list)).unwrap();
        let run = import(&dir, &bytes, &["--format", "bagit", "-a", algorithm]).status(0);
        assert_eq!(
            Manifest::parse(&run.out).paths.len(),
            bytes.iter().filter(|byte| **byte == b'\n').count()
        );
        import(&dir, &bytes, &["--format", "bagit"]).status(2).stderr_has("give --algorithm\n");
    }
    let tags =
        dir.ftk(["manifest", "import", "--format", "bagit", "-a", "md5", "bag/tagmanifest-md5.txt"]).run();
    tags.status(2).stdout("").stderr_has(" is not below data/, as all payload files are\n");
}

const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn hostile_lists_are_refused() {
    let dir = Dir::new();
    let refused = |format: &str, list: &str, why: &str| {
        let run = import(&dir, list.as_bytes(), &["--format", format]).status(2).stdout("");
        run.stderr_has(why);
    };
    let sums = |paths: &[&str]| paths.iter().map(|path| format!("{HEX}  {path}\n")).collect::<String>();
    for path in ["/etc/passwd", "../a", "a/../b", "a//b", "a/", "a/.", ".."] {
        let shown = if path.starts_with('/') { "is absolute" } else { "is not a path below the root" };
        refused("sha256", &sums(&[path]), &format!("line 1: '{path}' {shown}"));
        refused(
            "hashdeep",
            &format!("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n0,{HEX},{path}\n"),
            shown,
        );
        refused("mtree", &format!("./{path} type=file\n"), "is not a path below the root");
        let inside = path.trim_start_matches('/');
        if inside != "etc/passwd" {
            refused("bagit", &sums(&[&format!("data/{inside}")]), "give --algorithm");
            let list = sums(&[&format!("data/{inside}")]);
            let run = import(&dir, list.as_bytes(), &["--format", "bagit", "-a", "sha256"]).status(2);
            run.stdout("").stderr_has("is not a path below the root");
        }
    }
    refused(
        "sha256",
        &(sums(&["b", "a"]) + &HEX.replace('e', "f") + "  ./b\n"),
        "'b' appears twice, with different digests",
    );
    refused("sha256", &sums(&["a/b", "a-", "a"]), "'a/b' is below a file that the list has too");
    refused("sha256", &sums(&["a", "b"]).replace(&HEX[..4], "0"), "line 1: ");
    refused(
        "sha256",
        &sums(&["a"]).replace(HEX, &HEX[..62]),
        "line 1: no supported algorithm has digests of 62 digits",
    );
    refused("sha256", sums(&["a"]).trim_end(), "line 1: the list is cut off in this line");
    refused("sha256", "CRC32 (a) = 00000000\n", "a CRC does not identify contents");
    refused("sha256", "", "'-' is empty: not a list of files");
    refused(
        "sha256",
        "{\"ftk\":\"manifest\"}\n",
        "'-' is JSON, like a manifest or a report: not a list of files",
    );
    import(&dir, b"\x1f\x8b\x08\0", &[])
        .status(2)
        .stderr_has("'-' is compressed with gzip: not a list of files");
    refused("hashdeep", "hello\n", "line 2: the first two lines are not a header of hashdeep");
    refused(
        "hashdeep",
        "%%%% HASHDEEP-1.0\n%%%% size,tiger,filename\n",
        "line 2: unsupported algorithm tiger",
    );
    for (line, why) in [
        ("..\n", "`..` leads out of the root"),
        (". type=dir\n..\n..\n", "line 3: `..` leads out of the root"),
        ("a\n", "an entry without a type: \"a\""),
        ("a type=door\n", "invalid value: \"type=door\""),
        ("a type=file size=-1\n", "invalid value: \"size=-1\""),
        ("a type=file size=18446744073709551616\n", "invalid value"),
        ("a type=file mode=u=rw\n", "invalid value"),
        ("a type=file time=1.1000000000\n", "invalid value"),
        ("a type=file sha256=00\n", "\"00\" is not a digest by sha256"),
        ("a type=file sha256\n", "sha256 has no value"),
        ("a type=file size\n", "size has no value"),
        ("a type\n", "type has no value"),
        ("a\\057b type=file\n", "a name with an encoded slash"),
        ("a\\000 type=file\n", "a name that is not encoded as vis(3) does"),
        ("a\\q type=file\n", "a name that is not encoded"),
        ("\\056\\056 type=file\n", "is not a path below the root"),
        ("a type=file size=1", "the list is cut off in this line"),
        ("a type=file size=1 \\\n", "the list is cut off in this line"),
        ("# only a comment\n", "it lists no files"),
    ] {
        refused("mtree", line, why);
    }
    let partial = format!("a type=file sha256={HEX}\nb type=file\nc type=file\n");
    refused("mtree", &partial, "'b' lacks digests that other files have, and so does 1 more file\n");
    // A line without an end, and many entries, in bounded memory.
    let long = format!("a type=file {}", "x".repeat(17 << 20));
    refused("mtree", &long, "line 1: the line is too long");
    let continued = format!("a type=file{}\n", " \\\n".repeat(9 << 20));
    refused("mtree", &continued, ": the line is too long");
    let many: String = (0..20_000).map(|nth| format!("{HEX}  {nth}\n")).collect();
    let run = import(&dir, many.as_bytes(), &["--format", "sha256", "--memory", "1MiB"]).status(2).stdout("");
    run.stderr_has("too large (raise --memory)");
}

/// All forms that specifications may have and that the tools here do not write.
#[test]
fn rare_forms_of_mtree() {
    let dir = Dir::new();
    let list = "\
        # comment \\\n\
        /set type=file uid=5 mode=0640 size=1\n\
        .   type=dir \\\r\n\
            nlink=2 optional\r\n\
        \ta\\M-C\\M-)  uid=6 unknown=keyword gname=x\n\
        /unset uid mode size\n\
        sub type=dir\n\
        \x20   inner\n\
        \x20   deep type=dir\n\
        \x20   ./full/path type=file nlink=3\n\
        \x20       x\n\
        \x20   ..\n\
        ..\n\
        l type=link link=t\\040o time=3.4\n\
        dev type=char device=native,1,3\n\
        ..\n";
    let manifest = Manifest::parse(&import(&dir, list.as_bytes(), &["--format", "mtree"]).status(0).out);
    let paths: Vec<_> = manifest.paths.iter().map(|path| str::from_utf8(path).unwrap()).collect();
    assert_eq!(
        paths,
        [".", "a\u{e9}", "dev", "full/path", "l", "sub", "sub/deep", "sub/deep/x", "sub/inner"]
    );
    let entry = |path: &str| {
        let members = manifest.entry(path).as_object().unwrap().clone();
        let members: Vec<_> = members
            .iter()
            .filter(|it| it.0 != "path")
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        members.join(" ").replace('"', "")
    };
    assert_eq!(entry("."), "mode=0640 nlink=2 type=directory uid=5");
    assert_eq!(entry("a\u{e9}"), "mode=0640 size_bytes=1 type=file uid=6");
    assert_eq!(entry("sub/inner"), "type=file");
    assert_eq!(entry("full/path"), "nlink=3 type=file");
    assert_eq!(entry("l"), "mtime_ns=3000000004 target=t o type=symlink");
    assert_eq!(entry("dev"), format!("rdev={} type=char_device", rustix::fs::makedev(1, 3)));
}

#[test]
fn an_import_replaces_no_manifest() {
    let dir = Dir::new();
    let list = format!("{HEX}  a\n");
    dir.file("list", list.as_bytes());
    let base64 = "SHA256 (a) = 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
    let [in_hex, in_base64] = [&*list, base64].map(|list| {
        Manifest::parse(&import(&dir, list.as_bytes(), &["--format", "sha256"]).status(0).out).entries
    });
    assert_eq!(in_hex, in_base64);
    dir.ftk(["manifest", "create", ".", "-o", "old"]).run().status(0);
    let before = fs::read(dir.path("old")).unwrap();
    let to =
        |args: &[&str]| dir.ftk(["manifest", "import", "--format", "sha256", "list", "-o"]).args(args).run();
    to(&["old"]).status(2).stderr_has("'old' is a manifest: ");
    to(&["list"]).status(2).stderr_has("'list' is both input and output\n");
    assert_eq!(fs::read(dir.path("old")).unwrap(), before);
    to(&["/dev/full"]).status(2).stderr_has("cannot write '/dev/full'");
    to(&["old", "--force"]).status(0).stderr_has("  1 entry imported\n");
    to(&["new.zst"]).status(0);
    assert!(fs::read(dir.path("new.zst")).unwrap().starts_with(b"\x28\xb5\x2f\xfd"));
    dir.ftk(["manifest", "diff", "old", "new.zst"]).run().status(0).stdout("");
    assert_eq!(fs::read(dir.path("list")).unwrap(), list.as_bytes());
    let run = dir.ftk(["manifest", "import", "--format", "sha256", "-a", "md5", "list"]).run();
    run.status(2).stderr_has("line 1: the digest has 64 digits, expected 32 for MD5\n");
    dir.ftk(["manifest", "import", "/dev/zero", "--format", "sha256"])
        .run()
        .status(2)
        .stderr_has("it is a device");
    dir.ftk(["manifest", "import", "missing"]).run().status(2).stderr_has("cannot open 'missing'");
}

/// Every entry that a format can hold survives an export and an import.
#[test]
fn exports_are_imported_again() {
    needs!("zstd");
    let dir = tree();
    special(&dir);
    let ours = Manifest::read(&create(&dir, &["-a", "sha256,sha512"]));
    for format in ["mtree", "sha256"] {
        let list = dir
            .ftk(["manifest", "export", "--format", format])
            .arg(dir.aside("manifest"))
            .run()
            .status(0)
            .out;
        let again = verified(&dir, &list, &["--format", format]);
        is_part_of(&again, &ours);
        assert_eq!(again.paths.len(), if format == "mtree" { ours.paths.len() } else { 2 * ODD.len() + 5 });
        let words = ["zstd", "-q", "-c"];
        let compressed = dir.ftk([] as [&str; 0]).instead(&dir, words).stdin(&list).run().status(0).out;
        assert_eq!(verified(&dir, &compressed, &["--format", format]).entries, again.entries);
        import(&dir, &compressed[..compressed.len() / 2], &["--format", format]).status(2).stdout("");
    }
}

/// Every list that `ftk hash --check` reads: all digests of a file make one entry, and equal lines are one.
#[test]
fn lists_of_every_algorithm_are_read() {
    needs!("b2sum", "b3sum", "md5sum", "sha512sum", "rhash");
    let dir = Dir::new();
    dir.file("a b", b"abc").file("d/c", b"c");
    for (words, algorithms, args) in [
        (&["md5sum"][..], &["md5"][..], &[][..]),
        (&["md5sum", "--tag"], &["md5"], &[]),
        (&["sha512sum"], &["sha512"], &[]),
        (&["b2sum"], &["blake2b"], &["-a", "blake2b"]),
        (&["b2sum", "--tag"], &["blake2b"], &[]),
        (&["b3sum"], &["blake3"], &["-a", "blake3"]),
        (
            &["rhash", "--md5", "--sha256", "--sha3-512", "--crc32", "--bsd"],
            &["sha256", "md5", "sha3-512", "crc32"],
            &[],
        ),
    ] {
        let list = tool(&dir, &[words, &["a b", "d/c"]].concat());
        let list = [&list[..], &list].concat();
        let imported = verified(&dir, &list, args);
        assert_eq!(imported.header["algorithms"], serde_json::json!(algorithms));
        assert_eq!(imported.paths.len(), 2);
    }
    let list = tool(&dir, &["rhash", "--md5", "--sha1", "--bsd", "a b", "d/c"]);
    let text = String::from_utf8(list).unwrap();
    let partial: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    import(&dir, partial.as_bytes(), &[]).status(2).stderr_has("'d/c' lacks digests that other files have\n");
    let signed = format!("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{text}");
    let run = import(&dir, signed.as_bytes(), &[]).status(0);
    run.stderr_has("WARNING: 2 lines are improperly formatted ('-', line 1: neither");
    import(&dir, format!("{text}x: {HEX}\n").as_bytes(), &[])
        .status(2)
        .stdout("")
        .stderr_has("line 5: the line has a digest");
    // The name of a BagIt manifest alone does not say how names are written.
    dir.file("manifest-md5.txt", text.as_bytes());
    let run = dir.ftk(["manifest", "import", "manifest-md5.txt"]).run().status(2);
    run.stderr_has(
        " is named like the manifest of a BagIt bag: add --format bagit if it is one, or --format sums ",
    );
}

/// What mtree does not compare is not reported by verify: entries that may be missing, and what is in ignored
/// directories.
#[test]
fn optional_and_ignored_entries_of_mtree_are_not_compared() {
    needs!("mtree");
    let dir = Dir::new();
    dir.file("a", b"abc").file("m[a]y *,{be}", b"x").file("i/ignored", b"y").dir("n");
    let spec = "#mtree\n. type=dir\na type=file size=3\nm\\133a]y\\040\\052,{be} type=file size=9 optional\n\
                gone type=dir optional\nbelow type=file\n..\ni type=dir ignore\n..\n..\n";
    dir.ftk([] as [&str; 0])
        .instead(&dir, ["mtree", "-p", "."])
        .stdin(spec.replace(" size=9", "").as_bytes())
        .run()
        .status(0);
    let run = import(&dir, spec.as_bytes(), &[]).status(0);
    run.check(
        run.err.starts_with("  3 paths with `optional` or `ignore`: not verified\n"),
        "what is not verified",
    );
    fs::write(dir.aside("imported"), &run.out).unwrap();
    let verify = || dir.ftk(["manifest", "verify", "."]).arg(dir.aside("imported")).run();
    verify().status(1).stdout("new\tn\n");
    fs::remove_dir(dir.path("n")).unwrap();
    verify().status(0);
    fs::remove_file(dir.path("m[a]y *,{be}")).unwrap();
    dir.file("i/more", b"");
    verify().status(0);
    dir.file("m", b"");
    verify().status(1).stdout("new\tm\n");
    // Of these only the type is compared.
    let spec = "#mtree\n. type=dir nochange mode=0000\na type=file size=9 nochange\ni type=dir ignore\n..\nm type=file\n..\n";
    let run = import(&dir, spec.as_bytes(), &[]).status(0);
    fs::write(dir.aside("imported"), &run.out).unwrap();
    verify().status(0);
    let digests = format!("a type=file nochange\nm type=file sha256={HEX}\n");
    import(&dir, digests.as_bytes(), &["--format", "mtree"])
        .status(2)
        .stderr_has("'a' lacks digests that other files have");
}

/// `verify` finds a difference where NetBSD's mtree prints something, and none where it is silent.
#[test]
fn verify_agrees_with_mtree_on_a_specification() {
    needs!("mtree");
    let dir = Dir::new();
    dir.file("a", b"abc").symlink("a", "l").file("i/x", b"x");
    for (entries, is_same) in [
        ("./a type=file size=3\n./l type=link link=a", true),
        ("./a type=file size=4\n./l type=link link=a", false),
        // A link without a target.
        ("./a type=file\n./l type=link", true),
        ("./a type=file\n./l type=link mode=0777", true),
        ("./a type=file\n./l type=file", false),
        ("./a type=link\n./l type=link", false),
        ("./a type=file\n./l type=link link=b", false),
        // The last of several entries counts.
        ("./a type=file size=9\n./a type=file size=3\n./l type=link", true),
        ("./a type=file size=3\n./a type=file size=9\n./l type=link", false),
        ("./a type=file size=9\n./a type=file mode=0644\n./l type=link", true),
        ("./a type=file\n./l type=link link=b\n./l type=link", true),
        ("./a type=file\n./l type=link\n./l type=link link=b", false),
        ("./a type=file size=9 size=3\n./l type=link link=b link=a", true),
        // Entries that may be missing.
        ("./a type=file\n./l type=link\n./z type=file", false),
        ("./a type=file\n./l type=link\n./z type=file optional", true),
        ("./a type=file\n./l type=link\n./z type=file\n./z type=file optional", true),
        ("./a type=file\n./l type=link\n./z type=file optional\n./z type=file", false),
        ("./a type=file\n./l type=link\n./z type=dir optional\n./z/y type=file", true),
        // Directories whose content is not compared.
        ("./a type=file\n./l type=link\n./i type=dir ignore", true),
        ("./a type=file\n./l type=link\n./i type=dir", false),
        ("./a type=file\n./l type=link\n./i type=dir ignore\n./i type=dir", false),
        ("./a type=file\n./l type=link\n./i type=dir\n./i type=dir ignore", true),
        ("./a type=file\n./l type=link\n./i type=dir ignore mode=0111", false),
        ("./a type=file size=4 ignore\n./l type=link", false),
    ] {
        // Entries that a case does not name.
        let (_, last) = entries.rsplit_once('\n').unwrap();
        let rest = if last.starts_with("./i ") { "" } else { "./i type=dir\n./i/x type=file\n" };
        let spec = format!("#mtree\n. type=dir\n{entries}\n{rest}");
        let mtree = dir.ftk([] as [&str; 0]).instead(&dir, ["mtree", "-p", "."]).stdin(spec.as_bytes()).run();
        mtree.check(mtree.code() != 1, "the specification is valid");
        assert_eq!(mtree.text().is_empty(), is_same, "{spec}{}", mtree.text());
        fs::write(dir.aside("imported"), import(&dir, spec.as_bytes(), &[]).status(0).out).unwrap();
        let verify = dir.ftk(["manifest", "verify", "."]).arg(dir.aside("imported")).run();
        verify.status(if is_same { 0 } else { 1 });
    }
    // Both refuse another type.
    for entries in
        ["./a type=file\n./a type=dir", "./a type=dir\n./a type=file", "./a type=dir optional\n./a type=file"]
    {
        let spec = format!("#mtree\n. type=dir\n{entries}\n");
        dir.ftk([] as [&str; 0])
            .instead(&dir, ["mtree", "-p", "."])
            .stdin(spec.as_bytes())
            .run()
            .status(1)
            .stderr_has("existing entry for `a'");
        import(&dir, spec.as_bytes(), &[]).status(2).stderr_has("'a' appears twice, with different types");
    }
}

/// Neither `verify` nor `diff` compares the target of such a link, and `update` records it.
#[test]
fn links_without_a_target_are_not_compared_by_it() {
    let dir = Dir::new();
    dir.file("a", b"abc").symlink("a", "l");
    let spec = format!(
        "#mtree\n. type=dir\na type=file sha256={}\nl type=link nochange link=b\n..\n",
        sha256(b"abc")
    );
    let run = import(&dir, spec.replace(" nochange link=b", "").as_bytes(), &[]).status(0);
    let nochange = import(&dir, spec.as_bytes(), &[]).status(0);
    assert_eq!(Manifest::parse(&nochange.out).entries, Manifest::parse(&run.out).entries);
    let imported = dir.aside("imported");
    fs::write(&imported, &run.out).unwrap();
    assert!(Manifest::read(&imported).entry("l")["target"].is_null());
    dir.ftk(["manifest", "verify", "."]).arg(&imported).run().status(0);
    let export = dir.ftk(["manifest", "export", "--format", "mtree"]).arg(&imported).run().status(0);
    export.check(export.text().contains("l type=link\n"), "there is no target");
    fs::rename(create(&dir, &[]), dir.aside("created")).unwrap();
    let diff = dir.ftk(["manifest", "diff"]).args([&imported, &dir.aside("created")]).run();
    diff.status(0).stdout("");
    dir.ftk(["manifest", "update", ".", "--other-root"])
        .args([&*imported, "-o".as_ref(), &imported])
        .run()
        .status(0);
    assert_eq!(Manifest::read(&imported).entry("l")["target"], "a");
}

#[test]
fn contradictions_in_specifications_of_mtree_are_refused() {
    let dir = Dir::new();
    let refused = |lines: &str, why: &str| {
        let run = import(&dir, format!("#mtree\n. type=dir\n{lines}..\n").as_bytes(), &[]).status(2);
        run.stdout("").stderr_has(why);
    };
    refused("a type=file type=dir\n", "line 3: type is given twice");
    refused("a type=file type=file\n", "line 3: type is given twice");
    refused(&format!("a type=file sha256={HEX} sha256digest={HEX}\n"), "line 3: sha256 is given twice");
    refused(&format!("/set sha256={HEX} sha256={HEX}\n"), "line 3: sha256 is given twice");
    refused("a type=file\na type=dir\n..\n", "'a' appears twice, with different types");
    refused("a\\04 type=file\n", "a name that is not encoded as vis(3) does");
    // A later entry replaces an earlier one, and a line overrides `/set`.
    let list = format!(
        "#mtree\n/set type=file mode=0600\n. type=dir\na size=1 sha256={HEX}\na mode=0644 size=2\n..\n"
    );
    let again = Manifest::parse(&import(&dir, list.as_bytes(), &[]).status(0).out);
    assert_eq!((&again.entry("a")["size_bytes"], &again.entry("a")["mode"]), (&2.into(), &"0644".into()));
}

/// A trial: `verify` of a list of hashdeep said "it is plain text", and nothing about `import`.
#[test]
fn lists_name_the_command_that_imports_them() {
    let dir = Dir::new();
    let sum = "d41d8cd98f00b204e9800998ecf8427e";
    for (name, list, what, import) in [
        (
            "l.hashdeep",
            "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n",
            "a list of hashdeep",
            "l.hashdeep -o l.jsonl",
        ),
        ("SHA256SUMS", &format!("{sum}  a\n"), "a list of digests", "SHA256SUMS -o SHA256SUMS.jsonl"),
        ("my list", &format!("MD5 (a) = {sum}\n"), "a list of digests", "'my list' -o 'my list.jsonl'"),
        ("x.mtree", "#mtree\n/set type=file\n", "a specification of mtree", "x.mtree -o x.jsonl"),
    ] {
        dir.file(name, list.as_bytes());
        let run = dir.ftk(["manifest", "verify", ".", name]).run().status(2);
        run.stderr(&format!(
            "ftk: '{name}' is {what}: `ftk manifest import {import}` makes a manifest of it\n"
        ));
    }
}

/// A trial: the audit of a directory fails if the list is about a part of it. hashdeep was told which part.
#[test]
fn a_list_about_a_part_says_how_to_check_this_part() {
    let dir = Dir::new();
    dir.file("letters/1/a", b"a").file("letters/b", b"b");
    let list = dir.ftk(["hash", "letters"]).run().status(0).out;
    dir.file("list", &list).ftk(["manifest", "import", "list", "-o", "../imported"]).run().status(0);
    let verify = |args: &[&str]| dir.ftk(["manifest", "verify", ".", "../imported"]).args(args).run();
    let hint = "  all recorded paths are below 'letters': --path 'letters/*' looks only there\n";
    verify(&[]).status(1).stdout("new\tlist\n").stderr_has(hint);
    verify(&["--path", "letters/*"]).status(0).stderr_has("  2 of 2 as recorded\n");
    dir.file("letters/new", b"new");
    verify(&["--path", "letters/*"]).status(1).stdout("new\tletters/new\n").stderr_lacks(hint);
    fs::remove_file(dir.path("list")).unwrap();
    verify(&[]).status(1).stdout("new\tletters/new\n").stderr_lacks(hint);
}
