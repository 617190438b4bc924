//! Times and counted things for people; bytes are indicatif's.

use std::time::Duration;

use indicatif::HumanCount;

/// `1 file`, `86,629 files`.
pub(crate) fn count(n: u64, one: &str) -> String {
    format!("{} {one}{}", HumanCount(n), if n == 1 { "" } else { "s" })
}

/// A time with about three digits: `0.64 ms`, `12.3 s`, `14 min 2 s`, `3 h 5 min`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time < Duration::from_millis(100) => format!("{:.2} ms", time.as_secs_f64() * 1e3),
        0..60 => format!("{:.2} s", time.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!([0, 1, 86_629].map(|n| count(n, "file")), ["0 files", "1 file", "86,629 files"]);
    }

    #[test]
    fn times() {
        for (millis, text) in [
            (0, "0.00 ms"),
            (1, "1.00 ms"),
            (640, "0.64 s"),
            (59_990, "59.99 s"),
            (842_000, "14 min 2 s"),
            (11_100_000, "3 h 5 min"),
        ] {
            assert_eq!(time(Duration::from_millis(millis)), text);
        }
    }
}
