//! The modes of a search: an exit status only, a count, commands, or a list.

use std::sync::mpsc::SyncSender;

use ftk_sched::logical_cpus;

use super::OutputArgs;
use super::exec::{self, Templates};
use super::lister::Sink;
use super::search::Search;
use super::style::Style;
use crate::console::Outcome;
use crate::stdout::{Lines, Stdout};

/// Finds out whether any entry matches, for `--quiet`.
///
/// A match means success even if errors occurred: the number of errors before the first match depends on the
/// order in which directories are listed, and the exit status must not depend on it.
pub(super) fn answer(search: &Search<'_>) -> Outcome {
    let tally = search.walk(|| Sink::Count);
    if tally.found > 0 { Outcome::Success } else { tally.outcome.max(Outcome::Negative) }
}

/// Prints the number of entries.
pub(super) fn count(search: &Search<'_>, out: &Stdout) -> Outcome {
    let tally = search.walk(|| Sink::Count);
    let found = tally.found;
    let line = if search.globals.json { format!("{{\"count\":{found}}}\n") } else { format!("{found}\n") };
    out.write(line.as_bytes());
    tally.outcome
}

/// Runs commands for each entry, or for many at once.
pub(super) fn run_commands(
    templates: &Templates,
    sort: bool,
    search: &Search<'_>,
    out: &Stdout,
) -> anyhow::Result<Outcome> {
    let at_once = search.globals.workers().unwrap_or_else(logical_cpus);
    let find = |queue: SyncSender<Vec<u8>>| {
        if sort {
            search.scan_sorted(|path| queue.send(path.to_vec()).is_ok())
        } else {
            Ok(search.walk(|| Sink::Commands(queue.clone())).outcome)
        }
    };
    let (found, ran) = exec::run(templates, at_once, out, search.console, find)?;
    Ok(ran.max(found?))
}

/// Prints all entries.
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
