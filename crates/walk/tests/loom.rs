//! Checks the idle protocol over the interleavings of two and three threads with two or three
//! preemptions: `RUSTFLAGS="--cfg ftk_loom" cargo test -p ftk-walk --profile loom --test loom`.
//!
//! The protocol's source is compiled with loom's atomics twice: unchanged, and with fences that do nothing.
//! The checks without fences must fail.
//!
//! A walk uses crossbeam's deque, which cannot run under loom. Here a simple Chase-Lev deque made of loom's
//! atomics replaces it. So these tests check the protocol, but not crossbeam's deque. A mutex instead of the
//! simple deque would order what the fences have to order, and hide their absence.
#![cfg(ftk_loom)]
#![expect(clippy::duplicate_mod, reason = "the mutation is the same source against other primitives")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicUsize, fence};
use loom::thread;

#[path = "."]
mod sound {
    mod primitive {
        pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, fence};
        pub(crate) use loom::thread::{Thread, current, park};
    }
    #[path = "../src/idle.rs"]
    pub(crate) mod idle;
}

#[path = "."]
mod mutated {
    mod primitive {
        pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
        pub(crate) use loom::thread::{Thread, current, park};

        pub(crate) fn fence(_: std::sync::atomic::Ordering) {}
    }
    #[path = "../src/idle.rs"]
    pub(crate) mod idle;
}

/// A deque that does not wrap around. Jobs are numbers above zero.
///
/// The owner takes the oldest job, as thieves do, so there is no contention at the owner's end. Such
/// contention is the concern of the real deque: the protocol only requires that a deque that reports `Empty`
/// is empty.
struct ToyDeque {
    top: AtomicUsize,
    bottom: AtomicUsize,
    slots: [AtomicUsize; 4],
}

impl ToyDeque {
    fn new() -> Self {
        let slots = [(); 4].map(|()| AtomicUsize::new(0));
        Self { top: AtomicUsize::new(0), bottom: AtomicUsize::new(0), slots }
    }

    fn push(&self, job: usize) {
        let bottom = self.bottom.load(Relaxed);
        self.slots[bottom].store(job, Relaxed);
        fence(Release);
        self.bottom.store(bottom + 1, Relaxed);
    }

    fn steal(&self) -> Option<usize> {
        loop {
            let top = self.top.load(Acquire);
            if top >= self.bottom.load(Acquire) {
                return None;
            }
            let job = self.slots[top].load(Relaxed);
            if self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok() {
                return Some(job);
            }
        }
    }
}

