//! What a search is for: an answer, a number, commands, or a list.

use std::sync::mpsc::SyncSender;

use ftk_sched::{Threads, logical_cpus};

use super::OutputArgs;
use super::exec::{self, Templates};
use super::lister::Sink;
use super::search::Search;
use super::style::Style;
use crate::outcome::Outcome;
use crate::stdout::{Lines, Stdout};

/// Whether there is an entry.
///
/// One that is found is the answer whatever else could not be read: how much of a tree is seen before it depends on
/// the order of listings.
pub(super) fn answer(search: &Search<'_>) -> Outcome {
    let tally = search.walk(|| Sink::Count);
    if tally.found > 0 { Outcome::Success } else { tally.outcome.max(Outcome::Negative) }
}

/// How many there are.
pub(super) fn count(search: &Search<'_>, out: &Stdout) -> Outcome {
    let tally = search.walk(|| Sink::Count);
    let found = tally.found;
    let line = if search.globals.json { format!("{{\"count\":{found}}}\n") } else { format!("{found}\n") };
    out.write(line.as_bytes());
    tally.outcome
}

/// Commands for each, or for many at once.
pub(super) fn run_commands(
    plan: &Templates,
    sort: bool,
    search: &Search<'_>,
    out: &Stdout,
) -> anyhow::Result<Outcome> {
    let at_once = match search.globals.threads.resolve() {
        Threads::Auto => logical_cpus(),
        Threads::Fixed(n) => n,
    };
    let find = |queue: SyncSender<Vec<u8>>| {
        if sort {
            search.scan_sorted(|path| queue.send(path.to_vec()).is_ok())
        } else {
            Ok(search.walk(|| Sink::Commands(queue.clone())).outcome)
        }
    };
    let (found, ran) = exec::run(plan, at_once, out, search.console, find)?;
    Ok(ran.max(found?))
}

/// All of them.
pub(super) fn list(args: &OutputArgs, search: &Search<'_>, out: &Stdout) -> anyhow::Result<Outcome> {
    let style = Style::new(args, search.globals);
    let mut lines = Lines::new(out);
    let outcome = match &style {
        Style::Plain { end } if args.sort => search.scan_sorted(|path| lines.path(path, b"", *end))?,
        Style::Plain { end } => search.walk(|| Sink::Paths { lines: Lines::new(out), end: *end }).outcome,
        Style::Rendered(form) if args.sort => search.walk_sorted(
            || form.render(&search.roots),
            |record| lines.line(|line| line.extend_from_slice(record)),
        )?,
        Style::Rendered(form) => {
            let render = || form.render(&search.roots);
            search.walk(|| Sink::Lines { lines: Lines::new(out), render: render() }).outcome
        }
    };
    lines.flush();
    Ok(outcome)
}
