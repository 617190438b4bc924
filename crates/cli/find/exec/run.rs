//! The workers that run commands while others walk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};

use anyhow::Context as _;
use rustix::process::{Resource, getrlimit};

use super::batch;
use super::command::{Runner, Templates};
use super::template::Template;
use crate::asked;
use crate::console::{Console, Outcome};
use crate::stdout::Stdout;

/// Length of the queue of paths. When it is full, the walk waits.
const WAITING: usize = 1024;

/// Runs the commands for every path that `search` sends, at most `at_once` at a time. The outcome is `Error`
/// if any of them failed.
///
/// # Errors
/// If no thread can be started.
pub(in crate::find) fn run<T>(
    templates: &Templates,
    at_once: usize,
    out: &Stdout,
    console: &Console,
    search: impl FnOnce(SyncSender<Vec<u8>>) -> T,
) -> anyhow::Result<(T, Outcome)> {
    let at_once = if matches!(templates, Templates::Batch(_)) { 1 } else { at_once };
    asked::doing(&"running commands");
    let runner = Runner::new(out, console, at_once > 1).context("cannot install a signal handler")?;
    let (sender, receiver) = sync_channel(WAITING);
    let queue = Queue(Arc::new(Mutex::new(receiver)));
    let work = |queue| match templates {
        Templates::Each(templates) => work_each(templates, queue, &runner),
        Templates::Batch(templates) => batch::work(templates, queue, &runner),
    };
    let found = thread::scope(|scope| -> anyhow::Result<T> {
        for nth in 0..at_once.min(affordable(at_once)) {
            let (work, queue) = (&work, queue.clone());
            let started = Builder::new().name(format!("exec-{nth}")).spawn_scoped(scope, move || work(queue));
            match started {
                Err(error) if nth == 0 => return Err(error).context("cannot start a thread"),
                Err(_) => break, // fewer threads are enough
                Ok(_) => {}
            }
        }
        // Only the workers hold the queue now. If all of them end early, sending fails and the search ends.
        drop(queue);
        Ok(search(sender))
    })?;
    Ok((found, runner.finish()))
}

/// Runs the commands for each path of the queue until it is closed and empty.
fn work_each(templates: &[Template], queue: Queue, runner: &Runner<'_>) {
    while !runner.is_over()
        && let Some(path) = queue.next()
    {
        let run = |template: &Template| {
            let (command, is_fixed) = (template.fill(&path), template.has_fixed_program());
            !runner.is_over() && runner.run(&command, is_fixed, std::slice::from_ref(&path))
        };
        // A command runs only if the commands before it succeeded.
        let _ = templates.iter().all(run);
    }
}

/// Returns how many commands can run while a walk with `workers` runs, within the limit of open descriptors.
/// Every worker of the walk needs three descriptors; it can close the others, which it only caches. The walk
/// uses at most as many workers as a quarter of the limit allows.
fn affordable(workers: usize) -> usize {
    /// Descriptors of ftk itself: the standard streams, the socket pair for signals, and a few others.
    const OURS: u64 = 8;
    /// Descriptors for starting a command: both ends of two pipes, its standard input, and its handle.
    const EACH: u64 = 6;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(OURS);
    let commands = (limit - 3 * (workers as u64).min(limit / 4)) / EACH;
    usize::try_from(commands).unwrap_or(usize::MAX).max(1)
}

/// The receiving end of the queue, shared by the workers.
#[derive(Clone)]
pub(super) struct Queue(Arc<Mutex<Receiver<Vec<u8>>>>);

impl Queue {
    /// Waits for the next path. Returns `None` once the queue is closed and empty.
    pub(super) fn next(&self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }
}
