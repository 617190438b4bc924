//! A test that compares numbers with a bound.

use std::cmp::Ordering;

use crate::ParseError;

/// A test for a number: `N` exactly, `+N` greater, `-N` less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound<T> {
    pub(crate) ordering: Ordering,
    pub(crate) value: T,
}

impl Bound<u64> {
    /// Parses the sign, and calls `number` to parse the rest.
    pub(crate) fn parse(
        text: &str,
        number: impl FnOnce(&str) -> Result<u64, ParseError>,
    ) -> Result<Self, ParseError> {
        let (ordering, sign) = match text.as_bytes().first() {
            Some(b'+') => (Ordering::Greater, 1),
            Some(b'-') => (Ordering::Less, 1),
            _ => (Ordering::Equal, 0),
        };
        let value = number(&text[sign..]).map_err(|error| error.offset_by(sign))?;
        Ok(Self { ordering, value })
    }
}

impl<T: Ord> Bound<T> {
    pub(crate) fn matches(&self, number: &T) -> bool {
        number.cmp(&self.value) == self.ordering
    }
}
