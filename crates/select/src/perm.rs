//! The test for permission bits.

use std::fmt;
use std::str::FromStr;

use crate::ParseError;

/// A test for the permission bits, including set-user-ID, set-group-ID and sticky.
///
/// The text is octal, as for `find -perm`: `644` matches exactly these bits, `-111` all of these bits and any
/// others, `/222` at least one of these bits. `/0` matches everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perm {
    bits: u32,
    test: Test,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Exactly,
    All,
    Any,
}

impl Perm {
    /// Returns whether a mode matches. The mode is at most `0o7777`.
    pub fn matches(self, mode: u32) -> bool {
        match self.test {
            Test::Exactly => mode == self.bits,
            Test::All => mode & self.bits == self.bits,
            Test::Any => mode & self.bits != 0 || self.bits == 0,
        }
    }
}

impl fmt::Display for Perm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.test {
            Test::Exactly => "",
            Test::All => "-",
            Test::Any => "/",
        };
        write!(f, "{sign}{:o}", self.bits)
    }
}

impl FromStr for Perm {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (test, at) = match text.as_bytes().first() {
            Some(b'-') => (Test::All, 1),
            Some(b'/') => (Test::Any, 1),
            _ => (Test::Exactly, 0),
        };
        let digits = &text[at..];
        if digits.is_empty() {
            return Err(ParseError::new(at, "an octal number is missing"));
        }
        if let Some(nth) = digits.find(|digit| !matches!(digit, '0'..='7')) {
            let digit = digits[nth..].chars().next().unwrap_or_default();
            return Err(ParseError::new(at + nth, format!("`{digit}` is not an octal digit")));
        }
        match u32::from_str_radix(digits, 8) {
            Ok(bits @ 0..=0o7777) => Ok(Self { bits, test }),
            _ => Err(ParseError::new(at, format!("`{digits}` is more than 7777"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_all_and_any() {
        let is_match =
            |text: &str| [0, 0o644, 0o755, 0o4755].map(|mode| text.parse::<Perm>().unwrap().matches(mode));
        assert_eq!(is_match("755"), [false, false, true, false]);
        assert_eq!(is_match("00"), [true, false, false, false]);
        assert_eq!(is_match("-111"), [false, false, true, true]);
        assert_eq!(is_match("-0"), [true; 4]);
        assert_eq!(is_match("/4022"), [false, false, false, true]);
        assert_eq!(is_match("/444"), [false, true, true, true]);
        assert_eq!(is_match("/0"), [true; 4]);
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "an octal number is missing (at byte 1)"),
            ("/", "an octal number is missing (at byte 2)"),
            ("648", "`8` is not an octal digit (at byte 3)"),
            ("-u+w", "`u` is not an octal digit (at byte 2)"),
            ("10000", "`10000` is more than 7777 (at byte 1)"),
            ("77777777777777777", "`77777777777777777` is more than 7777 (at byte 1)"),
        ] {
            assert_eq!(text.parse::<Perm>().unwrap_err().to_string(), message);
        }
    }
}
