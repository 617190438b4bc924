//! The format: what is written can be read, and anything else is refused.

use std::io::Write as _;
use std::os::fd::OwnedFd;

use ftk_file::Stat;
use ftk_hash::Algorithm;
use ftk_manifest::{Error, Field, Manifest, Xattr};
use ftk_record::{Seal, SealError};
use ftk_walk::FileType;
use proptest::prelude::*;

use crate::model::{Entries, OPTIONAL, Owned, Path, entry, header, open, read, seal, written};

/// Any path below a root.
fn path() -> impl Strategy<Value = Path> {
    let name = prop::collection::vec((1_u8..).prop_filter("no slash", |byte| *byte != b'/'), 1..6);
    let name = name.prop_filter("no dots", |name| !matches!(&name[..], b"." | b".."));
    prop::collection::vec(name, 1..4).prop_map(|names| Path(names.join(&b'/')))
}

pub(crate) fn xattrs() -> impl Strategy<Value = Vec<Xattr>> {
    let name = prop::collection::vec(1_u8.., 1..5);
    let value: BoxedStrategy<Vec<u8>> = any::<Vec<u8>>().boxed();
    prop::collection::btree_map(name, value, 0..3)
        .prop_map(|map| map.into_iter().map(|(name, value)| Xattr { name, value }).collect())
}

/// Any entry.
fn any_entry() -> impl Strategy<Value = Owned> {
    let bytes = prop::collection::vec(1_u8.., 1..9);
    let numbers = (any::<[u64; 4]>(), any::<[u32; 2]>(), any::<i64>(), any::<[i32; 2]>());
    (entry(24), numbers, xattrs(), bytes).prop_map(|(mut entry, numbers, xattrs, target)| {
        let ([size, dev, ino, nlink], [uid, gid], time, [more, less]) = numbers;
        let mode = uid & 0o7777;
        let (mtime_ns, ctime_ns) = (i128::from(time) * i128::from(more), i128::from(less));
        let (blocks, birth_ns) = (size / 512, (nlink % 3 > 0).then_some(mtime_ns / 2));
        let times = Stat { mtime_ns, ctime_ns, birth_ns, ..entry.stat };
        entry.stat = Stat { size, blocks, dev, ino, nlink, uid, gid, mode, ..times };
        if matches!(entry.stat.file_type, FileType::Block | FileType::Char) {
            entry.stat.rdev = nlink;
        }
        for field in OPTIONAL {
            if entry.absent.contains(field) {
                entry.forget(field);
            }
        }
        entry.target = entry.target.map(|_| target);
        entry.xattrs = Some(xattrs);
        entry
    })
}

proptest! {
    #[test]
    fn every_entry_is_read_back(
        entries in prop::collection::btree_map(path(), any_entry(), 0..8),
        root in prop::option::of(any_entry()),
    ) {
        let mut entries: Entries = entries;
        entries.extend(root.map(|root| (Path::new("."), root)));
        let header = header(&[Algorithm::Md5, Algorithm::Xxh3], true);
        let bytes = written(&header, &entries);
        prop_assert!(str::from_utf8(&bytes).is_ok_and(|text| !text.chars().any(|c| c.is_control() && c != '\n')));
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        prop_assert_eq!(lines.count(), entries.len() + 2);
        let manifest = open(&bytes).unwrap();
        prop_assert_eq!(manifest.header(), &header);
        prop_assert_eq!(read(&manifest).unwrap(), entries);
    }
}

const A: &str = "{\"path\":\"a\",\"type\":\"file\",\"size_bytes\":1,\"allocated_bytes\":1024,\"mtime_ns\":-2,\"ctime_ns\":3,\"birth_ns\":-4,\"mode\":\"0644\",\
                 \"uid\":4,\"gid\":5,\"dev\":6,\"ino\":7,\"nlink\":8,\"digests\":{\"xxh3\":\"0123456789abcdef\"}}";
