//! The value of a digest, and its hexadecimal form.

use std::fmt;
use std::hash::{Hash, Hasher};

use data_encoding::HEXLOWER_PERMISSIVE;

/// A finished digest of at most 64 bytes.
#[derive(Clone, Copy)]
#[repr(C)] // puts the length next to a short digest, so that both are in one cache line
pub struct Digest {
    len: u8,
    /// Bytes past `len` have no meaning.
    bytes: [u8; Self::MAX_LEN],
}

impl Digest {
    /// The length of the longest digest, in bytes.
    pub const MAX_LEN: usize = 64;

    /// Creates a digest from its bytes in the order in which they are printed.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`](Self::MAX_LEN) bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= Self::MAX_LEN, "a digest cannot have {} bytes", bytes.len());
        let mut digest = Self { bytes: [0; Self::MAX_LEN], len: bytes.len() as u8 };
        digest.bytes[..bytes.len()].copy_from_slice(bytes);
        digest
    }

    /// Creates a digest from its words. It writes the words directly to their place: copying words that were
    /// just stored one by one would stall until all stores are done, which costs time for short messages.
    #[inline(always)]
    pub(crate) fn from_words<const N: usize, const W: usize>(words: [[u8; N]; W]) -> Self {
        let mut digest = Self { bytes: [0; Self::MAX_LEN], len: 0 };
        digest.set(words);
        digest
    }

    /// Replaces the digest by what [`from_words`](Self::from_words) creates. It does not clear the rest, which would
    /// take a tenth of the time that XXH3 needs for a short message.
    #[inline(always)]
    pub(crate) fn set<const N: usize, const W: usize>(&mut self, words: [[u8; N]; W]) {
        const { assert!(N * W <= Self::MAX_LEN) };
        for (to, word) in self.bytes.as_chunks_mut::<N>().0.iter_mut().zip(words) {
            *to = word;
        }
        self.len = (N * W) as u8;
    }

    /// Returns the first `len` bytes.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn truncated(mut self, len: usize) -> Self {
        assert!(len <= usize::from(self.len), "a digest of {} bytes cannot be cut to {len}", self.len);
        self.len = len as u8;
        self
    }

    /// Parses hexadecimal digits of either case.
    ///
    /// Returns `None` for other characters, for an odd number of digits, for no digits, or for more digits
    /// than the longest digest has. The caller checks whether the length fits the algorithm.
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let len = HEXLOWER_PERMISSIVE.decode_len(hex.len()).ok()?;
        if len == 0 || len > Self::MAX_LEN {
            return None;
        }
        let mut digest = Self { bytes: [0; Self::MAX_LEN], len: len as u8 };
        HEXLOWER_PERMISSIVE.decode_mut(hex, &mut digest.bytes[..len]).ok()?;
        Some(digest)
    }

    /// Returns the bytes in the order in which they are printed.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Appends the lower-case hexadecimal form that [`Display`](fmt::Display) prints.
    pub fn write_hex(&self, out: &mut Vec<u8>) {
        let end = out.len() + 2 * usize::from(self.len);
        out.reserve(2 * Self::MAX_LEN);
        // Fixed steps can be stored one by one. A single copy of all digits would have to wait for the last
        // one.
        for bytes in self.steps() {
            out.extend_from_slice(digits(bytes).as_flattened());
        }
        out.truncate(end);
    }

    /// Returns the bytes in steps of [`STEP`]; the last one also has bytes past the end.
    fn steps(&self) -> impl Iterator<Item = &[u8; STEP]> {
        self.bytes.as_chunks().0.iter().take(usize::from(self.len).div_ceil(STEP))
    }
}

/// The value of no bytes, a place for a digest that is computed later.
impl Default for Digest {
    fn default() -> Self {
        Self::from_bytes(&[])
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Digest {}

impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hex = [0; 2 * Self::MAX_LEN];
        for (out, bytes) in hex.as_chunks_mut::<2>().0.chunks_mut(STEP).zip(self.steps()) {
            out.copy_from_slice(&digits(bytes));
        }
        let hex = &hex[..2 * usize::from(self.len)];
        f.pad(str::from_utf8(hex).expect("hexadecimal digits are ASCII"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// Bytes converted at a time. Without a table of digits, this compiles to a dozen vector instructions: 8 ns for
/// 32 bytes, where data-encoding takes 19. Every row of the output needs it.
const STEP: usize = 16;

#[inline(always)]
fn digits(bytes: &[u8; STEP]) -> [[u8; 2]; STEP] {
    bytes.map(|byte| [digit(byte >> 4), digit(byte & 15)])
}

fn digit(nibble: u8) -> u8 {
    nibble + if nibble < 10 { b'0' } else { b'a' - 10 }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn hex_output_can_be_parsed() {
        for len in 1..=Digest::MAX_LEN {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 37 + 5) as u8).collect();
            let digest = Digest::from_bytes(&bytes);
            let text = digest.to_string();
            assert_eq!(text.len(), 2 * len);
            assert_eq!(Digest::from_hex(text.as_bytes()), Some(digest));
            assert_eq!(Digest::from_hex(text.to_uppercase().as_bytes()), Some(digest));
            let mut written = b"x".to_vec();
            digest.write_hex(&mut written);
            assert_eq!(written, format!("x{text}").as_bytes());
        }
    }

    #[test]
    fn digits_are_lower_case_and_high_nibble_first() {
        assert_eq!(Digest::from_bytes(&[0x01, 0x9f, 0xea]).to_string(), "019fea");
    }

    #[test]
    fn exactly_the_hex_digits_are_accepted() {
        for byte in 0..=u8::MAX {
            let expected = char::from(byte).to_digit(16).map(|value| Digest::from_bytes(&[value as u8]));
            assert_eq!(Digest::from_hex(&[b'0', byte]), expected);
            let expected = char::from(byte).to_digit(16).map(|value| Digest::from_bytes(&[value as u8 * 16]));
            assert_eq!(Digest::from_hex(&[byte, b'0']), expected);
        }
    }

    #[test]
    fn invalid_hex_is_refused() {
        for bad in ["", "a", "abc", "0g", "+1", " 1", "0x", "\u{e9}"] {
            assert_eq!(Digest::from_hex(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(Digest::from_hex(&[b'0'; 130]), None);
    }

    #[test]
    fn digests_of_different_lengths_differ() {
        assert_ne!(Digest::from_bytes(&[0]), Digest::from_bytes(&[0, 0]));
    }

    #[test]
    fn the_rest_of_a_longer_digest_is_no_part_of_a_shorter_one() {
        let mut digest = Digest::from_bytes(&[7; 64]);
        digest.set([[1, 2], [3, 4]]);
        for digest in [digest, Digest::from_bytes(&[1, 2, 3, 4, 5, 6]).truncated(4)] {
            let expected = Digest::from_bytes(&[1, 2, 3, 4]);
            assert_eq!((digest, digest.to_string().as_str()), (expected, "01020304"));
            assert_eq!(HashSet::from([digest, expected]).len(), 1);
            let mut hex = Vec::new();
            digest.write_hex(&mut hex);
            assert_eq!(hex, b"01020304");
        }
    }
}
