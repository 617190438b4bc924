//! Parsers for numeric arguments.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use ftk_manifest::Sample;
use jiff::{Span, SpanRelativeTo};

/// Returns a parser for whole numbers from `least` to the maximum of `T`.
pub(crate) fn at_least<T>(least: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy,
{
    move |text| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_number && number >= least => Ok(number),
            _ if is_number && text.trim_start_matches('0').len() > 9 => Err("the number is too large".into()),
            _ => Err(format!("expected a whole number, {least} or more")),
        }
    }
}

/// Parses a share of the files, `5%`, `0.1%` or `5`: more than 0 and at most 100. Every run samples other files.
pub(crate) fn share(text: &str) -> Result<Sample, String> {
    let percent: Result<f64, _> = text.strip_suffix('%').unwrap_or(text).parse();
    match percent {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Sample::new(percent)),
        _ => Err("expected more than 0% and at most 100%".into()),
    }
}

/// Parses a period such as `2h`, `1h30m` or `2 days`, or `0`. A day has 24 hours.
pub(crate) fn period(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a period such as 90s, 30m, 2h or 1h30m".to_owned();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let span: Span = text.parse().map_err(|_| wrong())?;
    let period = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    Duration::try_from(period).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_lower_bound() {
        assert_eq!(at_least(1_u64)("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(at_least(0_u32)("007"), Ok(7));
        for bad in ["", "0", "-1", "+1", "1.5", "many", "\u{664}"] {
            assert_eq!(at_least(1_u32)(bad), Err("expected a whole number, 1 or more".into()), "{bad}");
        }
        assert_eq!(at_least(0_u32)("99999999999"), Err("the number is too large".into()));
    }

    #[test]
    fn periods_have_units() {
        for (text, seconds) in [
            ("0", 0),
            ("0s", 0),
            ("90s", 90),
            ("2h", 7200),
            ("1h30m", 5400),
            ("2 days", 172_800),
            ("PT1M", 60),
        ] {
            assert_eq!(period(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "5", "-1h", "1h ago", "soon", "1 month", "99999999999999h"] {
            assert!(period(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_are_above_0_and_at_most_100_per_cent() {
        for good in ["5%", "0.1%", "100", "1e-3%"] {
            assert!(share(good).is_ok(), "{good}");
        }
        for bad in ["", "%", "0", "-1%", "100.1%", "nan", "inf", "5 %", "half"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
