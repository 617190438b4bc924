//! Hard links of recorded and of real trees.

use std::fs;

use ftk_hash::Algorithm;
use ftk_manifest::{Criteria, Field, Mode, Verdict};
use proptest::prelude::*;

use crate::model::{Entries, Path, header, manifest, open, read, seal, unchecked, version_1};
use crate::trees::Dir;
use crate::verify::{Run, verify};

const NAMES: [&str; 5] = ["l0", "l1", "l2", "l3", "l4"];

/// Makes a tree in which the names with equal numbers are hard links of one file.
fn linked(groups: &[u8]) -> Dir {
    let dir = Dir::new();
    for (nth, name) in NAMES.iter().enumerate() {
        match groups[..nth].iter().position(|group| *group == groups[nth]) {
            Some(first) => fs::hard_link(dir.at(NAMES[first]), dir.at(name)).unwrap(),
            None => dir.write(name, "the same content"),
        }
    }
    // Two such trees differ only in their links.
    let others = ["twin", "none", "a/x", "a/b/c", "a-b", "a b/\u{e9}\n", "a/dangling"];
    NAMES.iter().chain(&others).for_each(|name| dir.touch(name, 1_000_000_007));
    dir
}

fn check(dir: &Dir, recorded: &Entries, criteria: &Criteria, exit_on_first: bool) -> Run {
    let manifest = manifest(&header(&[Algorithm::Xxh3], false), recorded);
    verify(&dir.walk(criteria.needs_stats()), &manifest, criteria, exit_on_first)
}

