//! Line formats of other tools, and edited lines.

use std::fs;

use data_encoding::{BASE64, HEXLOWER};

use crate::harness::{Dir, needs, sha256};

/// Each format with the result of the coreutils.
#[test]
fn formats_that_the_coreutils_read() {
    needs!("sha256sum");
    let dir = Dir::new();
    for name in ["x", " x", "*x", "(x)", "(x) = 00", "tab\tx", "x)"] {
        dir.file(name, b"1");
    }
    let (d, upper) = (sha256(b"1"), sha256(b"1").to_uppercase());
    for (list, shown) in [
        (format!("{d} x\n"), "x: OK\n"),
        (format!("{d}\tx\n"), "x: OK\n"),
        (format!("{upper} x\n"), "x: OK\n"),
        (format!("{d} (x)\n"), "(x): OK\n"),
        // If the first line has one space, another space or star is part of the name.
        (format!("{d} x\n{d}  x\n{d} *x\n{d}\t x\n"), "x: OK\n x: OK\n*x: OK\n x: OK\n"),
        (format!("SHA256 (x) = {d}\n{d} x\n{d}  x\n"), "x: OK\nx: OK\n x: OK\n"),
        (format!("# comment\n\n{d} x\n"), "x: OK\n"),
        // With two characters it is not.
        (format!("{d}  x\n{d} *x\n{d}   x\n{d}  *x\n"), "x: OK\nx: OK\n x: OK\n*x: OK\n"),
        (format!("{d} *x\n{d}  x\n"), "x: OK\nx: OK\n"),
        (format!("{d}  (x) = 00\n"), "(x) = 00: OK\n"),
        (format!("SHA256(x) = {d}\n"), "x: OK\n"),
        (format!("SHA256(x)= {d}\n"), "x: OK\n"),
        (format!("SHA256 (x)= {d}\n"), "x: OK\n"),
        (format!("SHA256 (x)={d}\n"), "x: OK\n"),
        (format!("SHA256 (x) \t=\t {d}\n"), "x: OK\n"),
        (format!("SHA256 ((x) = 00) = {d}\n"), "(x) = 00: OK\n"),
        (format!("SHA256 (x)) = {d}\n"), "x): OK\n"),
        (format!("{d}  tab\tx\n"), "tab\tx: OK\n"),
        (format!("{d} x\r\n{d} x\r\n"), "x: OK\nx: OK\n"),
        (format!("{d}  x\r\n\r\n{d} *x\r\n# comment\r\nSHA256 (x) = {d}\r\n"), "x: OK\nx: OK\nx: OK\n"),
        (format!("{d}  x\r\n{d}  x"), "x: OK\nx: OK\n"),
    ] {
        dir.file("list", list.as_bytes());
        let theirs = dir.ftk(["--version"]).instead(&dir, ["sha256sum", "-c", "list"]).run().status(0);
        theirs.stdout(shown);
        let run = dir.ftk(["hash", "-c", "list"]).run().status(0).stdout(shown);
        run.stderr_lacks(if list.ends_with('\n') { "ftk: " } else { "improperly" });
    }
}

/// Formats that the coreutils do not read, or read in another way.
#[test]
fn formats_of_other_tools() {
    let dir = Dir::new();
    dir.file("x", b"1").file(" x", b"1").file("*x", b"1");
    let d = sha256(b"1");
    let blake3 = String::from_utf8(dir.ftk(["hash", "-a", "blake3", "x"]).run().out[..64].to_vec()).unwrap();
    for (list, shown) in [
        (format!("BLAKE3-256 (x) = {blake3}\n"), "x: OK\n"),
        (format!("BLAKE3 (x) = {blake3}\nSHA2-256(x)= {d}\n"), "x: OK\nx: OK\n"),
        (format!("{d}\t x\n{d}\t*x\n"), " x: OK\n*x: OK\n"),
        ("MD5(x) = c4ca4238a0b923820dcc509a6f75849b\n".to_owned(), "x: OK\n"),
    ] {
        let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(0).stdout(shown);
        run.stderr_lacks("ftk: ");
    }
}

