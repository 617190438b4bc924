//! Manifests of different versions.

use std::collections::BTreeSet;

use ftk_file::Stat;
use ftk_hash::Algorithm;
use ftk_manifest::{Field, Header, Manifest};
use ftk_walk::FileType;

use crate::model::{Path, open, read, written};

/// A manifest of version 1 that has each member at least once.
const FIRST: &[u8] = include_bytes!("version-1.jsonl");

fn first() -> Manifest {
    open(FIRST).unwrap()
}

#[test]
fn the_file_has_every_member_of_version_1() {
    let text = str::from_utf8(FIRST).unwrap();
    let names: BTreeSet<_> = text.split('"').collect();
    let members = Field::ALL.map(Field::name);
    let since_2 = ["allocated_bytes", "birth_ns", "fs", "link_group", "tree", "verified_ns"];
    let missing: Vec<_> = members.iter().copied().filter(|name| !names.contains(name)).collect();
    assert_eq!(missing, since_2);
    assert!(["path", "path_b64", "target_b64", "name", "name_b64"].iter().all(|name| names.contains(name)));
}

#[test]
fn version_1_is_read_as_before() {
    let manifest = first();
    let header = manifest.header();
    assert_eq!((header.version, header.xattrs), (1, true));
    assert_eq!((&header.root[..], header.start_ns), (&b"/r/"[..], 1_763_713_800_000_000_001));
    assert_eq!(header.algorithms, [Algorithm::Xxh3, Algorithm::Md5]);
    assert_eq!(header.options, [&b"--exclude=*.tmp"[..], b"--name=\xff"]);
    let entries = read(&manifest).unwrap();
    assert_eq!(entries.len(), 10);
    let file = &entries[&Path::new("file")];
    let stat = Stat {
        file_type: FileType::Regular,
        size: 3,
        mtime_ns: 1_751_371_200_000_000_001,
        ctime_ns: 1_751_371_200_000_000_002,
        mode: 0o4755,
        uid: 1000,
        gid: 1001,
        dev: 65024,
        ino: 13,
        nlink: 2,
        ..Stat::EMPTY
    };
    assert_eq!(file.stat, stat);
    assert_eq!((file.digests.len(), file.damaged_ns), (24, None));
    assert_eq!(file.xattrs.as_ref().map(Vec::len), Some(2));
    assert_eq!(entries[&Path::new("rotten")].damaged_ns, Some(1_763_713_800_000_000_000));
    assert_eq!(entries[&Path::new("block")].stat.rdev, 2049);
    assert_eq!(entries[&Path::new("link2")].target.as_deref(), Some(&b"\xff"[..]));
    assert!(entries.values().all(|entry| Field::ALL.iter().all(|field| {
        let is_since_2 = *field == Field::Allocated;
        entry.absent.contains(*field) == is_since_2
    })));
}

/// Values that a manifest does not have are not invented when it is written again.
#[test]
fn only_the_version_changes_when_version_1_is_written_again() {
    let manifest = first();
    let again = written(manifest.header(), &read(&manifest).unwrap());
    let lines = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap().replace("\"version\":1", "\"version\":2");
        text.lines().filter(|line| !line.contains("footer")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&again), lines(FIRST));
    let header = Header { version: 2, ..manifest.header().clone() };
    assert_eq!(open(&again).unwrap().header(), &header);
}
