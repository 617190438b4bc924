//! The content of a manifest, compared with `stat`, `sha256sum` and `getfattr`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::records::{Manifest, create, name};
use super::trees::{everything, random};
use crate::harness::{Dir, gnu_find, hash_lines, needs, records, sha256, skip, sum};

/// The output of `stat` for one entry.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    kind: &'static str,
    size: u64,
    mode: String,
    /// User, group, device, inode, links.
    numbers: [u64; 5],
    mtime_ns: i128,
    ctime_ns: i128,
    allocated: u64,
    /// `None` if the file system does not record it.
    birth_ns: Option<i128>,
}

/// Returns the output of `stat` for every entry below `root`, by relative path; the root is `.`.
fn stat(root: &Path) -> BTreeMap<Vec<u8>, Stat> {
    let mut command = Command::new("sh");
    let script = "cd \"$1\" && find . -print0 | xargs -0 stat --printf \
                  '%n\\0%F\\0%s\\0%a\\0%u\\0%g\\0%d\\0%i\\0%h\\0%.9Y\\0%.9Z\\0%b\\0%.9W\\0'";
    let output = command.args(["-c", script, "sh"]).arg(root).env("LC_ALL", "C").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let fields = records(&output.stdout, 0);
    fields.chunks(13).map(|fields| (below(&fields[0]), of_fields(&fields[1..]))).collect()
}

fn of_fields(fields: &[Vec<u8>]) -> Stat {
    let text = |nth: usize| str::from_utf8(&fields[nth]).unwrap();
    let number = |nth: usize| text(nth).parse().unwrap();
    let nanos = |nth: usize| text(nth).replace('.', "").parse().unwrap();
    Stat {
        kind: match text(0) {
            "regular file" | "regular empty file" => "file",
            "directory" => "directory",
            "symbolic link" => "symlink",
            "fifo" => "fifo",
            "socket" => "socket",
            other => panic!("{other}"),
        },
        size: number(1),
        mode: format!("{:0>4}", text(2)),
        numbers: [3, 4, 5, 6, 7].map(number),
        mtime_ns: nanos(8),
        ctime_ns: nanos(9),
        allocated: 512 * number(10),
        birth_ns: Some(nanos(11)).filter(|birth_ns| *birth_ns != 0),
    }
}

/// Returns the path without a leading `./`.
fn below(path: &[u8]) -> Vec<u8> {
    path.strip_prefix(b"./").unwrap_or(path).to_vec()
}

/// Returns the same of a manifest.
fn stats(manifest: &Manifest, oracle: &BTreeMap<Vec<u8>, Stat>) -> BTreeMap<Vec<u8>, Stat> {
    let of = |(path, entry): (&Vec<u8>, &serde_json::Value)| {
        let number = |member: &str| entry[member].as_u64().unwrap_or_else(|| panic!("{member} of {entry}"));
        let nanos = |member: &str| i128::from(entry[member].as_i64().unwrap());
        let known = ["file", "directory", "symlink", "fifo", "socket"];
        let stat = Stat {
            kind: known.into_iter().find(|kind| entry["type"] == *kind).unwrap(),
            // A manifest has no size for other types, since a copy may have another one.
            size: entry["size_bytes"]
                .as_u64()
                .unwrap_or_else(|| oracle.get(path).map_or(0, |stat| stat.size)),
            mode: entry["mode"].as_str().unwrap().to_owned(),
            numbers: ["uid", "gid", "dev", "ino", "nlink"].map(number),
            mtime_ns: nanos("mtime_ns"),
            ctime_ns: nanos("ctime_ns"),
            allocated: number("allocated_bytes"),
            birth_ns: entry.get("birth_ns").map(|birth_ns| i128::from(birth_ns.as_i64().unwrap())),
        };
        (path.clone(), stat)
    };
    manifest.entries.iter().map(of).collect()
}

/// Checks that everything in `manifest` agrees with the reference tools.
fn assert_true(dir: &Dir, manifest: &Manifest, root: &str) {
    let oracle = stat(&dir.path(root));
    let found = stats(manifest, &oracle);
    for (path, stat) in &oracle {
        let path_of = String::from_utf8_lossy(path);
        assert_eq!(found.get(path), Some(stat), "{path_of:?} in {root}");
        let entry = &manifest.entries[path];
        assert_eq!(
            entry["type"] == "file",
            entry.get("size_bytes").is_some() && digest(entry, "sha256").is_some()
        );
        if stat.kind == "symlink" {
            let target = fs::read_link(dir.path(root).join(std::path::PathBuf::from(os(path)))).unwrap();
            assert_eq!(name(entry, "target"), target.into_os_string().into_encoded_bytes());
        }
    }
    assert_eq!(found.len(), oracle.len());
    assert_eq!(manifest.paths[0], b".");
    assert!(manifest.paths[1..].is_sorted(), "sorted by the bytes of the paths");
}

