//! Every digest, for files of every interesting size.

use crate::harness::{Dir, bytes, needs, records, sum};

/// Sizes around the blocks and paddings of the digests and the buffers of the readers, and one file that
/// several workers share.
const SIZES: &[usize] = &[
    0,
    1,
    55,
    56,
    57,
    63,
    64,
    65,
    111,
    112,
    127,
    128,
    129,
    239,
    240,
    241,
    255,
    256,
    257,
    1023,
    1024,
    1025,
    4095,
    4096,
    4097,
    16_383,
    16_384,
    16_385,
    32_768,
    65_535,
    65_536,
    65_537,
    131_071,
    131_073,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    3 << 20,
    20 << 20,
];

/// Creates a file of each size, in a few directories.
pub(super) fn sizes() -> Dir {
    let dir = Dir::new();
    for (nth, &size) in SIZES.iter().enumerate() {
        dir.file(format!("{}/{size}", nth % 3), &bytes(nth as u64, size));
    }
    dir
}

/// Checks that ftk prints for the whole tree what `tool` prints.
fn same_as(algorithm: &str, tool: &[&str]) {
    let dir = sizes();
    let run = dir.ftk(["hash", "-a", algorithm, "."]).run().status(0);
    let expected = sum(&dir, tool, &["."]);
    assert_eq!(records(&expected, b'\n').len(), SIZES.len());
    run.stdout(expected).stderr_has(&format!("  {} files, ", SIZES.len()));
}

#[test]
fn sha256() {
    needs!("find", "xargs", "sha256sum");
    same_as("sha256", &["sha256sum", "--"]);
}

#[test]
fn sha1() {
    needs!("find", "xargs", "sha1sum");
    same_as("sha1", &["sha1sum", "--"]);
}

#[test]
fn sha512() {
    needs!("find", "xargs", "sha512sum");
    same_as("sha512", &["sha512sum", "--"]);
}

#[test]
fn sha224() {
    needs!("find", "xargs", "sha224sum");
    same_as("sha224", &["sha224sum", "--"]);
}

#[test]
fn sha384() {
    needs!("find", "xargs", "sha384sum");
    same_as("sha384", &["sha384sum", "--"]);
}

/// Prints the lines of `sha256sum` for digests that no tool of the coreutils has.
fn same_as_python(algorithm: &str, digest: &str) {
    let script = format!(
        "import hashlib, sys, zlib\n\
         for name in sys.argv[1:]:\n    data = open(name, 'rb').read()\n    print({digest} + '  ' + name)"
    );
    same_as(algorithm, &["python3", "-c", &script]);
}

#[test]
fn sha3_and_crc32() {
    needs!("find", "xargs", "python3");
    same_as_python("sha3-256", "hashlib.sha3_256(data).hexdigest()");
    same_as_python("sha3-512", "hashlib.sha3_512(data).hexdigest()");
    same_as_python("crc32", "'%08x' % zlib.crc32(data)");
}

#[test]
fn sha3_of_openssl() {
    needs!("find", "xargs", "openssl");
    for algorithm in ["sha3-256", "sha3-512"] {
        let dir = sizes();
        let list = sum(&dir, &["openssl", "dgst", &format!("-{algorithm}")], &["."]);
        let lines = records(&list, b'\n').len();
        assert_eq!(lines, SIZES.len());
        let run = dir.ftk(["hash", "--check", "--strict"]).stdin(&list).run().status(0);
        run.check(records(&run.out, b'\n').len() == lines, "every line is checked");
    }
}

/// The check value of the catalogue of CRCs, in base64 as S3 prints it.
#[test]
fn crc64nvme_and_base64() {
    let dir = Dir::new();
    dir.file("a", b"123456789");
    dir.ftk(["hash", "-q", "-a", "crc64nvme", "a"]).run().status(0).stdout("ae8b14860a799888  a\n");
    dir.ftk(["hash", "-q", "-a", "crc64nvme", "--base64", "a"]).run().status(0).stdout("rosUhgp5mIg=  a\n");
    // `cksum --base64` of coreutils 9.2 prints this line of SHA-256.
    let expected =
        "CRC64NVME (a) = rosUhgp5mIg=\nSHA256 (a) = FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=\n";
    let run = dir.ftk(["hash", "-q", "-a", "crc64nvme,sha256", "--base64", "a"]).run().status(0);
    let run = run.stdout(expected);
    dir.ftk(["hash", "--check", "-q"]).stdin(&run.out).run().status(0);
    dir.ftk(["hash", "--json", "--base64", "a"]).run().status(2);
}

