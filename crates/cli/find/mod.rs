//! `ftk find`: lists entries, straight from the walk or sorted, or runs commands for them.

mod colours;
mod exec;
mod fields;
mod format;
mod json;
mod limit;
mod lister;
mod owners;
mod parts;
mod render;
mod search;
mod sorted;

use std::ffi::{CString, OsString};
use std::sync::mpsc::SyncSender;

use anyhow::{Context as _, bail};
use clap::Args;
use ftk_sched::{Threads, logical_cpus};
use ftk_walk::Follow;

use self::colours::Colours;
use self::exec::{Commands, Plan};
use self::fields::Fields;
use self::format::Format;
use self::limit::Limit;
use self::lister::{Lister, Sink};
use self::render::Render;
use self::search::{Search, Tally};
use crate::args::Globals;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::selection::SelectionArgs;
use crate::stdout::{Lines, Stdout};

/// List the entries of trees, or run commands for them
///
/// Every entry is listed, hidden and ignored ones too, in no particular order and each starting point first.
/// Piped, and with -0, names are raw bytes; on a terminal they are coloured as LS_COLORS says, and control
/// characters in them are shown escaped. Globs compare bytes: `*` is any bytes, `?` one byte, `[a-z]` an ASCII
/// class, `{a,b}` either.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE_EXAMPLES)]
pub(crate) struct FindArgs {
    /// Where to start [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    commands: Commands,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Print only how many entries there are
    #[arg(short, long, conflicts_with_all = ["format", "exec", "exec-batch"])]
    count: bool,

    /// End each path, or what --format prints, with a NUL instead of a newline
    #[arg(short = '0', long = "null", conflicts_with_all = ["exec", "exec-batch"])]
    null: bool,

    /// Sort by path, as bytes
    #[arg(long)]
    sort: bool,

    /// Print this of each entry, such as '{size} {path}'; --help lists the fields
    ///
    /// Fields of the path: {path}, {name}, {dir} (its directory), {stem} and {ext} (the name before and after its
    /// last dot), {root} (the starting point), {relative} (the path below it).
    ///
    /// Fields of the entry: {type} (a letter, as for -t), {depth}, {size} (bytes), {blocks} (of 512 bytes, that it
    /// takes), {mode} (octal), {permissions} (as `ls -l`), {uid}, {gid}, {user}, {group}, {links}, {inode},
    /// {device}, {target} (of a symbolic link), {mtime}, {ctime}, {atime} (ISO 8601 in local time with its offset,
    /// as 2026-11-21T06:34:01.000000000+01:00), {mtime_ns}, {ctime_ns}, {atime_ns} (nanoseconds since 1970).
    ///
    /// Braces are written {{ and }}, and \n \t \r \0 \\ are what they are in C. Only fields that need it make the
    /// system be asked for metadata.
    #[arg(long, value_name = "TEXT", value_parser = Format::parse, conflicts_with_all = ["exec", "exec-batch"])]
    format: Option<Format>,