macro_rules! models {
    ($idle:ident) => {
        use super::$idle::idle::Idle;
        use super::*;

        struct Walk {
            idle: Idle,
            deques: [ToyDeque; 2],
            done: AtomicUsize,
        }

        impl Walk {
            fn next(&self, me: usize) -> Option<usize> {
                self.idle.next(me, || self.deques.iter().find_map(ToyDeque::steal))
            }

            fn queue(&self, me: usize, jobs: &[usize]) {
                self.idle.publish(jobs.len(), || jobs.iter().for_each(|&job| self.deques[me].push(job)));
            }

            /// Does jobs until the walk is over. Job `n` queues `n - 1` jobs of number 1.
            fn work(&self, me: usize) {
                while let Some(job) = self.next(me) {
                    let guard = self.idle.job();
                    if job > 1 {
                        self.queue(me % 2, &[1, 1, 1][..job - 1]);
                    }
                    self.done.fetch_add(1, Relaxed);
                    guard.finish();
                }
            }

            /// Does the first job, which queues another one, and lets the other workers do that one.
            fn hand_over(&self, me: usize) {
                let guard = self.idle.job();
                self.queue(me, &[1]);
                guard.finish();
                assert_eq!(self.idle.next(me, || None::<usize>), None);
            }

            /// Does the first job: hands a part of it over if another worker seems to sleep, and else does the part
            /// itself.
            fn share(&self, me: usize) {
                let guard = self.idle.job();
                if self.idle.has_sleepers() {
                    self.queue(me, &[1]);
                } else {
                    self.done.fetch_add(1, Relaxed);
                }
                guard.finish();
                self.work(me);
            }

            /// Stops the walk in the middle of the first job.
            fn stop(&self, me: usize) {
                let guard = self.idle.job();
                self.idle.stop();
                guard.finish();
                assert_eq!(self.next(me), None);
            }

            /// Does the first job, which queues another one and panics.
            fn panic(&self, me: usize) {
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = self.idle.job();
                    self.queue(me, &[1]);
                    resume_unwind(Box::new("a visitor's panic"));
                }));
                assert!(outcome.is_err() && self.idle.stopped());
            }
        }

        type Part = fn(&Walk, usize);

        /// Explores a walk with one job, which is queued if `queued`, and else is in progress at the first
        /// worker.
        ///
        /// The model's own thread is not a worker, because loom's join would treat a late unpark as its own.
        fn check(queued: Option<usize>, workers: &'static [Part], done: Option<usize>) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(if workers.len() > 2 { 2 } else { 3 });
            builder.check(move || {
                let idle = Idle::new(workers.len());
                let walk =
                    Walk { idle, deques: [ToyDeque::new(), ToyDeque::new()], done: AtomicUsize::new(0) };
                let walk = Arc::new(walk);
                walk.idle.publish(1, || queued.into_iter().for_each(|job| walk.deques[0].push(job)));
                let threads: Vec<_> = (0..workers.len())
                    .map(|me| {
                        let walk = Arc::clone(&walk);
                        thread::spawn(move || workers[me](&walk, me))
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert!(done.is_none_or(|done| walk.done.load(Relaxed) == done));
            });
        }

        pub(crate) fn job_for_a_sleeper() {
            check(None, &[Walk::hand_over, Walk::work], Some(1));
        }
        pub(crate) fn jobs_from_jobs() {
            check(Some(3), &[Walk::work, Walk::work], Some(3));
        }
        pub(crate) fn three_workers() {
            check(Some(2), &[Walk::work, Walk::work, Walk::work], Some(2));
        }
        pub(crate) fn part_for_a_sleeper() {
            check(None, &[Walk::share, Walk::work, Walk::work], Some(1));
        }
        pub(crate) fn stop() {
            check(None, &[Walk::stop, Walk::work], Some(0));
        }
        pub(crate) fn panic() {
            check(None, &[Walk::panic, Walk::work], None);
        }
    };
}

/// The unchanged protocol: each job is done once, and each worker ends after the last job, a stop or a panic.
mod sound_models {
    models!(sound);

    #[test]
    fn a_job_wakes_a_sleeper() {
        job_for_a_sleeper();
    }
    #[test]
    fn jobs_made_by_jobs_are_done() {
        jobs_from_jobs();
    }
    #[test]
    fn three_workers_end() {
        three_workers();
    }
    #[test]
    fn a_part_is_done_whether_or_not_a_sleeper_is_seen() {
        part_for_a_sleeper();
    }
    #[test]
    fn a_stop_ends_all_workers() {
        stop();
    }
    #[test]
    fn a_panic_ends_all_workers() {
        panic();
    }
}

/// The protocol without fences: a worker sleeps forever, and loom reports a deadlock.
mod mutated_models {
    models!(mutated);

    #[test]
    #[should_panic = "deadlock"]
    fn without_fences_a_job_wakes_no_worker() {
        job_for_a_sleeper();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn without_fences_the_end_wakes_no_worker() {
        jobs_from_jobs();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn without_fences_three_workers_do_not_end() {
        three_workers();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn without_fences_the_end_of_a_part_wakes_no_worker() {
        part_for_a_sleeper();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn without_fences_a_stop_wakes_no_worker() {
        stop();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn without_fences_a_panic_wakes_no_worker() {
        panic();
    }
}
