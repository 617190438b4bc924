//! The cost of cooperation: starting and joining a team, which is the barrier between two phases; waking a
//! sleeper; and the deques that hold the walk's directories.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use crossbeam_deque::{Steal, Stealer, Worker};
use ftk_benches::{config, thread_counts};
use ftk_sched::{Stop, Team};

/// Jobs that pass through a deque in one iteration.
const JOBS: u64 = 1024;

/// One phase of workers that have nothing to do.
fn team(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sched/team");
    for workers in thread_counts() {
        group.bench_function(BenchmarkId::new("ftk", workers), |bencher| {
            bencher.iter(|| {
                let made = Team::new(workers).run(&Stop::new(), black_box);
                assert!(made.into_iter().eq(0..workers));
            });
        });
    }
}

/// Two threads wake each other in turn: two wake-ups, each after a sleep.
fn parking(criterion: &mut Criterion) {
    criterion.bench_function("sched/there and back", |bencher| {
        let ball = AtomicU64::new(0); // odd: the other thread has it
        let over = Stop::new();
        let caller = thread::current();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                loop {
                    let seen = ball.load(Ordering::Acquire);
                    if over.is_raised() {
                        return;
                    }
                    if seen % 2 == 1 {
                        ball.store(seen + 1, Ordering::Release);
                        caller.unpark();
                    } else {
                        thread::park();
                    }
                }
            });
            let mut count = 0;
            bencher.iter(|| {
                ball.store(count + 1, Ordering::Release);
                other.thread().unpark();
                while ball.load(Ordering::Acquire) == count + 1 {
                    thread::park();
                }
                count += 2;
            });
            assert_eq!(ball.load(Ordering::Acquire), count);
            over.raise();
            other.thread().unpark();
        });
    });
    criterion.bench_function("sched/unpark an awake thread", |bencher| {
        let me = thread::current();
        bencher.iter(|| me.unpark()); // only the first call has an effect
        thread::park(); // consumes that wake-up
    });
}

/// Jobs are pushed and popped by the owner, stolen on the same thread, and stolen by a thief that works at
/// the same time.
fn deque(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sched/deque");
    group.throughput(Throughput::Elements(JOBS));
    let deque = Worker::new_lifo();
    let stealer = deque.stealer();
    group.bench_function("push, pop", |bencher| {
        bencher.iter(|| {
            (0..JOBS).for_each(|job| deque.push(job));
            assert_eq!(std::iter::from_fn(|| deque.pop()).sum::<u64>(), sum());
        });
    });
    group.bench_function("push, steal", |bencher| {
        bencher.iter(|| {
            (0..JOBS).for_each(|job| deque.push(job));
            assert_eq!(steal_all(&stealer), sum());
        });
    });
    group.bench_function("push, pop next to a thief", |bencher| {
        let over = Stop::new();
        let (stolen, mut popped, mut rounds) = (AtomicU64::new(0), 0, 0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.is_raised() {
                    stolen.fetch_add(steal_all(&stealer), Ordering::Relaxed);
                }
            });
            bencher.iter(|| {
                (0..JOBS).for_each(|job| deque.push(job));
                popped += std::iter::from_fn(|| deque.pop()).sum::<u64>();
                rounds += 1;
            });
            over.raise();
        });
        assert_eq!(popped + stolen.into_inner(), rounds * sum(), "every job is done once");
    });
}

/// Returns the sum of the jobs that can be stolen.
fn steal_all(stealer: &Stealer<u64>) -> u64 {
    let mut sum = 0;
    loop {
        match stealer.steal() {
            Steal::Success(job) => sum += job,
            Steal::Retry => {}
            Steal::Empty => return sum,
        }
    }
}

/// Returns the sum of all jobs of an iteration.
fn sum() -> u64 {
    (0..black_box(JOBS)).sum()
}

criterion_group! {
    name = benches;
    config = config();
    targets = team, parking, deque
}
criterion_main!(benches);