    /// Stop after this many entries; with --sort the first by path
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_results: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  ftk find -t f -c /srv                   how many files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find -t f -n '*.log' --exec gzip    a command for each, several at a time, safe for every name
  ftk find -q -n core /var && echo found  status only: 0 if there is one";

const MORE_EXAMPLES: &str = "\
Examples:
  ftk find -t f -c /srv                   how many files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find -q -n core /var && echo found  status only: 0 if there is one
  ftk find -t f --format '{size}\\t{path}' | sort -rn | head
                                          the largest files
  ftk find --json -t f /srv | jq -r 'select(.nlink > 1).path'
                                          files with several names
  ftk find -e flac --exec ffmpeg -i {} {.}.mp3 \\;
                                          a command for each, several at a time
  ftk find -t f -n '*.o' --exec-batch rm  one command for all, or few
  ftk find -t f -0 | xargs -0r wc -l      paths for other tools, safe for every name";

pub(crate) fn run(args: &FindArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.refuse_conflicts_with(globals)?;
    let own: Vec<_> = Stdout::identity().into_iter().collect();
    let selection = args.selection.compile(&own)?;
    let plan = if args.commands.is_empty() { None } else { Some(Plan::new(&args.commands)?) };
    let search = Search {
        roots: args.selection.starts.read(&args.paths, &[c"."])?,
        follow: args.selection.follow(Follow::Never),
        selection: &selection,
        globals,
        console,
        most: args.output.max_results,
    };
    let out = Stdout::default();
    let outcome = match plan {
        _ if globals.quiet => answer(&search),
        Some(plan) => run_commands(&plan, args, &search, &out)?,
        None if args.output.count => count(&search, &out),
        None => list(&args.output, &search, &out)?.outcome,
    };
    out.finish().context("cannot write to standard output")?;
    Ok(outcome)
}

impl FindArgs {
    /// What the definition of the arguments cannot say, since it is about options that all commands have.
    fn refuse_conflicts_with(&self, globals: &Globals) -> anyhow::Result<()> {
        let refused = [
            (globals.json && self.output.format.is_some(), "--json cannot be used with --format"),
            (globals.json && self.output.null, "--json cannot be used with --null: an object is a line"),
            (globals.json && !self.commands.is_empty(), "--json cannot be used with --exec or --exec-batch"),
            (
                globals.quiet && !self.commands.is_empty(),
                "--quiet cannot be used with --exec or --exec-batch",
            ),
        ];
        match refused.into_iter().find(|(is_refused, _)| *is_refused) {
            Some((_, why)) => bail!(why),
            None => Ok(()),
        }
    }
}

/// Whether there is an entry.
///
/// One that is found is the answer whatever else could not be read: how much of a tree is seen before it depends on
/// the order of listings.
fn answer(search: &Search<'_>) -> Outcome {
    let first = Limit::new(1);
    let tally = search.walk(|| Lister::new(Sink::Count, PLAIN, Some(&first), search.console));
    if tally.found > 0 { Outcome::Success } else { tally.outcome.max(Outcome::Negative) }
}

/// What is written where nothing is.
const PLAIN: Render<'static> = Render::Path { end: None };

fn count(search: &Search<'_>, out: &Stdout) -> Outcome {
    let limit = search.most.map(Limit::new);
    let tally = search.walk(|| Lister::new(Sink::Count, PLAIN, limit.as_ref(), search.console));
    let found = tally.found;
    out.write(
        if search.globals.json { format!("{{\"count\":{found}}}\n") } else { format!("{found}\n") }
            .as_bytes(),
    );
    tally.outcome
}

fn run_commands(plan: &Plan, args: &FindArgs, search: &Search<'_>, out: &Stdout) -> anyhow::Result<Outcome> {
    let at_once = match search.globals.threads.resolve() {
        Threads::Auto => logical_cpus(),
        Threads::Fixed(n) => n,
    };
    let limit = search.most.map(Limit::new);
    let find = |queue: SyncSender<Vec<u8>>| {
        if args.output.sort {
            return search.scan_sorted(|path| queue.send(path.to_vec()).is_ok());
        }
        let sink = || Sink::Commands(queue.clone());
        Ok(search.walk(|| Lister::new(sink(), PLAIN, limit.as_ref(), search.console)))
    };
    let (tally, outcome) = exec::run(plan, at_once, out, search.console, find)?;
    Ok(outcome.max(tally?.outcome))
}

fn list(args: &OutputArgs, search: &Search<'_>, out: &Stdout) -> anyhow::Result<Tally> {
    let style = Style::new(args, search.globals);
    let console = search.console;
    let mut lines = Lines::new(out);
    if !args.sort {
        let limit = search.most.map(Limit::new);
        let sink = || Sink::Lines(Lines::new(out));
        return Ok(search.walk(|| Lister::new(sink(), style.render(&search.roots), limit.as_ref(), console)));
    }
    if let Style::Plain { end } = style {
        let tally = search.scan_sorted(|path| {
            lines.line(|line| {
                line.extend_from_slice(path);
                line.push(end);
            })
        });
        lines.flush();
        return tally;
    }
    search.walk_sorted(|sink| Lister::new(sink, style.render(&search.roots), None, console), &mut lines)
}

/// What a record looks like.
enum Style<'s> {
    Plain { end: u8 },
    Shown { colours: Option<Colours>, escape: bool },
    Json,
    Format { format: &'s Format, end: u8, escape: bool },
}

impl<'s> Style<'s> {
    fn new(args: &'s OutputArgs, globals: &Globals) -> Self {
        let end = if args.null { 0 } else { b'\n' };
        // Who asks for records ended by NUL gets bytes, wherever they go.
        let escape = !args.null && Stdout::is_terminal();
        let colours = || if args.null { None } else { Colours::wanted() };
        match &args.format {
            _ if globals.json => Self::Json,
            Some(format) => Self::Format { format, end, escape },
            None => match colours() {
                None if !escape => Self::Plain { end },
                colours => Self::Shown { colours, escape },
            },
        }
    }

    /// For one worker; `roots` are the starting points.
    fn render<'r>(&'r self, roots: &'r [CString]) -> Render<'r> {
        match self {
            Self::Plain { end } => Render::Path { end: Some(*end) },
            Self::Shown { colours, escape } => Render::Shown { colours: colours.as_ref(), escape: *escape },
            Self::Json => Render::Json,
            Self::Format { format, end, escape } => {
                Render::Fields { fields: Box::new(Fields::new(format, roots, *escape)), end: *end }
            }
        }
    }
}