fn os(bytes: &[u8]) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes.to_vec())
}

fn digest<'e>(entry: &'e serde_json::Value, algorithm: &str) -> Option<&'e str> {
    entry["digests"][algorithm].as_str()
}

#[test]
fn manifests_agree_with_stat_and_sha256sum() {
    needs!("find", "xargs", "sha256sum", "stat");
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let dir = Dir::new();
    let path = dir.aside("real");
    let real = real.to_str().unwrap();
    dir.ftk(["manifest", "create", real, "-o"]).arg(&path).run().status(0).stdout("");
    let manifest = Manifest::read(&path);
    assert_true(&dir, &manifest, real);
    let sums = hash_lines(&sum(&dir, &["sha256sum", "--"], &[real]));
    for (file, expected) in sums {
        let below = file[real.len() + 1..].to_vec();
        assert_eq!(digest(&manifest.entries[&below], "sha256"), Some(&*expected));
    }
}

#[test]
fn manifests_of_random_trees_agree_with_stat_and_sha256sum() {
    needs!("find", "xargs", "stat");
    for dir in (0..8).map(random).chain([everything()]) {
        let manifest = Manifest::read(&create(&dir, &[]));
        assert_true(&dir, &manifest, ".");
        for file in gnu_find(&dir, &[".", "-type", "f"]) {
            let entry = &manifest.entries[&below(&file)];
            assert_eq!(digest(entry, "sha256"), Some(&*sha256(&fs::read(dir.path(os(&file))).unwrap())));
        }
    }
}

#[test]
fn several_digests_come_from_one_read() {
    needs!("find", "xargs", "md5sum", "b2sum", "sha512sum");
    let dir = Dir::new();
    dir.file("a", b"abc").file("sub/b", &[7; 300_000]);
    let manifest = Manifest::read(&create(&dir, &["-a", "md5,blake2b", "-a", "sha512", "-a", "md5"]));
    for (tool, algorithm) in [("md5sum", "md5"), ("b2sum", "blake2b"), ("sha512sum", "sha512")] {
        for (path, expected) in hash_lines(&sum(&dir, &[tool, "--"], &["."])) {
            assert_eq!(digest(&manifest.entries[&below(&path)], algorithm), Some(&*expected));
        }
    }
    assert!(digest(manifest.entry("a"), "sha256").is_none());
    assert_eq!(manifest.header["algorithms"], serde_json::json!(["md5", "blake2b", "sha512"]));
}

#[test]
fn no_file_is_read_without_contents() {
    let dir = everything();
    dir.file("locked", b"secret").lock("locked");
    let run = dir.ftk(["manifest", "create", "--no-content", "."]).unprivileged(&dir).run().status(0);
    let manifest = Manifest::parse(&run.out);
    assert_eq!(manifest.entry("locked")["size_bytes"], 6);
    assert!(manifest.entries.values().all(|entry| digest(entry, "sha256").is_none()));
    // `--no-content` excludes the choice of a digest.
    dir.ftk(["manifest", "create", "--no-content", "-a", "md5", "."]).run().status(2).stdout("");
}

/// Returns the extended attributes that `getfattr` prints for a file, by name.
pub(crate) fn getfattr(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut command = Command::new("getfattr");
    let output = command.args(["-h", "-d", "-m", "-", "-e", "hex", "--absolute-names"]).arg(path).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let pair = |line: &str| {
        let (name, value) = line.split_once("=0x")?;
        Some((name.to_owned(), data_encoding::HEXLOWER_PERMISSIVE.decode(value.as_bytes()).unwrap()))
    };
    text.lines().filter_map(pair).collect()
}

