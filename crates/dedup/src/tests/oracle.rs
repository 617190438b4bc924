//! Random trees of almost identical files: the funnel must agree with a comparison of all bytes.

use ftk_hash::Algorithm;
use ftk_sched::{Backend, Threads};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::tree::{SMALL, Settings, Tree, listed, run};

/// A file with this content, or a hard link to another file.
#[derive(Clone, Debug)]
enum Node {
    Content { fill: u8, len: usize, edits: Vec<usize> },
    Link(Index),
}

/// Lengths around all thresholds: pieces, files read whole, huge files.
fn length() -> impl Strategy<Value = usize> {
    select(vec![0, 1, 15, 16, 17, 32, 33, 63, 64, 65, 66, 80, 100, 399, 400, 401, 1000])
}

/// Positions at the ends, at the edges of pieces, in the middle, and anywhere.
fn edit(len: usize) -> impl Strategy<Value = usize> {
    let places: Vec<_> =
        [0, 1, 15, 16, len / 2, len.wrapping_sub(17), len.wrapping_sub(16), len.wrapping_sub(1)]
            .into_iter()
            .filter(|&at| at < len)
            .collect();
    prop_oneof![4 => select([places, vec![usize::MAX]].concat()), 1 => 0..len.max(1)]
}

fn node() -> impl Strategy<Value = Node> {
    let content = length().prop_flat_map(|len| {
        (0..2_u8, vec(edit(len), 0..3)).prop_map(move |(fill, edits)| Node::Content { fill, len, edits })
    });
    prop_oneof![5 => content, 1 => any::<Index>().prop_map(Node::Link)]
}

/// Names for which path order differs from the order of the inventory.
fn name() -> impl Strategy<Value = String> {
    (select(vec!["", "a/", "a/b/", "a-b/", "a.c/"]), select(vec!["a", "b", "m-", "z"]))
        .prop_map(|(dir, file)| format!("{dir}{file}"))
}

fn settings() -> impl Strategy<Value = Settings> {
    let algorithms = vec![Algorithm::Xxh128, Algorithm::Blake3, Algorithm::Sha256];
    (select(algorithms), 0..=4_usize, select(vec![Backend::Sync, Backend::Uring])).prop_map(
        |(algorithm, threads, backend)| Settings {
            algorithm,
            threads: if threads == 0 { Threads::Auto } else { Threads::Fixed(threads) },
            backend,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups_match_a_comparison_of_all_bytes(
        nodes in vec((name(), node()), 0..90),
        settings in vec(settings(), 3),
        min_size in 0..3_u64,
    ) {
        let tree = Tree::new();
        let mut names: Vec<String> = Vec::new();
        for (nth, (name, node)) in nodes.iter().enumerate() {
            let name = format!("{name}{nth}");
            match node {
                Node::Content { fill, len, edits } => {
                    let mut bytes: Vec<u8> = (0..*len).map(|at| (at * at / 7) as u8 ^ fill).collect();
                    edits.iter().filter(|&&at| at < *len).for_each(|&at| bytes[at] ^= 0x80);
                    tree.write(&name, bytes);
                }
                Node::Link(_) if names.is_empty() => continue,
                Node::Link(index) => tree.link(&names[index.index(names.len())], &name),
            }
            names.push(name);
        }
        let expected = tree.really_equal(min_size);
        let inventory = tree.inventory();
        for settings in settings {
            let found = run(&inventory, settings, min_size, &SMALL, |_| ());
            prop_assert!(found.failed.is_empty(), "{:?}", found.failed);
            let groups = found.into_groups();
            prop_assert_eq!(&listed(&inventory, &groups), &expected, "{:?}", settings);
            let totals = groups.totals();
            let sum = |of: fn(u64, u64, u64) -> u64| expected.iter().map(|(size, clusters)| {
                of(*size, clusters.len() as u64, clusters.iter().flatten().count() as u64)
            }).sum::<u64>();
            prop_assert_eq!(totals.groups, expected.len() as u64);
            prop_assert_eq!(totals.files, sum(|_, _, names| names));
            prop_assert_eq!(totals.clusters, sum(|_, files, _| files));
            prop_assert_eq!(totals.wasted, sum(|size, files, _| size * (files - 1)));
            prop_assert_eq!(totals.shared, sum(|size, files, names| size * (names - files)));
        }
    }
}
