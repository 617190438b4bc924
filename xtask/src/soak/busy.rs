//! Runs the whole suite while every core is busy: no test may depend on the load of the machine.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use anyhow::Result;

use super::command::Soak;
use super::figures::Figures;
use crate::ci;

/// How often the suite runs.
const RUNS: usize = 3;

pub(super) fn run(_: &Soak, figures: &mut Figures) -> Result<()> {
    let is_over = AtomicBool::new(false);
    let spinners = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        for _ in 0..spinners {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = (0..RUNS).try_for_each(|_| suite(figures));
        is_over.store(true, Relaxed);
        result
    })
}

fn suite(figures: &mut Figures) -> Result<()> {
    ci::test_all(|step, status, tally| {
        figures.count("tests passed", tally.passed);
        figures.count("tests failed", tally.failed);
        if status != 0 {
            figures.deviation(format!("the step {step} ends with status {status}"));
        }
    })
}
