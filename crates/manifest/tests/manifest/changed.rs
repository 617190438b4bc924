//! Manifests that change after they were opened: reading the changed part is an error and never yields a
//! wrong entry.

use std::fs::{self, File};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;

use ftk_file::Stat;
use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, Error, Finding, Manifest, Which, diff};
use ftk_walk::FileType;
use tempfile::NamedTempFile;

use crate::model::{Entries, Owned, Path, header, read, written};

/// The size of a block. A shorter manifest is a single block.
const BLOCK: usize = 256 << 10;

pub(crate) fn files(n: u32, mtime_ns: i128) -> Entries {
    let stat = Stat {
        file_type: FileType::Regular,
        size: 3,
        mtime_ns,
        ctime_ns: 2,
        mode: 0o644,
        uid: 1,
        gid: 2,
        dev: 3,
        ino: 4,
        nlink: 1,
        rdev: 0,
        ..Stat::EMPTY
    };
    let entry = Owned::new(stat, vec![7; 8]);
    (0..n).map(|n| (Path::new(&format!("{n:05}")), entry.clone())).collect()
}

/// An open manifest of some blocks in a named file, and its entries.
fn opened() -> (NamedTempFile, Manifest, Entries) {
    let entries = files(4_000, 1);
    let bytes = written(&header(&[Algorithm::Xxh3], false), &entries);
    assert!(bytes.len() > 2 * BLOCK && !bytes.len().is_multiple_of(BLOCK));
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    let manifest = Manifest::open(file.reopen().unwrap()).unwrap();
    (file, manifest, entries)
}

/// Checks that every entry read is one that was recorded, and that the pass ends with the error for changed
/// files.
#[track_caller]
fn is_refused(manifest: &Manifest, recorded: &Entries) {
    let (mut entries, mut recorded) = (manifest.entries(), recorded.iter());
    let error = loop {
        let next = match &mut entries {
            Ok(entries) => entries.next(),
            Err(_) => break entries.unwrap_err(),
        };
        match next {
            Ok(Some(entry)) => {
                let (path, expected) = recorded.next().unwrap();
                assert_eq!((entry.path, Owned::of(&entry)), (&*path.0, expected.clone()));
            }
            Ok(None) => panic!("the change was not detected"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Changed), "{error}");
    assert_eq!(error.to_string(), "changed while being read");
}

#[test]
fn one_changed_byte_anywhere_is_an_error() {
    let (file, manifest, recorded) = opened();
    let len = file.as_file().metadata().unwrap().len();
    let times = file.as_file().metadata().unwrap().modified().unwrap();
    for at in (0..len).step_by(9_973).chain([len - 1]) {
        let mut byte = [0];
        file.as_file().read_exact_at(&mut byte, at).unwrap();
        for flipped in [byte[0] ^ 1, byte[0]] {
            file.as_file().write_all_at(&[flipped], at).unwrap();
            file.as_file().set_modified(times).unwrap();
            if flipped == byte[0] {
                assert_eq!(read(&manifest).unwrap(), recorded, "the old content is restored");
            } else {
                is_refused(&manifest, &recorded);
            }
        }
    }
}

#[test]
fn another_length_is_an_error() {
    let (file, manifest, recorded) = opened();
    let bytes = fs::read(file.path()).unwrap();
    for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, bytes.len() - 1] {
        file.as_file().set_len(len as u64).unwrap();
        is_refused(&manifest, &recorded);
        file.as_file().write_all_at(&bytes, 0).unwrap();
    }
    file.as_file().write_all_at(b"\n", bytes.len() as u64).unwrap();
    is_refused(&manifest, &recorded);
}

/// The file is overwritten with another valid manifest of the same length.
#[test]
fn other_valid_content_is_an_error() {
    let (file, manifest, recorded) = opened();
    let other = written(&header(&[Algorithm::Xxh3], false), &files(4_000, 9));
    assert_eq!(other.len() as u64, file.as_file().metadata().unwrap().len());
    file.as_file().write_all_at(&other, 0).unwrap();
    is_refused(&manifest, &recorded);
    // Another file under the same name has no effect on the open manifest.
    let (file, manifest, recorded) = opened();
    fs::remove_file(file.path()).unwrap();
    fs::write(file.path(), &other).unwrap();
    assert_eq!(read(&manifest).unwrap(), recorded);
}

/// The file changes in the middle of a pass.
#[test]
fn a_change_between_two_entries_is_an_error() {
    let (file, manifest, _) = opened();
    let mut entries = manifest.entries().unwrap();
    assert_eq!(entries.next().unwrap().unwrap().path, b"00000");
    file.as_file().set_len(BLOCK as u64 + 5).unwrap();
    let given = std::iter::from_fn(|| entries.next().map(|entry| entry.map(drop)).transpose());
    let given: Result<Vec<()>, Error> = given.collect();
    assert!(matches!(given, Err(Error::Changed)));
}

#[test]
fn errors_of_a_comparison_name_the_manifest() {
    let entries = written(&header(&[Algorithm::Xxh3], false), &files(4_000, 1));
    for changed in 0..2 {
        let manifests = [opened(), opened()];
        let file: &File = manifests[changed].0.as_file();
        file.write_all_at(b"8", entries.len() as u64 - 1_000).unwrap();
        let [(_, old, _), (_, new, _)] = &manifests;
        let budget = Budget::new(1 << 30);
        let result = diff(old, new, &Criteria::default(), &budget, &mut |_| panic!("nothing differs"));
        let which = [Which::First, Which::Second][changed];
        let Err(Error::Of(of, error)) = result else { panic!("{result:?}") };
        assert!(of == which && matches!(*error, Error::Changed), "{error:?}");
    }
    let manifests = [opened(), opened()];
    let [(_, old, _), (_, new, _)] = &manifests;
    let mut each = |_: &Finding<'_>| ControlFlow::Break(());
    let summary = diff(old, new, &Criteria::default(), &Budget::new(1 << 30), &mut each).unwrap();
    assert_eq!(summary.total(), 4_000);
}

/// Lines may cross the border of two or more blocks.
#[test]
fn lines_longer_than_a_block_are_read() {
    let mut recorded = files(5, 1);
    for (name, len) in [("00001", BLOCK - 300), ("00002", BLOCK), ("x", 3 * BLOCK + 7)] {
        let link = Owned {
            target: Some(vec![b't'; len]),
            digests: Vec::new(),
            ..recorded[&Path::new("00000")].clone()
        };
        let stat = Stat { file_type: FileType::Symlink, ..link.stat };
        recorded.insert(Path::new(name), Owned { stat, ..link });
    }
    let bytes = written(&header(&[Algorithm::Xxh3], false), &recorded);
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    let manifest = Manifest::open(file.reopen().unwrap()).unwrap();
    assert_eq!(read(&manifest).unwrap(), recorded);
    file.as_file().write_all_at(b"T", bytes.len() as u64 - 500).unwrap();
    is_refused(&manifest, &recorded);
}
