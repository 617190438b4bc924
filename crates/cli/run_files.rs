//! The files that describe a run when it has ended: those of `--stats` and `--metrics`.

use std::io;
use std::path::{Path, PathBuf};

use ftk_record::Output;

use crate::args::Globals;
use crate::console::{Console, Outcome, cause};

/// The files of a run, created before its work: a file that cannot be created fails the run at once instead of after
/// hours of work.
#[derive(Debug)]
pub(crate) struct RunFiles {
    stats: Option<(PathBuf, Output)>,
    metrics: Option<(PathBuf, Output)>,
}

impl RunFiles {
    /// Creates the files that the options name. If that fails, prints the error and returns `None`.
    pub(crate) fn create(globals: &Globals, console: &Console) -> Option<Self> {
        if globals.stats.is_some() && globals.stats == globals.metrics {
            console.error("--stats and --metrics name the same file");
            return None;
        }
        let create = |path: &Option<PathBuf>| {
            let output = path.as_ref().map(|path| Output::create(path).map(|output| (path.clone(), output)));
            output.transpose().inspect_err(|error| say_unwritten(path.as_deref(), error, console)).ok()
        };
        Some(Self { stats: create(&globals.stats)?, metrics: create(&globals.metrics)? })
    }

    /// Whether no option names a file.
    pub(crate) fn is_empty(&self) -> bool {
        self.stats.is_none() && self.metrics.is_none()
    }

    /// Returns the device and inode number of the files, and of those that they replace. A walk skips them.
    pub(crate) fn identities(&self) -> Vec<(u64, u64)> {
        let both = [&self.stats, &self.metrics].into_iter().flatten();
        both.flat_map(|(_, output)| output.identities()).copied().collect()
    }

    /// Writes the files of a run of `command` that ended with `outcome`. Returns the outcome, which is an error if a file
    /// cannot be written.
    pub(crate) fn write(self, command: &'static str, outcome: Outcome, console: &Console) -> Outcome {
        let mut failed = false;
        let mut note = |path: &Path, written: io::Result<()>| {
            failed |= written.inspect_err(|error| say_unwritten(Some(path), error, console)).is_err();
        };
        if let Some((path, output)) = self.stats {
            note(&path, console.stats.write(output, command, outcome));
        }
        if let Some((path, output)) = self.metrics {
            note(&path, console.stats.write_metrics(output, &path, outcome));
        }
        if failed { Outcome::Error } else { outcome }
    }
}

fn say_unwritten(path: Option<&Path>, error: &io::Error, console: &Console) {
    let path = path.map_or(&[][..], |path| path.as_os_str().as_encoded_bytes());
    console.path_error("write", path, cause(error));
}
