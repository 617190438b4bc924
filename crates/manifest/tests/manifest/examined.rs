//! Updates that examine only a part of a tree, compared with those that examine all of it.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path as FsPath;

use ftk_hash::Algorithm;
use ftk_manifest::{Examination, Examined, Header, Kinship, Manifest, Provenance, Sample, UpdateOptions};
use ftk_select::Checks;
use proptest::prelude::*;

use crate::copied::spaced;
use crate::model::{Path, manifest, open, read, written};
use crate::since::rounds;
use crate::tree_digests::with_trees;
use crate::trees::Dir;
use crate::update::{Run, later, run, update};

const XXH3: &[Algorithm] = &[Algorithm::Xxh3];

/// Updates what is listed.
fn examine(dir: &Dir, old: &Manifest, listed: &[&str], check: Option<&Sample>, accept: &[&str]) -> Run {
    examine_as(Kinship::None, dir, old, listed, check, accept)
}

pub(crate) fn examine_as(
    kinship: Kinship,
    dir: &Dir,
    old: &Manifest,
    listed: &[&str],
    check: Option<&Sample>,
    accept: &[&str],
) -> Run {
    let mut examination = Examination::new();
    listed.iter().chain(accept).for_each(|path| _ = examination.add(path.as_bytes()));
    examination.add_uncertain(old, check).unwrap();
    let walked = loop {
        let walked = dir.walk_examined(&examination);
        if !examination.add_related(old, &walked.tree()).unwrap() {
            break walked;
        }
    };
    let accept: BTreeSet<_> = accept.iter().map(|path| path.as_bytes().to_vec()).collect();
    let examination = (!examination.is_all()).then_some(&examination);
    let options = UpdateOptions {
        check,
        accept: &accept,
        append_only: false,
        checks: &Checks::default(),
        kinship,
        examination,
    };
    run(&walked, old, &options)
}

/// A change of a tree: what is done, to which of the paths, with which other path.
type Change = (u8, u8, u8);

fn changes(most: usize) -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0..14_u8, any::<u8>(), any::<u8>()), 0..most)
}

/// Returns one of the possible paths.
fn path(number: u8) -> String {
    const NAMES: [&str; 5] = ["a", "b", "a-b", "a!", "\u{e9}"];
    let names = [number % 5, number / 5 % 5, number / 25 % 5].map(|nth| NAMES[usize::from(nth)]);
    names[..1 + usize::from(number / 125)].join("/")
}

/// Makes a change, if it is possible, and adds the paths that show it to `listed`.
fn change(dir: &Dir, (kind, one, two): Change, nth: usize, listed: &mut Vec<String>) {
    let (one, two) = (path(one), path(two));
    let [from, to] = [&one, &two].map(|path| dir.at(path));
    let above = |path: &FsPath| fs::create_dir_all(path.parent().unwrap());
    let is_plain_file = |path: &FsPath| path.symlink_metadata().is_ok_and(|it| it.is_file());
    let exists = from.symlink_metadata().is_ok();
    let is_done = match kind {
        0 | 1 | 12 => above(&from).and_then(|()| fs::write(&from, format!("{nth}"))).is_ok(),
        2 => is_plain_file(&from) && fs::write(&from, format!("longer {nth}")).is_ok(),
        3 => fs::create_dir_all(&from).is_ok(),
        4 => exists && fs::remove_file(&from).is_ok(),
        5 => exists && fs::remove_dir_all(&from).is_ok(),
        6 | 7 => exists && fs::rename(&from, &to).is_ok(),
        8 | 9 => is_plain_file(&from) && above(&to).and_then(|()| fs::hard_link(&from, &to)).is_ok(),
        10 => {
            exists && !from.is_symlink() && {
                fs::set_permissions(&from, fs::Permissions::from_mode(0o700 + nth as u32 % 64)).is_ok()
            }
        }
        11 => above(&from).and_then(|()| symlink("nowhere/a", &from)).is_ok(),
        _ => {
            is_plain_file(&from) && {
                dir.touch(&one, nth as i64);
                true
            }
        }
    };
    // A part of a failed change may have been made: directories above.
    if is_done || above(&from).is_ok() {
        listed.push(one);
    }
    if matches!(kind, 6..=9) {
        listed.push(two);
    }
}

