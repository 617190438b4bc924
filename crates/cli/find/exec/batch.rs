//! Commands for many paths at once.

use super::command::Runner;
use super::run::Queue;
use super::space::{cost, space};
use super::template::BatchTemplate;

/// Gathers paths until a command can take no more, runs the commands, and so on to the end of the queue.
pub(super) fn work(templates: &[BatchTemplate], queue: Queue, runner: &Runner<'_>) {
    let space = space();
    let empty: Vec<usize> =
        templates.iter().map(|template| template.fill(&[]).iter().map(|fixed| cost(fixed)).sum()).collect();
    let mut taken = empty.clone();
    let mut paths = Vec::new();
    while !runner.is_over()
        && let Some(path) = queue.next()
    {
        let costs: Vec<_> = templates.iter().map(|template| cost(&template.argument(&path))).collect();
        if !paths.is_empty() && taken.iter().zip(&costs).any(|(taken, cost)| taken + cost > space) {
            run(templates, &paths, runner);
            paths.clear();
            taken.copy_from_slice(&empty);
        }
        taken.iter_mut().zip(costs).for_each(|(taken, cost)| *taken += cost);
        paths.push(path);
    }
    if !paths.is_empty() {
        run(templates, &paths, runner);
    }
}

fn run(templates: &[BatchTemplate], paths: &[Vec<u8>], runner: &Runner<'_>) {
    let run = |template: &BatchTemplate| !runner.is_over() && runner.run(&template.fill(paths), true);
    // What comes later is for paths for which what came before succeeded.
    let _ = templates.iter().all(run);
}
