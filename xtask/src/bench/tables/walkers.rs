//! The walker as a library, compared with those of other crates. `benches/walkers` is one program for all of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use toml::{Table, Value};

use crate::bench::answer::Format;
use crate::bench::build;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::machine;
use crate::bench::measure::Meter;
use crate::bench::record::Section;
use crate::bench::shape::{self, chain};
use crate::bench::tree::Tree;

/// A walker that is compared.
struct Walker {
    /// The name of its crate, or of what it calls.
    name: &'static str,
    /// Whether it has only one thread.
    is_serial: bool,
    /// Whether it can skip what git ignores.
    reads_ignore_files: bool,
}

const fn parallel(name: &'static str) -> Walker {
    Walker { name, is_serial: false, reads_ignore_files: false }
}

const fn serial(name: &'static str) -> Walker {
    Walker { is_serial: true, ..parallel(name) }
}

/// The naive recursion is the first of the peers, because its answers are the reference.
const WALKERS: &[Walker] = &[
    Walker { reads_ignore_files: true, ..parallel("ftk") },
    serial("read_dir"),
    Walker { reads_ignore_files: true, ..parallel("ignore") },
    serial("walkdir"),
    parallel("jwalk"),
    parallel("dua-core"),
];

/// The lock file of the program, which has the versions of the peers.
const LOCK: &str = "benches/walkers/Cargo.lock";

/// Levels of the deep tree, whose paths are longer than the kernel accepts. Every hundredth has a file.
const LEVELS: u64 = 3_000;
const EVERY: u64 = 100;

/// Tasks, with their titles.
const LISTING: &[(&str, &str)] = &[("count", "count"), ("metadata", "metadata"), ("sorted", "sorted")];
const DEEP: &[(&str, &str)] = &[("count", "count"), ("metadata", "metadata")];
const READING: &[(&str, &str)] = &[("lines", "lines of each file")];
const SEARCH: &str = "search";
const SEARCHING: &[(&str, &str)] = &[(SEARCH, "lines of each file that is not ignored")];

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let program = build::walkers(&bench.options.profile)?;
    let mut roles = bench.roles.clone();
    roles.add(&program, "walkers");
    // An earlier ftk has another library, which this program does not contain.
    let meter = Meter { roles: &roles, earlier: None, ..bench.clock() };
    let is_quick = bench.options.common.quick;
    let (flat, maildir) = if is_quick {
        (shape::FLAT_SMALL, shape::SMALL)
    } else {
        (shape::FLAT.within(bench.room()?), shape::MAILDIR)
    };
    let trees = [
        (bench.any_tree()?, LISTING),
        (if is_quick { ignoring(bench)? } else { bench.any_tree()? }, SEARCHING),
        (bench.shape(&bench.many())?, LISTING),
        (deep(bench)?, DEEP),
        (bench.shape(&flat)?, READING),
        (bench.shape(&maildir)?, READING),
    ];
    let versions = versions(&fs::read_to_string(LOCK)?)?;
    let section = |(tree, tasks): &(Tree, &[(&str, &str)])| {
        println!(" {}", tree.title);
        let mut groups = Vec::new();
        for (task, title) in *tasks {
            for threads in threads(bench.jobs) {
                let title = format!("{title}, {threads} thread{}", if threads == 1 { "" } else { "s" });
                groups.push(meter.group(&title, tree.files, cases(&program, task, threads, &tree.path))?);
            }
        }
        if let Some(first) = groups.first_mut() {
            first.note = Some(versions.clone());
        }
        Ok(Section::new(tree, Cache::Warm, groups))
    };
    trees.iter().map(section).collect()
}

/// Returns 1, 2, 4 and so on up to the number of CPUs, at least 1 and 2.
fn threads(cpus: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |number| Some(number * 2)).take_while(move |&number| number <= cpus.max(2))
}

