//! `ftk hash --lines`: the digest of each line, as of a file with that content, in the order of the lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::harness::{Dir, bytes, has, needs, records, sha256, sum};

/// Returns lines of every kind: empty, of lengths around the blocks of the digests, long, and of any bytes.
fn lines() -> Vec<Vec<u8>> {
    let lens =
        (0..=20).chain(50..=70).chain(110..=130).chain([239, 240, 241, 1023, 1024, 1025, 5000, 70_000]);
    let mut lines: Vec<_> = lens.map(|len| bytes(len as u64, len)).collect();
    lines.extend([&b"with\rreturn\r"[..], b"", b"", b"a b\tc", b"\0\0"].map(<[u8]>::to_vec));
    for byte in lines.iter_mut().flatten().filter(|byte| **byte == b'\n') {
        *byte = b'x';
    }
    lines
}

/// Returns the digests that `tool` prints for files with these contents.
fn by_tool(lines: &[Vec<u8>], tool: &[&str]) -> Vec<u8> {
    let dir = Dir::new();
    for (nth, line) in lines.iter().enumerate() {
        dir.file(format!("{nth:06}"), line);
    }
    let list = sum(&dir, tool, &["."]);
    let mut digests = Vec::new();
    for record in records(&list, b'\n') {
        let record = String::from_utf8(record).unwrap();
        // xxhsum prints `XXH3 (name) = digest`, or `XXH3_digest  name`.
        let digest = match record.split_once(") = ") {
            Some((_, digest)) => digest,
            None => record.split(' ').next().unwrap().trim_start_matches("XXH3_"),
        };
        digests.extend_from_slice(digest.as_bytes());
        digests.push(b'\n');
    }
    assert_eq!(digests.iter().filter(|byte| **byte == b'\n').count(), lines.len());
    digests
}

#[test]
fn every_algorithm() {
    needs!("find", "xargs");
    let lines = lines();
    let mut input = lines.join(&b'\n');
    for (algorithm, tool) in [
        ("sha256", &["sha256sum", "--"][..]),
        ("sha1", &["sha1sum", "--"]),
        ("sha512", &["sha512sum", "--"]),
        ("md5", &["md5sum", "--"]),
        ("blake2b", &["b2sum", "--"]),
        ("blake3", &["b3sum", "--"]),
        ("xxh64", &["xxhsum", "-q", "-H1"]),
        ("xxh3", &["xxhsum", "-q", "-H3"]),
        ("xxh128", &["xxhsum", "-q", "-H2"]),
    ] {
        if !has(tool[0]) {
            continue;
        }
        let expected = by_tool(&lines, tool);
        let dir = Dir::new();
        // A newline after the last line makes no difference.
        dir.file("unended", &input);
        input.push(b'\n');
        dir.file("ended", &input);
        input.pop();
        for file in ["unended", "ended"] {
            dir.ftk(["hash", "--lines", "-a", algorithm, file]).run().status(0).stdout(&expected);
        }
    }
}

/// Returns the digests of lines, computed by the test harness.
fn expected(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.iter().flat_map(|line| format!("{}\n", sha256(line)).into_bytes()).collect()
}

/// Lines that end at, before and after each multiple of the block size, and lines longer than a block, among
/// short ones.
#[test]
fn blocks_do_not_change_the_digests() {
    const BLOCK: usize = 128 << 10;
    let mut lens =
        vec![BLOCK - 1, BLOCK - 2, 0, BLOCK, 5, BLOCK + 1, 2 * BLOCK, 0, 0, 3 * BLOCK - 7, 1 << 20];
    lens.extend((0..40_000).map(|nth| nth % 41));
    lens.extend([300 << 10, 262_143, 262_144, 262_145, 1]);
    let mut lines: Vec<_> = lens.into_iter().enumerate().map(|(nth, len)| bytes(nth as u64, len)).collect();
    for byte in lines.iter_mut().flatten().filter(|byte| **byte == b'\n') {
        *byte = b'x';
    }
    let expected = expected(&lines);
    let dir = Dir::new();
    let input = lines.join(&b'\n');
    dir.file("lines", &input);
    for threads in ["1", "2", "7"] {
        dir.ftk(["hash", "-j", threads, "--lines", "lines"]).run().status(0).stdout(&expected);
        dir.ftk(["hash", "-j", threads, "--lines", "-"]).stdin(&input).run().status(0).stdout(&expected);
    }
    dir.ftk(["hash", "--lines", "lines", "-o", "list"]).run().status(0).stdout("");
    assert_eq!(std::fs::read(dir.path("list")).unwrap(), expected);
}

