//! Entries of one large directory for several workers.
//!
//! The worker that lists a directory shows its entries itself, and hands some of them to others in batches if the others
//! have nothing to do and the entries are worth it. A batch is a job like a directory: it is pushed to the deque of the
//! worker that lists, so the idle protocol is the same.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use crate::FileType;
use crate::sys::Stat;

/// The time that the work on one batch should take. It is long compared with waking a worker (about 50 µs), and short
/// enough that all workers end at about the same time.
const TARGET: Duration = Duration::from_micros(200);
/// A batch with less work than this is not handed over.
const WORTH: Duration = Duration::from_micros(20);
/// The most entries in a batch.
const MOST: usize = 64;
/// After so many entries the worker looks whether others wait, while none does.
const LOOK: usize = 4;

/// Entries of a directory that were listed and not yet shown.
pub(crate) struct Batch {
    pub(crate) stat: Stat,
    /// The names, each with a NUL at its end.
    names: Vec<u8>,
    entries: Vec<Listed>,
}

struct Listed {
    name_len: usize,
    ino: u64,
    file_type: Option<FileType>,
}

impl Batch {
    fn new(stat: Stat) -> Self {
        Self { stat, names: Vec::new(), entries: Vec::new() }
    }

    /// Returns the entries: name, inode number, and the type if the listing reported it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&CStr, u64, Option<FileType>)> {
        let mut rest = &self.names[..];
        self.entries.iter().filter_map(move |entry| {
            let name;
            (name, rest) = rest.split_at(entry.name_len);
            Some((CStr::from_bytes_with_nul(name).ok()?, entry.ino, entry.file_type))
        })
    }
}

/// Decides during a listing which entries are handed over.
pub(crate) struct Sharing {
    batch: Batch,
    /// How many entries the batch is to have. `0` if the worker shows the next entries itself.
    wanted: usize,
    /// Entries to show before the next look.
    left: usize,
    /// How many entries take about as long as [`TARGET`]; at most twice as many as were measured.
    chunk: usize,
    /// When the first of the last `chunk` entries was begun, if that is measured.
    since: Option<Instant>,
    /// Whether a batch was handed over before.
    has_shared: bool,
    /// Returns the time.
    now: fn() -> Instant,
}

impl Sharing {
    /// Begins the listing of a directory. If others wait, the first entry is measured.
    pub(crate) fn new(stat: Stat, others_wait: bool, now: fn() -> Instant) -> Self {
        let since = others_wait.then(now);
        Self { batch: Batch::new(stat), wanted: 0, left: 1, chunk: 1, since, has_shared: false, now }
    }

    /// Returns whether the next entry goes into the batch.
    pub(crate) fn is_filling(&self) -> bool {
        self.wanted > 0
    }

    /// Adds an entry to the batch. Returns the batch when it is full.
    pub(crate) fn push(&mut self, name: &CStr, ino: u64, file_type: Option<FileType>) -> Option<Batch> {
        let name = name.to_bytes_with_nul();
        self.batch.names.extend_from_slice(name);
        self.batch.entries.push(Listed { name_len: name.len(), ino, file_type });
        if self.batch.entries.len() < self.wanted {
            return None;
        }
        self.has_shared = true;
        self.finish()
    }

    /// Returns the batch, if it has entries.
    pub(crate) fn finish(&mut self) -> Option<Batch> {
        let empty = Batch::new(self.batch.stat);
        self.wanted = 0;
        // Filling the batch is no work on entries.
        self.since = self.since.map(|_| (self.now)());
        Some(std::mem::replace(&mut self.batch, empty)).filter(|batch| !batch.entries.is_empty())
    }

    /// Notes that the worker has shown an entry itself. `others_wait` is called with whether a batch was handed over
    /// before, and tells whether others have nothing to do.
    pub(crate) fn shown(&mut self, others_wait: impl FnOnce(bool) -> bool) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        if !others_wait(self.has_shared) {
            self.since = None;
            self.left = LOOK;
            return;
        }
        let now = (self.now)();
        match self.since {
            None => self.chunk = 1,
            Some(since) => {
                let each = now.duration_since(since).as_nanos() as usize / self.chunk;
                let fitting = TARGET.as_nanos() as usize / each.max(1);
                self.chunk = fitting.clamp(1, MOST.min(2 * self.chunk));
                if each * self.chunk >= WORTH.as_nanos() as usize {
                    self.wanted = self.chunk;
                }
            }
        }
        self.since = Some(now);
        self.left = self.chunk;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ffi::CString;

