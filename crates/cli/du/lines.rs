//! Lines of a size, a tab and a path, for other programs.

use std::io::Write as _;

use ftk_usage::{Listing, Measure, Usage};

use super::UNKNOWN;
use crate::size::Unit;
use crate::stdout::{Lines, Stdout};

/// Prints a line for each row: bytes, unless there is a unit. With --exclusive, the number of unknown files follows.
/// Names are raw bytes.
pub(super) fn print(
    usage: &Usage,
    listing: &Listing,
    measure: Measure,
    unit: Option<Unit>,
    null: bool,
    out: &Stdout,
) {
    let end = if null { 0 } else { b'\n' };
    let mut lines = Lines::new(out);
    for row in &listing.rows {
        let bytes = usage.bytes(row.item, measure);
        let exclusive = usage.exclusive(row.item);
        let path = usage.path(row.item);
        let is_written = lines.line(|line| {
            let is_known = exclusive.is_none_or(|exclusive| exclusive.known().is_some());
            // Writing to a Vec cannot fail.
            let _ = match unit {
                _ if !is_known => write!(line, "{UNKNOWN}\t"),
                Some(unit) => write!(line, "{}\t", unit.format(bytes)),
                None => write!(line, "{bytes}\t"),
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
    lines.flush();
}