/// Makes a tree, records it, changes it, and updates the record with a list of the changes, and without one. `lost` are
/// changes that the list lacks. Returns whether both new manifests have the same entries.
fn agree(first: &[Change], then: &[Change], lost: &[usize]) -> Result<bool, TestCaseError> {
    let dir = Dir::empty();
    for (nth, it) in first.iter().enumerate() {
        change(&dir, *it, nth, &mut Vec::new());
    }
    let old = dir.manifest(&later(XXH3));
    let mut listed = Vec::new();
    for (nth, it) in then.iter().enumerate() {
        let from = listed.len();
        change(&dir, *it, 100 + nth, &mut listed);
        if lost.contains(&nth) {
            listed.truncate(from);
        }
    }
    let listed: Vec<_> = listed.iter().map(|path| &**path).collect();
    let partial = examine(&dir, &old, &listed, None, &[]);
    let full = update(&dir, &old, None, &[]);
    // Lines are copied, or made from the entries if they are spelled otherwise.
    let made = open(&spaced(&written(old.header(), &read(&old).unwrap()), |_| true)).unwrap();
    prop_assert_eq!(&examine(&dir, &made, &listed, None, &[]).bytes, &partial.bytes);
    prop_assert_eq!(&update(&dir, &made, None, &[]).bytes, &full.bytes);
    let [by_list, by_walk] = [&partial.new, &full.new].map(|new| read(new).unwrap());
    prop_assert_eq!(partial.updated.entries, by_list.len() as u64);
    Ok(by_list == by_walk)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds()))]

    #[test]
    fn an_update_with_a_list_of_all_changes_is_a_full_update(first in changes(40), then in changes(12)) {
        prop_assert!(agree(&first, &then, &[])?);
    }
}

/// The control: with an incomplete list, the comparison above fails.
#[test]
fn a_lost_change_is_noticed_by_the_comparison() {
    let first: Vec<_> = (0..12).map(|nth| (0, nth * 9, 0)).collect();
    let then = [(2, 9, 0), (2, 18, 0), (4, 27, 0), (10, 36, 0)];
    assert!(agree(&first, &then, &[]).unwrap());
    for lost in 0..then.len() {
        assert!(!agree(&first, &then, &[lost]).unwrap(), "{:?}", then[lost]);
    }
}

#[test]
fn only_listed_paths_are_examined() {
    let dir = Dir::new();
    let header = later(XXH3);
    let old = dir.manifest(&header);
    for name in ["a/x", "a/b/c", "twin"] {
        dir.write(name, "changed");
    }
    fs::remove_file(dir.at("none")).unwrap();
    fs::remove_file(dir.at("a-b")).unwrap();
    let run = examine(&dir, &old, &["a/b", "none", "missing/too"], None, &[]);
    assert_eq!(run.read, [b"a/b/c"]);
    let [before, after] = [&old, &run.new].map(|it| read(it).unwrap());
    for kept in ["a/x", "twin", "a-b", "file"] {
        let same = |entry: &crate::owned::Owned| (entry.stat, entry.digests.clone());
        let path = Path::new(kept);
        assert_eq!(same(&before[&path]), same(&after[&path]), "{kept}");
    }
    assert!(!after.contains_key(&Path::new("none")));
    let examined = run.new.header().provenance.examined;
    assert_eq!(examined, Some(Examined { full_ns: header.start_ns }));
    assert_eq!(run.updated.entries - run.updated.not_examined, 4, "the root, a, a/b and a/b/c");
    // The time of the full update is kept, and a full update removes it.
    let again = examine(&dir, &run.new, &["a/x"], None, &[]);
    assert_eq!(again.new.header().provenance.examined, examined);
    let full = update(&dir, &again.new, None, &[]);
    assert_eq!(full.new.header().provenance.examined, None);
    let all = examine(&dir, &again.new, &["."], None, &[]);
    assert_eq!(all.new.header().provenance.examined, None);
    assert_eq!(read(&all.new).unwrap(), read(&full.new).unwrap());
}

