//! Describes a shift of nearly all times.

use std::time::Duration;

use ftk_manifest::{Shift, ShiftKind};

use crate::human::{self, local_time};

/// Describes a shift: `mtimes of 412 files: +1 h 0 min`.
pub(super) fn describe(shift: &Shift) -> String {
    let files = human::count(shift.files, "file");
    match shift.kind {
        ShiftKind::By(ns) if ns.unsigned_abs() < 2_000_000_000 => {
            format!("mtimes of {files}: rounded, less than 2 s")
        }
        ShiftKind::By(ns) => {
            let sign = if ns < 0 { '-' } else { '+' };
            let nanos = u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX);
            format!("mtimes of {files}: {sign}{}", human::time(Duration::from_nanos(nanos)))
        }
        ShiftKind::Reset { from_ns, to_ns } => {
            let [from, to] = [from_ns, to_ns].map(local_time);
            format!("mtimes of {files}: all from {from} to {to}, as after a copy without times")
        }
    }
}

/// Appends `{"verdict":"shifted","path":".","files":412,"shift_ns":3600000000000}`.
pub(super) fn push_json(out: &mut Vec<u8>, shift: &Shift) {
    let how = match shift.kind {
        ShiftKind::By(ns) => format!("\"shift_ns\":{ns}"),
        ShiftKind::Reset { from_ns, to_ns } => format!("\"from_ns\":{from_ns},\"to_ns\":{to_ns}"),
    };
    let line = format!("{{\"verdict\":\"shifted\",\"path\":\".\",\"files\":{},{how}}}\n", shift.files);
    out.extend_from_slice(line.as_bytes());
}
