//! The tree for people.

use std::fmt::Write as _;

use ftk_record::sanitize;
use ftk_usage::{Listing, Measure, Rest, Usage};
use indicatif::HumanCount;

use crate::size::Unit;
use crate::stdout::{Lines, Stdout};

/// The width of names, guides included, before the number of files.
const NAMES: usize = 34;

/// Prints the listing as a tree, with the share of everything that was counted.
pub(super) fn print(usage: &Usage, listing: &Listing, measure: Measure, unit: Option<Unit>, out: &Stdout) {
    let unit = unit.unwrap_or(Unit::Decimal);
    let total = usage.total().bytes(measure);
    let mut lines = Lines::new(out);
    let smallest = listing.rows.iter().map(|row| row.sum.bytes(measure)).min().unwrap_or_default();
    let is_shown = |rest: &Rest, depth: u32| depth == 0 || rest.sum.bytes(measure) >= smallest;
    let mut print = |bytes: u128, name: &str, files: Option<u64>| {
        let percent = share(bytes, total);
        let mut line = format!("  {:>7}  {percent:>3} %  {name}", unit.format(bytes));
        if let Some(files) = files {
            let gap = NAMES.saturating_sub(name.chars().count());
            let _ = write!(line, "{:gap$}  {:>11}", "", HumanCount(files).to_string());
        }
        line.push('\n');
        lines.line(|out| out.extend_from_slice(line.as_bytes()))
    };
    let depths: Vec<_> = listing.rows.iter().map(|row| usage.depth(row.item)).collect();
    // For each level whether more lines of it follow, and the remaining entries to print at its end.
    let mut rests: Vec<(u32, Rest)> = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    for (at, row) in listing.rows.iter().enumerate() {
        let depth = depths[at];
        while let Some((of, rest)) = rests.pop_if(|(of, _)| *of >= depth) {
            print(rest.sum.bytes(measure), &(guides(&open, of + 1, true) + &smaller(rest)), None);
        }
        let has_next =
            depths[at + 1..].iter().find(|next| **next <= depth).is_some_and(|next| *next == depth)
                || rests.last().is_some_and(|(of, _)| of + 1 == depth);
        open.truncate(depth as usize);
        let guide = guides(&open, depth, !has_next);
        open.push(has_next);
        let name = sanitize(usage.name(row.item));
        let files = (depth > 0 && usage.is_directory(row.item)).then_some(row.sum.files);
        if !print(row.sum.bytes(measure), &(guide + &name), files) {
            return;
        }
        if let Some(rest) = row.rest.filter(|rest| is_shown(rest, depth)) {
            rests.push((depth, rest));
        }
    }
    while let Some((of, rest)) = rests.pop() {
        print(rest.sum.bytes(measure), &(guides(&open, of + 1, true) + &smaller(rest)), None);
    }
    if let Some(rest) = listing.rest {
        print(rest.sum.bytes(measure), &smaller(rest), None);
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

fn smaller(rest: Rest) -> String {
    format!("({} smaller)", HumanCount(rest.entries))
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
