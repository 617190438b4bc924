//! `ftk manifest create --tar` and `verify --tar`, compared with the extraction by GNU tar and bsdtar.

use std::fs;

use super::records::Manifest;
use crate::harness::{Dir, bytes, is_root, needs, sha256};

fn tool(dir: &Dir, words: &[&str]) -> Vec<u8> {
    dir.ftk([] as [&str; 0]).instead(dir, words).run().status(0).out
}

/// A tree in `t` with everything that all formats can store.
fn tree() -> Dir {
    let dir = Dir::new();
    dir.file("t/a", b"1")
        .file("t/d/b c", &bytes(1, 70_000))
        .file("t/empty", b"")
        .dir("t/e")
        .symlink("d/b c", "t/link");
    dir.hard_link("t/a", "t/d/other").fifo("t/fifo").file("t/\u{e9}", b"2");
    if is_root() {
        tool(&dir, &["mknod", "t/null", "c", "1", "3"]);
        tool(&dir, &["chown", "1234:567", "t/empty"]);
    }
    tool(&dir, &["touch", "-d", "2001-02-03 04:05:06.789", "t/a"]);
    tool(&dir, &["chmod", "4751", "t/d/b c"]);
    dir
}

/// Extracts `t.tar` with `tool`, and compares its record with that of the extracted tree.
fn compare(dir: &Dir, program: &str, what: &str) {
    fs::remove_dir_all(dir.path("x")).ok();
    dir.dir("x");
    tool(dir, &[program, "-xpf", "t.tar", "-C", "x"]);
    dir.ftk(["manifest", "create", "--tar", "t.tar", "-o", "tar.jsonl", "--force"]).run().status(0);
    dir.ftk(["manifest", "create", "x", "-o", "x.jsonl", "--force"]).run().status(0);
    for words in [
        &["diff", "x.jsonl", "tar.jsonl"][..],
        &["diff", "tar.jsonl", "x.jsonl"],
        &["verify", "x", "tar.jsonl"],
        &["verify", "--tar", "t.tar", "x.jsonl"],
    ] {
        let run = dir.ftk(["manifest"]).args(words).run();
        run.check(run.code() == 0 && run.text().lines().all(|line| !line.contains('\t')), what);
    }
    let record = Manifest::read(&dir.path("tar.jsonl"));
    let ours = Manifest::read(&dir.path("x.jsonl"));
    for (path, entry) in &record.entries {
        for (member, value) in entry.as_object().unwrap() {
            let expected = &ours.entries[path][member];
            let is_implied = entry.get("mtime_ns").is_none();
            if !(is_implied || member == "mtime_ns" && entry["type"] == "directory") {
                assert_eq!(value, expected, "{what}: {member} of {}", path.escape_ascii());
            }
        }
    }
    assert_eq!(record.entries.len(), ours.entries.len(), "{what}");
}

#[test]
fn a_record_of_an_archive_is_that_of_the_extracted_tree() {
    needs!("tar", "bsdtar");
    for format in ["v7", "oldgnu", "gnu", "ustar", "posix"] {
        let dir = tree();
        // v7 has no types for special files.
        if format == "v7" {
            tool(&dir, &["rm", "-f", "t/fifo", "t/null"]);
        }
        let long = "n".repeat(if ["v7", "ustar"].contains(&format) { 90 } else { 250 });
        dir.file(format!("t/{long}"), b"long").symlink(&long, "t/to long");
        if format != "v7" && format != "ustar" {
            dir.file(format!("t/d{long}/x"), b"long").raw_file(b"t/line\nend=\xff", b"3");
        }
        tool(&dir, &["tar", &format!("--format={format}"), "-cf", "t.tar", "-C", "t", "."]);
        compare(&dir, "tar", format);
        // Without the top directory, and with a prefix that is no member.
        tool(&dir, &["tar", &format!("--format={format}"), "-cf", "t.tar", "t/d/b c", "t/d/other"]);
        compare(&dir, "tar", format);
    }
    for format in ["ustar", "pax", "gnutar", "v7"] {
        let dir = tree();
        if format == "v7" {
            tool(&dir, &["rm", "-f", "t/fifo", "t/null"]);
        }
        tool(&dir, &["bsdtar", "--format", format, "-cf", "t.tar", "-C", "t", "."]);
        compare(&dir, "bsdtar", format);
    }
}

