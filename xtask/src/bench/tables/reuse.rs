//! Commands with `--cache`: what the first run costs, and what the second one saves.
//!
//! All commands run through `env`, because it gives each its own store.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use anyhow::Result;

use super::Algorithm;
use super::hashers::Task;
use crate::bench::answer::Format;
use crate::bench::cache::Cache;
use crate::bench::case::{Case, Pipeline, words};
use crate::bench::context::Context;
use crate::bench::derived;
use crate::bench::record::{Group, Section};
use crate::bench::shape;
use crate::bench::tree::Tree;

/// The file systems whose files ftk remembers.
const REMEMBERED: &[&str] = &["ext2", "ext3", "ext4", "btrfs", "xfs"];

/// The commands that compute digests. `ftk` is the row that others are compared with.
const HASH: &[Line] = &[
    Line::new("ftk", "ftk", &["hash", "--cache"], Format::Sums),
    Line::new("ftk without --cache", "ftk", &["hash"], Format::Sums),
    // The fewest system calls that show that no file has changed. It prints names only.
    Line::new("ftk find -S +0", "ftk", &["find", "-S", "+0"], Format::Status),
];

/// The commands that find duplicates.
const DUP: &[Line] = &[
    Line::new("ftk", "ftk", &["dup", "--cache"], Format::Groups),
    Line::new("ftk without --cache", "ftk", &["dup"], Format::Groups),
    Line::new("fclones", "fclones", FCLONES_CACHE.split_at(FCLONES_CACHE.len() - 1).0, Format::Groups),
    Line::new("fclones --cache", "fclones", FCLONES_CACHE, Format::Groups),
];

/// The options make fclones consider the same files.
const FCLONES_CACHE: &[&str] = &["group", "--hidden", "--no-ignore", "-f", "fdupes", "--cache"];

/// A row of a group.
struct Line {
    row: &'static str,
    tool: &'static str,
    args: &'static [&'static str],
    /// [`Format::Status`] for a lower bound.
    format: Format,
}

impl Line {
    const fn new(
        row: &'static str,
        tool: &'static str,
        args: &'static [&'static str],
        format: Format,
    ) -> Self {
        Self { row, tool, args, format }
    }
}

/// Whether the store is empty when a run begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nth {
    First,
    Second,
}

/// The word in the titles of groups.
impl fmt::Display for Nth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::First { "first" } else { "second" })
    }
}

pub(crate) fn make(bench: &Context) -> Result<Vec<Section>> {
    let tree = bench.any_tree()?;
    let mut sections = Vec::new();
    if is_remembered(&tree) {
        let groups = vec![hash(bench, &tree, Nth::First)?, hash(bench, &tree, Nth::Second)?];
        sections.push(Section::new(&tree, Cache::Warm, groups));
        let copies = derived::copies(bench, &tree)?;
        let title = format!("{}, and copies: every third file, one in ten altered", tree.title);
        println!(" {title}");
        let trees = [&tree, &copies];
        let groups = vec![dup(bench, &trees, Nth::First)?, dup(bench, &trees, Nth::Second)?];
        sections.push(Section { title, ..Section::new(&tree, Cache::Warm, groups) });
    }
    let many = bench.shape(&if bench.options.common.is_quick { shape::SMALL } else { shape::LARGE })?;
    println!(" {}", many.title);
    if is_remembered(&many) {
        let groups = vec![hash(bench, &many, Nth::First)?, hash(bench, &many, Nth::Second)?];
        sections.push(Section::new(&many, Cache::Warm, groups));
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

/// Measures the digests of a tree.
fn hash(bench: &Context, tree: &Tree, nth: Nth) -> Result<Group> {
    let mut cases = cases(bench, &[tree], HASH, nth)?;
    let sha256 = Algorithm::named("sha256")?;
    cases.extend(Task::new(bench, sha256, &tree.path, tree.files).tool());
    bench.clock().group(&format!("hash, {nth} run"), tree.files, cases)
}

/// Measures the duplicates in trees.
fn dup(bench: &Context, trees: &[&Tree], nth: Nth) -> Result<Group> {
    let files = trees.iter().map(|tree| tree.files).sum();
    bench.clock().group(&format!("dup, {nth} run"), files, cases(bench, trees, DUP, nth)?)
}

/// Returns the commands, each with its own store.
fn cases(bench: &Context, trees: &[&Tree], lines: &[Line], nth: Nth) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let program: &Path = match line.tool {
            "ftk" => &bench.programs.ftk,
            tool => match bench.peers.get(tool) {
                Some(program) => program,
                None => continue,
            },
        };
        let store = bench.scratch.path(&format!("store-{number}"));
        let run = Pipeline::new(words(program, line.args, &store, trees));
        let clear = Pipeline::new(words!["rm", "-rf", &store]);
        // The group before has left its digests.
        clear.output()?;
        let mut case = Case::new(line.row, line.format, run);
        match nth {
            Nth::First => case = case.after(clear),
            // If it fails, so does the run that is compared.
            Nth::Second => _ = case.timed.output(),
        }
        cases.push(if line.format == Format::Status { case.bounding() } else { case });
    }
    Ok(cases)
}

fn words(program: &Path, args: &[&str], store: &Path, trees: &[&Tree]) -> Vec<OsString> {
    let mut variable = OsString::from(STORE);
    variable.push(store);
    let mut words = words!["env", &variable, program];
    words.extend(args.iter().map(OsString::from));
    words.extend(trees.iter().map(|tree| tree.path.clone().into()));
    words
}

/// Where ftk and fclones keep their stores.
const STORE: &str = "XDG_CACHE_HOME=";
