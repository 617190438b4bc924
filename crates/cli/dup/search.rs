//! Finds groups: walks the starting points, runs the passes of the funnel with progress, and reports
//! unreadable files.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use ftk_apply::{QUARANTINE, Sharing};
use ftk_dedup::prune::{OtherNames, Units};
use ftk_dedup::{
    Contents, DirReport, Directories, DirectoryRules, Examined, Fate, Fates, FindShared, Funnel, Groups,
    Stage, SurveyOptions, find,
};
use ftk_inventory::{Budget, FileNo, Inventory, Keep};
use ftk_process::{Failed, Report};
use ftk_record::quote;
use ftk_sched::{Team, physical_cores};
use ftk_select::{Roots, Skipped};
use ftk_walk::Follow;
use indicatif::DecimalBytes;

use crate::cache;
use crate::console::{Console, Outcome, say_failed};
use crate::dup::dirs::{DirArgs, ShareArg};
use crate::dup::options::SearchArgs;
use crate::foreign::refuse_in_search;
use crate::globals::Globals;
use crate::human;
use crate::progress::{FileCounters, WorkCounters};
use crate::rules::{AllowUnusedArg, Rules};
use crate::run::Run;
use crate::scan::too_large;
use crate::starts::refuse_nested;
use crate::stats::{Phase, nanos};

/// The result of a search.
pub(super) struct Search {
    /// The memory for tables.
    pub(super) budget: Budget,
    pub(super) inventory: Inventory,
    pub(super) groups: Groups,
    /// The content of each file, if directories are compared.
    pub(super) contents: Option<Contents>,
    /// What was decided for directories, if they are compared.
    pub(super) fates: Option<Fates>,
    /// Starting points, by their numbers.
    pub(super) roots: Vec<CString>,
    /// `Error` if something could not be listed or read.
    pub(super) outcome: Outcome,
    /// Paths that the walk could not examine.
    pub(super) unexamined: Vec<Vec<u8>>,
    /// Counts of entries that the selection skipped.
    pub(super) skipped: Skipped,
    /// The rules about files and directories. Those that matched nothing have been named.
    pub(super) rules: Rules,
    /// The directories that are never taken apart.
    pub(super) units: Rc<Units>,
    /// Files that could not be read.
    pub(super) unread: Vec<FileNo>,
    /// How many directories could not be listed.
    pub(super) unlisted: u64,
    /// The workers that examine members.
    team: Team,
    /// Finds out which blocks of a file are shared.
    shared: Box<FindShared<'static>>,
    /// The part of the summary about reused digests.
    reused: String,
    took: Duration,
}

/// Parameters of a search that a command adds to the options.
#[derive(Debug, Default)]
pub(super) struct SearchContext {
    /// Directories of `--reference`. Their numbers as starting points come before all others.
    pub(super) references: Vec<CString>,
    /// Device and inode of files and directories that the run writes to. The walk skips them.
    pub(super) own: Vec<(u64, u64)>,
    /// Whether directories are compared, even if no option of the search asks for it.
    pub(super) compares_directories: bool,
    /// Whether the inventory keeps the metadata of all entries, because the caller needs it.
    pub(super) keeps_stats: bool,
    /// For a command that acts: the search fails after the walk if a rule that protects files matched nothing.
    pub(super) needs_used_rules: Option<AllowUnusedArg>,
}

