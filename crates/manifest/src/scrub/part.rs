//! A fraction of a tree.

use std::fmt;
use std::str::FromStr;

/// A fraction, such as `1/30`: more than nothing and at most the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    share: u64,
    of: u64,
}

impl Part {
    /// Returns this fraction of a number of bytes, rounded up.
    pub fn of(self, bytes: u64) -> u64 {
        let part = (u128::from(bytes) * u128::from(self.share)).div_ceil(u128::from(self.of));
        u64::try_from(part).expect("a part is not larger than the whole")
    }
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|number| is_number && *number > 0)
        };
        let (share, of) = text.split_once('/').unwrap_or_default();
        match (number(share), number(of)) {
            (Some(share), Some(of)) if share <= of => Ok(Self { share, of }),
            _ => Err("expected a fraction such as 1/30, more than 0 and at most 1"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.share, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_fractions_of_the_bytes() {
        for (text, bytes, part) in [
            ("1/4", 100, 25),
            ("1/4", 101, 26),
            ("1/4", 0, 0),
            ("3/4", 8, 6),
            ("1/1", u64::MAX, u64::MAX),
            ("18446744073709551615/18446744073709551615", u64::MAX, u64::MAX),
        ] {
            assert_eq!(text.parse::<Part>().unwrap().of(bytes), part, "{text}");
        }
        for bad in
            ["", "1", "/", "1/", "/4", "0/4", "5/4", "1/0", "-1/4", "+1/4", "1/4/2", "1.5/4", " 1/4", "a/b"]
        {
            assert!(bad.parse::<Part>().is_err(), "{bad}");
        }
    }
}
