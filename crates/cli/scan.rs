//! Walks the starting points of a command, builds the inventory, and reports every error.

use std::ffi::{CString, OsStr};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::Context as _;
use ftk_inventory::{Budget, Collect, Inventory, Keep, Skipped as NotRegular};
use ftk_manifest::{Examination, Examining, Listed, Shard, Sharded};
use ftk_sched::logical_cpus;
use ftk_select::{Filtered, IgnoreMemory, Parts, Selection, Skipped, Unseen, Used};
use ftk_walk::{Directory, Entry, FileType, Follow, Op, Repeat, Step, Visitor, WalkError, Walker};
use indicatif::HumanCount;

use crate::asked;
use crate::console::{Console, Outcome, cause};
use crate::foreign::operand_hint;
use crate::globals::Globals;
use crate::human;
use crate::line::CommandLine;
use crate::progress::Progress;
use crate::rules::Rules;
use crate::stats::{Phase, nanos};

/// The result of a walk.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) inventory: Inventory,
    errors: Vec<WalkError>,
    /// Paths that could not be examined.
    pub(crate) failed: Vec<Vec<u8>>,
    /// How many of them are directories that could not be listed.
    pub(crate) unlisted: u64,
    /// Those of them that are ignore files. What they select is not known.
    pub(crate) unread_rules: Vec<Vec<u8>>,
    /// Directories that were not entered because they had been entered under another path: the path, then the
    /// other.
    pub(crate) repeated: Vec<[Vec<u8>; 2]>,
    /// Counts of entries that the selection skipped.
    pub(crate) skipped: Skipped,
    /// The rules of the selection. The caller names those that matched nothing, after its last walk with them.
    pub(crate) rules: Rules,
    /// What was not shown, if the selection records it.
    pub(crate) unseen: Unseen,
    /// The directories that were listed for a shard.
    pub(crate) listed: Listed,
    /// `Error` if a part of the tree could not be listed.
    pub(crate) outcome: Outcome,
}

/// Returns the walker that all commands use.
pub(crate) fn walker(paths: &[CString], follow: Follow, globals: &Globals) -> Walker {
    let paths = paths.iter().map(|path| OsStr::from_bytes(path.to_bytes()));
    Walker::new(paths).follow(follow).threads(globals.workers().unwrap_or_default()).cpus(logical_cpus)
}

/// The message for a tree that exceeds `--memory` or the largest possible table.
pub(crate) const TOO_LARGE: &str = "the tree is too large (raise --memory)";

/// Like [`TOO_LARGE`], with the smallest value that would have been enough so far.
pub(crate) fn too_large(budget: &Budget) -> String {
    match budget.needed() {
        Some(bytes) => {
            let least = bytes.div_ceil(1024);
            format!("the tree is too large (raise --memory to at least {least}K)")
        }
        None => TOO_LARGE.into(),
    }
}

/// The part of a tree whose entries are found.
#[derive(Clone, Copy, Default)]
pub(crate) struct Within<'w> {
    /// All entries of this shard; `None`: of the tree.
    pub(crate) shard: Option<&'w Shard>,
    /// What an update examines; `None`: all of it. A walk of a part reports nothing, since another one may follow.
    pub(crate) examination: Option<&'w Examination>,
}