#[test]
fn few_lines() {
    let dir = Dir::new();
    let empty = format!("{}\n", sha256(b""));
    let a = format!("{}\n", sha256(b"a"));
    for (input, expected) in [
        ("", String::new()),
        ("\n", empty.clone()),
        ("\n\n", format!("{empty}{empty}")),
        ("a", a.clone()),
        ("a\n", a.clone()),
        ("\na", format!("{empty}{a}")),
        ("a\r\n", format!("{}\n", sha256(b"a\r"))),
    ] {
        dir.file("few", input.as_bytes());
        dir.ftk(["hash", "--lines", "few"]).run().status(0).stdout(&expected);
        dir.ftk(["hash", "--lines"]).stdin(input.as_bytes()).run().status(0).stdout(expected).stderr("");
    }
}

#[test]
fn records_end_with_nul_and_so_do_their_digests() {
    let dir = Dir::new();
    let expected = format!("{}\0{}\0{}\0", sha256(b"a\nb"), sha256(b""), sha256(b"c\n"));
    dir.ftk(["hash", "--lines", "-z"]).stdin(b"a\nb\0\0c\n").run().status(0).stdout(expected);
}

#[test]
fn objects() {
    let dir = Dir::new();
    let md5 = |digest| format!("{{\"algorithm\":\"md5\",\"digest\":\"{digest}\"}}\n");
    let expected = md5("0cc175b9c0f1b6a831c399e269772661") + &md5("d41d8cd98f00b204e9800998ecf8427e");
    dir.ftk(["hash", "--lines", "-a", "md5", "--json"]).stdin(b"a\n\n").run().status(0).stdout(&expected);
    dir.ftk(["hash", "--lines", "-a", "md5", "--json", "-z"])
        .stdin(b"a\0\0")
        .run()
        .status(0)
        .stdout(expected);
}

/// The digest of a line is printed before the next line arrives.
#[test]
fn digests_do_not_wait_for_more_lines() {
    let dir = Dir::new();
    let mut child = dir.ftk(["hash", "--lines", "-"]).stdin_from(Stdio::piped()).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for line in ["one", "two", "", "three", "four", "five"] {
        writeln!(stdin, "{line}").unwrap();
        let mut digest = String::new();
        stdout.read_line(&mut digest).unwrap();
        assert_eq!(digest, format!("{}\n", sha256(line.as_bytes())));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn failed_reads_and_writes_are_errors() {
    let dir = Dir::new();
    dir.file("lines", &b"a line\n".repeat(100_000)).dir("dir");
    for (path, message) in [
        ("missing", "ftk: cannot open 'missing': no such file or directory\n"),
        ("dir", "ftk: cannot read 'dir': is a directory\n"),
    ] {
        dir.ftk(["hash", "--lines", path]).run().status(2).stdout("").stderr(message);
        dir.ftk(["hash", "--lines", path, "-o", "list"]).run().status(2).stderr(message);
        assert!(!dir.path("list").exists());
    }
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = dir.ftk(["hash", "--lines", "lines"]).stdout(full).run();
    run.status(2).stderr("ftk: cannot write to standard output: no space left on device\n");
    let run = dir.ftk(["hash", "--lines", "lines", "-o", "/dev/full"]).run();
    run.status(2).stderr("ftk: cannot write '/dev/full': no space left on device\n");
    let run = dir.ftk(["hash", "--lines", "lines", "-o", "lines"]).run();
    run.status(2).stderr("ftk: 'lines' is both input and output\n");
}

/// Only a part of a line is in memory, even if the line is larger than the memory limit.
#[test]
fn a_long_line_takes_little_memory() {
    let dir = Dir::new();
    dir.file("line", &b"x".repeat(64 << 20));
    for threads in ["mono", "2"] {
        let run = dir.ftk(["hash", "-q", "--lines", "-j", threads, "line"]).limit(&dir, "-d 32768").run();
        run.status(0).stdout(format!("{}\n", sha256(&b"x".repeat(64 << 20)))).stderr("");
    }
}

/// A reader that closes the pipe early is no error, even if much output remains.
#[test]
fn a_closed_pipe_is_success() {
    let dir = Dir::new();
    dir.file("lines", &b"a line\n".repeat(300_000));
    let head = ["bash", "-c", "set -o pipefail; \"$@\" | head -n 1", "bash"];
    let run = dir.ftk(["hash", "-q", "--lines", "lines"]).under(&dir, head).run();
    run.status(0).stdout(format!("{}\n", sha256(b"a line"))).stderr("");
}

#[test]
fn invalid_arguments_are_refused() {
    let dir = Dir::new();
    dir.file("a", b"a").file("b", b"b");
    for args in [&["a", "b"][..], &["-a", "md5,sha1", "a"], &["--tag", "a"], &["-e", "txt", "a"]] {
        let run = dir.ftk(["hash", "--lines"]).args(args).run().status(2).stdout("");
        run.check(!run.err.is_empty(), "a reason is given");
    }
}

#[test]
fn the_kernel_is_named() {
    let dir = Dir::new();
    let run =
        dir.ftk(["hash", "--lines", "-v"]).under(&dir, ["env", "FTK_SIMD=portable"]).stdin(b"a\n").run();
    run.status(0).stderr("ftk: plan    1 worker, sha256 portable; 1 block\n");
}
