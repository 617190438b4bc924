//! `--exec-batch`: runs commands for many paths at once.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use super::command::Runner;
use super::run::Queue;
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
    let run = |template: &BatchTemplate| !runner.is_over() && runner.run(&template.fill(paths), true, paths);
    // A command runs only if the commands before it succeeded.
    let _ = templates.iter().all(run);
}

/// Returns how many bytes all arguments of a command may use together. Each argument uses as many as [`cost`]
/// returns.
fn space() -> usize {
    let environment: usize = env::vars_os().map(|(name, value)| cost(&name) + "=".len() + value.len()).sum();
    limit().saturating_sub(environment + HEADROOM)
}

/// Returns the bytes that an argument uses: the text, the NUL after it, and the pointer to it.
fn cost(argument: &OsStr) -> usize {
    argument.as_bytes().len() + 1 + size_of::<usize>()
}

/// Bytes kept free: for what the kernel adds, such as the path of the program, and 2,048 bytes for variables
/// that the command may set, as POSIX requires of `xargs`.
const HEADROOM: usize = 4096 + 2048;

/// Returns the limit of Linux for arguments and environment together: a quarter of the stack limit, within
/// bounds (`bprm_stack_limits` in fs/exec.c).
#[cfg(target_os = "linux")]
fn limit() -> usize {
    use rustix::process::{Resource, getrlimit};
    const LEAST: usize = 128 << 10;
    const MOST: usize = 6 << 20;
    let stack = getrlimit(Resource::Stack).current.map(|bytes| bytes / 4);
    stack.map_or(MOST, |bytes| usize::try_from(bytes).unwrap_or(MOST).clamp(LEAST, MOST))
}

/// Returns the limit that `xargs` considers safe on all systems.
#[cfg(not(target_os = "linux"))]
fn limit() -> usize {
    128 << 10
}
