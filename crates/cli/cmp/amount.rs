//! Byte counts in the syntax of GNU cmp: `SKIP[:SKIP]` and `LIMIT`.

use std::str::FromStr;

use ftk_select::ParseError;

/// Bytes to skip at the start of A and of B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skip(pub(super) [u64; 2]);

impl FromStr for Skip {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(Self(match text.split_once(':') {
            Some((a, b)) => [amount(a)?, amount(b)?],
            None => [amount(text)?; 2],
        }))
    }
}

/// Parses a number of bytes: decimal, octal after `0` or hexadecimal after `0x`, then an optional unit. K, M,
/// G, T, P, E and KiB, MiB... are powers of 1,024; kB, KB, MB... are powers of 1,000.
pub(super) fn amount(text: &str) -> Result<u64, ParseError> {
    let error = |at, problem: String| Err(ParseError { at, problem });
    let (radix, start) = match text.as_bytes() {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, 2),
        [b'0', ..] => (8, 0),
        _ => (10, 0),
    };
    let digits = text[start..].bytes().take_while(|&byte| char::from(byte).is_digit(radix)).count();
    let (number, unit) = text.split_at(start + digits);
    if digits == 0 {
        return error(0, "expected a number".into());
    }
    let mut rest = unit.chars();
    let power = match rest.next() {
        None => 0,
        Some(letter) => match "KMGTPE".find(letter.to_ascii_uppercase()) {
            Some(at) => at as u32 + 1,
            None => return error(number.len(), format!("`{unit}` is not a unit: use K, kB, M, MB, G, ...")),
        },
    };
    let base: u64 = match rest.as_str() {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return error(number.len(), format!("`{unit}` is not a unit: use K, kB, M, MB, G, ...")),
    };
    let bytes = u64::from_str_radix(&number[start..], radix).ok();
    let bytes = bytes.and_then(|number| number.checked_mul(base.checked_pow(power)?));
    bytes.map_or_else(|| error(0, format!("`{text}` is more than 2^64 - 1 bytes")), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_applies_to_both_files_or_one_each() {
        for (text, skip) in [("0", [0, 0]), ("7", [7, 7]), ("1K:2", [1024, 2]), ("0:1m", [0, 1 << 20])] {
            assert_eq!(text.parse(), Ok(Skip(skip)));
        }
        for bad in ["", ":", "1:", ":1", "1:2:3", "-1", "1:-1", "x"] {
            assert!(bad.parse::<Skip>().is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_and_units_are_read_as_by_gnu_cmp() {
        for (text, bytes) in [
            ("10", 10),
            ("010", 8),
            ("0x10", 16),
            ("0XfF", 255),
            ("0x1E", 30),
            ("00", 0),
            ("1k", 1024),
            ("1KiB", 1024),
            ("1kB", 1000),
            ("1KB", 1000),
            ("010kB", 8000),
            ("0x10K", 16 << 10),
            ("3MB", 3_000_000),
            ("3M", 3 << 20),
            ("1GiB", 1 << 30),
            ("1TB", 1_000_000_000_000),
            ("2P", 2 << 50),
            ("15E", 15 << 60),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(amount(text), Ok(bytes), "{text}");
        }
        for (bad, at) in [
            ("", 0),
            ("-1", 0),
            ("+1", 0),
            (" 1", 0),
            ("K", 0),
            ("0x", 1),
            ("08", 1),
            ("1b", 1),
            ("1B", 1),
            ("12Ki", 2),
            ("1KBB", 1),
            ("1Z", 1),
            ("16E", 0),
            ("18446744073709551616", 0),
            ("1é", 1),
        ] {
            assert_eq!(amount(bad).unwrap_err().at, at, "{bad}");
        }
    }
}
