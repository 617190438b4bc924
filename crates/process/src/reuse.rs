//! Digests of earlier runs: they are looked up before any file is opened, and new ones are remembered.

use std::mem;
use std::sync::Mutex;

use ftk_cache::{Batch, Cache, Content, FileSystems, Known, NewRows, Unusable};
use ftk_file::{Stat, Symlinks, now_ns};
use ftk_inventory::{DirNo, Inventory, Opener};
use ftk_sched::{Limits, Run, Team, lock, logical_cpus};

use crate::Work;
use crate::claims::{Job, Order, claims};
use crate::file_systems::file_systems;
use crate::rows::Rows;

/// A worker sends what it read at the latest when it has this many files, or after this time.
const BATCH: usize = 1024;
const PAUSE_NS: i128 = 1_000_000_000;

/// Look-ups for fewer files than this are not worth a second thread.
const MANY: u64 = 4096;

/// The memory of a run: where digests are looked up and remembered.
#[derive(Debug)]
pub(crate) struct Reuse<'c> {
    cache: &'c Cache,
    inventory: &'c Inventory,
    file_systems: FileSystems,
    contents: Vec<Content>,
}

impl<'c> Reuse<'c> {
    /// Finds out on which file systems the files are.
    pub(crate) fn new(cache: &'c Cache, work: &Work<'c>) -> Self {
        let file_systems = file_systems(work.inventory);
        let contents = work.algorithms.iter().map(|&algorithm| Content { algorithm, span: work.span });
        Self { cache, inventory: work.inventory, file_systems, contents: contents.collect() }
    }

    /// Fills the rows of all files whose digests are known.
    ///
    /// # Errors
    /// Why the store cannot be used. The rows that were not looked up stay pending.
    pub(crate) fn look_up(&self, work: &Work<'_>, rows: &mut Rows, run: &Run<'_>) -> Result<(), Unusable> {
        let left = rows.pending();
        if left == 0 || self.file_systems.is_empty() || self.cache.is_empty() {
            return Ok(());
        }
        let known = self.cache.known()?;
        if !self.file_systems.ids_of_contents().any(|fs| known.has_files_on(fs)) {
            return Ok(());
        }
        drop(known);
        let workers = match run.limits {
            _ if left < MANY => 1,
            Limits { cpus: 0, .. } => Limits { cpus: logical_cpus(), ..run.limits }.busy_workers(),
            limits => limits.busy_workers(),
        };
        let claims = claims(work, rows, workers, Order::Directory);
        let failed = Mutex::new(None);
        // These workers stay in the shared descriptor table, because the store is open in it.
        let used = Team::new(workers).run(run.stop, |_worker| {
            let mut used = Batch::default();
            let looked_up = self.cache.known().and_then(|known| {
                let mut look_up = LookUp::new(self, known, &mut used);
                let mut jobs = Vec::new();
                while !run.stop.is_raised() && claims.claim(&mut jobs) {
                    // Neighbouring inode numbers are in the same block of the store.
                    jobs.sort_unstable_by_key(|job| (job.dir, work.inventory.ino(job.dir, job.file)));
                    jobs.drain(..).try_for_each(|job| look_up.fill(job))?;
                }
                Ok(())
            });
            if let Err(error) = looked_up {
                lock(&failed).get_or_insert(error);
            }
            used
        });
        let rows = self.cache.new_rows();
        used.into_iter().for_each(|used| rows.send(used));
        lock(&failed).take().map_or(Ok(()), Err)
    }

    /// Whether digests of files in this directory may be remembered.
    pub(crate) fn may_cover(&self, dir: DirNo) -> bool {
        match self.inventory.has_starting_points(dir) {
            true => !self.file_systems.is_empty(),
            false => self.file_systems.id(self.inventory.device(dir)).is_some(),
        }
    }

