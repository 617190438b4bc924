//! Times, device numbers, counts and names for people. Bytes are formatted by indicatif.

use std::borrow::Cow;
use std::time::Duration;

use ftk_inventory::NormalForm;
use ftk_record::{quote, sanitize};
use indicatif::{DecimalBytes, HumanCount};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a count with its noun: `1 file`, `86,629 files`.
pub(crate) fn count(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {}", HumanCount(n), plural(one)) }
}

/// Formats a number: `86,629`.
pub(crate) fn number(n: u64) -> String {
    HumanCount(n).to_string()
}

/// Returns `2 files and 1 directory`, or `None` if there are neither.
pub(crate) fn files_and_directories(files: u64, dirs: u64) -> Option<String> {
    match (files, dirs) {
        (0, 0) => None,
        (_, 0) => Some(count(files, "file")),
        (0, _) => Some(directories(dirs)),
        _ => Some(format!("{} and {}", count(files, "file"), directories(dirs))),
    }
}

/// Returns the plural of a noun.
pub(crate) fn plural(one: &str) -> String {
    one.strip_suffix("ory").map_or_else(|| format!("{one}s"), |start| format!("{start}ories"))
}

/// Formats a number of entries.
pub(crate) fn entries(n: u64) -> String {
    format!("{} {}", HumanCount(n), if n == 1 { "entry" } else { "entries" })
}

/// Formats a number of directories.
pub(crate) fn directories(n: u64) -> String {
    count(n, "directory")
}

/// Formats a time with about three digits: `0.64 ms`, `12.30 s`, `14 min 2 s`, `3 h 5 min`.
pub(crate) fn time(time: Duration) -> String {
    // The time is rounded before the unit is chosen, so that 59.996 s becomes `1 min 0 s` and not `60.00 s`.
    let [micros, centis, seconds] = [10_000, 10_000_000, 1_000_000_000].map(|unit| rounded(time, unit));
    match seconds {
        _ if micros < 10_000 => format!("{:.2} ms", micros as f64 / 100.0),
        _ if centis < 6_000 => format!("{:.2} s", centis as f64 / 100.0),
        0..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => hours(rounded(time, MINUTE)),
    }
}

/// Formats bytes, their time and rate: `1.20 GB in 3.00 s (400.00 MB/s)`, or `0 B in 3.00 s`.
pub(crate) fn rate(bytes: u64, took: Duration) -> String {
    if bytes == 0 {
        return format!("{} in {}", DecimalBytes(0), time(took));
    }
    let rate = bytes as f64 / took.as_secs_f64().max(1e-9);
    format!("{} in {} ({}/s)", DecimalBytes(bytes), time(took), DecimalBytes(rate as u64))
}

/// Formats an estimated time, with a digit or two: `7 s`, `5 min`, `3 h 5 min`.
pub(crate) fn rough_time(time: Duration) -> String {
    match (rounded(time, 1_000_000_000), rounded(time, MINUTE)) {
        (seconds @ 0..60, _) => format!("{seconds} s"),
        (_, minutes @ 0..60) => format!("{minutes} min"),
        (_, minutes) => hours(minutes),
    }
}

/// Formats the age of something in whole units, rounded up: `31 days`, `5 hours`, `1 minute`.
pub(crate) fn age(ns: u128) -> String {
    let units = [(24 * 60 * MINUTE, "day"), (60 * MINUTE, "hour"), (MINUTE, "minute")];
    let (unit, name) = units.into_iter().find(|(unit, _)| ns >= 2 * unit).unwrap_or((MINUTE, "minute"));
    count(u64::try_from(ns.div_ceil(unit)).unwrap_or(u64::MAX).max(1), name)
}

/// A minute in nanoseconds.
const MINUTE: u128 = 60_000_000_000;

/// Returns the time in units of `unit` nanoseconds, rounded to the nearest.
fn rounded(time: Duration, unit: u128) -> u128 {
    (time.as_nanos() + unit / 2) / unit
}

fn hours(minutes: u128) -> String {
    format!("{} h {} min", minutes / 60, minutes % 60)
}

/// Formats a part of all bytes: `1.21 of 1.95 TB`, `900.00 MB of 1.95 TB`.
pub(crate) fn part(bytes: u64, of: u64) -> String {
    let (bytes, of) = (DecimalBytes(bytes).to_string(), DecimalBytes(of).to_string());
    match (bytes.split_once(' '), of.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} of {of}"),
        _ => format!("{bytes} of {of}"),
    }
}

/// Formats a time in the local time zone, with its offset: `2026-03-01T09:00:00.5+01:00`. If the calendar has
/// no such year, formats it in seconds since 1970.
pub(crate) fn local_time(ns: i128) -> String {
    in_zone(ns, TimeZone::system())
}

/// Formats a time in UTC, as ISO 8601: `2026-03-01T08:00:00.5Z`.
pub(crate) fn utc(ns: i128) -> String {
    let text = in_zone(ns, TimeZone::UTC);
    text.strip_suffix("+00:00").map_or_else(|| text.clone(), |time| format!("{time}Z"))
}

/// Formats a time in the local time zone, to the minute: `2026-03-01 09:00`.
pub(crate) fn date(ns: i128) -> String {
    let time = in_zone(ns, TimeZone::system());
    time.split_once('T')
        .map_or(time.clone(), |(day, clock)| format!("{day} {}", clock.get(..5).unwrap_or(clock)))
}