#[test]
fn sparse_files_have_their_zeros() {
    needs!("tar", "bsdtar");
    let dir = Dir::new();
    dir.hole("t/hole", 300_000).hole("t/some", 900_000).file("t/plain", b"1");
    let file = fs::File::options().write(true).open(dir.path("t/some")).unwrap();
    for at in 0..30_u64 {
        std::os::unix::fs::FileExt::write_all_at(&file, b"data", at * 30_000 + 5_000).unwrap();
    }
    for format in [
        &["--format=gnu"][..],
        &["--format=oldgnu"],
        &["--format=posix", "--sparse-version=0.0"],
        &["--format=posix", "--sparse-version=0.1"],
        &["--format=posix", "--sparse-version=1.0"],
    ] {
        tool(&dir, &[&["tar", "--sparse", "-cf", "t.tar", "-C", "t", "."], format].concat());
        let len = fs::metadata(dir.path("t.tar")).unwrap().len();
        assert!(len < 400_000, "{format:?} stores holes");
        compare(&dir, "tar", &format!("{format:?}"));
    }
    tool(&dir, &["bsdtar", "--format", "pax", "--read-sparse", "-cf", "t.tar", "-C", "t", "."]);
    compare(&dir, "bsdtar", "pax");
}

#[test]
fn archives_may_be_compressed_and_come_from_a_pipe() {
    needs!("tar", "gzip", "xz", "zstd");
    let dir = tree();
    tool(&dir, &["tar", "-cf", "t.tar", "t"]);
    let plain = dir.ftk(["manifest", "create", "--tar", "t.tar"]).run().status(0).out;
    for words in [&["gzip", "-c", "t.tar"][..], &["xz", "-c", "t.tar"], &["zstd", "-qc", "t.tar"]] {
        let stream = tool(&dir, words);
        let run = dir.ftk(["manifest", "create", "--tar", "-"]).stdin(&stream).run().status(0);
        let [ours, theirs] = [&run.out, &plain].map(|out| Manifest::parse(out).entries);
        assert_eq!(ours, theirs, "{words:?}");
        for cut in [1, 9, stream.len() / 2] {
            let run =
                dir.ftk(["manifest", "create", "--tar", "-", "-o", "cut.jsonl"]).stdin(&stream[cut..][..0]);
            run.run().status(2).stderr_has("it is empty");
            let stream = &stream[..stream.len() - cut];
            let run = dir
                .ftk(["manifest", "create", "--tar", "-", "-o", "cut.jsonl"])
                .stdin(stream)
                .run()
                .status(2);
            run.stderr_has("cut off");
            assert!(!dir.path("cut.jsonl").exists());
        }
    }
}

/// GNU tar accepts an archive without its end mark, and one that ends in the middle of a member is an error.
#[test]
fn a_truncated_archive_is_an_error() {
    needs!("tar");
    let dir = Dir::new();
    dir.file("t/a", &bytes(3, 3000)).file("t/b", b"2");
    tool(&dir, &["tar", "-cf", "t.tar", "--sort=name", "t"]);
    let archive = fs::read(dir.path("t.tar")).unwrap();
    // The directory, a with its 3,072 bytes, and b.
    let ends = [512, 512 + 512 + 3072, 512 + 512 + 3072 + 1024];
    for cut in [1, 100, 511, 512, 513, 1024, 1030, 3000, 4095, 4096, 4097, 4608, 4700, 5119, 5120, 5632, 6144]
    {
        dir.file("cut.tar", &archive[..cut]);
        let theirs = dir.ftk([] as [&str; 0]).instead(&dir, ["tar", "-tf", "cut.tar"]).run();
        let ours = dir.ftk(["manifest", "create", "--tar", "cut.tar"]).run();
        let is_whole = ends.contains(&cut) || cut >= 5632;
        ours.check((ours.code() == 0) == is_whole, &format!("{cut}: {}", theirs.code()));
        if is_whole {
            theirs.status(0);
            ours.check(ours.err.contains("has no end mark") == (cut < 5632), "the missing mark is reported");
        } else {
            ours.status(2).stdout("");
        }
    }
    dir.file("two.tar", &[&*archive, &*archive].concat());
    let run = dir.ftk(["manifest", "create", "--tar", "two.tar"]).run().status(0);
    run.stderr_has("what follows its end mark is ignored");
    let mut damaged = archive;
    damaged[4096 + 5] ^= 1;
    dir.file("damaged.tar", &damaged);
    let run = dir.ftk(["manifest", "create", "--tar", "damaged.tar"]).run().status(2);
    run.stdout("").stderr_has("the member at byte 4096: its header is damaged");
    dir.file("other", b"no archive".repeat(100).as_slice());
    let run = dir.ftk(["manifest", "create", "--tar", "other"]).run().status(2);
    run.stdout("").stderr_has("this is no tar archive");
}

