//! New manifests from old ones.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_file::{FileType, FsId, Identity};
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{
    Field, Finding, Header, Kinship, Manifest, OtherRoot, Provenance, RootIdentity, Sample, Update,
    UpdateOptions, Updated, Verdict, Writer,
};
use ftk_select::Checks;

use crate::model::{Entries, Path, Said, header, manifest, open, read, version_1};
use crate::tree_digests::with_trees;
use crate::trees::{Dir, Walked};

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// The files that an update read, what it reported, the corrupted files among these, and the new manifest.
pub(crate) struct Run {
    pub(crate) read: Vec<Vec<u8>>,
    pub(crate) said: Vec<Said>,
    pub(crate) corrupted: Vec<Vec<u8>>,
    pub(crate) updated: Updated,
    pub(crate) new: Manifest,
    /// The new manifest.
    pub(crate) bytes: Vec<u8>,
}

/// The time of the run that updates.
const NOW: i128 = 77;

pub(crate) fn update(dir: &Dir, old: &Manifest, check: Option<f64>, accept: &[&str]) -> Run {
    update_walked(&dir.walk(true), old, check, accept)
}

fn update_walked(walked: &Walked, old: &Manifest, check: Option<f64>, accept: &[&str]) -> Run {
    let check = check.map(Sample::new);
    let accept: BTreeSet<_> = accept.iter().map(|path| path.as_bytes().to_vec()).collect();
    run(
        walked,
        old,
        &UpdateOptions {
            check: check.as_ref(),
            accept: &accept,
            append_only: false,
            checks: &Checks::default(),
            kinship: Kinship::None,
            examination: None,
        },
    )
}

/// Runs an append-only update.
pub(crate) fn append(walked: &Walked, old: &Manifest) -> Run {
    run(
        walked,
        old,
        &UpdateOptions {
            check: None,
            accept: &BTreeSet::new(),
            append_only: true,
            checks: &Checks::default(),
            kinship: Kinship::None,
            examination: None,
        },
    )
}

pub(crate) fn run(walked: &Walked, old: &Manifest, options: &UpdateOptions<'_>) -> Run {
    run_to(old.header(), walked, old, options)
}

/// Writes the new manifest with this header.
pub(crate) fn run_to(new: &Header, walked: &Walked, old: &Manifest, options: &UpdateOptions<'_>) -> Run {
    let (tree, budget) = (walked.tree(), Budget::new(1 << 20));
    let update = Update::new(old, &tree, options, &budget).unwrap();
    let header = old.header();
    let rows = walked.read(Some(&update.files), &header.algorithms);
    let path = |file: &_| walked.inventory.path(*file)[walked.root.len() + 1..].to_vec();
    let (mut bytes, mut said, mut corrupted) = (Vec::new(), Vec::new(), Vec::new());
    let mut each = |finding: &Finding<'_>| {
        said.push(Said::of(finding));
        if finding.verdict == Verdict::Corrupted {
            corrupted.push(finding.path.to_vec());
        }
    };
    let mut writer = Writer::new(new, |line: &[u8]| bytes.write_all(line));
    let updated =
        update.write(&rows, NOW, &mut writer, &Budget::new(u64::MAX), &mut each, &mut |_| ()).unwrap();
    writer.finish().unwrap();
    let read = update.files.iter().map(path).collect();
    Run { read, said, corrupted, updated, new: open(&bytes).unwrap(), bytes }
}

/// Returns the header of a run that begins long after everything was written.
pub(crate) fn later(algorithms: &[Algorithm]) -> Header {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i128;
    Header { start_ns: now + 60_000_000_000, ..header(algorithms, false) }
}

/// Returns the entries of a manifest without the times of verification, which depend on what a run reads.
fn untimed(manifest: &Manifest) -> Entries {
    let mut entries = read(manifest).unwrap();
    entries.values_mut().for_each(|entry| entry.verified_ns = None);
    entries
}

#[test]
fn no_file_of_an_unchanged_tree_is_read() {
    let dir = Dir::new();
    let header = later(XXH3);
    let old = dir.manifest(&header);
    let run = update(&dir, &old, None, &[]);
    assert_eq!(run.read, Vec::<Vec<u8>>::new());
    assert_eq!(untimed(&run.new), read(&old).unwrap());
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
    assert_eq!(untimed(&run.new), now);
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
    old.get_mut(&Path::new("a/x")).unwrap().forget(Field::Ino);
    let run = update(&dir, &manifest(&later(XXH3), &old), None, &[]);
    assert_eq!(run.read, [&b"file"[..], b"a/x"]);
    assert_eq!(untimed(&run.new), now);
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
    assert_eq!(untimed(&run.new), dir.recorded(XXH3));

    // The same manifest, but with a run that began before the files were written.
    let young = manifest(&Header { start_ns: 7, ..header.clone() }, &read(&run.new).unwrap());
    assert_eq!(update(&dir, &young, None, &[]).read.len(), 8);
}