#[test]
fn manifests_agree_with_getfattr() {
    needs!("getfattr");
    let dir = Dir::new();
    dir.file("file", b"abc").file("plain", b"").dir("dir").symlink("file", "link").fifo("fifo");
    let set = |path: &str, name: &str, value: &[u8]| {
        rustix::fs::lsetxattr(dir.path(path), name, value, rustix::fs::XattrFlags::empty())
    };
    if set("file", "user.text", b"a value").is_err() {
        return skip("this file system has no extended attributes");
    }
    set("file", "user.empty", b"").unwrap();
    set("file", "user.bytes", b"\xff\x00\n").unwrap();
    set("dir", "user.of.dir", b"1").unwrap();
    // Only root can set attributes of other types than files and directories.
    _ = set("link", "trusted.link", b"l");
    _ = set("fifo", "trusted.fifo", b"f");
    let manifest = Manifest::read(&create(&dir, &[]));
    let mut n = 0;
    for path in ["file", "plain", "dir", "link", "fifo"] {
        let entry = manifest.entry(path);
        let all = entry["xattrs"].as_array().map_or(&[][..], |all| all);
        let pair = |xattr: &serde_json::Value| {
            (String::from_utf8(name(xattr, "name")).unwrap(), name(xattr, "value"))
        };
        let found: BTreeMap<_, _> = all.iter().map(pair).collect();
        assert_eq!(found, getfattr(&dir.path(path)), "{path}");
        n += found.len();
    }
    assert!(n >= 4);
    let without = Manifest::read(&create(&dir, &["--no-xattrs"]));
    assert!(without.entries.values().all(|entry| entry.get("xattrs").is_none()));
}

#[test]
fn a_link_as_root_is_followed_and_links_below_are_recorded() {
    let dir = Dir::new();
    dir.file("real/a", b"abc").symlink("real", "root").symlink("a", "real/link").symlink("..", "real/up");
    let run = dir.ftk(["manifest", "create", "root"]).run().status(0);
    let manifest = Manifest::parse(&run.out);
    assert_eq!(manifest.paths, [&b"."[..], b"a", b"link", b"up"]);
    assert_eq!(manifest.entry(".")["type"], "directory");
    assert_eq!(manifest.entry("up")["type"], "symlink");
    let refused = dir.ftk(["manifest", "create", "-L", "root"]).run().status(2).stdout("");
    refused.stderr_has("instead of following them");
}

/// Paths are relative to the root for every spelling of it.
#[test]
fn spellings_of_the_root() {
    let dir = Dir::new();
    dir.file("sub/a", b"abc").file("sub/deep/b", b"def").symlink("sub", "link");
    let absolute = dir.path("sub");
    let absolute = absolute.to_str().unwrap();
    let roots = ["sub", "sub/", "sub//", "./sub", "sub/deep/..", "link", "link/", absolute];
    for root in roots {
        let run = dir.ftk(["manifest", "create", root]).run().status(0);
        let manifest = Manifest::parse(&run.out);
        assert_eq!(manifest.paths, [&b"."[..], b"a", b"deep", b"deep/b"], "{root}");
        assert_eq!(manifest.header["root"], root);
        fs::write(dir.aside("manifest"), &run.out).unwrap();
        for other in roots {
            let run = dir.ftk(["manifest", "verify", other]).arg(dir.aside("manifest")).run().status(0);
            run.stdout("").stderr_has("  4 of 4 as recorded\n");
        }
    }
}

#[test]
fn roots_that_are_not_directories_are_errors() {
    let dir = Dir::new();
    dir.file("file", b"abc").fifo("fifo").symlink("nowhere", "broken");
    for (root, why) in [
        ("missing", "cannot open 'missing': no such file or directory"),
        ("broken", "cannot open 'broken': no such file or directory"),
        ("", "cannot open '': no such file or directory"),
        ("fifo", "'fifo' is not a directory"),
        ("file", "'file' is not a directory"),
    ] {
        let run = dir.ftk(["manifest", "create", root]).run().status(2).stdout("");
        run.stderr(&format!("ftk: {why}\n"));
    }
}

#[test]
fn an_empty_tree_and_an_empty_directory() {
    let dir = Dir::new();
    assert_eq!(Manifest::read(&create(&dir, &[])).paths, [b"."]);
    dir.dir("empty");
    assert_eq!(Manifest::read(&create(&dir, &[])).paths, [&b"."[..], b"empty"]);
}

/// A CRC finds changes, but another file may have the same one.
#[test]
fn a_crc_needs_an_algorithm_that_identifies_contents() {
    let dir = Dir::new();
    dir.file("tree/a", b"abc");
    for algorithms in ["crc32", "crc32c", "crc32,crc32c"] {
        let run = dir.ftk(["manifest", "create", "-a", algorithms, "tree"]).run().status(2).stdout("");
        run.stderr_has("a manifest needs an algorithm that identifies contents besides crc32");
    }
    let run = dir.ftk(["manifest", "create", "-a", "crc32,md5", "tree"]).run().status(0);
    run.check(run.text().contains(r#""digests":{"crc32":"352441c2","md5":"#), "both digests");
    dir.file("list", &run.out);
    dir.file("tree/a", b"abd");
    dir.ftk(["manifest", "verify", "tree", "list"]).run().status(1);
}