#[test]
fn members_that_lead_out_are_refused() {
    needs!("tar");
    let dir = Dir::new();
    dir.file("t/good", b"1").file("t/evil", b"2");
    for (to, why) in [
        ("/tmp/evil", "its name is absolute"),
        ("../evil", "its name leads out of the archive"),
        ("t/../../evil", "its name leads out of the archive"),
        ("t/..", "its name leads out of the archive"),
    ] {
        let transform = format!("--transform=s,t/evil,{to},");
        tool(&dir, &["tar", "-P", "-cf", "t.tar", &transform, "t/good", "t/evil"]);
        let run =
            dir.ftk(["manifest", "create", "--tar", "t.tar", "-o", "t.jsonl", "--force"]).run().status(2);
        run.stderr_has(&format!("cannot record '{to}': {why}")).stderr_has("1 file not recorded");
        let record = Manifest::read(&dir.path("t.jsonl"));
        let paths: Vec<_> = record.entries.keys().map(|path| path.escape_ascii().to_string()).collect();
        assert_eq!(paths, [".", "t", "t/good"], "{to}");
        dir.ftk(["manifest", "verify", "--tar", "t.tar", "t.jsonl"]).run().status(2).stdout("");
    }
    // A link to something that is no member.
    dir.hard_link("t/good", "t/link");
    tool(&dir, &["tar", "-cf", "t.tar", "t/good", "t/link", "t/evil"]);
    let archive = fs::read(dir.path("t.tar")).unwrap();
    dir.file("part.tar", &archive[1024..]);
    let run = dir.ftk(["manifest", "create", "--tar", "part.tar", "-o", "part.jsonl"]).run().status(2);
    run.stderr_has(
        "cannot record 't/link': it is a link to something that the archive does not have before it",
    );
    let failed = &Manifest::read(&dir.path("part.jsonl")).header["failed"];
    assert_eq!(failed.to_string(), "[{\"path\":\"t/link\"}]");
}

/// As in an extraction: a link keeps what its target was.
#[test]
fn the_last_member_of_a_path_counts() {
    needs!("tar");
    let dir = Dir::new();
    dir.file("a", b"old").hard_link("a", "link").file("b", b"b");
    tool(&dir, &["tar", "-cf", "t.tar", "a", "link", "b"]);
    fs::remove_file(dir.path("a")).unwrap();
    dir.file("a", b"new, and longer");
    tool(&dir, &["tar", "-rf", "t.tar", "a"]);
    fs::remove_file(dir.path("b")).unwrap();
    dir.symlink("a", "b");
    tool(&dir, &["tar", "-rf", "t.tar", "b"]);
    compare(&dir, "tar", "appended");
    let record = Manifest::read(&dir.path("tar.jsonl"));
    let digest = |path: &[u8]| record.entries[path]["digests"]["sha256"].as_str().unwrap().to_owned();
    assert_eq!(digest(b"a"), sha256(b"new, and longer"));
    assert_eq!(digest(b"link"), sha256(b"old"));
    assert_eq!(record.entries[&b"b"[..]]["type"], "symlink");
}

#[test]
fn changes_are_found() {
    needs!("tar");
    let dir = tree();
    tool(&dir, &["tar", "-cf", "t.tar", "-C", "t", "."]);
    dir.ftk(["manifest", "create", "t", "-o", "t.jsonl"]).run().status(0);
    dir.ftk(["manifest", "verify", "--tar", "t.tar", "t.jsonl"])
        .run()
        .status(0)
        .stdout("")
        .stderr_has("as recorded");
    dir.ftk(["manifest", "verify", "--tar", "t.tar", "--all", "t.jsonl"]).run().status(2).stdout("");
    // Damage in a member: the time is the same.
    let mut archive = fs::read(dir.path("t.tar")).unwrap();
    let content = bytes(1, 70_000);
    let at = archive.windows(64).position(|it| it == &content[1000..1064]).unwrap();
    archive[at] ^= 1;
    dir.file("damaged.tar", &archive);
    let run = dir.ftk(["manifest", "verify", "--tar", "damaged.tar", "t.jsonl"]).run().status(1);
    run.check(run.text().starts_with("corrupted\td/b c\t"), "the damaged member is named");
    let run =
        dir.ftk(["manifest", "verify", "--tar", "-", "--json", "t.jsonl"]).stdin(&archive).run().status(1);
    run.check(run.text().contains("\"verdict\":\"corrupted\",\"path\":\"d/b c\""), "in JSON too");
    let args = ["manifest", "verify", "--tar", "damaged.tar", "-E", "d", "t.jsonl"];
    dir.ftk(args).run().status(0).stderr_has("not selected");
    dir.ftk(["manifest", "verify", "--tar", "damaged.tar", "--mode", "metadata", "t.jsonl"]).run().status(0);
    // An edit, a new file and one less.
    tool(&dir, &["touch", "-d", "2002-02-03", "t/a"]);
    dir.file("t/new", b"n");
    fs::remove_file(dir.path("t/\u{e9}")).unwrap();
    tool(&dir, &["tar", "-cf", "t.tar", "-C", "t", "."]);
    let run = dir.ftk(["manifest", "verify", "--tar", "t.tar", "t.jsonl"]).run().status(1);
    let words: Vec<_> =
        run.text().lines().map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(words, ["metadata a", "metadata d/other", "new new", "missing \u{e9}"]);
}

