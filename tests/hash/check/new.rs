//! `--new`: files of the tree that are in no list.

use crate::harness::{Dir, needs, sha256};

#[test]
fn unlisted_files_are_reported() {
    let dir = Dir::new();
    dir.file("d/x", b"1").file("y", b"2");
    let list = dir.ftk(["hash", "."]).run().out;
    dir.ftk(["hash", "-c", "--new", "-q"]).stdin(&list).run().status(0).stdout("");
    dir.file("d/z", b"3").raw_file(b"d/new\nline", b"").file(".hidden", b"");
    // Without --new they are not reported.
    dir.ftk(["hash", "-c", "-q"]).stdin(&list).run().status(0).stdout("");
    let run = dir.ftk(["hash", "-c", "--new", "-q"]).stdin(&list).run().status(1);
    run.stdout("./.hidden: NEW\n\\./d/new\\nline: NEW\n./d/z: NEW\n")
        .stderr("ftk: WARNING: 3 files are not in any list\n");
    let run = dir.ftk(["hash", "-c", "--new", "--json", "-q", "-E", "new*"]).stdin(&list).run().status(1);
    run.stdout("{\"path\":\"./.hidden\",\"verdict\":\"new\"}\n{\"path\":\"./d/z\",\"verdict\":\"new\"}\n");
    dir.ftk(["hash", "-c", "--new", "--status"]).stdin(&list).run().status(1).stdout("").stderr("");
}

#[test]
fn new_files_are_searched_below_root() {
    let dir = Dir::new();
    dir.file("d/x", b"1").file("d/e/y", b"2").file("outside", b"3");
    let list = format!("{}  x\n", sha256(b"1"));
    for root in ["d", "d/", "./d//"] {
        let run = dir.ftk(["hash", "-c", "--new", "--root", root]).stdin(list.as_bytes()).run().status(1);
        run.stdout("x: OK\ne/y: NEW\n").stderr_has("  1 ok, 1 new, ");
    }
}

/// Different spellings of a path in a list refer to the same file.
#[test]
fn spellings_of_a_path() {
    let dir = Dir::new();
    dir.file("d/x", b"1").file("d/y", b"1").file("z", b"1");
    let z = dir.path("z");
    for names in [["d/x", "d/y", "z"], ["./d//x", "d/../d/y", z.to_str().unwrap()], ["z", "d/y", "././d/x"]] {
        let list: String = names.iter().map(|name| format!("{}  {name}\n", sha256(b"1"))).collect();
        dir.ftk(["hash", "-c", "--new", "-q"]).stdin(list.as_bytes()).run().status(0).stdout("");
    }
}

#[test]
fn the_list_itself_and_the_verdicts_are_not_new() {
    let dir = Dir::new();
    dir.file("x", b"1");
    dir.file("SUMS", format!("{}  x\n", sha256(b"1")).as_bytes());
    let run = dir.ftk(["hash", "-c", "--new", "SUMS"]).run().status(0).stdout("x: OK\n");
    run.stderr_lacks("new");
    dir.ftk(["hash", "-c", "--new", "SUMS", "-o", "verdicts"]).run().status(0);
    let out = std::fs::File::create(dir.path("out")).unwrap();
    let run = dir.ftk(["hash", "-c", "--new", "SUMS"]).stdout(out).run().status(1);
    run.stderr_has("skipped: 1 own output file").stderr_has(" 1 new");
    assert_eq!(std::fs::read(dir.path("out")).unwrap(), b"x: OK\nverdicts: NEW\n");
}

/// The new files are those of GNU find that are not in the list.
#[test]
fn new_files_are_those_of_find_without_the_list() {
    needs!("find");
    let dir = Dir::new();
    for nth in 0..300 {
        dir.file(format!("d{}/e{}/f{nth}", nth % 5, nth % 3), b"1");
    }
    let names = crate::harness::gnu_find(&dir, &[".", "-type", "f"]);
    let line = |name: &Vec<u8>| format!("{}  {}\n", sha256(b"1"), str::from_utf8(name).unwrap());
    let list: String = names.iter().step_by(3).map(line).collect();
    let run = dir.ftk(["hash", "-c", "--new", "-q"]).stdin(list.as_bytes()).run().status(1);
    let is_new = |(nth, _): &(usize, &Vec<u8>)| nth % 3 != 0;
    let expected = names.iter().enumerate().filter(is_new).map(|(_, name)| [name, &b": NEW\n"[..]].concat());
    run.stdout(expected.collect::<Vec<_>>().concat());
}
