//! One command at a time for one path at a time, by one of several workers.

use super::command::Runner;
use super::run::Queue;
use super::template::Template;

/// Runs the commands for paths from the queue until it is closed and empty.
pub(super) fn work(templates: &[Template], queue: Queue, runner: &Runner<'_>) {
    while !runner.is_over()
        && let Some(path) = queue.next()
    {
        let run = |template: &Template| {
            !runner.is_over() && runner.run(&template.fill(&path), template.has_fixed_program())
        };
        // What comes later is for paths for which what came before succeeded.
        let _ = templates.iter().all(run);
    }
}
