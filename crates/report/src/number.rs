//! Numbers as the page reads them.

use serde::{Serialize, Serializer};

/// An integer in the page's data: a number, or a string if it exceeds 2^53, because JavaScript would round it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u128);

/// The largest integer up to which JavaScript represents every one (`Number.MAX_SAFE_INTEGER` in ECMA-262).
const SAFE: u128 = (1 << 53) - 1;

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(small) if self.0 <= SAFE => serializer.serialize_u64(small),
            _ => serializer.collect_str(&self.0),
        }
    }
}

/// A change of an integer in the page's data, like a [`Count`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignedCount(pub i128);

impl Serialize for SignedCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(small) if self.0.unsigned_abs() <= SAFE => serializer.serialize_i64(small),
            _ => serializer.collect_str(&self.0),
        }
    }
}

impl<T: Into<u128>> From<T> for Count {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_javascript_would_round_are_strings() {
        let json = |n: u128| serde_json::to_string(&Count(n)).unwrap();
        assert_eq!(json(0), "0");
        assert_eq!(json(SAFE), "9007199254740991");
        assert_eq!(json(SAFE + 1), r#""9007199254740992""#);
        assert_eq!(json(u128::MAX), format!("\"{}\"", u128::MAX));
        let json = |n: i128| serde_json::to_string(&SignedCount(n)).unwrap();
        assert_eq!(json(-9_007_199_254_740_991), "-9007199254740991");
        assert_eq!(json(-9_007_199_254_740_992), r#""-9007199254740992""#);
    }
}
