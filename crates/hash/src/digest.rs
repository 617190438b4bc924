//! A finished digest.

use std::fmt;

/// The value of a digest: at most 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    bytes: [u8; Self::MAX_LEN], // zero past `len`, so that the derived comparisons are right
    len: u8,
}

impl Digest {
    /// Length in bytes of the longest digest.
    pub const MAX_LEN: usize = 64;

    /// A digest of these bytes, in the order they are printed.
    ///
    /// # Panics
    /// If there are more than [`MAX_LEN`](Self::MAX_LEN).
    pub fn from_bytes(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= Self::MAX_LEN, "a digest of {} bytes", bytes.len());
        let mut digest = Self { bytes: [0; Self::MAX_LEN], len: bytes.len() as u8 };
        digest.bytes[..bytes.len()].copy_from_slice(bytes);
        digest
    }

    /// The digest whose words are these. Written in place word by word, because a copy of words that were just
    /// stored one by one has to wait for all of them, which short messages would notice.
    pub(crate) fn from_words<const N: usize, const W: usize>(words: [[u8; N]; W]) -> Self {
        const { assert!(N * W <= Self::MAX_LEN) };
        let mut digest = Self { bytes: [0; Self::MAX_LEN], len: (N * W) as u8 };
        for (to, word) in digest.bytes.as_chunks_mut::<N>().0.iter_mut().zip(words) {
            *to = word;
        }
        digest
    }

    /// The digest written as these hexadecimal digits of either case, or `None` if they are not digits, odd
    /// in number, none at all or more than a digest has. Whether the length fits the algorithm is for the
    /// caller to check.
    pub fn from_hex(hex: &[u8]) -> Option<Self> {
        let (pairs, odd) = hex.as_chunks::<2>();
        if pairs.is_empty() || pairs.len() > Self::MAX_LEN || !odd.is_empty() {
            return None;
        }
        let mut digest = Self { bytes: [0; Self::MAX_LEN], len: pairs.len() as u8 };
        // Without an early exit the loop vectorises.
        let mut all = 0;
        for (byte, &[high, low]) in digest.bytes.iter_mut().zip(pairs) {
            let (high, low) = (nibble(high), nibble(low));
            *byte = high << 4 | low;
            all |= high | low;
        }
        (all < 16).then_some(digest)
    }

    /// The bytes, in the order they are printed.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Appends the lower-case hexadecimal form, the one that [`Display`](fmt::Display) prints.
    pub fn write_hex(&self, out: &mut Vec<u8>) {
        let end = out.len() + 2 * usize::from(self.len);
        out.reserve(2 * Self::MAX_LEN);
        // Steps of one length are stored as they are made; a copy of all of them would wait for the last.
        for bytes in self.steps() {
            out.extend_from_slice(digits(bytes).as_flattened());
        }
        out.truncate(end);
    }

    /// The bytes in steps, the last one padded.
    fn steps(&self) -> impl Iterator<Item = &[u8; STEP]> {
        self.bytes.as_chunks().0.iter().take(usize::from(self.len).div_ceil(STEP))
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

/// Bytes written at a time: without a table of digits, a dozen vector instructions.
const STEP: usize = 16;

#[inline(always)]
fn digits(bytes: &[u8; STEP]) -> [[u8; 2]; STEP] {
    bytes.map(|byte| [digit(byte >> 4), digit(byte & 15)])
}

fn digit(nibble: u8) -> u8 {
    nibble + if nibble < 10 { b'0' } else { b'a' - 10 }
}

/// The value of a digit of either case; more than 15 for what is none.
fn nibble(digit: u8) -> u8 {
    let (decimal, letter) = (digit.wrapping_sub(b'0'), (digit | 0x20).wrapping_sub(b'a'));
    match (decimal < 10, letter < 6) {
        (true, _) => decimal,
        (false, true) => letter + 10,
        (false, false) => u8::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_goes_both_ways() {
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
    fn every_byte_is_a_digit_or_is_not() {
        for byte in 0..=u8::MAX {
            let expected = char::from(byte).to_digit(16).map(|value| Digest::from_bytes(&[value as u8]));
            assert_eq!(Digest::from_hex(&[b'0', byte]), expected);
            let expected = char::from(byte).to_digit(16).map(|value| Digest::from_bytes(&[value as u8 * 16]));
            assert_eq!(Digest::from_hex(&[byte, b'0']), expected);
        }
    }

    #[test]
    fn what_is_not_hex_is_refused() {
        for bad in ["", "a", "abc", "0g", "+1", " 1", "0x", "\u{e9}"] {
            assert_eq!(Digest::from_hex(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(Digest::from_hex(&[b'0'; 130]), None);
    }

    #[test]
    fn digests_of_different_lengths_differ() {
        assert_ne!(Digest::from_bytes(&[0]), Digest::from_bytes(&[0, 0]));
    }
}
