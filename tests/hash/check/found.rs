//! A directory as PATH: the lists in it are found by their names, and each is checked where it is.

use std::collections::BTreeMap;

use crate::harness::{Dir, bytes, needs, sha256};

/// The MD5 of `content`.
fn md5(content: &[u8]) -> String {
    let line = Dir::new().ftk(["hash", "-a", "md5"]).stdin(content).run().status(0).out;
    String::from_utf8(line[..32].to_vec()).unwrap()
}

/// A tree with lists in several directories.
fn archive() -> Dir {
    let dir = Dir::new();
    dir.file("a/x", b"1").file("a/SHA256SUMS", format!("{}  x\n", sha256(b"1")).as_bytes());
    dir.file("a/.b/y", b"2").file("a/.b/y.sha256", format!("{}  ./y\n", sha256(b"2")).as_bytes());
    dir.file("z.md5", b"d41d8cd98f00b204e9800998ecf8427e  a/empty\n").file("a/empty", b"");
    dir
}

#[test]
fn each_list_is_checked_where_it_is() {
    let dir = archive();
    let run = dir.ftk(["hash", "--check", "."]).run().status(0);
    run.stdout("./a/.b/y: OK\n./a/x: OK\n./a/empty: OK\n")
        .stderr_has("'./a/.b/y.sha256': 1 ok\n")
        .stderr_has("'./a/SHA256SUMS': 1 ok\n")
        .stderr_has("'./z.md5': 1 ok\n")
        .stderr_has("  3 ok, 2 B in ");
    let run = dir.ftk(["hash", "--check", "--quiet", "a", "z.md5"]).run().status(0);
    run.stdout("").stderr("");
    dir.file("a/x", b"3");
    let run = dir.ftk(["hash", "--check", "--json", "a"]).run().status(1);
    run.check(run.text().contains("{\"path\":\"a/x\",\"verdict\":\"failed\""), "the path leads to the file");
    let run = dir.ftk(["hash", "--check", "--status", "."]).run().status(1);
    run.stdout("").stderr("");
}

/// The length of a digest of BLAKE3 is that of SHA-256.
#[test]
fn the_name_of_a_list_says_the_algorithm() {
    let dir = Dir::new();
    dir.file("x", b"1");
    for (algorithm, list) in
        [("blake3", "x.b3"), ("sha3-256", "SHA3-256SUMS"), ("xxh3", "x.xxh3"), ("crc32c", "x.crc32c")]
    {
        let lines = dir.ftk(["hash", "-a", algorithm, "x"]).run().status(0).out;
        dir.file(list, &lines);
    }
    dir.ftk(["hash", "--check", "."]).run().status(0).stdout("./x: OK\n".repeat(4));
    // A wrong name does not matter, and an option has precedence.
    dir.file("y.md5", format!("{}  x\n", sha256(b"1")).as_bytes());
    dir.ftk(["hash", "--check", "."]).run().status(0).stdout("./x: OK\n".repeat(5));
    dir.ftk(["hash", "--check", "-a", "sha512", "."]).run().status(2);
}

#[test]
fn what_has_the_name_of_a_list_and_is_none_is_said() {
    let dir = Dir::new();
    dir.ftk(["hash", "--check", "."])
        .run()
        .status(2)
        .stderr_has("cannot check '.': no file has a name such as");
    dir.file("x", b"1").file("SHA256SUMS", format!("{}  x\n", sha256(b"1")).as_bytes());
    dir.dir("d.md5");
    let run = dir.ftk(["hash", "--check", "."]).run().status(0).stdout("./x: OK\n");
    run.stderr_has("'./d.md5' has the name of a list, and is a directory\n");
    // A link to a list that is checked anyway.
    dir.symlink("SHA256SUMS", "latest.sha256");
    dir.ftk(["hash", "--check", "."]).run().status(0).stdout("./x: OK\n");
    for (name, make, why) in [
        (
            "f.md5",
            (|dir, name| dir.fifo(name)) as for<'d> fn(&'d Dir, &str) -> &'d Dir,
            "cannot check './f.md5': it is a FIFO",
        ),
        ("s.sfv", |dir, name| dir.socket(name), "cannot check './s.sfv': it is a socket"),
        (
            "l.sha1",
            |dir, name| dir.symlink("../elsewhere", name),
            "cannot check './l.sha1': it is a symbolic link",
        ),
        (
            "t.md5",
            |dir, name| dir.file(name, b"words"),
            "'./t.md5': no properly formatted checksum lines found",
        ),
        ("e.md5", |dir, name| dir.file(name, b""), "'./e.md5': no properly formatted checksum lines found"),
    ] {
        make(&dir, name);
        dir.ftk(["hash", "--check", "."]).run().status(2).stdout("./x: OK\n").stderr_has(why);
        std::fs::remove_file(dir.path(name)).unwrap();
    }
}

