//! Groups of directories are equal, disjoint and complete.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;

use super::model::{Make, Node, all, cases, contents, path, paths, plant, tree_plan, walk};
use crate::tests::tree::{SMALL, Settings, Tree, listed, run};
use crate::{Choice, DirGroup, Directories, Names};

/// Keeps the first directory of each group.
pub(super) fn first(group: &DirGroup) -> Vec<Choice> {
    let stays = |nth| group.kept.is_empty() && nth == 0;
    (0..group.dirs.len()).map(|nth| if stays(nth) { Choice::Stays } else { Choice::Goes }).collect()
}

fn is_inside(path: &Path, dirs: &BTreeSet<PathBuf>) -> bool {
    path.ancestors().skip(1).any(|above| dirs.contains(above))
}

fn bytes(node: &Node) -> u64 {
    node.inodes().values().sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups_match_a_comparison_of_all_pairs(
        plan in any::<bool>().prop_flat_map(tree_plan),
        names in select(vec![Names::Compared, Names::Ignored]),
        min_size in 0..2_u64,
    ) {
        let tree = Tree::new();
        plant(&tree, &plan);
        let root = Node::read(tree.0.path());
        let model = root.dirs(tree.0.path());
        let inventory = walk(&tree);
        let contents = contents(&inventory, min_size);
        let directories = Directories::new(&inventory, &contents, &all(names));
        let (groups, fates) = directories.decide(first);

        let mut members = BTreeSet::new();
        let (mut anchored, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for (group, choices) in &groups {
            let goes = group.dirs.iter().zip(choices).filter(|(_, choice)| **choice == Choice::Goes);
            gone.extend(goes.map(|(&dir, _)| path(&directories, dir)));
            let every: Vec<_> = group.all().map(|dir| path(&directories, dir)).collect();
            prop_assert!(every.len() > 1);
            let nodes: Vec<_> = every.iter().map(|path| model[path]).collect();
            prop_assert!(nodes.iter().all(|node| node.is_equal(nodes[0], names)), "{every:?}");
            prop_assert!(bytes(nodes[0]) > 0 || min_size == 0);
            prop_assert_eq!(group.size, bytes(nodes[0]));
            // Kept directories count as one: the first.
            let first = nodes[0].inodes();
            let counted = if group.kept.is_empty() { &nodes[1..] } else { &nodes[group.kept.len()..] };
            let others: BTreeMap<_, _> = counted.iter().flat_map(|node| node.inodes()).collect();
            let wasted: u64 = others.iter().filter(|(ino, _)| !first.contains_key(ino)).map(|(_, len)| len).sum();
            prop_assert_eq!(group.wasted, wasted);
            anchored.extend(paths(&directories, &group.kept));
            for path in paths(&directories, &group.dirs) {
                prop_assert!(members.insert(path), "no directory is in two groups");
            }
        }
        prop_assert!(groups.is_sorted_by(|a, b| a.0.wasted >= b.0.wasted));
        for path in &members {
            prop_assert!(!is_inside(path, &members), "{path:?} is inside a member of another group");
        }
        for path in &anchored {
            prop_assert!(is_inside(path, &members), "{path:?} stays because something above it does");
        }

        // Every directory with a copy is in a group, or inside a member of one. Hard links are no copies, and after
        // some copies are gone others may be hard links of each other. If names are ignored, the only copy may be
        // inside a surplus directory, and the equal one that stays may have no such subdirectory.
        let has_links = plan.iter().any(|make| matches!(make, Make::HardLink { .. }));
        for (a, node) in model.iter().filter(|_| !has_links) {
            let is_twin = |(b, other): (&PathBuf, &&Node)| {
                let is_left = names == Names::Compared || !is_inside(b, &gone);
                a != b && !a.starts_with(b) && !b.starts_with(a) && is_left && node.is_equal(other, names)
            };
            if (min_size == 0 || bytes(node) > 0) && model.iter().any(is_twin) {
                let is_above_itself = |(b, other): (&PathBuf, &&Node)| {
                    a != b && a.starts_with(b) && node.is_equal(other, names)
                };
                let is_known = members.contains(a) || is_inside(a, &members);
                prop_assert!(is_known || model.iter().any(is_above_itself), "{a:?} in {members:?}");
            }
        }

        // Groups of files have only what is outside, and something to compare it with.
        let found = run(&inventory, Settings::default(), min_size, &SMALL, |_| ());
        let expected = listed(&inventory, &found.into_groups());
        let found = run(&inventory, Settings::default(), min_size, &SMALL, |_| ());
        let outside = found.into_groups().outside(&inventory, &fates, false);
        let outside = listed(&inventory, &outside);
        let is_in = |path: &Path| is_inside(path, &members);
        let mut known = BTreeSet::new();
        for (size, clusters) in &outside {
            let every: Vec<_> = clusters.iter().flatten().collect();
            prop_assert!(clusters.len() > 1 && every.iter().any(|path| !is_in(path)));
            prop_assert!(clusters.iter().filter(|names| names.iter().all(|path| is_in(path))).count() <= 1);
            let is_part = |names: &Vec<PathBuf>, all: &Vec<PathBuf>| names.iter().all(|name| all.contains(name));
            let is_of = |all: &[Vec<PathBuf>]| clusters.iter().all(|names| all.iter().any(|all| is_part(names, all)));
            let is_real = expected.iter().any(|(len, all)| len == size && is_of(all));
            prop_assert!(is_real);
            known.extend(every);
        }
        for (_, clusters) in &expected {
            let is_left = |names: &&Vec<PathBuf>| names.iter().any(|path| !is_in(path));
            let left: Vec<_> = clusters.iter().filter(is_left).collect();
            let has_inside = clusters.iter().any(|names| names.iter().all(|path| is_in(path)));
            if !has_links && (left.len() > 1 || (left.len() == 1 && has_inside)) {
                prop_assert!(left.iter().all(|names| names.iter().filter(|path| !is_in(path)).all(|path| known.contains(path))));
            }
        }
    }
}
