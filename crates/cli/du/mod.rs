//! `ftk du`: shows what uses the space, the largest first.

mod browse;
mod changes;
mod dump;
mod from;
mod json;
mod lines;
mod since;
mod source;
mod space;
mod tree;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{ArgAction, Args, ValueEnum};
use ftk_inventory::Budget;
use ftk_usage::{Exclusive, Item, Keep, Measure};
use ftk_walk::Follow;
use indicatif::HumanCount;

pub(crate) use self::changes::{Style, print as print_changes};
pub(crate) use self::since::Pair;
use self::source::Counted;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::line::CommandLine;
use crate::number::at_least;
use crate::races::StrictRacesArg;
use crate::scan::too_large;
use crate::selection::SelectionArgs;
use crate::size::Unit;
use crate::stdout::Stdout;

/// Show what uses the space, the largest first
///
/// Adds up the allocated space of everything below each PATH, directories included. A file with several hard links
/// counts once, for the first of its paths in byte order, so the sums are the same in every run. If a PATH is below
/// another one, it counts only there.
///
/// On a terminal, prints the largest directories as a tree. Otherwise, prints lines of bytes, a tab and the path. With
/// -s, -d or -a, prints the same directories and files as GNU du.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, disable_help_flag = true)]
#[command(mut_arg("max_depth", |arg| arg.short('d').help(DEPTH).long_help(DEPTH_MORE).help_heading("Output")))]
pub(crate) struct DuArgs {
    /// Files and directories to add up [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    races: StrictRacesArg,

    #[command(flatten)]
    selection: SelectionArgs,
}

const DEPTH: &str = "Print only entries up to N levels below a PATH, and count all";
const DEPTH_MORE: &str = "Print only entries up to N levels below a PATH, and count all\n\n\
    Unlike in other commands, this skips nothing. Prints all directories up to that depth, unless --top is given.";

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Print help
    #[arg(long, action = ArgAction::HelpLong)]
    help: Option<bool>,

    /// Print the N largest entries [default: 20 on a terminal]
    ///
    /// There is no limit with -s, -d or -a, or if the output goes elsewhere.
    #[arg(long, value_name = "N", value_parser = at_least(1_usize), conflicts_with = "format")]
    top: Option<usize>,

    /// Print files too, not only directories
    ///
    /// Prints all of them, unless --top is given. With --type f, directories are not printed.
    #[arg(short, long, conflicts_with_all = ["summarize", "format"])]
    all: bool,

    /// Print only a sum for each PATH
    #[arg(short, long, conflicts_with = "format")]
    summarize: bool,

    /// Print sizes such as 1.5K and 234M, rounded up to powers of 1,024
    ///
    /// This is -h of GNU du. `ftk du --help` prints the help.
    #[arg(short = 'h', long, conflicts_with = "format")]
    human_readable: bool,

    /// Print units of 1,024 bytes, rounded up
    #[arg(short, long, conflicts_with_all = ["format", "since", "interactive", "human_readable", "inodes"])]
    kibibytes: bool,

    /// Print units of 1,048,576 bytes, rounded up
    #[arg(short, long, conflicts_with_all = ["format", "since", "interactive", "human_readable", "inodes", "kibibytes"])]
    mebibytes: bool,

    /// Print lines, and in the last one the sum of all PATHs
    #[arg(short = 'c', long, conflicts_with_all = ["format", "since", "exclusive", "interactive"])]
    total: bool,

    /// Compare and print sizes of files, not the space that they use
    #[arg(short = 'b', long, alias = "bytes", conflicts_with = "format")]
    apparent_size: bool,

    /// Count inodes instead of bytes: files and directories, each once
    ///
    /// For file systems that have no inodes left. An inode with several hard links counts once.
    #[arg(long, conflicts_with_all = ["apparent_size", "exclusive", "format", "since"])]
    inodes: bool,

    /// Count only the space of files that no other file shares
    ///
    /// On Btrfs and XFS, reflinks and snapshots share blocks. Removing a directory frees at least what is printed for
    /// it: blocks that only files in it share are not counted. A file with several hard links counts for the directory
    /// that contains all of them. Files on other file systems, and files that are compressed or stored with their
    /// metadata, are unknown.
    ///
    /// Opens every file, and first writes the changed data of the whole file system to the disk, as `sync -f` does.
    /// Lines have the bytes (? if none are known), the number of unknown files, and the path.
    #[arg(long, conflicts_with_all = ["all", "apparent_size", "format", "from"])]
    exclusive: bool,

    /// End each line with NUL instead of newline
    #[arg(short = '0', long = "null", conflicts_with = "format")]
    null: bool,

    /// Write the whole tree in the format of another tool
    ///
    /// ncdu: the JSON of `ncdu -o`, which `ncdu -f` and gdu can show.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<DumpFormat>,

    /// Read the tree from FILE, not from the disk; `-`: standard input
    ///
    /// FILE is a manifest that records allocated_bytes, or the JSON of `ncdu -o` or gdu. It may be compressed with
    /// Zstandard.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "format", "files_from", "files0_from"])]
    from: Option<OsString>,

    /// Browse the tree in the terminal; move away or delete what you mark
    ///
    /// Arrows, or h, j, k and l, and Enter walk through the directories, Space marks, `d` shows the plan, `?` all
    /// keys. Nothing is changed before you type the word `quarantine` or `delete` and Enter. Then each entry is
    /// compared with what was shown: if it, or anything below it, has changed since, it is left alone. `ftk undo`
    /// moves back what was moved; what was deleted cannot be restored.
    #[arg(short, long, conflicts_with_all = ["top", "all", "summarize", "null", "format", "from", "since", "exclusive", "inodes", "max_depth", "files_from", "files0_from"])]
    interactive: bool,

    /// With --interactive: the directory for moved entries
    ///
    /// It must be on the same file system. Default: .ftk-quarantine in the starting point.
    #[arg(long, value_name = "DIR")]
    quarantine: Option<PathBuf>,

    /// Print which directories grew or shrank since FILE was written
    ///
    /// FILE is a manifest, or the JSON of `ncdu -o`, of gdu or of `ftk du --format ncdu`; `-`: standard input. PATH is
    /// the directory now, or another such file. The largest changes come first. Directories that did not change are
    /// omitted.
    ///
    /// The options that a manifest records select the same entries now. For other files, give the same options again.
    /// What could not be read in one of the two is not compared.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "format", "exclusive", "files_from", "files0_from"])]
    since: Option<OsString>,
}