/// The record has no file of a file system, so nothing acts on files by it.
#[test]
fn a_record_of_an_archive_says_so() {
    needs!("tar");
    let dir = tree();
    tool(&dir, &["tar", "-cf", "t.tar", "-C", "t", "."]);
    dir.ftk(["manifest", "create", "--tar", "t.tar", "-o", "t.jsonl"]).run().status(0);
    let record = Manifest::read(&dir.path("t.jsonl"));
    assert_eq!(record.header["archive"], "tar");
    assert!(
        record
            .entries
            .values()
            .all(|entry| ["ino", "dev", "ctime_ns", "nlink"].iter().all(|it| entry.get(it).is_none()))
    );
    let why = "'t.jsonl' records the members of a tar archive";
    for args in [
        &["manifest", "repair", "t", "t.jsonl", "--from", "t"][..],
        &["manifest", "scrub", "t", "t.jsonl"],
        &["manifest", "update", "t", "t.jsonl", "-o", "new.jsonl"],
        &["dup", "--manifests", "t.jsonl"],
    ] {
        dir.ftk(args).run().status(2).stdout("").stderr_has(why);
    }
    assert!(!dir.path("new.jsonl").exists());
    for args in [
        &["t", "--tar", "t.tar"][..],
        &["--tar", "t.tar", "--shard", "1/2"],
        &["--tar", "t.tar", "-E", "a"],
        &[],
    ] {
        dir.ftk(["manifest", "create"]).args(args).run().status(2).stdout("");
    }
    dir.ftk(["manifest", "verify", "--tar", "t.tar", "t", "t.jsonl"])
        .run()
        .status(2)
        .stderr_has("--tar checks an archive");
    dir.ftk(["manifest", "verify", "--tar", "-", "-"])
        .run()
        .status(2)
        .stderr_has("standard input cannot be both");
}

/// A trial: a member that is there twice was silent, and an archive with a directory around everything was all new.
#[test]
fn repeated_members_and_a_directory_around_all_are_named() {
    needs!("tar");
    let dir = Dir::new();
    dir.file("app/a", b"1").file("app/sub/b", &bytes(1, 5000)).file("app/c", b"3");
    dir.ftk(["manifest", "create", "app", "-o", "tree.jsonl"]).run().status(0);
    tool(&dir, &["tar", "-cf", "flat.tar", "-C", "app", "."]);
    tool(&dir, &["tar", "-cf", "around.tar", "app"]);
    let verify =
        |args: &[&str]| dir.ftk(["manifest", "verify", "--mode", "content", "--tar"]).args(args).run();
    verify(&["flat.tar", "tree.jsonl"]).status(0).stderr_lacks("earlier").stderr_lacks("--below");
    // The archive has the directory, or the record.
    let hint = "all paths of the archive are below 'app': add --below app\n";
    verify(&["around.tar", "tree.jsonl"]).status(1).stderr_has(hint);
    verify(&["around.tar", "tree.jsonl", "--below", "app"]).status(0).stdout("").stderr_lacks("--below");
    dir.ftk(["manifest", "create", "--tar", "around.tar", "-o", "around.jsonl"]).run().status(0);
    let hint = "all paths of the manifest are below 'app': add --below app\n";
    verify(&["flat.tar", "around.jsonl"]).status(1).stderr_has(hint);
    verify(&["flat.tar", "around.jsonl", "--below", "app"]).status(0).stdout("");
    verify(&["around.tar", "around.jsonl"]).status(0).stderr_lacks("--below");
    verify(&["flat.tar", "around.jsonl", "--below", "no"]).status(2).stderr_has("neither the manifest nor");
    verify(&["flat.tar", "around.jsonl", "--below", "app", "-E", "x"]).status(2).stderr_has("--below cannot");
    // Differences are found below it.
    dir.file("app/c", b"4");
    tool(&dir, &["tar", "-cf", "edited.tar", "app"]);
    let run = verify(&["edited.tar", "tree.jsonl", "--below", "app"]).status(1);
    run.check(run.text().lines().count() == 1 && run.text().contains("\tc\t"), "one edit");
    // A few new entries next to others are only new.
    dir.file("app/new/1", b"1");
    fs::remove_file(dir.path("app/a")).unwrap();
    tool(&dir, &["tar", "-cf", "other.tar", "-C", "app", "."]);
    verify(&["other.tar", "tree.jsonl"]).status(1).stderr_lacks("--below");
    // The last member counts.
    tool(&dir, &["tar", "-rf", "edited.tar", "app/c", "app/sub"]);
    let note = "  2 members have the path of an earlier one: the last one counts\n";
    verify(&["edited.tar", "tree.jsonl", "--below", "app"]).status(1).stderr_has(note);
    dir.ftk(["manifest", "create", "--tar", "edited.tar"]).run().status(0).stderr_has(note);
}