    /// Prepares a worker to remember what it reads. `slots`: the largest number of files in progress.
    pub(crate) fn notes(&self, slots: usize) -> Notes<'_> {
        let rows = self.cache.new_rows();
        Notes { reuse: self, rows, started_ns: vec![0; slots], waiting: Batch::default(), sent_ns: now_ns() }
    }

    /// Adds what is remembered about a file, if its file system has an identity and its times are old enough.
    fn remember(&self, stat: &Stat, read_ns: i128, digests: &[u8], batch: &mut Batch) {
        if let Some(fs) = self.file_systems.of_file(stat) {
            batch.add(fs, stat, read_ns, &self.contents, digests);
        }
    }

    /// Remembers one file. Reading it began at `read_ns`.
    pub(crate) fn note(&self, stat: &Stat, read_ns: i128, digests: &[u8]) {
        let mut batch = Batch::default();
        self.remember(stat, read_ns, digests, &mut batch);
        self.cache.new_rows().send(batch);
    }
}

/// The look-ups of one worker.
struct LookUp<'r> {
    reuse: &'r Reuse<'r>,
    known: Known<'r>,
    opener: Opener<'r>,
    digests: Vec<u8>,
    used: &'r mut Batch,
}

impl<'r> LookUp<'r> {
    fn new(reuse: &'r Reuse<'r>, known: Known<'r>, used: &'r mut Batch) -> Self {
        Self { reuse, known, opener: Opener::new(reuse.inventory), digests: Vec::new(), used }
    }

    /// Fills the row of a file if its digests are known, and the caller may read the file. Permissions may have been
    /// withdrawn since the digests were stored: then reading the file reports the error.
    fn fill(&mut self, job: Job<'_>) -> Result<(), Unusable> {
        let Some(stat) = self.stat(&job)? else { return Ok(()) };
        let Some(fs) = self.reuse.file_systems.of_file(&stat) else { return Ok(()) };
        if self.known.digests(fs, &stat, &self.reuse.contents, &mut self.digests, self.used)?
            && self.opener.may_read(job.dir, job.file)
        {
            job.row.ok(&self.digests, &stat);
        }
        Ok(())
    }

    /// Returns the metadata of a file. Returns `None` if the file is not known, or if its metadata cannot be read: then
    /// reading the file reports why.
    fn stat(&mut self, job: &Job<'_>) -> Result<Option<Stat>, Unusable> {
        let (inventory, &Job { dir, file, .. }) = (self.reuse.inventory, job);
        if inventory.has_times() {
            return Ok(inventory.walked(dir, file));
        }
        // The listing has the inode number, so files that are not known cost no system call. For a followed link it has
        // that of the link, and for a file that is mounted over another that of the other: such a file is read.
        let is_listed =
            !inventory.has_starting_points(dir) && inventory.symlinks(dir, file) == Symlinks::NoFollow;
        if is_listed {
            let Some(fs) = self.reuse.file_systems.of_contents(inventory.device(dir)) else {
                return Ok(None);
            };
            if !self.known.has(fs, inventory.ino(dir, file))? {
                return Ok(None);
            }
        }
        let stat = self.opener.stat_file_with(dir, file, job.row.birth());
        Ok(stat.ok().filter(Stat::is_regular))
    }
}

/// What one worker remembers.
#[derive(Debug)]
pub(crate) struct Notes<'r> {
    reuse: &'r Reuse<'r>,
    rows: NewRows,
    /// When the file on each slot was started.
    started_ns: Vec<i128>,
    waiting: Batch,
    /// When `waiting` was sent last.
    sent_ns: i128,
}

impl Notes<'_> {
    /// A file is about to be opened on `slot`.
    pub(crate) fn start(&mut self, slot: u32) {
        let now_ns = now_ns();
        self.started_ns[slot as usize] = now_ns;
        self.flush_if_due(now_ns);
    }

    /// The file on `slot` was read, and did not change.
    pub(crate) fn finish(&mut self, slot: u32, stat: &Stat, digests: &[u8]) {
        let read_ns = self.started_ns[slot as usize];
        self.reuse.remember(stat, read_ns, digests, &mut self.waiting);
        if self.waiting.len() >= BATCH {
            self.flush();
        }
    }

    /// Sends what was read if the last time was long ago. Must be called now and then while a file is read.
    pub(crate) fn flush_if_due(&mut self, now_ns: i128) {
        // A clock that was set back makes the next batch due at once.
        if !(0..PAUSE_NS).contains(&(now_ns - self.sent_ns)) {
            self.flush();
            self.sent_ns = now_ns;
        }
    }

    /// Sends what was read. Must be called at the end.
    pub(crate) fn flush(&mut self) {
        self.rows.send(mem::take(&mut self.waiting));
    }
}
