//! Tree digests, compared with those that a slow function computes as `docs/tree-digest.md` specifies.

use std::ops::ControlFlow;

use ftk_hash::Algorithm;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, Field, Header, Manifest, Mode, Summary, Verdict, diff, unique};
use ftk_walk::FileType;
use proptest::prelude::*;

use crate::model::{
    Entries, Owned, Path, Said, entry, header, line, manifest, open, read, seal, unchecked, written,
};
use crate::trees::Dir;

pub(crate) const ALGORITHMS: [Algorithm; 2] = [Algorithm::Xxh3, Algorithm::Sha256];

/// Returns the tree digests of a directory by all algorithms, `None` if a part of it is not known.
fn tree_of(dir: &[u8], entries: &Entries, algorithms: &[Algorithm]) -> Option<Vec<u8>> {
    let mut messages = vec![b"ftk tree 1\n".to_vec(); algorithms.len()];
    let first = if dir == b"." { dir.to_vec() } else { [dir, b"/"].concat() };
    let below = entries.range(Path(first)..).filter(|(path, _)| path.0 != b".");
    for (path, entry) in below {
        let Some(name) = below_dir(dir, &path.0) else { break };
        if let Some(slash) = name.iter().position(|byte| *byte == b'/') {
            let up = &path.0[..path.0.len() - name.len() + slash];
            let is_dir = |above: &Owned| above.stat.file_type == FileType::Directory;
            entries.get(&Path(up.to_vec())).filter(|above| is_dir(above))?;
            continue;
        }
        let is_known = |field| !entry.absent.contains(field);
        let netstring = |bytes: &[u8]| [format!("{}:", bytes.len()).as_bytes(), bytes, b","].concat();
        let parts = |nth: usize, all: &[u8]| {
            let start = algorithms[..nth].iter().map(|algorithm| algorithm.digest_len()).sum::<usize>();
            netstring(&all[start..start + algorithms[nth].digest_len()])
        };
        let below = match entry.stat.file_type {
            FileType::Directory => tree_of(&path.0, entries, algorithms)?,
            _ => Vec::new(),
        };
        for (nth, message) in messages.iter_mut().enumerate() {
            let (letter, rest) = match entry.stat.file_type {
                FileType::Regular if is_known(Field::Mode) => {
                    let size = netstring(entry.stat.size.to_string().as_bytes());
                    let letter = if entry.stat.mode & 0o100 == 0 { b'f' } else { b'x' };
                    (letter, [size, parts(nth, &entry.digests)].concat())
                }
                FileType::Regular => return None,
                FileType::Directory => (b'd', parts(nth, &below)),
                FileType::Symlink => (b'l', netstring(entry.target.as_deref()?)),
                FileType::Fifo => (b'p', Vec::new()),
                FileType::Socket => (b's', Vec::new()),
                _ if !is_known(Field::Rdev) => return None,
                FileType::Block => (b'b', netstring(entry.stat.rdev.to_string().as_bytes())),
                FileType::Char => (b'c', netstring(entry.stat.rdev.to_string().as_bytes())),
                other => panic!("{other:?}"),
            };
            message.push(letter);
            message.extend(netstring(name));
            message.extend(rest);
        }
    }
    let digests = algorithms.iter().zip(&messages);
    let digests = digests.map(|(algorithm, message)| algorithm.hash_one(message));
    Some(digests.flat_map(|digest| digest.as_bytes().to_vec()).collect())
}

/// Returns the part of a path below a directory.
fn below_dir<'p>(dir: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    match dir {
        b"." => Some(path).filter(|path| *path != b"."),
        dir => path.strip_prefix(dir)?.strip_prefix(b"/"),
    }
}

/// Gives every directory the tree digests that it can have.
pub(crate) fn with_trees(mut entries: Entries, algorithms: &[Algorithm]) -> Entries {
    let dirs = entries.iter().filter(|(_, entry)| entry.stat.file_type == FileType::Directory);
    let trees: Vec<_> =
        dirs.filter_map(|(path, _)| Some((path.clone(), tree_of(&path.0, &entries, algorithms)?))).collect();
    for (path, tree) in trees {
        entries.get_mut(&path).unwrap().tree = tree;
    }
    entries
}

