//! `ftk calibrate`: measures the machine and saves the results for the cost model.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ftk_hash::Platform;
use ftk_inventory::{Collect, Inventory, Keep};
use ftk_record::quote;
use ftk_sched::Constants;
use ftk_walk::Walker;

use crate::asked;
use crate::console::{Console, Outcome};
use crate::costs::{self, Costs};
use crate::globals::Globals;
use crate::stdout::Stdout;

/// Measure this machine, so that ftk chooses its workers well
///
/// This takes about four seconds; other programs should be idle. The figures are stored as JSON in $XDG_CACHE_HOME/ftk,
/// or else in ~/.cache/ftk, and apply to this CPU, this kernel and this version of ftk.
///
/// Without them, ftk uses built-in figures until it has learned better ones. Runs that hash 1,000 files or more measure
/// them too, and keep them in the same directory, at most once a day: for each figure, the median of the last 16 runs
/// counts as soon as there are five. Nothing is learned from a run that had to wait for a CPU, that failed, that used
/// --polite, --limit-rate or --cache, or whose tree contains the directory. -v and --show say which figures were
/// learned. The speed of disks is always learned, since ftk calibrate does not measure it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CalibrateArgs {
    /// Print the figures in use, without measuring
    #[arg(long)]
    show: bool,
}

const EXAMPLES: &str = "\
Exit status: 0: success; 2: any error

Examples:
  ftk calibrate           measure, store and print the figures
  ftk calibrate --show    print the figures in use";

pub(crate) const NO_CACHE_DIR: &str = "no cache directory: set XDG_CACHE_HOME or HOME to an absolute path";

pub(crate) fn run(args: &CalibrateArgs, globals: &Globals, console: &Console) -> anyhow::Result<Outcome> {
    let constants = if args.show {
        let (mut constants, is_calibrated) =
            in_use(|why| console.summary(format_args!("built-in figures: {why}")));
        let used = Costs::new(is_calibrated).apply(&mut constants, None);
        if !used.is_empty() {
            console.summary(format_args!("from earlier runs: {}", costs::list(&used)));
        }
        constants
    } else {
        let path = file().context(NO_CACHE_DIR)?;
        asked::doing(&"measuring this machine");
        let constants = measure().context("cannot measure this machine")?;
        constants.check().context("implausible measurements, try again while the machine is idle")?;
        constants.save(&path).with_context(|| {
            format!("cannot save the measurements to {}", quote(path.as_os_str().as_encoded_bytes()))
        })?;
        console.summary(format_args!("saved to {}", quote(path.as_os_str().as_encoded_bytes())));
        constants
    };
    let text = if globals.json {
        serde_json::to_value(&constants)?.to_string() + "\n"
    } else {
        constants.to_string()
    };
    Stdout::print(text.as_bytes())?;
    Ok(Outcome::Success)
}

/// Returns the saved constants and `true`, or the built-in ones and `false` if the saved file is missing or unusable.
/// `say` then receives the reason.
pub(crate) fn in_use(say: impl FnOnce(&dyn fmt::Display)) -> (Constants, bool) {
    let built_in = |why: &dyn fmt::Display| {
        say(why);
        (Constants::default(), false)
    };
    match file().map(|path| Constants::load(&path)) {
        Some(Ok(constants)) => (constants, true),
        Some(Err(error)) => built_in(&error),
        None => built_in(&NO_CACHE_DIR),
    }
}

/// Returns the path of the saved constants, or `None` if the environment names no cache directory.
fn file() -> Option<PathBuf> {
    cache_file("constants")
}

/// Returns the path of a file of ftk in the user's cache directory, or `None` if the environment names none.
pub(crate) fn cache_file(name: &str) -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("ftk").join(name))
}

fn measure() -> anyhow::Result<Constants> {
    let tree = tempfile::tempdir()?;
    make_files(tree.path())?;
    let parts = Walker::new([tree.path()]).run(|worker| Collect::new(worker, Keep::Files));
    Ok(ftk_process::calibrate(&Inventory::merge(parts)?, Platform::detect()))
}

/// Creates 4,000 files of 4 KiB, 100 per directory.
fn make_files(root: &Path) -> std::io::Result<()> {
    for dir in 0..40 {
        let dir = root.join(dir.to_string());
        fs::create_dir(&dir)?;
        (0..100).try_for_each(|file| fs::write(dir.join(file.to_string()), [7; 4096]))?;
    }
    Ok(())
}
