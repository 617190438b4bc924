//! `ftk find`: lists entries, straight from the walk or sorted.

use std::ffi::OsString;

use anyhow::Context as _;
use clap::Args;
use ftk_inventory::{Budget, Keep};
use ftk_record::sanitize;
use ftk_select::{Filtered, Skipped};
use ftk_walk::{Directory, Entry, Follow, Step, Visitor, WalkError};

use crate::args::Globals;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::scan::{paths, say_skipped, scan, walk_error, walker};
use crate::selection::SelectionArgs;
use crate::stdout::{Lines, Stdout};

/// List the entries of trees
///
/// Every entry is listed, hidden and ignored ones too, in no particular order and each starting point first.
/// Piped, and with -0, names are raw bytes; on a terminal, control characters in them are shown escaped. Globs
/// compare bytes: `*` is any bytes, `?` one byte, `[a-z]` an ASCII class, `{a,b}` either.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FindArgs {
    /// Where to start [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    #[command(flatten)]
    selection: SelectionArgs,

    /// Print only how many entries there are
    #[arg(short, long, help_heading = "Output")]
    count: bool,

    /// End each path with a NUL instead of a newline
    #[arg(short = '0', long = "null", help_heading = "Output")]
    null: bool,

    /// Sort by path, as bytes
    #[arg(long, help_heading = "Output")]
    sort: bool,
}

const EXAMPLES: &str = "\
Examples:
  ftk find -t f -c /srv                   how many files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find -t f -n '*.log' -0 | xargs -0r gzip   safe for every name
  ftk find -q -n core /var && echo found  status only: 0 if there is one";

pub(crate) fn run(args: &FindArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let own: Vec<_> = Stdout::identity().into_iter().collect();
    let selection = args.selection.compile(&own)?;
    let here = [OsString::from(".")];
    let starts = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let walker = walker(paths(starts), args.selection.follow(Follow::Never), globals);
    let out = Stdout::default();
    let show = match (globals.quiet, args.count) {
        (true, _) => Show::First,
        (false, true) => Show::Count,
        (false, false) => Show::Paths { end: if args.null { 0 } else { b'\n' } },
    };

    let (found, mut outcome) = if args.sort && matches!(show, Show::Paths { .. }) {
        let scan = scan(walker, &selection, Keep::All, &Budget::new(globals.memory()), console)?;
        let mut printer = Printer::new(show, &out, console);
        let mut order = scan.inventory.in_path_order();
        while let Some(item) = order.next() {
            if printer.path(item.path, b"") == Step::Stop {
                break;
            }
        }
        printer.lines.flush();
        (printer.found, scan.outcome)
    } else {
        let mut found = 0;
        let mut outcome = Outcome::Success;
        let mut skipped = Skipped::default();
        for part in walker.run(|_| Filtered::new(&selection, Printer::new(show, &out, console))) {
            let (mut printer, left_out) = part.into_parts();
            printer.lines.flush();
            found += printer.found;
            outcome = outcome.max(printer.outcome);
            skipped += left_out;
        }
        say_skipped(skipped, Default::default(), console);
        (found, outcome)
    };
    if matches!(show, Show::Count) {
        out.write(format!("{found}\n").as_bytes());
    }
    if matches!(show, Show::First) {
        // A match is the answer whatever else could not be read: how much of a tree is seen before it depends on
        // the order of listings.
        outcome = if found > 0 { Outcome::Success } else { outcome.max(Outcome::Negative) };
    }
    out.finish().context("cannot write to standard output")?;
    Ok(outcome)
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug)]
enum Show {
    /// The first one ends the walk.
    First,
    Count,
    Paths {
        end: u8,
    },
}

/// One worker's share of the listing.
struct Printer<'p> {
    show: Show,
    /// Whether names are shown to a person, whom they must not harm.
    escape: bool,
    lines: Lines<'p>,
    console: &'p Console,
    /// What stands before every name in the directory being listed.
    dir: Vec<u8>,
    found: u64,
    outcome: Outcome,
}

impl<'p> Printer<'p> {
    fn new(show: Show, out: &'p Stdout, console: &'p Console) -> Self {
        let escape = matches!(show, Show::Paths { end: b'\n' }) && Stdout::is_terminal();
        let (lines, dir) = (Lines::new(out), Vec::new());
        Self { show, escape, lines, console, dir, found: 0, outcome: Outcome::Success }
    }

    fn path(&mut self, dir: &[u8], name: &[u8]) -> Step {
        self.found += 1;
        let Show::Paths { end } = self.show else {
            return if matches!(self.show, Show::First) { Step::Stop } else { Step::Descend };
        };
        let escape = self.escape;
        let ok = self.lines.line(|line| {
            if escape {
                line.extend_from_slice(sanitize(&[dir, name].concat()).as_bytes());
            } else {
                line.extend_from_slice(dir);
                line.extend_from_slice(name);
            }
            line.push(end);
        });
        if ok { Step::Descend } else { Step::Stop }
    }
}

impl Visitor for Printer<'_> {
    type Dir = ();

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        self.path(b"", root.name())
    }

    fn descend(&mut self, _from: Option<&()>, _entry: &Entry<'_>) {}

    fn enter(&mut self, _tag: &(), dir: &Directory<'_>) -> Step {
        self.dir.clear();
        dir.push_path(&mut self.dir);
        if !self.dir.ends_with(b"/") {
            self.dir.push(b'/');
        }
        Step::Descend
    }

    fn entry(&mut self, _tag: &(), entry: &mut Entry<'_>) -> Step {
        let dir = std::mem::take(&mut self.dir);
        let step = self.path(&dir, entry.name());
        self.dir = dir;
        step
    }

    fn leave(&mut self, _tag: &()) {
        // Whether anyone still reads shows at the next line.
        self.lines.flush_if_waiting();
    }

    fn error(&mut self, error: WalkError) -> Step {
        walk_error(&error, self.console);
        self.outcome = Outcome::Error;
        Step::Next
    }
}
