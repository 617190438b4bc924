//! Directories that are contained elsewhere, against a comparison with all other files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;

use super::model::{Node, all, cases, contents, path, plant, tree_plan, walk};
use crate::tests::tree::Tree;
use crate::{Directories, Names, Share, contained};

/// The files below a directory, and those of them whose content exists outside.
fn amounts<'m>(
    files: &'m BTreeMap<PathBuf, &Vec<u8>>,
    dir: &Path,
    min_size: u64,
) -> (Vec<&'m PathBuf>, Vec<&'m PathBuf>) {
    let is_counted = |path: &&PathBuf| path.starts_with(dir) && files[*path].len() as u64 >= min_size;
    let inside: Vec<_> = files.keys().filter(is_counted).collect();
    let is_elsewhere = |path: &&PathBuf| {
        files.iter().any(|(other, content)| !other.starts_with(dir) && *content == files[*path])
    };
    let found = inside.iter().copied().filter(|path| is_elsewhere(path)).collect();
    (inside, found)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shares_match_a_comparison_with_all_files(
        plan in any::<bool>().prop_flat_map(tree_plan),
        share in select(vec![1, 3_333, 5_000, 9_000, 10_000]),
        min_size in 0..2_u64,
    ) {
        let tree = Tree::new();
        plant(&tree, &plan);
        let root = Node::read(tree.0.path());
        let mut files = BTreeMap::new();
        root.visit(tree.0.path(), &mut |path, node| {
            if let Node::File { content, .. } = node {
                files.insert(path.to_owned(), content);
            }
        });
        let size = |paths: &[&PathBuf]| paths.iter().map(|path| files[*path].len() as u64).sum::<u64>();
        let mut expected = BTreeMap::new();
        // A directory comes before those inside it.
        for dir in root.dirs(tree.0.path()).into_keys() {
            let (inside, found) = amounts(&files, &dir, min_size);
            let reaches = |part: u64, whole: u64| part * 10_000 >= whole * share;
            let is_large = reaches(found.len() as u64, inside.len() as u64) && reaches(size(&found), size(&inside));
            let is_reported = dir.ancestors().skip(1).any(|above| expected.contains_key(above));
            if !found.is_empty() && is_large && !is_reported {
                expected.insert(dir, (inside, found));
            }
        }

        let inventory = walk(&tree);
        let contents = contents(&inventory, min_size);
        let directories = Directories::new(&inventory, &contents, &all(Names::Compared));
        let reported = contained(&directories, Share(share as u32), None);
        let dirs: BTreeSet<_> = reported.iter().map(|it| path(&directories, it.dir)).collect();
        prop_assert_eq!(dirs, expected.keys().cloned().collect());
        prop_assert!(reported.is_sorted_by(|a, b| a.found_bytes >= b.found_bytes));
        for it in &reported {
            let dir = path(&directories, it.dir);
            let (inside, found) = &expected[&dir];
            prop_assert_eq!((it.files, it.bytes), (inside.len() as u64, size(inside)));
            prop_assert_eq!((it.found_files, it.found_bytes), (found.len() as u64, size(found)));
            prop_assert!(it.is_whole);
            let name = |&file| PathBuf::from(OsString::from_vec(inventory.path(file)));
            let missing: BTreeSet<_> = it.missing.iter().map(name).collect();
            prop_assert_eq!(missing, inside.iter().filter(|path| !found.contains(path)).map(|&path| path.clone()).collect());
            // Each file that is found elsewhere is in one of the holders.
            prop_assert!(!it.holders.is_empty());
            let holders: Vec<_> = it.holders.iter().map(|holder| path(&directories, holder.dir)).collect();
            for (holder, held) in holders.iter().zip(&it.holders) {
                prop_assert!(!holder.starts_with(&dir));
                let is_held = |file: &&PathBuf| files.iter().any(|(other, content)| {
                    let is_in = if dir.starts_with(holder) { other.parent() == Some(holder) } else { other.starts_with(holder) };
                    is_in && *content == files[*file]
                });
                let held_here: Vec<_> = found.iter().copied().filter(|file| is_held(file)).collect();
                if files.len() < 16 {
                    prop_assert_eq!((held.files, held.bytes), (held_here.len() as u64, size(&held_here)), "{:?}", holder);
                }
            }
            let is_held = |file: &&PathBuf| files.iter().any(|(other, content)| {
                holders.iter().any(|holder| other.starts_with(holder)) && *content == files[*file]
            });
            prop_assert!(found.iter().all(is_held));
        }
    }
}

#[test]
fn shares_are_rounded_down() {
    assert_eq!(Share::of(9_999_999, 10_000_000), Share(9_999));
    assert_eq!(Share::of(3, 3), Share::ALL);
    assert_eq!(Share::of(0, 0), Share::ALL);
    assert_eq!(Share::of(u64::MAX, u64::MAX), Share::ALL);
}
