//! `ftk manifest diff OLD NEW`: prints the changes between two manifests.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::ops::ControlFlow;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_inventory::Budget;
use ftk_manifest::{Criteria, Field, Finding, Manifest, Verdict, diff};
use ftk_record::{End, is_zstd, quote};
use ftk_select::Checks;
use ftk_usage::{Measure, Shown};

use crate::console::{Console, Outcome};
use crate::du::{Pair, Style, print_changes};
use crate::globals::Globals;
use crate::hash::diff::{Compared, both};
use crate::hash::reading::ReadList;
use crate::hash::table::{ListOptions, Table};
use crate::input;
use crate::list::List;
use crate::manifest::corrupted::{CorruptedArgs, StatusArg};
use crate::manifest::input::{Input, in_either};
use crate::manifest::part::{Part, PartArgs, say_unselected};
use crate::manifest::record::{Findings, Manner, Uncompared, say_counts};
use crate::manifest::rules::{ModeArg, RulesArgs};
use crate::number::at_least;
use crate::scan::too_large;
use crate::stdout::Stdout;

/// Print the differences between two manifests
///
/// Prints the entries that were added, removed, modified or moved, and those whose metadata changed, sorted by path. No
/// file is read. Checksum lists, such as those of sha256sum, are accepted too: then only contents are compared.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DiffArgs {
    /// The older manifest or checksum list
    #[arg(value_name = "OLD")]
    old: OsString,

    /// The newer one
    #[arg(value_name = "NEW")]
    new: OsString,

    /// Print which directories grew or shrank, not the entries
    ///
    /// Prints what `ftk du --since OLD NEW` prints. The summary and the exit status are still about all entries.
    #[arg(long, conflicts_with_all = ["status", "exclude", "path", "wanted", "unwanted"])]
    by_directory: bool,

    /// With --by-directory: print only the N largest changes
    #[arg(long, value_name = "N", value_parser = at_least(1_usize))]
    top: Option<usize>,

    #[command(flatten)]
    part: PartArgs,

    #[command(flatten)]
    rules: RulesArgs,

    #[command(flatten)]
    pub(super) status: StatusArg,

    #[command(flatten)]
    corrupted: CorruptedArgs,
}

const EXAMPLES: &str = "\
Exit status: 0: no differences; 1: differences found; 2: any error

Examples:
  ftk manifest diff monday.jsonl friday.jsonl
  ftk manifest diff --mode content laptop.jsonl backup.jsonl
                        ignore owners, permissions and times
  ftk manifest diff -E usr/share build1.jsonl build2.jsonl
                        skip what is below usr/share
  ftk manifest diff --by-directory --top 20 monday.jsonl friday.jsonl
                        which directories grew or shrank
  ftk manifest diff SHA256SUMS archive.jsonl
                        a checksum list made in the root of the tree";

