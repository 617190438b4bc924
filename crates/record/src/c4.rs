//! C4 identifiers: SHA-512 in base58, as film hash lists write it.

use ftk_hash::Digest;

/// What each identifier begins with.
const PREFIX: &[u8] = b"c4";

/// The digits after the prefix.
const DIGITS: usize = 88;

/// The digits by their value. Their order is that of ASCII, so identifiers sort as their digests do.
const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Appends the identifier of a digest: `c4` and 88 digits.
///
/// # Panics
/// If the digest does not have the 64 bytes of SHA-512.
pub(crate) fn push_c4(out: &mut Vec<u8>, digest: &Digest) {
    let mut number: [u8; Digest::MAX_LEN] = digest.as_bytes().try_into().expect("a digest of SHA-512");
    let mut digits = [0; DIGITS];
    for digit in digits.iter_mut().rev() {
        let mut rest = 0;
        for byte in &mut number {
            let value = rest << 8 | u32::from(*byte);
            // The quotient fits: the rest is below 58.
            *byte = (value / 58) as u8;
            rest = value % 58;
        }
        *digit = ALPHABET[rest as usize];
    }
    out.extend_from_slice(PREFIX);
    out.extend_from_slice(&digits);
}

/// Parses an identifier. Returns `None` for a wrong prefix, length or digit, and for a value of more than 64 bytes.
pub(crate) fn parse_c4(id: &[u8]) -> Option<Digest> {
    let digits = id.strip_prefix(PREFIX).filter(|digits| digits.len() == DIGITS)?;
    let mut number = [0_u8; Digest::MAX_LEN];
    for digit in digits {
        let mut carry = ALPHABET.iter().position(|it| it == digit)? as u32;
        for byte in number.iter_mut().rev() {
            let value = u32::from(*byte) * 58 + carry;
            *byte = value as u8;
            carry = value >> 8;
        }
        if carry > 0 {
            return None;
        }
    }
    Some(Digest::from_bytes(&number))
}

#[cfg(test)]
mod tests {
    use ftk_hash::Algorithm;
    use proptest::prelude::*;

    use super::*;

    fn id(digest: &Digest) -> String {
        let mut out = Vec::new();
        push_c4(&mut out, digest);
        String::from_utf8(out).unwrap()
    }

    /// The second identifier is that of the C4 specification for no bytes.
    #[test]
    fn known_identifiers() {
        assert_eq!(id(&Digest::from_bytes(&[0; 64])), format!("c4{}", "1".repeat(88)));
        let empty = Algorithm::Sha512.hash_one(b"");
        let expected =
            "c459dsjfscH38cYeXXYogktxf4Cd9ibshE3BHUo6a58hBXmRQdZrAkZzsWcbWtDg5oQstpDuni4Hirj75GEmTc1sFT";
        assert_eq!(id(&empty), expected);
        assert_eq!(parse_c4(expected.as_bytes()), Some(empty));
    }

    #[test]
    fn other_text_is_refused() {
        let largest = id(&Digest::from_bytes(&[0xff; 64]));
        assert_eq!(parse_c4(largest.as_bytes()), Some(Digest::from_bytes(&[0xff; 64])));
        let mut above = largest.clone().into_bytes();
        let at = above.iter().rposition(|it| *it != b'z').unwrap();
        above[at] = b'z';
        for wrong in [
            above,
            format!("c4{}", "z".repeat(88)).into_bytes(),
            largest.replacen("c4", "C4", 1).into_bytes(),
            largest[..89].into(),
            format!("{largest}1").into_bytes(),
            largest.replace('6', "0").into_bytes(),
            Vec::new(),
        ] {
            let is_other = wrong != largest.as_bytes();
            assert!(!is_other || parse_c4(&wrong).is_none(), "{}", wrong.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn identifiers_are_read_back_and_sort_like_digests(a: [u8; 32], b: [u8; 32], c: [u8; 32]) {
            let digest = |head: [u8; 32], tail: [u8; 32]| Digest::from_bytes([head, tail].as_flattened());
            let (one, other) = (digest(a, b), digest(a, c));
            prop_assert_eq!(parse_c4(id(&one).as_bytes()), Some(one));
            prop_assert_eq!(id(&one).cmp(&id(&other)), one.as_bytes().cmp(other.as_bytes()));
        }
    }
}
