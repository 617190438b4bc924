//! The idle protocol, checked over the interleavings of two and three threads with two or three
//! preemptions: `RUSTFLAGS="--cfg ftk_loom" cargo test -p ftk-walk --release --test loom`.
//!
//! The protocol's own source is compiled against loom's atomics, once as it is and once with fences that do
//! nothing, which must fail. The deque is not the one that a walk uses: crossbeam's cannot run under loom. A
//! toy of Chase and Lev's made of loom's atomics stands in for it, so what is shown here is true of the
//! protocol, and says nothing of that deque. A mutex in its place would order what the protocol's fences have
//! to order, and hide their absence.
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

/// A deque that never wraps round; jobs are numbers above zero. Owner and thieves both take the oldest, which
/// leaves out the owner's end: how that is fought over is the real deque's affair, and `sweep` needs nothing
/// of it but that `Empty` is the truth.
struct Toy {
    top: AtomicUsize,
    bottom: AtomicUsize,
    slots: [AtomicUsize; 4],
}

impl Toy {
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
            deques: [Toy; 2],
            done: AtomicUsize,
        }

        impl Walk {
            fn next(&self, me: usize) -> Option<usize> {
                self.idle.next(me, || self.deques.iter().find_map(Toy::steal))
            }

            fn queue(&self, me: usize, jobs: &[usize]) {
                self.idle.publish(jobs.len(), || jobs.iter().for_each(|&job| self.deques[me].push(job)));
            }

            /// Does jobs until the walk is over; job `n` queues `n - 1` jobs of number 1.
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

            /// Does the first job, which queues another, and leaves that to others.
            fn hand_over(&self, me: usize) {
                let guard = self.idle.job();
                self.queue(me, &[1]);
                guard.finish();
                assert_eq!(self.idle.next(me, || None::<usize>), None);
            }

            /// Stops the walk in the middle of the first job.
            fn stop(&self, me: usize) {
                let guard = self.idle.job();
                self.idle.stop();
                guard.finish();
                assert_eq!(self.next(me), None);
            }

            /// Does the first job, which queues another and panics.
            fn panic(&self, me: usize) {
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = self.idle.job();
                    self.queue(me, &[1]);
                    resume_unwind(Box::new("a visitor's"));
                }));
                assert!(outcome.is_err() && self.idle.stopped());
            }
        }

        type Part = fn(&Walk, usize);

        /// Explores a walk of one job, or of one in the hands of the first worker. The model's own thread is
        /// no worker: loom's join would take an unpark that comes late for its own.
        fn check(queued: Option<usize>, workers: &'static [Part], done: Option<usize>) {
            let mut builder = loom::model::Builder::new();
            builder.preemption_bound = Some(if workers.len() > 2 { 2 } else { 3 });
            builder.check(move || {
                let idle = Idle::new(workers.len());
                let walk = Walk { idle, deques: [Toy::new(), Toy::new()], done: AtomicUsize::new(0) };
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
        pub(crate) fn stop() {
            check(None, &[Walk::stop, Walk::work], Some(0));
        }
        pub(crate) fn panic() {
            check(None, &[Walk::panic, Walk::work], None);
        }
    };
}

/// As it is: every job is done once, and every worker learns of the end, of a stop and of a panic.
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
    fn a_stop_ends_all() {
        stop();
    }
    #[test]
    fn a_panic_ends_all() {
        panic();
    }
}

/// Without its fences: somebody sleeps for ever, and the models above notice.
mod mutated_models {
    models!(mutated);

    #[test]
    #[should_panic = "deadlock"]
    fn a_job_wakes_nobody() {
        job_for_a_sleeper();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn the_end_is_not_heard() {
        jobs_from_jobs();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn three_workers_do_not_end() {
        three_workers();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn a_stop_is_not_heard() {
        stop();
    }
    #[test]
    #[should_panic = "deadlock"]
    fn a_panic_is_not_heard() {
        panic();
    }
}
