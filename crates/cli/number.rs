//! Parsers for numeric arguments.

use std::fmt::Display;
use std::str::FromStr;

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
}
