//! Times that modification times are compared with.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

use crate::ParseError;

/// A point in time, in nanoseconds since the Unix epoch, as in [`ftk_walk::Metadata`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i128);

/// Examples of valid texts, for error messages.
const FORMS: &str = "write 3d, 2024-01-31 or yesterday";

impl Time {
    /// Parses a time in one of these forms:
    ///
    /// - A duration before `now`: `2d`, `3h`, `1week`, `1h30m`, in the [friendly
    ///   format](jiff::fmt::friendly). Days and longer units are calendar units in the time zone of `now`.
    /// - A date, or a date with a time: `2024-01-31` (the start of the day), `2024-01-31T12:00`,
    ///   `2024-01-31T12:00:00.5Z`. Without an offset it is in the time zone of `now`.
    /// - `today` and `yesterday`: the start of that day, in the time zone of `now`.
    /// - Seconds since the Unix epoch: `@1706702400`, `@1706702400.25`.
    ///
    /// Current time and time zone come from `now` only.
    ///
    /// # Errors
    /// If the text has another form, or the time is outside the years -9999 to 9999.
    pub fn parse(text: &str, now: &Zoned) -> Result<Self, ParseError> {
        parse_form(text, now).map(|(time, _)| time)
    }
}

/// What a text means, besides the time that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A duration before now.
    Age,
    /// A day without a time.
    Day,
    /// A point in time.
    Moment,
}

/// Parses a time like [`Time::parse`], and returns its form too.
pub(crate) fn parse_form(text: &str, now: &Zoned) -> Result<(Time, Form), ParseError> {
    if let Some(seconds) = text.strip_prefix('@') {
        return epoch(seconds).map(|time| (time, Form::Moment)).map_err(|error| error.offset_by(1));
    }
    let days = ["today", "yesterday"].iter().position(|word| *word == text);
    let year = text.bytes().take_while(u8::is_ascii_digit).count();
    let (moment, form) = match days {
        Some(days) => (day(days as i32, now)?, Form::Day),
        None if year == 4 && text[year..].starts_with('-') => {
            let form = if text.len() == "2024-01-31".len() { Form::Day } else { Form::Moment };
            (date(text, now)?, form)
        }
        None => (ago(text, now)?, Form::Age),
    };
    Ok((Time(moment.as_nanosecond()), form))
}

/// Returns the start of the day that is this many days before the day of `now`.
fn day(days_ago: i32, now: &Zoned) -> Result<Timestamp, ParseError> {
    let first = now.checked_sub(Span::new().days(days_ago)).and_then(|day| day.start_of_day());
    first.map(|day| day.timestamp()).map_err(|_| ParseError::new(0, OUT_OF_RANGE))
}