/// Returns the names that are not as recorded because of their links.
fn relinked(run: &Run) -> Vec<&str> {
    let is_found = |verdict| verdict == Verdict::Metadata;
    let found = run.said.iter().filter(|it| it.changed == [Field::LinkGroup] && is_found(it.verdict));
    found.map(|it| it.path.as_str()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A verification finds a difference if and only if two names are links of one file on one side only.
    #[test]
    fn links_of_a_tree_are_compared(
        old in prop::collection::vec(0..3_u8, 5),
        new in prop::collection::vec(0..3_u8, 5),
    ) {
        let (a, b) = (linked(&old), linked(&new));
        let recorded = a.entries(&[Algorithm::Xxh3]);
        let pairs = || (0..5).flat_map(|j| (0..j).map(move |i| (i, j)));
        let same = pairs().all(|(i, j)| (old[i] == old[j]) == (new[i] == new[j]));
        let is_copy = pairs().any(|(i, j)| old[i] == old[j])
            && !pairs().any(|(i, j)| new[i] == new[j]);
        let groups = (0..3).filter(|n| old.iter().filter(|it| *it == n).count() > 1).count() as u64;
        for mode in [Mode::Strict, Mode::Metadata] {
            let run = check(&b, &recorded, &Criteria { mode, ..Criteria::default() }, false);
            prop_assert_eq!(run.summary.split_links, if is_copy { groups } else { 0 });
            prop_assert_eq!(relinked(&run).is_empty() && run.summary.split_links == 0, same);
        }
        let run = check(&b, &recorded, &Criteria::default(), true);
        prop_assert_eq!(relinked(&run).is_empty(), same, "also in batches");
        for criteria in [
            Criteria { mode: Mode::Content, ..Criteria::default() },
            Criteria { ignore: vec![Field::LinkGroup], ..Criteria::default() },
        ] {
            let run = check(&b, &recorded, &criteria, false);
            prop_assert_eq!((relinked(&run).len(), run.summary.split_links), (0, 0));
        }
    }
}

/// The group is the first path of the file, also of links and FIFOs. Files with one name have none.
#[test]
fn groups_have_the_name_of_their_first_path() {
    let dir = linked(&[0, 1, 0, 2, 1]);
    fs::hard_link(dir.at("link"), dir.at("another link")).unwrap();
    fs::hard_link(dir.at("pipe"), dir.at("a/first pipe")).unwrap();
    let found = dir.recorded(&[Algorithm::Xxh3]);
    let groups = found.iter().filter_map(|(path, entry)| Some((&*path.0, entry.link_group.as_deref()?)));
    let expected = [
        ("a/first pipe", "a/first pipe"),
        ("another link", "another link"),
        ("l0", "l0"),
        ("l1", "l1"),
        ("l2", "l0"),
        ("l4", "l1"),
        ("link", "another link"),
        ("pipe", "a/first pipe"),
    ];
    assert_eq!(groups.collect::<Vec<_>>(), expected.map(|(path, first)| (path.as_bytes(), first.as_bytes())));
}

/// A name that is missing or new is reported itself, and changes nothing for the other names.
#[test]
fn only_names_on_both_sides_are_compared() {
    let dir = linked(&[0, 0, 0, 1, 1]);
    let recorded = dir.entries(&[Algorithm::Xxh3]);
    fs::remove_file(dir.at("l0")).unwrap();
    fs::hard_link(dir.at("l1"), dir.at("a/new")).unwrap();
    let run = check(&dir, &recorded, &Criteria::default(), false);
    assert_eq!((relinked(&run), run.summary.split_links), (vec![], 0));
    assert_eq!((run.summary.count(Verdict::New), run.summary.count(Verdict::Missing)), (0, 0));
    assert_eq!(run.summary.count(Verdict::Moved), 1);
}

/// Version 1 has no groups, and manifests may lack them: then links are not compared.
#[test]
fn links_that_were_not_recorded_are_not_compared() {
    let (dir, copy) = (linked(&[0, 0, 1, 2, 2]), linked(&[0, 1, 2, 3, 4]));
    let mut recorded = dir.entries(&[Algorithm::Xxh3]);
    recorded.values_mut().for_each(|entry| entry.link_group = None);
    let run = check(&copy, &recorded, &Criteria::default(), false);
    assert_eq!((relinked(&run), run.summary.split_links), (vec![], 0));
    let first = version_1(&header(&[Algorithm::Xxh3], false), &recorded);
    assert!(read(&first).unwrap().values().all(|entry| entry.link_group.is_none()));
}

#[test]
fn groups_are_paths_below_the_root_and_not_of_directories() {
    let dir = linked(&[0, 0, 1, 2, 3]);
    let recorded = dir.entries(&[Algorithm::Xxh3]);
    let header = header(&[Algorithm::Xxh3], false);
    let line = |path: &str| {
        let text = String::from_utf8(unchecked(&header, [])).unwrap();
        let header = text.lines().next().unwrap().to_owned();
        let entry = recorded[&Path::new(path)].clone();
        (header, crate::model::line(&Path::new(path), &entry, &[Algorithm::Xxh3]))
    };
    for (path, member, is_good) in [
        ("l1", "\"link_group\":\"l0\"", true),
        ("l1", "\"link_group\":\"no longer there\"", true),
        ("l1", "\"link_group_b64\":\"/w==\"", true),
        ("l1", "\"link_group\":null", true),
        ("l1", "\"link_group\":\"/l0\"", false),
        ("l1", "\"link_group\":\"../l0\"", false),
        ("l1", "\"link_group\":\"\"", false),
        ("l1", "\"link_group\":7", false),
        ("l1", "\"link_group\":\"l0\",\"link_group_b64\":\"/w==\"", false),
        ("l1", "\"link_group\":\"l0\",\"link_group\":\"l0\"", false),
        ("a", "\"link_group\":\"l0\"", false),
    ] {
        let (header, line) = line(path);
        let known = if path == "l1" { "\"link_group\":\"l0\"," } else { "{" };
        assert!(line.contains(known), "{line}");
        let with = if path == "l1" {
            line.replace(known, &format!("{member},"))
        } else {
            line.replacen('{', &format!("{{{member},"), 1)
        };
        let is_read = open(&seal(&[header, with])).and_then(|manifest| read(&manifest)).is_ok();
        assert_eq!(is_read, is_good, "{path} {member}");
    }
}
