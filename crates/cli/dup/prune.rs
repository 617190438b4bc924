//! `ftk dup prune`: plans what to do with surplus copies, writes the plan as a script, or carries it out.

use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::builder::StyledStr;
use clap::{Arg, Args};
use ftk_apply::{Action, Journal};
use ftk_dedup::prune::{References, root_lens, scanned_members, scanned_probes};
use ftk_dedup::report::Group;
use ftk_dedup::{DirectoryRules, Names};
use ftk_record::{quote, shell_word};

use crate::console::{Console, Outcome};
use crate::dup::act::Job;
use crate::dup::action::ActionArgs;
use crate::dup::ask::{ask, confirm, require_terminal};
use crate::dup::dirs::say_partial;
use crate::dup::keep::{KeepArgs, below};
use crate::dup::options::SearchArgs;
use crate::dup::preflight::preflight;
use crate::dup::search::{SearchContext, search};
use crate::globals::Globals;
use crate::journal;
use crate::rules::Rules;
use crate::stdout::Stdout;

/// Link, clone, move or delete surplus copies (needs --yes)
///
/// Without --yes, ftk only prints a plan. With --yes, ftk checks right before each step that both files are those of
/// the scan, that no symbolic link leads to them, and that they are identical byte by byte. A copy is not replaced by a
/// link if its owner, permissions or extended attributes differ from those of the kept file. If a check fails, the file
/// keeps its name and content, is listed with the reason, and the exit status is 2.
///
/// With --dirs, whole directories are pruned first: each file is compared with its counterpart and handled on its own,
/// then the empty directories are removed. If an entry has no equal counterpart, the directory stays.
///
/// At least one copy of every content stays, and it is never a symbolic link. Every step is written to a journal
/// before it is done, and `ftk undo` can undo it: a deleted file as long as a kept copy is unchanged. SIGINT and
/// SIGTERM end the run between two steps. With --quiet, --yes prints only problems and the command that undoes the run.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// A command that acts has no default for what it acts on.
#[command(mut_arg("paths", |paths| without_default(paths).required_unless_present_any(["files_from", "files0_from"])))]
pub(super) struct PruneArgs {
    #[command(flatten)]
    act: ActionArgs,

    /// Ask about each group on the terminal
    ///
    /// ftk lists the copies with sizes, dates and what each rule would keep. Answer with the numbers of the copies to
    /// keep, `all`, `skip` to leave the group as it is, `stop` to ask no more, or only Enter for what the rules keep.
    /// Then ftk prints the plan and asks whether to carry it out; with --yes it does so at once.
    #[arg(long, help_heading = "Kept files", conflicts_with = "list")]
    ask: bool,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    search: SearchArgs,
}