/// Walks the starting points, and merges the results of all workers into one inventory. Only entries `within` a part
/// are found. `hint` is appended to the message about an argument that is not a regular file.
pub(crate) fn scan(
    walker: Walker,
    selection: &Selection,
    keep: Keep,
    budget: &Budget,
    within: Within<'_>,
    hint: &str,
    console: &Console,
) -> anyhow::Result<Scan> {
    let Within { shard, examination } = within;
    let collect = |worker| {
        let collect = Sharded::new(shard, Collect::new(worker, keep).within(budget));
        Examining::new(examination, collect)
    };
    let walked = walk(walker, selection, budget, console.progress, console, collect);
    let Walked { visitors, skipped, rules, unseen } = walked;
    let (parts, listed): (Vec<_>, Vec<_>) =
        visitors.into_iter().map(|visitor| visitor.into_inner().into_parts()).unzip();
    let mut inventory = Inventory::merge(parts).with_context(|| too_large(budget))?;
    let (errors, refused) = (inventory.take_errors(), inventory.take_refused());
    let repeated = inventory.take_repeated();
    if examination.is_none() {
        say_errors(&errors, console);
    }
    for argument in &refused {
        let is_readable = !matches!(argument.file_type, FileType::Socket | FileType::Symlink);
        let hint = if is_readable { hint } else { "" };
        console.path_error(
            "read",
            &argument.path,
            format_args!("it is {}{hint}", a_file_type(argument.file_type)),
        );
    }
    if examination.is_none() {
        say_skipped(skipped, inventory.skipped(), console);
    }
    let outcome = if errors.is_empty() && refused.is_empty() { Outcome::Success } else { Outcome::Error };
    // A walk reads nothing else.
    let unread_rules = errors.iter().filter(|error| error.op == Op::Read).map(|error| error.path.clone());
    let unread_rules = unread_rules.collect();
    let failed = errors.iter().map(|error| error.path.clone()).collect();
    let unlisted = errors.iter().filter(|error| matches!(error.op, Op::Open | Op::List)).count() as u64;
    let listed = Listed::merge(listed);
    Ok(Scan {
        inventory,
        errors,
        failed,
        unlisted,
        unread_rules,
        repeated,
        skipped,
        rules,
        unseen,
        listed,
        outcome,
    })
}

/// The result of a walk with any visitors.
pub(crate) struct Walked<V> {
    pub(crate) visitors: Vec<V>,
    /// Counts of entries that the selection skipped.
    pub(crate) skipped: Skipped,
    /// The rules of the selection. The caller names those that matched nothing.
    pub(crate) rules: Rules,
    /// What was not shown, if the selection records it.
    pub(crate) unseen: Unseen,
}

/// The memory for ignore files is a part of that for tables.
struct OfBudget(Budget);

impl IgnoreMemory for OfBudget {
    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let too_much = |_| io::Error::other("its patterns need too much memory (raise --memory)");
        self.0.reserve(bytes).map_err(too_much)
    }

    fn release(&self, bytes: u64) {
        self.0.release(bytes);
    }
}

/// Walks with one visitor per worker, which sees the entries that the selection matches. Shows `progress`. Ignore files
/// take their memory from `budget`.
pub(crate) fn walk<V: Visitor>(
    walker: Walker,
    selection: &Selection,
    budget: &Budget,
    progress: Progress,
    console: &Console,
    mut visitor: impl FnMut(usize) -> V,
) -> Walked<V> {
    let start = Instant::now();
    let entries = AtomicU64::new(0);
    let memory: Arc<dyn IgnoreMemory> = Arc::new(OfBudget(budget.clone()));
    let parts = progress.walk(&entries, |answer| {
        let visitor = |worker| {
            let filtered = Filtered::new(selection, visitor(worker)).within(memory.clone());
            Counted { visitor: filtered, entries: 0, all: &entries, answer }
        };
        walker.run(visitor).into_iter().map(|counted| counted.visitor).collect::<Vec<_>>()
    });
    let (mut skipped, mut used, mut unseen) = (Skipped::default(), None::<Used>, Unseen::default());
    let visitors = parts.into_iter().map(|part| {
        let Parts { visitor, skipped: by_worker, used: of_worker, unseen: by_this } = part.into_parts();
        skipped += by_worker;
        unseen.merge(by_this);
        match &mut used {
            Some(used) => used.merge(&of_worker),
            None => used = Some(of_worker),
        }
        visitor
    });
    let visitors = visitors.collect();
    let rules = used.map_or_else(Rules::default, |used| Rules::of_selection(selection, &used, skipped));
    let elapsed_ns = nanos(start.elapsed());
    let entries = Some(entries.into_inner());
    console.stats.phase(Phase { phase: "walk", elapsed_ns, entries, ..Phase::default() });
    Walked { visitors, skipped, rules, unseen }
}

/// A visitor that counts all entries of a walk and passes them on. All workers add to one counter.
struct Counted<'c, V> {
    visitor: V,
    /// Entries of the current directory, not yet added to `all`.
    entries: u64,
    all: &'c AtomicU64,
    /// Called with the number of entries when SIGUSR1 requests it.
    answer: &'c (dyn Fn(u64) + Sync),
}

