//! Counts the trees of a walk, or that of a file.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use ftk_file::Sealer;
use ftk_inventory::Budget;
use ftk_record::quote;
use ftk_select::{Roots, Selection, Skipped};
use ftk_usage::{Count, Flushed, Unknown, Usage};
use ftk_walk::{Follow, Op, WalkError};

use super::{DuArgs, from};
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::races::{Races, say_vanished};
use crate::scan::{Walked, none_of, say_skipped, too_large, walk, walk_error, walker};

/// What was counted.
pub(super) struct Counted {
    pub(super) usage: Usage,
    /// Entries that could not be examined or listed.
    pub(super) unreadable: u64,
    pub(super) outcome: Outcome,
    pub(super) start: Instant,
    /// The devices that were entered, and a path on each. One may occur several times.
    pub(super) file_systems: Vec<(u64, Vec<u8>)>,
}

/// Counts what the arguments name, and reports errors and skipped entries. With a sealer, the sums have seals.
///
/// # Errors
/// If the table of directories does not fit into the allowed memory, or a file cannot be read.
pub(super) fn count(
    args: &DuArgs,
    globals: &Globals,
    budget: &Budget,
    sealer: Option<&Sealer>,
    console: &Console,
) -> anyhow::Result<Counted> {
    if let Some(file) = &args.output.from {
        return from::count(file, args, globals, budget, console);
    }
    // A file that standard output goes to counts like any other: nothing is written before the walk has ended.
    let roots = args.selection.starts.read(&args.paths, &[c"."])?;
    let selection = args.selection.clone().without_max_depth();
    let selection = selection.compile(&Roots::new(&roots), &[], console)?;
    let follow = args.selection.follow(Follow::Never);
    let (keep, flushed) = (args.keep(), Flushed::default());
    let visitor = |worker| {
        let count = Count::new(worker, &keep, budget, follow == Follow::Always);
        let count = count.one_file_system(args.selection.one_file_system());
        let count = if args.output.exclusive { count.exclusive(&flushed) } else { count };
        sealer.into_iter().fold(count, Count::sealing)
    };
    count_walk(&roots, follow, &selection, visitor, args, globals, budget, console)
}

/// Walks `roots` and counts what `visitor` is shown.
///
/// # Errors
/// If the table of directories does not fit into the allowed memory.
#[expect(clippy::too_many_arguments, reason = "the frame of a command and what it walks")]
pub(super) fn count_walk(
    roots: &[CString],
    follow: Follow,
    selection: &Selection,
    visitor: impl FnMut(usize) -> Count,
    args: &DuArgs,
    globals: &Globals,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<Counted> {
    let start = Instant::now();
    let races = Races::new(args.races, roots);
    let walker = walker(roots, follow, globals);
    let walked = walk(walker, selection, budget, console.progress, console, visitor);
    let Walked { visitors, mut skipped, rules, .. } = walked;
    let (mut parts, mut errors) = (Vec::with_capacity(visitors.len()), Vec::new());
    let mut file_systems = Vec::new();
    for count in visitors {
        parts.push(count.part);
        errors.extend(count.errors);
        file_systems.extend(count.file_systems);
    }
    let (vanished, errors) = sort_out(errors, &races, &mut skipped);
    errors.iter().for_each(|error| walk_error(error, console));
    if let (Some(part), [root]) = (parts.first_mut(), roots) {
        for error in &errors {
            let path = error.path.strip_prefix(root.to_bytes()).unwrap_or(&error.path).to_vec();
            part.add_unknown(Unknown { path, is_directory: matches!(error.op, Op::Open | Op::List) });
        }
    }
    let usage = Usage::merge(parts).with_context(|| too_large(budget))?;
    say_skipped(skipped, Default::default(), console);
    say_nested(roots, console);
    say_vanished(vanished, console);
    rules.say(console);
    let total = usage.total();
    if total.files == 0
        && total.directories == 0
        && let Some(none) = none_of(skipped)
    {
        console.summary(none);
    }
    let outcome = if errors.is_empty() { Outcome::Success } else { Outcome::Error };
    Ok(Counted { usage, unreadable: errors.len() as u64, outcome, start, file_systems })
}

/// Says which starting points are below others: their entries count only for them.
fn say_nested(roots: &[CString], console: &Console) {
    if roots.len() < 2 {
        return;
    }
    let path = |root: &CString| Path::new(OsStr::from_bytes(root.to_bytes())).canonicalize().ok();
    let mut paths: Vec<_> = roots.iter().filter_map(|root| Some((path(root)?, root))).collect();
    // Directories come before what is below them.
    paths.sort_unstable();
    let mut above: Vec<&(PathBuf, &CString)> = Vec::new();
    let mut nested = Vec::new();
    for it in &paths {
        while above.pop_if(|dir| !it.0.starts_with(&dir.0)).is_some() {}
        nested.extend(above.last().filter(|dir| dir.0 != it.0).map(|dir| [it.1, dir.1]));
        above.push(it);
    }
    if let [first, more @ ..] = &*nested {
        let [below, dir] = first.map(|path| quote(path.as_bytes()));
        let more =
            if more.is_empty() { String::new() } else { format!(", and {} more likewise", more.len()) };
        console.summary(format_args!("{below} is below {dir} and counts only for itself{more}"));
    }
}

/// Returns the paths of vanished entries, and the errors sorted by path. A directory that is mounted below
/// itself is counted in `skipped`: like GNU du, this counts its contents once, and reports no error.
pub(super) fn sort_out(
    errors: Vec<WalkError>,
    races: &Races<'_>,
    skipped: &mut Skipped,
) -> (Vec<Vec<u8>>, Vec<WalkError>) {
    let (vanished, mut errors) = races.separate(errors);
    let all = errors.len();
    errors.retain(|error| error.op != Op::Cycle);
    skipped.repeated += (all - errors.len()) as u64;
    errors.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    (vanished, errors)
}
