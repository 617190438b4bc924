//! `ftk find`: lists entries as the walk finds them or sorted, or runs commands for them.

mod colours;
mod exec;
mod explain;
mod fields;
mod format;
mod from;
mod group;
mod hyperlink;
pub(crate) mod json;
mod lister;
mod long;
mod modes;
mod ncdu;
mod order;
mod parts;
mod render;
mod search;
mod sorted;
mod style;
mod top;

pub(crate) use fields::Owners;

use std::ffi::OsString;

use anyhow::bail;
use clap::Args;
use ftk_select::Roots;
use ftk_walk::Follow;

use self::exec::{Commands, Templates};
use self::format::TextFormat;
use self::from::Records;
use self::group::GroupBy;
use self::order::{Order, SortKey};
use self::search::{Limit, Search};
use crate::console::{Console, Outcome};
use crate::globals::{Globals, When};
use crate::line::CommandLine;
use crate::number::at_least;
use crate::races::{Races, StrictRacesArg};
use crate::selection::SelectionArgs;
use crate::stdout::Stdout;

/// List the entries of trees, or run commands for them
///
/// Lists every entry, hidden and ignored ones too, in arbitrary order unless --sort is given. In a pipe, and with -0,
/// names are raw bytes. On a terminal, LS_COLORS determines their colours, and control characters in them are escaped.
/// Globs match bytes: `*` matches any bytes, `?` one byte, `[a-z]` an ASCII class, `{a,b}` a or b.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE_EXAMPLES)]
#[command(mut_arg("nouser", |arg| arg.hide_short_help(false)))]
#[command(mut_arg("nogroup", |arg| arg.hide_short_help(false)))]
#[command(mut_arg("exclude_from", |arg| arg.hide_short_help(false)))]
pub(crate) struct FindArgs {
    /// Starting points [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    /// List the entries of a record, not of the disk
    ///
    /// Repeatable. FILE is a manifest, a directory with the parts of all shards, JSON of ncdu, or `-` for standard
    /// input. Each PATH is another one. Nothing in the recorded tree is looked at. Paths begin with the root as it was
    /// named when it was recorded. All filters and formats work, as far as the record answers them: a test or field
    /// that it lacks, such as the time of the last access, is an error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[arg(conflicts_with_all = ["explain", "exec", "exec-batch", "files_from", "files0_from", "follow"])]
    from: Vec<OsString>,

    /// Print which rules select PATH or not, instead of listing; repeatable
    ///
    /// PATH is an entry below a starting point. Each rule of the options is printed with its result, in order, and the
    /// line of an ignore file with its place. If a directory above PATH is skipped or not entered, the output names it.
    /// With --follow, a directory that several paths lead to counts as entered under each of them.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    #[arg(conflicts_with_all = [
        "count", "format", "exec", "exec-batch", "null", "sort", "reverse", "long", "human_readable", "hyperlink",
        "group_by", "max_results",
    ])]
    explain: Vec<OsString>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    races: StrictRacesArg,

    #[command(flatten)]
    commands: Commands,

    #[command(flatten)]
    selection: SelectionArgs,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Print nothing; only set the exit status
    ///
    /// It is 0 if an entry matches, and 1 if none does. The first match ends the search.
    #[arg(long, conflicts_with_all = ["exec", "exec-batch", "explain"])]
    status: bool,

    /// Print only the number of entries
    #[arg(short, long, conflicts_with_all = ["format", "exec", "exec-batch"])]
    count: bool,

    /// End each record with NUL instead of newline
    #[arg(short = '0', long = "null", conflicts_with_all = ["exec", "exec-batch"])]
    null: bool,

    /// Sort by path, or by name, size, mtime or extension
    ///
    /// Without a value, by path. The order is ascending. Text is compared as bytes. Entries with equal keys are sorted
    /// by path.
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true, default_missing_value = "path")]
    #[arg(hide_possible_values = true)]
    sort: Option<SortKey>,

    /// Reverse the order of --sort
    #[arg(long, requires = "sort")]
    reverse: bool,

    /// Print permissions, links, owner, group, size, mtime, path, target
    ///
    /// Times are local.
    #[arg(short, long, conflicts_with_all = ["count", "format", "exec", "exec-batch"])]
    long: bool,

    /// With --long or --group-by: print sizes such as 1.5K and 234M
    #[arg(long, conflicts_with_all = ["count", "format", "exec", "exec-batch"])]
    human_readable: bool,

    /// Make paths links that a terminal can open: auto, always or never [default: never]
    ///
    /// Without a value, the same as `auto`: only on a terminal.
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true)]
    #[arg(hide_possible_values = true, default_missing_value = "auto")]
    #[arg(conflicts_with_all = ["count", "format", "exec", "exec-batch", "group_by"])]
    hyperlink: Option<When>,

    /// Print bytes, count and share of each extension, type, owner, year, depth or directory
    ///
    /// The groups with the most bytes come first, unless --sort orders them by name, size or count, ascending without
    /// --reverse. In a pipe, the columns are bytes, count, share in percent and group, separated by tabs. Bytes are
    /// sizes; directories count as 0. Extensions ignore case. The year is that of the last content change, in the local
    /// time zone. The directory is the one that contains the entry.
    #[arg(long, value_enum, value_name = "KEY", hide_possible_values = true)]
    #[arg(conflicts_with_all = ["count", "format", "exec", "exec-batch", "long"])]
    group_by: Option<GroupBy>,

    /// Print these fields, such as '{size} {path}'
    ///
    /// Fields of the path: {path}, {name}, {dir} (its directory), {stem} and {ext} (the name before and after its
    /// last dot), {root} (the starting point), {relative} (the path below the starting point).
    ///
    /// Fields of the entry: {type} (a letter, as for -t), {depth}, {size} (bytes), {blocks} (allocated blocks of 512
    /// bytes), {mode} (octal), {permissions} (as in `ls -l`), {uid}, {gid}, {user}, {group}, {links}, {inode},
    /// {device}, {target} (of a symbolic link). Names of JSON, such as {owner} and {size_bytes}, are accepted too.
    ///
    /// Times: {mtime}, {ctime}, {atime} (ISO 8601 in local time with its offset, such as
    /// 2026-11-21T06:34:01.000000000+01:00), {mtime_ns}, {ctime_ns}, {atime_ns} (nanoseconds since 1970).
    ///
    /// Write {{ and }} for braces. \n \t \r \0 \\ mean the same as in C. Metadata is read only for the fields that
    /// need it.
    #[arg(long, value_name = "TEXT", value_parser = TextFormat::parse, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["exec", "exec-batch"])]
    format: Option<TextFormat>,

    /// Print at most N entries; with --sort, the first N
    ///
    /// With --sort, the first N in that order are printed, in memory for N entries. With --group-by, prints the first N
    /// groups.
    #[arg(long, value_name = "N", value_parser = at_least(1_u64))]
    max_results: Option<u64>,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 1: no match (only with --status); 2: any error

