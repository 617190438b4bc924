//! A team of workers: one phase is one spawn and one join.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

use crate::Stop;

/// How many workers take part in a phase.
#[derive(Clone, Copy, Debug)]
pub struct Team {
    workers: usize,
}

impl Team {
    /// A team of this many workers, the calling thread included; `0` counts as 1.
    pub fn new(workers: usize) -> Self {
        Self { workers: workers.max(1) }
    }

    /// How many workers a run starts at most, the calling thread included; at least 1.
    pub fn workers(self) -> usize {
        self.workers
    }

    /// Runs `work` on every worker, the caller being number 0, and returns what each made, in their order.
    ///
    /// The caller starts to work as soon as the others are spawned; alone, it spawns nothing. The result has as
    /// many items as workers took part. A thread that cannot be started is left out, and so are those after it:
    /// the work must be claimed at run time, not dealt out by worker number.
    ///
    /// # Panics
    /// With the payload of the first worker that panicked, after raising `stop` and joining the others.
    pub fn run<T: Send>(self, stop: &Stop, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let first_panic = FirstPanic::default();
        let attempt = |worker| {
            // Whatever the panic left half done is seen by nobody: the panic goes on after the join.
            catch_unwind(AssertUnwindSafe(|| work(worker)))
                .map_err(|payload| {
                    // Kept before the flag goes up, so that no panic the flag leads to can come first.
                    first_panic.keep(payload);
                    stop.raise();
                })
                .ok()
        };
        let made = if self.workers == 1 { vec![attempt(0)] } else { run_scoped(self.workers, &attempt) };
        first_panic.resume();
        made.into_iter().flatten().collect()
    }
}

/// Runs `attempt` on the calling thread and on up to `workers - 1` new ones.
fn run_scoped<T: Send>(workers: usize, attempt: &(impl Fn(usize) -> Option<T> + Sync)) -> Vec<Option<T>> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..workers)
            .map_while(|worker| {
                // `Scope::spawn` would panic where the system refuses a thread.
                Builder::new()
                    .name(format!("worker-{worker}"))
                    .spawn_scoped(scope, move || attempt(worker))
                    .ok()
            })
            .collect();
        let mut made = Vec::with_capacity(others.len() + 1);
        made.push(attempt(0));
        made.extend(
            others.into_iter().map(|other| other.join().unwrap_or_else(|payload| resume_unwind(payload))),
        );
        made
    })
}

/// The payload of the panic that came first; later ones are often only its echo, as from a poisoned lock.
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

    /// What a run panicked with.
    fn panic_of(run: impl FnOnce()) -> &'static str {
        catch_unwind(AssertUnwindSafe(run)).unwrap_err().downcast_ref::<&str>().copied().unwrap()
    }

    #[test]
    fn results_come_in_worker_order() {
        // The barrier holds everyone until all run, so that the order cannot come from one thread doing all.
        let barrier = Barrier::new(4);
        let made = Team::new(4).run(&Stop::new(), |worker| {
            barrier.wait();
            (worker, thread::current().id())
        });
        assert_eq!(made.iter().map(|(worker, _)| *worker).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for (i, (_, id)) in made.iter().enumerate() {
            assert!(made[..i].iter().all(|(_, other)| other != id));
        }
        assert_eq!(made[0].1, thread::current().id());
    }

    #[test]
    fn zero_and_one_worker_run_on_the_caller() {
        for workers in [0, 1] {
            assert_eq!(Team::new(workers).workers(), 1);
            let made = Team::new(workers).run(&Stop::new(), |worker| (worker, thread::current().id()));
            assert_eq!(made, [(0, thread::current().id())]);
        }
    }

    #[test]
    fn a_panic_raises_stop_joins_all_and_surfaces() {
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
    fn the_first_panic_wins_over_its_echoes() {
        let stop = Stop::new();
        let message = panic_of(|| {
            Team::new(3).run(&stop, |worker| {
                if worker == 2 {
                    panic!("cause");
                }
                while !stop.is_raised() {
                    thread::yield_now();
                }
                panic!("echo");
            });
        });
        assert_eq!(message, "cause");
    }

    #[test]
    fn a_panic_alone_raises_stop_too() {
        let stop = Stop::new();
        assert_eq!(panic_of(|| drop(Team::new(1).run(&stop, |_| panic!("alone")))), "alone");
        assert!(stop.is_raised());
    }
}