fn recorded() -> Header {
    header(&ALGORITHMS, false)
}

/// Returns a manifest whose tree digests may be wrong.
fn resealed(entries: &Entries) -> Vec<u8> {
    unchecked(&recorded(), entries.iter().map(|(path, entry)| line(path, entry, &ALGORITHMS)))
}

/// Paths of which some are prefixes of others, with bytes before and after the slash.
fn paths() -> impl Strategy<Value = Path> {
    let names = ["a", "a-b", "a!", "a0", "ab", "\u{1}"];
    let name = prop::sample::select(names.to_vec());
    prop::collection::vec(name, 0..4).prop_map(|names| match &names[..] {
        [] => Path::new("."),
        names => Path::new(&names.join("/")),
    })
}

pub(crate) fn all_entries() -> impl Strategy<Value = Entries> {
    let len = ALGORITHMS.iter().map(|algorithm| algorithm.digest_len()).sum();
    // Half of the directories above an entry are added.
    let all = prop::collection::btree_map(paths(), (entry(len), any::<u8>()), 0..12);
    all.prop_map(move |chosen| {
        let mut entries = Entries::new();
        let dir = ftk_file::Stat { file_type: FileType::Directory, ..ftk_file::Stat::EMPTY };
        for (path, (entry, above)) in chosen {
            for (at, _) in path.0.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
                if above > 40 {
                    entries.insert(Path(path.0[..at].to_vec()), Owned::new(dir, Vec::new()));
                }
            }
            if above > 20 {
                entries.insert(Path::new("."), Owned::new(dir, Vec::new()));
            }
            entries.entry(path).or_insert(entry);
        }
        entries
    })
}