/// Files that were written while the recorded snapshot was made: it may have their times without their last bytes.
#[test]
fn files_that_were_incomplete_in_a_snapshot_are_recorded_anew() {
    let dir = Dir::new();
    let header = later(XXH3);
    let now = dir.recorded(XXH3);
    let snapshot = Header { provenance: Provenance { settled_ns: Some(7), ..header.provenance }, ..header };
    let mut entries = dir.entries(XXH3);
    entries.get_mut(&Path::new("file")).unwrap().digests[3] ^= 1;
    let damaged = entries.get_mut(&Path::new("none")).unwrap();
    damaged.digests[0] ^= 1;
    damaged.damaged_ns = Some(9);
    let old = manifest(&snapshot, &with_trees(entries, XXH3));
    let walked = dir.walk(true);
    let growing = Checks::parse(b"growing file").unwrap();
    let accept = BTreeSet::new();
    let options = |append_only, checks| {
        let (kinship, check, examination) = (Kinship::None, None, None);
        UpdateOptions { check, accept: &accept, append_only, checks, kinship, examination }
    };
    let all = Checks::default();
    for (append_only, checks) in [(false, &all), (true, &all), (false, &growing)] {
        let options = options(append_only, checks);
        let (budget, tree) = (Budget::new(1 << 20), walked.tree());
        let mut update = Update::new(&old, &tree, &options, &budget).unwrap();
        update.read_growing(&budget, &mut |path, error| panic!("{path:?}: {error}")).unwrap();
        let rows = walked.read(Some(&update.files), XXH3);
        let (mut bytes, mut said) = (Vec::new(), Vec::new());
        let mut new = header_of(&old);
        update.set_times(&rows, NOW, &mut new);
        let times = (new.start_ns, new.provenance.settled_ns);
        assert_eq!(times, (NOW, Some(50)), "those of the present snapshot");
        let mut writer = Writer::new(&new, |line: &[u8]| bytes.write_all(line));
        let mut each = |finding: &Finding<'_>| said.push((finding.verdict, finding.path.to_vec()));
        let updated =
            update.write(&rows, NOW, &mut writer, &Budget::new(u64::MAX), &mut each, &mut |_| ()).unwrap();
        writer.finish().unwrap();
        assert_eq!(said, [(Verdict::Modified, b"file".to_vec()), (Verdict::Corrupted, b"none".to_vec())]);
        assert_eq!((updated.corrupted, updated.undecided, updated.retained, updated.rewritten), (1, 0, 0, 0));
        let new = read(&open(&bytes).unwrap()).unwrap();
        assert_eq!(new[&Path::new("file")].digests, now[&Path::new("file")].digests);
        assert_eq!(new[&Path::new("none")].damaged_ns, Some(9));
    }
    // What is mounted below the root is not in the snapshot.
    let (dev, file_type) = (now[&Path::new("file")].stat.dev + 1, FileType::Directory);
    let identity = Identity { fs: None, dev, ino: 1, birth_ns: None, file_type, uid: 0 };
    let root_identity = Some(RootIdentity { path: b"/".to_vec(), fs_type: 0, identity });
    let mounted = manifest(&Header { root_identity, ..snapshot }, &now);
    assert_eq!(update(&dir, &mounted, None, &[]).read.len(), 0);
    // A file that cannot be read keeps its record, and the record stays too young.
    let (budget, tree) = (Budget::new(1 << 20), walked.tree());
    let update = Update::new(&old, &tree, &options(false, &all), &budget).unwrap();
    fs::rename(dir.at("file"), dir.at("elsewhere")).unwrap();
    let rows = walked.read(Some(&update.files), XXH3);
    let mut new = header_of(&old);
    update.set_times(&rows, NOW, &mut new);
    assert_eq!((new.start_ns, new.provenance.settled_ns), (old.header().start_ns, Some(7)));
}

/// Returns the header of a new manifest of a later snapshot.
fn header_of(old: &Manifest) -> Header {
    let provenance = Provenance { settled_ns: Some(50), ..old.header().provenance };
    Header { provenance, ..old.header().clone() }
}

