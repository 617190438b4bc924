//! Compares the pairs with those of a simple model.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;
use unicode_normalization::UnicodeNormalization as _;

use super::*;
use crate::Budget;

type Path = Vec<u8>;
/// The entries of a tree, and whether they are directories.
type Tree = BTreeMap<Path, bool>;

/// Names of few normal forms, each in several spellings.
const NAMES: [&[u8]; 11] = [
    b"a",
    b"a-",
    "\u{e9}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{e9}\u{e9}".as_bytes(),
    "\u{e9}e\u{301}".as_bytes(),
    "e\u{301}\u{e9}".as_bytes(),
    "e\u{301}e\u{301}".as_bytes(),
    b"K",
    "\u{212a}".as_bytes(),
    b"e\xcc\x81\xff",
];

/// Returns a tree in which every directory has an entry.
fn tree() -> impl Strategy<Value = Tree> {
    let path = prop::collection::vec(select(NAMES.to_vec()), 1..4);
    prop::collection::vec(path, 0..12).prop_map(|paths| {
        let mut tree = Tree::new();
        for path in paths {
            for len in 1..=path.len() {
                *tree.entry(path[..len].join(&b'/')).or_default() |= len < path.len();
            }
        }
        tree
    })
}

fn normal(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(name) => name.nfc().collect::<String>().into(),
        Err(_) => name.to_vec(),
    }
}

/// Returns the names in a directory.
fn names<'t>(tree: &'t Tree, dir: &[u8]) -> BTreeSet<&'t [u8]> {
    let below = |path: &'t Path| match dir {
        [] => Some(&path[..]),
        _ => path.strip_prefix(dir)?.strip_prefix(b"/"),
    };
    tree.keys().filter_map(below).filter(|name| !name.contains(&b'/')).collect()
}

fn join(dir: &[u8], name: &[u8]) -> Path {
    if dir.is_empty() { name.to_vec() } else { [dir, name].join(&b'/') }
}

/// Pairs the entries of two directories, one directory at a time.
fn model(a: &Tree, b: &Tree, dirs: [&[u8]; 2], pairs: &mut BTreeMap<Path, Path>) {
    let [mut ours, mut theirs] = [names(a, dirs[0]), names(b, dirs[1])];
    let mut found: Vec<_> = ours.intersection(&theirs).map(|name| (*name, *name)).collect();
    found.iter().for_each(|(name, _)| _ = (ours.remove(name), theirs.remove(name)));
    for name in ours {
        // Of the names with one normal form, the first that is left.
        let partner = theirs.iter().find(|their| normal(their) == normal(name)).copied();
        if let Some(partner) = partner {
            theirs.remove(partner);
            found.push((name, partner));
        }
    }
    for (ours, theirs) in found {
        let paths = [join(dirs[0], ours), join(dirs[1], theirs)];
        model(a, b, [&paths[0], &paths[1]], pairs);
        let [our_path, their_path] = paths;
        pairs.insert(our_path, their_path);
    }
}

/// Merges both trees by path, and passes which of them have an entry.
fn merged(a: &Tree, b: &Tree, mut each: impl FnMut([bool; 2], &[u8])) {
    let paths: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    for path in paths {
        each([a.contains_key(path), b.contains_key(path)], path);
    }
}

/// Returns the path of each entry of `b` in the spelling of `a`, and whether it is respelled.
fn aligned(a: &Tree, b: &Tree) -> BTreeMap<Path, (Path, bool)> {
    let budget = Budget::new(1 << 24);
    let mut unpaired = Unpaired::new(&budget);
    merged(a, b, |sides, path| {
        if sides != [true; 2] {
            unpaired.add(usize::from(sides[1]), path).unwrap();
        }
    });
    let mut spellings = Spellings::default();
    if let Some(mut candidates) = unpaired.candidates(&budget) {
        merged(a, b, |sides, path| candidates.add(sides, path).unwrap());
        spellings = candidates.pair().unwrap();
    }
    let mut aligner = spellings.aligner(&budget);
    let each = b.keys().map(|path| match aligner.align(path).unwrap() {
        Some(aligned) => (path.clone(), (aligned.path.to_vec(), aligned.is_respelled)),
        None => (path.clone(), (path.clone(), false)),
    });
    each.collect()
}

