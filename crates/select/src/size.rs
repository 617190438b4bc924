//! Tests on the length.

use std::str::FromStr;

use crate::ParseError;
use crate::bound::Bound;

/// A test on the length in bytes: exactly, more than, or less than a number. Nothing is rounded.
///
/// Written `[+-]N[K|M|G|T]`: `+` is strictly more, `-` strictly less, neither is exactly; the number is one of
/// [`parse_bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(Bound);

impl Size {
    /// Whether a length passes.
    pub fn takes(self, bytes: u64) -> bool {
        self.0.takes(bytes)
    }
}

impl FromStr for Size {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Bound::parse(text, parse_bytes).map(Self)
    }
}

/// A number of bytes, written `N[K|M|G|T]`: the units, in either case, are powers of 1,024, and without one the
/// number counts bytes.
///
/// # Errors
/// When it is not written so, or is more than fits.
pub fn parse_bytes(text: &str) -> Result<u64, ParseError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(ParseError::new(0, "a number is missing"));
    }
    let shift = match unit {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err(ParseError::new(digits, format!("`{unit}` is not a unit: use K, M, G or T"))),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| ParseError::new(0, format!("`{number}{unit}` is more than 2^64 - 1 bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(text: &str, bytes: u64) -> bool {
        text.parse::<Size>().unwrap().takes(bytes)
    }

    #[test]
    fn nothing_is_rounded() {
        assert!(takes("1K", 1024) && !takes("1K", 1023) && !takes("1K", 1025));
        assert!(takes("+1K", 1025) && !takes("+1K", 1024));
        assert!(takes("-1K", 1023) && !takes("-1K", 1024) && takes("-1K", 0));
        assert!(takes("0", 0) && !takes("0", 1) && takes("+0", 1) && !takes("-0", 0));
    }

    #[test]
    fn units_are_powers_of_1024() {
        for (power, unit) in ["", "K", "M", "G", "T"].into_iter().enumerate() {
            let bytes = 3 * 1024_u64.pow(power as u32);
            assert!(takes(&format!("3{unit}"), bytes) && takes(&format!("3{}", unit.to_lowercase()), bytes));
        }
        assert!(takes("18446744073709551615", u64::MAX));
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "a number is missing (at byte 1)"),
            ("+", "a number is missing (at byte 2)"),
            ("K", "a number is missing (at byte 1)"),
            ("+-1", "a number is missing (at byte 2)"),
            ("12Q", "`Q` is not a unit: use K, M, G or T (at byte 3)"),
            ("-1KiB", "`KiB` is not a unit: use K, M, G or T (at byte 3)"),
            ("1.5M", "`.5M` is not a unit: use K, M, G or T (at byte 2)"),
            ("1é", "`é` is not a unit: use K, M, G or T (at byte 2)"),
            ("+16777216T", "`16777216T` is more than 2^64 - 1 bytes (at byte 2)"),
            ("99999999999999999999", "`99999999999999999999` is more than 2^64 - 1 bytes (at byte 1)"),
        ] {
            assert_eq!(text.parse::<Size>().unwrap_err().to_string(), message);
        }
    }
}