/// The value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DumpFormat {
    Ncdu,
}

/// Stands for bytes that are not known.
const UNKNOWN: &str = "?";

/// Lines without `--top`, unless an option of GNU du asks for all entries.
const TOP: usize = 20;

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk du /srv                     the 20 largest directories
  ftk du -a --top 30 /srv         the 30 largest directories and files
  ftk du -sh /home/*              a sum for each
  ftk du --inodes -d 1 /home      who has the most files
  ftk du --json -d 2 | jq -r 'select(.allocated_bytes > 1e9).path'
                                  directories of more than 1 GB
  ftk du --interactive /srv       browse the tree; mark, move away, delete
  ftk du --since monday.jsonl /srv
                                  what grew since the manifest was made
  ftk du --format ncdu /srv | ncdu -f-
                                  browse the tree with ncdu";

pub(crate) fn run(args: &DuArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.refuse_conflicts_with(globals)?;
    if args.output.interactive {
        return browse::run(args, globals, console);
    }
    if args.output.format == Some(DumpFormat::Ncdu) {
        return dump::run(args, globals, console);
    }
    if let Some(old) = &args.output.since {
        return since::run(args, old, globals, console);
    }
    let budget = Budget::new(globals.memory());
    let Counted { usage, unreadable, outcome, start, file_systems } =
        source::count(args, globals, &budget, None, console)?;
    let out = Stdout::default();
    let (top, unit) = (args.top(), args.unit());
    // Who asks for files only gets no directories above them either.
    let are_directories = usage.roots().iter().all(|root| usage.is_directory(Item::Dir(*root)));
    let only_files = args.output.all && args.selection.excludes_directories() && are_directories;
    let listing = match only_files {
        true => usage.files(top, args.measure(), &budget),
        false => usage.listing(top, args.measure(), &budget),
    };
    let listing = listing.with_context(|| too_large(&budget))?;
    if globals.json {
        json::print(&usage, &listing, args.output.inodes, &out);
    } else if only_files && Stdout::is_terminal() && !args.output.null {
        let unit = if args.output.inodes { unit } else { unit.or(Some(Unit::Decimal)) };
        lines::print(&usage, &listing, args.measure(), unit, false, args.output.total, &out);
    } else if Stdout::is_terminal() && !args.output.null && !args.output.is_columns() {
        tree::print(&usage, &listing, args.measure(), |amount| args.shown(amount), &out);
    } else {
        lines::print(&usage, &listing, args.measure(), unit, args.output.null, args.output.total, &out);
    }
    out.finish()?;
    let (total, bytes) = (usage.total(), usage.total_bytes(args.measure()));
    let files = human::count(total.files, "file");
    let directories = match total.directories {
        1 => "1 directory".to_owned(),
        n => format!("{} directories", HumanCount(n)),
    };
    let sum = match usage.total_exclusive() {
        None if args.output.inodes => format!("{} inodes", args.shown(bytes)),
        None => args.shown(bytes),
        Some(exclusive) => {
            describe_exclusive(&exclusive, total.bytes(args.measure()), unit.unwrap_or(Unit::Decimal))
        }
    };
    let unreadable = match unreadable {
        0 => String::new(),
        n => format!("; {} unreadable (status 2)", HumanCount(n)),
    };
    let line = format!("{files}, {directories}, {sum} in {}{unreadable}", human::time(start.elapsed()));
    space::finish(&line, &file_systems, |amount| args.shown(amount), args.output.inodes, console);
    Ok(outcome)
}

/// Returns `1.2 GB of 1.9 TB exclusive, 3 files unknown`.
fn describe_exclusive(exclusive: &Exclusive, all: u128, unit: Unit) -> String {
    let known = exclusive.known().map_or_else(|| UNKNOWN.to_owned(), |bytes| unit.format(bytes));
    let unknown = match exclusive.unknown_files {
        0 => String::new(),
        n => format!(", {} unknown", human::count(n, "file")),
    };
    format!("{known} of {} exclusive{unknown}", unit.format(all))
}

impl OutputArgs {
    /// Whether an option asks for lines of numbers, as GNU du prints them.
    fn is_columns(&self) -> bool {
        self.total || self.kibibytes || self.mebibytes
    }
}

impl DuArgs {
    /// Refuses conflicts that clap cannot declare here.
    pub(crate) fn refuse_conflicts_with(&self, globals: &Globals) -> anyhow::Result<()> {
        if globals.json && self.output.format.is_some() {
            bail!("--json cannot be used with --format");
        }
        if globals.json && self.output.null {
            bail!("--json cannot be used with --null: each object is one line");
        }
        let units = [
            (self.output.human_readable, "--human-readable"),
            (self.output.kibibytes, "--kibibytes"),
            (self.output.mebibytes, "--mebibytes"),
        ];
        if let (true, Some((_, unit))) = (globals.json, units.iter().find(|(is_given, _)| *is_given)) {
            bail!("--json cannot be used with {unit}: it has bytes");
        }
        if globals.json && self.output.total {
            bail!("--json cannot be used with --total: add up the lines of the PATHs");
        }
        // `requires` of the parser has no effect next to an option that excludes --interactive.
        if self.output.quarantine.is_some() && !self.output.interactive {
            bail!("--quarantine needs --interactive");
        }
        // GNU du accepts -s with -d 0, which means the same.
        if self.output.summarize && self.selection.max_depth().is_some_and(|depth| depth > 0) {
            bail!("--summarize cannot be used with --max-depth, except 0");
        }
        let others = self.selection.clone().without_one_file_system();
        if let (true, Some(filter)) = (self.output.interactive, others.filter()) {
            bail!("--interactive cannot be used with {filter}: what it skips would go with its directory");
        }
        if self.output.interactive && self.selection.follow(Follow::Never) == Follow::Always {
            bail!("--interactive cannot be used with --follow");
        }
        if let (Some(_), Some(filter)) = (&self.output.from, self.filter()) {
            bail!("--from cannot be used with {filter}: the file has been written with its own selection");
        }
        let records = [(&self.output.from, "--from"), (&self.output.since, "--since")];
        let record = records.iter().find(|(file, _)| file.is_some()).map(|(_, option)| *option);
        if let Some(option) = record.or(self.output.exclusive.then_some("--exclusive"))
            && self.selection.follow(Follow::Never) == Follow::Always
        {
            bail!("{option} cannot be used with --follow");
        }
        Ok(())
    }

    /// Returns the first option that selects entries.
    fn filter(&self) -> Option<&'static str> {
        self.selection.clone().without_max_depth().filter()
    }

    fn measure(&self) -> Measure {
        if self.output.apparent_size { Measure::Apparent } else { Measure::Allocated }
    }

    fn depth(&self) -> Option<u32> {
        if self.output.summarize { Some(0) } else { self.selection.max_depth() }
    }

    /// Returns the number of lines. Only people get fewer than all without asking: the tree says how many it omits.
    fn top(&self) -> Option<usize> {
        let is_gnu = self.output.all || self.depth().is_some();
        self.output.top.or(if is_gnu || !Stdout::is_terminal() { None } else { Some(TOP) })
    }

    /// Formats bytes, or a number of inodes, for people.
    fn shown(&self, amount: u128) -> String {
        match (self.unit(), u64::try_from(amount)) {
            (None, Ok(inodes)) if self.output.inodes => HumanCount(inodes).to_string(),
            (None | Some(Unit::Blocks(_)), _) => Unit::Decimal.format(amount),
            (Some(unit), _) => unit.format(amount),
        }
    }

    fn unit(&self) -> Option<Unit> {
        // As in GNU du, -b also asks for bytes, and the last unit counts.
        let flags: [(char, &[&str]); 4] =
            [('b', &["bytes"]), ('h', &["human-readable"]), ('k', &["kibibytes"]), ('m', &["mebibytes"])];
        if self.output.apparent_size && CommandLine::of_process().last_flag(&flags) == Some('b') {
            return None;
        }
        let units = [
            (self.output.human_readable, Unit::Binary),
            (self.output.kibibytes, Unit::Blocks(1 << 10)),
            (self.output.mebibytes, Unit::Blocks(1 << 20)),
        ];
        units.into_iter().find(|(is_given, _)| *is_given).map(|(_, unit)| unit)
    }

    fn keep(&self) -> Keep {
        let (depth, measure) = (self.depth(), self.measure());
        Keep {
            depth,
            files: self.output.all,
            top: self.top(),
            measure,
            inodes: self.output.inodes,
            ..Keep::default()
        }
    }
}
