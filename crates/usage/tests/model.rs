//! Random trees, counted by random workers, against a naive model.

use std::collections::{BTreeMap, BTreeSet};

use ftk_inventory::{Budget, Full};
use ftk_usage::{
    Change, ChangedRow, Difference, Facts, Item, Keep, Measure, Node, Part, Shown, Sum, Unknown, Usage,
};
use proptest::prelude::*;

/// An entry: the path of its directory as indices of names, its name, and what it uses.
#[derive(Clone, Debug)]
struct File {
    dir: Vec<u8>,
    name: Vec<u8>,
    facts: Facts,
}

/// Names that sort differently with and without a slash at their end.
const NAMES: [&[u8]; 6] = [b"a", b"a-b", b"a.", b"b", b"\xff", b"a0"];

fn path_of(root: &[u8], dir: &[u8]) -> Vec<u8> {
    let mut path = root.to_vec();
    for name in dir {
        path.push(b'/');
        path.extend_from_slice(NAMES[usize::from(*name)]);
    }
    path
}

/// The sums by path, of directories and of the inodes that count.
fn model(files: &[File]) -> (BTreeMap<Vec<u8>, Sum>, BTreeMap<Vec<u8>, Facts>) {
    let mut sums: BTreeMap<Vec<u8>, Sum> = BTreeMap::new();
    let mut first: BTreeMap<(u64, u64), Vec<u8>> = BTreeMap::new();
    let full = |file: &File| [&path_of(b"r", &file.dir)[..], b"/", &file.name].concat();
    for file in files {
        if let Some(inode) = file.facts.link {
            let path = full(file);
            let best = first.entry(inode).or_insert_with(|| path.clone());
            *best = path.min(best.clone());
        }
    }
    let mut counted = BTreeMap::new();
    sums.entry(b"r".to_vec()).or_default().directories = 1;
    for file in files {
        for depth in 0..=file.dir.len() {
            let path = path_of(b"r", &file.dir[..depth]);
            sums.entry(path).or_default().directories = 1;
        }
    }
    let own: Vec<_> = sums.keys().cloned().collect();
    for path in &own {
        let is_below = |other: &&Vec<u8>| {
            other.len() > path.len() && other.starts_with(path) && other[path.len()] == b'/'
        };
        let below = own.iter().filter(is_below).count() as u64;
        sums.get_mut(path).unwrap().directories += below;
    }
    for file in files {
        let path = full(file);
        let counts = file.facts.link.is_none_or(|inode| first[&inode] == path);
        for depth in 0..=file.dir.len() {
            let sum = sums.get_mut(&path_of(b"r", &file.dir[..depth])).unwrap();
            sum.files += 1;
            if counts {
                sum.apparent += u128::from(file.facts.apparent);
                sum.allocated += u128::from(file.facts.allocated);
            }
        }
        if counts {
            counted.insert(path, file.facts);
        }
    }
    (sums, counted)
}

/// Counts the files. `workers`: which of them does the next step.
fn count(files: &[File], keep: &Keep, workers: &[usize]) -> Usage {
    count_with(files, keep, workers, &[])
}

fn count_with(files: &[File], keep: &Keep, workers: &[usize], unknown: &[Unknown]) -> Usage {
    let budget = Budget::new(1 << 30);
    let mut parts: Vec<_> = (0..4).map(|worker| Part::new(worker, keep, &budget)).collect();
    let mut next = workers.iter().copied().cycle();
    let mut nodes: BTreeMap<Vec<u8>, Node> = BTreeMap::new();
    let root = parts[0].root(b"r", true);
    parts[0].add_directory(root, &Facts::default(), true);
    nodes.insert(Vec::new(), root);
    for file in files {
        for depth in 1..=file.dir.len() {
            if !nodes.contains_key(&file.dir[..depth]) {
                let part = &mut parts[next.next().unwrap()];
                let node =
                    part.directory(nodes[&file.dir[..depth - 1]], NAMES[usize::from(file.dir[depth - 1])]);
                part.add_directory(node, &Facts::default(), true);
                nodes.insert(file.dir[..depth].to_vec(), node);
            }
        }
        let path = || [&path_of(b"r", &file.dir)[..], b"/", &file.name].concat();
        parts[next.next().unwrap()].add_file(nodes[&file.dir], &file.name, &file.facts, path);
    }
    unknown.iter().for_each(|unknown| parts[1].add_unknown(unknown.clone()));
    for part in &mut parts {
        assert!(part.reserve());
    }
    Usage::merge(parts).unwrap()
}