/// Walks, and compares files of the same size. Calls `before_reading` after the walk, with the files, the starting
/// points and the rules, to which it may add some.
///
/// # Errors
/// If the options conflict, the tree does not fit into the allowed memory, or `before_reading` fails.
pub(super) fn search(
    args: &SearchArgs,
    context: SearchContext,
    globals: &Globals,
    console: &Console,
    before_reading: impl FnOnce(&Inventory, &[CString], &mut Rules) -> anyhow::Result<()>,
) -> anyhow::Result<Search> {
    let sizes = args.sizes.within(&args.selection).range()?;
    refuse_in_search(&args.paths, args.selection.names())?;
    let mut run = Run::new(globals, console)?;
    let mut own = context.own;
    own.extend(run.reuse(args.cache)?);
    let compares_directories = context.compares_directories || args.dirs.is_used();
    let mut roots = context.references;
    let starts = args.selection.starts.read(&args.paths, &[c"."])?;
    if compares_directories {
        refuse_nested(&starts)?;
    }
    roots.extend(starts);
    let mut selection = args.selection.compile(&Roots::new(&roots), &own, console)?;
    if !context.keeps_stats {
        // A page also shows what uses the space.
        selection = selection.skip_directories_with(QUARANTINE);
    }

    run.start = Instant::now();
    let follow = args.selection.follow(Follow::Roots);
    let other_names = OtherNames::of(&roots, follow == Follow::Always, selection.protects());
    selection = if other_names.is_some() { selection.recording_unseen() } else { selection };
    let algorithm = args.equal.algorithm.algorithm();
    let later = Stage::max_memory_per_file(algorithm);
    let scanned = if context.keeps_stats {
        run.walk(roots.clone(), follow, &selection, Keep::Stats { files: true }, "")?
    } else if compares_directories {
        run.walk(roots.clone(), follow, &selection, Keep::Tree, "")?
    } else {
        run.walk_sizes(roots.clone(), follow, &selection, later)?
    };
    scanned.say_filtered(console);
    if context.needs_used_rules.is_some() {
        ensure_searched(&roots, &scanned.failed)?;
    }
    let (inventory, mut rules) = (scanned.inventory, scanned.rules);
    if let Some(other_names) = other_names {
        other_names.check(&inventory, &roots, &selection, scanned.unseen)?;
    }
    let units = Units::new(args.dirs.units.iter().map(|it| it.as_bytes()), &inventory, &roots)?;
    rules.extend(args.dirs.rules(units.are_used()));
    before_reading(&inventory, &roots, &mut rules)?;
    rules.say(console);
    if let Some(allow) = context.needs_used_rules {
        rules.ensure_used(allow)?;
        rules.warn_partly_used(console);
    }
    let funnel = Funnel { inventory: &inventory, algorithm, platform: run.platform, sizes: sizes.clone() };
    let mut found = find(&funnel, |stage, rows| -> anyhow::Result<Report> {
        run.budget.reserve(stage.memory()).with_context(|| too_large(&run.budget))?;
        let (phase, files) = (stage.pass.verb(), u64::from(stage.work.files()));
        let bytes = DecimalBytes(stage.bytes);
        console.verbose(|| format!("{phase:<8}{}, about {bytes}", human::count(files, "file")));
        Ok(run.process(phase, &stage.work, rows))
    })?;
    run.flush_cache();
    let team = Team::new(globals.workers().unwrap_or_else(physical_cores));
    if args.equal.verify {
        let (begun, n, counters) = (Instant::now(), found.comparisons(), FileCounters::default());
        console.progress.counted("compare", n, n < 4096, WorkCounters::Files(&counters), || {
            found.compare(team, &run.stop, &counters.files)
        });
        let elapsed_ns = nanos(begun.elapsed());
        console.stats.phase(Phase { phase: "compare", elapsed_ns, files: Some(n), ..Phase::default() });
    }
    ensure!(found.pending == 0, "internal error: {} files were not processed", found.pending);
    say_failed(&inventory, &found.failed, "not compared", console);
    let unread: Vec<_> = found.failed.iter().map(|failed| failed.file).collect();
    let contents = if compares_directories {
        let bytes = u64::from(inventory.files()) * Contents::BYTES_PER_FILE as u64
            + u64::from(inventory.dirs()) * Directories::BYTES_PER_DIR as u64;
        run.budget.reserve(bytes).with_context(|| too_large(&run.budget))?;
        Some(found.contents(&sizes))
    } else {
        None
    };
    let groups = found.into_groups();
    let reused = cache::reused(run.close_cache());
    let outcome = scanned.outcome.max(Outcome::error_if(!unread.is_empty()));
    let sharing = Sharing::default();
    Ok(Search {
        budget: run.budget.clone(),
        inventory,
        groups,
        contents,
        fates: None,
        roots,
        outcome,
        unexamined: scanned.failed,
        skipped: scanned.skipped,
        rules,
        units: units.into(),
        unread,
        unlisted: scanned.unlisted,
        team,
        shared: Box::new(move |dev, open| sharing.of(dev, open)),
        reused,
        took: run.start.elapsed(),
    })
}

/// Stops a command that acts if a starting point could not be listed, which may be a typing error. `failed`: the paths
/// of the walk that could not be examined.
///
/// # Errors
/// If there is one.
fn ensure_searched(roots: &[CString], failed: &[Vec<u8>]) -> anyhow::Result<()> {
    let failed: HashSet<_> = failed.iter().map(Vec::as_slice).collect();
    let unsearched = roots.iter().find(|root| failed.contains(root.as_bytes()));
    unsearched.map_or(Ok(()), |root| {
        bail!("{} could not be searched, so nothing was changed", quote(root.as_bytes()))
    })
}

impl Search {
    /// Returns the directories to report.
    pub(super) fn directories(&self, contents: &Contents, args: &DirArgs, share: &ShareArg) -> DirReport {
        let place = |dir| self.units.place(&self.inventory, dir);
        let rules = DirectoryRules { all: args.dirs, place: &place, names: share.names() };
        DirReport::new(&self.inventory, contents, &rules, args.is_used(), share.contained)
    }

    /// Examines the members of the groups again, those with the largest waste first. Members that have changed are
    /// omitted, and reported if there is a console.
    pub(super) fn examine<'s>(&'s self, console: Option<&'s Console>) -> Examined<'s> {
        let inventory = &self.inventory;
        let report = move |failed: &[Failed]| {
            console.iter().for_each(|it| say_failed(inventory, failed, "omitted from its group", it));
        };
        let is_in_kept = |dir, file| match &self.fates {
            Some(fates) => fates.of(dir) == Fate::Kept,
            None => self.units.contain(inventory, dir, file),
        };
        let options = SurveyOptions { team: self.team, shared: Some(&*self.shared) };
        Examined::new(inventory, &self.groups, options, is_in_kept, report)
    }

    /// Prints `scanned 291,770 files in 21.00 s, found 12,402 files in 5,310 groups; 2 files not compared
    /// (listed above; status 2)`.
    pub(super) fn say_scanned(&self, console: &Console) {
        let files = human::count(u64::from(self.inventory.files()), "file");
        let unread = human::files_and_directories(self.unread.len() as u64, self.unlisted);
        let unread =
            unread.map(|it| format!("; {it} not compared (listed above; status 2)")).unwrap_or_default();
        let totals = self.groups.totals();
        let found = match totals.groups {
            0 => String::new(),
            n => format!(", found {} in {}", human::count(totals.files, "file"), human::count(n, "group")),
        };
        console.summary(format_args!(
            "scanned {files} in {}{}{found}{unread}",
            human::time(self.took),
            self.reused
        ));
    }
}
