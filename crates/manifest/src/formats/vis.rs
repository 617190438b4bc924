//! The encoding of names in mtree specifications: `vis(3)` of the BSDs.

/// Appends a name. Bytes that are not graphic ASCII, and those that have a meaning in a specification, are written as
/// a backslash and three octal digits, which all implementations read.
pub(super) fn encode(out: &mut Vec<u8>, name: &[u8]) {
    // Without an early exit the loop vectorises.
    if name.iter().fold(true, |plain, byte| plain & is_plain(*byte)) {
        return out.extend_from_slice(name);
    }
    for &byte in name {
        if is_plain(byte) {
            out.push(byte);
        } else {
            let digit = |shift: u8| b'0' + (byte >> shift & 7);
            out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
        }
    }
}

/// Returns whether a byte stands for itself. `#` begins a comment and `=` ends a keyword. `*`, `?` and `[` make a
/// pattern of a name if they are not encoded; NetBSD's mtree takes them for a pattern even then.
fn is_plain(byte: u8) -> bool {
    (byte > b' ')
        & (byte < 0x7f)
        & (byte != b'\\')
        & (byte != b'#')
        & (byte != b'=')
        & (byte != b'*')
        & (byte != b'?')
        & (byte != b'[')
}

/// Appends a decoded name. Reads everything that `vis` writes: octal digits, C escapes, and `\M` and `\^` notation.
/// Returns `None` for an escape that means nothing, and for a NUL.
pub(super) fn decode(out: &mut Vec<u8>, encoded: &[u8]) -> Option<()> {
    if memchr::memchr(0, encoded).is_some() {
        return None;
    }
    let mut rest = encoded;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let (byte, used) = escape(rest)?;
        if byte == 0 {
            return None;
        }
        out.push(byte);
        rest = &rest[used..];
    }
    out.extend_from_slice(rest);
    Some(())
}

/// Decodes what follows a backslash. Returns the byte, and the number of bytes that encode it.
fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let control = |byte: u8| if byte == b'?' { 0x7f } else { byte & 0x1f };
    Some(match *rest {
        // Programs disagree about fewer digits.
        [first @ b'0'..=b'3', second @ b'0'..=b'7', third @ b'0'..=b'7', ..] => {
            ((first - b'0') << 6 | (second - b'0') << 3 | (third - b'0'), 3)
        }
        [b'M', b'-', byte, ..] => (byte | 0x80, 3),
        [b'M', b'^', byte, ..] => (control(byte) | 0x80, 3),
        [b'^', byte, ..] => (control(byte), 2),
        [b'x', high, low, ..] => {
            let digit = |byte: u8| (byte as char).to_digit(16);
            ((digit(high)? << 4 | digit(low)?) as u8, 3)
        }
        [b'a', ..] => (0x07, 1),
        [b'b', ..] => (0x08, 1),
        [b't', ..] => (b'\t', 1),
        [b'n', ..] => (b'\n', 1),
        [b'v', ..] => (0x0b, 1),
        [b'f', ..] => (0x0c, 1),
        [b'r', ..] => (b'\r', 1),
        [b's', ..] => (b' ', 1),
        [b'E', ..] => (0x1b, 1),
        // Any other graphic character stands for itself: `\\`, `\#`.
        [byte, ..] if byte.is_ascii_punctuation() && byte != b'^' => (byte, 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(&mut out, encoded).map(|()| out)
    }

    #[test]
    fn every_byte_is_read_back() {
        for byte in 1..=255 {
            for name in [&[byte][..], &[byte, b'7'], &[b'a', byte, byte]] {
                let mut encoded = Vec::new();
                encode(&mut encoded, name);
                assert!(encoded.iter().all(u8::is_ascii_graphic));
                assert_eq!(decoded(&encoded).unwrap(), name);
            }
        }
        let mut encoded = Vec::new();
        encode(&mut encoded, b"a b\n#\xff*?[");
        assert_eq!(encoded, b"a\\040b\\012\\043\\377\\052\\077\\133");
    }

    #[test]
    fn all_notations_are_read() {
        for (encoded, name) in [
            (&b"sp\\sace"[..], &b"sp ace"[..]),
            (b"cr\\rtab\\t\\^A\\^?", b"cr\rtab\t\x01\x7f"),
            (b"\\M-B\\M^E\\M^?\\M-i", b"\xc2\x85\xff\xe9"),
            (b"back\\\\slash\\#", b"back\\slash#"),
            (b"\\001\\012\\1234\\377", b"\x01\nS4\xff"),
            (b"\\x41\\xFf", b"A\xff"),
            (b"\\a\\b\\v\\f\\E", b"\x07\x08\x0b\x0c\x1b"),
        ] {
            assert_eq!(decoded(encoded).as_deref(), Some(name), "{}", encoded.escape_ascii());
        }
        for bad in [
            &b"\\"[..],
            b"\\0",
            b"\\04",
            b"\\1",
            b"\\18",
            b"\\129",
            b"\\000",
            b"\\400",
            b"\\q",
            b"\\x4",
            b"\\M",
            b"\\M-",
            b"\\^",
            b"a\0",
            b"\0\\141",
            b"\\^@",
        ] {
            assert_eq!(decoded(bad), None, "{}", bad.escape_ascii());
        }
    }
}