    use super::*;

    thread_local! {
        static NOW: Cell<Instant> = Cell::new(Instant::now());
    }

    /// What became of the entries of a directory.
    #[derive(Debug, Default, PartialEq)]
    struct Outcome {
        /// Entries that the worker showed itself.
        shown: usize,
        /// The sizes of the batches.
        batches: Vec<usize>,
        names: Vec<CString>,
    }

    /// Lists a directory by a clock that moves only while an entry is shown, by its cost in nanoseconds.
    fn list(costs: impl IntoIterator<Item = u64>, others_wait: impl Fn(bool) -> bool) -> Outcome {
        let stat = rustix::fs::stat("/").unwrap();
        let mut sharing = Sharing::new(stat, others_wait(false), || NOW.get());
        let mut outcome = Outcome::default();
        let hand_over = |outcome: &mut Outcome, batch: Batch| {
            outcome.batches.push(batch.entries().count());
            outcome.names.extend(batch.entries().map(|(name, ..)| name.to_owned()));
        };
        let mut entries = 0;
        for (nth, cost) in costs.into_iter().enumerate() {
            entries = nth + 1;
            let name = CString::new(nth.to_string()).unwrap();
            if sharing.is_filling() {
                if let Some(batch) = sharing.push(&name, nth as u64, None) {
                    hand_over(&mut outcome, batch);
                }
            } else {
                NOW.set(NOW.get() + Duration::from_nanos(cost));
                sharing.shown(&others_wait);
                outcome.shown += 1;
                outcome.names.push(name);
            }
        }
        if let Some(batch) = sharing.finish() {
            hand_over(&mut outcome, batch);
        }
        let names = (0..entries).map(|nth| CString::new(nth.to_string()).unwrap());
        assert!(outcome.names.iter().cloned().eq(names), "each entry once, in order");
        assert!(outcome.batches.iter().all(|&size| size <= MOST));
        outcome
    }

    fn always(_: bool) -> bool {
        true
    }

    #[test]
    fn entries_with_little_work_are_not_handed_over() {
        let outcome = list([300; 3000], always);
        assert_eq!((outcome.shown, outcome.batches.len()), (3000, 0));
    }

    /// The system may interrupt a worker at any time, which looks like work.
    #[test]
    fn an_interrupted_worker_hands_over_one_entry() {
        for nth in [0, 1, 10, 500] {
            let mut costs = [300; 3000];
            costs[nth] = 10_000_000;
            let outcome = list(costs, always);
            assert_eq!((outcome.shown, outcome.batches), (2999, vec![1]), "{nth}");
        }
    }

    #[test]
    fn entries_with_much_work_are_handed_over_one_by_one() {
        let outcome = list([1_000_000; 201], always);
        assert_eq!((outcome.shown, outcome.batches), (101, vec![1; 100]));
    }

    /// Batches grow until the work on one takes as long as it should.
    #[test]
    fn batches_of_entries_with_some_work_grow() {
        let outcome = list([20_000; 100], always);
        assert_eq!(outcome.batches, [2, 4, 8, 10, 10, 10, 10]);
    }

    #[test]
    fn nothing_is_handed_over_while_no_other_waits() {
        assert_eq!(list([1_000_000; 100], |_| false).shown, 100);
    }

    /// Once a batch was handed over, the next one is made before the others wait for it.
    #[test]
    fn others_that_were_given_a_batch_are_given_the_next_one() {
        let asked = Cell::new(0);
        let others_wait = |has_shared| {
            asked.set(asked.get() + 1);
            has_shared || [10, 11].contains(&asked.get())
        };
        let outcome = list([1_000_000; 200], others_wait);
        // The worker shows 33 entries until it sees that others wait, and measures the next one.
        assert_eq!((outcome.shown, outcome.batches), (34 + 83, vec![1; 83]));
    }
}
