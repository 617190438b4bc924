//! The workers that run commands, beside those that walk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

use anyhow::Context as _;

use super::command::{Plan, Runner};
use super::{batch, each};
use crate::console::Console;
use crate::outcome::Outcome;
use crate::stdout::Stdout;

/// Paths that may wait for a command; then the walk waits.
const WAITING: usize = 1024;

/// Runs the commands for every path that `search` sends, at most `at_once` at a time. `Error` when one of them
/// failed.
///
/// # Errors
/// If there are no threads for it.
pub(in crate::find) fn run<T>(
    plan: &Plan,
    at_once: usize,
    out: &Stdout,
    console: &Console,
    search: impl FnOnce(SyncSender<Vec<u8>>) -> T,
) -> anyhow::Result<(T, Outcome)> {
    let at_once = if matches!(plan, Plan::Batch(_)) { 1 } else { at_once };
    let runner = Runner::new(out, console, at_once > 1).context("cannot wait for signals")?;
    let (sender, receiver) = sync_channel(WAITING);
    let queue = Queue(Arc::new(Mutex::new(receiver)));
    let work = |queue| match plan {
        Plan::Each(templates) => each::work(templates, queue, &runner),
        Plan::Batch(templates) => batch::work(templates, queue, &runner),
    };
    let found = thread::scope(|scope| -> anyhow::Result<T> {
        for nth in 0..at_once {
            let (work, queue) = (&work, queue.clone());
            let started = Builder::new().name(format!("exec-{nth}")).spawn_scoped(scope, move || work(queue));
            match started {
                Err(error) if nth == 0 => return Err(error).context("cannot start a thread"),
                Err(_) => break, // fewer will do
                Ok(_) => {}
            }
        }
        // The last worker to go closes the queue, and the search ends.
        drop(queue);
        Ok(search(sender))
    })?;
    Ok((found, runner.finish()))
}

/// The end of the queue that workers take from.
#[derive(Clone)]
pub(super) struct Queue(Arc<Mutex<Receiver<Vec<u8>>>>);

impl Queue {
    /// The next path; waits for it. `None` when there will be none.
    pub(super) fn next(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}