Examples:
  ftk find -t f -c /srv                   the number of files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find --where 'empty or size > 1G'   an expression
  ftk find /srv -n '*.log' --exec gzip    run a command for each match
  ftk find --status -n core /var          only set the exit status";

const MORE_EXAMPLES: &str = "\
Exit status: 0: success; 1: no match (only with --status); 2: any error

Examples:
  ftk find -t f -c /srv                   the number of files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find --where 'empty or size > 1G'   an expression
  ftk find --status -n core /var          only set the exit status
  ftk find -t f -l --sort=size --reverse --max-results 10
                                          the largest files
  ftk find -t f --group-by extension      which kinds of files use the space
  ftk find --json -t f /srv | jq -r 'select(.nlink > 1).path'
                                          files with several hard links
  ftk find /srv -e flac --exec ffmpeg -i {} {.}.mp3 \\;
                                          run a command for each file
  ftk find . -n '*.o' --exec-batch rm     one command for all, or a few
  ftk find --from etc.jsonl --perm /6000  entries of a manifest
  ftk find -t f -0 | xargs -0r wc -l      paths for other tools";

pub(crate) fn run(args: &FindArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.refuse_conflicts_with(globals)?;
    let own: Vec<_> = Stdout::identity().into_iter().collect();
    if args.paths.is_empty() && !args.selection.starts.has_list() {
        exec::refuse_swallowed(&args.commands, CommandLine::of_process)?;
    }
    let records = match args.from.is_empty() {
        true => None,
        false => Some(Records::open(args.from.iter().chain(&args.paths).cloned(), globals, console)?),
    };
    let roots = match &records {
        Some(records) => records.roots()?,
        None => args.selection.starts.read(&args.paths, &[c"."])?,
    };
    let selection_roots = if records.is_some() { Roots::recorded(&roots) } else { Roots::new(&roots) };
    let mut selection = args.selection.compile(&selection_roots, &own, console)?;
    if let Some(records) = &records {
        selection = selection.for_records();
        records.check(&selection)?;
    }
    let plan = if args.commands.is_empty() { None } else { Some(Templates::new(&args.commands)?) };
    let search = Search {
        roots: &roots,
        records: records.as_ref(),
        follow: args.selection.follow(Follow::Never),
        selection: &selection,
        globals,
        console,
        races: Races::new(args.races, &roots),
        // With --status, one match decides the exit status.
        needs_used_rules: plan.as_ref().map(|_| args.commands.allow_unused),
        limit: match args.output.group_by {
            _ if args.output.status => Some(1),
            Some(_) => None,
            None => args.output.max_results,
        }
        .map(Limit::new),
    };
    let out = Stdout::default();
    let outcome = match plan {
        _ if !args.explain.is_empty() => explain::explain(&args.explain, &search, &selection_roots, &out),
        _ if args.output.status => modes::answer(&search)?,
        Some(plan) => modes::run_commands(&plan, args.output.order(), &search, &out)?,
        None if args.output.group_by.is_some() => modes::group(&args.output, &search, &out)?,
        None if args.output.count => modes::count(&search, &out)?,
        None => modes::list(&args.output, &search, &out)?,
    };
    out.finish()?;
    Ok(outcome)
}

