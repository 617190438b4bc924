//! Commands with `--cache`: what the first run costs, and what the second one saves.

use anyhow::Result;

use super::hash::Task;
use crate::bench::cache::Cache;
use crate::bench::case::{Pipeline, words};
use crate::bench::commands::Commands;
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::{Group, Section};
use crate::bench::tree::Tree;

/// The file systems whose files ftk remembers.
const REMEMBERED: &[&str] = &["ext2", "ext3", "ext4", "btrfs", "xfs"];

/// `ftk` is the row that others are compared with. All commands run through `env`, which gives each its own store.
const HASH: &str = "
# hash, {nth} run [sums]
[ftk] env XDG_CACHE_HOME={scratch}store-0 @ftk hash --cache {trees}
[ftk without --cache] env XDG_CACHE_HOME={scratch}store-1 @ftk hash {trees}
[ftk find -S +0] env XDG_CACHE_HOME={scratch}store-2 @ftk find -S +0 {trees}
";

/// The fewest system calls that show that no file has changed. It prints names only.
const BOUND: &str = "ftk find -S +0";

/// The options make fclones consider the same files.
const DUP: &str = "
# dup, {nth} run [groups]
[ftk] env XDG_CACHE_HOME={scratch}store-0 @ftk dup --cache {trees}
[ftk without --cache] env XDG_CACHE_HOME={scratch}store-1 @ftk dup {trees}
[fclones] env XDG_CACHE_HOME={scratch}store-2 @fclones group --hidden --no-ignore -f fdupes {trees}
[fclones --cache] env XDG_CACHE_HOME={scratch}store-3 @fclones group --hidden --no-ignore -f fdupes --cache {trees}
";

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let mut sections = Vec::new();
    if is_remembered(&tree) {
        sections.push(Section::new(&tree, Cache::Warm, runs(bench, &[&tree], HASH)?));
        let copies = derived::copies(bench, &tree)?;
        let title = derived::title_with_copies(&tree);
        println!(" {title}");
        let groups = runs(bench, &[&tree, &copies], DUP)?;
        sections.push(Section { title, ..Section::new(&tree, Cache::Warm, groups) });
    }
    let many = bench.shape(&bench.many())?;
    println!(" {}", many.title);
    if is_remembered(&many) {
        sections.push(Section::new(&many, Cache::Warm, runs(bench, &[&many], HASH)?));
    }
    Ok(sections)
}

/// Whether ftk remembers files of this tree. Prints a note if not.
fn is_remembered(tree: &Tree) -> bool {
    let is_remembered = REMEMBERED.contains(&&*tree.file_system);
    if !is_remembered {
        println!(" not measured: files on {} are not remembered", tree.file_system);
    }
    is_remembered
}

/// Measures runs with an empty store, and runs with the store of a first run.
fn runs(bench: &Context, trees: &[&Tree], text: &str) -> Result<Vec<Group>> {
    let files = trees.iter().map(|tree| tree.files).sum();
    let paths: Vec<_> = trees.iter().map(|tree| tree.path.clone()).collect();
    let mut groups = Vec::new();
    for nth in ["first", "second"] {
        let commands = Commands::new(bench).with("nth", nth).with_all("trees", &paths);
        let (title, mut cases) = commands.group(text);
        for case in &mut cases {
            // The group before has left its digests.
            let store = case.timed.stages[0][1].to_string_lossy().replace("XDG_CACHE_HOME=", "");
            let clear = Pipeline::new(words!["rm", "-rf", &store]);
            clear.output()?;
            if nth == "first" {
                case.before = Some(clear);
            } else {
                _ = case.timed.output(); // if it fails, so does the run that is compared
            }
            case.is_bound = case.tool == BOUND;
        }
        if text == HASH {
            let task = Task::new(bench, "sha256", paths.clone(), files);
            cases.extend(task.cases("", |row| row == task.tool()));
        }
        groups.push(bench.clock().group(&title, files, cases)?);
    }
    Ok(groups)
}
