//! BagIt bags and their manifests, compared with bagit-python.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Dir, Run, bytes, has, needs, sha256};

/// Returns the lines of a manifest for these files of the bag.
fn lines(dir: &Dir, algorithm: &str, paths: &[&str]) -> String {
    let run =
        dir.ftk(["hash", "-q", "-a", algorithm]).args(paths.iter().map(|path| format!("bag/{path}"))).run();
    run.status(0).text().replace("  bag/", "  ")
}

/// Checks that the output has these lines.
fn has_lines(run: &Run, lines: &[&str]) {
    for line in lines {
        run.check(run.text().lines().any(|it| it == *line), line);
    }
}

const PAYLOAD: [&str; 3] = ["data/a", "data/d/b c", "data/empty"];

/// Creates a bag without tag manifests.
fn bag() -> Dir {
    let dir = Dir::new();
    dir.file("bag/bagit.txt", b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    dir.file("bag/bag-info.txt", b"Contact-Name: Ann\nPayload-Oxum: 3.3\n");
    dir.file("bag/data/a", b"1").file("bag/data/d/b c", b"22").file("bag/data/empty", b"");
    for algorithm in ["md5", "sha256"] {
        dir.file(format!("bag/manifest-{algorithm}.txt"), lines(&dir, algorithm, &PAYLOAD).as_bytes());
    }
    dir
}

/// Creates a bag with a tag manifest, after a change to its other files.
fn tagged(change: impl FnOnce(&Dir)) -> Dir {
    let dir = bag();
    change(&dir);
    let names = ["bag-info.txt", "bagit.txt", "manifest-md5.txt", "manifest-sha256.txt"];
    let there: Vec<_> = names.into_iter().filter(|name| dir.path("bag").join(name).exists()).collect();
    dir.file("bag/tagmanifest-sha256.txt", lines(&dir, "sha256", &there).as_bytes());
    dir
}

fn append(dir: &Dir, path: &str, text: &str) {
    let old = fs::read_to_string(dir.path("bag").join(path)).unwrap_or_default();
    dir.file(Path::new("bag").join(path), (old + text).as_bytes());
}

fn replace(dir: &Dir, path: &str, from: &str, to: &str) {
    let old = fs::read_to_string(dir.path("bag").join(path)).unwrap();
    assert!(old.contains(from), "{path} has {from}");
    dir.file(Path::new("bag").join(path), old.replace(from, to).as_bytes());
}

fn remove(dir: &Dir, path: &str) {
    fs::remove_file(dir.path("bag").join(path)).unwrap();
}

/// Returns for each bag whether bagit-python finds it valid.
fn by_python(dirs: &[Dir]) -> Vec<bool> {
    const SCRIPT: &str = "\
import bagit, logging, sys
logging.disable(logging.CRITICAL)
for path in sys.argv[1:]:
    try:
        print(bagit.Bag(path).validate())
    except Exception:
        print(False)
";
    let mut python = Command::new("python3");
    python.args(["-c", SCRIPT]).args(dirs.iter().map(|dir| dir.path("bag")));
    let output = python.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line == "True").collect()
}

