//! Starting points: how they are named, and each file once where they overlap.

use std::fs;
use std::path::PathBuf;

use ftk_walk::{FileType, Follow, Op};

use crate::support::{below, tree, walk};

#[test]
fn missing_and_empty_ones_are_errors() {
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
fn are_joined_with_one_slash() {
    let dir = tree(&["d/", "d/f"]);
    let slash = format!("{}/", dir.path().display());
    let record = walk(&[&slash], Follow::Never, 1);
    assert_eq!(record.paths(), [slash.clone(), format!("{slash}d"), format!("{slash}d/f")]);
}

#[test]
fn given_twice_are_walked_once_under_the_first_name() {
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
fn below_others_are_left_to_themselves() {
    let dir = tree(&["a/b/c/", "a/b/f", "a/b/c/g", "a/h"]);
    let name = |name| dir.path().join(name);
    let all = ["a", "a/b", "a/b/c", "a/b/c/g", "a/b/f", "a/h"];
    let dotted = dir.path().join("a/../a/b/c");
    for threads in [1, 4] {
        for roots in [[name("a"), name("a/b"), name("a/h")], [name("a/h"), name("a/b"), name("a")]] {
            let record = walk(&roots, Follow::Never, threads);
            assert_eq!(below(dir.path(), &record.paths()), all);
            assert_eq!(record.covered, 0, "all are walked under the same names");
        }
        let record = walk(&[&name("a"), &dotted], Follow::Never, threads);
        let expected = ["a", "a/../a/b/c", "a/../a/b/c/g", "a/b", "a/b/c", "a/b/f", "a/h"];
        assert_eq!(below(dir.path(), &record.paths()), expected);
        assert_eq!(record.covered, 1, "a/b/c is shown there and walked elsewhere");
    }
}

#[test]
fn a_link_is_not_the_directory_that_is_a_starting_point_by_way_of_it() {
    let dir = tree(&["d/", "d/f", "l -> d"]);
    let slash = format!("{}/", dir.path().join("l").display());
    let roots = [dir.path().to_str().unwrap(), &slash];
    let record = walk(&roots, Follow::Never, 1);
    assert_eq!(below(dir.path(), &record.paths()[1..]), ["d", "l", "l/", "l/f"]);
}

#[test]
fn that_are_links_are_left_to_themselves() {
    let dir = tree(&["d/", "d/f", "d/to-file -> f", "d/to-other -> ../e", "e/", "e/g"]);
    let roots = ["d", "d/to-file", "d/to-other"].map(|name| dir.path().join(name));
    let record = walk(&roots, Follow::Roots, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "d/to-file", "d/to-other", "d/to-other/g"]);
    assert_eq!(record.seen[2].1, FileType::Regular);
}

#[test]
fn that_are_hard_links_are_different_names() {
    let dir = tree(&["d/", "d/f"]);
    fs::hard_link(dir.path().join("d/f"), dir.path().join("d/g")).unwrap();
    let roots = ["d/f", "d", "d/g"].map(|name| dir.path().join(name));
    let record = walk(&roots, Follow::Never, 1);
    assert_eq!(below(dir.path(), &record.paths()), ["d", "d/f", "d/g"]);
}

#[test]
fn in_the_hundreds_are_each_shown() {
    let dir = tree(&["d/"]);
    let files: Vec<PathBuf> = (0..300).map(|n| dir.path().join(format!("d/{n:03}"))).collect();
    files.iter().for_each(|file| fs::write(file, "").unwrap());
    assert_eq!(walk(&files, Follow::Never, 2).seen.len(), 300);
    let with_directory: Vec<PathBuf> = files.into_iter().chain([dir.path().join("d")]).collect();
    assert_eq!(walk(&with_directory, Follow::Never, 2).seen.len(), 301);
}