/// If all lines end with carriage returns, these are not part of the names, and a message says so; otherwise
/// it is an error.
#[test]
fn dos_line_ends() {
    let dir = Dir::new();
    dir.file("x", b"1").file("x\r", b"2");
    let (x, xr) = (sha256(b"1"), sha256(b"2"));
    let note = "has DOS line ends: carriage returns at line ends are not part of the names\n";
    let check = |list: String, args: &[&str]| dir.ftk(["hash", "-c"]).args(args).stdin(list.as_bytes()).run();
    check(format!("{x}  x\r\n"), &[]).status(0).stdout("x: OK\n").stderr_has(note);
    check(format!("{x}  x\r\n"), &["-q"]).status(0).stdout("").stderr("");
    check(format!("{x}  x\r\n"), &["--status"]).status(0).stdout("").stderr("");
    check(format!("{xr}  x\r\n"), &[]).status(1).stdout("x: FAILED\n").stderr_has(note);
    // Only some lines end with one.
    let run = check(format!("{x}  x\r\n{x}  x\n{x}  x\r\n"), &[]).status(2);
    run.stderr_has(
        "cannot read '-': line 2 ends without the carriage return that the lines before it have\n",
    );
    let run = check(format!("{x}  x\n{xr}  x\r\n"), &[]).status(2).stdout("x: OK\n");
    run.stderr_has("line 2: cannot check it: carriage return at the end").stderr_lacks(note);
    // Names that end with a carriage return, in formats that preserve it.
    check(format!("\\{xr}  x\\r\n"), &[]).status(0).stdout("x\r: OK\n").stderr_lacks(note);
    check(format!("SHA256 (x\r) = {xr}\n"), &[]).status(0).stdout("x\r: OK\n").stderr_lacks(note);
    check(format!("SHA256 (x\r) = {xr}\r\n"), &[]).status(0).stdout("x\r: OK\n").stderr_has(note);
    check(format!("{xr}  x\r\0"), &["-z"]).status(0).stdout("x\r: OK\0").stderr_lacks(note);
    let list = dir.ftk(["hash", "x\r"]).run().out;
    check(String::from_utf8(list).unwrap(), &[]).status(0).stdout("x\r: OK\n").stderr_lacks(note);
}

/// Names that begin with a space, a star or a tab are preserved by each format of ftk.
#[test]
fn names_that_begin_like_separators_are_preserved() {
    let dir = Dir::new();
    for name in [" a", "*a", "\ta", "  a", " *a", "(a) = 00", " (a)", "a\r"] {
        dir.file(name, name.as_bytes());
    }
    for flags in [&[][..], &["--tag"], &["-z"], &["-z", "--tag"]] {
        let list = dir.ftk(["hash"]).args(flags).arg(".").run().status(0).out;
        fs::write(dir.aside("list"), &list).unwrap();
        let end: &[&str] = if flags.contains(&"-z") { &["-z"] } else { &[] };
        let run = dir.ftk(["hash", "-c", "--strict", "--new", "../list"]).args(end).run().status(0);
        run.stderr_lacks("DOS").stderr_has("  8 ok, ");
    }
}

/// What `cksum --base64` of coreutils 9.2 and later prints.
#[test]
fn digests_in_base64_are_read() {
    let dir = Dir::new();
    dir.file("f", b"").file("abc", b"abc");
    let list =
        "SHA256 (f) = 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nMD5 (f) = 1B2M2Y8AsgTpgAmY7PhCfg==\n";
    dir.ftk(["hash", "-c", "--strict"]).stdin(list.as_bytes()).run().status(0).stdout("f: OK\nf: OK\n");
    let untagged = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=  f\n";
    let run =
        dir.ftk(["hash", "-c", "--strict"]).stdin(untagged.as_bytes()).run().status(0).stdout("f: OK\n");
    run.stderr_has("   sha256\n").stderr_lacks("assumed");
    dir.ftk(["hash", "-c", "-a", "blake3"]).stdin(untagged.as_bytes()).run().status(1).stdout("f: FAILED\n");
    let mut algorithms = 0;
    let tagged = dir.ftk(["hash", "abc", "-a", "sha1,sha224,sha256,sha384,sha512,md5,blake2b,blake3"]);
    let tagged = tagged.args(["-a", "sha3-256,sha3-512,xxh64,xxh3,xxh128,crc32,crc32c"]).run().status(0);
    for line in tagged.text().lines() {
        let (start, hex) = line.rsplit_once(' ').unwrap();
        let base64 = BASE64.encode(&HEXLOWER.decode(hex.as_bytes()).unwrap());
        let list = format!("{start} {base64}\n");
        let run =
            dir.ftk(["hash", "-c", "--strict"]).stdin(list.as_bytes()).run().status(0).stdout("abc: OK\n");
        run.stderr_has("1 ok");
        dir.file("other", b"abd");
        let list = list.replace("(abc)", "(other)");
        dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(1).stdout("other: FAILED\n");
        algorithms += 1;
    }
    assert_eq!(algorithms, 15);
    let run = dir.ftk(["hash", "-c"]).stdin(b"SHA1 (f) = 1B2M2Y8AsgTpgAmY7PhCfg==\n").run().status(2);
    run.stderr_has("cannot check 'f': the digest has 16 bytes in base64, expected 20 for SHA1\n");
}