const L: &str = "{\"path\":\"l\",\"type\":\"symlink\",\"size_bytes\":1,\"mtime_ns\":2,\"ctime_ns\":3,\"mode\":\"0777\",\
                 \"uid\":4,\"gid\":5,\"dev\":6,\"ino\":7,\"nlink\":8,\"target\":\"a\"}";

/// A manifest of these lines, with a valid footer.
fn sealed(lines: &[&str]) -> Vec<u8> {
    sealed_as(2, lines)
}

/// A manifest of this version.
fn sealed_as(version: u64, lines: &[&str]) -> Vec<u8> {
    let head = format!(
        "{{\"ftk\":\"manifest\",\"version\":{version},\"root\":\"/r\",\"algorithms\":[\"xxh3\"],\
         \"xattrs\":false,\"options\":[],\"start_ns\":7}}"
    );
    seal(&[&[&*head], lines].concat())
}

fn paths(lines: &[&str]) -> Result<Vec<String>, Error> {
    paths_as(2, lines)
}

fn paths_as(version: u64, lines: &[&str]) -> Result<Vec<String>, Error> {
    let entries = read(&open(&sealed_as(version, lines))?)?;
    Ok(entries.into_keys().map(|path| String::from_utf8(path.0).unwrap()).collect())
}

#[test]
fn a_line_is_as_documented() {
    let entries = read(&open(&sealed(&[A, L])).unwrap()).unwrap();
    let stat = Stat {
        file_type: FileType::Regular,
        size: 1,
        blocks: 2,
        mtime_ns: -2,
        ctime_ns: 3,
        birth_ns: Some(-4),
        mode: 0o644,
        uid: 4,
        gid: 5,
        dev: 6,
        ino: 7,
        nlink: 8,
        rdev: 0,
    };
    let digests = 0x0123_4567_89ab_cdef_u64.to_be_bytes().to_vec();
    let file = Owned::new(stat, digests);
    assert_eq!(entries[&Path::new("a")], file);
    let link = &entries[&Path::new("l")];
    assert_eq!(link.target.as_deref(), Some(&b"a"[..]));
    assert!(link.absent.contains(Field::Allocated) && link.stat.birth_ns.is_none());
    assert_eq!(written(&header(&[Algorithm::Xxh3], false), &entries), sealed(&[A, L]));
}

#[test]
fn unknown_members_of_entries_are_ignored() {
    let more = A.replace("\"uid\"", "\"acl\":[{\"a\":null}],\"uid\"");
    assert_eq!(paths(&[&more, L]).unwrap(), ["a", "l"]);
    let spaced = A.replace(",\"", " ,\t\"").replace("\":", "\" : ");
    assert_eq!(paths(&[&spaced, L]).unwrap(), ["a", "l"]);
    assert_eq!(paths(&[&A.replace("\"a\"", "\"\\u0061\"")]).unwrap(), ["a"]);
}

/// The values of [`A`] as an array, without the names of its members.
const ARRAY: &str =
    "[\"a\",null,\"file\",1,2,3,\"0644\",4,5,6,7,8,null,null,null,{\"xxh3\":\"0123456789abcdef\"},null]";

