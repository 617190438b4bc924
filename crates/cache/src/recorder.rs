//! The thread that stores new digests while the run goes on.

use std::mem;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ftk_file::{FsId, Stat};
use ftk_hash::Digest;

use crate::row::{Row, today};
use crate::store::Store;
use crate::{Content, Unusable};

/// Time between two commits. What is not committed is lost if the process is killed.
const EVERY: Duration = Duration::from_secs(5);

/// The number of rows after which a commit comes earlier: some 10 MiB of memory.
const MANY: usize = 1 << 16;

/// The number of batches of rows that workers may send before they wait for a commit: some 10 MiB of memory.
const MAX_BATCHES: usize = 1024;

/// The number of rows that may wait for a store that another process is using: some 100 MiB.
const TOO_MANY: usize = 10 * MANY;

/// What is known about a file that was read in this run.
#[derive(Clone, Debug)]
pub struct Remembered {
    pub(crate) fs: FsId,
    pub(crate) ino: u64,
    pub(crate) row: Row,
}

impl Remembered {
    /// Makes a row from the metadata that the file had when it was opened, at `read_ns` or later (nanoseconds
    /// since the epoch), and from the digests of what was read. Returns `None` if they could not be relied on
    /// later, because the file was written too recently.
    pub fn new(fs: FsId, stat: &Stat, read_ns: i128, digests: &[(Content, Digest)]) -> Option<Self> {
        Some(Self { fs, ino: stat.ino, row: Row::new(stat, read_ns, digests)? })
    }
}

/// How many digests were stored.
#[derive(Debug, Default)]
pub struct Stored {
    /// The number of files whose digests were stored.
    pub files: u64,
    /// The number of files whose digests could not be stored.
    pub lost: u64,
    /// Why they could not be stored.
    pub error: Option<Unusable>,
}

/// The thread that stores rows. Dropping this waits for it too, so that a run that ends with an error loses nothing.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// `None` tells the thread to end.
    rows: Option<SyncSender<Vec<Remembered>>>,
    /// `None` after the thread was joined.
    thread: Option<JoinHandle<Stored>>,
}

impl Recorder {
    /// Starts the thread, which opens the store for itself.
    pub(crate) fn start(path: PathBuf) -> std::io::Result<Self> {
        let (rows, received) = mpsc::sync_channel(MAX_BATCHES);
        let thread =
            thread::Builder::new().name("ftk-cache".into()).spawn(move || record(&path, &received))?;
        Ok(Self { rows: Some(rows), thread: Some(thread) })
    }

    /// Returns where workers send their rows.
    pub(crate) fn rows(&self) -> &SyncSender<Vec<Remembered>> {
        self.rows.as_ref().expect("only `finish` and `drop` clear it")
    }

    /// Waits until all rows are stored, or found impossible to store.
    pub(crate) fn finish(mut self) -> Stored {
        self.rows = None;
        let thread = self.thread.take().expect("only `finish` and `drop` clear it");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.rows = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is resumed by `finish`. Without `finish`, the run has failed already.
            let _ = thread.join();
        }
    }
}

/// Stores what is received, until all senders are gone.
fn record(path: &Path, received: &Receiver<Vec<Remembered>>) -> Stored {
    let mut recording = Recording { path, store: None, waiting: Vec::new(), stored: Stored::default() };
    // A commit is due some time after the first row that waits for it.
    let mut due: Option<Instant> = None;
    loop {
        let next = match due {
            None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => received.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        let is_end = matches!(next, Err(RecvTimeoutError::Disconnected));
        recording.waiting.extend(next.into_iter().flatten());
        let due_at = *due.get_or_insert_with(|| Instant::now() + EVERY);
        if is_end || recording.waiting.len() >= MANY || Instant::now() >= due_at {
            recording.commit();
            due = None;
        }
        if is_end {
            return recording.finish();
        }
    }
}

struct Recording<'p> {
    path: &'p Path,
    store: Option<Store>,
    waiting: Vec<Remembered>,
    stored: Stored,
}

impl Recording<'_> {
    /// Stores what waits. If another process is using the store, it goes on waiting; after any other error nothing
    /// more is stored.
    fn commit(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let can_wait = match self.stored.error {
            None => match self.try_commit() {
                Ok(()) => return self.stored.files += mem::take(&mut self.waiting).len() as u64,
                Err(Unusable::Busy) => self.waiting.len() < TOO_MANY,
                Err(error) => {
                    self.stored.error = Some(error);
                    false
                }
            },
            Some(_) => false,
        };
        if !can_wait {
            self.stored.lost += mem::take(&mut self.waiting).len() as u64;
        }
    }

    fn try_commit(&mut self) -> Result<(), Unusable> {
        // One file may have been read under several names. The last row wins, as it would one by one.
        self.waiting.sort_by_key(|it| (it.fs, it.ino));
        let store = match &mut self.store {
            Some(store) => store,
            empty => empty.insert(Store::open(self.path)?),
        };
        store.commit(&self.waiting)
    }

    fn finish(mut self) -> Stored {
        self.stored.lost += self.waiting.len() as u64;
        if self.stored.lost > 0 {
            self.stored.error.get_or_insert(Unusable::Busy);
        }
        if let (Some(store), None) = (&mut self.store, &self.stored.error) {
            // All digests are stored, so an error here only means that the store stays large until next time.
            let _ = store.trim(today());
        }
        self.stored
    }
}