impl<V: Visitor> Visitor for Counted<'_, V> {
    type Dir = V::Dir;

    fn descend(&mut self, from: Option<&V::Dir>, entry: &mut Entry<'_>) -> V::Dir {
        self.visitor.descend(from, entry)
    }

    fn enter(&mut self, tag: &V::Dir, dir: &Directory<'_>) -> Step {
        self.visitor.enter(tag, dir)
    }

    fn entry(&mut self, tag: Option<&V::Dir>, entry: &mut Entry<'_>) -> Step {
        self.entries += 1;
        if asked::take() {
            (self.answer)(self.all.load(Ordering::Relaxed) + self.entries);
        }
        self.visitor.entry(tag, entry)
    }

    fn leave(&mut self, tag: &V::Dir) {
        self.all.fetch_add(std::mem::take(&mut self.entries), Ordering::Relaxed);
        self.visitor.leave(tag);
    }

    fn covered(&mut self, path: &[u8]) {
        self.visitor.covered(path);
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.visitor.again(repeat);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.visitor.error(error)
    }
}

/// Reports an error of a walk.
pub(crate) fn walk_error(error: &WalkError, console: &Console) {
    let verb = match error.op {
        Op::Open => "open",
        Op::List => "list",
        Op::Stat => "stat",
        Op::Loop => "follow",
        Op::Cycle => "enter",
        Op::Read => "read",
        _ => "walk",
    };
    console.path_error(verb, &error.path, cause(&error.source));
    // Only a starting point can have a path without a slash.
    let is_missing_start = error.op == Op::Stat && error.source.kind() == ErrorKind::NotFound;
    if is_missing_start && !error.path.contains(&b'/') {
        say_hint(&error.path);
    }
}

/// Prints what may be meant by an operand that does not exist.
pub(crate) fn say_hint(path: &[u8]) {
    if let Some(hint) = operand_hint(path, CommandLine::of_process()) {
        Console::line(format_args!("     {hint}"));
    }
}

fn say_errors(errors: &[WalkError], console: &Console) {
    errors.iter().for_each(|error| walk_error(error, console));
}

impl Scan {
    /// Reports the errors and the skipped entries of a walk of an [`Examination`], after the last of these walks.
    pub(crate) fn say(&self, console: &Console) {
        say_errors(&self.errors, console);
        say_skipped(self.skipped, self.inventory.skipped(), console);
    }

    /// Prints a line in the summary if the filters match no file.
    pub(crate) fn say_filtered(&self, console: &Console) {
        if self.inventory.files() == 0
            && let Some(none) = none_of(self.skipped)
        {
            console.summary(none);
        }
    }
}

/// Returns `the filters match none of 12,041 files`, or `None` if the filters skipped nothing.
pub(crate) fn none_of(skipped: Skipped) -> Option<String> {
    match (skipped.filtered_files, skipped.by_options()) {
        (_, 0) => None,
        (0, entries) => {
            let noun = if entries == 1 { "entry" } else { "entries" };
            Some(format!("the filters match none of {} {noun}", HumanCount(entries)))
        }
        (files, _) => Some(format!("the filters match none of {}", human::count(files, "file"))),
    }
}

/// Prints one line that counts skipped entries, if there are any.
pub(crate) fn say_skipped(skipped: Skipped, not_regular: NotRegular, console: &Console) {
    let kinds = [
        (skipped.hidden, "hidden name"),
        (skipped.ignored, "ignored path"),
        (skipped.other_file_systems, "other file system"),
        (skipped.pseudo_file_systems, "pseudo file system"),
        (skipped.repeated, "repeated directory path"),
        (skipped.own_output, "own output file"),
        (skipped.marked, "quarantine directory"),
        (skipped.tagged, "tagged directory"),
        (skipped.covered, "covered path"),
        (not_regular.symlinks, "symbolic link"),
        (not_regular.fifos, "FIFO"),
        (not_regular.sockets, "socket"),
        (not_regular.devices, "device"),
    ];
    for (n, what) in kinds.iter().filter(|(n, _)| *n > 0) {
        console.stats.skipped(&human::plural(what), *n);
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

pub(crate) fn a_file_type(file_type: FileType) -> &'static str {
    match file_type {
        FileType::Regular => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a broken symbolic link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::Block | FileType::Char => "a device",
        _ => "a special file",
    }
}