#[test]
fn invalid_entries_are_errors_with_line_numbers() {
    for (line, from, to, why) in [
        (A, "\"path\":\"a\",", "", "the path is missing"),
        (A, "\"path\":\"a\"", "\"path\":\"a\",\"path_b64\":\"YQ==\"", "the path is given both"),
        (A, "\"path\":\"a\"", "\"path\":\"a\",\"path\":\"a\"", "the member `path` appears twice"),
        (A, "\"path\":\"a\"", "\"path_b64\":\"?\"", "base64"),
        (A, "\"path\":\"a\"", "\"path\":\"a\\u0000\"", "NUL"),
        (A, "\"path\":\"a\"", "\"path\":3", "integer `3` where a string is expected"),
        (A, "\"path\":\"a\"", "\"path\":\"/a\"", "'/a' is not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"a/\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"..\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"../../etc/x\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"a/../b\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"./a\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path\":\"a//b\"", "not a path below the root"),
        (A, "\"path\":\"a\"", "\"path_b64\":\"Li4v/w==\"", "not a path below the root"),
        (A, "\"file\"", "\"door\"", "unknown type \"door\""),
        (A, "\"file\"", "\"fifo\"", "digests by all algorithms"),
        (A, "\"nlink\":8", "\"nlink\":8,\"rdev\":9", "only devices can have `rdev`"),
        (A, "\"nlink\":8", "\"nlink\":8,\"target\":\"b\"", "only symbolic links can have `target`"),
        (
            A,
            "\"size_bytes\":1",
            "\"size_bytes\":-1",
            "integer `-1` where an integer of 0 or more is expected",
        ),
        (A, "\"size_bytes\":1", "\"size_bytes\":\"1\"", "string \"1\" where an integer of 0 or more"),
        (A, "\"size_bytes\":1", "\"size_bytes\":1.0", "fraction `1.0` where an integer of 0 or more"),
        (A, "\"uid\":4", "\"uid\":4294967296", "where an integer from 0 to 4294967295"),
        (A, "\"0644\"", "\"644\"", "not a mode"),
        (A, "\"0644\"", "\"+644\"", "not a mode"),
        (A, "\"0644\"", "\"0648\"", "not a mode"),
        (A, "\"0644\"", "420", "integer `420` where a string is expected"),
        (A, ",\"digests\":{\"xxh3\":\"0123456789abcdef\"}", "", "digests by all algorithms"),
        (A, "{\"xxh3\":\"0123456789abcdef\"}", "{}", "digests by all algorithms"),
        (A, "\"xxh3\"", "\"md5\"", "the xxh3 digest is missing"),
        (A, "\"xxh3\":", "\"xxh3\":\"0123456789abcdef\",\"xxh3\":", "digests by all algorithms"),
        (A, "0123456789abcdef", "0123456789abcde", "is not a xxh3 digest"),
        (A, "0123456789abcdef", "0123456789abcdeg", "is not a xxh3 digest"),
        (A, "0123456789abcdef", "", "is not a xxh3 digest"),
        (A, "0123456789abcdef", "0123456789abcdef01", "is not a xxh3 digest"),
        (A, "\"nlink\":8", "\"nlink\":8,\"xattrs\":[]", "xattrs are not allowed"),
        (A, "}}", "}", "ends in the middle of a JSON object"),
        (A, "}}", "}}}", "trailing characters"),
        (A, "\"uid\"", "uid", "key must be a string"),
        (A, A, "[]", "an object"),
        (A, A, ARRAY, "an object"),
        (A, A, "", "it is empty"),
        (A, A, "null", "null where an object is expected"),
        (L, "\"target\":\"a\"", "\"target\":\"a\",\"target_b64\":\"YQ==\"", "target: the path is given both"),
    ] {
        let lines = [A, L].map(|it| if it == line { it.replacen(from, to, 1) } else { it.to_owned() });
        for version in [1, 2] {
            let error = paths_as(version, &[&lines[0], &lines[1]]).unwrap_err();
            let expected = if line == A { 2 } else { 3 };
            assert!(
                matches!(error, Error::Line { number, .. } if number == expected),
                "{from} {to}: {error:?}"
            );
            let text = error.to_string();
            let start = format!("line {expected}: ");
            assert!(text.contains(why) && text.starts_with(&start), "{from} {to}: {text}");
            assert!(!text.contains("column"), "{text}");
        }
    }
}

