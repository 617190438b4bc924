//! `--exec`: runs commands for one path at a time, by several workers.

use super::command::Runner;
use super::run::Queue;
use super::template::Template;

/// Runs the commands for each path of the queue until it is closed and empty.
pub(super) fn work(templates: &[Template], queue: Queue, runner: &Runner<'_>) {
    while !runner.is_over()
        && let Some(path) = queue.next()
    {
        let run = |template: &Template| {
            !runner.is_over() && runner.run(&template.fill(&path), template.has_fixed_program())
        };
        // A command runs only if the commands before it succeeded.
        let _ = templates.iter().all(run);
    }
}
