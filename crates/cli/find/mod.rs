//! `ftk find`: lists entries as the walk finds them or sorted, or runs commands for them.

mod colours;
mod exec;
mod explain;
mod fields;
mod format;
pub(crate) mod json;
mod lister;
mod modes;
mod parts;
mod render;
mod search;
mod sorted;
mod style;

use std::ffi::OsString;

use anyhow::bail;
use clap::Args;
use ftk_walk::Follow;

use self::exec::{Commands, Templates};
use self::format::Format;
use self::search::{Limit, Search};
use crate::args::Globals;
use crate::console::{Console, Outcome};
use crate::number::at_least;
use crate::selection::SelectionArgs;
use crate::stdout::Stdout;

/// List the entries of trees, or run commands for them
///
/// Lists every entry, hidden and ignored ones too, in arbitrary order unless --sort is given. In a pipe, and with -0, names
/// are raw bytes. On a terminal, LS_COLORS determines their colours, and control characters in them are escaped. Globs match
/// bytes: `*` matches any bytes, `?` one byte, `[a-z]` an ASCII class, `{a,b}` a or b.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = MORE_EXAMPLES)]
pub(crate) struct FindArgs {
    /// Starting points [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,

    /// Print which rules select PATH or not, instead of listing; repeatable
    ///
    /// PATH is an entry below a starting point. Each rule of the options is printed with its result, in order, and the
    /// line of an ignore file with its place. If a directory above PATH is skipped or not entered, the output names it.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    #[arg(conflicts_with_all = ["count", "format", "exec", "exec-batch"])]
    explain: Vec<OsString>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    commands: Commands,

    #[command(flatten)]
    selection: SelectionArgs,
}

/// What is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Print only the number of entries
    #[arg(short, long, conflicts_with_all = ["format", "exec", "exec-batch"])]
    count: bool,

    /// End each record with NUL instead of newline
    #[arg(short = '0', long = "null", conflicts_with_all = ["exec", "exec-batch"])]
    null: bool,

    /// Sort by the bytes of the path
    #[arg(long)]
    sort: bool,

    /// Print these fields, such as '{size} {path}'
    ///
    /// Fields of the path: {path}, {name}, {dir} (its directory), {stem} and {ext} (the name before and after its
    /// last dot), {root} (the starting point), {relative} (the path below the starting point).
    ///
    /// Fields of the entry: {type} (a letter, as for -t), {depth}, {size} (bytes), {blocks} (allocated blocks of 512
    /// bytes), {mode} (octal), {permissions} (as in `ls -l`), {uid}, {gid}, {user}, {group}, {links}, {inode},
    /// {device}, {target} (of a symbolic link).
    ///
    /// Times: {mtime}, {ctime}, {atime} (ISO 8601 in local time with its offset, such as
    /// 2026-11-21T06:34:01.000000000+01:00), {mtime_ns}, {ctime_ns}, {atime_ns} (nanoseconds since 1970).
    ///
    /// Write {{ and }} for braces. \n \t \r \0 \\ mean the same as in C. Metadata is read only for the fields that
    /// need it.
    #[arg(long, value_name = "TEXT", value_parser = Format::parse, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["exec", "exec-batch"])]
    format: Option<Format>,

    /// Stop after N entries
    ///
    /// With --sort, these are the first by path.
    #[arg(long, value_name = "N", value_parser = at_least(1_u64))]
    max_results: Option<u64>,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 1: no match (only with -q); 2: any error

Examples:
  ftk find -t f -c /srv                   the number of files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find --where 'empty or size > 1G'   an expression
  ftk find -t f -n '*.log' --exec gzip    run a command for each file
  ftk find -q -n core /var && echo found  only set the exit status";

const MORE_EXAMPLES: &str = "\
Exit status: 0: success; 1: no match (only with -q); 2: any error

Examples:
  ftk find -t f -c /srv                   the number of files
  ftk find -e jpg -e png -S +10M          large pictures
  ftk find --where 'empty or size > 1G'   an expression
  ftk find -q -n core /var && echo found  only set the exit status
  ftk find -t f --format '{size}\\t{path}' | sort -rn | head
                                          the largest files
  ftk find --json -t f /srv | jq -r 'select(.nlink > 1).path'
                                          files with several hard links
  ftk find -e flac --exec ffmpeg -i {} {.}.mp3 \\;
                                          run a command for each file
  ftk find -t f -n '*.o' --exec-batch rm  one command for all, or a few
  ftk find -t f -0 | xargs -0r wc -l      paths for other tools";

pub(crate) fn run(args: &FindArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    args.refuse_conflicts_with(globals)?;
    let own: Vec<_> = Stdout::identity().into_iter().collect();
    let selection = args.selection.compile(&own, console)?;
    let plan = if args.commands.is_empty() { None } else { Some(Templates::new(&args.commands)?) };
    let search = Search {
        roots: args.selection.starts.read(&args.paths, &[c"."])?,
        follow: args.selection.follow(Follow::Never),
        selection: &selection,
        globals,
        console,
        // With --quiet, one match decides the exit status.
        limit: if globals.quiet { Some(1) } else { args.output.max_results }.map(Limit::new),
    };
    let out = Stdout::default();
    let outcome = match plan {
        _ if !args.explain.is_empty() => explain::explain(&args.explain, &search, &out),
        _ if globals.quiet => modes::answer(&search),
        Some(plan) => modes::run_commands(&plan, args.output.sort, &search, &out)?,
        None if args.output.count => modes::count(&search, &out),
        None => modes::list(&args.output, &search, &out)?,
    };
    out.finish()?;
    Ok(outcome)
}

impl FindArgs {
    /// Refuses conflicts with global options, which clap cannot declare here.
    fn refuse_conflicts_with(&self, globals: &Globals) -> anyhow::Result<()> {
        let refused = [
            (globals.json && self.output.format.is_some(), "--json cannot be used with --format"),
            (globals.json && self.output.null, "--json cannot be used with --null: each object is one line"),
            (globals.json && !self.commands.is_empty(), "--json cannot be used with --exec or --exec-batch"),
            (
                globals.quiet && !self.commands.is_empty(),
                "--quiet cannot be used with --exec or --exec-batch",
            ),
            (globals.quiet && !self.explain.is_empty(), "--quiet cannot be used with --explain"),
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
        let OutputArgs { count, null, sort, format, max_results } = args.output;
        assert_eq!((count, null, sort, max_results), (false, true, true, Some(3)));
        assert_eq!(format, Some(Format::parse("{size}").unwrap()));
        assert!(parse(&["-c"]).unwrap().output.count && parse(&["--count"]).unwrap().output.count);
        assert!(parse(&["--null"]).unwrap().output.null);
        let list = parse(&["--format", "- {path}"]).unwrap().output.format;
        assert_eq!(list, Some(Format::parse("- {path}").unwrap()));
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
            &["--format", "{paht}"],
        ] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}
