//! Symbolic links: not followed, followed as roots, followed everywhere.

use std::collections::BTreeSet;

use ftk_walk::{Entry, FileType, Follow, Op, Step, Visitor, WalkError, Walker};
use proptest::prelude::*;

use crate::support::{below, tree, walk};

#[test]
fn links_are_not_followed_by_default() {
    let dir = tree(&["d/", "d/f", "l -> d"]);
    let record = walk(&[dir.path()], Follow::Never, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "l"]);
    assert_eq!(record.seen[3].1, FileType::Symlink);
}

#[test]
fn links_given_as_roots_are_followed() {
    let dir = tree(&["d/", "d/f", "d/inner -> .", "l -> d"]);
    let link = dir.path().join("l");
    assert_eq!(walk(&[&link], Follow::Never, 1).seen.len(), 1);
    for follow in [Follow::Roots, Follow::Always] {
        let record = walk(&[&link], follow, 1);
        assert_eq!(record.seen[0].1, FileType::Directory);
        let expected: &[&str] = if follow == Follow::Roots { &["f", "inner"] } else { &["f"] };
        assert_eq!(below(&link, &record.paths()), expected);
    }
}

#[test]
fn dangling_links_are_listed_as_links() {
    let dir = tree(&["f", "gone -> nowhere", "through -> f/x"]);
    let record = walk(&[dir.path()], Follow::Always, 1);
    assert!(record.errors.is_empty());
    assert_eq!(below(dir.path(), &record.paths()), ["f", "gone", "through"]);
    assert!(record.seen[2..].iter().all(|seen| seen.1 == FileType::Symlink));
}

#[test]
fn dangling_links_given_as_followed_roots_are_errors() {
    let dir = tree(&["gone -> nowhere"]);
    let link = dir.path().join("gone");
    let record = walk(&[&link], Follow::Roots, 1);
    assert!(record.seen.is_empty());
    assert_eq!(record.errors[0].op, Op::Stat);
    assert_eq!(walk(&[&link], Follow::Always, 1).seen[0].1, FileType::Symlink);
}

#[test]
fn links_to_a_directory_above_are_errors() {
    let dir = tree(&["d/e/", "d/e/up -> ../..", "d/e/self -> self"]);
    for threads in [1, 4] {
        let mut record = walk(&[dir.path()], Follow::Always, threads);
        assert_eq!(below(dir.path(), &record.paths()), ["d", "d/e"]);
        record.errors.sort_by(|a, b| a.path.cmp(&b.path));
        let [itself, up] = &record.errors[..] else { panic!("{:?}", record.errors) };
        assert!(itself.op == Op::Loop && up.op == Op::Loop);
        assert_eq!(up.path, dir.path().join("d/e/up").as_os_str().as_encoded_bytes());
        assert!(up.source.to_string().ends_with(&format!("{:?}", dir.path())), "{}", up.source);
    }
}

#[test]
fn links_back_into_the_tree_are_not_followed() {
    // The link leads to the root's parent. From there an ordinary name leads to the root.
    let dir = tree(&["outer/root/", "outer/root/f", "outer/root/out -> .."]);
    let root = dir.path().join("outer/root");
    let record = walk(&[&root], Follow::Always, 1);
    assert_eq!(below(&root, &record.paths()), ["f", "out"]);
    assert_eq!(record.errors.len(), 1);
    assert_eq!(record.errors[0].path, root.join("out/root").as_os_str().as_encoded_bytes());
}

#[test]
fn several_links_to_one_directory_are_reported_as_repeats() {
    let dir = tree(&["d/", "d/f", "one -> d", "two -> d"]);
    let record = walk(&[dir.path()], Follow::Always, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "one", "two"]);
    assert_eq!(record.repeats(dir.path()), [["one", "d"], ["two", "d"]]);
}