/// Returns a case for each walker. The answer has a line for each entry, which is not timed.
fn cases(program: &Path, task: &str, threads: usize, tree: &Path) -> Vec<Case> {
    let case = |walker: &Walker| {
        let threads = if walker.is_serial { 1 } else { threads }.to_string();
        let words = words![program, walker.name, task, &threads, tree];
        let mut list = Pipeline::new(words.clone());
        list.stages[0].push("list".into());
        Case { serial: Some(list), ..Case::new(walker.name, Format::Lines, Pipeline::new(words)) }
    };
    WALKERS.iter().filter(|walker| walker.reads_ignore_files || task != SEARCH).map(case).collect()
}

/// Returns a tree with a `.gitignore` in each directory, and makes it if necessary.
fn ignoring(bench: &Context) -> Result<Tree> {
    const DIRS: u64 = 40;
    const FILES: &[&str] = &["main.c", "main.o", "kept.o", ".hidden", "build/main.c"];
    let files = DIRS * (FILES.len() as u64 + 1);
    let description = format!("{DIRS} directories with a .gitignore");
    let path = bench.scratch.made("ignoring", &description, files * 4096, files, |top| {
        for dir in (0..DIRS).map(|number| top.join(number.to_string())) {
            fs::create_dir_all(dir.join("build"))?;
            fs::write(dir.join(".gitignore"), "*.o\n!kept.o\n/build/\n")?;
            FILES.iter().try_for_each(|file| fs::write(dir.join(file), "one\ntwo\n"))?;
        }
        Ok(())
    })?;
    Ok(tree(format!("ignoring: {description}"), files, files * 4096, path))
}

/// Returns the deep tree, and makes it if necessary.
fn deep(bench: &Context) -> Result<Tree> {
    let description = format!("{LEVELS} levels, a file in every {EVERY}th");
    let (files, bytes) = (LEVELS / EVERY, LEVELS * 4096);
    let path = bench.scratch.made("levels", &description, bytes, LEVELS + files, |top| {
        fs::create_dir(top)?;
        chain(top, LEVELS, EVERY, |level| level)
    })?;
    Ok(tree(format!("levels: {description}"), files, bytes, path))
}

fn tree(title: String, files: u64, bytes: u64, path: PathBuf) -> Tree {
    let file_system = machine::file_system(&path);
    Tree { title, files, bytes, file_system, extensions: Vec::new(), threshold: 0, path }
}

/// Returns the peers with their versions, from a lock file.
fn versions(lock: &str) -> Result<String> {
    let lock: Table = lock.parse()?;
    let packages = lock.get("package").and_then(Value::as_array).context("a lock file has packages")?;
    let text = |package: &Value, key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
    let peers = WALKERS.iter().filter_map(|walker| {
        let package = packages.iter().find(|it| text(it, "name").as_deref() == Some(walker.name))?;
        Some(format!("{} {}", walker.name, text(package, "version")?))
    });
    Ok(peers.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads_begin_with_one_and_two() {
        assert_eq!(threads(1).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(threads(2).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(threads(12).collect::<Vec<_>>(), [1, 2, 4, 8]);
    }

    #[test]
    fn only_walkers_that_read_ignore_files_search() {
        let cases = cases(Path::new("/walkers"), SEARCH, 2, Path::new("/tree"));
        assert_eq!(cases.iter().map(|case| &case.tool).collect::<Vec<_>>(), ["ftk", "ignore"]);
    }

    #[test]
    fn walkers_without_threads_have_one() {
        let cases = cases(Path::new("/walkers"), "count", 4, Path::new("/tree"));
        let commands: Vec<_> = cases.iter().map(|case| case.timed.stages[0].join("".as_ref())).collect();
        assert_eq!(commands[0], "/walkersftkcount4/tree");
        assert_eq!(commands[3], "/walkerswalkdircount1/tree");
        assert!(cases[0].is_ftk() && !cases[1].is_ftk(), "the reference is the first that is not ftk");
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let versions = versions(include_str!("../../../../benches/walkers/Cargo.lock")).unwrap();
        let names: Vec<_> = versions.split(", ").filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(names, ["ignore", "walkdir", "jwalk", "dua-core"]);
    }
}
