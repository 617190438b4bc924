//! `ftk manifest update --parity PARITY`: brings a parity file up to date with the new manifest.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Seek as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use ftk_manifest::{Header, Manifest};
use ftk_parity::{Parity, Update, UpdatePlan, Updated};
use ftk_record::{ZstdReader, quote, write_record};
use indicatif::DecimalBytes;

use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::human;
use crate::lock::Lock;
use crate::manifest::parity::{self, TreeFiles, check_algorithms, kept_manifest};
use crate::manifest::protect::{compressed, contents, packed, say_skipped};
use crate::manifest::space::Demand;
use crate::progress::{FileCounters, WorkCounters};
use crate::run::Run;
use crate::stdout::Stdout;

/// A parity file that is brought up to date.
pub(super) struct Reprotection<'p> {
    path: &'p OsStr,
    parity: Parity,
    /// The file that is written, and its lock. `None` in a dry run.
    target: Option<(fs::File, Lock)>,
}

/// The new manifest.
pub(super) enum NewManifest<'n> {
    /// It has this name.
    Written(&'n Path),
    /// A dry run wrote it here.
    Planned(BufWriter<fs::File>),
}

impl<'p> Reprotection<'p> {
    /// Opens a parity file of the tree that `old` records, and locks it unless this is a dry run.
    ///
    /// # Errors
    /// If it cannot be used or written, or if the manifest is that of one shard.
    pub(super) fn open(
        path: &'p OsStr,
        old: &Manifest,
        output: Option<&Path>,
        run: &Run<'_>,
        console: &Console,
    ) -> anyhow::Result<Self> {
        let name = || quote(path.as_bytes());
        ensure!(old.header().shard.is_none(), "--parity needs a manifest of the whole tree");
        let lock = output.map(|_| Lock::acquire(Path::new(path), console)).transpose()?;
        let parity = parity::open(path, run.budget.left())?;
        // The update has tables of the same kind.
        run.budget.reserve(3 * parity.held())?;
        check_algorithms(&parity, old, path)?;
        let open = |lock: Lock| -> anyhow::Result<_> {
            let cannot = || format!("cannot write {}", name());
            let file = fs::File::options().read(true).write(true).open(path).with_context(cannot)?;
            lock.check().with_context(name)?;
            Ok((file, lock))
        };
        Ok(Self { path, parity, target: lock.map(open).transpose()? })
    }

    /// Updates the parity file, or says what would be done.
    ///
    /// # Errors
    /// If it cannot be written. Its old state is then still valid.
    pub(super) fn update(
        self,
        root: &OsStr,
        new: NewManifest<'_>,
        run: &Run<'_>,
        globals: &Globals,
        console: &Console,
    ) -> anyhow::Result<Outcome> {
        let name = || quote(self.path.as_bytes());
        let (manifest, record) = match new {
            NewManifest::Written(path) => {
                let file = fs::File::open(path).with_context(|| quote(path.as_os_str().as_bytes()))?;
                let metadata = file.metadata()?;
                (Manifest::open(file)?, compressed(path, (metadata.dev(), metadata.ino()))?)
            }
            NewManifest::Planned(writer) => {
                let mut file = writer.into_inner()?;
                file.rewind()?;
                let record = packed(&file)?;
                file.rewind()?;
                (Manifest::open(file)?, record)
            }
        };
        let (recorded, mut outcome) = contents(run, &manifest, console)?;
        let update = Update::new(&self.parity, recorded, run.budget.left()).with_context(name)?;
        let mut sources = TreeFiles::new([root], &manifest, update.contents(), &run.budget)?;
        sources.add_former(&self.parity, &run.budget);
        let stdout = Stdout::default();
        let mut plan = update.plan(&mut sources).with_context(name)?;
        let mut report =
            Report { path: self.path, changes: update.changes(), parity: &self.parity, updated: None };
        if self.target.is_none() {
            report.print(&plan, globals, &stdout, console);
            stdout.finish()?;
        }
        if update.is_current(&plan) && keeps(&self.parity, &manifest, &record, run.budget.left()) {
            if let Some((target, _)) = &self.target {
                let len = target.metadata().with_context(name)?.len();
                let updated = Updated { plan, skipped: Vec::new(), computed: 0, lost: 0, len };
                report.updated = Some(&updated);
                report.print(&updated.plan, globals, &stdout, console);
                stdout.finish()?;
            }
            return Ok(outcome);
        }
        let mut demand = Demand::default();
        demand.add(Path::new(self.path), update.growth(&mut plan, record.len() as u64));
        demand.check("nothing was written to it")?;
        let Some((target, lock)) = &self.target else { return Ok(outcome) };
        let counters = FileCounters::default();
        let done = WorkCounters::Files(&counters);
        let spool = tempfile::tempfile().context("cannot create a temporary file")?;
        let updated = console.progress.counted("protect", plan.encoded(), false, done, || {
            update.write(&mut sources, target, &record, spool, &mut |bytes| counters.add(bytes))
        });
        let updated = updated.with_context(name)?;
        lock.check().with_context(name)?;
        let (root, json) = (root.as_bytes(), globals.json);
        outcome = outcome.max(say_skipped(&updated.skipped, &sources, root, json, &stdout, console));
        if updated.computed > 0 {
            let files = human::count(updated.computed, "damaged or missing content");
            console
                .warning(format_args!("{files} computed to be protected again: run `ftk manifest repair`"));
            outcome = outcome.max(Outcome::Negative);
        }
        if updated.lost > 0 {
            let files = human::count(updated.lost, "content");
            console.warning(format_args!("{files} lost: neither the tree nor {} has enough of them", name()));
            outcome = outcome.max(Outcome::Negative);
        }
        report.updated = Some(&updated);
        report.print(&updated.plan, globals, &stdout, console);
        stdout.finish()?;
        Ok(outcome)
    }
}

