//! `ftk hash --check`: reads checksum lists, and compares every file they name.
//!
//! The lists are read into a table like that of a walk ([`lists`]), the files are processed like any
//! others ([`files`]), and each line gets a verdict ([`verdicts`]). With `--new` the tree is walked too ([`unlisted`]).
//! [`bag`] checks whole bags with the same parts.

pub(super) mod bag;
mod elsewhere;
mod files;
mod lists;
mod unlisted;
mod verdict;
mod verdicts;

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use ftk_record::{End, quote};
use ftk_select::Roots;
use ftk_walk::Follow;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::check::files::Files;
use crate::hash::check::lists::ParseOptions;
use crate::hash::check::unlisted::SearchedTree;
use crate::hash::check::verdicts::{Manner, Verdicts};
use crate::hash::reading::Reading;
use crate::list::{List, named};
use crate::run::Run;
use crate::stdout::Stdout;

/// Options that need `--check`.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --check")]
pub(super) struct CheckArgs {
    /// Ignore missing files: no line, no failure
    #[arg(long, requires = "check")]
    ignore_missing: bool,

    /// Print nothing; only set the exit status
    #[arg(long, requires = "check")]
    status: bool,

    /// Fail if any line is malformed or may be cut off
    ///
    /// Without --strict, lines without a digest are only counted, and a missing line end, which may be the sign of a
    /// list that was cut off, is a warning.
    #[arg(long, requires = "check")]
    strict: bool,

    /// Warn about each malformed line, with its number
    #[arg(short, long, requires = "check")]
    warn: bool,

    /// Resolve paths in DIR; reject paths that lead out of it
    ///
    /// Absolute paths and paths with `..` are errors, and symbolic links below DIR are not followed. Without --root,
    /// paths are relative to the working directory and used as they are.
    #[arg(long, value_name = "DIR", requires = "check")]
    root: Option<PathBuf>,

    /// Also fail for files in the tree that no list names
    ///
    /// The tree is that of --root, or else of the working directory. The selection options say which files count;
    /// without --new they are errors. The lists themselves do not count.
    #[arg(long, requires = "check")]
    new: bool,
}

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let run = Run::new(globals, console)?;
    let own = &args.check;
    if !own.new
        && let Some(option) = args.selection.filter()
    {
        bail!(
            "{option} needs --new: it selects the unlisted files to look for, while --check checks every listed file"
        );
    }
    let stdin = [OsString::from("-")];
    let names = if args.paths.is_empty() { &stdin } else { &*args.paths };
    let stdout = Stdout::default();
    let out = List::create(named(args.output.as_deref()), &stdout)?;
    // A bad pattern or a missing root is refused before anything is read.
    let root = own.root.as_deref();
    let start = [CString::new(root.unwrap_or(Path::new(".")).as_os_str().as_bytes())?];
    let selection = args.selection.compile(&Roots::new(&start), &out.own(), console)?;
    if let Some(root) = root {
        let directory = root.join(".").metadata();
        directory.with_context(|| format!("cannot open {}", quote(root.as_os_str().as_encoded_bytes())))?;
    }

    let end = if args.zero { End::Nul } else { End::Newline };
    let warn = own.warn && !own.status;
    let reading = Reading { end, algorithms: &args.algorithms, verb: ["check", "checked"], warn };
    let (lines, paths, is_whole) = ParseOptions { reading, root, run: &run }.read(names)?;
    let files = Files::read(&lines, paths, root.map(|_| "--root"), &run)?;

    let manner = Manner { args: own, is_quiet: globals.quiet, json: globals.json, end };
    let mut verdicts = Verdicts::new(manner, out, console);
    let mut outcome = if is_whole { Outcome::Success } else { Outcome::Error };
    verdicts.of_lines(&lines, &files);
    if own.new && !is_whole {
        console.error("cannot look for new files, since a list could not be read");
    } else if own.new {
        let [start] = start;
        let tree = SearchedTree {
            start,
            selection: &selection,
            follow: args.selection.follow(Follow::Roots),
            run: &run,
        };
        let (new, walked) = tree.unlisted(&lines, &files)?;
        outcome = outcome.max(walked);
        verdicts.of_new(&new);
    }
    Ok(outcome.max(verdicts.finish(&lines, &files, &run)?))
}
