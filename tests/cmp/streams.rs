//! Streams: FIFOs and devices given as arguments.

use std::fs::File;
use std::io::Write as _;
use std::thread;

use crate::harness::{Dir, bytes};

/// Two FIFOs with these contents compared.
fn fifos(a: &[u8], b: &[u8], args: &[&str]) -> crate::harness::Run {
    let dir = Dir::new();
    dir.fifo("a").fifo("b");
    thread::scope(|scope| {
        for (name, content) in [("a", a), ("b", b)] {
            let path = dir.path(name);
            scope.spawn(move || _ = File::options().write(true).open(path).unwrap().write_all(content));
        }
        dir.ftk(["cmp", "--special", "a", "b"]).args(args).run()
    })
}

#[test]
fn fifos_where_asked_for() {
    let content = bytes(1, 1_000_000);
    fifos(&content, &content, &[]).status(0).stdout("");
    let mut other = content.clone();
    other[700_000] ^= 0xff;
    let line = format!("700001 {:#04x} {:#04x}\n", content[700_000], other[700_000]);
    let run = fifos(&content, &other, &["-j", "4", "--method", "mapped"]).status(1);
    run.check(run.text().ends_with(&line) && run.text().lines().count() == 2, "the one byte");
    let run = fifos(&content[..10], &content, &[]).status(1).stdout("");
    run.stderr_has("ftk: EOF on a after byte 10, ");
    fifos(b"", b"", &[]).status(0);
    fifos(b"", b"x", &[]).status(1).stderr("ftk: EOF on a which is empty\n");
}

#[test]
fn skip_and_limit_of_a_stream() {
    let content = bytes(1, 300_000);
    let mut other = content.clone();
    other[200_000] ^= 0xff;
    fifos(&content, &other, &["--bytes", "200000"]).status(0);
    fifos(&content, &other, &["-i", "200001"]).status(0);
    fifos(&content, &content[5..], &["-i", "5:0"]).status(0);
    fifos(&content, b"abc", &["-i", "299999:9"]).status(1).stderr("ftk: EOF on b which is empty\n");
}

#[test]
fn devices_where_asked_for() {
    let dir = Dir::new();
    dir.hole("zeros", 3 << 20).file("x", b"\0\0x");
    let run = dir.ftk(["cmp", "--special", "/dev/zero", "zeros"]).run().status(1).stdout("");
    run.stderr_has("ftk: EOF on zeros after byte 3145728, in line 1\n");
    dir.ftk(["cmp", "--special", "/dev/zero", "zeros", "--bytes", "3M"]).run().status(0);
    let run = dir.ftk(["cmp", "--special", "x", "/dev/zero"]).run().status(1);
    run.stdout("x /dev/zero differ: byte 3, line 1\n3 0x78 0x00\n");
    dir.ftk(["cmp", "--special", "/dev/stdin", "x"]).stdin(b"\0\0x").run().status(0);
}

#[test]
fn standard_input_is_a_file() {
    let dir = Dir::new();
    dir.file("a", b"abcd").file("b", b"abXd");
    let from = || File::open(dir.path("a")).unwrap();
    dir.ftk(["cmp", "-l", "-", "b"]).stdin_from(from()).run().status(1).stdout("3 143 130\n");
    dir.ftk(["cmp", "a", "-"]).stdin_from(from()).run().status(0);
}
