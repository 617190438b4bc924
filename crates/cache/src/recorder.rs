//! The thread that stores new digests while the run goes on.

use std::mem;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::row::today;
use crate::store::{LOOK_UP_WAIT, Store, WAIT};
use crate::{Batch, Unusable};

/// Time between two commits. What is not committed is lost if the process is killed.
const EVERY: Duration = Duration::from_secs(5);

/// The number of rows after which a commit comes earlier: some 8 MiB of memory.
const MANY: usize = 1 << 16;

/// How long a commit in the middle of a run waits for other processes. Workers may have to wait with it.
const COMMIT_WAIT: Duration = Duration::from_secs(1);

/// The same after a commit that has waited in vain.
const COMMIT_WAIT_AGAIN: Duration = Duration::from_millis(100);

/// The number of batches that workers may send before they wait for a commit.
const MAX_BATCHES: usize = 64;

/// The number of rows that may wait for a store that another process is using: some 80 MiB.
const TOO_MANY: usize = 10 * MANY;

/// Held for writing by a commit, and for reading by all who look digests up. SQLite itself would let them fail and try
/// again.
pub(crate) type Turn = Arc<RwLock<()>>;

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

/// Where rows are sent to be stored.
#[derive(Clone, Debug)]
pub struct NewRows(SyncSender<Sent>);

impl NewRows {
    /// Sends rows. Waits while too many wait to be stored.
    pub fn send(&self, mut rows: Batch) {
        if !rows.is_empty() {
            rows.shrink();
            // An error means that the thread has ended because of a panic, which is resumed at the end of the run.
            let _ = self.0.send(Sent::Rows(rows));
        }
    }
}

#[derive(Debug)]
enum Sent {
    Rows(Batch),
    /// Store what was sent so far.
    Flush,
}

/// The thread that stores rows. Dropping this waits for it too, so that a run that ends with an error loses nothing.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// `None` tells the thread to end.
    rows: Option<NewRows>,
    /// `None` after the thread was joined.
    thread: Option<JoinHandle<Stored>>,
}

impl Recorder {
    /// Starts the thread, which opens the store for itself.
    pub(crate) fn start(path: PathBuf, turn: Turn) -> std::io::Result<Self> {
        let (rows, received) = mpsc::sync_channel(MAX_BATCHES);
        let record = move || record(&path, &turn, &received);
        let thread = thread::Builder::new().name("ftk-cache".into()).spawn(record)?;
        Ok(Self { rows: Some(NewRows(rows)), thread: Some(thread) })
    }

    /// Returns where workers send their rows.
    pub(crate) fn rows(&self) -> &NewRows {
        self.rows.as_ref().expect("only `finish` and `drop` clear it")
    }

    /// Stores what was sent so far, without waiting for it.
    pub(crate) fn flush(&self) {
        // As in `NewRows::send`.
        let _ = self.rows().0.send(Sent::Flush);
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
fn record(path: &Path, turn: &RwLock<()>, received: &Receiver<Sent>) -> Stored {
    let mut recording = Recording {
        path,
        turn,
        store: None,
        is_busy: false,
        waiting: Vec::new(),
        files: 0,
        stored: Stored::default(),
    };
    // A commit is due some time after the first row that waits for it.
    let mut due: Option<Instant> = None;
    loop {
        let next = match due {
            None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => received.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        let is_end = matches!(next, Err(RecvTimeoutError::Disconnected));
        let is_flush = matches!(next, Ok(Sent::Flush));
        if let Ok(Sent::Rows(rows)) = next {
            recording.files += rows.len();
            recording.waiting.push(rows);
        }
        let due_at = *due.get_or_insert_with(|| Instant::now() + EVERY);
        let many = if recording.is_busy { TOO_MANY } else { MANY };
        if is_end || is_flush || recording.files >= many || Instant::now() >= due_at {
            recording.commit(wait(is_end, recording.is_busy, recording.files));
            due = None;
        }
        if is_end {
            return recording.finish();
        }
    }
}

/// How long a commit waits for other processes. `is_busy`: whether the last one has waited in vain. Then workers hardly
/// wait for the next, unless the rows of these files would be lost.
fn wait(is_end: bool, is_busy: bool, files: usize) -> Duration {
    match (is_end, is_busy) {
        (true, false) => WAIT,
        (true, true) => LOOK_UP_WAIT,
        (false, true) if files < TOO_MANY => COMMIT_WAIT_AGAIN,
        (false, _) => COMMIT_WAIT,
    }
}

struct Recording<'p> {
    path: &'p Path,
    turn: &'p RwLock<()>,
    store: Option<Store>,
    /// Whether another process was using the store when this one tried to store rows last.
    is_busy: bool,
    waiting: Vec<Batch>,
    /// The number of files that wait.
    files: usize,
    stored: Stored,
}

impl Recording<'_> {
    /// Stores what waits. If another process is using the store, it goes on waiting; after any other error nothing
    /// more is stored.
    fn commit(&mut self, wait: Duration) {
        if self.files == 0 {
            return;
        }
        let can_wait = match self.stored.error {
            None => match self.try_commit(wait) {
                Ok(()) => {
                    self.is_busy = false;
                    self.waiting.clear();
                    return self.stored.files += mem::take(&mut self.files) as u64;
                }
                Err(Unusable::Busy) => {
                    self.is_busy = true;
                    self.files < TOO_MANY
                }
                Err(error) => {
                    self.stored.error = Some(error);
                    false
                }
            },
            Some(_) => false,
        };
        if !can_wait {
            self.waiting.clear();
            self.stored.lost += mem::take(&mut self.files) as u64;
        }
    }

    fn try_commit(&mut self, wait: Duration) -> Result<(), Unusable> {
        // The lock protects no data.
        let _turn = self.turn.write().unwrap_or_else(PoisonError::into_inner);
        let store = match &mut self.store {
            Some(store) => store,
            empty => empty.insert(Store::open(self.path, wait)?),
        };
        store.set_wait(wait)?;
        match store.commit(&self.waiting) {
            // Its file was removed. The run goes on with a new store.
            Err(Unusable::Removed) => self.store.insert(Store::open(self.path, wait)?).commit(&self.waiting),
            committed => committed,
        }
    }

    fn finish(mut self) -> Stored {
        self.stored.lost += self.files as u64;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_wait_once_for_a_store_that_another_process_keeps() {
        let [first, again, last] = [wait(false, false, 1), wait(false, true, MANY), wait(true, true, 1)];
        assert!(again < first && first < last && last < wait(true, false, 1));
        assert_eq!(wait(false, true, TOO_MANY), first, "otherwise rows are lost");
        assert!(10 * again.max(first / 5) <= EVERY, "most of the time they do not wait");
    }
}