/// Film hash lists are found among the others. Each is relative to its own place, and its paths do not leave it.
#[test]
fn film_lists_are_checked_where_they_are() {
    let dir = archive();
    let list = |path: &str, content: &[u8]| {
        let md5 = md5(content);
        format!("<hashlist version=\"1.1\"><hash><file>{path}</file><md5>{md5}</md5></hash></hashlist>")
            .into_bytes()
    };
    dir.file("c/Clips/m", b"one").file("c/card.mhl", &list("Clips/m", b"one"));
    dir.file("c/.e/n", b"two").file("c/.e/X.MHL", &list("n", b"two"));
    // What macOS writes for the metadata of a list.
    dir.file("c/._card.mhl", b"\0\x05\x16\x07");
    let sums = "./a/.b/y: OK\n./a/x: OK\n";
    let run = dir.ftk(["hash", "--check", "."]).run().status(0);
    run.stdout(format!("{sums}./c/.e/n: OK\n./c/Clips/m: OK\n./a/empty: OK\n"))
        .stderr_has("'./c/card.mhl': 1 ok\n")
        .stderr_has("  5 ok, 8 B in ");
    for (start, shown) in
        [("c", "c/"), ("c/", "c/"), (dir.path("c").to_str().unwrap(), dir.path("c/").to_str().unwrap())]
    {
        let run = dir.ftk(["hash", "--check", start]).run().status(0);
        run.stdout(format!("{shown}.e/n: OK\n{shown}Clips/m: OK\n"));
    }
    let two = dir.ftk(["hash", "--check", "c/Clips", "c/.e"]).run().status(2);
    two.stdout("c/.e/n: OK\n").stderr_has("cannot check 'c/Clips': no file has a name such as");
    dir.file("c/.e/n", b"2");
    dir.ftk(["hash", "--check", "-q", "a", "c"]).run().status(1).stdout("c/.e/n: FAILED (MD5)\n");
    dir.file("c/.e/n", b"two");
    // Nothing of the card leads out of it, also where a link of the tree would lead to the same file.
    dir.symlink("../c/Clips", "a/link");
    let absolute = dir.path("c/Clips/m").to_str().unwrap().to_owned();
    for (path, shown, why) in [
        ("../c/Clips/m", "./a/../c/Clips/m", "leads out of"),
        ("link/m", "./a/link/m", "which a film hash list does not follow"),
        (&*absolute, &*absolute, "leads out of"),
    ] {
        dir.file("a/z.mhl", &list(path, b"one"));
        let run = dir.ftk(["hash", "--check", "-q", "."]).run().status(2);
        run.stdout(format!("{shown}: FAILED open or read\n")).stderr_has(why);
    }
    std::fs::remove_file(dir.path("a/z.mhl")).unwrap();
    // The others are checked nevertheless.
    dir.file("c/.e/X.MHL", b"<hashlist/>");
    let run = dir.ftk(["hash", "--check", "."]).run().status(2).stderr_has("'./c/.e/X.MHL'");
    run.stdout(format!("{sums}./c/Clips/m: OK\n./a/empty: OK\n"));
    dir.symlink("../card.mhl", "c/.e/latest.mhl").file("c/.e/X.MHL", &list("n", b"two"));
    dir.ftk(["hash", "--check", "."]).run().status(0);
    dir.fifo("c/f.mhl");
    dir.ftk(["hash", "--check", "."]).run().status(2).stderr_has("cannot check './c/f.mhl': it is a FIFO");
}

