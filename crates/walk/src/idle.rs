//! When to sleep, whom to wake, and how all workers learn that the walk is over.
//!
//! Three facts end a worker's sleep: a deque holds a job, no job is left anywhere, the walk was stopped. Who
//! makes one of them true and who is about to sleep meet over one bit a worker:
//!
//! ```text
//!  idle worker                      whoever has news
//!  set my bit                       push a job | pending = 0 | stop = true
//!  fence(SeqCst)                    fence(SeqCst)
//!  look for all three facts         take a bit that is set (one for a job, else all)
//!  none: park                       unpark its owner
//! ```
//!
//! The two fences order each side's write before its read, so at least one side sees the other: the worker
//! sees the news, or the other side sees the bit. Without either fence, or without looking again after the
//! bit is set, a wake-up is lost and the worker sleeps while work waits.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::primitive::{AtomicBool, AtomicU64, AtomicUsize, Thread, current, fence, park};

/// Bits in a word of the set of sleepers.
const WORD: usize = u64::BITS as usize;

/// What the workers of one walk know of each other.
pub(crate) struct Idle {
    /// Jobs queued or in progress. Raised before a push, lowered when the job is done.
    pending: AtomicUsize,
    stop: AtomicBool,
    /// One bit a worker: set while it sleeps or is about to.
    asleep: Box<[AtomicU64]>,
    /// Set by each worker before its bit is set for the first time.
    threads: Box<[OnceLock<Thread>]>,
}

impl Idle {
    /// For workers numbered from 0 to `workers - 1`.
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            pending: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            asleep: (0..workers.div_ceil(WORD)).map(|_| AtomicU64::new(0)).collect(),
            threads: (0..workers).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Queues `count` jobs by calling `push`, and wakes a sleeper for them.
    pub(crate) fn publish(&self, count: usize, push: impl FnOnce()) {
        self.pending.fetch_add(count, Relaxed);
        push();
        self.wake_one();
    }

    /// The next job of worker `me`, which sleeps until there is one; `None` when the walk is over.
    ///
    /// `sweep` looks into every deque and gives up only when each of them said that it is empty.
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
                // Whoever took the bit meant it for another job than this one.
                if word.fetch_and(!bit, AcqRel) & bit == 0 {
                    self.wake_one();
                }
                return Some(job);
            }
            if self.pending.load(Acquire) == 0 || self.stopped() {
                return None;
            }
            park();
        }
    }

    /// Wakes one sleeper, if there is any, because a deque holds a job.
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

    /// A guard to hold while a job is done. Dropped unfinished, as by a panic, it stops the walk.
    pub(crate) fn job(&self) -> Job<'_> {
        Job { idle: self, finished: false }
    }

    /// Ends the walk on all workers.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Release);
        self.wake_all();
    }

    /// Whether the walk was ended.
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
    /// Nothing of the job is left to do, and what it found is published.
    pub(crate) fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.idle.stop();
        }
        if self.idle.pending.fetch_sub(1, AcqRel) == 1 {
            self.idle.wake_all();
        }
    }
}
