//! Directories that grew or shrank: a tree for people, lines, and JSON.

use std::io::Write as _;

use ftk_record::{sanitize, write_record};
use ftk_usage::{Change, ChangedRow, Difference, Measure, State};
use indicatif::HumanCount;

use super::UNKNOWN;
use super::tree::{Line, branches, smaller};
use crate::size::Unit;
use crate::stdout::{Lines, Stdout};

/// How changes are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) json: bool,
    pub(crate) measure: Measure,
    pub(crate) unit: Option<Unit>,
    pub(crate) null: bool,
    /// Whether both records have allocated bytes.
    pub(crate) has_allocated: bool,
}

/// Prints the rows of a difference.
pub(crate) fn print(difference: &Difference<'_>, rows: &[ChangedRow], style: Style, out: &Stdout) {
    if !style.json && Stdout::is_terminal() && !style.null {
        return print_tree(difference, rows, style, out);
    }
    let mut lines = Lines::new(out);
    for row in rows {
        let is_written = lines.line(|line| match style.json {
            true => write_json(line, difference, row, style),
            false => {
                // Writing to a Vec cannot fail.
                let _ = match (row.change, style.unit) {
                    (None, _) => write!(line, "{UNKNOWN}\t"),
                    (Some(change), None) => write!(line, "{}\t", change.bytes(style.measure)),
                    (Some(change), Some(unit)) => {
                        write!(line, "{}\t", signed(change.bytes(style.measure), unit))
                    }
                };
                line.extend_from_slice(&difference.path(row));
                line.push(if style.null { 0 } else { b'\n' });
            }
        });
        if !is_written {
            return;
        }
    }
    lines.flush();
}

fn write_json(line: &mut Vec<u8>, difference: &Difference<'_>, row: &ChangedRow, style: Style) {
    write_record(line, |record| {
        record
            .path("path", &difference.path(row))
            .member("type", if row.is_directory { "directory" } else { "file" })
            .member("depth", row.depth)
            .member("change", word(row.state));
        if let Some(change) = row.change {
            if style.has_allocated {
                record.member("allocated_bytes_change", change.allocated);
            }
            record.member("apparent_bytes_change", change.apparent).member("files_change", change.files);
        }
        if row.unknown > 0 {
            record.member("unknown", row.unknown);
        }
    });
}

fn word(state: State) -> &'static str {
    match state {
        State::Added => "added",
        State::Removed => "removed",
        State::Kept => "changed",
    }
}

fn print_tree(difference: &Difference<'_>, rows: &[ChangedRow], style: Style, out: &Stdout) {
    let unit = style.unit.unwrap_or(Unit::Decimal);
    let bytes = |change: Change| change.bytes(style.measure);
    let left = |change: Option<Change>| {
        format!("{:>8}", change.map_or_else(|| UNKNOWN.to_owned(), |change| signed(bytes(change), unit)))
    };
    let chains = chains(rows);
    let depths: Vec<_> = chains.iter().map(|chain| chain.depth).collect();
    let line = |at: usize| {
        let names = chains[at].rows.clone().map(|row| sanitize(difference.name(&rows[row])));
        let row = &rows[chains[at].rows.end - 1];
        let files = row.change.filter(|_| row.is_directory).map_or_else(String::new, files);
        let note = match (row.state, row.unknown) {
            (State::Kept, 0) => "",
            (State::Kept, _) => "in part unknown",
            (state, _) => word(state),
        };
        let right = format!("{files:>11}  {note}").trim_end().to_owned();
        Line {
            left: left(row.change),
            name: names.collect::<Vec<_>>().join("/"),
            right: Some(right).filter(|right| !right.is_empty()),
        }
    };
    let smallest = rows.iter().filter_map(|row| row.change).map(|it| bytes(it).unsigned_abs()).min();
    let rest = |at: usize| {
        let row = &rows[chains[at].rows.end - 1];
        let is_shown = |change| row.depth == 0 || Some(bytes(change).unsigned_abs()) >= smallest;
        let (entries, change) = row.rest.filter(|(_, change)| is_shown(*change))?;
        Some(Line { left: left(Some(change)), name: smaller(entries), right: None })
    };
    branches(&depths, line, rest, None, out);
}

/// Rows that are one line: a directory, and the only entry in it that changed.
struct Chain {
    rows: std::ops::Range<usize>,
    depth: u32,
}

/// Joins each directory with the entry in it that explains all of its change. The starting point has its own line.
fn chains(rows: &[ChangedRow]) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    // The chains that lead to the current row.
    let mut above: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        while above.pop_if(|chain| rows[chains[*chain].rows.end - 1].depth >= row.depth).is_some() {}
        let of = above.last().copied();
        let is_joined = of.is_some_and(|of| {
            let last = &rows[at - 1];
            let has_siblings = rows[at + 1..]
                .iter()
                .find(|next| next.depth <= row.depth)
                .is_some_and(|it| it.depth == row.depth);
            chains[of].rows.end == at
                && last.depth > 0
                && last.rest.is_none()
                && !has_siblings
                && last.change.is_some()
                && (last.change, last.state, last.is_directory) == (row.change, row.state, row.is_directory)
        });
        match of {
            Some(of) if is_joined => chains[of].rows.end = at + 1,
            _ => {
                above.push(chains.len());
                let depth = of.map_or(0, |of| chains[of].depth + 1);
                chains.push(Chain { rows: at..at + 1, depth });
            }
        }
    }
    chains
}

/// Formats a change of bytes: `+212 GB`, `-13 GB`, `0 B`.
pub(crate) fn signed(bytes: i128, unit: Unit) -> String {
    format!("{}{}", sign(bytes), unit.format(bytes.unsigned_abs()))
}

fn files(change: Change) -> String {
    match change.files {
        0 => String::new(),
        files => format!("{}{}", sign(files.into()), HumanCount(files.unsigned_abs())),
    }
}

fn sign(change: i128) -> &'static str {
    match change {
        0 => "",
        1.. => "+",
        _ => "-",
    }
}
