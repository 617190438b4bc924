//! Walks the tree of a manifest within its scope, and reads its files.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use ftk_hash::{Algorithm, Platform};
use ftk_inventory::{Budget, FileNo, Inventory, Keep};
use ftk_process::{Failed, Progress, Rows, Work, process};
use ftk_read::{Failure, Span};
use ftk_record::quote;
use ftk_sched::Stop;
use ftk_walk::Follow;
use indicatif::HumanCount;

use crate::args::Globals;
use crate::console::{Console, cause};
use crate::engine::Engine;
use crate::failed::say_failed;
use crate::human;
use crate::manifest::scope::ScopeArgs;
use crate::scan::{Scan, scan, too_large, walker};
use crate::simd;

/// Walks the tree of a manifest and reads its files. `create`, `update` and `verify` share it.
pub(super) struct Surveyor<'c> {
    engine: Engine<'c>,
    platform: Platform,
    pub(super) budget: Budget,
    globals: &'c Globals,
    console: &'c Console,
    start: Instant,
}

/// The result of reading files.
pub(super) struct Read {
    pub(super) rows: Rows,
    /// Files and bytes, including failed ones.
    pub(super) done: Progress,
    /// Files that could not be read completely, sorted by number.
    pub(super) failed: Vec<Failed>,
}

impl<'c> Surveyor<'c> {
    pub(super) fn new(globals: &'c Globals, console: &'c Console) -> anyhow::Result<Self> {
        Ok(Self {
            engine: Engine::new(globals, console)?,
            platform: simd::platform()?,
            budget: Budget::new(globals.memory()),
            globals,
            console,
            start: Instant::now(),
        })
    }

    /// Walks `root`, following it if it is a link. `own`: device and inode of files to skip.
    ///
    /// # Errors
    /// If `root` is not a directory, or the tree does not fit into the allowed memory.
    pub(super) fn walk(
        &self,
        root: &OsStr,
        scope: &ScopeArgs,
        keep: Keep,
        own: &[(u64, u64)],
    ) -> anyhow::Result<Scan> {
        let name = || quote(root.as_bytes());
        let metadata = Path::new(root).metadata().with_context(|| format!("cannot open {}", name()))?;
        ensure!(metadata.is_dir(), "{} is not a directory", name());
        let selection = scope.compile(own, self.console)?;
        let walker = walker(vec![CString::new(root.as_bytes())?], Follow::Roots, self.globals);
        scan(walker, &selection, keep, &self.budget, self.console)
    }

    /// Reads the files of `only`, or all of them for `None`, and reports those that fail. `so` is the
    /// consequence for these.
    pub(super) fn read(
        &self,
        inventory: &Inventory,
        only: Option<&[FileNo]>,
        algorithms: &[Algorithm],
        so: &str,
    ) -> anyhow::Result<Read> {
        let work = Work { inventory, algorithms, platform: self.platform, only, span: Span::Whole };
        let files = work.files();
        let row = (Rows::bytes_per_file(algorithms) + Rows::BYTES_PER_STAT) as u64;
        self.budget.reserve(u64::from(files) * row).with_context(|| too_large(&self.budget))?;
        let mut rows = Rows::with_stats(files, algorithms);
        if files == 0 {
            return Ok(Read { rows, done: Progress::default(), failed: Vec::new() });
        }
        let (engine, stop) = (&self.engine, Stop::new());
        let report =
            engine.watch("hash", files, |watch| process(&work, &mut rows, &engine.resources(&stop, watch)));
        engine.say_plan(&work, &report, self.console);
        say_failed(inventory, &report.failed, so, self.console);
        let pending = (0..files).filter(|&row| rows.is_pending(row)).count();
        if pending > 0 {
            bail!("internal error: {pending} files were not processed");
        }
        Ok(Read { rows, done: report.done, failed: report.failed })
    }

    /// Prints the last line of the summary: entries, bytes, time and rate.
    pub(super) fn say_done(&self, entries: u64, done: Progress, failed: u64, algorithms: &[Algorithm]) {
        let noun = if entries == 1 { "entry" } else { "entries" };
        let entries = format!("{} {noun}", HumanCount(entries));
        let took = self.start.elapsed();
        if done.files == 0 {
            return self.console.summary(format_args!("{entries} in {}", human::time(took)));
        }
        let what = format!("{entries}, {} read", human::count(done.files - failed, "file"));
        let how: Vec<_> = algorithms.iter().map(|it| it.name()).collect();
        self.engine.say_done(&what, done, took, &how.join(" + "), self.console);
    }
}

impl Read {
    /// Returns why a file could not be read, or `None` if it was read.
    pub(super) fn why(&self, file: FileNo) -> Option<String> {
        let at = self.failed.binary_search_by_key(&file, |failed| failed.file).ok()?;
        Some(match &self.failed[at].failure {
            Failure::Io { source, .. } => cause(source),
            Failure::NotRegular => "it is no longer a regular file".into(),
            _ => "it changed while being read".into(),
        })
    }
}
