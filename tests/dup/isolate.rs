//! `--isolate` with `--dirs`, compared with a naive model of the rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::dirs::random_trees;
use super::tree::Dice;
use crate::harness::Dir;

const PATHS: [&str; 3] = ["p0", "p1", "p2"];

/// Creates random directories below three paths. Some are copies of others, and some share files by hard links.
fn plant_paths(dir: &Dir, dice: &mut Dice) {
    PATHS.iter().for_each(|path| _ = dir.dir(path));
    for nth in 0..3 + dice.below(10) {
        let path = format!("{}/{}f{}", dice.pick(&PATHS), dice.pick(&["", "a/", "b/", "a/b/"]), nth % 3);
        if !dir.path(&path).exists() {
            let contents: [&[u8]; 4] = [b"1", b"22", b"22", b"333"];
            let content = *dice.pick(&contents);
            dir.file(path, content);
        }
    }
    for nth in 0..2 + dice.below(5) {
        let from = format!("{}/{}", dice.pick(&PATHS), dice.pick(&["a", "b", "a/b", "c0", "c1"]));
        let to = format!("{}/{}c{nth}", dice.pick(&PATHS), dice.pick(&["", "", "q/"]));
        if dir.path(&from).is_dir() {
            fs::create_dir_all(dir.path(&to).parent().unwrap()).unwrap();
            let how = *dice.pick(&["-r", "-r", "-rl"]);
            dir.ftk([""; 0]).instead(dir, ["cp", how, &from, &to]).run().status(0);
        }
    }
}

/// Returns every entry below a directory with its content, and the inodes of all files.
fn read(top: &Path) -> (BTreeMap<String, Option<Vec<u8>>>, BTreeSet<u64>) {
    let (mut entries, mut inodes) = (BTreeMap::new(), BTreeSet::new());
    let mut waiting = vec![top.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::metadata(&path).unwrap();
        let content = (!metadata.is_dir()).then(|| fs::read(&path).unwrap());
        match content {
            None => waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            Some(_) => _ = inodes.insert(metadata.ino()),
        }
        entries.insert(path.strip_prefix(top).unwrap().to_str().unwrap().to_owned(), content);
    }
    (entries, inodes)
}

/// A directory of the plan.
#[derive(Debug)]
struct Member {
    path: String,
    root: usize,
    verb: String,
    is_inside_kept: bool,
    inodes: BTreeSet<u64>,
}

/// Returns what must happen to each of several equal directories.
fn model(members: &[Member], min_copies: usize) -> Vec<&'static str> {
    // Directories that share files are one copy.
    let mut copies: Vec<Vec<usize>> = Vec::new();
    for nth in 0..members.len() {
        let is_shared = |copy: &Vec<usize>| {
            copy.iter().any(|&other| !members[other].inodes.is_disjoint(&members[nth].inodes))
        };
        let (shared, mut others): (Vec<_>, Vec<_>) = copies.into_iter().partition(is_shared);
        others.push(shared.into_iter().flatten().chain([nth]).collect());
        copies = others;
    }
    let is_inside_kept = |copy: &Vec<usize>| copy.iter().any(|&nth| members[nth].is_inside_kept);
    let first = |copy: &Vec<usize>| {
        let names = copy.iter().map(|&nth| &members[nth]);
        names.map(|member| (!member.is_inside_kept, member.root, member.path.clone())).min()
    };
    copies.sort_by_key(|copy| (!is_inside_kept(copy), first(copy)));
    let n_inside = copies.iter().filter(|copy| is_inside_kept(copy)).count();
    let gone = copies.split_off(n_inside.max(min_copies).min(copies.len()));
    let kept_paths: BTreeSet<_> = copies.iter().flatten().map(|&nth| members[nth].root).collect();
    let mut verbs = vec!["keep"; members.len()];
    for copy in gone {
        let is_isolated = copy.iter().any(|&nth| kept_paths.contains(&members[nth].root));
        copy.iter().for_each(|&nth| verbs[nth] = if is_isolated { "leave" } else { "delete" });
    }
    verbs
}

#[test]
fn directories_under_the_path_of_a_kept_one_stay() {
    let (mut deleted, mut left) = (0, 0);
    // The last tree has two directories of one file, of which only one is below the path of a copy that stays.
    for seed in (0..random_trees()).chain([774]) {
        let mut dice = Dice::new(5000 + seed);
        let dir = Dir::new();
        plant_paths(&dir, &mut dice);
        let min_copies = 1 + dice.below(2);
        let args = ["dup", "prune", "--dirs", "--isolate", "--action", "delete", "--min-size", "0"];
        let command = || {
            dir.ftk(args)
                .args(["--keep", "first"])
                .args(["--min-copies", &min_copies.to_string()])
                .args(PATHS)
        };
        let plan = command().run().status(0);
        let mut groups: BTreeMap<_, Vec<Member>> = BTreeMap::new();
        for line in plan.text().lines() {
            let mut words = line.split_whitespace();
            let (verb, path) = (words.next().unwrap().to_owned(), words.next().unwrap());
            if let Some(path) = path.strip_suffix('/') {
                let (entries, inodes) = read(&dir.path(path));
                let root = PATHS.iter().position(|root| Path::new(path).starts_with(root)).unwrap();
                let is_inside_kept = line.ends_with("in a directory that stays as a whole");
                groups.entry(entries).or_default().push(Member {
                    path: path.to_owned(),
                    root,
                    verb,
                    is_inside_kept,
                    inodes,
                });
            }
        }
        command().arg("--yes").run().status(0);
        for members in groups.values() {
            let verbs: Vec<_> = members.iter().map(|member| &*member.verb).collect();
            plan.check(verbs == model(members, min_copies), &format!("{seed}: {members:?}"));
            for member in members {
                plan.check(dir.path(&member.path).exists() == (member.verb != "delete"), &member.path);
            }
            deleted += verbs.iter().filter(|verb| **verb == "delete").count();
            left += verbs.iter().filter(|verb| **verb == "leave").count();
        }
    }
    assert!(deleted > 10 && left > 10, "{deleted} deleted, {left} left");
}