#[test]
fn update_without_digests_reads_no_file() {
    let dir = Dir::new();
    let old = dir.manifest(&later(&[]));
    dir.write("file", "CONTENT");
    let run = update(&dir, &old, Some(100.0), &[]);
    assert_eq!(run.read.len(), 0);
    assert_eq!(untimed(&run.new), dir.recorded(&[]));
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
    let (entries_now, recorded) = (entries.len() as u64, run.updated.recorded);
    assert_eq!(run.updated, Updated { entries: entries_now, corrupted: 1, recorded, ..Updated::default() });
    // It keeps its record.
    assert_eq!((recorded.total(), recorded.count(Verdict::Ok)), (entries_now, entries_now));
    entries.get_mut(&Path::new("file")).unwrap().damaged_ns = Some(NOW);
    assert_eq!(untimed(&run.new), entries);

    // The file is now read without `check`, and the time of the first finding is kept.
    entries.get_mut(&Path::new("file")).unwrap().damaged_ns = Some(5);
    let damaged = manifest(&header, &entries);
    for check in [None, Some(0.0)] {
        let run = update(&dir, &damaged, check, &[]);
        assert_eq!((&run.read[..], &run.corrupted[..]), (&[b"file".to_vec()][..], &[b"file".to_vec()][..]));
        assert_eq!(untimed(&run.new), entries);
    }
    let run = update(&dir, &damaged, None, &["file"]);
    assert_eq!((run.read.len(), run.corrupted.len()), (1, 0));
    assert_eq!(untimed(&run.new), good);

    // The old content is restored.
    let mut repaired = good.clone();
    repaired.get_mut(&Path::new("file")).unwrap().damaged_ns = Some(5);
    let run = update(&dir, &manifest(&header, &repaired), None, &[]);
    assert_eq!((run.read.len(), run.corrupted.len()), (1, 0));
    assert_eq!(untimed(&run.new), good);

    // Another time alone does not show that the damaged content was replaced.
    dir.touch("file", 2_000_000_000);
    let run = update(&dir, &damaged, None, &[]);
    assert_eq!((run.updated.corrupted, run.updated.undecided), (0, 1));
    assert_eq!(untimed(&run.new)[&Path::new("file")], entries[&Path::new("file")]);
    dir.write("file", "another size");
    let run = update(&dir, &damaged, None, &[]);
    assert_eq!((run.updated.corrupted, run.updated.undecided), (0, 0));
    assert!(read(&run.new).unwrap()[&Path::new("file")].damaged_ns.is_none());
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
    let options = UpdateOptions {
        check: None,
        accept: &accept,
        append_only: false,
        checks: &Checks::default(),
        kinship: Kinship::None,
        examination: None,
    };
    let update = Update::new(&old, &walked.tree(), &options, &Budget::new(1 << 20)).unwrap();
    assert_eq!(
        (update.survey.recorded, update.survey.missing, update.survey.other_root),
        (recorded, 0, None)
    );
    assert_eq!(update.unknown, [b"a".to_vec(), b"nowhere".to_vec()].into());
    fs::remove_dir_all(dir.at("a")).unwrap();
    let walked = dir.walk(true);
    let update = Update::new(&old, &walked.tree(), &options, &Budget::new(1 << 20)).unwrap();
    assert_eq!((update.survey.recorded, update.survey.missing), (recorded, 6));
}

/// Device numbers change when a file system is mounted again. They count only if an identity is unknown.
#[test]
fn another_root_is_another_file_system_or_inode() {
    let dir = Dir::new();
    let header = later(XXH3);
    let entries = read(&dir.manifest(&header)).unwrap();
    let now = entries[&Path::new(".")].fs;
    let other = Some(FsId::from_bytes([9; 16]));
    let is_known = now.is_some();
    let file_system = Some(OtherRoot::FileSystem);
    for (fs, dev, ino, expected) in [
        (None, 0, 0, None),
        (None, 1, 0, None),
        (None, 0, 1, None),
        (None, 1, 1, file_system),
        (now, 1, 0, None),
        (now, 0, 1, is_known.then_some(OtherRoot::Inode)),
        (now, 1, 1, if is_known { Some(OtherRoot::Inode) } else { file_system }),
        (other, 0, 0, file_system.filter(|_| is_known)),
        (other, 0, 1, file_system.filter(|_| is_known)),
        (other, 1, 1, file_system),
    ] {
        let mut entries = entries.clone();
        let root = entries.get_mut(&Path::new(".")).unwrap();
        (root.fs, root.stat.dev, root.stat.ino) = (fs, root.stat.dev + dev, root.stat.ino + ino);
        let (old, walked, none) = (manifest(&header, &entries), dir.walk(true), BTreeSet::new());
        let options = UpdateOptions {
            check: None,
            accept: &none,
            append_only: false,
            checks: &Checks::default(),
            kinship: Kinship::None,
            examination: None,
        };
        let update = Update::new(&old, &walked.tree(), &options, &Budget::new(1 << 20)).unwrap();
        assert_eq!(update.survey.other_root, expected, "{fs:?} {dev} {ino}");
    }
}

