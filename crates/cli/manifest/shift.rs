//! Describes a shift of nearly all times.

use ftk_manifest::{Shift, ShiftKind};

use crate::agreement;
use crate::human::{self, local_time};

/// What the times are called in messages about a tree and its manifest.
pub(super) const TREE: [&str; 2] = ["recorded times", "times of the copy"];

/// Describes a shift: `mtimes of 412 files: +1 h 0 min`. `names` are the words for the old and the new times.
pub(super) fn describe(shift: &Shift, names: [&str; 2]) -> String {
    match shift.kind {
        ShiftKind::Agreeing(agreement) => agreement::describe(&agreement, shift.files, names),
        ShiftKind::Reset { from_ns, to_ns } => {
            let [from, to] = [from_ns, to_ns].map(local_time);
            let files = human::count(shift.files, "file");
            format!("mtimes of {files}: all from {from} to {to}, as after a copy without times")
        }
    }
}

/// Appends `{"verdict":"shifted","path":".","files":412,"shift_ns":3600000000000}`. `member` is the name of the first
/// one.
pub(super) fn push_json(out: &mut Vec<u8>, member: &str, shift: &Shift) {
    let how = match shift.kind {
        ShiftKind::Agreeing(agreement) => agreement::members(&agreement, ["old", "new"]),
        ShiftKind::Reset { from_ns, to_ns } => format!("\"from_ns\":{from_ns},\"to_ns\":{to_ns}"),
    };
    let line = format!("{{\"{member}\":\"shifted\",\"path\":\".\",\"files\":{},{how}}}\n", shift.files);
    out.extend_from_slice(line.as_bytes());
}
