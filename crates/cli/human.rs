//! Times, devices and counted things for people; bytes are indicatif's.

use std::time::Duration;

use indicatif::{DecimalBytes, HumanCount};

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

/// A time that is only guessed at, with a digit or two: `7 s`, `5 min`, `3 h 5 min`.
pub(crate) fn rough_time(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Bytes of all bytes: `1.21 of 1.95 TB`, `900.00 MB of 1.95 TB`.
pub(crate) fn part(bytes: u64, of: u64) -> String {
    let (bytes, of) = (DecimalBytes(bytes).to_string(), DecimalBytes(of).to_string());
    match (bytes.split_once(' '), of.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} of {of}"),
        _ => format!("{bytes} of {of}"),
    }
}

/// The number of a device, `8:1`, as `ls` and `stat` show it.
pub(crate) fn device(rdev: u64) -> String {
    format!("{}:{}", rustix::fs::major(rdev), rustix::fs::minor(rdev))
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

    #[test]
    fn rough_times() {
        for (millis, text) in [(400, "0 s"), (6_600, "7 s"), (299_000, "5 min"), (11_100_000, "3 h 5 min")] {
            assert_eq!(rough_time(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn parts() {
        assert_eq!(part(1_210_000_000_000, 1_950_000_000_000), "1.21 of 1.95 TB");
        assert_eq!(part(900_000_000, 1_950_000_000_000), "900.00 MB of 1.95 TB");
    }
}