#[test]
fn files_are_recognised_by_file_system_rather_than_device() {
    let dir = Dir::new();
    let header = later(XXH3);
    let now = dir.entries(XXH3);
    let fs = now[&Path::new("file")].fs;
    for (fs, dev, is_read) in
        [(fs, 1, fs.is_none()), (None, 0, false), (None, 1, true), (Some(FsId::from_bytes([9; 16])), 0, true)]
    {
        let mut old = now.clone();
        let file = old.get_mut(&Path::new("file")).unwrap();
        (file.fs, file.stat.dev) = (fs, file.stat.dev + dev);
        let run = update(&dir, &manifest(&header, &old), None, &[]);
        assert_eq!(run.read.len(), usize::from(is_read), "{fs:?} {dev}");
        assert_eq!(untimed(&run.new), dir.recorded(XXH3));
    }
}

#[test]
fn files_that_are_not_read_keep_the_time_of_their_verification() {
    let dir = Dir::new();
    let header = later(XXH3);
    let mut entries = dir.entries(XXH3);
    entries.get_mut(&Path::new("twin")).unwrap().verified_ns = Some(5);
    entries.get_mut(&Path::new("a-b")).unwrap().verified_ns = Some(6);
    entries.get_mut(&Path::new("none")).unwrap().digests[0] ^= 1;
    entries.get_mut(&Path::new("none")).unwrap().damaged_ns = Some(7);
    let old = manifest(&header, &entries);
    dir.write("a-b", "changed");
    dir.write("fresh", "new");
    let run = update(&dir, &old, None, &[]);
    assert_eq!((run.read.len(), run.corrupted.len()), (3, 1));
    let new = read(&run.new).unwrap();
    let verified: Vec<_> =
        new.iter().filter_map(|(path, entry)| Some((&*path.0, entry.verified_ns?))).collect();
    let start = header.start_ns;
    // A file without a time was read when the old manifest was made.
    let expected: [(&[u8], i128); 8] = [
        ("a b/\u{e9}\n".as_bytes(), start),
        (b"a-b", NOW),
        (b"a/b/c", start),
        (b"a/x", start),
        (b"file", start),
        (b"fresh", NOW),
        (b"none", start),
        (b"twin", 5),
    ];
    assert_eq!(verified, expected);
    assert!(update(&dir, &dir.manifest(&later(&[])), Some(100.0), &[]).read.is_empty());
}

#[test]
fn a_file_that_became_a_directory_has_no_digests() {
    let dir = Dir::new();
    let old = dir.manifest(&later(XXH3));
    fs::remove_file(dir.at("file")).unwrap();
    fs::create_dir(dir.at("file")).unwrap();
    let run = update(&dir, &old, None, &[]);
    assert_eq!(untimed(&run.new), dir.recorded(XXH3));
}

/// A directory that failed in the middle of its list: one of its directories was found and listed as a whole, another was
/// not found.
#[test]
fn a_record_that_is_kept_below_a_listed_directory_leaves_it_without_a_tree_digest() {
    let dir = Dir::new();
    for path in ["half", "lost", "lost/b", "well"] {
        fs::create_dir(dir.at(path)).unwrap();
    }
    // `lost/b-c` comes between `lost/b` and what is in it.
    for path in ["half/gone", "lost/b/file", "lost/b-c", "well/file"] {
        dir.write(path, "some");
    }
    let old = dir.manifest(&later(XXH3));
    let kept = read(&old).unwrap();
    fs::remove_file(dir.at("half/gone")).unwrap();
    fs::remove_dir_all(dir.at("lost")).unwrap();
    dir.write("half/new", "new");
    let now = dir.recorded(XXH3);
    let mut walked = dir.walk(true);
    walked.failed = vec![walked.root.clone()];
    let updated = update_walked(&walked, &old, None, &[]);
    let new = read(&updated.new).unwrap();

    let tree = |entries: &Entries, path: &str| entries[&Path::new(path)].tree.clone();
    assert!(tree(&new, ".").is_empty() && tree(&new, "half").is_empty());
    for path in ["lost", "lost/b", "well"] {
        assert!(!tree(&new, path).is_empty() && tree(&new, path) == tree(&kept, path), "{path}");
    }
    assert_eq!(updated.new.header().failed.paths(), [b"."]);
    assert_eq!(updated.new.header().version, 3);
    // The next run can read everything again.
    let again = update(&dir, &updated.new, None, &[]);
    assert!(again.new.header().failed.is_empty());
    assert_eq!(again.new.header().version, 2);
    for path in ["half/gone", "half/new", "lost/b/file", "lost/b-c", "well/file"] {
        let path = Path::new(path);
        assert_eq!(new[&path].digests, kept.get(&path).unwrap_or_else(|| &now[&path]).digests);
    }
}
