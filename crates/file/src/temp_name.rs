//! Names of files that are not in place yet.

use std::collections::hash_map::RandomState;
use std::ffi::CString;
use std::hash::{BuildHasher, Hasher};

/// The prefix of all temporary names, so that files left by a killed run are recognisable.
const PREFIX: &str = ".ftk-";

/// The number of hexadecimal digits after the prefix.
const DIGITS: usize = 16;

/// Returns a new temporary name: `.ftk-` and 16 hexadecimal digits. It is short, so that the final name may
/// have the maximal length.
///
/// Two names of 64 random bits are never equal by chance.
pub fn temp_name() -> CString {
    let random = RandomState::new().build_hasher().finish();
    CString::new(format!("{PREFIX}{random:0DIGITS$x}")).expect("hexadecimal digits contain no NUL")
}

/// Returns whether a name has the form of a temporary name.
pub fn is_temp_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX.as_bytes()).is_some_and(|digits| {
        digits.len() == DIGITS && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_recognised() {
        assert!(is_temp_name(temp_name().to_bytes()));
        assert_ne!(temp_name(), temp_name());
        for name in [".ftk-", ".ftk-0123456789abcde", ".ftk-0123456789abcdef0", ".ftk-0123456789ABCDEF", "x"]
        {
            assert!(!is_temp_name(name.as_bytes()), "{name}");
        }
    }
}