/// Removes the default from the help of an argument.
fn without_default(argument: Arg) -> Arg {
    let strip = |help: Option<&StyledStr>| {
        help.map(ToString::to_string).unwrap_or_default().replace(" [default: .]", "")
    };
    let (short, long) = (strip(argument.get_help()), strip(argument.get_long_help()));
    argument.help(short).long_help(long)
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error, or a step was refused

Examples:
  ftk dup prune --action hardlink ~/Pictures         print the plan
  ftk dup prune --action hardlink ~/Pictures --yes   carry it out
  ftk dup prune --action delete --dirs --reference ~/archive ~/inbox";

pub(super) fn run(args: &PruneArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let action = args.act.action()?;
    ensure!(
        action != Action::Symlink || !args.search.dirs.is_used(),
        "--action symlink works on single files only: choose another action for directories"
    );
    ensure!(
        !args.ask || args.act.with_sidecars.is_empty(),
        "--ask decides about each file on its own, so it does not work with --with-sidecars"
    );
    ensure!(!args.ask || !args.search.dirs.is_used(), "--ask works on single files only, not on directories");
    ensure!(
        args.search.sizes.min_size.is_some() || !args.search.selection.is_empty(),
        "--empty needs --min-size 0 here: empty files are equal, but each may be needed (`ftk dup --empty` lists them)"
    );
    let starts = args.keep.references.iter().map(directory).collect::<anyhow::Result<_>>()?;
    let directories = below(&args.keep.references).context("cannot resolve a --reference directory")?;
    let mut references = References { directories, ..References::default() };
    let one_per = args.keep.one_per()?;
    if args.ask {
        require_terminal(&args.act, globals)?;
    }
    // With --ask, the journal is created after the last question.
    let journal = if args.ask { None } else { journal_of(&args.act, console)? };
    let own = Stdout::identity().into_iter();
    let own = own
        .chain(journal.iter().map(|(journal, _)| journal.identity()))
        .chain(args.act.own_directories(&args.search.paths));
    let acts = args.act.acts() || args.ask;
    let context = SearchContext {
        references: starts,
        own: own.collect(),
        needs_used_rules: acts.then_some(args.act.allow_unused),
        ..SearchContext::default()
    };
    let mut search = search(&args.search, context, globals, console, |inventory, roots, rules| {
        let has_tree = roots.iter().any(|root| Path::new(OsStr::from_bytes(root.as_bytes())).is_dir());
        let used = [&references.directories, &one_per].map(|it| it.have_files(inventory));
        rules.extend(args.keep.place_rules(&used[0], &used[1], has_tree));
        references.protect_roots(roots);
        preflight(
            &scanned_probes(inventory, &references.roots),
            &root_lens(roots),
            &action,
            &args.act,
            console,
        )
    })?;
    search.say_scanned(console);
    let units = search.units.clone();
    let is_unit = Box::new(move |path: &Path| units.is_above(path));
    let (act, keep, roots) = (&args.act, &args.keep, search.roots.clone());
    let mut job = Job::new(action, act, keep, roots, references, Some(is_unit), globals.json)?;
    let (mut directories, mut fates) = (Vec::new(), None);
    if let Some(contents) = search.contents.take() {
        let place = |dir| search.units.place(&search.inventory, dir);
        let rules = DirectoryRules { all: args.search.dirs.dirs, place: &place, names: Names::Compared };
        let planned = job.pruning.scanned_directories(&search.inventory, &contents, &rules);
        say_partial(planned.partial, console);
        (directories, fates) = (planned.items, Some(planned.fates));
    }
    let members = scanned_members(&search.inventory, &search.groups);
    let members = members.chain(directories.iter().map(|item| item.member.clone()));
    let path_rules = args.keep.path_rules(&job.pruning.rules, members);
    let rules = Rules::of(path_rules.clone());
    rules.say(console);
    if acts {
        rules.ensure_used(args.act.allow_unused)?;
    }
    job.rules = std::mem::take(&mut search.rules);
    job.rules.extend(path_rules);
    if let Some(fates) = fates {
        search.groups = search.groups.outside(&search.inventory, &fates, true);
        search.fates = Some(fates);
    }
    let totals = search.groups.totals();
    job.most = totals.files - totals.groups;
    let is_planned = !acts && totals.groups + directories.len() as u64 > 0;
    let mut examined = search.examine(Some(console));
    let outcome = if args.ask {
        let groups = ask(&mut examined.groups(), totals.groups, &mut job.pruning)?;
        run_asked(&groups, &mut job, console)?
    } else {
        job.run(directories, &mut examined.groups(), journal, console)?
    };
    if let [a, b] = &args.search.paths[..]
        && is_planned
        && !args.keep.tells_places_apart()
    {
        let [a, b] = [a, b].map(|path| shell_word(path.as_bytes()));
        console.summary(format_args!("{a} and {b} are treated alike: --reference {a} keeps all of {a}"));
    }
    say_kept_paths(&args.search.paths, &args.keep.references, console);
    Ok(outcome.max(Outcome::error_if(examined.has_failed())).max(search.outcome))
}

/// Says which PATHs are below a reference, so that all their files are kept.
fn say_kept_paths(paths: &[OsString], references: &[OsString], console: &Console) {
    let resolve = |path: &OsString| fs::canonicalize(path).ok();
    for path in paths {
        let Some(resolved) = resolve(path) else { continue };
        let is_above = |dir: &&OsString| resolve(dir).is_some_and(|dir| resolved.starts_with(dir));
        let Some(dir) = references.iter().find(is_above) else { continue };
        let (shown, above) = (quote(path.as_bytes()), quote(dir.as_bytes()));
        console.summary(format_args!("{shown} is below --reference {above}: all its files are kept"));
        if resolve(dir).is_some_and(|dir| dir != resolved) {
            let [dir, path] = [dir, path].map(|path| shell_word(path.as_bytes()));
            console.summary(format_args!(
                "to remove copies in it only: --isolate --keep argument {dir} {path}, without --reference"
            ));
        }
    }
}

/// Prints the plan for the groups that the user decided about. Carries it out if the user agrees.
fn run_asked(groups: &[Group], job: &mut Job<'_>, console: &Console) -> anyhow::Result<Outcome> {
    let plan = job.run(Vec::new(), &mut groups.iter().cloned(), None, console)?;
    if job.act.script || groups.is_empty() || !(job.act.yes || confirm()?) {
        return Ok(plan);
    }
    job.most = groups.iter().map(|group| group.members.len() as u64 - 1).sum();
    let journal = create_journal(job.act, console)?;
    job.run(Vec::new(), &mut groups.iter().cloned(), Some(journal), console)
}

/// Creates the journal if the plan is to be carried out, and prints its path before anything else.
pub(super) fn journal_of(act: &ActionArgs, console: &Console) -> anyhow::Result<Option<(Journal, PathBuf)>> {
    act.yes.then(|| create_journal(act, console)).transpose()
}

fn create_journal(act: &ActionArgs, console: &Console) -> anyhow::Result<(Journal, PathBuf)> {
    let (journal, path) = journal::create("dup", act.journal.as_deref())?;
    console.summary(format_args!("journal: {}", quote(path.as_os_str().as_bytes())));
    Ok((journal, path))
}

/// Checks that a reference is a directory. A mistyped name would protect nothing.
fn directory(path: &OsString) -> anyhow::Result<CString> {
    let shown = || quote(path.as_bytes());
    let metadata = fs::metadata(path).with_context(|| format!("cannot open the reference {}", shown()))?;
    ensure!(metadata.is_dir(), "the reference {} is not a directory", shown());
    Ok(CString::new(path.as_bytes())?)
}
