//! New manifests from old ones.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Field, Finding, Header, Manifest, Sample, Update, Updated, Verdict, Writer};

use crate::model::{Path, header, manifest, open, read, version_1};
use crate::tree_digests::with_trees;
use crate::trees::Dir;

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// The files that an update read, the corrupted files it found, and the new manifest.
struct Run {
    read: Vec<Vec<u8>>,
    corrupted: Vec<Vec<u8>>,
    updated: Updated,
    new: Manifest,
}

/// The time of the run that updates.
const NOW: i128 = 77;

fn update(dir: &Dir, old: &Manifest, check: Option<f64>, accept: &[&str]) -> Run {
    let walked = dir.walk(true);
    let (tree, budget) = (walked.tree(), Budget::new(1 << 20));
    let check = check.map(Sample::new);
    let accept: BTreeSet<_> = accept.iter().map(|path| path.as_bytes().to_vec()).collect();
    let update = Update::new(old, &tree, check.as_ref(), &accept, &budget).unwrap();
    let header = old.header();
    let rows = walked.read(Some(&update.files), &header.algorithms);
    let path = |file: &_| {
        let mut path = Vec::new();
        walked.inventory.push_path(*file, &mut path);
        path[walked.root.len() + 1..].to_vec()
    };
    let (mut bytes, mut corrupted) = (Vec::new(), Vec::new());
    let mut each = |finding: &Finding<'_>| {
        assert_eq!(finding.verdict, Verdict::Corrupted);
        corrupted.push(finding.path.to_vec());
    };
    let mut writer = Writer::new(header, |line: &[u8]| bytes.write_all(line)).unwrap();
    let updated = update.write(&rows, NOW, &mut writer, &Budget::new(u64::MAX), &mut each).unwrap();
    writer.finish().unwrap();
    Run { read: update.files.iter().map(path).collect(), corrupted, updated, new: open(&bytes).unwrap() }
}

/// Returns the header of a run that begins long after everything was written.
fn later(algorithms: &[Algorithm]) -> Header {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128;
    Header { start_ns: now + 60_000_000_000, ..header(algorithms, false) }
}

#[test]
fn no_file_of_an_unchanged_tree_is_read() {
    let dir = Dir::new();
    let header = later(XXH3);
    let old = dir.manifest(&header);
    let run = update(&dir, &old, None, &[]);
    assert_eq!(run.read, Vec::<Vec<u8>>::new());
    assert_eq!(read(&run.new).unwrap(), read(&old).unwrap());
}

#[test]
fn version_1_is_upgraded_without_reading_unchanged_files() {
    let dir = Dir::new();
    let header = later(XXH3);
    let now = dir.recorded(XXH3);
    let old = version_1(&header, &now);
    let run = update(&dir, &old, None, &[]);
    assert_eq!(run.read, Vec::<Vec<u8>>::new());
    assert_eq!((old.header().version, run.new.header().version), (1, 2));
    assert_eq!(read(&run.new).unwrap(), now);
    assert!(now.values().all(|entry| !entry.absent.contains(Field::Allocated)));

    // A file that keeps its old record gets no values that were not read with it.
    let mut damaged = now.clone();
    damaged.get_mut(&Path::new("file")).unwrap().digests[3] ^= 1;
    let run = update(&dir, &version_1(&header, &damaged), Some(100.0), &[]);
    assert_eq!(run.corrupted, [b"file"]);
    let kept = &read(&run.new).unwrap()[&Path::new("file")];
    assert!(kept.absent.contains(Field::Allocated) && kept.stat.birth_ns.is_none());
}

#[test]
fn files_without_recorded_times_are_read() {
    let dir = Dir::new();
    let now = dir.recorded(XXH3);
    let mut old = now.clone();
    old.get_mut(&Path::new("file")).unwrap().forget(Field::Mtime);
    old.get_mut(&Path::new(".")).unwrap().forget(Field::Dev);
    let run = update(&dir, &manifest(&later(XXH3), &old), None, &[]);
    assert_eq!(run.read, [b"file"]);
    assert_eq!(read(&run.new).unwrap(), now);
}

#[test]
fn changed_and_recent_files_are_read() {
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
    let mut run = update(&dir, &old, None, &[]);
    run.read.sort();
    assert_eq!(run.read, [&b"a-b"[..], b"a/b/c", b"a/x", b"fresh", b"moved"]);
    assert_eq!(read(&run.new).unwrap(), dir.recorded(XXH3));

    // The same manifest, but with a run that began before the files were written.
    let young = manifest(&Header { start_ns: 7, ..header.clone() }, &read(&run.new).unwrap());
    assert_eq!(update(&dir, &young, None, &[]).read.len(), 8);
}

