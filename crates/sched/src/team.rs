//! Runs a phase on a team of workers: it spawns threads once and joins them once.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use crate::Stop;

/// A team of workers for a phase.
#[derive(Clone, Copy, Debug)]
pub struct Team {
    workers: usize,
}

impl Team {
    /// Creates a team of this many workers, including the calling thread; `0` counts as 1.
    pub fn new(workers: usize) -> Self {
        Self { workers: workers.max(1) }
    }

    /// Returns the most workers that a run uses, including the calling thread; at least 1.
    pub fn workers(self) -> usize {
        self.workers
    }

    /// Runs `work` on every worker and returns their results in worker order. The caller is worker 0.
    ///
    /// The caller starts to work as soon as the other threads are spawned. A team of one spawns no thread.
    ///
    /// If a thread cannot be started, the team runs without it and without the threads after it. The result
    /// has one item per worker that ran. So workers must claim their work at run time; it must not be divided
    /// by worker number.
    ///
    /// # Panics
    /// If a worker panics: raises `stop`, joins the other workers, and resumes the first panic.
    pub fn run<T: Send>(self, stop: &Stop, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let first_panic = FirstPanic::default();
        let attempt = |worker| {
            // Unwind safety: no code sees state that the panic left inconsistent, because the panic resumes
            // after the join.
            catch_unwind(AssertUnwindSafe(|| work(worker)))
                .map_err(|payload| {
                    // Store the payload before raising the flag, so that a panic caused by the flag cannot be
                    // the first.
                    first_panic.keep(payload);
                    stop.raise();
                })
                .ok()
        };
        let results = if self.workers == 1 { vec![attempt(0)] } else { run_scoped(self.workers, &attempt) };
        first_panic.resume();
        results.into_iter().flatten().collect()
    }
}

/// Runs `attempt` on the calling thread and on up to `workers - 1` new threads.
fn run_scoped<T: Send>(workers: usize, attempt: &(impl Fn(usize) -> Option<T> + Sync)) -> Vec<Option<T>> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers)
            .map_while(|worker| {
                // `Scope::spawn` would panic if the system refuses a thread.
                Builder::new()
                    .name(format!("worker-{worker}"))
                    .spawn_scoped(scope, move || attempt(worker))
                    .ok()
            })
            .collect();
        let mut results = Vec::with_capacity(others.len() + 1);
        results.push(attempt(0));
        results.extend(
            others.into_iter().map(|other| other.join().unwrap_or_else(|payload| resume_unwind(payload))),
        );
        results
    })
}

/// The payload of the first panic. Later panics are often only consequences, such as a poisoned lock.
#[derive(Default)]
struct FirstPanic(Mutex<Option<Box<dyn Any + Send>>>);

impl FirstPanic {
    fn keep(&self, payload: Box<dyn Any + Send>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
    }

    fn resume(self) {
        if let Some(payload) = self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Returns the message with which `run` panicked.
    fn panic_of(run: impl FnOnce()) -> &'static str {
        catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast_ref::<&str>().copied().unwrap()
    }

    #[test]
    fn results_come_in_worker_order() {
        // The barrier makes all workers run at once, so that one thread cannot do the work of all.
        let barrier = Barrier::new(4);
        let results = Team::new(4).run(&Stop::new(), |worker| {
            barrier.wait();
            (worker, thread::current().id())
        });
        assert_eq!(results.iter().map(|(worker, _)| *worker).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for (i, (_, id)) in results.iter().enumerate() {
            assert!(results[..i].iter().all(|(_, other)| other != id));
        }
        assert_eq!(results[0].1, thread::current().id());
    }

    #[test]
    fn zero_and_one_worker_run_on_the_caller() {
        for workers in [0, 1] {
            assert_eq!(Team::new(workers).workers(), 1);
            let results = Team::new(workers).run(&Stop::new(), |worker| (worker, thread::current().id()));
            assert_eq!(results, [(0, thread::current().id())]);
        }
    }

    #[test]
    fn a_panic_raises_stop_joins_all_and_is_resumed() {
        for culprit in 0..3 {
            let stop = Stop::new();
            let ended = AtomicUsize::new(0);
            let message = panic_of(|| {
                Team::new(3).run(&stop, |worker| {
                    if worker == culprit {
                        panic!("broken visitor");
                    }
                    while !stop.is_raised() {
                        thread::yield_now();
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(message, "broken visitor");
            assert!(stop.is_raised());
            assert_eq!(ended.load(Ordering::Relaxed), 2);
        }
    }

    #[test]
    fn the_first_panic_is_resumed_and_later_ones_are_dropped() {
        let stop = Stop::new();
        let message = panic_of(|| {
            Team::new(3).run(&stop, |worker| {
                if worker == 2 {
                    panic!("cause");
                }
                while !stop.is_raised() {
                    thread::yield_now();
                }
                panic!("consequence");
            });
        });
        assert_eq!(message, "cause");
    }

    #[test]
    fn a_panic_in_a_team_of_one_raises_stop() {
        let stop = Stop::new();
        assert_eq!(panic_of(|| drop(Team::new(1).run(&stop, |_| panic!("alone")))), "alone");
        assert!(stop.is_raised());
    }
}
