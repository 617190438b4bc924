//! Names of every kind, in lists that other tools read.

use crate::harness::{Dir, needs, records, sum};

/// Returns names that have broken lists, scripts or sort orders: around the slash, with characters to escape,
/// not UTF-8, of maximum length.
fn hostile() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"a/b"[..],
        b"a-b",
        b"a.b",
        b"a b",
        b"a0",
        b"a\x01",
        b"a/b.c",
        b"a/b-",
        b"A",
        b"new\nline",
        b"\n",
        b"cr\r",
        b"\r\n",
        b"back\\slash",
        b"\\",
        b"\\n",
        b"end\\",
        b"tab\t",
        b"-dash",
        b"--",
        b"-",
        b"quo'te",
        b"dou\"ble",
        b"`id`",
        b"$(id)",
        b"*",
        b"[x]",
        b"{a,b}",
        b"~",
        b"#",
        b" lead",
        b"trail ",
        b"\x1b[31mred",
        b"\x7f",
        b"\xff",
        b"\xc3",
        b"caf\xc3\xa9",
        b"cafe\xcc\x81",
        b"\xe2\x80\xae.exe",
        b"...",
        b".hidden",
        b"..x",
        b"%s%n",
        b"a;b",
        b"a&b",
        b"x  y",
        b"* star",
        b"SHA256 (x) = 0",
        b"dir\n/f\\/x",
    ]
    .map(<[u8]>::to_vec)
    .into();
    names.push(vec![b'n'; 255]);
    names.push(vec![b'\n'; 255]);
    names.push([&[b'\xff'; 254][..], b"\\"].concat());
    names
}

pub(super) fn hostile_tree() -> Dir {
    let dir = Dir::new();
    for (nth, name) in hostile().iter().enumerate() {
        dir.raw_file(name, format!("content {nth}").as_bytes());
    }
    dir
}

#[test]
fn the_list_is_that_of_sha256sum_in_the_order_of_whole_paths() {
    needs!("find", "xargs", "sha256sum");
    let dir = hostile_tree();
    let expected = sum(&dir, &["sha256sum", "--"], &["."]);
    assert_eq!(records(&expected, b'\n').len(), hostile().len());
    dir.ftk(["hash", "."]).run().status(0).stdout(expected);
}

#[test]
fn sha256sum_accepts_it() {
    needs!("sha256sum");
    let dir = hostile_tree();
    let list = dir.aside("list");
    dir.ftk(["hash", "."]).arg("-o").arg(&list).run().status(0).stdout("");
    let mut check = std::process::Command::new("sha256sum");
    check.args(["-c", "--strict", "--status"]).arg(list).current_dir(dir.path(""));
    assert!(check.status().unwrap().success());
}

/// Passes the names as arguments, unsorted and without a directory.
#[test]
fn the_same_names_as_arguments() {
    needs!("sha256sum");
    let dir = hostile_tree();
    let mut names = hostile();
    names.retain(|name| name != b"-");
    names.sort();
    let args = |names: &[Vec<u8>]| -> Vec<std::ffi::OsString> {
        names.iter().map(|name| std::os::unix::ffi::OsStringExt::from_vec(name.clone())).collect()
    };
    let mut sha256sum = std::process::Command::new("sha256sum");
    let expected = sha256sum.arg("--").args(args(&names)).current_dir(dir.path("")).output().unwrap();
    assert!(expected.status.success());
    names.reverse();
    dir.ftk(["hash", "--"]).args(args(&names)).run().status(0).stdout(expected.stdout);
}

/// `-` is standard input; a file named `-` is reached as `./-`.
#[test]
fn a_file_named_like_standard_input() {
    let dir = Dir::new();
    dir.file("-", b"abc");
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    dir.ftk(["hash", "./-"]).run().status(0).stdout(format!("{abc}  ./-\n"));
    dir.ftk(["hash", "--", "-"]).run().status(0).stdout(format!("{empty}  -\n"));
}
