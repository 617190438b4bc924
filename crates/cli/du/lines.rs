//! Lines of a size, a tab and a path, for other programs.

use std::io::Write as _;

use ftk_usage::{Listing, Measure, Usage};

use crate::size::Unit;
use crate::stdout::{Lines, Stdout};

/// Prints a line for each row: bytes, unless there is a unit. Names are raw bytes.
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
        let bytes = row.sum.bytes(measure);
        let path = usage.path(row.item);
        let is_written = lines.line(|line| {
            let _ = match unit {
                Some(unit) => write!(line, "{}\t", unit.format(bytes)),
                None => write!(line, "{bytes}\t"), // writing to a Vec cannot fail
            };
            line.extend_from_slice(&path);
            line.push(end);
        });
        if !is_written {
            return;
        }
    }
    lines.flush();
}