/// With one bad digit, 64 of them could be the base64 of a SHA-384. No file is said to be damaged: the list is.
#[test]
fn a_damaged_digit_is_not_a_damaged_file() {
    let dir = Dir::new();
    dir.file("f", b"abc").file("g", b"");
    for algorithm in ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake3", "blake2b"] {
        let list = dir.ftk(["hash", "-a", algorithm, "f", "g"]).run().status(0).text().to_owned();
        let digits = list.find(' ').unwrap();
        for (at, by) in
            [(0, 'x'), (0, 'Z'), (1, '+'), (digits / 2, 'g'), (digits - 1, '/'), (digits / 2, '?'), (3, ' ')]
        {
            let mut damaged = list.clone();
            damaged.replace_range(at..=at, by.encode_utf8(&mut [0; 4]));
            for line in [damaged.clone(), damaged.replace("  ", " ")] {
                let run = dir.ftk(["hash", "-c", "-a", algorithm]).stdin(line.as_bytes()).run();
                run.check(run.code() != 0 || by == ' ', "the line is not ignored");
                run.stdout_lacks("FAILED").stderr_lacks("did NOT match");
            }
            if by != ' ' {
                let run = dir.ftk(["hash", "-c", "-a", algorithm]).stdin(damaged.as_bytes()).run();
                let run = run.status(2).stdout("g: OK\n");
                let why =
                    "line 1: cannot check it: some characters of the digest are not hexadecimal digits\n";
                run.stderr_has(why).stderr_lacks("did NOT match");
            }
        }
    }
    // Real digests in base64 are those of files, with and without -a.
    let list = dir.ftk(["hash", "-a", "sha384", "--base64", "f", "g"]).run().status(0).text().to_owned();
    for args in [&[][..], &["-a", "sha384"]] {
        dir.ftk(["hash", "-c"]).args(args).stdin(list.as_bytes()).run().status(0).stdout("f: OK\ng: OK\n");
    }
}

/// As when ftk finds the lists in a directory.
#[test]
fn the_name_of_a_list_says_its_algorithm() {
    needs!("b2sum");
    let dir = Dir::new();
    dir.file("f", b"abc");
    for (algorithm, list) in
        [("blake2b", "B2SUMS"), ("blake3", "f.b3"), ("sha3-256", "SHA3-256SUMS.txt"), ("sha512", "S")]
    {
        dir.ftk(["hash", "-a", algorithm, "f", "-o", list]).run().status(0);
        let run = dir.ftk(["hash", "-c", list]).run().status(0).stdout("f: OK\n");
        run.stderr_has(&format!("   {algorithm}\n"));
        dir.ftk(["hash", "--diff", list, list]).run().status(0);
    }
    let list = dir.ftk([""; 0]).instead(&dir, ["b2sum", "f"]).run().status(0);
    assert_eq!(list.text(), std::fs::read_to_string(dir.path("B2SUMS")).unwrap());
    // A wrong name, and -a, which decides.
    dir.ftk(["hash", "-a", "sha512", "f", "-o", "WRONG.md5"]).run().status(0);
    dir.ftk(["hash", "-c", "WRONG.md5"]).run().status(0).stdout("f: OK\n");
    dir.ftk(["hash", "-c", "-a", "sha512", "B2SUMS"]).run().status(1).stdout("f: FAILED\n");
}

/// The name says BLAKE2b and the length SHA-256. Neither a match nor a failure is left without this word.
#[test]
fn shorter_digests_of_b2sum_are_named() {
    needs!("b2sum");
    let dir = Dir::new();
    dir.file("f", b"abc").file("SHA256SUMS", format!("{}  f\n", sha256(b"abc")).as_bytes());
    let list = dir.ftk([""; 0]).instead(&dir, ["b2sum", "-l", "256", "f"]).run().status(0);
    dir.file("B2SUMS", &list.out).file("b2sums.txt", format!("{}  f\n", sha256(b"abc")).as_bytes());
    let named = "its name says blake2b, but digests have the length of sha256 and are read as such: ftk cannot compute those \
                 of `b2sum --length`\n";
    let run = dir.ftk(["hash", "-c", "B2SUMS"]).run().status(1).stdout("f: FAILED\n");
    run.stderr_has(&format!("ftk: 'B2SUMS': {named}"));
    let run = dir.ftk(["hash", "-c", "b2sums.txt"]).run().status(0).stdout("f: OK\n");
    run.stderr_has(&format!("ftk: 'b2sums.txt': {named}"));
    dir.ftk(["hash", "-c", "SHA256SUMS"]).run().status(0).stderr_lacks("its name says");
    let whole = dir.ftk([""; 0]).instead(&dir, ["b2sum", "f"]).run().status(0);
    dir.file("B2SUMS", &whole.out)
        .ftk(["hash", "-c", "B2SUMS"])
        .run()
        .status(0)
        .stderr_lacks("its name says");
}
