//! `--exec-batch`: runs commands for many paths at once.

use super::command::Runner;
use super::run::Queue;
use super::space::{cost, space};
use super::template::BatchTemplate;

/// Collects paths until the arguments of a command are full, runs the commands, and repeats until the queue
/// ends.
pub(super) fn work(templates: &[BatchTemplate], queue: Queue, runner: &Runner<'_>) {
    let space = space();
    let empty: Vec<usize> =
        templates.iter().map(|template| template.fill(&[]).iter().map(|fixed| cost(fixed)).sum()).collect();
    let mut used = empty.clone();
    let mut paths = Vec::new();
    while !runner.is_over()
        && let Some(path) = queue.next()
    {
        let costs: Vec<_> = templates.iter().map(|template| cost(&template.argument(&path))).collect();
        if !paths.is_empty() && used.iter().zip(&costs).any(|(used, cost)| used + cost > space) {
            run(templates, &paths, runner);
            paths.clear();
            used.copy_from_slice(&empty);
        }
        used.iter_mut().zip(costs).for_each(|(used, cost)| *used += cost);
        paths.push(path);
    }
    if !paths.is_empty() {
        run(templates, &paths, runner);
    }
}

fn run(templates: &[BatchTemplate], paths: &[Vec<u8>], runner: &Runner<'_>) {
    let run = |template: &BatchTemplate| !runner.is_over() && runner.run(&template.fill(paths), true);
    // A command runs only if the commands before it succeeded.
    let _ = templates.iter().all(run);
}
