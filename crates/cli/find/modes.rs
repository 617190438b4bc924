//! The modes of a search: an exit status only, a count, commands, or a list.

use std::sync::mpsc::SyncSender;

use ftk_record::write_record;
use ftk_sched::logical_cpus;

use super::OutputArgs;
use super::exec::{self, Templates};
use super::group;
use super::lister::Sink;
use super::order::{Order, SortKey};
use super::render::Render;
use super::search::Search;
use super::style::Style;
use crate::console::Outcome;
use crate::stdout::{Lines, Stdout};

/// Finds out whether any entry matches, for `--status`.
///
/// A match means success even if errors occurred: the number of errors before the first match depends on the
/// order in which directories are listed, and the exit status must not depend on it.
pub(super) fn answer(search: &Search<'_>) -> anyhow::Result<Outcome> {
    let tally = search.walk(|| Sink::Count)?;
    Ok(if tally.found > 0 { Outcome::Success } else { tally.outcome.max(Outcome::Negative) })
}

/// Prints the number of entries.
pub(super) fn count(search: &Search<'_>, out: &Stdout) -> anyhow::Result<Outcome> {
    let tally = search.walk(|| Sink::Count)?;
    let found = tally.found;
    let mut line = Vec::new();
    if search.globals.json {
        write_record(&mut line, |record| {
            record.member("count", found);
            tally.rules.write(record);
        });
    } else {
        line.extend_from_slice(format!("{found}\n").as_bytes());
    }
    out.write(&line);
    Ok(tally.outcome)
}

/// Runs commands for each entry, or for many at once.
pub(super) fn run_commands(
    templates: &Templates,
    order: Option<Order>,
    search: &Search<'_>,
    out: &Stdout,
) -> anyhow::Result<Outcome> {
    // Who asks for an order wants the commands in it.
    let most = order.map_or_else(logical_cpus, |_| 1);
    // In the order of the walk, commands would run before the walk has seen that a rule matches nothing.
    let order =
        order.or_else(|| search.lists_first().then_some(Order { key: SortKey::Path, reverse: false }));
    let at_once = search.globals.workers().unwrap_or(most);
    let find = |queue: SyncSender<Vec<u8>>| {
        let send = |path: &[u8]| queue.send(path.to_vec()).is_ok();
        match order {
            Some(order) => sorted_paths(order, search, send),
            None => Ok(search.walk(|| Sink::Commands(queue.clone()))?.outcome),
        }
    };
    let (found, ran) = exec::run(templates, at_once, out, search.console, find)?;
    Ok(ran.max(found?))
}

/// Passes all paths to `accept`, sorted, until it returns `false`.
fn sorted_paths(
    order: Order,
    search: &Search<'_>,
    mut accept: impl FnMut(&[u8]) -> bool,
) -> anyhow::Result<Outcome> {
    if order.is_by_path() && search.limit.is_none() && search.records.is_none() {
        return search.scan_sorted(accept);
    }
    search.walk_sorted(order, || Render::Nothing, |path, _| accept(path))
}

/// Prints count, bytes and share of each group.
pub(super) fn group(args: &OutputArgs, search: &Search<'_>, out: &Stdout) -> anyhow::Result<Outcome> {
    let Some(by) = args.group_by else { return Ok(Outcome::Success) };
    let (parts, tally) = search.walk_groups(by)?;
    let most = args.max_results.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let form = group::Form {
        json: search.globals.json,
        null: args.null,
        human_readable: args.human_readable,
        order: args.sort.and_then(group::Order::of),
        reverse: args.reverse,
    };
    group::print(by, parts, most, form, out);
    Ok(tally.outcome)
}

/// Prints all entries.
pub(super) fn list(args: &OutputArgs, search: &Search<'_>, out: &Stdout) -> anyhow::Result<Outcome> {
    let style = Style::new(args, search.globals);
    let mut lines = Lines::new(out);
    let outcome = match (&style, args.order()) {
        (Style::Plain { end }, Some(order)) => {
            sorted_paths(order, search, |path| lines.path(path, b"", *end))?
        }
        (Style::Plain { end }, None) => {
            search.walk(|| Sink::Paths { lines: Lines::new(out), end: *end })?.outcome
        }
        (Style::Rendered(form), Some(order)) => search.walk_sorted(
            order,
            || form.render(search.roots),
            |_, record| lines.line(|line| line.extend_from_slice(record)),
        )?,
        (Style::Rendered(form), None) => {
            let render = || form.render(search.roots);
            search.walk(|| Sink::Lines { lines: Lines::new(out), render: render() })?.outcome
        }
    };
    lines.flush();
    Ok(outcome)
}