/// A change to a bag, the status and a part of the messages of ftk, and whether bagit-python finds the bag valid.
type Case = (fn(&Dir), i32, &'static str, bool);

/// Compares the verdicts on many bags.
fn compare(make: impl Fn(fn(&Dir)) -> Dir, cases: &[Case]) {
    let dirs: Vec<_> = cases.iter().map(|(change, ..)| make(*change)).collect();
    for (dir, (_, status, said, _)) in dirs.iter().zip(cases) {
        let run = dir.ftk(["hash", "--bag", "bag"]).run().status(*status);
        run.stderr_has(said);
    }
    if !has("bagit") {
        return;
    }
    for ((dir, valid), (_, status, said, expected)) in dirs.iter().zip(by_python(&dirs)).zip(cases) {
        assert_eq!(valid, *expected, "{said:?} {}", dir.path("bag").display());
        assert!(valid || *status != 0, "{said:?}: a bag that bagit-python refuses is refused");
    }
}

fn changed(change: fn(&Dir)) -> Dir {
    let dir = bag();
    change(&dir);
    dir
}

#[test]
fn verdicts_are_those_of_bagit_python() {
    compare(
        changed,
        &[
            (|_| {}, 0, "  3 ok, 3 B in ", true),
            (|dir| remove(dir, "bag-info.txt"), 0, "3 ok", true),
            (|dir| append(dir, "README", "any other file"), 0, "3 ok", true),
            (|dir| _ = dir.dir("bag/data/empty directory"), 0, "3 ok", true),
            (|dir| append(dir, "data/a", "x"), 1, "Payload-Oxum is 3.3, but the payload has 4.3", false),
            (|dir| _ = dir.file("bag/data/a", b"2"), 1, "1 computed checksum did NOT match", false),
            (|dir| remove(dir, "data/a"), 1, "1 listed file is missing", false),
            (|dir| append(dir, "data/more", ""), 1, "1 file is not in any list", false),
            (|dir| replace(dir, "bag-info.txt", "3.3", "3.4"), 1, "is 3.4, but the payload has 3.3", false),
            (|dir| replace(dir, "bag-info.txt", "3.3", "3"), 1, "Payload-Oxum is '3', expected BYTES", false),
            (|dir| append(dir, "bag-info.txt", "no colon\n"), 1, "bag-info.txt, line 3: expected", false),
            (
                |dir| replace(dir, "bagit.txt", "1.0", "2.0"),
                2,
                "version '2.0' of 'bag' is not supported",
                false,
            ),
            (|dir| replace(dir, "bagit.txt", "1.0", "one"), 2, "version 'one' of 'bag'", false),
            (
                |dir| replace(dir, "bagit.txt", "UTF-8", "klingon"),
                2,
                "the encoding 'klingon' of 'bag'",
                false,
            ),
            (|dir| replace(dir, "bagit.txt", "BagIt-V", "V"), 2, "has no BagIt-Version", false),
            (|dir| replace(dir, "bagit.txt", "Tag-F", "F"), 2, "has no Tag-File-Character-Encoding", false),
            (|dir| replace(dir, "bagit.txt", "BagIt", "\u{feff}BagIt"), 1, "byte order mark", false),
            (
                |dir| remove(dir, "bagit.txt"),
                2,
                "'bag' is not a bag: it has no readable file bagit.txt",
                false,
            ),
            (
                |dir| {
                    remove(dir, "manifest-md5.txt");
                    remove(dir, "manifest-sha256.txt")
                },
                2,
                "no payload manifest",
                false,
            ),
            (
                |dir| fs::remove_dir_all(dir.path("bag/data")).unwrap(),
                1,
                "the bag has no directory data",
                false,
            ),
            (
                |dir| append(dir, "manifest-md5.txt", "c4ca4238a0b923820dcc509a6f75849b  data/a\n"),
                1,
                "'data/a' is listed twice (lines 1 and 4)\n",
                false,
            ),
            (
                |dir| append(dir, "manifest-md5.txt", "d4ca4238a0b923820dcc509a6f75849b  ./data/a\n"),
                1,
                "'data/a' is listed twice (lines 1 and 4), with different digests\n",
                false,
            ),
            (
                |dir| append(dir, "manifest-md5.txt", "c4ca4238a0b923820dcc509a6f75849b  ../secret\n"),
                2,
                "manifest-md5.txt, line 4: '../secret' is refused: it has a .. component",
                false,
            ),
            (
                |dir| append(dir, "manifest-md5.txt", "c4ca4238a0b923820dcc509a6f75849b  /etc/passwd\n"),
                2,
                "line 4: '/etc/passwd' is refused: it is absolute",
                false,
            ),
            (
                |dir| append(dir, "manifest-md5.txt", "c4ca4238a0b923820dcc509a6f75849b  ~/x\n"),
                2,
                "line 4: '~/x' is refused: it begins with ~",
                false,
            ),
            (
                |dir| append(dir, "fetch.txt", "https://example.org/x 1 data/x\n"),
                1,
                "'data/x' is not in manifest-md5.txt",
                true,
            ),
            (
                |dir| append(dir, "fetch.txt", "https://example.org/x 1 ../x\n"),
                2,
                "fetch.txt, line 1: '../x' is refused",
                false,
            ),
            (
                |dir| append(dir, "fetch.txt", "nowhere 1 data/a\n"),
                2,
                "fetch.txt, line 1: the URL is not absolute",
                false,
            ),
            (
                |dir| append(dir, "fetch.txt", "https://example.org/x\n"),
                2,
                "fetch.txt, line 1: not 'URL SIZE PATH'",
                false,
            ),
            (|dir| append(dir, "fetch.txt", "https://example.org/a - data/a\n"), 0, "3 ok", true),
            (
                |dir| {
                    append(dir, "fetch.txt", "https://example.org/a 1 data/a\n");
                    remove(dir, "data/a")
                },
                1,
                "'data/a' is missing: fetch.txt lists it, but it was not fetched",
                false,
            ),
        ],
    );
}

/// The RFC forbids these bags, and bagit-python accepts them.
#[test]
fn some_verdicts_are_stricter_than_those_of_bagit_python() {
    compare(
        changed,
        &[
            // Each payload manifest of a bag of version 1.0 must list all files.
            (
                |dir| replace(dir, "manifest-md5.txt", &lines(dir, "md5", &["data/a"]), ""),
                1,
                "manifest-md5.txt: 'data/a' is missing, which another manifest lists",
                true,
            ),
            // A payload manifest lists only the payload.
            (
                |dir| append(dir, "manifest-md5.txt", &lines(dir, "md5", &["bagit.txt"])),
                1,
                "'bagit.txt' is refused: a payload manifest lists only files in data/",
                true,
            ),
            // A file that fetch.txt lists must be in data/.
            (
                |dir| append(dir, "fetch.txt", "https://example.org/x 1 bagit.txt\n"),
                2,
                "'bagit.txt' is refused: it is not in data/",
                true,
            ),
            // A manifest that is not checked proves nothing.
            (
                |dir| append(dir, "manifest-tiger.txt", ""),
                2,
                "cannot check manifest-tiger.txt: unsupported algorithm 'tiger'",
                true,
            ),
            // bagit-python skips malformed lines.
            (
                |dir| append(dir, "manifest-md5.txt", "c4ca4238a0b923820dcc509a6f75849b\n"),
                2,
                "manifest-md5.txt, line 4: no path after the digest",
                true,
            ),
            // A path with .. may lead out of the bag even if it does not now.
            (
                |dir| replace(dir, "manifest-md5.txt", "data/a", "data/d/../a"),
                2,
                "'data/d/../a' is refused",
                true,
            ),
            // A link that leads out of the payload is not followed, nor is one of a directory.
            (
                |dir| {
                    linked(dir, "a", "../bagit.txt");
                    replace(dir, "bag-info.txt", "3.3", "56.3");
                },
                2,
                "the path contains a symbolic link, which --bag does not follow",
                true,
            ),
            (
                |dir| {
                    fs::rename(dir.path("bag/data/d"), dir.path("bag/data/e")).unwrap();
                    dir.symlink("e", "bag/data/d");
                },
                2,
                "the path contains a symbolic link, which --bag does not follow",
                false,
            ),
            // At least one payload manifest is of an algorithm that every program has.
            (
                |dir| {
                    for algorithm in ["md5", "sha256"] {
                        remove(dir, &format!("manifest-{algorithm}.txt"));
                    }
                    append(dir, "manifest-blake2b.txt", &lines(dir, "blake2b", &PAYLOAD));
                },
                1,
                "'bag' needs a payload manifest of one of md5, sha1, sha224, sha256, sha384, sha512",
                true,
            ),
            // The names of algorithms are normalised.
            (
                |dir| append(dir, "manifest-SHA512.txt", &lines(dir, "sha512", &PAYLOAD)),
                1,
                "manifest-SHA512.txt: the name of the algorithm must be in small letters without punctuation",
                true,
            ),
            (
                |dir| append(dir, "manifest-sha-512.txt", &lines(dir, "sha512", &PAYLOAD)),
                1,
                "manifest-sha-512.txt: the name of the algorithm",
                true,
            ),
            (
                |dir| append(dir, "manifest-SHA3-256.txt", &lines(dir, "sha3-256", &PAYLOAD)),
                1,
                "manifest-SHA3-256.txt: the name of the algorithm",
                true,
            ),
            // Declarations have two lines, written in one way.
            (|dir| replace(dir, "bagit.txt", "n: ", "n : "), 1, "bagit.txt: expected the lines", true),
            (|dir| append(dir, "bagit.txt", "More: x\n"), 1, "bagit.txt: expected the lines", true),
            (|dir| append(dir, "bagit.txt", "\n"), 1, "bagit.txt: expected the lines", true),
            (|dir| replace(dir, "bagit.txt", "\n", "\r\r\n"), 1, "bagit.txt: expected the lines", true),
            (
                |dir| replace(dir, "bagit.txt", "UTF-8", "UTF-8\u{c}"),
                1,
                "bagit.txt: expected the lines",
                true,
            ),
            // Metadata is read by all programs in the same way.
            (
                |dir| append(dir, "bag-info.txt", "Note : x\n"),
                1,
                "bag-info.txt, line 3: expected 'Label: value'",
                true,
            ),
            (
                |dir| append(dir, "bag-info.txt", "Note:x\n"),
                1,
                "bag-info.txt, line 3: expected 'Label: value'",
                true,
            ),
            (
                |dir| replace(dir, "bag-info.txt", "Contact-Name: Ann\nPayload-Oxum", "\u{feff}Payload-Oxum"),
                1,
                "bag-info.txt, line 1: it begins with a byte order mark",
                true,
            ),
            // The payload must not be somewhere else.
            (
                |dir| {
                    fs::rename(dir.path("bag/data"), dir.path("elsewhere")).unwrap();
                    dir.symlink("../elsewhere", "bag/data");
                },
                2,
                "the bag has no directory data",
                false,
            ),
            // Payload-Oxum must not be repeated.
            (
                |dir| append(dir, "bag-info.txt", "Payload-Oxum: 3.3\n"),
                1,
                "Payload-Oxum is given 2 times",
                true,
            ),
        ],
    );
}

/// Makes a file of the payload a link.
fn linked(dir: &Dir, name: &str, target: &str) {
    remove(dir, &format!("data/{name}"));
    dir.symlink(target, &format!("bag/data/{name}"));
    for algorithm in ["md5", "sha256"] {
        dir.file(format!("bag/manifest-{algorithm}.txt"), lines(dir, algorithm, &PAYLOAD).as_bytes());
    }
}

/// The content of a link in the payload is that of the file where it leads. bagit-python counts the size of that file
/// too.
#[test]
fn links_to_files_of_the_payload_are_those_files() {
    let damaged: fn(&Dir) = |dir| {
        linked(dir, "a", "d/b c");
        replace(dir, "bag-info.txt", "3.3", "4.3");
        dir.file("bag/data/d/b c", b"21");
    };
    compare(
        changed,
        &[
            (
                |dir| {
                    linked(dir, "a", "d/b c");
                    replace(dir, "bag-info.txt", "3.3", "4.3");
                },
                0,
                "3 ok, ",
                true,
            ),
            (|dir| linked(dir, "a", "d/b c"), 1, "Payload-Oxum is 3.3, but the payload has 4.3", false),
            (damaged, 1, "2 computed checksums did NOT match", false),
            (
                |dir| {
                    linked(dir, "a", "d/b c");
                    replace(dir, "bag-info.txt", "3.3", "4.3");
                    dir.file("bag/data/other", b"xy");
                    for algorithm in ["md5", "sha256"] {
                        append(
                            dir,
                            &format!("manifest-{algorithm}.txt"),
                            &lines(dir, algorithm, &["data/other"]),
                        );
                    }
                    replace(dir, "bag-info.txt", "4.3", "6.4");
                    remove(dir, "data/a");
                    dir.symlink("other", "bag/data/a");
                },
                1,
                "1 computed checksum did NOT match",
                false,
            ),
            (
                |dir| {
                    linked(dir, "a", "d/b c");
                    remove(dir, "data/d/b c")
                },
                2,
                "it is not a regular file",
                false,
            ),
        ],
    );
    let dir = changed(damaged);
    let run = dir.ftk(["hash", "--bag", "bag"]).run().status(1);
    has_lines(&run, &["data/d/b c: FAILED", "data/a: FAILED", "data/empty: OK"]);
}

/// Names that bagit-python reads as other ones.
#[test]
fn names_with_white_space_that_python_removes_are_refused() {
    if !has("bagit") {
        return;
    }
    let names = ["a\u{b}b", "a\u{c}b", "a\u{1c}b", "a\u{85}b", "a\u{2028}b", "a\u{2029}", "a ", "a\u{a0}"];
    // RFC 8493 allows them, so they are written as it says.
    let dirs = names.map(|name| {
        let dir = bag();
        remove(&dir, "bag-info.txt");
        dir.file(format!("bag/data/{name}"), b"");
        for algorithm in ["md5", "sha256"] {
            let line = lines(&dir, algorithm, &["data/empty"]).replace("empty", name);
            append(&dir, &format!("manifest-{algorithm}.txt"), &line);
        }
        dir
    });
    for ((dir, is_valid), name) in dirs.iter().zip(by_python(&dirs)).zip(names) {
        let run = dir.ftk(["hash", "--bag", "bag"]).run();
        assert!(!is_valid, "{name:?}");
        run.status(1).stderr_has("bagit-python reads another name\n");
    }
}

/// Whatever is changed in the text files of a bag: it is refused if bagit-python refuses it.
#[test]
fn h101_no_damaged_bag_is_valid_that_bagit_python_refuses() {
    if !has("bagit") {
        return;
    }
    let texts = ["bagit.txt", "bag-info.txt", "manifest-md5.txt", "tagmanifest-sha256.txt", "fetch.txt"];
    let pieces = [
        "\n", "\r", " ", "\t", ":", "\u{b}", "\u{85}", "\u{2028}", "\u{feff}", "0", "A", "%0A", "*", "#",
        "/", ".", "\0",
    ];
    let mut seed = 0;
    let mut below = |end: usize| {
        seed += 1;
        usize::from_le_bytes(bytes(seed, 8).try_into().unwrap()) % end
    };
    let tag = |dir: &Dir| {
        let names = ["bag-info.txt", "bagit.txt", "manifest-md5.txt", "manifest-sha256.txt", "fetch.txt"];
        dir.file("bag/tagmanifest-sha256.txt", lines(dir, "sha256", &names).as_bytes());
    };
    let dirs: Vec<_> = (0..120)
        .map(|_| {
            let dir = bag();
            append(&dir, "fetch.txt", "https://example.org/a 1 data/a\n");
            tag(&dir);
            let name = texts[below(texts.len())];
            let path = dir.path("bag").join(name);
            let old = fs::read_to_string(&path).unwrap();
            let at = below(old.len() + 1);
            let rest = &old[(at + below(3)).min(old.len())..];
            fs::write(&path, [&old[..at], pieces[below(pieces.len())], rest].concat()).unwrap();
            if !name.starts_with("tag") {
                tag(&dir);
            }
            dir
        })
        .collect();
    for (dir, is_valid) in dirs.iter().zip(by_python(&dirs)) {
        let run = dir.ftk(["hash", "--bag", "bag"]).run();
        run.check(is_valid || run.code() != 0, "a bag that bagit-python refuses is refused");
    }
}

#[test]
fn tag_manifests_are_checked() {
    compare(
        |change| tagged(change),
        &[(|_| {}, 0, "7 ok", true), (|dir| remove(dir, "bag-info.txt"), 0, "6 ok", true)],
    );
    let after = |change: fn(&Dir)| {
        let dir = tagged(|_| {});
        change(&dir);
        dir
    };
    compare(
        after,
        &[
            (|dir| append(dir, "bag-info.txt", "More: x\n"), 1, "1 computed checksum did NOT match", false),
            (|dir| remove(dir, "bag-info.txt"), 1, "1 listed file is missing", false),
            (
                |dir| append(dir, "tagmanifest-sha256.txt", &format!("{}  data/empty\n", sha256(b""))),
                1,
                "'data/empty' is refused: a tag manifest lists no files in data/",
                false,
            ),
            (
                |dir| {
                    append(dir, "tagmanifest-sha256.txt", &format!("{}  tagmanifest-md5.txt\n", sha256(b"")))
                },
                1,
                "a tag manifest lists no tag manifests",
                false,
            ),
            (
                |dir| {
                    let line = lines(dir, "sha256", &["manifest-md5.txt"]);
                    replace(dir, "tagmanifest-sha256.txt", &line, "")
                },
                1,
                "tagmanifest-sha256.txt: manifest-md5.txt is missing, which a tag manifest must list",
                true,
            ),
        ],
    );
}

/// Before version 1.0, a file had to be in one payload manifest only.
#[test]
fn old_versions_need_one_manifest_for_each_file() {
    compare(
        changed,
        &[
            (
                |dir| {
                    replace(dir, "bagit.txt", "1.0", "0.97");
                    replace(dir, "manifest-md5.txt", &lines(dir, "md5", &["data/a"]), "")
                },
                0,
                "3 ok",
                true,
            ),
            (
                |dir| {
                    replace(dir, "bagit.txt", "1.0", "0.95");
                    fs::rename(dir.path("bag/bag-info.txt"), dir.path("bag/package-info.txt")).unwrap();
                    replace(dir, "package-info.txt", "3.3", "3.4")
                },
                1,
                "package-info.txt: Payload-Oxum is 3.4",
                false,
            ),
            (
                |dir| {
                    replace(dir, "bagit.txt", "1.0", "0.97");
                    append(dir, "manifest-md5.txt", "c4ca4238a0b923820dcc509a6f75849b  data/a\n");
                    append(dir, "fetch.txt", "https://example.org/a 1 data/a\n");
                    replace(dir, "manifest-sha256.txt", &lines(dir, "sha256", &["data/a"]), "");
                    let line = lines(dir, "md5", &["bagit.txt"]);
                    append(dir, "tagmanifest-md5.txt", &line);
                },
                0,
                "4 ok",
                true,
            ),
            (
                |dir| {
                    replace(dir, "bagit.txt", "1.0", "0.97");
                    append(dir, "manifest-md5.txt", "d4ca4238a0b923820dcc509a6f75849b  data/a\n");
                },
                1,
                "'data/a' is listed twice (lines 1 and 4), with different digests",
                false,
            ),
        ],
    );
}

#[test]
fn bags_of_bagit_python_are_valid() {
    if !has("bagit") {
        return;
    }
    const SCRIPT: &str = "import bagit, sys; bagit.make_bag(sys.argv[1], checksums=sys.argv[2:])";
    let dir = Dir::new();
    for name in ["a", "d/b c", " lead", "#", "*star", "50%", "%20", "caf\u{e9}", "new\nline", "cr\rx", "%25"]
    {
        dir.file(Path::new("bag").join(name), name.as_bytes());
    }
    let algorithms =
        ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b"];
    let python = dir.ftk(["x"]).instead(&dir, ["python3", "-c", SCRIPT, "bag"]).args(algorithms).run();
    python.status(0);
    let run = dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    has_lines(&run, &["data/%25: OK", "\\data/new\\nline: OK"]);
    // 11 files, 9 manifests, bagit.txt and bag-info.txt.
    run.stderr_has("  22 ok, ");
}

#[test]
fn percent_signs_are_read_as_the_rfc_says() {
    let dir = bag();
    dir.file("bag/data/100%25", b"").file("bag/data/new\nline\r", b"");
    fs::remove_file(dir.path("bag/bag-info.txt")).unwrap();
    for algorithm in ["md5", "sha256"] {
        let line = lines(&dir, algorithm, &["data/empty"]);
        for name in ["100%2525", "new%0aline%0D"] {
            append(&dir, &format!("manifest-{algorithm}.txt"), &line.replace("empty", name));
        }
    }
    let run = dir.ftk(["hash", "--bag", "bag"]).run().status(0);
    has_lines(&run, &["data/100%25: OK", "\\data/new\\nline\\r: OK"]);
    // The same manifest as a list.
    let run = dir.ftk(["hash", "--check", "--root", "bag", "bag/manifest-md5.txt"]).run().status(0);
    has_lines(&run, &["data/100%25: OK", "\\data/new\\nline\\r: OK"]);
    run.stderr_lacks("assumed");
    // Without a bag around it, it is a list like any other.
    fs::copy(dir.path("bag/manifest-md5.txt"), dir.path("manifest-md5.txt")).unwrap();
    let run = dir.ftk(["hash", "--check", "--root", "bag", "manifest-md5.txt"]).run().status(1);
    has_lines(&run, &["data/100%2525: FAILED open or read"]);
}

#[test]
fn a_manifest_of_a_bag_is_a_list() {
    let dir = bag();
    let check = || dir.ftk(["hash", "--check", "--root", "bag", "bag/manifest-sha256.txt"]);
    check().run().status(0).stdout("data/a: OK\ndata/d/b c: OK\ndata/empty: OK\n");
    dir.file("bag/data/a", b"2");
    check().run().status(1).stdout("data/a: FAILED\ndata/d/b c: OK\ndata/empty: OK\n");
    append(&dir, "manifest-sha256.txt", "00  data/a\nnonsense\n");
    let run = check().run().status(2);
    run.stderr_has("line 4: cannot check 'data/a': the digest has 2 digits, expected 64 for SHA256\n")
        .stderr_has("line 5: cannot check it: the digest is not made of pairs of hexadecimal digits\n");
    fs::rename(dir.path("bag/manifest-md5.txt"), dir.path("bag/manifest-tiger.txt")).unwrap();
    let run = dir.ftk(["hash", "--check", "--root", "bag", "bag/manifest-tiger.txt"]).run().status(2);
    run.stdout("").stderr_has("unsupported algorithm tiger");
}

#[test]
fn each_file_is_read_once() {
    needs!("strace");
    let dir = tagged(|_| {});
    let log = dir.aside("log");
    let strace =
        ["strace", "-f", "-o", log.to_str().unwrap(), "-e", "trace=open,openat,openat2,io_uring_setup"];
    let run = dir.ftk(["hash", "--bag", "bag", "-j", "1", "--io", "sync"]).under(&dir, strace).run();
    run.status(0).stderr_has("   sha256 + md5");
    let log = fs::read_to_string(log).unwrap();
    for name in ["\"b c\"", "\"empty\""] {
        assert_eq!(log.lines().filter(|line| line.contains(name)).count(), 1, "{name}\n{log}");
    }
}

#[test]
fn json_and_quiet_are_those_of_check() {
    let dir = bag();
    dir.file("bag/data/a", b"2").file("bag/data/more", b"");
    let run = dir.ftk(["hash", "--bag", "bag", "--json", "-q"]).run().status(1);
    let records: Vec<Value> = run.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<_> = records.iter().map(|it| (it["path"].as_str(), it["verdict"].as_str())).collect();
    assert_eq!(verdicts, [(Some("data/a"), Some("failed")), (Some("data/more"), Some("new"))]);
    // That of the first manifest whose digest differs.
    let md5 = "c4ca4238a0b923820dcc509a6f75849b";
    assert_eq!((&records[0]["algorithm"], &records[0]["expected"]), (&"md5".into(), &md5.into()));
    dir.ftk(["hash", "--bag", "bag", "-q", "-0"]).run().status(1).stdout("data/a: FAILED\0data/more: NEW\0");
}

#[test]
fn hostile_bags_are_refused() {
    let dir = bag();
    for (args, said) in [
        (&["hash", "--bag"][..], "--bag validates one bag: name its directory"),
        (&["hash", "--bag", "bag", "bag"], "--bag validates one bag"),
        (&["hash", "--bag", "missing"], "cannot open 'missing': no such file or directory"),
        (&["hash", "--bag", "bag/bagit.txt"], "'bag/bagit.txt' is not a directory"),
        (&["hash", "--bag", "--check", "bag"], "cannot be used with"),
        (&["hash", "--bag", "--cache", "bag"], "--cache cannot be used with --bag"),
    ] {
        dir.ftk(args).run().status(2).stdout("").stderr_has(said);
    }
    // Files of the bag that are links or FIFOs.
    for name in ["bagit.txt", "bag-info.txt", "manifest-md5.txt", "fetch.txt"] {
        for fifo in [false, true] {
            let dir = bag();
            _ = fs::remove_file(dir.path("bag").join(name));
            match fifo {
                true => dir.fifo(&format!("bag/{name}")),
                false => dir.symlink("/etc/passwd", &format!("bag/{name}")),
            };
            dir.ftk(["hash", "--bag", "bag"]).run().status(2).stderr_has(name).stderr_lacks("root");
        }
    }
    // Only the first findings of a kind are printed.
    for nth in 0..1000 {
        append(&dir, "manifest-md5.txt", &format!("{}  ../{nth}\n", "0".repeat(32)));
    }
    let run = dir.ftk(["hash", "--bag", "bag"]).run().status(2);
    let run = run.stderr_has("990 more findings: paths are refused\n");
    assert!(run.err.lines().count() < 20, "{}", run.err);
}

#[test]
fn an_empty_payload_is_valid() {
    let dir = Dir::new();
    dir.file("bag/bagit.txt", b"BagIt-Version: 1.0\r\nTag-File-Character-Encoding: UTF-8\r\n");
    dir.file("bag/manifest-sha512.txt", b"").dir("bag/data");
    dir.ftk(["hash", "--bag", "bag/"]).run().status(0).stdout("");
}