/// The attributes of a member are those that an extraction gives to the file, also as access control lists.
#[test]
fn attributes_are_those_of_the_extracted_tree() {
    needs!("tar", "bsdtar", "getfattr", "setfacl", "setcap");
    let dir = Dir::on_disk();
    dir.file("t/a", b"1").file("t/b", b"2").file("t/cap", b"").file("t/none", b"").dir("t/d").dir("t/e");
    dir.symlink("a", "t/link").hard_link("t/a", "t/d/other");
    let tool = |words: &[&str]| tool(&dir, words);
    tool(&["setfattr", "-n", "user.k", "-v", "0sdj0xCgAlPXg=", "t/a"]);
    tool(&["setfattr", "-n", "user.a=b%c d", "-v", "x", "t/b"]);
    tool(&["setfattr", "-n", "user.empty", "t/b"]);
    tool(&["setfacl", "-m", "u:daemon:rw,g:2:x,u:4711:r", "t/b"]);
    tool(&["setfacl", "-d", "-m", "u:daemon:r", "t/d"]);
    tool(&["setfacl", "-d", "-m", "u::rwx,g::rx,o::-", "t/e"]);
    if is_root() {
        tool(&["setcap", "cap_net_raw+ep", "t/cap"]);
        tool(&["setfattr", "-h", "-n", "trusted.l", "-v", "l", "t/link"]);
    }
    dir.ftk(["manifest", "create", "t", "-o", "t.jsonl"]).run().status(0);
    let of_tree = Manifest::read(&dir.path("t.jsonl"));
    let all = ["tar", "--xattrs", "--xattrs-include=*"];
    for (make, extract) in [
        (&["tar", "--xattrs", "-cf", "t.tar", "-C", "t", "."][..], &all[..]),
        (&["tar", "--xattrs", "--acls", "-cf", "t.tar", "-C", "t", "."], &[&all[..], &["--acls"]].concat()),
        (&["bsdtar", "--format", "pax", "-cf", "t.tar", "-C", "t", "."], &["bsdtar", "--xattrs", "--acls"]),
    ] {
        tool(make);
        fs::remove_dir_all(dir.path("x")).ok();
        dir.dir("x");
        tool(&[extract, &["-xpf", "t.tar", "-C", "x"]].concat());
        if extract[0] == "bsdtar" {
            // Version 3.6.2 restores the name as it is in one of its two records, too.
            tool(&["setfattr", "-x", "user.a%3Db%25c%20d", "x/b"]);
        }
        dir.ftk(["manifest", "create", "--tar", "t.tar", "-o", "tar.jsonl", "--force"]).run().status(0);
        dir.ftk(["manifest", "create", "x", "-o", "x.jsonl", "--force"]).run().status(0);
        let [of_archive, extracted] = ["tar.jsonl", "x.jsonl"].map(|file| Manifest::read(&dir.path(file)));
        assert_eq!(of_archive.header["xattrs"], true);
        assert_eq!(of_archive.header.get("trusted_xattrs").is_none(), is_root());
        for (path, entry) in &of_archive.entries {
            assert_eq!(
                entry["xattrs"],
                extracted.entries[path]["xattrs"],
                "{make:?}: {}",
                path.escape_ascii()
            );
            assert_eq!(entry["xattrs"], of_tree.entries[path]["xattrs"], "{make:?}: {}", path.escape_ascii());
        }
        let run = dir.ftk(["manifest", "verify", "--tar", "t.tar", "t.jsonl"]).run().status(0).stdout("");
        run.stderr_lacks("attributes");
        dir.ftk(["manifest", "verify", "x", "tar.jsonl"]).run().status(0).stdout("");
        // What the tree got since is found.
        tool(&["setfattr", "-x", "user.k", "x/a"]);
        let run = dir.ftk(["manifest", "verify", "x", "tar.jsonl"]).run().status(1);
        run.check(run.text().starts_with("metadata\ta\t"), "the attribute is missing");
    }
    // A list of an account that this system does not have, as it is of no use in an extraction.
    tool(&["tar", "--xattrs", "--acls", "-cf", "t.tar", "-C", "t", "."]);
    let mut archive = fs::read(dir.path("t.tar")).unwrap();
    let mut from = 0;
    while let Some(at) = archive[from..].windows(12).position(|it| it == b"user:daemon:") {
        archive[from + at + 5..][..6].copy_from_slice(b"daemOn");
        from += at + 12;
    }
    dir.file("t.tar", &archive);
    let run = dir.ftk(["manifest", "create", "--tar", "t.tar", "-o", "tar.jsonl", "--force"]).run().status(2);
    run.stderr_has("cannot record './b': its access control list has the unknown user \"daemOn\"");
    // Without a member that has an attribute, the archive does not record them.
    tool(&["tar", "--acls", "-cf", "t.tar", "-C", "t", "."]);
    dir.ftk(["manifest", "create", "--tar", "t.tar", "-o", "tar.jsonl", "--force"]).run().status(0);
    assert_eq!(Manifest::read(&dir.path("tar.jsonl")).header["xattrs"], false);
    let run = dir.ftk(["manifest", "verify", "--tar", "t.tar", "t.jsonl"]).run().status(0);
    run.stderr_has("attributes were not recorded in the archive");
}

