//! Random plans, including absurd ones: no content is ever lost, and every run can be undone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;

use ftk_apply::Action;
use proptest::prelude::*;

use crate::harness::{Tree, ino};

/// What a file of the tree is: new content, or a hard link to an earlier file.
#[derive(Clone, Debug)]
enum Made {
    Content(u8),
    Link(usize),
}

fn made() -> impl Strategy<Value = Made> {
    prop_oneof![4 => (0..3_u8).prop_map(Made::Content), 1 => (0..8_usize).prop_map(Made::Link)]
}

fn make(tree: &Tree, files: &[Made]) -> Vec<String> {
    let names: Vec<_> = (0..files.len()).map(|nth| format!("d{}/f{nth}", nth % 2)).collect();
    for (nth, file) in files.iter().enumerate() {
        match *file {
            Made::Link(to) if nth > 0 => {
                fs::create_dir_all(tree.path(&names[nth]).parent().unwrap()).unwrap();
                fs::hard_link(tree.path(&names[to % nth]), tree.path(&names[nth])).unwrap();
            }
            Made::Link(_) => _ = tree.file(&names[nth], [0; 5000]),
            Made::Content(byte) => _ = tree.file(&names[nth], [byte; 5000]),
        }
    }
    names
}

/// Returns the contents of all regular files, which remain if every symbolic link is removed.
fn contents(tree: &Tree) -> BTreeSet<Vec<u8>> {
    let is_file = |name: &String| !tree.path(name).is_symlink();
    tree.names().iter().filter(|name| is_file(name)).map(|name| fs::read(tree.path(name)).unwrap()).collect()
}

/// Returns for each name the first name of the same file, and the content.
fn shape(tree: &Tree, names: &[String]) -> Vec<(usize, u8)> {
    let inodes: Vec<_> = names.iter().map(|name| ino(&tree.path(name))).collect();
    let first = |nth: usize| inodes.iter().position(|inode| *inode == inodes[nth]).unwrap();
    names.iter().enumerate().map(|(nth, name)| (first(nth), fs::read(tree.path(name)).unwrap()[0])).collect()
}

fn bytes_on_disk(tree: &Tree) -> u64 {
    let files = tree.names().into_iter().map(|name| fs::symlink_metadata(tree.path(&name)).unwrap());
    let files = files.filter(|file| file.is_file()).map(|file| (file.ino(), 512 * file.blocks()));
    files.collect::<BTreeMap<_, _>>().into_values().sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn h04_no_plan_loses_content(
        files in proptest::collection::vec(made(), 2..8),
        steps in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
        is_odd in any::<bool>(),
        action in 0..4_usize,
    ) {
        let tree = Tree::new();
        let names = make(&tree, &files);
        let to = Action::Move(tree.path("to"));
        let action = [Action::Hardlink, Action::Symlink, Action::Delete, to][action].clone();
        let (before, shape_before) = (contents(&tree), shape(&tree, &names));
        let on_disk = bytes_on_disk(&tree);
        let steps: Vec<_> = steps
            .iter()
            .map(|(victim, keeper)| {
                let keepers = if is_odd { names.len() } else { names.len() / 2 };
                let victims = if is_odd { 0 } else { keepers };
                let victim = victims + victim.index(names.len() - victims);
                tree.step(&names[victim], &names[keeper.index(keepers)])
            })
            .collect();
        let freed: u64 = tree.run(action.clone(), steps).into_iter().flatten().map(|freed| freed.0).sum();
        prop_assert_eq!(&contents(&tree), &before);
        prop_assert_eq!(on_disk - bytes_on_disk(&tree), freed);
        if action == Action::Delete {
            return Ok(());
        }
        // A file that was the keeper of one step and the victim of another may have changed.
        let undone = tree.undo();
        prop_assert!(is_odd || undone.iter().all(Result::is_ok), "{undone:?}");
        prop_assert_eq!(contents(&tree), before);
        if !is_odd {
            prop_assert_eq!(tree.names().len(), names.len());
            // A restored victim may have lost its hard links to names that were not changed, but it never
            // gains new ones.
            for (now, was) in shape(&tree, &names).into_iter().zip(&shape_before) {
                prop_assert_eq!(now.1, was.1);
                prop_assert_eq!(shape_before[now.0].0, was.0);
            }
        }
    }
}