#[test]
fn members_may_be_absent_only_from_version_2_on() {
    for (field, text) in [
        (Field::Allocated, ",\"allocated_bytes\":1024"),
        (Field::Birth, ",\"birth_ns\":-4"),
        (Field::Mtime, ",\"mtime_ns\":-2"),
        (Field::Ctime, ",\"ctime_ns\":3"),
        (Field::Mode, ",\"mode\":\"0644\""),
        (Field::Uid, ",\"uid\":4"),
        (Field::Gid, ",\"gid\":5"),
        (Field::Dev, ",\"dev\":6"),
        (Field::Ino, ",\"ino\":7"),
        (Field::Nlink, ",\"nlink\":8"),
    ] {
        let shorter = A.replace(text, "");
        if ![Field::Allocated, Field::Birth].contains(&field) {
            let error = paths_as(1, &[&shorter]).unwrap_err().to_string();
            assert_eq!(error, format!("line 2: the member `{field}` is missing"));
        }
        let null = A.replace(text, &format!(",\"{field}\":null"));
        let [found, same] = [&shorter, &null].map(|line| read(&open(&sealed(&[line])).unwrap()).unwrap());
        assert_eq!(found, same);
        let mut expected = read(&open(&sealed(&[A])).unwrap()).unwrap();
        assert!(expected.get_mut(&Path::new("a")).unwrap().forget(field));
        assert_eq!(found, expected);
        assert_eq!(written(&header(&[Algorithm::Xxh3], false), &found), sealed(&[&shorter]));
    }
    for (line, path) in [(A, "a"), (L, "l")] {
        let without_size = line.replace(",\"size_bytes\":1", "");
        assert_eq!(paths(&[&without_size]).unwrap(), [path]);
        let error = paths_as(1, &[&without_size]).unwrap_err().to_string();
        assert_eq!(error, "line 2: the member `size_bytes` is missing");
    }
    // A specification of mtree may name a link without its target.
    let without_target = L.replace(",\"target\":\"a\"", "");
    let entries = read(&open(&sealed(&[&without_target])).unwrap()).unwrap();
    let link = &entries[&Path::new("l")];
    assert!(link.target.is_none() && link.absent.contains(Field::Target));
    assert_eq!(written(&header(&[Algorithm::Xxh3], false), &entries), sealed(&[&without_target]));
    let error = paths_as(1, &[&without_target]).unwrap_err().to_string();
    assert_eq!(error, "line 2: the member `target` is missing");
    let device =
        A.replace(",\"digests\":{\"xxh3\":\"0123456789abcdef\"}", "").replace("file", "block_device");
    assert_eq!(paths(&[&device]).unwrap(), ["a"]);
    assert_eq!(paths_as(1, &[&device]).unwrap_err().to_string(), "line 2: the member `rdev` is missing");
}

#[test]
fn members_of_version_2_are_checked() {
    for (from, to, why) in [
        ("1024", "1023", "line 2: 1023 allocated bytes are not a multiple of 512"),
        ("1024", "-512", "integer `-512` where an integer of 0 or more is expected"),
        ("\"birth_ns\":-4", "\"birth_ns\":\"-4\"", "its JSON is broken"),
        ("\"birth_ns\":-4", "\"fs\":\"0123456789abcdef\"", "is not a file system: 32 digits from 0 to f"),
        ("\"birth_ns\":-4", "\"fs\":\"0123456789abcdef0123456789ABCDEF\"", "is not a file system"),
        ("\"birth_ns\":-4", "\"fs\":7", "integer `7` where a string is expected"),
        ("\"birth_ns\":-4", "\"verified_ns\":1.5", "its JSON is broken"),
        ("\"birth_ns\":-4", "\"birth_ns\":-4,\"birth_ns\":-4", "the member `birth_ns` appears twice"),
    ] {
        let line = A.replace(from, to);
        let error = paths(&[&line]).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        // Version 1 gives these names no meaning.
        assert_eq!(paths_as(1, &[&line]).unwrap(), ["a"]);
    }
    let fifo = A
        .replace("\"file\"", "\"fifo\"")
        .replace("\"digests\":{\"xxh3\":\"0123456789abcdef\"}", "\"verified_ns\":1");
    let error = paths(&[&fifo]).unwrap_err().to_string();
    assert_eq!(error, "line 2: verified_ns is not allowed for entries without digests");
    let first = read(&open(&sealed_as(1, &[A])).unwrap()).unwrap();
    let entry = &first[&Path::new("a")];
    assert!(entry.absent.contains(Field::Allocated) && entry.stat.birth_ns.is_none());
}

