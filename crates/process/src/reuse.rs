//! Digests of earlier runs: they are looked up before any file is opened, and new ones are remembered.

use std::mem;
use std::sync::Mutex;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use ftk_cache::{Cache, Content, FileSystems, Remembered, Unusable};
use ftk_file::{Stat, now_ns};
use ftk_hash::Digest;
use ftk_sched::{Limits, Run, Team, lock, logical_cpus};

use crate::Work;
use crate::claims::{Order, claims};
use crate::file_systems::file_systems;
use crate::rows::Rows;

/// A worker sends what it read at the latest when it has this many files, or after this time.
const BATCH: usize = 64;
const PAUSE: Duration = Duration::from_secs(1);

/// Look-ups for fewer files than this are not worth a second thread.
const MANY: u64 = 4096;

/// The memory of a run: where digests are looked up and remembered.
#[derive(Debug)]
pub(crate) struct Reuse<'c> {
    cache: &'c Cache,
    file_systems: FileSystems,
    contents: Vec<Content>,
}

impl<'c> Reuse<'c> {
    /// Finds out on which file systems the files are.
    pub(crate) fn new(cache: &'c Cache, work: &Work<'_>) -> Self {
        let file_systems = file_systems(work.inventory);
        let contents = work.algorithms.iter().map(|&algorithm| Content { algorithm, span: work.span });
        Self { cache, file_systems, contents: contents.collect() }
    }

    /// Fills the rows of all files whose digests are known.
    ///
    /// # Errors
    /// Why the store cannot be used. The rows that were not looked up stay pending.
    pub(crate) fn look_up(&self, work: &Work<'_>, rows: &mut Rows, run: &Run<'_>) -> Result<(), Unusable> {
        let left = rows.pending();
        if left == 0 || self.file_systems.is_empty() {
            return Ok(());
        }
        let workers = match run.limits {
            _ if left < MANY => 1,
            Limits { cpus: 0, .. } => Limits { cpus: logical_cpus(), ..run.limits }.busy_workers(),
            limits => limits.busy_workers(),
        };
        let claims = claims(work, rows, workers, Order::Directory);
        let failed = Mutex::new(None);
        // These workers stay in the shared descriptor table, because the store is open in it.
        let used = Team::new(workers).run(run.stop, |_worker| {
            let mut used = Vec::new();
            let looked_up = self.cache.known().and_then(|known| {
                let (mut jobs, mut digests) = (Vec::new(), Vec::new());
                while !run.stop.is_raised() && claims.claim(&mut jobs) {
                    // Neighbouring rows of the store are on the same page.
                    jobs.sort_unstable_by_key(|job| work.inventory.ino(job.dir, job.file));
                    for job in jobs.drain(..) {
                        let Some(stat) = work.inventory.walked(job.dir, job.file) else { continue };
                        let Some(fs) = self.file_systems.id(stat.dev) else { continue };
                        if known.digests(fs, &stat, &self.contents, &mut digests, &mut used)? {
                            job.row.ok(&digests, &stat);
                        }
                    }
                }
                Ok(())
            });
            if let Err(error) = looked_up {
                lock(&failed).get_or_insert(error);
            }
            used
        });
        let used: Vec<_> = used.into_iter().flatten().collect();
        send(&self.cache.new_rows(), used);
        lock(&failed).take().map_or(Ok(()), Err)
    }

    /// Whether digests of files on this device are remembered.
    pub(crate) fn covers(&self, dev: u64) -> bool {
        self.file_systems.id(dev).is_some()
    }

    /// Prepares a worker to remember what it reads. `slots`: the largest number of files in progress.
    pub(crate) fn notes(&self, slots: usize) -> Notes<'_> {
        let (rows, sent) = (self.cache.new_rows(), Instant::now());
        Notes { reuse: self, rows, started_ns: vec![0; slots], waiting: Vec::new(), sent }
    }

    /// Makes what is remembered about a file, if its file system has an identity and its times are old enough.
    fn remembered(&self, stat: &Stat, read_ns: i128, mut digests: &[u8]) -> Option<Remembered> {
        let fs = self.file_systems.id(stat.dev)?;
        let each = self.contents.iter().map(|&content| {
            let digest =
                digests.split_off(..content.algorithm.digest_len()).expect("a digest for each algorithm");
            (content, Digest::from_bytes(digest))
        });
        Remembered::new(fs, stat, read_ns, &each.collect::<Vec<_>>())
    }

    /// Remembers one file. Reading it began at `read_ns`.
    pub(crate) fn note(&self, stat: &Stat, read_ns: i128, digests: &[u8]) {
        send(&self.cache.new_rows(), self.remembered(stat, read_ns, digests).into_iter().collect());
    }
}

/// What one worker remembers.
#[derive(Debug)]
pub(crate) struct Notes<'r> {
    reuse: &'r Reuse<'r>,
    rows: SyncSender<Vec<Remembered>>,
    /// When the file on each slot was started.
    started_ns: Vec<i128>,
    waiting: Vec<Remembered>,
    /// When `waiting` was sent last.
    sent: Instant,
}

impl Notes<'_> {
    /// A file is about to be opened on `slot`.
    pub(crate) fn start(&mut self, slot: u32) {
        self.started_ns[slot as usize] = now_ns();
    }

    /// The file on `slot` was read, and did not change.
    pub(crate) fn finish(&mut self, slot: u32, stat: &Stat, digests: &[u8]) {
        let read_ns = self.started_ns[slot as usize];
        self.waiting.extend(self.reuse.remembered(stat, read_ns, digests));
        if self.waiting.len() >= BATCH || self.sent.elapsed() > PAUSE {
            self.flush();
        }
    }

    /// Sends what was read. Must be called at the end.
    pub(crate) fn flush(&mut self) {
        self.sent = Instant::now();
        send(&self.rows, mem::take(&mut self.waiting));
    }
}

/// Sends rows to the store. An error means that the thread has ended because of a panic, which is resumed at the
/// end of the run.
fn send(rows: &SyncSender<Vec<Remembered>>, new: Vec<Remembered>) {
    if !new.is_empty() {
        let _ = rows.send(new);
    }
}