/// A history below another one is a part of it, whether the outer one records it or not. So each file is checked once.
#[test]
fn histories_are_checked_where_they_are() {
    needs!("ascmhl");
    let dir = archive();
    let create = |at: &str| {
        _ = dir.ftk([] as [&str; 0]).instead(&dir, ["ascmhl", "create", "-h", "xxh128", at]).run().status(0)
    };
    dir.file("c/A/Clips/m", b"1").file("c/A/Clips/in/n", b"2").file("c/A/o", b"3").file("c/B/p", b"4");
    // Its name sorts between that of the outer history and what is in it.
    dir.file("c/A-/q", b"5");
    create("c/A/Clips");
    create("c/A");
    create("c/A-");
    create("c/B");
    create("c/A/Clips/in");
    let verdicts = |status| -> (BTreeMap<String, String>, Vec<String>) {
        let run = dir.ftk(["hash", "--check", "c"]).run().status(status);
        let verdicts = run.text().lines().map(|line| line.rsplit_once(": ").unwrap());
        let verdicts: Vec<_> =
            verdicts.map(|(path, verdict)| (path.to_owned(), verdict.to_owned())).collect();
        let map: BTreeMap<_, _> = verdicts.iter().cloned().collect();
        run.check(map.len() == verdicts.len(), "each path has one verdict");
        let lists =
            run.err.lines().filter(|line| line.contains("ascmhl': ")).map(|line| line.trim().to_owned());
        (map, lists.collect())
    };
    let files = ["A/Clips/in/n", "A/Clips/m", "A/o", "A-/q", "B/p"];
    let (all, lists) = verdicts(0);
    assert_eq!(lists, ["'c/A-/ascmhl': 2 ok", "'c/A/ascmhl': 7 ok", "'c/B/ascmhl': 2 ok"]);
    for file in files {
        assert_eq!(all[&format!("c/{file}")], "OK");
    }
    let generations: Vec<_> = all.keys().filter(|path| path.ends_with(".mhl")).collect();
    // `ascmhl` adds a generation to the inner history, too.
    assert_eq!((generations.len(), all.len()), (6, 11));
    // Each is found wrong, by its path, and nothing else.
    for file in files.map(|file| format!("c/{file}")).iter().chain(generations.iter().copied()) {
        let before = std::fs::read(dir.path(file)).unwrap();
        dir.file(file, &[&*before, b" "].concat());
        // A history whose only generation was edited has no digest that counts.
        let is_only = ["c/A-/ascmhl", "c/B/ascmhl"].iter().any(|dir| file.starts_with(dir));
        let (edited, _) = verdicts(if is_only { 2 } else { 1 });
        let failed: Vec<_> =
            edited.iter().filter(|(_, verdict)| *verdict != "OK").map(|(path, _)| path).collect();
        assert_eq!(failed, [file]);
        dir.file(file, &before);
    }
    // With a list of another kind in it, and after the outer history has recorded the inner one.
    create("c/A");
    let md5 = md5(b"3");
    dir.file("c/A/SUMS.md5", format!("{md5}  o\n").as_bytes());
    let run = dir.ftk(["hash", "--check", "c/A/Clips", "c/B"]).run().status(2);
    run.stdout("").stderr_has("are in another directory than those of the other lists");
    let run = dir.ftk(["hash", "--check", "c"]).run().status(0);
    assert_eq!(run.text().matches("c/A/o: OK\n").count(), 2);
    run.stderr_has("'c/A/SUMS.md5': 1 ok\n");
    // A broken history does not stop the others.
    std::fs::remove_file(dir.path("c/B/ascmhl/ascmhl_chain.xml")).unwrap();
    let run = dir.ftk(["hash", "--check", "-q", "c"]).run().status(2).stdout("");
    run.stderr_has("'c/B/ascmhl': cannot read 'ascmhl/ascmhl_chain.xml'");
    std::fs::remove_dir_all(dir.path("c/B/ascmhl")).unwrap();
    dir.file("c/B/ascmhl", b"");
    let run = dir.ftk(["hash", "--check", "-q", "c"]).run().status(2).stdout("");
    run.stderr_has("cannot check 'c/B/ascmhl': it is a regular file");
    std::fs::remove_file(dir.path("c/B/ascmhl")).unwrap();
    dir.symlink("../A/ascmhl", "c/B/ascmhl");
    dir.ftk(["hash", "--check", "-q", "c"]).run().status(0).stdout("").stderr("");
}

