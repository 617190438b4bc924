//! Figures for the cost model that runs leave for later runs.

use std::cell::{OnceCell, RefCell};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ftk_hash::Algorithm;
use ftk_inventory::{DirNo, Inventory};
use ftk_process::{Report, Work, file_system};
use ftk_read::Span;
use ftk_sched::{Constants, Learned, MEASURED_JOBS, Model, Used, logical_cpus};

use crate::calibrate::cache_file;
use crate::run::Run;

/// What earlier runs measured. It is loaded when a run has many files; others use the constants as they are.
#[derive(Debug)]
pub(crate) struct Costs {
    is_calibrated: bool,
    learned: OnceCell<Option<RefCell<Learned>>>,
}

impl Costs {
    /// `is_calibrated`: whether the constants of the run are those of `ftk calibrate`.
    pub(crate) fn new(is_calibrated: bool) -> Self {
        Self { is_calibrated, learned: OnceCell::new() }
    }

    fn learned(&self) -> Option<&RefCell<Learned>> {
        self.learned.get_or_init(|| file().map(|path| RefCell::new(Learned::load(&path)))).as_ref()
    }

    /// Replaces constants by what earlier runs on this file system measured, or on all of them for `None`.
    pub(crate) fn apply(&self, constants: &mut Constants, place: Option<&str>) -> Vec<Used> {
        let apply = |learned: &RefCell<Learned>| learned.borrow().apply(constants, self.is_calibrated, place);
        self.learned().map_or_else(Vec::new, apply)
    }

    /// Returns the model for this work with the figures of earlier runs, and the file system of its files. `None` if it
    /// has few files.
    pub(crate) fn model(&self, run: &Run<'_>, work: &Work<'_>) -> Option<(Model, Option<String>)> {
        if u64::from(work.files()) < MEASURED_JOBS {
            return None;
        }
        let place = file_system(work.inventory);
        let mut constants = run.model.constants().clone();
        let used = self.apply(&mut constants, place.as_deref());
        if !used.is_empty() {
            run.console.verbose(|| format!("costs   from earlier runs: {}", list(&used)));
        }
        Some((Model::new(constants), place))
    }

    /// Keeps what this run measured, if that is due and the run was an ordinary one. `place` is its file system.
    ///
    /// A figure that cannot be kept is no error. The tree of the run is never changed: if it contains the file, nothing
    /// is kept.
    pub(crate) fn keep(
        &self,
        run: &Run<'_>,
        model: &Model,
        place: Option<&str>,
        work: &Work<'_>,
        report: &Report,
    ) {
        let globals = run.globals;
        let is_ordinary = report.failed.is_empty()
            && !run.stop.is_raised()
            && !(globals.polite || globals.limit_rate.is_some() || run.has_cache())
            && work.span == Span::Whole
            && work.prefix.is_none();
        if !is_ordinary || report.plan.small_phase.or(report.plan.large_phase).is_none() {
            return;
        }
        let kernel = |it: &Algorithm| format!("{it}/{}", it.kernel_name(work.platform));
        let kernel = if let [only] = work.algorithms { Some(kernel(only)) } else { None };
        let figures = model.figures(&report.plan, logical_cpus(), kernel.as_deref());
        if !figures.is_empty()
            && let (Some(learned), Some(path)) = (self.learned(), file())
            && learned.borrow().is_due()
            && is_ours(&path, work.inventory)
        {
            _ = learned.borrow_mut().add(place, &figures);
        }
    }
}

/// Returns the path of the file, or `None` if the environment names no cache directory.
fn file() -> Option<PathBuf> {
    cache_file("learned")
}

/// Lists figures with the number of runs that measured them.
pub(crate) fn list(used: &[Used]) -> String {
    let one = |Used { figure, runs }: &Used| format!("{} {} ({runs} runs)", figure.name, figure.value);
    used.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether the directory of the file, or the first one above it that exists, belongs to this user, and none of them is
/// one of the tree.
fn is_ours(path: &Path, tree: &Inventory) -> bool {
    let above: Vec<_> = path.ancestors().skip(1).filter_map(|dir| fs::metadata(dir).ok()).collect();
    let in_tree = |dir| above.iter().any(|above| (above.dev(), above.ino()) == tree.identity_of_dir(dir));
    above.first().is_some_and(|nearest| nearest.uid() == rustix::process::geteuid().as_raw())
        && !(0..tree.dirs()).map(DirNo).filter(|dir| !tree.has_starting_points(*dir)).any(in_tree)
}
