//! `ftk hash --check`: reads checksum lists, and compares every file they name.
//!
//! In a directory, the lists are searched by their names first ([`found`]). The lists are read into a table like that
//! of a walk ([`lists`]), the files are processed like any others ([`files`]), and each line gets a verdict
//! ([`verdicts`]). With `--new` the tree is walked too ([`unlisted`]). [`bag`] checks whole bags with the same parts.

pub(super) mod bag;
mod elsewhere;
mod files;
mod found;
mod history;
pub(super) mod lists;
pub(super) mod unlisted;
mod verdict;
mod verdicts;

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ftk_record::{End, quote};
use ftk_select::Roots;
use ftk_walk::Follow;

use crate::console::{Console, Outcome};
use crate::film::FilmList;
use crate::globals::Globals;
use crate::hash::HashArgs;
use crate::hash::check::files::Files;
use crate::hash::check::found::Sources;
use crate::hash::check::lists::{FILM, ParseOptions};
use crate::hash::check::unlisted::SearchedTree;
use crate::hash::check::verdict::CheckResult;
use crate::hash::check::verdicts::{Manner, Verdicts};
use crate::hash::reading::Reading;
use crate::list::{List, named};
use crate::run::Run;
use crate::stdout::Stdout;

/// Options that need `--check`. clap cannot declare this: `requires` has no effect if another mode is given.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --check")]
pub(super) struct CheckArgs {
    /// Ignore missing files: no line, no failure
    #[arg(long)]
    ignore_missing: bool,

    /// Print nothing; only set the exit status
    ///
    /// Also with --diff. Errors are printed nevertheless.
    #[arg(long)]
    pub(super) status: bool,

    /// Fail if any line is malformed or may be cut off
    ///
    /// Without --strict, lines without a digest are only counted, and a missing line end, which may be the sign of a
    /// list that was cut off, is a warning.
    #[arg(long)]
    strict: bool,

    /// Warn about each malformed line, with its number
    #[arg(short, long)]
    warn: bool,

    /// Names are relative to DIR and do not leave it
    ///
    /// Without --check, all PATHs must be in DIR (without PATH: all of DIR), and the list has their names below it: the
    /// list `ftk hash --root dist -o dist/SHA256SUMS` can be checked in dist.
    ///
    /// With --check, absolute paths and paths with `..` are errors, and symbolic links below DIR are not followed. A
    /// check without --root resolves names in the working directory and uses them as they are.
    #[arg(long, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,

    /// Check only NAME, and fail if no list has it
    ///
    /// Repeatable. NAME is written as in the list; `./` at its start is ignored. If no list has it, the line is
    /// `NAME: NOT LISTED`, and the exit status 1.
    #[arg(long, value_name = "NAME", conflicts_with = "new", allow_hyphen_values = true)]
    only: Vec<OsString>,

    /// Also fail for files in the tree that no list names
    ///
    /// The tree is that of --root, or else of the working directory. The selection options say which files count;
    /// without --new they are errors. The lists themselves do not count.
    #[arg(long)]
    new: bool,
}

impl CheckArgs {
    /// Returns the first option that was given. `--status` is also for `--diff`, and `--root` for a new list.
    pub(super) fn given(&self, is_diff: bool, is_new_list: bool) -> Option<&'static str> {
        [
            (self.ignore_missing, "--ignore-missing"),
            (self.status && !is_diff, "--status"),
            (self.strict, "--strict"),
            (self.warn, "--warn"),
            (self.root.is_some() && !is_new_list, "--root"),
            (!self.only.is_empty(), "--only"),
            (self.new, "--new"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }
}

/// Refuses options that select files, as far as a check ignores them.
///
/// # Errors
/// If there is one.
pub(super) fn refuse_unused(args: &HashArgs) -> anyhow::Result<()> {
    let selection = &args.selection;
    if let Some(list) = selection.starts.list_option() {
        bail!(
            "{list} cannot be used with --check: the PATHs are the lists, and --only NAME checks single files of them"
        );
    }
    if args.check.new {
        return Ok(());
    }
    if let Some(option) = selection.filter() {
        bail!(
            "{option} needs --new: it selects the unlisted files to look for, while --check checks every listed file, \
             or those of --only"
        );
    }
    ensure!(
        selection.follow(Follow::Roots) == Follow::Roots,
        "--follow needs --new: --check follows links without it, and with --root it follows none"
    );
    Ok(())
}

pub(super) fn run(args: &HashArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let run = Run::new(globals, console)?;
    let own = &args.check;
    let stdin = [OsString::from("-")];
    let names = if args.paths.is_empty() { &stdin } else { &*args.paths };
    let stdout = Stdout::default();
    let out = List::create(named(args.output.as_deref()), &stdout)?;
    // A bad pattern or a missing root is refused before anything is read.
    let film_root = match own.root {
        None => FilmList::common_root(names)?,
        Some(_) => None,
    };
    let root = own.root.as_deref().or(film_root.as_deref());
    let start = [CString::new(root.unwrap_or(Path::new(".")).as_os_str().as_bytes())?];
    let selection = args.selection.compile(&Roots::new(&start), &out.own(), console)?;
    if let Some(root) = root {
        let directory = root.join(".").metadata();
        directory.with_context(|| format!("cannot open {}", quote(root.as_os_str().as_encoded_bytes())))?;
    }

    let end = if args.zero { End::Nul } else { End::Newline };
    let warn = own.warn && !own.status;
    let reading = Reading { end, algorithms: &args.algorithms(), verb: ["check", "checked"], warn };
    let confined_by = root.map(|_| if film_root.is_some() { FILM } else { "--root" });
    let options = ParseOptions { reading, root, confined_by, only: &own.only, run: &run };
    let follow = args.selection.follow(Follow::Roots);
    let Sources { sources, outcome: found } = match root {
        None => Sources::search(names, own.new, &selection, &run)?,
        Some(_) => Sources::named(names),
    };
    let found = match film_root {
        // With --new, all files of the tree must be in the lists that are named, whatever other lists say.
        Some(_) if !own.new => found.max(Sources::refuse_others(names, &selection, &run)?),
        _ => found,
    };
    let (lines, paths, is_whole) = options.read(&sources)?;
    let lack = lines.lack_of_one(&args.algorithms());
    let files = Files::read(&lines, paths, &run)?;

    let manner = Manner { args: own, is_quiet: globals.quiet, json: globals.json, end };
    let mut verdicts = Verdicts::new(manner, out, console);
    let mut outcome = found.max(Outcome::error_if(!is_whole));
    if let Some(lack) = lack {
        console.error(lack);
        outcome = Outcome::Error;
    }
    if lines.is_inconsistent {
        outcome = outcome.max(Outcome::Negative);
    }
    verdicts.of_lines(&lines, &files, names);
    if outcome == Outcome::Success {
        let not_listed = lines.only.iter().filter(|(_, is_listed)| !**is_listed);
        verdicts.without_digest(CheckResult::NotListed, not_listed.map(|(name, _)| &**name));
    }
    if own.new && !is_whole {
        console.error("cannot look for new files, since a list could not be read");
    } else if own.new {
        let [start] = start;
        let tree = SearchedTree { start, selection: &selection, follow, run: &run };
        let (new, walked) = tree.unlisted(&lines, &files)?;
        outcome = outcome.max(walked);
        verdicts.without_digest(CheckResult::New, new.iter().map(|path| &**path));
    }
    Ok(outcome.max(verdicts.finish(&lines, &files, &run)?))
}