#[test]
fn what_a_record_leaves_uncertain_is_examined() {
    let dir = Dir::new();
    let header = later(XXH3);
    let mut damaged = dir.entries(XXH3);
    let file = damaged.get_mut(&Path::new("file")).unwrap();
    file.digests[3] ^= 1;
    file.damaged_ns = Some(9);
    let old = manifest(&header, &with_trees(damaged, XXH3));
    let run = examine(&dir, &old, &["a/x"], None, &[]);
    assert_eq!((&*run.read, &*run.corrupted), (&[b"file".to_vec()][..], &[b"file".to_vec()][..]));
    let run = examine(&dir, &old, &[], None, &["file"]);
    assert_eq!((run.read.len(), run.corrupted.len()), (1, 0));
    // Written while the old manifest was made.
    let young = manifest(&Header { start_ns: 7, ..header.clone() }, &dir.recorded(XXH3));
    assert_eq!(examine(&dir, &young, &[], None, &[]).read.len(), 7);
    // Written while the recorded snapshot was made.
    let provenance = Provenance { settled_ns: Some(7), ..header.provenance };
    let young = manifest(&Header { provenance, ..header.clone() }, &dir.recorded(XXH3));
    assert_eq!(examine(&dir, &young, &[], None, &[]).read.len(), 7);
    // A part of the unchanged files is read.
    let old = dir.manifest(&header);
    assert_eq!(examine(&dir, &old, &[], Some(&Sample::new(100.0)), &[]).read.len(), 7);
    // What could not be read.
    let failed = ftk_manifest::Failed::new(vec![b"a/b".to_vec()]);
    let hole = manifest(&Header { failed, ..header }, &dir.recorded(XXH3));
    dir.write("a/b/c", "changed");
    let run = examine(&dir, &hole, &[], None, &[]);
    assert_eq!((&*run.read, run.new.header().failed.is_empty()), (&[b"a/b/c".to_vec()][..], true));
}

/// One name is listed; the others have other metadata, or another count of links, too.
#[test]
fn all_names_of_a_changed_file_are_examined() {
    let dir = Dir::new();
    fs::hard_link(dir.at("file"), dir.at("a/name")).unwrap();
    let old = dir.manifest(&later(XXH3));
    fs::set_permissions(dir.at("file"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(dir.at("twin"), dir.at("a/new name")).unwrap();
    for listed in [&["file", "a/new name"], &["a/name", "a/new name"]] {
        let [by_list, full] = [examine(&dir, &old, listed, None, &[]).new, update(&dir, &old, None, &[]).new];
        assert_eq!(read(&by_list).unwrap(), read(&full).unwrap(), "{listed:?}");
    }
    let old = dir.manifest(&later(XXH3));
    fs::remove_dir_all(dir.at("a")).unwrap();
    let [by_list, full] = [examine(&dir, &old, &["a"], None, &[]).new, update(&dir, &old, None, &[]).new];
    assert_eq!(read(&by_list).unwrap(), read(&full).unwrap());
}

#[test]
fn below_a_directory_that_is_gone_only_damaged_records_stay() {
    let dir = Dir::new();
    let header = later(XXH3);
    let mut entries = dir.entries(XXH3);
    entries.get_mut(&Path::new("a/b/c")).unwrap().damaged_ns = Some(9);
    let old = manifest(&header, &with_trees(entries, XXH3));
    fs::remove_dir_all(dir.at("a")).unwrap();
    dir.write("a", "now a file");
    let run = examine(&dir, &old, &["a/b/missing"], None, &[]);
    let below: Vec<_> =
        read(&run.new).unwrap().into_keys().filter(|path| path.0.starts_with(b"a/")).collect();
    assert_eq!(below, [Path::new("a/b/c")]);
    assert_eq!(run.corrupted, [b"a/b/c"]);
}

/// A new directory is recorded as a whole, although the list names only one file in it.
#[test]
fn directories_that_are_new_at_their_path_are_examined_as_a_whole() {
    let dir = Dir::new();
    let old = dir.manifest(&later(XXH3));
    fs::create_dir_all(dir.at("new/deep")).unwrap();
    dir.write("new/other", "o");
    dir.write("new/deep/file", "f");
    fs::rename(dir.at("a"), dir.at("z")).unwrap();
    fs::rename(dir.at("a b"), dir.at("a")).unwrap();
    let listed = ["new/deep/file", "a/x", "z", "a b"];
    let [by_list, full] = [examine(&dir, &old, &listed, None, &[]).new, update(&dir, &old, None, &[]).new];
    assert_eq!(read(&by_list).unwrap(), read(&full).unwrap());
}