pub(super) fn run(args: &DiffArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    // `requires` of the parser has no effect next to an option that excludes --by-directory.
    ensure!(args.top.is_none() || args.by_directory, "--top needs --by-directory");
    if args.old == "-" && args.new == "-" {
        bail!("standard input can be read only once");
    }
    let are_manifests = [is_manifest(&args.old)?, is_manifest(&args.new)?];
    let stdout = Stdout::default();
    let list = List::create(None, &stdout)?;
    let ignored = args.rules.ignored();
    if are_manifests != [true; 2] {
        if args.rules.mode == ModeArg::Metadata || ignored.contains(&Field::Digests) {
            bail!("a checksum list records only content, which these options exclude from the comparison");
        }
        ensure!(
            !args.corrupted.is_given(),
            "--status-corrupted needs manifests: a checksum list has no times, which tell damage from edits"
        );
        ensure!(!args.by_directory, "--by-directory needs manifests: a checksum list has no sizes");
        ensure!(args.part.is_empty(), NEEDS_MANIFESTS);
        if args.rules.normalize_names {
            bail!("--normalize-names is for two manifests: names of checksum lists are compared exactly");
        }
        let memory = globals.memory() / 2;
        let reading = ListOptions { end: End::Newline, algorithms: &[], memory };
        let table = |path: &OsStr, is_manifest| {
            if is_manifest { sums(path, globals, console) } else { reading.read(path) }
        };
        let tables = [table(&args.old, are_manifests[0])?, table(&args.new, are_manifests[1])?];
        let list = (!args.status.status).then_some(list);
        let compared = Compared::of(&tables, list, globals.json, console)?;
        return Ok(compared.finish(console));
    }
    let [old, new] =
        both([&args.old, &args.new], globals, |path| Ok(Input::open(path, globals, console)?.manifest))?;
    let part = args.part.compile(None, &old.header().root, None, console)?;
    let [checks, others] = [&old, &new].map(|manifest| manifest.header().checks());
    let (checks, others) = (
        checks.with_context(|| quote(args.old.as_encoded_bytes()))?,
        others.with_context(|| quote(args.new.as_encoded_bytes()))?,
    );
    let have_rules = checks == others;
    if !have_rules {
        console.warning("OLD and NEW have different rules (--rules), so everything is compared");
    }
    let criteria = Criteria {
        mode: args.rules.mode.into(),
        ignore: ignored,
        normalize_names: args.rules.normalize_names,
        sample: None,
        part: part.as_ref().map(Part::selector),
        checks: if have_rules { checks } else { Checks::default() },
    };
    args.corrupted.check(&criteria, &[&old.header().algorithms, &new.header().algorithms])?;
    let is_silent = args.by_directory || args.status.status;
    let manner =
        Manner { member: "change", word, json: globals.json, all: false, has_sizes: true, is_silent };
    let mut findings = Findings::new(manner, [&old.header().algorithms, &new.header().algorithms], list);
    let budget = Budget::new(globals.memory());
    let summary = diff(&old, &new, &criteria, &budget, &mut |finding: &Finding<'_>| {
        findings.give(finding, None);
        ControlFlow::Continue(())
    });
    let summary = summary.map_err(|error| in_either(error, [&args.old, &args.new]))?;
    let shifted = findings.shift(summary.shift.as_ref(), ["times of OLD", "times of NEW"]);
    if summary.split_links > 0 {
        findings.split_links(summary.split_links);
    }
    let unrecorded = match [&old, &new].map(|manifest| manifest.header().xattrs) {
        _ if !criteria.compares(Field::Xattrs) => None,
        [true, true] => None,
        [false, false] => Some(""),
        [false, true] => Some(" in OLD"),
        [true, false] => Some(" in NEW"),
    };
    let uncompared = Uncompared { unrecorded, hidden: summary.hidden_xattrs };
    findings.uncompared(&uncompared);
    findings.finish()?;
    if args.by_directory {
        print_directories(args, [&old, &new], globals, console)?;
    }
    let outcome = say_counts(&summary, "the same", word, shifted, &args.corrupted, console);
    uncompared.say(console);
    let headers = [("OLD", old.header()), ("NEW", new.header())];
    say_unselected(part.as_ref(), summary.unselected, None, &headers, console);
    if let Some(part) = &part {
        part.rules().say(console);
    }
    Ok(outcome)
}

const NEEDS_MANIFESTS: &str = "-E, --path, --where and --exclude-where are for two manifests";

/// Prints the directories that grew or shrank.
fn print_directories(
    args: &DiffArgs,
    manifests: [&Manifest; 2],
    globals: &Globals,
    console: &Console,
) -> anyhow::Result<()> {
    // The memory of the comparison is free again.
    let budget = Budget::new(globals.memory());
    let pair = Pair::of_manifests(manifests, [&args.old, &args.new], &budget, console)?;
    let measure = pair.measure();
    let has_allocated = measure == Measure::Allocated;
    if !has_allocated {
        console.summary("the sizes of files are compared: a manifest has no allocated_bytes");
    }
    let shown = Shown { measure, depth: None, top: args.top };
    let difference = pair.difference(shown, &budget).with_context(|| too_large(&budget))?;
    let rows = difference.rows(&budget).with_context(|| too_large(&budget))?;
    let out = Stdout::default();
    let style = Style { json: globals.json, measure, unit: None, null: false, has_allocated };
    print_changes(&difference, &rows, style, &out);
    out.finish()
}

/// Returns the word for a change. In a comparison of two states, entries are `removed` and `added` instead of
/// `missing` and `new`.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Missing => "removed",
        Verdict::New => "added",
        _ => verdict.name(),
    }
}

/// Whether the file begins like a manifest rather than a checksum list. Standard input and pipes cannot be
/// read twice, so they must be manifests.
fn is_manifest(path: &OsStr) -> anyhow::Result<bool> {
    if path == "-" {
        return Ok(true);
    }
    let name = || quote(path.as_encoded_bytes());
    let cannot_open = || format!("cannot open {}", name());
    // Opening a pipe to look at it, and closing it again, would end its writer.
    if !fs::metadata(path).with_context(cannot_open)?.is_file() {
        return Ok(true);
    }
    let mut start = Vec::new();
    let file = input::open_file(path).with_context(cannot_open)?;
    file.take(4).read_to_end(&mut start).with_context(|| format!("cannot read {}", name()))?;
    Ok(start.is_empty() || start.starts_with(b"{") || is_zstd(&start))
}

/// Returns the digests of a manifest in the form of a checksum list.
fn sums(path: &OsStr, globals: &Globals, console: &Console) -> anyhow::Result<Table> {
    let manifest = Input::open(path, globals, console)?.manifest;
    let sums = manifest.sums().map_err(anyhow::Error::from).and_then(|sums| Ok(sums.sorted()?));
    let sums = sums.with_context(|| quote(path.as_encoded_bytes()))?;
    Ok(Table { sums, has_dot: false, list: ReadList::default(), complaints: Vec::new() })
}
