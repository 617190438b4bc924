//! The idle protocol: when a worker sleeps, who wakes it, and how all workers learn that the walk is over.
//!
//! A sleeping worker must wake up when one of three conditions becomes true: a deque holds a job, no job is
//! left anywhere, or the walk was stopped. Each worker has one bit that is set while it sleeps or is about to
//! sleep:
//!
//! ```text
//!  worker about to sleep            thread that makes a condition true
//!  set my bit                       push a job | pending = 0 | stop = true
//!  fence(SeqCst)                    fence(SeqCst)
//!  check all three conditions       clear set bits (one bit for a job, else all)
//!  park if all are false            unpark the owner of each cleared bit
//! ```
//!
//! The two fences order each side's write before its read. So at least one side sees the other's write: the
//! worker sees the condition, or the other thread sees the bit. If either fence is missing, or if the worker
//! does not check the conditions again after setting its bit, a wake-up can be lost, and the worker sleeps
//! while work waits.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::primitive::{AtomicBool, AtomicU64, AtomicUsize, Thread, current, fence, park};

/// The number of workers per word of [`Idle::asleep`].
const WORD: usize = u64::BITS as usize;

/// A value with cache lines of its own. All workers write it for every directory, and read its neighbours for every
/// entry; x86 fetches lines in pairs.
#[repr(align(128))]
struct OwnLine<T>(T);

/// The state that the workers of one walk share to sleep and to wake each other.
pub(crate) struct Idle {
    /// Jobs queued or in progress. Increased before a push, decreased when the job is done.
    pending: OwnLine<AtomicUsize>,
    stop: AtomicBool,
    /// One bit per worker, set while it sleeps or is about to sleep.
    asleep: Box<[AtomicU64]>,
    /// The workers' threads. Each worker sets its own before it sets its bit for the first time.
    threads: Box<[OnceLock<Thread>]>,
}

impl Idle {
    /// Makes the state for workers numbered from 0 to `workers - 1`.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            pending: OwnLine(AtomicUsize::new(0)),
            stop: AtomicBool::new(false),
            asleep: (0..workers.div_ceil(WORD)).map(|_| AtomicU64::new(0)).collect(),
            threads: (0..workers).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Queues `count` jobs by calling `push`, and wakes one sleeping worker.
    pub(crate) fn publish(&self, count: usize, push: impl FnOnce()) {
        self.pending.0.fetch_add(count, Relaxed);
        push();
        self.wake_one();
    }

    /// Returns the next job for worker `me`, or `None` when the walk is over. Sleeps until then.
    ///
    /// `sweep` looks for a job in every deque. It returns `None` only after each deque has reported that it
    /// is empty.
    pub(crate) fn next<J>(&self, me: usize, mut sweep: impl FnMut() -> Option<J>) -> Option<J> {
        if self.stopped() {
            return None;
        }
        if let Some(job) = sweep() {
            return Some(job);
        }
        self.threads[me].get_or_init(current);
        let (word, bit) = (&self.asleep[me / WORD], 1 << (me % WORD));
        loop {
            word.fetch_or(bit, Release);
            fence(SeqCst);
            if let Some(job) = sweep() {
                // If the bit is cleared already, the wake-up was for another job: wake another worker for
                // that one.
                if word.fetch_and(!bit, AcqRel) & bit == 0 {
                    self.wake_one();
                }
                return Some(job);
            }
            if self.pending.0.load(Acquire) == 0 || self.stopped() {
                return None;
            }
            park();
        }
    }

    /// Wakes one sleeping worker, if there is one, because a deque holds a job.
    pub(crate) fn wake_one(&self) {
        fence(SeqCst);
        for (index, word) in self.asleep.iter().enumerate() {
            let mut seen = word.load(Relaxed);
            while seen != 0 {
                let bit = 1 << seen.trailing_zeros();
                let before = word.fetch_and(!bit, AcqRel);
                if before & bit != 0 {
                    return self.unpark(index, bit);
                }
                seen = before;
            }
        }
    }

    /// Returns a guard to hold while a job is done. If it is dropped unfinished, as by a panic, the walk
    /// stops.
    pub(crate) fn job(&self) -> Job<'_> {
        Job { idle: self, finished: false }
    }

    /// Stops the walk on all workers.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Release);
        self.wake_all();
    }

    /// Returns the number of jobs that are queued or in progress. This is only a hint: it may have changed when this
    /// returns.
    pub(crate) fn pending(&self) -> usize {
        self.pending.0.load(Relaxed)
    }

    /// Returns whether a worker sleeps. This is only a hint: it may have changed when this returns.
    pub(crate) fn has_sleepers(&self) -> bool {
        self.asleep.iter().any(|word| word.load(Relaxed) != 0)
    }

    /// Returns whether the walk was stopped.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Acquire)
    }

    fn wake_all(&self) {
        fence(SeqCst);
        for (index, word) in self.asleep.iter().enumerate() {
            let mut bits = word.fetch_and(0, AcqRel);
            while bits != 0 {
                let bit = 1 << bits.trailing_zeros();
                self.unpark(index, bit);
                bits &= !bit;
            }
        }
    }

    fn unpark(&self, word: usize, bit: u64) {
        let worker = word * WORD + bit.trailing_zeros() as usize;
        if let Some(thread) = self.threads[worker].get() {
            thread.unpark();
        }
    }
}

/// A job in progress.
pub(crate) struct Job<'a> {
    idle: &'a Idle,
    finished: bool,
}

impl Job<'_> {
    /// Ends the job. Everything it found must have been published before.
    pub(crate) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.idle.stop();
        }
        if self.idle.pending.0.fetch_sub(1, AcqRel) == 1 {
            self.idle.wake_all();
        }
    }
}
