//! The tree for people.

use std::fmt::Write as _;

use ftk_record::sanitize;
use ftk_usage::{Listing, Measure, Rest, Row, Usage};
use indicatif::HumanCount;

use super::UNKNOWN;
use crate::stdout::{Lines, Stdout};

/// The width of names, guides included, before the number of files.
const NAMES: usize = 34;

/// A line of a tree, without the guides that lead to it.
pub(super) struct Line {
    /// What stands before the guides.
    pub(super) left: String,
    pub(super) name: String,
    /// What stands after the name.
    pub(super) right: Option<String>,
}

/// Prints the listing as a tree, with the share of everything that was counted.
/// `shown` formats bytes, or whatever was counted.
pub(super) fn print(
    usage: &Usage,
    listing: &Listing,
    measure: Measure,
    shown: impl Fn(u128) -> String,
    out: &Stdout,
) {
    let total = usage.total_bytes(measure);
    let bytes = |row: &Row| usage.bytes(row.item, measure);
    let smallest = listing.rows.iter().map(bytes).min().unwrap_or_default();
    let left = |bytes| format!("{:>7}  {:>3} %", shown(bytes), share(bytes, total));
    let smaller = |rest: Rest| Line { left: left(rest.bytes), name: smaller(rest.entries), right: None };
    let line = |at: usize| {
        let row = &listing.rows[at];
        let has_files = depth(usage, row) > 0 && usage.is_directory(row.item);
        let files = if has_files { HumanCount(row.sum.files).to_string() } else { String::new() };
        let exclusive = usage.exclusive(row.item).unwrap_or_default();
        let unknown = match exclusive.unknown_files {
            0 => String::new(),
            n => format!("  {} unknown", HumanCount(n)),
        };
        let right = format!("{files:>11}{unknown}");
        Line {
            left: match exclusive.known() {
                None => format!("{UNKNOWN:>7}       "),
                Some(_) => left(bytes(row)),
            },
            name: sanitize(usage.name(row.item)).into_owned(),
            right: Some(right).filter(|right| !right.trim().is_empty()),
        }
    };
    let rest = |at: usize| {
        let row = &listing.rows[at];
        let is_shown = |rest: &Rest| depth(usage, row) == 0 || rest.bytes >= smallest;
        row.rest.filter(is_shown).map(smaller)
    };
    let depths: Vec<_> = listing.rows.iter().map(|row| depth(usage, row)).collect();
    branches(&depths, line, rest, listing.rest.map(smaller), out);
}

fn depth(usage: &Usage, row: &Row) -> u32 {
    usage.depth(row.item)
}

/// Prints lines of these depths with guides. `line` returns one by its number, and `rest` the line for those of its
/// entries that have none. `last` stands for further starting points.
pub(super) fn branches(
    depths: &[u32],
    line: impl Fn(usize) -> Line,
    rest: impl Fn(usize) -> Option<Line>,
    last: Option<Line>,
    out: &Stdout,
) {
    let mut lines = Lines::new(out);
    let mut print = |guides: String, Line { left, name, right }: Line| {
        let name = guides + &name;
        let mut line = format!("  {left}  {name}");
        if let Some(right) = right {
            let gap = NAMES.saturating_sub(name.chars().count());
            let _ = write!(line, "{:gap$}  {right:>11}", "");
        }
        line.push('\n');
        lines.line(|out| out.extend_from_slice(line.as_bytes()))
    };
    // For each level whether more lines of it follow, and the remaining entries to print at its end.
    let mut rests: Vec<(u32, Line)> = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    for (at, depth) in depths.iter().copied().enumerate() {
        while let Some((of, rest)) = rests.pop_if(|(of, _)| *of >= depth) {
            print(guides(&open, of + 1, true), rest);
        }
        let has_next =
            depths[at + 1..].iter().find(|next| **next <= depth).is_some_and(|next| *next == depth)
                || rests.last().is_some_and(|(of, _)| of + 1 == depth);
        open.truncate(depth as usize);
        let guide = guides(&open, depth, !has_next);
        open.push(has_next);
        if !print(guide, line(at)) {
            return;
        }
        rests.extend(rest(at).map(|rest| (depth, rest)));
    }
    while let Some((of, rest)) = rests.pop() {
        print(guides(&open, of + 1, true), rest);
    }
    if let Some(last) = last {
        print(String::new(), last);
    }
    lines.flush();
}

/// Returns the percentage, rounded to the nearest. The sum of everything is 100 % of itself, even if it is 0.
fn share(bytes: u128, total: u128) -> u128 {
    match total {
        0 => 100,
        // No sum of sizes has so many digits that this overflows, but a file may say anything.
        _ => bytes.saturating_mul(100).saturating_add(total / 2) / total,
    }
}

/// Stands for entries that have no line.
pub(super) fn smaller(entries: u64) -> String {
    format!("({} smaller)", HumanCount(entries))
}

/// Returns the lines that lead to an entry. `open`: for each level above, whether more entries of it follow.
fn guides(open: &[bool], depth: u32, is_last: bool) -> String {
    if depth == 0 {
        return String::new();
    }
    // Levels of starting points have no lines. Very deep entries keep the lines nearest to them.
    let above = open.iter().take(depth as usize).skip(1);
    let mut guides: String = above.map(|open| if *open { "\u{2502}  " } else { "   " }).collect();
    guides.push_str(if is_last { "\u{2514}\u{2500} " } else { "\u{251c}\u{2500} " });
    guides
}
