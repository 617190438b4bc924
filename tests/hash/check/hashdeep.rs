//! Lists of hashdeep.

use std::fs;

use serde_json::Value;

use crate::harness::{Dir, needs, records};

const HEADER: &str = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,filename\n## comment\n";

/// MD5 and SHA-1 of `abc`.
const ABC: &str = "900150983cd24fb0d6963f7d28e17f72,a9993e364706816aba3e25717850c26c9cd0d89d";

fn check(dir: &Dir, lines: &str) -> crate::harness::Ftk {
    dir.ftk(["hash", "--check"]).stdin(format!("{HEADER}{lines}").as_bytes())
}

#[test]
fn lists_of_hashdeep_are_read() {
    needs!("hashdeep");
    let dir = Dir::new();
    let names = ["a", "d/b c", "d/with,comma", " lead", "caf\u{e9}", "back\\slash", "#", "%%%% x", "\"q\""];
    for name in names {
        dir.file(format!("t/{name}"), name.as_bytes());
    }
    dir.raw_file(b"t/\xff", b"");
    for algorithms in ["md5", "md5,sha1,sha256", "sha256,tiger,whirlpool"] {
        let list =
            dir.ftk(["x"]).instead(&dir, ["hashdeep", "-l", "-r", "-c", algorithms, "t"]).run().status(0).out;
        let run = dir.ftk(["hash", "--check", "--strict"]).stdin(&list).run().status(0);
        run.check(records(&run.out, b'\n').len() == names.len() + 1, "every file is checked");
        let known = algorithms.split(',').filter(|it| !["tiger", "whirlpool"].contains(it)).count();
        run.check(run.err.matches(" + ").count() + 1 == known, "every known algorithm is checked");
    }
    let list = dir.ftk(["x"]).instead(&dir, ["hashdeep", "-l", "-r", "t"]).run().status(0).out;
    dir.file("t/a", b"changed");
    fs::remove_file(dir.path("t/#")).unwrap();
    let run = dir.ftk(["hash", "--check", "-q"]).stdin(&list).run().status(1);
    let mut lines = records(&run.out, b'\n');
    lines.sort();
    assert_eq!(lines, [&b"t/#: FAILED open or read"[..], b"t/a: FAILED"]);
}

/// Each file has one verdict, whatever the number of its digests.
#[test]
fn all_columns_must_match() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    check(&dir, &format!("3,{ABC},a\n")).run().status(0).stdout("a: OK\n").stderr_has("   sha1 + md5");
    for nth in 0..2 {
        let wrong: Vec<_> = ABC
            .split(',')
            .enumerate()
            .map(|(it, hex)| if it == nth { hex.replace('9', "8") } else { hex.into() })
            .collect();
        let line = format!("3,{},a\n", wrong.join(","));
        check(&dir, &line).run().status(1).stdout("a: FAILED\n");
        let run = check(&dir, &line).arg("--json").run().status(1);
        let record: Value = serde_json::from_str(run.text()).unwrap();
        assert_eq!(record["algorithm"], ["md5", "sha1"][nth]);
        assert_eq!(
            (&record["expected"], &record["found"]),
            (&wrong[nth].as_str().into(), &ABC.split(',').nth(nth).unwrap().into())
        );
    }
}

#[test]
fn the_size_must_match() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    let run = check(&dir, &format!("4,{ABC},a\n3,{ABC},a\n")).run().status(1).stdout("a: FAILED\na: OK\n");
    run.stderr_has("ftk: cannot verify 'a': its size is 3, but the list says 4\n");
    let run = check(&dir, &format!("4,{ABC},a\n")).arg("--json").run().status(1);
    let record: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(record["error"], "its size is 3, but the list says 4");
}

#[test]
fn lines_and_lists_that_cannot_be_checked_are_errors() {
    let dir = Dir::new();
    dir.file("a", b"abc");
    for (line, said) in [
        ("3,00,00,a", "line 4: cannot check 'a': the digest has 2 digits, expected 32 for MD5"),
        ("3,00,a", "line 4: cannot check it: fewer columns than in the header"),
        ("3,0g,00,a", "line 4: cannot check it: a digest is not made of pairs of hexadecimal digits"),
        ("%%%% HASHDEEP-1.0", "line 4: cannot check it: a second header"),
    ] {
        check(&dir, &format!("{line}\n3,{ABC},a\n")).run().status(2).stdout("a: OK\n").stderr_has(said);
    }
    // The second part of a name with a newline, which hashdeep writes as it is.
    let list = format!("3,{ABC},a\nb\n");
    check(&dir, &list).run().status(0).stderr_has("WARNING: 1 line is improperly formatted");
    check(&dir, &list).arg("--strict").run().status(2);
    for (list, said) in [
        ("%%%% HASHDEEP-1.0\n", "line 2: cannot check it: the first two lines are not a header of hashdeep"),
        ("%%%% HASHDEEP-1.0\n%%%% size,tiger,filename\n1,00,a\n", "unsupported algorithm tiger"),
    ] {
        dir.ftk(["hash", "--check"]).stdin(list.as_bytes()).run().status(2).stdout("").stderr_has(said);
    }
}

#[test]
fn root_and_new_apply_to_lists_of_hashdeep() {
    let dir = Dir::new();
    dir.file("d/a", b"abc").file("d/b", b"").file("secret", b"abc");
    let run = check(&dir, &format!("3,{ABC},a\n3,{ABC},../secret\n"))
        .args(["--root", "d", "--new"])
        .run()
        .status(2);
    run.stdout("a: OK\n../secret: FAILED open or read\nb: NEW\n");
}