/// Members that recorded options skip are not new.
#[test]
fn recorded_options_hold_for_members() {
    needs!("tar");
    let dir = Dir::new();
    dir.file("t/a.c", b"1")
        .file("t/a.o", b"2")
        .file("t/d/b.c", b"3")
        .file("t/d/.h/x", b"4")
        .file("t/e/f/g", b"5");
    dir.file("list", b"/e/\n*.o\n!a.o\n").symlink("a.c", "t/link");
    tool(&dir, &["tar", "-cf", "t.tar", "-C", "t", "."]);
    for options in [
        &["-E", "*.o"][..],
        &["-E", "t/d/b.c", "-E", "e"],
        &["--exclude-from", "list"],
        &["--exclude-where", "path = d and type = d"],
        &["--where", "extension = c or type = d"],
        &["-t", "f"],
        &["-t", "d", "--max-depth", "1"],
        &["--min-depth", "2"],
        &["--no-hidden", "--name", "*"],
        &["--path", "t/d/*"],
        &["--regex", "[.]c$"],
    ] {
        dir.ftk(["manifest", "create", "t", "--force", "-o", "t.jsonl"]).args(options).run().status(0);
        let run = dir.ftk(["manifest", "verify", "--tar", "t.tar", "t.jsonl"]).run();
        run.check(run.code() == 0 && run.out.is_empty(), &format!("{options:?}"));
        run.stderr_has("the manifest was recorded with");
        // What they select is compared.
        dir.file("t/d/new.c", b"").file("t/d/.h/new", b"").file("t/new.d/new", b"");
        tool(&dir, &["tar", "-cf", "new.tar", "-C", "t", "."]);
        let of_archive = dir
            .ftk(["manifest", "verify", "--tar", "new.tar", "--ignore", "xattrs", "t.jsonl"])
            .run()
            .status(1);
        let of_tree = dir.ftk(["manifest", "verify", "t", "--ignore", "xattrs", "t.jsonl"]).run().status(1);
        assert_eq!(of_archive.text(), of_tree.text(), "{options:?}");
        fs::remove_dir_all(dir.path("t/new.d")).unwrap();
        fs::remove_file(dir.path("t/d/new.c")).unwrap();
        fs::remove_file(dir.path("t/d/.h/new")).unwrap();
    }
}