impl OutputArgs {
    /// Returns the order of the output, if it is sorted.
    fn order(&self) -> Option<Order> {
        self.sort.map(|key| Order { key, reverse: self.reverse })
    }
}

impl FindArgs {
    /// Whether the exit status is the only answer.
    pub(crate) fn prints_nothing(&self) -> bool {
        self.output.status
    }

    /// Refuses conflicts with global options, which clap cannot declare here.
    pub(crate) fn refuse_conflicts_with(&self, globals: &Globals) -> anyhow::Result<()> {
        let refused = [
            (globals.json && self.output.format.is_some(), "--json cannot be used with --format"),
            (globals.json && self.output.long, "--json cannot be used with --long: it has all these members"),
            (
                globals.json && self.output.human_readable,
                "--json cannot be used with --human-readable: it has bytes",
            ),
            (globals.json && self.output.hyperlink.is_some(), "--json cannot be used with --hyperlink"),
            (
                self.output.human_readable && !self.output.long && self.output.group_by.is_none(),
                "--human-readable needs --long or --group-by",
            ),
            (globals.json && self.output.null, "--json cannot be used with --null: each object is one line"),
            (globals.json && !self.commands.is_empty(), "--json cannot be used with --exec or --exec-batch"),
            // As with other commands, --quiet would hide no result. `fd -q` prints none.
            (
                globals.quiet && !self.output.status,
                "--quiet never hides results: to print nothing and only set the exit status, use --status",
            ),
            (
                self.output.group_by.is_some()
                    && self.output.sort.is_some_and(|key| group::Order::of(key).is_none()),
                "with --group-by, groups are sorted by --sort=name, --sort=size or --sort=count",
            ),
            (
                self.output.group_by.is_none() && self.output.sort == Some(SortKey::Count),
                "--sort=count needs --group-by",
            ),
        ];
        match refused.into_iter().find(|(is_refused, _)| *is_refused) {
            Some((_, why)) => bail!(why),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        find: FindArgs,
    }

    fn parse(line: &[&str]) -> Result<FindArgs, clap::Error> {
        Alone::try_parse_from([&["alone"], line].concat()).map(|alone| alone.find)
    }

    #[test]
    fn output_options_are_parsed() {
        let args = parse(&["a", "--sort", "-0", "--format", "{size}", "--max-results", "3", "b"]).unwrap();
        assert_eq!(args.paths, ["a", "b"]);
        let OutputArgs { count, null, sort, format, max_results, .. } = args.output;
        assert_eq!((count, null, sort, max_results), (false, true, Some(SortKey::Path), Some(3)));
        assert_eq!(format, Some(TextFormat::parse("{size}").unwrap()));
        assert!(parse(&["-c"]).unwrap().output.count && parse(&["--count"]).unwrap().output.count);
        assert!(parse(&["--null"]).unwrap().output.null);
        let list = parse(&["--format", "- {path}"]).unwrap().output.format;
        assert_eq!(list, Some(TextFormat::parse("- {path}").unwrap()));
    }

    #[test]
    fn sort_never_consumes_the_next_argument() {
        let args = parse(&["--sort", "size"]).unwrap();
        assert_eq!((args.paths, args.output.sort), (vec!["size".into()], Some(SortKey::Path)));
        for (value, key) in [
            ("path", SortKey::Path),
            ("name", SortKey::Name),
            ("size", SortKey::Size),
            ("mtime", SortKey::Mtime),
            ("extension", SortKey::Extension),
        ] {
            let args = parse(&[&format!("--sort={value}"), "--reverse", "-l", "--hyperlink", "a"]).unwrap();
            assert_eq!(args.output.order(), Some(Order { key, reverse: true }));
            assert!(args.output.long && args.output.hyperlink == Some(When::Auto));
            assert_eq!(args.paths, ["a"]);
        }
    }

    #[test]
    fn conflicting_and_bad_options_are_refused() {
        for line in [
            &["-c", "--format", "{path}"][..],
            &["-c", "--exec", "a"],
            &["-c", "--exec-batch", "a"],
            &["-0", "--exec", "a"],
            &["--format", "{path}", "--exec-batch", "a"],
            &["--max-results", "0"],
            &["--reverse"],
            &["--sort=ctime"],
            &["--sort="],
            &["-l", "-c"],
            &["-l", "--format", "{path}"],
            &["--group-by", "extension", "--reverse"],
            &["--group-by", "color"],
            &["--group-by"],
            &["--hyperlink=maybe"],
            &["--explain", "a", "-0"],
            &["--explain", "a", "--sort"],
            &["--explain", "a", "-l"],
            &["--explain", "a", "--group-by", "type"],
            &["--explain", "a", "--max-results", "2"],
            &["--format", "{paht}"],
        ] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
