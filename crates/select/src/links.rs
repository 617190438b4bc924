//! The test for the number of hard links.

use std::str::FromStr;

use crate::ParseError;
use crate::bound::Bound;

/// A test for the number of hard links: `N` exactly, `+N` more, `-N` fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links(pub(crate) Bound<u64>);

impl Links {
    /// Returns whether a number of links matches.
    pub fn matches(self, links: u64) -> bool {
        self.0.matches(&links)
    }
}

impl FromStr for Links {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let number = |text: &str| match text.parse() {
            Ok(number) if !text.starts_with('+') => Ok(number),
            _ => Err(ParseError::new(0, format!("`{text}` is not a number of links"))),
        };
        Bound::parse(text, number).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_more_and_less() {
        let is_match = |text: &str| [1, 2, 3].map(|links| text.parse::<Links>().unwrap().matches(links));
        assert_eq!(is_match("2"), [false, true, false]);
        assert_eq!(is_match("+1"), [false, true, true]);
        assert_eq!(is_match("-2"), [true, false, false]);
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        for (text, message) in [
            ("", "`` is not a number of links (at byte 1)"),
            ("+", "`` is not a number of links (at byte 2)"),
            ("++1", "`+1` is not a number of links (at byte 2)"),
            ("1K", "`1K` is not a number of links (at byte 1)"),
            ("-1.5", "`1.5` is not a number of links (at byte 2)"),
            ("99999999999999999999", "`99999999999999999999` is not a number of links (at byte 1)"),
        ] {
            assert_eq!(text.parse::<Links>().unwrap_err().to_string(), message);
        }
    }
}