#[test]
fn update_without_digests_reads_no_file() {
    let dir = Dir::new();
    let old = dir.manifest(&later(&[]));
    dir.write("file", "CONTENT");
    let run = update(&dir, &old, Some(100.0), &[]);
    assert_eq!(run.read.len(), 0);
    assert_eq!(read(&run.new).unwrap(), dir.recorded(&[]));
}

#[test]
fn damaged_files_are_reported_until_repaired_changed_or_accepted() {
    let dir = Dir::new();
    let header = later(XXH3);
    let good = read(&dir.manifest(&header)).unwrap();
    let mut entries = good.clone();
    // Simulates a disk that returns other bytes than before.
    entries.get_mut(&Path::new("file")).unwrap().digests[3] ^= 1;
    let mut entries = with_trees(entries, XXH3);
    let old = manifest(&header, &entries);
    let run = update(&dir, &old, None, &[]);
    assert_eq!((run.read.len(), run.corrupted.len()), (0, 0));
    let run = update(&dir, &old, Some(100.0), &[]);
    assert_eq!(run.read.len(), 7);
    assert_eq!(run.corrupted, [b"file"]);
    assert_eq!(run.updated, Updated { entries: entries.len() as u64, corrupted: 1, ..Updated::default() });
    entries.get_mut(&Path::new("file")).unwrap().damaged_ns = Some(NOW);
    assert_eq!(read(&run.new).unwrap(), entries);

    // The file is now read without `check`, and the time of the first finding is kept.
    entries.get_mut(&Path::new("file")).unwrap().damaged_ns = Some(5);
    let damaged = manifest(&header, &entries);
    for check in [None, Some(0.0)] {
        let run = update(&dir, &damaged, check, &[]);
        assert_eq!((&run.read[..], &run.corrupted[..]), (&[b"file".to_vec()][..], &[b"file".to_vec()][..]));
        assert_eq!(read(&run.new).unwrap(), entries);
    }
    let run = update(&dir, &damaged, None, &["file"]);
    assert_eq!((run.read.len(), run.corrupted.len()), (1, 0));
    assert_eq!(read(&run.new).unwrap(), good);

    // The old content is restored.
    let mut repaired = good.clone();
    repaired.get_mut(&Path::new("file")).unwrap().damaged_ns = Some(5);
    let run = update(&dir, &manifest(&header, &repaired), None, &[]);
    assert_eq!((run.read.len(), run.corrupted.len()), (1, 0));
    assert_eq!(read(&run.new).unwrap(), good);

    dir.touch("file", 2_000_000_000);
    assert_eq!(update(&dir, &damaged, None, &[]).corrupted.len(), 0);
}

#[test]
fn corruption_is_found_even_with_a_new_ctime() {
    let dir = Dir::new();
    let header = later(XXH3);
    let old = dir.manifest(&header);
    dir.write("file", "CONTENT");
    dir.touch("file", 1_000_000_007);
    let run = update(&dir, &old, None, &[]);
    assert_eq!(run.corrupted, [b"file"]);
    let was = |manifest: &Manifest| read(manifest).unwrap()[&Path::new("file")].digests.clone();
    assert_eq!(was(&run.new), was(&old));
}

#[test]
fn missing_entries_are_counted_without_the_root() {
    let dir = Dir::new();
    let old = dir.manifest(&later(XXH3));
    let recorded = read(&old).unwrap().len() as u64 - 1;
    let walked = dir.walk(true);
    let accept = ["file", "a", "nowhere"].map(|path| path.as_bytes().to_vec()).into();
    let update = Update::new(&old, &walked.tree(), None, &accept, &Budget::new(1 << 20)).unwrap();
    assert_eq!((update.recorded, update.missing, update.is_other_root), (recorded, 0, false));
    assert_eq!(update.unknown, [b"a".to_vec(), b"nowhere".to_vec()].into());
    fs::remove_dir_all(dir.at("a")).unwrap();
    let walked = dir.walk(true);
    let update = Update::new(&old, &walked.tree(), None, &accept, &Budget::new(1 << 20)).unwrap();
    assert_eq!((update.recorded, update.missing), (recorded, 6));
}

#[test]
fn a_new_device_and_inode_mean_another_root() {
    let dir = Dir::new();
    let header = later(XXH3);
    let entries = read(&dir.manifest(&header)).unwrap();
    for (dev, ino, is_other) in [(0, 0, false), (1, 0, false), (0, 1, false), (1, 1, true)] {
        let mut entries = entries.clone();
        let root = &mut entries.get_mut(&Path::new(".")).unwrap().stat;
        (root.dev, root.ino) = (root.dev + dev, root.ino + ino);
        let (old, walked, none) = (manifest(&header, &entries), dir.walk(true), BTreeSet::new());
        let update = Update::new(&old, &walked.tree(), None, &none, &Budget::new(1 << 20)).unwrap();
        assert_eq!(update.is_other_root, is_other);
    }
}