/// A path through a link comes first if it is first in byte order.
#[test]
fn a_directory_is_entered_under_its_first_path() {
    let dir = tree(&["d/", "d/f", "a -> d", "x/", "x-y/", "x/l -> ../y", "x-y/l -> ../y", "y/", "y/f"]);
    let record = walk(&[dir.path()], Follow::Always, 1);
    let expected = ["a", "a/f", "d", "x", "x-y", "x-y/l", "x-y/l/f", "x/l", "y"];
    assert_eq!(below(dir.path(), &record.paths()), expected);
    assert_eq!(record.repeats(dir.path()), [["d", "a"], ["x/l", "x-y/l"], ["y", "x-y/l"]]);
}

/// A directory that a visitor does not descend into under one path is entered under another.
#[test]
fn skipped_paths_do_not_count_as_entered() {
    let dir = tree(&["d/", "d/f", "a -> d"]);
    let parts = Walker::new([dir.path()]).follow(Follow::Always).run(|_| Picky::default());
    assert_eq!(parts[0].0, ["a", "d", "f"]);
}

/// Does not descend into `a`.
#[derive(Default)]
struct Picky(Vec<String>);

impl Visitor for Picky {
    type Dir = ();
    fn entry(&mut self, dir: Option<&()>, entry: &mut Entry<'_>) -> Step {
        if dir.is_none() {
            return Step::Descend;
        }
        self.0.push(String::from_utf8_lossy(entry.name()).into_owned());
        self.0.sort();
        if entry.name() == b"a" { Step::Next } else { Step::Descend }
    }
    fn error(&mut self, error: WalkError) -> Step {
        panic!("{error}")
    }
}

/// Makes `n` directories and links between them. Each link is a pair of numbers: the directory it is in, its
/// target.
fn linked(n: usize, links: &[(usize, usize)]) -> tempfile::TempDir {
    let mut entries: Vec<_> = (0..n).flat_map(|dir| [format!("{dir}/"), format!("{dir}/f")]).collect();
    let link = |(nth, (from, to)): (usize, &(usize, usize))| format!("{from}/l{nth} -> ../{to}");
    entries.extend(links.iter().enumerate().map(link));
    tree(&entries.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Models the walk: enters paths in byte order, each directory once. Returns the paths shown, the number of
/// repeats, and the number of loops.
fn model(n: usize, links: &[(usize, usize)]) -> (Vec<String>, usize, usize) {
    let (mut shown, mut repeats, mut loops) = (Vec::new(), 0, 0);
    // Path, directory, and the directories above it.
    let mut waiting: BTreeSet<(String, usize, Vec<usize>)> = BTreeSet::new();
    let mut entered = BTreeSet::new();
    for dir in 0..n {
        shown.push(dir.to_string());
        waiting.insert((dir.to_string(), dir, Vec::new()));
    }
    while let Some((path, dir, above)) = waiting.pop_first() {
        if !entered.insert(dir) {
            repeats += 1;
            continue;
        }
        shown.push(format!("{path}/f"));
        let above = [above, vec![dir]].concat();
        for (nth, (_, to)) in links.iter().enumerate().filter(|(_, (from, _))| *from == dir) {
            if above.contains(to) {
                loops += 1;
                continue;
            }
            shown.push(format!("{path}/l{nth}"));
            waiting.insert((format!("{path}/l{nth}"), *to, above.clone()));
        }
    }
    shown.sort();
    (shown, repeats, loops)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn each_directory_is_entered_once_under_its_first_path(
        links in prop::collection::vec((0..6_usize, 0..6_usize), 0..14),
    ) {
        let dir = linked(6, &links);
        let expected = model(6, &links);
        for threads in [1, 2, 7] {
            let record = walk(&[dir.path()], Follow::Always, threads);
            let mut shown = below(dir.path(), &record.paths());
            shown.sort();
            prop_assert_eq!((shown, record.repeats.len(), record.errors.len()), expected.clone());
        }
    }
}

/// Two links from each directory to the next: 2^30 paths.
#[test]
fn a_lattice_is_walked_once() {
    let links: Vec<_> = (0..30).flat_map(|dir| [(dir, dir + 1), (dir, dir + 1)]).collect();
    let dir = linked(31, &links);
    let record = walk(&[dir.path()], Follow::Always, 4);
    assert_eq!(below(dir.path(), &record.paths()).len(), 31 + 31 + 60);
    assert_eq!(record.repeats.len(), 60);
}