#[test]
fn unsorted_and_duplicate_entries_are_refused() {
    let named = |path: &str| A.replace("\"a\"", &format!("\"{path}\""));
    assert_eq!(
        paths(&[&named("."), &named("!"), &named("a"), &named("a-"), &named("a/b")]).unwrap().len(),
        5
    );
    for (before, after, why) in [
        ("b", "a", "'a' is out of order"),
        ("a/b", "a-", "'a-' is out of order"),
        ("a", "a", "'a' appears twice"),
        ("!", ".", "'.' is out of order"),
        (".", ".", "'.' appears twice"),
    ] {
        let error = paths(&[&named(before), &named(after), &named("z")]).unwrap_err();
        assert_eq!(error.to_string(), format!("line 3: {why}"));
    }
}

#[test]
fn truncated_manifests_are_refused() {
    let bytes = sealed(&[A, L]);
    assert!(matches!(open(b""), Err(Error::NotManifest(_))));
    for cut in 1..bytes.len() {
        let error = open(&bytes[..cut]).unwrap_err();
        assert!(matches!(error, Error::Seal(SealError::Incomplete)), "{cut}: {error:?}");
    }
    assert!(open(&bytes).is_ok());
}

#[test]
fn one_changed_byte_is_refused() {
    let bytes = sealed(&[A, L]);
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert!(open(&bytes).is_err(), "byte {at}");
    }
}

#[test]
fn files_that_are_not_manifests_are_refused() {
    let error = open(&sealed_as(4, &[A])).unwrap_err();
    assert!(matches!(error, Error::Version(4)), "{error:?}");
    assert_eq!(error.to_string(), "manifest version 4 needs a newer ftk; this one reads versions 1 to 3");
    assert!(matches!(open(&sealed_as(0, &[A])), Err(Error::NotManifest(_))));
    assert!(matches!(open(b"d41d8cd98f00b204e9800998ecf8427e  a\n"), Err(Error::List(_))));
    assert!(matches!(open(b"\xef\xbb\xbf{}\n"), Err(Error::NotManifest(_))));
    assert!(matches!(open(b"{\"footer\":{}}\n"), Err(Error::Seal(_))));
    let mut only_footer = Vec::new();
    Seal::new().footer(&mut only_footer);
    assert!(matches!(open(&only_footer), Err(Error::NotManifest(_))));
}

#[test]
fn a_manifest_from_a_pipe_can_be_read_repeatedly() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let bytes = sealed(&[A, L]);
    let filler = std::thread::spawn(move || writer.write_all(&bytes).unwrap());
    let manifest = Manifest::open(OwnedFd::from(reader).into()).unwrap();
    filler.join().unwrap();
    assert_eq!(read(&manifest).unwrap().len(), 2);
    assert_eq!(read(&manifest).unwrap().len(), 2, "a second pass");
}

#[test]
fn two_readers_of_one_manifest_are_independent() {
    let manifest = open(&sealed(&[A, L])).unwrap();
    let (mut one, mut other) = (manifest.entries().unwrap(), manifest.entries().unwrap());
    assert_eq!(one.next().unwrap().unwrap().path, b"a");
    assert_eq!(one.next().unwrap().unwrap().path, b"l");
    assert_eq!(other.next().unwrap().unwrap().path, b"a");
    assert!(one.next().unwrap().is_none());
    assert_eq!(other.next().unwrap().unwrap().path, b"l");
}
