//! Cases that random trees rarely contain.

use std::fs;
use std::os::unix::fs::symlink;

use super::groups::first;
use super::model::{all, contents, path, walk};
use crate::tests::tree::{SMALL, Settings, Tree, run};
use crate::{Directories, DirectoryRules, Names, UnitPlace};

/// Returns the groups, each as the names of its directories.
fn groups(tree: &Tree, rules: &DirectoryRules<'_>, min_size: u64) -> Vec<Vec<String>> {
    let inventory = walk(tree);
    let contents = contents(&inventory, min_size);
    let directories = Directories::new(&inventory, &contents, rules);
    let (groups, _) = directories.decide(first);
    let name =
        |dir| path(&directories, dir).strip_prefix(tree.0.path()).unwrap().to_str().unwrap().to_owned();
    groups.iter().map(|(group, _)| group.all().map(name).collect()).collect()
}

#[test]
fn directories_inside_copies_are_not_reported_again() {
    let tree = Tree::new();
    for name in ["a/in/x", "b/in/x", "c/x"] {
        tree.write(name, "content");
        tree.write(&name.replace('x', "y"), "more");
    }
    let found = groups(&tree, &all(Names::Compared), 1);
    assert_eq!(
        found,
        [["a", "b"], ["a/in", "c"]],
        "of the copies, the first shows what the other is equal to"
    );
}

#[test]
fn links_special_files_and_empty_directories_count() {
    for names in [Names::Compared, Names::Ignored] {
        let change: [fn(&Tree); 5] = [
            |_| (),
            |tree| fs::create_dir(tree.path("b/empty")).unwrap(),
            |tree| symlink("x", tree.path("b/link")).unwrap(),
            |tree| drop(std::os::unix::net::UnixListener::bind(tree.path("b/socket")).unwrap()),
            |tree| tree.write("b/no bytes", ""),
        ];
        for (nth, change) in change.into_iter().enumerate() {
            let tree = Tree::new();
            tree.write("a/x", "content");
            tree.write("b/x", "content");
            change(&tree);
            assert_eq!(groups(&tree, &all(names), 1).len(), usize::from(nth == 0), "{names:?} {nth}");
        }
    }
}

#[test]
fn names_differ_in_case() {
    let tree = Tree::new();
    tree.write("a/x", "content");
    tree.write("b/X", "content");
    assert!(groups(&tree, &all(Names::Compared), 1).is_empty());
    assert_eq!(groups(&tree, &all(Names::Ignored), 1), [["a", "b"]]);
}

#[test]
fn a_directory_is_no_copy_of_the_one_that_contains_it() {
    let tree = Tree::new();
    tree.write("a/b/c/x", "content");
    assert!(groups(&tree, &all(Names::Ignored), 1).is_empty());
    tree.write("z/x", "content");
    assert_eq!(groups(&tree, &all(Names::Ignored), 1), [["a", "z"]]);
    assert_eq!(groups(&tree, &all(Names::Compared), 1), [["a/b/c", "z"]]);
}

#[test]
fn directories_of_hard_links_are_no_copies() {
    let tree = Tree::new();
    tree.write("a/x", "content");
    tree.link("a/x", "b/x");
    assert!(groups(&tree, &all(Names::Compared), 1).is_empty());
    tree.write("c/x", "content");
    assert_eq!(groups(&tree, &all(Names::Compared), 1), [["a", "b", "c"]]);
}

#[test]
fn empty_directories_are_reported_if_empty_files_are() {
    let tree = Tree::new();
    fs::create_dir(tree.path("a")).unwrap();
    fs::create_dir(tree.path("b")).unwrap();
    assert!(groups(&tree, &all(Names::Compared), 1).is_empty());
    assert_eq!(groups(&tree, &all(Names::Compared), 0), [["a", "b"]]);
}

#[test]
fn units_are_never_taken_apart() {
    let tree = Tree::new();
    for app in ["A.app", "B.app"] {
        tree.write(&format!("{app}/lib/x"), "content");
        tree.write(&format!("{app}/version"), app);
    }
    tree.write("out/x", "content");
    // The numbers of directories are the same in every walk.
    let inventory = walk(&tree);
    let place = |dir| match inventory.name_of_dir(dir).ends_with(b".app") {
        true => UnitPlace::Unit,
        false => UnitPlace::Outside,
    };
    let units = |all| DirectoryRules { all, place: &place, names: Names::Compared };
    assert_eq!(groups(&tree, &all(Names::Compared), 1), [["A.app/lib", "B.app/lib", "out"]]);
    for all in [false, true] {
        assert!(groups(&tree, &units(all), 1).is_empty());
    }
    let contents = contents(&inventory, 1);
    let (_, fates) = Directories::new(&inventory, &contents, &units(false)).decide(first);
    let found = run(&inventory, Settings::default(), 1, &SMALL, |_| ()).into_groups();
    let outside = found.outside(&inventory, &fates, true);
    assert_eq!(outside.iter().map(|group| group.files().len()).collect::<Vec<_>>(), [3]);
    fs::remove_dir_all(tree.path("out")).unwrap();

    tree.write("B.app/version", "A.app");
    for all in [false, true] {
        assert_eq!(groups(&tree, &units(all), 1), [["A.app", "B.app"]]);
    }
}

#[test]
fn files_of_excluded_sizes_make_their_directories_different() {
    let tree = Tree::new();
    for dir in ["a", "b"] {
        tree.write(&format!("{dir}/large"), "content");
        tree.write(&format!("{dir}/small"), "c");
    }
    assert_eq!(groups(&tree, &all(Names::Compared), 1), [["a", "b"]]);
    assert!(groups(&tree, &all(Names::Compared), 2).is_empty());
}

#[test]
fn many_equal_files_and_empty_directories_are_compared_quickly() {
    let tree = Tree::new();
    for nth in 0..3000 {
        fs::create_dir_all(tree.path(&format!("dirs/{nth}"))).unwrap();
        tree.write(&format!("files/{nth}"), "same");
    }
    assert!(groups(&tree, &all(Names::Compared), 1).is_empty());
    let found = groups(&tree, &all(Names::Compared), 0);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3000]);
}