/// Returns what tree digests cover.
fn covered(entries: &Entries) -> Vec<(Vec<u8>, String)> {
    let covered = |entry: &Owned| {
        let stat = &entry.stat;
        let content = stat.is_regular().then_some((stat.size, &entry.digests, stat.mode & 0o100));
        format!("{:?} {content:?} {:?} {}", stat.file_type, entry.target, stat.rdev)
    };
    entries.iter().map(|(path, entry)| (path.0.clone(), covered(entry))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn manifests_with_the_right_tree_digests_are_read(entries in all_entries()) {
        let entries = with_trees(entries, &ALGORITHMS);
        prop_assert_eq!(read(&open(&written(&recorded(), &entries)).unwrap()).unwrap(), entries);
    }

    #[test]
    fn a_wrong_tree_digest_is_refused(
        entries in all_entries(),
        at in any::<prop::sample::Index>(),
        byte in any::<prop::sample::Index>(),
    ) {
        let mut entries = with_trees(entries, &ALGORITHMS);
        let is_dir = |entry: &Owned| entry.stat.file_type == FileType::Directory;
        let dirs: Vec<_> = entries.iter().filter(|(_, entry)| is_dir(entry)).map(|(path, _)| path.clone()).collect();
        prop_assume!(!dirs.is_empty());
        let wrong = at.get(&dirs);
        let tree = &mut entries.get_mut(wrong).unwrap().tree;
        // A directory that cannot have digests gets some.
        tree.resize(40, 0);
        *byte.get_mut(tree) ^= 1;
        let error = read(&open(&resealed(&entries)).unwrap()).unwrap_err().to_string();
        // A digest above it, or one that is in its line, does not fit either.
        prop_assert!(error.contains(" is not the digest of the entries below it"), "{}", error);
    }

    #[test]
    fn tree_digests_are_equal_exactly_if_what_they_cover_is_equal(old in all_entries(), new in all_entries()) {
        let trees = [&old, &new].map(|entries| tree_of(b".", entries, &ALGORITHMS));
        if let [Some(old_tree), Some(new_tree)] = &trees {
            let without_root = |entries: &Entries| covered(&entries.clone().into_iter().filter(|it| it.0 != Path::new(".")).collect());
            prop_assert_eq!(old_tree == new_tree, without_root(&old) == without_root(&new));
        }
    }
}

#[test]
fn the_digests_of_a_walked_tree_are_those_of_its_entries() {
    let dir = Dir::new();
    let entries = dir.recorded(&ALGORITHMS);
    let mut without = entries.clone();
    without.values_mut().for_each(|entry| entry.tree.clear());
    assert_eq!(with_trees(without, &ALGORITHMS), entries);
    let dirs = entries.values().filter(|entry| entry.stat.file_type == FileType::Directory);
    assert!(dirs.clone().count() > 4 && dirs.clone().all(|dir| dir.tree.len() == 40));
}

/// More entries than are kept until the directory ends, with and without directories in between.
#[test]
fn large_directories() {
    let dir = ftk_file::Stat { file_type: FileType::Directory, ..ftk_file::Stat::EMPTY };
    let mut entries = Entries::new();
    for name in [".", "a", "a/b"] {
        entries.insert(Path::new(name), Owned::new(dir, Vec::new()));
    }
    for n in 0..3_000 {
        let file = Owned::new(ftk_file::Stat { size: n, ..ftk_file::Stat::EMPTY }, vec![n as u8; 40]);
        for name in [format!("{n}"), format!("a-{n}"), format!("a/b/{n}"), format!("a/b-{n}")] {
            entries.insert(Path::new(&name), file.clone());
        }
    }
    let entries = with_trees(entries, &ALGORITHMS);
    assert!(read(&open(&written(&recorded(), &entries)).unwrap()).unwrap() == entries);
    let mut wrong = entries.clone();
    wrong.get_mut(&Path::new("a/b/2999")).unwrap().stat.size += 1;
    let error = read(&open(&resealed(&wrong)).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "line 6004: tree of 'a/b' is not the digest of the entries below it");
}

/// Returns what a comparison by content finds, with its counts, and the contents that only one manifest has.
fn compared(old: &Manifest, new: &Manifest) -> (Vec<Said>, Summary, Vec<Vec<u8>>) {
    let criteria = Criteria { mode: Mode::Content, ..Criteria::default() };
    let (mut said, mut only) = (Vec::new(), Vec::new());
    let budget = Budget::new(1 << 30);
    let summary = diff(old, new, &criteria, &budget, &mut |finding| {
        said.push(Said::of(finding));
        ControlFlow::Continue(())
    });
    unique(old, new, &budget, &mut |entry| {
        only.push(entry.path.to_vec());
        ControlFlow::Continue(())
    })
    .unwrap();
    (said, summary.unwrap(), only)
}

fn without_trees(mut entries: Entries) -> Entries {
    entries.values_mut().for_each(|entry| entry.tree.clear());
    entries
}

/// Returns pairs of manifests, with and without tree digests, that are compared as they are and with other times.
fn assert_same_with_trees(old: &Entries, new: &Entries) {
    let header = recorded();
    let other = self::header(&[ALGORITHMS[1], Algorithm::Md5], false);
    let md5 = |entries: &Entries| {
        let mut entries = entries.clone();
        for entry in entries.values_mut().filter(|entry| !entry.digests.is_empty()) {
            entry.digests = [&entry.digests[8..], &entry.digests[..8], &[0; 8]].concat();
        }
        entries
    };
    let mut later = new.clone();
    later.values_mut().for_each(|entry| entry.stat.ino += 7);
    for new in [new, &later] {
        let expected = compared(&manifest(&header, old), &manifest(&header, new));
        let trees = |entries: &Entries| manifest(&header, &with_trees(entries.clone(), &ALGORITHMS));
        assert_eq!(compared(&trees(old), &trees(new)), expected);
        assert_eq!(compared(&manifest(&header, old), &trees(new)), expected);
        // Only one algorithm in common.
        let old_md5 = md5(old);
        let expected = compared(&manifest(&other, &old_md5), &manifest(&header, new));
        let old_md5 = manifest(&other, &with_trees(old_md5, &other.algorithms));
        assert_eq!(compared(&old_md5, &trees(new)), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn comparisons_find_the_same_with_tree_digests(
        old in all_entries(),
        new in all_entries(),
        mix in prop::collection::vec(any::<bool>(), 24),
    ) {
        // Most entries are the same in both.
        let mut mixed = old.clone();
        for (change, (path, entry)) in mix.iter().zip(new) {
            if *change {
                mixed.insert(path, entry);
            }
        }
        assert_same_with_trees(&without_trees(old), &without_trees(mixed));
    }
}

/// A manifest of some megabytes: many directories, of which some are longer than the blocks that are read at once.
fn large() -> Entries {
    let dir = ftk_file::Stat { file_type: FileType::Directory, ..ftk_file::Stat::EMPTY };
    let mut entries = Entries::new();
    let names = ["a", "a-b", "a/deep", "b", "b/\u{e9}\n", "c", "d", "e"];
    for path in ["."].iter().chain(&names) {
        entries.insert(Path::new(path), Owned::new(dir, Vec::new()));
    }
    for (nth, name) in names.into_iter().enumerate() {
        for n in 0..[2_000, 1, 1_500, 0, 1_000, 1, 3_000, 3][nth] {
            let stat = ftk_file::Stat { size: n, ..ftk_file::Stat::EMPTY };
            entries.insert(
                Path::new(&format!("{name}/{n}")),
                Owned::new(stat, vec![(n + nth as u64) as u8; 40]),
            );
        }
    }
    entries
}

#[test]
fn comparisons_skip_large_directories() {
    let old = large();
    assert!(written(&recorded(), &old).len() > 5 << 18);
    assert_same_with_trees(&old, &old);
    for path in ["a/1999", "a/deep/700", "e/2"] {
        let mut new = old.clone();
        new.get_mut(&Path::new(path)).unwrap().digests[9] ^= 1;
        assert_same_with_trees(&old, &new);
    }
    let mut new = old.clone();
    let moved = new.remove(&Path::new("c/0")).unwrap();
    new.insert(Path::new("d/moved"), moved);
    assert_same_with_trees(&old, &new);
}

/// Shows that lines are skipped: a line that is not valid is not noticed.
#[test]
fn lines_below_equal_directories_are_not_parsed() {
    let entries = with_trees(large(), &ALGORITHMS);
    let mut other = without_trees(entries.clone());
    other.get_mut(&Path::new("e/2")).unwrap().digests[0] ^= 1;
    let other = manifest(&recorded(), &with_trees(other, &ALGORITHMS));
    let text = String::from_utf8(written(&recorded(), &entries)).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.contains("\"footer\"")).collect();
    let broken = |path: &str| {
        let found = |line: &&str| line.starts_with(&format!("{{\"path\":\"{path}\","));
        let at = lines.iter().position(found).unwrap();
        let mut lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines[at] = lines[at].replace("\"mode\"", "\"mode\":7,\"mode\"");
        open(&seal(&lines)).unwrap()
    };
    let criteria = |mode| Criteria { mode, ..Criteria::default() };
    let run = |manifest: &Manifest, mode| {
        diff(manifest, &other, &criteria(mode), &Budget::new(1 << 30), &mut |_| ControlFlow::Continue(()))
    };
    for path in ["a/1500", "a/deep/999", "d/2998"] {
        let summary = run(&broken(path), Mode::Content).unwrap();
        assert_eq!((summary.count(Verdict::Corrupted), summary.total()), (1, entries.len() as u64));
        assert!(run(&broken(path), Mode::Strict).is_err());
        assert_eq!(
            unique(&broken(path), &other, &Budget::new(1 << 30), &mut |_| ControlFlow::Continue(())).unwrap(),
            1
        );
        assert!(
            unique(&other, &broken(path), &Budget::new(1 << 30), &mut |_| ControlFlow::Continue(())).is_err()
        );
    }
    assert!(run(&broken("e/1"), Mode::Content).is_err());
}