/// Returns all kept items with their paths and sums.
fn all(usage: &Usage) -> BTreeMap<Vec<u8>, (Item, Sum)> {
    let mut all = BTreeMap::new();
    let mut waiting: Vec<_> = usage.roots().iter().map(|root| Item::Dir(*root)).collect();
    while let Some(item) = waiting.pop() {
        assert!(all.insert(usage.path(item), (item, usage.sum_of(item))).is_none());
        if let Item::Dir(dir) = item {
            waiting.extend(usage.children(dir));
        }
    }
    all
}

fn files() -> impl Strategy<Value = Vec<File>> {
    let size = prop_oneof![0..10_000_u64, Just(u64::MAX), Just(i64::MAX as u64)];
    let file = (prop::collection::vec(0..6_u8, 0..5), 0..30_usize, size.clone(), size, 0..12_u64);
    prop::collection::vec(file, 0..40).prop_map(|files| {
        let mut inodes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut files: Vec<_> = files
            .into_iter()
            .map(|(dir, name, apparent, allocated, inode)| {
                // All links of an inode agree about its size.
                let (apparent, allocated) = *inodes.entry(inode).or_insert((apparent, allocated));
                let link = (inode < 6).then_some((inode % 2, inode));
                let name = [b"f".as_slice(), NAMES[name % 6], name.to_string().as_bytes()].concat();
                File { dir, name, facts: Facts { apparent, allocated, link } }
            })
            .collect();
        files.sort_by_key(|file| (file.dir.clone(), file.name.clone()));
        files.dedup_by_key(|file| (file.dir.clone(), file.name.clone()));
        files
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn sums_are_those_of_the_model(
        files in files(),
        shuffle in any::<u64>(),
        workers in prop::collection::vec(0..4_usize, 1..9),
        depth in prop::option::of(0..4_u32),
        top in prop::option::of(0..6_usize),
        keeps_files in any::<bool>(),
    ) {
        let (sums, counted) = model(&files);
        let mut files = files;
        files.sort_by_key(|file| (file.name.len() as u64 ^ shuffle).wrapping_mul(shuffle | 1));
        let keep = Keep { depth, files: keeps_files, top, measure: Measure::Allocated, ..Keep::default() };
        let usage = count(&files, &keep, &workers);
        let depth_of = |path: &[u8]| path.iter().filter(|byte| **byte == b'/').count() as u32;
        let is_kept = |path: &[u8]| depth.is_none_or(|deepest| depth_of(path) <= deepest);
        let all = all(&usage);
        for (path, sum) in &sums {
            prop_assert_eq!(all.get(path).map(|it| it.1), is_kept(path).then_some(*sum));
        }
        let mut expected: Vec<_> = counted
            .iter()
            .filter(|(path, _)| keeps_files && is_kept(path))
            .map(|(path, facts)| (std::cmp::Reverse(facts.allocated), path.clone()))
            .collect();
        expected.sort();
        expected.truncate(top.unwrap_or(usize::MAX));
        let is_file = |it: &(&Vec<u8>, &(Item, Sum))| matches!(it.1.0, Item::File(_));
        let mut found: Vec<_> = all
            .iter()
            .filter(is_file)
            .map(|(path, (_, sum))| (std::cmp::Reverse(sum.allocated as u64), path.clone()))
            .collect();
        found.sort();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn listings_contain_the_largest(files in files(), top in 1..12_usize) {
        let usage = count(&files, &Keep { files: true, ..Keep::default() }, &[0, 1, 2]);
        let budget = Budget::new(1 << 30);
        let whole = usage.listing(None, Measure::Apparent, &budget).unwrap().rows;
        let some = usage.listing(Some(top), Measure::Apparent, &budget).unwrap();
        prop_assert_eq!(some.rows.len(), top.min(whole.len()));
        let mut sizes: Vec<_> = whole.iter().map(|row| row.sum.apparent).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut shown: Vec<_> = some.rows.iter().map(|row| row.sum.apparent).collect();
        shown.sort_unstable_by(|a, b| b.cmp(a));
        prop_assert_eq!(&shown[..], &sizes[..shown.len()]);
        for (at, row) in some.rows.iter().enumerate() {
            let path = usage.path(row.item);
            if let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
                let parent = some.rows[..at].iter().rev().find(|above| usage.path(above.item) == path[..slash]);
                prop_assert!(parent.is_some());
            }
            let Some(rest) = row.rest else { continue };
            let Item::Dir(dir) = row.item else { panic!("a file has no entries") };
            let is_shown = |item: &Item| some.rows.iter().any(|row| row.item == *item);
            // Links that do not count are entries too, but have no item.
            prop_assert!(rest.entries >= usage.children(dir).filter(|item| !is_shown(item)).count() as u64);
            let of_shown: u128 =
                usage.children(dir).filter(is_shown).map(|item| usage.sum_of(item).apparent).sum();
            prop_assert_eq!(rest.bytes + of_shown, row.sum.apparent);
        }
    }
}

/// The directories of a tree, and its files with what they count, by their paths.
type Tree = (BTreeSet<Vec<u8>>, BTreeMap<Vec<u8>, [i128; 3]>);

fn tree_of(files: &[File]) -> Tree {
    let (sums, counted) = model(files);
    let of_file = |file: &File| {
        let path = [&path_of(b"r", &file.dir)[..], b"/", &file.name].concat();
        let facts = counted.get(&path).copied().unwrap_or_default();
        (path, [facts.apparent.into(), facts.allocated.into(), 1])
    };
    (sums.into_keys().collect(), files.iter().map(of_file).collect())
}

fn is_below(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/"))
}

fn parent(path: &[u8]) -> &[u8] {
    &path[..path.iter().rposition(|byte| *byte == b'/').expect("a slash")]
}

/// What a model shows of a directory: its change, unless it is unknown, and the number of unknown paths.
type Expected = BTreeMap<Vec<u8>, (Option<[i128; 3]>, u64)>;

/// The rows of a difference, without a limit of their number.
fn changed([old, new]: [&Tree; 2], unknown: &[Unknown], depth: Option<u32>, measure: usize) -> Expected {
    let dirs: BTreeSet<_> = old.0.union(&new.0).cloned().collect();
    // Directories that are unknown, and those whose files are. Names of files are not kept here.
    let (mut whole, mut without_files) = (Vec::new(), Vec::new());
    for Unknown { path, is_directory } in unknown {
        let path = if path.is_empty() { b"r".to_vec() } else { [b"r/", &path[..]].concat() };
        if dirs.contains(&path) {
            whole.push(path);
        } else if !is_directory {
            let mut above = parent(&path);
            while !dirs.contains(above) {
                above = parent(above);
            }
            without_files.push(above.to_vec());
        }
    }
    let in_unknown = |path: &[u8]| whole.iter().any(|dir| is_below(path, dir));
    let mut rows = Expected::new();
    let shown = |path: &[u8]| {
        depth.is_none_or(|deepest| path.iter().filter(|byte| **byte == b'/').count() as u32 <= deepest)
    };
    for dir in dirs.iter().filter(|dir| !in_unknown(dir)) {
        let mut change = [0; 3];
        for (tree, sign) in [(old, -1), (new, 1)] {
            for (path, counts) in &tree.1 {
                let is_known = !in_unknown(path) && !without_files.iter().any(|dir| dir == parent(path));
                if is_known && is_below(path, dir) {
                    change.iter_mut().zip(counts).for_each(|(sum, count)| *sum += sign * count);
                }
            }
        }
        let marks = whole.iter().chain(&without_files).filter(|it| *it == dir || is_below(it, dir));
        let marks = marks.filter(|it| !in_unknown(it)).count() as u64;
        let change = (!whole.contains(dir)).then_some(change);
        rows.insert(dir.clone(), (change, marks));
    }
    let has_changed = |(change, marks): &(Option<[i128; 3]>, u64)| {
        *marks > 0 || change.is_some_and(|change| change[measure] != 0 || change[2] != 0)
    };
    let all = rows.clone();
    rows.retain(|path, _| {
        let mut at_or_below = all.iter().filter(|(it, _)| *it == path || is_below(it, path));
        shown(path) && at_or_below.any(|(it, row)| shown(it) && has_changed(row))
    });
    rows
}

fn numbers(change: Change) -> [i128; 3] {
    [change.apparent, change.allocated, change.files.into()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn differences_are_those_of_the_model(
        old in files(),
        new in files(),
        fates in prop::collection::vec(0..4_u8, 40),
        unknown in prop::collection::vec((prop::collection::vec(0..6_u8, 0..4), any::<bool>(), 0..2_usize), 0..3),
        depth in prop::option::of(0..4_u32),
        top in 1..8_usize,
        measure in 0..2_usize,
    ) {
        // Most files are the same, or in another directory, so that the change of the one above is 0.
        let mut new = new;
        new.truncate(5);
        new.retain(|file| file.facts.link.is_none());
        for (file, fate) in old.iter().zip(fates) {
            let mut file = file.clone();
            if let (2, Some(last)) = (fate, file.dir.last_mut()) {
                *last = (*last + 1) % 6;
            }
            new.extend((fate > 0).then_some(file));
        }
        new.sort_by_key(|file| (file.dir.clone(), file.name.clone()));
        new.dedup_by_key(|file| (file.dir.clone(), file.name.clone()));
        let mut sides = [Vec::new(), Vec::new()];
        for (dir, is_directory, side) in unknown {
            let dir = path_of(b"r", &dir).get(2..).unwrap_or_default().to_vec();
            let path = if is_directory { dir } else { [&dir[..], b"/f"].concat() };
            sides[side].push(Unknown { path: path.strip_prefix(b"/").unwrap_or(&path).to_vec(), is_directory });
        }
        let unknown = sides.concat();
        let tables = [
            count_with(&old, &Keep::default(), &[0, 1], &sides[0]),
            count_with(&new, &Keep::default(), &[1, 2, 0], &sides[1]),
        ];
        let shown = Shown { measure: [Measure::Apparent, Measure::Allocated][measure], depth, top: None };
        let budget = Budget::new(1 << 30);
        let difference = Difference::between(&tables[0], &tables[1], shown, &budget).unwrap();
        let rows = difference.rows(&budget).unwrap();
        let found: Expected =
            rows.iter().map(|row| (difference.path(row), (row.change.map(numbers), row.unknown))).collect();
        prop_assert_eq!(found.len(), rows.len());
        let trees = [tree_of(&old), tree_of(&new)];
        prop_assert_eq!(&found, &changed([&trees[0], &trees[1]], &unknown, depth, measure));
        prop_assert_eq!(difference.is_empty(), rows.is_empty());

        let shown = Shown { top: Some(top), ..shown };
        let some = Difference::between(&tables[0], &tables[1], shown, &budget).unwrap();
        let some_rows = some.rows(&budget).unwrap();
        prop_assert_eq!(some_rows.len(), top.min(rows.len()));
        let bytes = |change: &Option<[i128; 3]>| change.map_or(0, |change| change[measure].unsigned_abs());
        let largest = found.values().map(|row| bytes(&row.0)).max().unwrap_or_default();
        let mut sizes = Vec::new();
        for (at, row) in some_rows.iter().enumerate() {
            let path = some.path(row);
            prop_assert_eq!(&(row.change.map(numbers), row.unknown), &found[&path]);
            let has_parent = some_rows[..at].iter().any(|above| is_below(&path, &some.path(above)));
            prop_assert!(has_parent || path == b"r");
            sizes.push(bytes(&found[&path].0));
            // The entries of one directory are sorted, and those that are not shown are the rest.
            let is_child = |it: &&Vec<u8>| it.len() > 1 && parent(it) == path;
            let is_shown = |it: &Vec<u8>| some_rows.iter().any(|row| some.path(row) == *it);
            let hidden: Vec<_> = found.keys().filter(is_child).filter(|it| !is_shown(it)).collect();
            let shown: Vec<_> = some_rows.iter().map(|row| some.path(row)).filter(|it| is_child(&it)).collect();
            prop_assert!(shown.is_sorted_by_key(|it| std::cmp::Reverse(bytes(&found[it].0))));
            if let Some((entries, rest)) = row.rest {
                prop_assert_eq!(entries, hidden.len() as u64);
                let sum: i128 = hidden.iter().filter_map(|it| Some(found[*it].0?[measure])).sum();
                prop_assert_eq!(numbers(rest)[measure], sum);
            } else {
                prop_assert!(hidden.is_empty() || shown.is_empty());
            }
        }
        // The largest change is shown, with the directories that lead to it.
        let is_largest = |row: &&ChangedRow| bytes(&row.change.map(numbers)) == largest;
        let all: Vec<_> = rows.iter().filter(is_largest).map(|row| (difference.path(row), row.depth)).collect();
        let topmost = all.iter().filter(|row| !all.iter().any(|above| is_below(&row.0, &above.0)));
        if let [(_, depth)] = &*topmost.collect::<Vec<_>>() {
            prop_assert!(top <= *depth as usize || sizes.contains(&largest));
        }
    }
}

#[test]
fn an_exceeded_budget_is_an_error() {
    let mut part = Part::new(0, &Keep::default(), &Budget::new(100_000));
    let root = part.root(b"r", true);
    let mut is_within = true;
    for nth in 0..10_000 {
        part.directory(root, format!("{nth}").as_bytes());
        is_within = part.reserve();
    }
    assert!(!is_within);
    assert_eq!(Usage::merge(vec![part]).unwrap_err(), Full::Memory);
}

#[test]
fn many_links_of_few_inodes_need_memory_for_the_inodes() {
    let budget = Budget::new(24 << 20);
    let mut part = Part::new(0, &Keep { depth: Some(0), ..Keep::default() }, &budget);
    let root = part.root(b"r", true);
    for nth in 0..1_000_000_u64 {
        let facts = Facts { apparent: 3, allocated: 5, link: Some((1, nth % 7)) };
        part.add_file(root, b"a name that is not kept", &facts, Vec::new);
    }
    assert!(part.reserve());
    let usage = Usage::merge(vec![part]).unwrap();
    let expected = Sum { apparent: 21, allocated: 35, files: 1_000_000, directories: 0 };
    assert_eq!(usage.sum(usage.roots()[0]), expected);
}

#[test]
fn chains_of_ten_thousand_directories_are_added_up() {
    let budget = Budget::new(1 << 30);
    let mut part = Part::new(0, &Keep::default(), &budget);
    let mut node = part.root(b"r", true);
    for _ in 0..10_000 {
        node = part.directory(node, b"d");
        part.add_file(node, b"f", &Facts { apparent: 1, allocated: u64::MAX, link: None }, Vec::new);
    }
    let usage = Usage::merge(vec![part]).unwrap();
    assert_eq!(usage.total().allocated, u128::from(u64::MAX) * 10_000);
    assert_eq!(usage.listing(None, Measure::Apparent, &budget).unwrap().rows.len(), 10_001);
    assert_eq!(usage.listing(Some(3), Measure::Apparent, &budget).unwrap().rows.len(), 3);
    let little = |top| usage.listing(top, Measure::Apparent, &Budget::new(1 << 20)).map(drop);
    assert_eq!((little(None), little(Some(3))), (Err(Full::Memory), Ok(())));
}