fn date(text: &str, now: &Zoned) -> Result<Timestamp, ParseError> {
    // The parser would treat a time zone in brackets as an annotation and ignore it.
    if let Some(at) = text.find('[') {
        return Err(ParseError::new(at, "a time zone is written as an offset, such as +02:00"));
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let local: DateTime = text.parse().map_err(|_| not_understood::<DateTime>(text))?;
    let zoned = local.to_zoned(now.time_zone().clone());
    Ok(zoned.map_err(|_| ParseError::new(0, OUT_OF_RANGE))?.timestamp())
}

fn ago(text: &str, now: &Zoned) -> Result<Timestamp, ParseError> {
    let span: Span = text.parse().map_err(|_| not_understood::<Span>(text))?;
    if span.is_negative() {
        return Err(ParseError::new(0, "a duration counts back from now and must not be negative"));
    }
    let moment = now.checked_sub(span).map_err(|_| ParseError::new(0, OUT_OF_RANGE))?;
    Ok(moment.timestamp())
}

/// The problem with a time that the calendar does not have.
const OUT_OF_RANGE: &str = "the time is outside the years -9999 to 9999";

/// Makes the error for a text that does not parse. Its position is the end of the longest prefix that parses.
fn not_understood<T: FromStr>(text: &str) -> ParseError {
    let mut prefixes = text.char_indices().rev().map(|(end, _)| end);
    let at = prefixes.find(|&end| text[..end].parse::<T>().is_ok()).unwrap_or(0);
    ParseError::new(at, format!("`{text}` is not a date, time or duration: {FORMS}"))
}

fn epoch(text: &str) -> Result<Time, ParseError> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = seconds.strip_prefix('-').unwrap_or(seconds);
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if digits.is_empty() || !is_number(digits) {
        return Err(ParseError::new(0, format!("`{seconds}` is not a number of seconds")));
    }
    if fraction.len() > 9 || !is_number(fraction) {
        let problem = format!("`{fraction}` is not a fraction of at most nine digits");
        return Err(ParseError::new(seconds.len() + 1, problem));
    }
    let too_large = || ParseError::new(0, format!("`{seconds}` seconds are out of range"));
    let whole: i64 = digits.parse().map_err(|_| too_large())?;
    let part: i128 = format!("{fraction:0<9}").parse().map_err(|_| too_large())?;
    let ns = i128::from(whole) * 1_000_000_000 + part;
    Ok(Time(if seconds.starts_with('-') { -ns } else { ns }))
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, TimeZone};

    use super::*;

    /// Noon of 2024-03-10, one hour east of Greenwich.
    fn now() -> Zoned {
        let zone = TimeZone::fixed(Offset::constant(1));
        "2024-03-10T12:00".parse::<DateTime>().unwrap().to_zoned(zone).unwrap()
    }

    fn parse(text: &str) -> Result<i128, ParseError> {
        Time::parse(text, &now()).map(|time| time.0)
    }

    fn ns(timestamp: &str) -> Result<i128, ParseError> {
        Ok(timestamp.parse::<Timestamp>().unwrap().as_nanosecond())
    }

    #[test]
    fn durations_count_back() {
        for (text, expected) in [
            ("0s", "2024-03-10T11:00Z"),
            ("2d", "2024-03-08T11:00Z"),
            ("3h", "2024-03-10T08:00Z"),
            ("1week", "2024-03-03T11:00Z"),
            ("1 week 2 days", "2024-03-01T11:00Z"),
            ("1h30m", "2024-03-10T09:30Z"),
            ("2.5h", "2024-03-10T08:30Z"),
            ("1mo", "2024-02-10T11:00Z"),
        ] {
            assert_eq!(parse(text), ns(expected), "{text}");
        }
    }

    #[test]
    fn calendar_days_may_have_23_hours() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now = "2024-03-31T12:00".parse::<DateTime>().unwrap().to_zoned(zone).unwrap();
        assert_eq!(Time::parse("1d", &now).map(|time| time.0), ns("2024-03-30T12:00+01:00"));
        assert_eq!(Time::parse("24h", &now).map(|time| time.0), ns("2024-03-30T11:00+01:00"));
    }

    #[test]
    fn dates_without_an_offset_are_local() {
        for (text, expected) in [
            ("2024-01-31", "2024-01-31T00:00+01:00"),
            ("2024-01-31T12:00", "2024-01-31T12:00+01:00"),
            ("2024-01-31 12:00", "2024-01-31T12:00+01:00"),
            ("2024-01-31T12:00:05.5", "2024-01-31T12:00:05.5+01:00"),
            ("2024-01-31T12:00Z", "2024-01-31T12:00Z"),
            ("2024-01-31T12:00-05:00", "2024-01-31T17:00Z"),
        ] {
            assert_eq!(parse(text), ns(expected), "{text}");
        }
    }

    #[test]
    fn today_and_yesterday_begin_at_midnight() {
        assert_eq!(parse("today"), ns("2024-03-10T00:00+01:00"));
        assert_eq!(parse("yesterday"), ns("2024-03-09T00:00+01:00"));
    }

    #[test]
    fn seconds_since_the_epoch() {
        for (text, expected) in
            [("@0", 0), ("@1.5", 1_500_000_000), ("@-1.25", -1_250_000_000), ("@-0.000000001", -1)]
        {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_texts_are_refused() {
        for (text, problem) in [
            ("", "`` is not a date, time or duration: write 3d, 2024-01-31 or yesterday (at byte 1)"),
            ("5", "is not a date, time or duration"),
            ("2x", "write 3d"),
            ("tomorrow", "`tomorrow` is not a date"),
            ("Yesterday", "`Yesterday` is not a date"),
            ("-2d", "must not be negative"),
            ("2d ago", "must not be negative"),
            ("99999y", "`99999y` is not"),
            ("15000y", "outside the years"),
            ("2024-02-30", "`2024-02-30` is not a date"),
            ("2024-1-3", "is not a date"),
            ("2024-01-31T25:00", "is not a date"),
            ("2024-01-31x", "yesterday (at byte 11)"),
            ("1h 2x", "yesterday (at byte 4)"),
            ("\u{e9}", "yesterday (at byte 1)"),
            ("2024-01-31T12:00[Europe/Berlin]", "an offset, such as +02:00 (at byte 17)"),
            ("@", "`` is not a number of seconds (at byte 2)"),
            ("@+1", "`+1` is not a number of seconds (at byte 2)"),
            ("@1.x", "`x` is not a fraction of at most nine digits (at byte 4)"),
            ("@1.0000000001", "at most nine digits (at byte 4)"),
            ("@99999999999999999999", "seconds are out of range (at byte 2)"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(
                !["format", "parse", "designator"].iter().any(|word| message.contains(word)),
                "{message}"
            );
            assert!(message.contains(problem), "{text}: {message}");
        }
    }
}
