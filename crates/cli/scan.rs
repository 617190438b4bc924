//! Phases A and B for a command: arguments in, an inventory out, and every error said.

use std::env;
use std::ffi::CString;
use std::io::ErrorKind;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use anyhow::Context as _;
use ftk_inventory::{Budget, Collect, Inventory, Keep, Skipped as NotRegular};
use ftk_sched::Threads;
use ftk_select::{Filtered, Selection, Skipped};
use ftk_walk::{FileType, Follow, Op, Visitor, WalkError, Walker};
use indicatif::HumanCount;

use crate::args::Globals;
use crate::console::{Console, cause};
use crate::counted::Counted;
use crate::foreign::operand_hint;
use crate::human;
use crate::outcome::Outcome;
use crate::progress::Progress;
use crate::stats::{Phase, nanos};

/// A tree, listed.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) inventory: Inventory,
    /// Paths of what could not be looked at.
    pub(crate) failed: Vec<Vec<u8>>,
    /// Paths that were not entered because the directory was, under another path, which comes second.
    pub(crate) repeated: Vec<[Vec<u8>; 2]>,
    /// What the selection skipped.
    pub(crate) skipped: Skipped,
    /// `Error` when a part of it could not be listed.
    pub(crate) outcome: Outcome,
}

/// The walk that all commands start from.
pub(crate) fn walker(paths: Vec<CString>, follow: Follow, globals: &Globals) -> Walker {
    let threads = match globals.threads.resolve() {
        Threads::Auto => 0,
        Threads::Fixed(n) => n,
    };
    Walker::new(paths).follow(follow).threads(threads)
}

/// What is said of a tree that does not fit into `--memory`, or into any table.
pub(crate) const TOO_LARGE: &str = "the tree is too large (see --memory)";

/// The same, with the smallest value that would have been enough so far.
pub(crate) fn too_large(budget: &Budget) -> String {
    match budget.needed() {
        Some(bytes) => {
            format!(
                "the tree is too large (see --memory; it must be at least {}K, maybe more)",
                bytes.div_ceil(1024)
            )
        }
        None => TOO_LARGE.into(),
    }
}

/// Walks and merges.
pub(crate) fn scan(
    walker: Walker,
    selection: &Selection,
    keep: Keep,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Scan> {
    scan_hinting("", walker, selection, keep, budget, console)
}

/// As [`scan`]; `hint` follows what is said of an argument that is no regular file.
pub(crate) fn scan_hinting(
    hint: &str,
    walker: Walker,
    selection: &Selection,
    keep: Keep,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Scan> {
    let collect = |worker| Collect::new(worker, keep).within(budget);
    let (parts, skipped) = walk(walker, selection, console.progress, console, collect);
    let mut inventory = Inventory::merge(parts).with_context(|| too_large(budget))?;
    let (errors, refused) = (inventory.take_errors(), inventory.take_refused());
    let repeated = inventory.take_repeated();
    errors.iter().for_each(|error| walk_error(error, console));
    for argument in &refused {
        let is_readable = !matches!(argument.file_type, FileType::Socket | FileType::Symlink);
        let hint = if is_readable { hint } else { "" };
        console.path_error(
            "read",
            &argument.path,
            format_args!("is {}{hint}", a_file_type(argument.file_type)),
        );
    }
    say_skipped(skipped, inventory.skipped(), console);
    let outcome = if errors.is_empty() && refused.is_empty() { Outcome::Success } else { Outcome::Error };
    let failed = errors.into_iter().map(|error| error.path).collect();
    Ok(Scan { inventory, failed, repeated, skipped, outcome })
}

/// Walks with a visitor for each worker, who sees what the selection lets through. How far it is goes to
/// `progress`; also returned is what was left out.
pub(crate) fn walk<V: Visitor>(
    walker: Walker,
    selection: &Selection,
    progress: Progress,
    console: &Console,
    mut visitor: impl FnMut(usize) -> V,
) -> (Vec<V>, Skipped) {
    let start = Instant::now();
    let entries = AtomicU64::new(0);
    let parts = progress.walk(&entries, |answer| {
        let visitor = |worker| Counted::new(Filtered::new(selection, visitor(worker)), &entries, answer);
        walker.run(visitor).into_iter().map(Counted::into_inner).collect::<Vec<_>>()
    });
    let mut skipped = Skipped::default();
    let parts = parts.into_iter().map(|part| {
        let (visitor, left_out) = part.into_parts();
        skipped += left_out;
        visitor
    });
    let parts = parts.collect();
    let elapsed_ns = nanos(start.elapsed());
    let entries = Some(entries.into_inner());
    console.stats.phase(Phase { phase: "walk", elapsed_ns, entries, ..Phase::default() });
    (parts, skipped)
}

/// Says what could not be walked.
pub(crate) fn walk_error(error: &WalkError, console: &Console) {
    let verb = match error.op {
        Op::Open => "open",
        Op::List => "list",
        Op::Stat => "stat",
        Op::Loop => "follow",
        Op::Read => "read",
        _ => "walk",
    };
    console.path_error(verb, &error.path, cause(&error.source));
    // What lies below a starting point has a slash in its path.
    let is_missing_start = error.op == Op::Stat && error.source.kind() == ErrorKind::NotFound;
    if is_missing_start && !error.path.contains(&b'/') {
        let words: Vec<_> = env::args_os().collect();
        if let Some(hint) = operand_hint(&error.path, &words) {
            Console::line(format_args!("     {hint}"));
        }
    }
}

impl Scan {
    /// Says in the summary that the filters left no file, if that is so.
    pub(crate) fn say_filtered(&self, console: &Console) {
        if self.inventory.files() == 0
            && let Some(none) = none_of(self.skipped)
        {
            console.summary(none);
        }
    }
}

/// `the filters match none of 12,041 files`; `None` if they left nothing out.
pub(crate) fn none_of(skipped: Skipped) -> Option<String> {
    match (skipped.filtered_files, skipped.by_options()) {
        (_, 0) => None,
        (0, entries) => Some(format!("the filters match none of {}", entries_of(entries))),
        (files, _) => Some(format!("the filters match none of {}", human::count(files, "file"))),
    }
}

fn entries_of(n: u64) -> String {
    format!("{} entr{}", HumanCount(n), if n == 1 { "y" } else { "ies" })
}

/// Prints one line for everything that was skipped, if anything was.
pub(crate) fn say_skipped(skipped: Skipped, not_regular: NotRegular, console: &Console) {
    let kinds = [
        (skipped.hidden, "hidden name"),
        (skipped.ignored, "ignored path"),
        (skipped.other_file_systems, "other file system"),
        (skipped.pseudo_file_systems, "pseudo file system"),
        (skipped.repeated, "repeated directory path"),
        (skipped.own_output, "own output file"),
        (skipped.covered, "covered path"),
        (not_regular.symlinks, "symbolic link"),
        (not_regular.fifos, "FIFO"),
        (not_regular.sockets, "socket"),
        (not_regular.devices, "device"),
    ];
    for (n, what) in kinds.iter().filter(|(n, _)| *n > 0) {
        console.stats.skipped(&format!("{what}s"), *n);
    }
    let said = |&(n, what): &(u64, &str)| match what {
        "covered path" => format!("{} that another argument covers", human::count(n, "path")),
        _ => human::count(n, what),
    };
    let said: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).map(said).collect();
    if !said.is_empty() {
        console.summary(format_args!("skipped: {}", said.join(", ")));
    }
}

fn a_file_type(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Regular => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link that leads nowhere",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::Block | FileType::Char => "a device",
    }
}