#[test]
fn an_unreadable_list_is_an_error() {
    let dir = archive();
    std::fs::set_permissions(dir.path("a/SHA256SUMS"), std::os::unix::fs::PermissionsExt::from_mode(0o0))
        .unwrap();
    let run = dir.ftk(["hash", "--check", "."]).unprivileged(&dir).run().status(2);
    run.stdout("./a/.b/y: OK\n./a/empty: OK\n").stderr_has("cannot open './a/SHA256SUMS'");
}

#[test]
fn other_modes_treat_a_directory_as_before() {
    let dir = archive();
    let run = dir.ftk(["hash", "--check", "--root", "a", "a"]).run().status(2).stdout("");
    run.stderr_has("'a' is a directory, and no list");
    dir.ftk(["hash", "--check", "--new", "a"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("--new compares one tree");
    dir.ftk(["hash", "--check", "--bag", "a"]).run().status(2).stdout("").stderr_has("cannot be used with");
    dir.ftk(["hash", "--check", "-E", "a", "."])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("--exclude needs --new");
    let run = dir.ftk(["hash", "--check", "--only", "y", "--only", "no", "."]).run().status(1);
    run.stdout("./a/.b/y: OK\nno: NOT LISTED\n");
}

/// A manifest of BagIt is a list only in a bag.
#[test]
fn the_manifests_of_bags_are_lists() {
    let dir = Dir::new();
    dir.file("bag/data/x y", b"1").file("bag/bagit.txt", b"BagIt-Version: 1.0\n");
    dir.file("bag/manifest-sha256.txt", format!("{}  data/x y\n", sha256(b"1")).as_bytes());
    dir.file("manifest-sha256.txt", b"something else");
    dir.ftk(["hash", "--check", "."]).run().status(0).stdout("./bag/data/x y: OK\n");
}

/// Random trees: the verdicts are those of a model, and the status is that of rhash.
#[test]
fn verdicts_are_those_of_rhash() {
    needs!("rhash");
    for seed in 0..12 {
        let dir = Dir::new();
        let random = bytes(seed, 400);
        let mut random = random.iter().copied();
        let mut next = |n: u8| random.next().unwrap() % n;
        let (mut model, mut is_good) = (BTreeMap::new(), true);
        for place in ["", "a/", "a/b/", "a/.c/", "d/", "d/e f/"] {
            if next(3) == 0 {
                continue;
            }
            let (name, algorithm) = [
                ("SUMS.md5", "md5"),
                ("x.sha256", "sha256"),
                ("x.sha1", "sha1"),
                ("x.sha512", "sha512"),
                ("x.sfv", ""),
            ][usize::from(next(5))];
            let (mut lines, mut verdicts) = (Vec::new(), String::new());
            for file in 0..1 + next(3) {
                let path = format!("t/{place}f{file}");
                dir.file(&path, &[next(4)]);
                let root = format!("t/{place}");
                let root = if place.is_empty() { "t" } else { root.trim_end_matches('/') };
                let args = if algorithm.is_empty() { vec!["--sfv"] } else { vec!["-a", algorithm] };
                lines.extend(dir.ftk(["hash", "--root", root, &*path]).args(args).run().status(0).out);
                let verdict = match next(4) {
                    0 => {
                        dir.file(&path, b"other");
                        "FAILED"
                    }
                    1 if next(2) == 0 => {
                        std::fs::remove_file(dir.path(&path)).unwrap();
                        "FAILED open or read"
                    }
                    _ => "OK",
                };
                is_good &= verdict == "OK";
                verdicts += &format!("{path}: {verdict}\n");
            }
            dir.file(format!("t/{place}{name}"), &lines);
            model.insert(format!("t/{place}{name}"), verdicts);
        }
        if model.is_empty() {
            continue;
        }
        let expected: String = model.into_values().collect();
        let run = dir.ftk(["hash", "--check", "t"]).run().status(i32::from(!is_good));
        // With several algorithms, a difference has the one of its list.
        let shown: String =
            run.text().lines().map(|line| format!("{}\n", line.split(" (").next().unwrap())).collect();
        run.check(shown == expected, &format!("expected:\n{expected}"));
        let accept = "--crc-accept=.md5,.sha256,.sha1,.sha512,.sfv";
        let theirs = dir.ftk(["--version"]).instead(&dir, ["rhash", "-rc", "t", accept]).run();
        theirs.check((theirs.code() == 0) == is_good, "rhash agrees");
    }
}
