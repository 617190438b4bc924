//! Describes how the times of two trees agree.

use std::time::Duration;

use ftk_file::{RoundedSide, Rounding, TimeAgreement};

use crate::human;

/// Describes it: `mtimes of 412 files: +1 h 0 min`, or `mtimes of 412 files: times of the copy are rounded to 1 µs`.
/// `names` are the words for the times of both sides.
pub(crate) fn describe(agreement: &TimeAgreement, files: u64, names: [&str; 2]) -> String {
    let files = human::count(files, "file");
    let rounded = agreement.rounding().map(|(side, rounding)| {
        let to = match rounding {
            Rounding::Step(ns) => step(ns),
            Rounding::DoubleSeconds => "a floating-point number of seconds".into(),
            Rounding::DoubleMillis => "a floating-point number of milliseconds".into(),
        };
        format!("{} are rounded to {to}", names[usize::from(side == RoundedSide::New)])
    });
    let ns = agreement.shift_ns();
    let sign = if ns < 0 { '-' } else { '+' };
    let by = match u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX) {
        ns @ ..10_000_000 => step(ns.into()),
        ns => human::time(Duration::from_nanos(ns)),
    };
    let shift = (ns != 0).then(|| format!("{sign}{by}"));
    let changes: Vec<_> = shift.into_iter().chain(rounded).collect();
    format!("mtimes of {files}: {}", changes.join(", and "))
}

/// Returns the JSON members `"shift_ns":0,"rounded":"new","step_ns":1000`. `names` are the words for the two sides.
pub(crate) fn members(agreement: &TimeAgreement, names: [&str; 2]) -> String {
    let shift = format!("\"shift_ns\":{}", agreement.shift_ns());
    let Some((side, rounding)) = agreement.rounding() else { return shift };
    let (member, ns) = match rounding {
        Rounding::Step(ns) => ("step_ns", ns),
        Rounding::DoubleSeconds => ("double_unit_ns", 1_000_000_000),
        Rounding::DoubleMillis => ("double_unit_ns", 1_000_000),
    };
    format!("{shift},\"rounded\":\"{}\",\"{member}\":{ns}", names[usize::from(side == RoundedSide::New)])
}

/// Formats a time exactly, in its largest unit: `2 s`, `10 ms`, `1 µs`, `1234567 ns`.
fn step(ns: i128) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "\u{b5}s"), (1, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns % unit == 0).expect("1 divides every number");
    format!("{} {name}", ns / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_exact() {
        for (ns, text) in [
            (2_000_000_000, "2 s"),
            (10_000_000, "10 ms"),
            (1000, "1 \u{b5}s"),
            (100, "100 ns"),
            (1_234_567, "1234567 ns"),
        ] {
            assert_eq!(step(ns), text);
        }
    }
}
