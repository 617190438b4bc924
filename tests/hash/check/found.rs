//! A directory as PATH: the lists in it are found by their names, and each is checked where it is.

use std::collections::BTreeMap;

use crate::harness::{Dir, bytes, needs, sha256};

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

/// A film hash list below a directory is not passed over.
#[test]
fn film_lists_are_named_and_not_checked() {
    for (path, named) in
        [("a/card.mhl", "a/card.mhl"), ("a/.b/X.MHL", "a/.b/X.MHL"), ("a/c/ascmhl/0001_c.mhl", "a/c/ascmhl")]
    {
        let dir = archive();
        let checked = dir.ftk(["hash", "--check", "."]).run().status(0);
        dir.file(path, b"<hashlist/>");
        let run = dir.ftk(["hash", "--check", "."]).run().status(2).stdout(&checked.out);
        run.stderr_has(&format!("cannot check './{named}': it is a film hash list"));
    }
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
