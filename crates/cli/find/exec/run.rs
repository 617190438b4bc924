//! The workers that run commands, beside those that walk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

use anyhow::Context as _;
use rustix::process::{Resource, getrlimit};

use super::command::{Runner, Templates};
use super::{batch, each};
use crate::asked;
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
    plan: &Templates,
    at_once: usize,
    out: &Stdout,
    console: &Console,
    search: impl FnOnce(SyncSender<Vec<u8>>) -> T,
) -> anyhow::Result<(T, Outcome)> {
    let at_once = if matches!(plan, Templates::Batch(_)) { 1 } else { at_once };
    asked::doing(&"running commands");
    let runner = Runner::new(out, console, at_once > 1).context("cannot wait for signals")?;
    let (sender, receiver) = sync_channel(WAITING);
    let queue = Queue(Arc::new(Mutex::new(receiver)));
    let work = |queue| match plan {
        Templates::Each(templates) => each::work(templates, queue, &runner),
        Templates::Batch(templates) => batch::work(templates, queue, &runner),
    };
    let found = thread::scope(|scope| -> anyhow::Result<T> {
        for nth in 0..at_once.min(affordable(at_once)) {
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

/// How many commands there are descriptors for beside a walk of `workers`. Those that it merely keeps it gives up,
/// but it cannot do without the three that each worker has in hand, and takes no more workers than a quarter of the
/// limit serves.
fn affordable(workers: usize) -> usize {
    /// The standard streams, the pair that signals come through, and what else may be open.
    const OURS: u64 = 8;
    /// What a command takes as it starts: both ends of two pipes, its standard input, and its handle.
    const EACH: u64 = 6;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(OURS);
    let commands = (limit - 3 * (workers as u64).min(limit / 4)) / EACH;
    usize::try_from(commands).unwrap_or(usize::MAX).max(1)
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
