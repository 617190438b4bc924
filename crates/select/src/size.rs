//! The test for sizes.

use std::str::FromStr;

use crate::ParseError;
use crate::bound::Bound;

/// A test for the size in bytes: `SIZE` exactly, `+SIZE` larger, `-SIZE` smaller.
///
/// Sizes are not rounded. [`parse_bytes`] parses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub(crate) Bound<u64>);

impl Size {
    /// Returns whether a size matches.
    pub fn matches(self, bytes: u64) -> bool {
        self.0.matches(&bytes)
    }
}

impl FromStr for Size {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Bound::parse(text, parse_bytes).map(Self)
    }
}

/// Parses a number of bytes: `N[.N][UNIT]`.
///
/// K, M, G, T and P, in either case, and KiB, MiB, GiB, TiB and PiB are powers of 1,024; kB, MB, GB, TB and
/// PB are powers of 1,000. A number without a unit is in bytes. Decimals are exact: `1.5K` is 1,536.
///
/// # Errors
/// If the text has another form, or the result is not a whole number of bytes, or is larger than `u64::MAX`.
pub fn parse_bytes(text: &str) -> Result<u64, ParseError> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(digits(text));
    if whole.is_empty() {
        return Err(ParseError::new(0, "a number is missing"));
    }
    let (fraction, unit) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(digits(rest)),
        None => ("", rest),
    };
    if rest.starts_with('.') && fraction.is_empty() {
        return Err(ParseError::new(whole.len() + 1, "digits are missing after the point"));
    }
    let scale = scale(unit).map_err(|problem| ParseError::new(text.len() - unit.len(), problem))?;
    let part = part(fraction, scale)
        .ok_or_else(|| ParseError::new(0, format!("`{text}` is not a whole number of bytes")))?;
    let bytes = whole.parse::<u64>().ok().and_then(|whole| whole.checked_mul(scale)?.checked_add(part));
    bytes.ok_or_else(|| ParseError::new(0, format!("`{text}` is more than 2^64 - 1 bytes")))
}

/// Returns the number of bytes in one `unit`.
fn scale(unit: &str) -> Result<u64, String> {
    let letter = unit.chars().next().unwrap_or_default().to_ascii_uppercase();
    let power = "KMGTP".find(letter).map_or(0, |at| at as u32 + 1);
    match unit {
        "" => Ok(1),
        "KB" => Err("`KB` could mean 1,000 or 1,024 bytes: write kB for 1,000, K or KiB for 1,024".into()),
        "kB" | "MB" | "GB" | "TB" | "PB" => Ok(1000_u64.pow(power)),
        "KiB" | "MiB" | "GiB" | "TiB" | "PiB" => Ok(1024_u64.pow(power)),
        _ if unit.len() == 1 && power > 0 => Ok(1024_u64.pow(power)),
        _ => Err(format!(
            "`{unit}` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB"
        )),
    }
}

/// Returns `scale` times the fraction with these digits, if the product is a whole number.
fn part(fraction: &str, scale: u64) -> Option<u64> {
    // If the product is a whole number, the result of every step is one too.
    let product = fraction.bytes().rev().try_fold(0_u128, |below, digit| {
        let tenfold = u128::from(digit - b'0') * u128::from(scale) + below;
        (tenfold % 10 == 0).then_some(tenfold / 10)
    })?;
    u64::try_from(product).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(text: &str, bytes: u64) -> bool {
        text.parse::<Size>().unwrap().matches(bytes)
    }

    #[test]
    fn sizes_are_not_rounded() {
        assert!(is_match("1K", 1024) && !is_match("1K", 1023) && !is_match("1K", 1025));
        assert!(is_match("+1K", 1025) && !is_match("+1K", 1024));
        assert!(is_match("-1K", 1023) && !is_match("-1K", 1024) && is_match("-1K", 0));
        assert!(is_match("0", 0) && !is_match("0", 1) && is_match("+0", 1) && !is_match("-0", 0));
    }

    #[test]
    fn units_are_powers_of_1024_or_1000() {
        for (power, unit) in ["", "K", "M", "G", "T", "P"].into_iter().enumerate() {
            let bytes = 3 * 1024_u64.pow(power as u32);
            assert_eq!(parse_bytes(&format!("3{unit}")), Ok(bytes));
            assert_eq!(parse_bytes(&format!("3{}", unit.to_lowercase())), Ok(bytes));
            if power > 0 {
                assert_eq!(parse_bytes(&format!("3{unit}iB")), Ok(bytes));
            }
        }
        for (power, unit) in ["kB", "MB", "GB", "TB", "PB"].into_iter().enumerate() {
            assert_eq!(parse_bytes(&format!("3{unit}")), Ok(3 * 1000_u64.pow(power as u32 + 1)));
        }
        assert!(is_match("18446744073709551615", u64::MAX));
    }

    #[test]
    fn decimals_are_exact() {
        for (text, bytes) in [
            ("1.5G", 3 << 29),
            ("0.5K", 512),
            ("1.0", 1),
            ("0.001kB", 1),
            ("1.25KiB", 1280),
            ("16383.9990234375P", u64::MAX - (1 << 40) + 1),
            ("0.00000000000000088817841970012523233890533447265625P", 1),
            ("2.50000000000000000000000000000000000000000000000000000000000000kB", 2500),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        assert!(is_match("+1.5K", 1537) && !is_match("+1.5K", 1536));
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "a number is missing (at byte 1)"),
            ("+", "a number is missing (at byte 2)"),
            ("K", "a number is missing (at byte 1)"),
            ("+-1", "a number is missing (at byte 2)"),
            (
                "12Q",
                "`Q` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB (at byte 3)",
            ),
            (
                "-1KB",
                "`KB` could mean 1,000 or 1,024 bytes: write kB for 1,000, K or KiB for 1,024 (at byte 3)",
            ),
            (
                "1mb",
                "`mb` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB (at byte 2)",
            ),
            (
                "1é",
                "`é` is not a unit: use K, M, G, T or P (powers of 1,024), or kB, MB, GB, TB or PB (at byte 2)",
            ),
            ("0.3", "`0.3` is not a whole number of bytes (at byte 1)"),
            ("+0.3K", "`0.3K` is not a whole number of bytes (at byte 2)"),
            ("0.0001kB", "`0.0001kB` is not a whole number of bytes (at byte 1)"),
            ("1.K", "digits are missing after the point (at byte 3)"),
            (".5K", "a number is missing (at byte 1)"),
            ("+16384P", "`16384P` is more than 2^64 - 1 bytes (at byte 2)"),
            ("18446744073709551615.0009765625K", "is more than 2^64 - 1 bytes (at byte 1)"),
            ("99999999999999999999", "`99999999999999999999` is more than 2^64 - 1 bytes (at byte 1)"),
        ] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.ends_with(message), "{text}: {error}");
        }
    }
}
