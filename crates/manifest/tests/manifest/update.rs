//! New manifests from old ones.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Header, Manifest, Sample, Update};

use crate::model::{Path, header, manifest, read};
use crate::trees::Dir;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// What an update read, what it found corrupted, and what it made.
struct Run {
    read: Vec<Vec<u8>>,
    corrupted: Vec<Vec<u8>>,
    new: Manifest,
}

fn update(dir: &Dir, old: &Manifest, header: &Header, check: Option<f64>) -> Run {
    let walked = dir.walk(true);
    let (tree, budget) = (walked.tree(), Budget::new(1 << 20));
    let check = check.map(Sample::new);
    let update = Update::new(old, &tree, &header.algorithms, check.as_ref(), &budget).unwrap();
    let rows = walked.read(Some(&update.files), &header.algorithms);
    let path = |file: &_| {
        let mut path = Vec::new();
        walked.inventory.push_path(*file, &mut path);
        path[walked.root.len() + 1..].to_vec()
    };
    Run {
        read: update.files.iter().map(path).collect(),
        corrupted: update.corrupted(&rows).iter().map(path).collect(),
        new: walked.write(header, &update.contents(&rows)),
    }
}

/// A header of a run that begins long after everything was written.
fn later(algorithms: &[Algorithm]) -> Header {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128;
    Header { start_ns: now + 60_000_000_000, ..header(algorithms, false) }
}

#[test]
fn of_an_unchanged_tree_nothing_is_read() {
    let dir = Dir::new();
    let header = later(XXH3);
    let old = dir.manifest(&header);
    let run = update(&dir, &old, &header, None);
    assert_eq!(run.read, Vec::<Vec<u8>>::new());
    assert_eq!(read(&run.new).unwrap(), read(&old).unwrap());
}

#[test]
fn what_changed_and_what_is_young_is_read() {
    let dir = Dir::new();
    let header = later(XXH3);
    let old = dir.manifest(&header);
    dir.write("a/x", "y"); // the same size
    dir.touch("a/b/c", 5); // other times
    dir.write("fresh", "new");
    fs::rename(dir.at("twin"), dir.at("moved")).unwrap();
    dir.write("copy", "dash");
    fs::rename(dir.at("copy"), dir.at("a-b")).unwrap(); // another inode
    fs::remove_file(dir.at("pipe")).unwrap();
    let mut run = update(&dir, &old, &header, None);
    run.read.sort();
    assert_eq!(run.read, [&b"a-b"[..], b"a/b/c", b"a/x", b"fresh", b"moved"]);
    assert_eq!(read(&run.new).unwrap(), dir.entries(XXH3));

    // The same manifest, but of a run that began before the files were written.
    let young = manifest(&Header { start_ns: 7, ..header.clone() }, &read(&run.new).unwrap());
    assert_eq!(update(&dir, &young, &header, None).read.len(), 8);
}

#[test]
fn other_algorithms_need_every_byte_unless_they_are_fewer() {
    let dir = Dir::new();
    let both = later(&[Algorithm::Md5, Algorithm::Xxh3]);
    let old = dir.manifest(&both);
    let run = update(&dir, &old, &later(XXH3), None);
    assert_eq!(run.read.len(), 0);
    assert_eq!(read(&run.new).unwrap(), dir.entries(XXH3));
    let run = update(&dir, &run.new, &both, None);
    assert_eq!(run.read.len(), 7);
    assert_eq!(read(&run.new).unwrap(), read(&old).unwrap());
    let run = update(&dir, &old, &later(&[]), None);
    assert_eq!(run.read.len(), 0);
    assert_eq!(read(&run.new).unwrap(), dir.entries(&[]));
}

#[test]
fn a_check_finds_rot_and_does_not_hide_it() {
    let dir = Dir::new();
    let header = later(XXH3);
    let mut entries = read(&dir.manifest(&header)).unwrap();
    // As if the disk gave other bytes now than then.
    entries.get_mut(&Path::new("file")).unwrap().digests[3] ^= 1;
    let old = manifest(&header, &entries);
    let run = update(&dir, &old, &header, None);
    assert_eq!((run.read.len(), run.corrupted.len()), (0, 0));
    let run = update(&dir, &old, &header, Some(100.0));
    assert_eq!(run.read.len(), 7);
    assert_eq!(run.corrupted, [b"file"]);
    assert_eq!(read(&run.new).unwrap(), entries);
    let run = update(&dir, &old, &header, Some(0.0));
    assert_eq!(run.read.len(), 0);
}
