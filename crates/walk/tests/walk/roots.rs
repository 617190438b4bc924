//! Starting points: their names, and overlaps, in which each file is shown once.

use std::fs;
use std::path::PathBuf;

use ftk_walk::{FileType, Follow, Op};

use crate::support::{below, tree, walk};

#[test]
fn missing_and_empty_roots_are_errors() {
    let dir = tree(&["f"]);
    let record = walk(&[PathBuf::new(), dir.path().join("none"), dir.path().join("f")], Follow::Never, 1);
    assert_eq!(record.seen.len(), 1);
    assert_eq!(record.errors.len(), 2);
    for error in &record.errors {
        assert_eq!(error.op, Op::Stat);
        assert_eq!(error.source.kind(), std::io::ErrorKind::NotFound);
    }
}

#[test]
fn roots_are_joined_with_one_slash() {
    let dir = tree(&["d/", "d/f"]);
    let slash = format!("{}/", dir.path().display());
    let record = walk(&[&slash], Follow::Never, 1);
    assert_eq!(record.paths(), [slash.clone(), format!("{slash}d"), format!("{slash}d/f")]);
}

#[test]
fn a_root_given_twice_is_walked_once_under_its_first_name() {
    let dir = tree(&["d/", "d/f", "l -> d"]);
    let [d, l] = ["d", "l"].map(|name| dir.path().join(name));
    let dotted = dir.path().join("d/../d");
    let record = walk(&[&d, &dotted, &l, &d.join("")], Follow::Roots, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f"]);
    assert_eq!(record.covered, 3);
    let file = d.join("f");
    let record = walk(&[&file, &dotted.join("f"), &file], Follow::Roots, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d/f"]);
    assert_eq!(record.covered, 2);
    assert_eq!(walk(&[&l], Follow::Roots, 1).covered, 0);
}

#[test]
fn a_root_below_another_is_walked_once_under_its_own_name() {
    let dir = tree(&["a/b/c/", "a/b/f", "a/b/c/g", "a/h"]);
    let name = |name| dir.path().join(name);
    let all = ["a", "a/b", "a/b/c", "a/b/c/g", "a/b/f", "a/h"];
    let dotted = dir.path().join("a/../a/b/c");
    for threads in [1, 4] {
        for roots in [[name("a"), name("a/b"), name("a/h")], [name("a/h"), name("a/b"), name("a")]] {
            let record = walk(&roots, Follow::Never, threads);
            assert_eq!(below(dir.path(), &record.paths()), all);
            assert_eq!(record.covered, 0, "all names are the same");
        }
        let record = walk(&[&name("a"), &dotted], Follow::Never, threads);
        let expected = ["a", "a/../a/b/c", "a/../a/b/c/g", "a/b", "a/b/c", "a/b/f", "a/h"];
        assert_eq!(below(dir.path(), &record.paths()), expected);
        assert_eq!(record.covered, 1, "a/b/c is shown, and walked under another name");
    }
}

#[test]
fn a_link_is_shown_besides_the_root_that_it_leads_to() {
    let dir = tree(&["d/", "d/f", "l -> d"]);
    let slash = format!("{}/", dir.path().join("l").display());
    let roots = [dir.path().to_str().unwrap(), &slash];
    let record = walk(&roots, Follow::Never, 1);
    assert_eq!(below(dir.path(), &record.paths()[1..]), ["d", "l", "l/", "l/f"]);
}

#[test]
fn a_link_given_as_root_is_shown_only_as_root() {
    let dir = tree(&["d/", "d/f", "d/to-file -> f", "d/to-other -> ../e", "e/", "e/g"]);
    let roots = ["d", "d/to-file", "d/to-other"].map(|name| dir.path().join(name));
    let record = walk(&roots, Follow::Roots, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "d/to-file", "d/to-other", "d/to-other/g"]);
    assert_eq!(record.seen[2].1, FileType::Regular);
}

#[test]
fn hard_links_given_as_roots_are_all_shown() {
    let dir = tree(&["d/", "d/f"]);
    fs::hard_link(dir.path().join("d/f"), dir.path().join("d/g")).unwrap();
    let roots = ["d/f", "d", "d/g"].map(|name| dir.path().join(name));
    let record = walk(&roots, Follow::Never, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "d/g"]);
}

#[test]
fn hundreds_of_roots_are_all_shown() {
    let dir = tree(&["d/"]);
    let files: Vec<PathBuf> = (0..300).map(|n| dir.path().join(format!("d/{n:03}"))).collect();
    files.iter().for_each(|file| fs::write(file, "").unwrap());
    assert_eq!(walk(&files, Follow::Never, 2).seen.len(), 300);
    let with_directory: Vec<PathBuf> = files.into_iter().chain([dir.path().join("d")]).collect();
    assert_eq!(walk(&with_directory, Follow::Never, 2).seen.len(), 301);
}