/// Returns whether a parity file has a manifest, apart from the time of the run. `record`: the manifest, compressed.
fn keeps(parity: &Parity, manifest: &Manifest, record: &[u8], memory: u64) -> bool {
    let Ok((mut compressed, kept)) = kept_manifest(parity, memory) else { return false };
    let header = Header { start_ns: manifest.header().start_ns, ..kept.header().clone() };
    header == *manifest.header()
        && compressed.rewind().is_ok()
        && has_same_lines(ZstdReader::new(compressed), ZstdReader::new(record)).unwrap_or(false)
}

/// Returns whether two manifests have the same lines, except the first and the last one.
fn has_same_lines(
    one: io::Result<ZstdReader<impl Read>>,
    other: io::Result<ZstdReader<impl Read>>,
) -> io::Result<bool> {
    let (mut one, mut other) = (BufReader::new(one?), BufReader::new(other?));
    let mut lines = [Vec::new(), Vec::new()];
    let mut is_first = true;
    loop {
        lines.iter_mut().for_each(Vec::clear);
        one.read_until(b'\n', &mut lines[0])?;
        other.read_until(b'\n', &mut lines[1])?;
        let [is_last, is_other_last] = [0, 1].map(|it| lines[it].starts_with(b"{\"footer\":"));
        if is_last || is_other_last {
            return Ok(is_last && is_other_last);
        }
        if !is_first && lines[0] != lines[1] || lines[0].is_empty() {
            return Ok(false);
        }
        is_first = false;
    }
}

/// What an update does.
struct Report<'r> {
    path: &'r OsStr,
    /// The numbers of contents that are new, and that are gone.
    changes: (u64, u64),
    parity: &'r Parity,
    updated: Option<&'r Updated>,
}

impl Report<'_> {
    fn print(&self, plan: &UpdatePlan, globals: &Globals, stdout: &Stdout, console: &Console) {
        let (added, gone) = self.changes;
        let skipped = self.updated.map_or(0, |it| it.skipped.len() as u64);
        let (added, block) = (added - skipped, self.parity.block_len());
        let (data, recovery) = plan.new_blocks();
        if globals.json {
            let mut line = Vec::new();
            write_record(&mut line, |record| {
                record.member("kind", if self.updated.is_some() { "parity" } else { "parity_plan" });
                record.path("path", self.path.as_bytes());
                record.member("added", added).member("gone", gone).member("skipped", skipped);
                record.member("encoded_bytes", plan.bytes).member("dissolved_batches", plan.dissolved);
                record.member("new_blocks", data).member("new_recovery_blocks", recovery);
                record.member("batches", plan.batches().len() as u64).member("used_share", plan.used);
                if let Some(updated) = self.updated {
                    record.member("computed", updated.computed).member("lost", updated.lost);
                    record.member("parity_bytes", updated.len);
                }
            });
            stdout.write(&line);
            return;
        }
        let word = if self.updated.is_some() { "" } else { "would be " };
        console.summary(format_args!(
            "{}: {} {word}added, {gone} gone; {} encoded, {} written; {:.0}% of the recovery blocks used up",
            quote(self.path.as_bytes()),
            human::count(added, "content"),
            DecimalBytes(plan.bytes),
            DecimalBytes(recovery * block),
            100.0 * plan.used,
        ));
    }
}