/// The rule of S3, from the MD5 of each part.
#[test]
fn etags_of_s3() {
    let dir = Dir::new();
    let content: Vec<u8> = (0..(11_u32 << 20)).map(|nth| (nth / 7 % 251) as u8).collect();
    let part = 5 << 20;
    dir.file("t/below", &content[..part - 1]).file("t/exact", &content[..part]).file("t/large", &content);
    let md5 = |name: &str| dir.ftk(["hash", "-q", "-a", "md5", name]).run().status(0).text()[..32].to_owned();
    let composite = |parts: &[&[u8]]| {
        let mut digests = Vec::new();
        for part in parts {
            dir.file("part", part);
            let digest = md5("part");
            digests.extend((0..16).map(|at| u8::from_str_radix(&digest[2 * at..][..2], 16).unwrap()));
        }
        dir.file("digests", &digests);
        format!("{}-{}", md5("digests"), parts.len())
    };
    let below = md5("t/below");
    let exact = composite(&[&content[..part]]);
    let large = composite(&content.chunks(part).collect::<Vec<_>>());
    let expected = format!("{below}  t/below\n{exact}  t/exact\n{large}  t/large\n");
    let list =
        dir.ftk(["hash", "-q", "-a", "s3-etag", "--part-size", "5M", "t"]).run().status(0).stdout(&expected);
    // 8M is the default.
    let other = dir.ftk(["hash", "-q", "-a", "s3-etag", "t"]).run().status(0);
    assert!(other.text().starts_with(&format!("{below}  t/below\n{}  t/exact\n", md5("t/exact"))));
    assert!(other.text().ends_with("-2  t/large\n"));
    // A list does not say how large the parts are: only plain MD5 can be checked.
    let check = dir.ftk(["hash", "--check", "-q"]).stdin(&list.out).run().status(2);
    assert_eq!(check.err.matches("cannot check it").count(), 2, "{check:?}");
    for refused in [
        &["hash", "--check", "-a", "s3-etag", "list"][..],
        &["hash", "-a", "s3-etag,md5", "t"],
        &["hash", "-a", "s3-etag", "--tag", "t"],
        &["hash", "-a", "s3-etag", "--cache", "t"],
        &["hash", "-a", "s3-etag", "-"],
        &["hash", "-a", "s3-etag", "--part-size", "1M", "t"],
        &["hash", "--part-size", "8M", "t"],
        &["manifest", "create", "-a", "s3-etag", "t", "-o", "m.jsonl"],
    ] {
        dir.ftk(refused).run().status(2);
    }
    // A part more than S3 accepts.
    dir.hole("huge", ((10_000 * 5) << 20) + 1);
    let huge =
        dir.ftk(["hash", "-q", "-a", "s3-etag", "--part-size", "5M", "huge"]).run().status(2).stdout("");
    assert!(huge.err.contains("more than 10000 parts"), "{huge:?}");
}

#[test]
fn crc32_of_gzip() {
    needs!("gzip");
    let dir = Dir::new();
    dir.file("abc", b"abc");
    // The last eight bytes of a gzip file are the CRC-32 and the size, both little-endian.
    let gzip = std::process::Command::new("gzip").args(["-c", "abc"]).current_dir(dir.path("")).output();
    let file = gzip.unwrap().stdout;
    let crc =
        file[file.len() - 8..][..4].iter().rev().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    dir.ftk(["hash", "-a", "crc32", "abc"]).run().status(0).stdout(format!("{crc}  abc\n"));
}

#[test]
fn md5() {
    needs!("find", "xargs", "md5sum");
    same_as("md5", &["md5sum", "--"]);
}

#[test]
fn blake2b() {
    needs!("find", "xargs", "b2sum");
    same_as("blake2b", &["b2sum", "--"]);
}

#[test]
fn blake3() {
    needs!("find", "xargs", "b3sum");
    same_as("blake3", &["b3sum", "--"]);
}

#[test]
fn xxh64() {
    needs!("find", "xargs", "xxhsum");
    same_as("xxh64", &["xxhsum", "-q", "-H1"]);
}

#[test]
fn xxh128() {
    needs!("find", "xargs", "xxhsum");
    same_as("xxh128", &["xxhsum", "-q", "-H2"]);
}

/// xxhsum 0.8.1 prints `XXH3 (name) = digest`, later versions the same as ftk.
#[test]
fn xxh3() {
    needs!("find", "xargs", "xxhsum");
    let dir = sizes();
    let expected = String::from_utf8(sum(&dir, &["xxhsum", "-q", "-H3"], &["."])).unwrap();
    let ours = |line: &str| match line.strip_prefix("XXH3 (").and_then(|rest| rest.split_once(") = ")) {
        Some((name, digest)) => format!("XXH3_{digest}  {name}\n"),
        None => format!("{line}\n"),
    };
    let expected: String = expected.lines().map(ours).collect();
    assert_eq!(expected.lines().count(), SIZES.len());
    dir.ftk(["hash", "-a", "xxh3", "."]).run().status(0).stdout(expected);
}

#[test]
fn names_of_algorithms_in_any_case() {
    let dir = Dir::new();
    dir.file("abc", b"abc");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n";
    dir.ftk(["hash", "abc"]).run().status(0).stdout(sha256);
    for name in ["sha256", "SHA-256", "Sha256"] {
        dir.ftk(["hash", "-a", name, "abc"]).run().status(0).stdout(sha256);
        dir.ftk(["hash", &format!("--algorithm={name}"), "abc"]).run().status(0).stdout(sha256);
    }
    let md5 = "900150983cd24fb0d6963f7d28e17f72  abc\n";
    dir.ftk(["hash", "-a", "MD5", "abc"]).run().status(0).stdout(md5);
    dir.ftk(["hash", "-a", "crc", "abc"])
        .run()
        .status(2)
        .stdout("")
        .stderr_has("invalid value 'crc' for '--algorithm <ALGO>'");
}
