//! `--since`: which directories grew and shrank.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_inventory::{Budget, Full};
use ftk_manifest::Manifest;
use ftk_record::quote;
use ftk_select::Roots;
use ftk_usage::{Count, Difference, Keep, Loaded, Measure, Shown, Unknown, Usage};
use ftk_walk::Follow;

use super::changes::{self, Style};
use super::from::{self, Record, Recorded};
use super::source::{Counted, count_walk};
use super::{DuArgs, space};
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::manifest::{Root, ScopeArgs, join};
use crate::scan::too_large;
use crate::size::Unit;
use crate::stdout::Stdout;

/// Two trees that can be compared.
pub(crate) struct Pair {
    usages: [Usage; 2],
    records: [Record; 2],
}

/// Compares the record `old` with the one PATH, a directory or another record, and prints what changed.
///
/// # Errors
/// If a record cannot be read, the two cannot be compared, or the tables do not fit into the allowed memory.
pub(super) fn run(
    args: &DuArgs,
    old: &OsStr,
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let here = [OsString::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let [new] = paths else { bail!("--since compares with one directory or file") };
    let measure = args.measure();
    let budget = Budget::new(globals.memory());
    let keep = Keep { files: args.output.all, measure, ..Keep::default() };
    let older = Recorded::read(old, &keep, globals, &budget, console)?;
    let keep = Keep { without_directories: !older.record.loaded.has_directory_sizes, ..keep };
    let is_now = Path::new(new).is_dir();
    let (mut newer, outcome, file_systems) = if is_now {
        let (counted, record) = walk(new, old, &older.record, &keep, args, globals, &budget, console)?;
        (Recorded { usage: counted.usage, record }, counted.outcome, counted.file_systems)
    } else {
        if let Some(filter) = args.filter() {
            bail!("{filter} cannot be used with two files: they were written with their own selections");
        }
        let newer = Recorded::read(new, &keep, globals, &budget, console)?;
        let outcome = from::say(&newer.record.loaded, new, console);
        (newer, outcome, Vec::new())
    };
    let mut outcome = outcome.max(from::say(&older.record.loaded, old, console));
    // What was on a file system that is not mounted any more did not shrink.
    for mount in older.record.lost_mounts(&newer.record) {
        let path = quote(&join(&newer.record.root, &mount.path));
        console.error_of("mount", format_args!("{path}: {mount}: not compared"));
        newer.usage.add_unknown(Unknown { path: mount.path, is_directory: true });
        outcome = Outcome::Error;
    }
    let pair = Pair::new([older, newer], [old, new], console)?;
    if let (Measure::Allocated, Some((name, path))) = (measure, pair.unallocated([old, new])) {
        let why = "has no allocated_bytes: compare sizes with --apparent-size";
        bail!("{}: {} {why}", quote(name.as_bytes()), quote(path));
    }
    let shown = Shown { measure, depth: args.depth(), top: args.top() };
    let difference = pair.difference(shown, &budget).with_context(|| too_large(&budget))?;
    let rows = difference.rows(&budget).with_context(|| too_large(&budget))?;
    let out = Stdout::default();
    let unit = args.unit();
    let style = Style {
        json: globals.json,
        measure,
        unit,
        null: args.output.null,
        has_allocated: pair.measure() == Measure::Allocated,
    };
    changes::print(&difference, &rows, style, &out);
    out.finish()?;
    let unit = unit.unwrap_or(Unit::Decimal);
    let [before, now] = [0, 1].map(|side| {
        let bytes = unit.format(pair.usages[side].total().bytes(measure));
        match pair.records[side].start_ns {
            _ if is_now && side == 1 => format!("{bytes} now"),
            Some(ns) => format!("{bytes} on {}", human::date(ns)),
            None => format!("{bytes} in {}", quote([old, new][side].as_bytes())),
        }
    });
    let unknown = match difference.unknown() {
        0 => String::new(),
        n => format!("; {} not compared: unreadable or excluded in one of them", human::entries(n)),
    };
    let status = if outcome == Outcome::Error { " (status 2)" } else { "" };
    let nothing = if difference.is_empty() { "nothing grew or shrank; " } else { "" };
    let line = format!("{nothing}{now}, {before}, in {}{unknown}{status}", human::time(start.elapsed()));
    space::finish(&line, &file_systems, |bytes| unit.format(bytes), false, console);
    Ok(outcome)
}

/// Walks `dir` with the selection of the record `old`, which was read from `name`.
#[expect(clippy::too_many_arguments, reason = "the frame of a command and what it walks")]
fn walk(
    dir: &OsStr,
    name: &OsStr,
    old: &Record,
    keep: &Keep,
    args: &DuArgs,
    globals: &Globals,
    budget: &Budget,
    console: &Console,
) -> anyhow::Result<(Counted, Record)> {
    let name = || quote(name.as_bytes());
    let root = Root::open(dir)?;
    let roots = [CString::new(dir.as_bytes())?];
    let made = &old.loaded.made;
    let compiled = match (&old.options, args.filter(), &made.filter) {
        (Some(_), Some(filter), _) => {
            bail!("{filter} cannot be used with a manifest: the options that {} records are applied", name())
        }
        (Some(options), None, _) => {
            let scope = ScopeArgs::of_words(options).with_context(name)?;
            scope.compile(dir, &old.own, console)?
        }
        (None, given, Some(filter)) if given != Some(filter) => {
            let filter = quote(filter.as_bytes());
            bail!("{} was written with {filter}, and does not record its value: add it", name())
        }
        (None, Some(given), None) if made.is_ftk => {
            bail!("{} was written without options: omit {given}", name())
        }
        (None, ..) => {
            let selection = args.selection.clone().without_max_depth();
            selection.compile(&Roots::new(&roots), &[], console)?
        }
    };
    let visitor = |worker| {
        let count = Count::new(worker, keep, budget, false);
        match old.options {
            Some(_) => count.all_shown(),
            None => count.one_file_system(args.selection.one_file_system()),
        }
    };
    let counted = count_walk(&roots, Follow::Roots, &compiled, visitor, args, globals, budget, console)?;
    let record = Record {
        root: dir.as_bytes().to_vec(),
        identity: Some(root.identity().clone()),
        mounts: root.mounts_now(&old.mounts),
        // The same entries were selected.
        options: old.options.clone(),
        loaded: Loaded { has_directory_sizes: true, made: old.loaded.made.clone(), ..Loaded::default() },
        ..Record::default()
    };
    Ok((counted, record))
}

impl Pair {
    /// Pairs two trees. Says if they are of different directories.
    ///
    /// # Errors
    /// If the same entries were not selected, or only the old tree has the sizes of directories.
    pub(crate) fn new(trees: [Recorded; 2], names: [&OsStr; 2], console: &Console) -> anyhow::Result<Self> {
        let [old, new] = trees;
        let pair = Self { usages: [old.usage, new.usage], records: [old.record, new.record] };
        let [old, new] = &pair.records;
        let [old_name, new_name] = names.map(|name| quote(name.as_bytes()));
        let [a, b] = [old, new].map(Record::selection);
        let said = |options: &[Vec<u8>]| match options {
            [] => "without options".to_owned(),
            options => format!("with {}", options.iter().map(|it| quote(it)).collect::<Vec<_>>().join(" ")),
        };
        ensure!(
            a == b,
            "{old_name} was made {}, {new_name} {}: what only one selects would look grown or shrunk",
            said(&a),
            said(&b)
        );
        for (record, name) in [(old, &old_name), (new, &new_name)] {
            if let Some(path) = &record.unsized_file {
                bail!("{name}: {} has no size_bytes", quote(path));
            }
        }
        ensure!(
            new.loaded.has_directory_sizes || !old.loaded.has_directory_sizes,
            "{new_name} has no sizes of directories, and {old_name} has"
        );
        if let Some(why) = old.other_root(new) {
            let [root, new_root] = [old, new].map(|it| quote(&it.root));
            ensure!(
                !old.contains(new),
                "{old_name} is of {root}, which contains {new_root}: compare all of {root}"
            );
            ensure!(
                !new.contains(old),
                "{old_name} is of {root}, which is only a part of {new_root}: compare {root}"
            );
            console.warning(format_args!("{old_name} is of another directory, {root}: {why}"));
        }
        Ok(pair)
    }

    /// Reads two manifests, and pairs them.
    ///
    /// # Errors
    /// Those of [`Pair::new`], or if a manifest cannot be read or its table does not fit into `budget`.
    pub(crate) fn of_manifests(
        manifests: [&Manifest; 2],
        names: [&OsStr; 2],
        budget: &Budget,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let read = |side: usize, keep: &Keep| {
            let read = Recorded::of_manifest(manifests[side], keep, budget);
            read.with_context(|| quote(names[side].as_bytes()))
        };
        let old = read(0, &Keep::default())?;
        let without_directories = !old.record.loaded.has_directory_sizes;
        let new = read(1, &Keep { without_directories, ..Keep::default() })?;
        Self::new([old, new], names, console)
    }

    /// Finds out which directories changed.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(crate) fn difference(&self, shown: Shown, budget: &Budget) -> Result<Difference<'_>, Full> {
        Difference::between(&self.usages[0], &self.usages[1], shown, budget)
    }

    /// Returns allocated bytes, if both records have them.
    pub(crate) fn measure(&self) -> Measure {
        if self.unallocated([OsStr::new(""); 2]).is_none() { Measure::Allocated } else { Measure::Apparent }
    }

    /// Returns the first entry without allocated bytes, and the name of its record.
    fn unallocated<'n>(&self, names: [&'n OsStr; 2]) -> Option<(&'n OsStr, &[u8])> {
        let mut sides = names.into_iter().zip(&self.records);
        sides.find_map(|(name, record)| Some((name, record.unallocated.as_deref()?)))
    }
}