fn last(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn names_are_paired_as_in_a_model(a in tree(), b in tree()) {
        let mut expected = BTreeMap::new();
        model(&a, &b, [b"", b""], &mut expected);
        let aligned = aligned(&a, &b);
        let paths: BTreeSet<_> = aligned.values().map(|(path, _)| path).collect();
        prop_assert_eq!(paths.len(), b.len(), "no two entries get the same path");
        for (own, (path, is_respelled)) in &aligned {
            match expected.iter().find(|(_, their)| *their == own) {
                Some((our, _)) => {
                    prop_assert_eq!(path, our);
                    prop_assert_eq!(*is_respelled, last(our) != last(own), "{:?} and {:?}", our, own);
                }
                None => prop_assert!(!a.contains_key(path), "{:?} has no partner, but is at {:?}", own, path),
            }
        }
    }
}

proptest! {
    /// A selection of files lacks the directories above them. Their names are paired if something below them has a partner.
    #[test]
    fn directories_without_entries_are_paired(a in tree(), b in tree()) {
        let files = |tree: Tree| -> Tree { tree.into_iter().filter(|(_, is_dir)| !is_dir).collect() };
        let (a, b) = (files(a), files(b));
        let aligned = aligned(&a, &b);
        let paths: BTreeSet<_> = aligned.values().map(|(path, _)| path).collect();
        prop_assert_eq!(paths.len(), b.len(), "no two entries get the same path");
        let whole = |path: &[u8]| path.split(|byte| *byte == b'/').map(normal).collect::<Vec<_>>();
        let is_left = |own: &Path, path: &Path| own == path && !a.contains_key(own);
        for (own, (path, is_respelled)) in &aligned {
            prop_assert_eq!(whole(own), whole(path));
            prop_assert_eq!(*is_respelled, own != path);
            prop_assert!(!a.contains_key(own) || own == path, "paths that are the same are paired first");
        }
        // Two directories in which only one file has another spelling.
        if let ([(our, _)], [(their, _)]) = (&*a.iter().collect::<Vec<_>>(), &*b.iter().collect::<Vec<_>>()) {
            prop_assert!(whole(our) != whole(their) || !is_left(their, &aligned[*their].0) );
        }
    }
}

#[test]
fn ascii_trees_and_trees_without_common_forms_need_no_memory() {
    let budget = Budget::new(0);
    let mut unpaired = Unpaired::new(&budget);
    (0..1000).for_each(|n| unpaired.add(n % 2, format!("K/{n}").as_bytes()).unwrap());
    assert!(unpaired.candidates(&budget).is_none());
    let budget = Budget::new(1 << 20);
    let mut unpaired = Unpaired::new(&budget);
    (0..1000).for_each(|n| unpaired.add(n % 2, format!("\u{e9}{n}").as_bytes()).unwrap());
    assert!(unpaired.candidates(&budget).is_none());
}

#[test]
fn paths_count_towards_the_budget() {
    let tree = |name: &str| -> Tree { (0..3000).map(|n| (format!("{name}{n:04}").into(), false)).collect() };
    let (a, b) = (tree("\u{e9}"), tree("e\u{301}"));
    let run = |bytes| {
        let budget = Budget::new(bytes);
        let mut unpaired = Unpaired::new(&budget);
        let mut full = Ok(());
        merged(&a, &b, |sides, path| full = full.and_then(|()| unpaired.add(usize::from(sides[1]), path)));
        full?;
        let mut candidates = unpaired.candidates(&budget).unwrap();
        merged(&a, &b, |sides, path| full = full.and_then(|()| candidates.add(sides, path)));
        full?;
        candidates.pair().map(|spellings| spellings.seeds.len())
    };
    assert_eq!(run(4 << 20), Ok(3000));
    for bytes in [64 << 10, 256 << 10, 512 << 10] {
        assert_eq!(run(bytes), Err(crate::Full::Memory), "{bytes}");
    }
}
