//! Lines of a size, a tab and a path, for other programs.

use std::io::Write as _;

use ftk_usage::{Listing, Measure, Usage};

use super::UNKNOWN;
use crate::size::Unit;
use crate::stdout::{Lines, Stdout};

/// Prints a line for each row: bytes, unless there is a unit. With --exclusive, the number of unknown files follows.
/// Names are raw bytes. With --total, the last line has the sum.
pub(super) fn print(
    usage: &Usage,
    listing: &Listing,
    measure: Measure,
    unit: Option<Unit>,
    null: bool,
    has_total: bool,
    out: &Stdout,
) {
    let end = if null { 0 } else { b'\n' };
    let amount = |bytes: u128| unit.map_or_else(|| bytes.to_string(), |unit| unit.format(bytes));
    let mut lines = Lines::new(out);
    for row in &listing.rows {
        let bytes = usage.bytes(row.item, measure);
        let exclusive = usage.exclusive(row.item);
        let path = usage.path(row.item);
        let is_written = lines.line(|line| {
            let is_known = exclusive.is_none_or(|exclusive| exclusive.known().is_some());
            // Writing to a Vec cannot fail.
            let _ = match is_known {
                false => write!(line, "{UNKNOWN}\t"),
                true => write!(line, "{}\t", amount(bytes)),
            };
            if let Some(exclusive) = exclusive {
                let _ = write!(line, "{}\t", exclusive.unknown_files);
            }
            line.extend_from_slice(&path);
            line.push(end);
        });
        if !is_written {
            return;
        }
    }
    if has_total {
        lines.line(|line| {
            line.extend_from_slice(format!("{}\ttotal", amount(usage.total_bytes(measure))).as_bytes());
            line.push(end);
        });
    }
    lines.flush();
}