fn in_zone(ns: i128, zone: TimeZone) -> String {
    match Timestamp::from_nanosecond(ns) {
        Ok(time) => time.to_zoned(zone).strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string(),
        Err(_) => format!("@{}", ns.div_euclid(1_000_000_000)),
    }
}

/// Formats the number of a device like `ls` and `stat`: `8:1`.
pub(crate) fn device(rdev: u64) -> String {
    let (major, minor) = ftk_file::device_parts(rdev);
    format!("{major}:{minor}")
}

/// Stands between the old and the new value.
pub(crate) const ARROW: char = '\u{2192}';

/// Returns the name unchanged, or in quotes if a part of it could be misread.
pub(crate) fn shown(name: &[u8]) -> Cow<'_, str> {
    match sanitize(name) {
        Cow::Borrowed(text) if !text.contains(['\'', '\\', ARROW]) => text.into(),
        _ => quote(name).into(),
    }
}

/// Describes that files which were hard links of each other are not any more.
pub(crate) fn describe_split_links(groups: u64) -> String {
    let (are, files) = if groups == 1 { ("is", "group") } else { ("are", "groups") };
    format!("{} {files} of hard links {are} separate files in the copy", HumanCount(groups))
}

/// Says how many names differ only in their normal form.
pub(crate) fn describe_respelled(names: u64) -> String {
    let differ = if names == 1 { "name differs" } else { "names differ" };
    format!("{} {differ} only in the Unicode normal form: --normalize-names accepts this", HumanCount(names))
}

/// Returns the normal forms of the last name in which two paths differ.
pub(crate) fn forms(paths: [&[u8]; 2]) -> [&'static str; 2] {
    let names = paths.map(|path| path.rsplit(|byte| *byte == b'/'));
    let [a, b] = names;
    let differing = a.zip(b).find(|(a, b)| a != b).unwrap_or((paths[0], paths[1]));
    let form = |name| NormalForm::of(name).map_or("not UTF-8", NormalForm::name);
    [form(differing.0), form(differing.1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_have_no_rate() {
        assert_eq!(rate(3_000_000, Duration::from_secs(3)), "3.00 MB in 3.00 s (1.00 MB/s)");
        assert_eq!(rate(0, Duration::from_secs(3)), "0 B in 3.00 s");
    }

    #[test]
    fn counts() {
        assert_eq!([0, 1, 86_629].map(|n| count(n, "file")), ["0 files", "1 file", "86,629 files"]);
        assert_eq!([1, 2].map(|n| count(n, "directory")), ["1 directory", "2 directories"]);
    }

    #[test]
    fn times() {
        for (millis, text) in [
            (0, "0.00 ms"),
            (1, "1.00 ms"),
            (640, "0.64 s"),
            (99, "99.00 ms"),
            (100, "0.10 s"),
            (59_994, "59.99 s"),
            (59_995, "1 min 0 s"),
            (60_499, "1 min 0 s"),
            (60_500, "1 min 1 s"),
            (842_000, "14 min 2 s"),
            (3_599_499, "59 min 59 s"),
            (3_599_500, "1 h 0 min"),
            (7_169_999, "1 h 59 min"),
            (7_170_000, "2 h 0 min"),
            (11_100_000, "3 h 5 min"),
        ] {
            assert_eq!(time(Duration::from_millis(millis)), text);
        }
        assert_eq!(time(Duration::from_micros(99_994)), "99.99 ms");
        assert_eq!(time(Duration::from_micros(99_995)), "0.10 s");
    }

    #[test]
    fn rough_times() {
        for (millis, text) in [
            (400, "0 s"),
            (6_600, "7 s"),
            (59_499, "59 s"),
            (59_500, "1 min"),
            (89_999, "1 min"),
            (90_000, "2 min"),
            (299_000, "5 min"),
            (3_569_999, "59 min"),
            (3_570_000, "1 h 0 min"),
            (3_599_000, "1 h 0 min"),
            (7_199_000, "2 h 0 min"),
            (11_100_000, "3 h 5 min"),
        ] {
            assert_eq!(rough_time(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn ages_are_rounded_up() {
        for (seconds, text) in [
            (0, "1 minute"),
            (61, "2 minutes"),
            (3600, "60 minutes"),
            (7200, "2 hours"),
            (172_799, "48 hours"),
            (172_800, "2 days"),
            (31 * 86_400 - 1, "31 days"),
        ] {
            assert_eq!(age(seconds * 1_000_000_000), text);
        }
        assert_eq!(age(u128::MAX), "18,446,744,073,709,551,615 days");
    }

    #[test]
    fn times_are_local() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        for (ns, text) in [
            (0, "1970-01-01T01:00:00+01:00"),
            (1_000_000_000_500_000_000, "2001-09-09T03:46:40.5+02:00"),
            (-1, "1970-01-01T00:59:59.999999999+01:00"),
            (i128::from(i64::MAX) * 1_000_000_000, "@9223372036854775807"),
        ] {
            assert_eq!(in_zone(ns, zone.clone()), text);
        }
    }

    #[test]
    fn parts() {
        assert_eq!(part(1_210_000_000_000, 1_950_000_000_000), "1.21 of 1.95 TB");
        assert_eq!(part(900_000_000, 1_950_000_000_000), "900.00 MB of 1.95 TB");
    }
}
