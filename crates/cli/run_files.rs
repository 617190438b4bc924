//! The files that describe a run when it has ended: those of `--stats`, `--metrics` and `--log`.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ftk_record::Output;

use crate::console::{Console, Outcome, cause};
use crate::globals::Globals;
use crate::list::{cannot_write, named};
use crate::run_log::RunLog;
use crate::stdout::Stdout;

/// The files of a run, created before its work: a file that cannot be created fails the run at once instead of after
/// hours of work.
#[derive(Debug)]
pub(crate) struct RunFiles {
    stats: Option<RunFile>,
    metrics: Option<RunFile>,
    log: Option<RunLog>,
}

/// A file, or standard output if `output` is `None`.
#[derive(Debug)]
struct RunFile {
    path: PathBuf,
    output: Option<Output>,
}

impl RunFiles {
    /// Creates the files that the options name. If that fails, prints the error and returns `None`.
    pub(crate) fn create(globals: &Globals, console: &Console) -> Option<Self> {
        let create = |path: &Option<PathBuf>| {
            let Some(path) = path else { return Some(None) };
            let output = named(Some(path)).map(Output::create).transpose();
            let say =
                |error: &_| console.path_error("write", path.as_os_str().as_encoded_bytes(), cause(error));
            let output = output.inspect_err(say).ok()?;
            Some(Some(RunFile { path: path.clone(), output }))
        };
        let log = globals.log.as_deref().map(RunLog::open).transpose();
        let log = log.map_err(|error| console.fatal(&error)).ok()?;
        Some(Self { stats: create(&globals.stats)?, metrics: create(&globals.metrics)?, log })
    }

    /// Whether no option names a file.
    pub(crate) fn is_empty(&self) -> bool {
        self.stats.is_none() && self.metrics.is_none() && self.log.is_none()
    }

    /// Returns the device and inode number of the files, and of those that they replace. A walk skips them.
    pub(crate) fn identities(&self) -> Vec<(u64, u64)> {
        let outputs =
            [&self.stats, &self.metrics].into_iter().flatten().filter_map(|file| file.output.as_ref());
        let log = self.log.iter().filter_map(RunLog::identity);
        outputs.flat_map(Output::identities).copied().chain(log).collect()
    }

    /// Writes the files of a run of `command` that ended with `outcome`. Returns the outcome, which is an error if a
    /// file cannot be written.
    pub(crate) fn write(self, command: &'static str, outcome: Outcome, console: &Console) -> Outcome {
        let stats = self.stats.map(|file| file.write(|out, _| console.stats.write(out, command, outcome)));
        let metrics = self.metrics.map(|file| {
            file.write(|out, path| {
                console.stats.write_metrics(out, path, outcome);
                Ok(())
            })
        });
        let log = self.log.map(|log| log.append(&console.stats, outcome).context("cannot append to the log"));
        let errors = [stats, metrics, log].into_iter().flatten().filter_map(Result::err);
        errors.fold(outcome, |_, error| console.fatal(&error))
    }
}

impl RunFile {
    /// Writes the text that `push` appends, and gives the file its name.
    fn write(self, push: impl FnOnce(&mut Vec<u8>, &Path) -> io::Result<()>) -> anyhow::Result<()> {
        let Self { path, output } = self;
        let mut text = Vec::new();
        push(&mut text, &path)?;
        let Some(mut output) = output else { return Stdout::print(&text) };
        output.write_all(&text).and_then(|()| output.commit()).with_context(|| cannot_write(Some(&path)))
    }
}
