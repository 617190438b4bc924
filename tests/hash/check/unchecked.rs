//! Lines with a digest that cannot be checked: their files were meant to be checked, so the check fails.

use crate::harness::{Dir, needs, sha256};

/// Returns lines that cannot be checked, each with its message. The line becomes the second of three.
fn cases() -> Vec<(String, String)> {
    let digits = |n: usize| "0a".repeat(n / 2);
    let mut cases = Vec::new();
    for (tag, n) in [
        ("SHA3-384", 96),
        ("SHA3-224", 56),
        ("SHA512/256", 64),
        ("SHA512-224", 56),
        ("SHAKE256", 64),
        ("BLAKE2b-256", 64),
        ("BLAKE2S-256", 64),
        ("SM3", 64),
        ("RMD160", 40),
        ("CRC32B", 8),
        ("XXH32", 8),
        ("XXH64_LE", 16),
        ("HMAC-SHA2-256", 64),
        ("sha256sum", 64),
    ] {
        let why = format!("cannot check 'f o': unsupported algorithm {tag}");
        cases.push((format!("{tag} (f o) = {}", digits(n)), why.clone()));
        cases.push((format!("{tag}(f o)= {}", digits(n)), why));
    }
    for (tag, n, expected) in
        [("MD5", 64, 32), ("SHA256", 62, 64), ("SHA512", 96, 128), ("BLAKE3", 128, 64), ("BLAKE2b", 64, 128)]
    {
        let why = format!("cannot check 'f': the digest has {n} digits, expected {expected} for {tag}");
        cases.push((format!("{tag} (f) = {}", digits(n)), why));
    }
    for n in [2, 10, 48, 66, 126, 256] {
        let why = format!("cannot check 'f': no supported algorithm has digests of {n} digits");
        cases.push((format!("{}  f", digits(n)), why.clone()));
        cases.push((format!("{} *f", digits(n)), why));
    }
    let (good, base64) = (digits(64), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=");
    for (line, why) in [
        (format!("{}  f", &good[1..]), "the digest has an odd number of hexadecimal digits"),
        (format!("SHA256 (f) = {}", &good[1..]), "the digest has an odd number of hexadecimal digits"),
        (format!("SHA256 (f) = {base64}"), "the digest is not valid base64"),
        (format!("{base64}  f"), "the digest is not valid base64"),
        (format!("{good}  "), "no file name after the digest"),
        (good.clone(), "no file name after the digest"),
        ("\0".repeat(40), "a NUL in the line"),
        (format!("SHA256 () = {good}"), "no file name after the digest"),
        (format!("{good}  f\0"), "a NUL in the line"),
        (format!("\\{good}  f\\t"), "a backslash in the escaped name is not part of \\\\, \\n or \\r"),
        (format!("{good}  f\r"), "carriage return at the end, which the first line does not have"),
        (format!("{good} f"), "digest and name are not separated as in the lines before"),
        (format!("{good}\tf"), "digest and name are not separated as in the lines before"),
    ] {
        cases.push((line, format!("cannot check it: {why}")));
    }
    cases
}

#[test]
fn lines_that_cannot_be_checked_are_errors() {
    let dir = Dir::new();
    dir.file("x", b"1");
    let good = format!("{}  x\n", sha256(b"1"));
    for (line, why) in cases() {
        let list = format!("{good}{line}\n{good}");
        let said = format!("ftk: '-', line 2: {why}\n");
        let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(2).stdout("x: OK\nx: OK\n");
        run.stderr_has(&said).stderr_lacks("improperly formatted");
        // Nothing else reports the failure, so it is printed with --status, too.
        let run = dir.ftk(["hash", "-c", "--status"]).stdin(list.as_bytes()).run().status(2).stdout("");
        run.stderr(&said);
        // It is also an error if nothing was checked.
        let run = dir
            .ftk(["hash", "-c", "--ignore-missing"])
            .stdin(format!("{}  gone\n{line}\n", "0".repeat(40)).as_bytes());
        run.run().status(2).stderr_has("'-', line 2: ");
    }
}

#[test]
fn lines_that_cannot_be_checked_are_errors_with_every_option() {
    let dir = Dir::new();
    dir.file("x", b"1");
    dir.file(
        "list",
        format!("SHA3-384 (f) = {}\nSHA256 (x) = {}\n", "0".repeat(96), sha256(b"1")).as_bytes(),
    );
    let said = "ftk: 'list', line 1: cannot check 'f': unsupported algorithm SHA3-384\n";
    for args in [
        &["-q"][..],
        &["--json"],
        &["--warn"],
        &["--strict"],
        &["--new"],
        &["--root", "."],
        &["-a", "sha256"],
    ] {
        dir.ftk(["hash", "-c", "list"]).args(args).run().status(2).stderr_has(said);
    }
    // Digests whose length differs from those of the given algorithms cannot be checked.
    let list = format!("{}  x\nMD5 (x) = c4ca4238a0b923820dcc509a6f75849b\n", sha256(b"1"));
    let run =
        dir.ftk(["hash", "-c", "-a", "md5,sha1"]).stdin(list.as_bytes()).run().status(2).stdout("x: OK\n");
    run.stderr_has(
        "'-', line 1: cannot check 'x': the digest has 64 digits, expected 32 for MD5 or 40 for SHA1\n",
    );
    // A list of such lines only.
    dir.file("list", format!("SHA3-384 (f) = {}\n", "0".repeat(96)).as_bytes());
    dir.ftk(["hash", "-c", "list"]).run().status(2).stdout("").stderr(said);
}

#[test]
fn the_first_of_many_unchecked_lines_are_named() {
    let dir = Dir::new();
    dir.file("x", b"1");
    let list: String = (0..1000).map(|nth| format!("SHA3-384 (f{nth}) = {}\n", "0".repeat(96))).collect();
    let list = format!("{list}{}  x\n", sha256(b"1"));
    let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(2).stdout("x: OK\n");
    run.stderr_has("line 10: cannot check 'f9'")
        .stderr_lacks("line 11:")
        .stderr_has("ftk: '-': 990 more lines cannot be checked\n");
}

/// Other text is a warning, as with the coreutils.
#[test]
fn text_without_a_digest_is_a_warning() {
    needs!("sha256sum");
    let dir = Dir::new();
    dir.file("x", b"1");
    let good = format!("{}  x\n", sha256(b"1"));
    for text in [
        "Sums of release 7:",
        "-----BEGIN PGP SIGNED MESSAGE-----",
        "Hash: SHA256",
        "iQEzBAEBCAAdFiEE",
        "SHA256 sums (all files)",
        "a  list",
        "dead end",
        "see (x) for more",
        "SHA256 (x) = none",
        "MD5 (x) = nonsense",
        "3015617425 6 x",
        "00120     1 x",
        "x: OK",
    ] {
        let list = format!("{good}{text}\n{good}");
        dir.file("list", list.as_bytes());
        let theirs = dir.ftk(["--version"]).instead(&dir, ["sha256sum", "-c", "list"]).run().status(0);
        let ours = dir.ftk(["hash", "-c", "list"]).run().status(0).stdout(&theirs.out);
        ours.stderr_has("WARNING: 1 line is improperly formatted ('list', line 2: ");
        dir.ftk(["hash", "-c", "--strict", "list"]).run().status(2);
    }
}

/// Lines with a digest in a form that is not read, between two good lines.
#[test]
fn a_digest_in_an_unknown_form_is_an_error() {
    let dir = Dir::new();
    dir.file("f", b"abc");
    let good = sha256(b"abc");
    for line in [
        format!("{good},f"),
        format!("f,{good}"),
        format!("f: {good}"),
        format!("SHA256          {}       C:\\Users\\...", good.to_uppercase()),
        format!("Hash      : {}", good.to_uppercase()),
        format!("\"SHA256\",\"{}\",\"C:\\f\"", good.to_uppercase()),
    ] {
        let list = format!("{good}  f\n{line}\n{good}  f\n");
        let run = dir.ftk(["hash", "-c"]).stdin(list.as_bytes()).run().status(2).stdout("f: OK\nf: OK\n");
        run.stderr_has("line 2: cannot check it: the line has a digest, but not in a form that is known\n");
    }
}

/// Forms of other programs whose meaning is clear.
#[test]
fn forms_of_other_programs_are_read() {
    needs!("rhash", "openssl", "hashdeep");
    let dir = Dir::new();
    dir.file("a b", b"abc");
    let by = |words: &[&str]| dir.ftk([] as [&str; 0]).instead(&dir, words).arg("a b").run().status(0).out;
    let good = sha256(b"abc");
    let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0";
    let mut lists = vec![
        by(&["rhash", "--sha256"]),
        by(&["rhash", "--sha256", "--bsd"]),
        by(&["rhash", "--md5", "--sha1", "--crc32", "--sha512", "--bsd"]),
        by(&["rhash", "--sha256", "--base64"]),
        by(&["openssl", "dgst", "-sha256"]),
        by(&["openssl", "dgst", "-sha256", "-r"]),
        by(&["sha256deep", "-c", "-l"]),
        by(&["md5deep", "-c", "-l"]),
    ];
    lists.extend(
        [
            format!("SHA256\t(a b) = {good}\n"),
            format!("SHA256 (a b): {good}\n"),
            format!("SHA256 (a b) = {good} \n"),
            format!("SHA256 (a b) = {base64}\n"),
            format!("{base64}  a b\n"),
            format!("sha256:{good}  a b\n"),
            format!("sha256={good} a b\n"),
            format!("0x{good}  a b\n"),
            format!("{good},a b\n"),
            format!("a b,{good}\n"),
            format!("SHA256 a b = {good}\n"),
            format!("SHA256          {}       a b\n", good.to_uppercase()),
        ]
        .map(String::into_bytes),
    );
    for list in lists {
        let run = dir.ftk(["hash", "-c", "--strict"]).stdin(&list).run().status(0);
        assert!(run.text().lines().all(|line| line == "a b: OK") && !run.text().is_empty(), "{}", run.text());
        dir.ftk(["manifest", "import", "-"]).stdin(&list).run().status(0).stderr_has("  1 entry imported\n");
    }
    // A table of PowerShell.
    let head = format!(
        "\n{:<15} {:<70} {}\n{:<15} {:<70} {}\n",
        "Algorithm", "Hash", "Path", "---------", "----", "----"
    );
    let row = |name: &str| format!("{:<15} {:<70} {name}\n", "SHA256", good.to_uppercase());
    let run = dir.ftk(["hash", "-c"]).stdin((head.clone() + &row("a b")).as_bytes()).run().status(0);
    run.stdout("a b: OK\n").stderr_has("WARNING: 2 lines are improperly formatted");
    let cut = dir.ftk(["hash", "-c"]).stdin((head + &row("a b") + &row("a...")).as_bytes()).run().status(2);
    cut.stdout("a b: OK\n").stderr_has("line 5: cannot check it: the line has a digest");
    // What RHash has and ftk has not is not skipped.
    let list = by(&["rhash", "--sha256", "--tiger", "--bsd"]);
    let run = dir.ftk(["hash", "-c"]).stdin(&list).run().status(2).stdout("a b: OK\n");
    run.stderr_has("cannot check 'a b': unsupported algorithm TIGER\n");
}

/// The last line may be cut off inside a name.
#[test]
fn a_list_without_a_last_line_end_is_not_trusted() {
    let dir = Dir::new();
    dir.file("f", b"abc").file("f2", b"abc");
    let good = sha256(b"abc");
    let deep = format!("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n3,{good},f");
    for (list, args) in [
        (format!("{good}  f2\n{good}  f"), &[][..]),
        (format!("{good}  f2\0{good}  f"), &["-z"]),
        (deep, &[]),
        ("; x\nf2 352441C2\nf 352441C2".to_owned(), &[]),
    ] {
        let check =
            |more: &[&str]| dir.ftk(["hash", "-c"]).args(args).args(more).stdin(list.as_bytes()).run();
        check(&[]).status(0).stderr_has("WARNING: the last line of '-' has no line end");
        check(&["--strict"]).status(2).stderr_has("has no line end");
        dir.ftk(["manifest", "import", "-"]).stdin(list.as_bytes()).run().status(2).stdout("");
    }
}
