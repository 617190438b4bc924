//! `SKIP[:SKIP]`: what is left out at the start of each of two files.

use std::str::FromStr;

use ftk_select::{ParseError, parse_bytes};

/// Bytes left out at the start of A, and of B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skip(pub(super) [u64; 2]);

impl FromStr for Skip {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(Self(match text.split_once(':') {
            Some((a, b)) => [parse_bytes(a)?, parse_bytes(b)?],
            None => [parse_bytes(text)?; 2],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_for_both_or_one_for_each() {
        for (text, skip) in [("0", [0, 0]), ("7", [7, 7]), ("1K:2", [1024, 2]), ("0:1m", [0, 1 << 20])] {
            assert_eq!(text.parse(), Ok(Skip(skip)));
        }
        for bad in ["", ":", "1:", ":1", "1:2:3", "-1", "1:-1", "x"] {
            assert!(bad.parse::<Skip>().is_err(), "{bad}");
        }
    }
}
