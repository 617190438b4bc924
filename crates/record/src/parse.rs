//! Reading checksum lines back.

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memchr2};

use crate::End;
use crate::sum::{XXH3, XXH3_PREFIX};

/// One line of a checksum list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumLine<'l> {
    /// The algorithm, as the line names it; `None` where it does not.
    pub tag: Option<&'l str>,
    /// The digest: hexadecimal digits of either case, even in number, at least two. Whether there are as
    /// many as the algorithm gives is for the caller to check.
    pub hex: &'l [u8],
    /// The file name, unescaped; never empty and without NUL.
    pub name: Cow<'l, [u8]>,
}

impl<'l> SumLine<'l> {
    /// Reads a line as [`SumFormat`](crate::SumFormat) writes it, with ` *` before the name as the coreutils
    /// do in binary mode, or as `TAG(name)= HEX`, which is how openssl prints tags. Blanks in front are
    /// skipped, as the coreutils do. `line` comes without its end, newline or NUL.
    ///
    /// A list may hold empty lines and comments after `#`; [`SumReader`](crate::SumReader) skips them.
    ///
    /// # Errors
    /// For anything else, a carriage return at the end included: the name that was meant would be a guess.
    pub fn parse(line: &'l [u8], end: End) -> Result<Self, SumError> {
        if end == End::Newline && line.ends_with(b"\r") {
            return Err(SumError::CarriageReturn);
        }
        let line = &line[line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..];
        let (escaped, rest) = match line.strip_prefix(b"\\") {
            Some(rest) if end == End::Newline => (true, rest),
            _ => (false, line),
        };
        let first = memchr2(b' ', b'(', rest).ok_or(SumError::Shape)?;
        let (first, rest) = rest.split_at(first);
        let (tag, hex, name) = match rest {
            [b' ', b'(', rest @ ..] => tagged(first, rest, b") = ")?,
            [b'(', rest @ ..] => tagged(first, rest, b")= ")?,
            [b' ', b' ' | b'*', name @ ..] => match first.strip_prefix(XXH3_PREFIX) {
                Some(hex) => (Some(XXH3), hex, name),
                None => (None, first, name),
            },
            _ => return Err(SumError::Shape),
        };
        // Without an early exit the loop vectorises.
        let is_hex = hex.iter().fold(true, |all, byte| all & byte.is_ascii_hexdigit());
        if hex.is_empty() || hex.len() % 2 != 0 || !is_hex {
            return Err(if line.starts_with("\u{feff}".as_bytes()) {
                SumError::ByteOrderMark
            } else {
                SumError::Digest
            });
        }
        if name.is_empty() {
            return Err(SumError::NoName);
        }
        if memchr(0, name).is_some() {
            return Err(SumError::Nul);
        }
        let name = if escaped { Cow::Owned(unescape(name)?) } else { Cow::Borrowed(name) };
        Ok(Self { tag, hex, name })
    }

    /// Length of the digest in bytes.
    pub fn digest_len(&self) -> usize {
        self.hex.len() / 2
    }

    /// Appends the bytes of the digest. What they are is unspecified where [`hex`](Self::hex) was not made by
    /// [`parse`](Self::parse).
    pub fn push_digest(&self, out: &mut Vec<u8>) {
        // All are digits, which was checked: the low half of a letter counts from 1, and bit 6 tells it.
        let value = |digit: u8| (digit & 15) + 9 * (digit >> 6);
        out.extend(self.hex.as_chunks().0.iter().map(|&[high, low]| value(high) << 4 | value(low)));
    }
}

/// Why a line is not a checksum line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SumError {
    /// Neither `HEX  name` nor `TAG (name) = HEX`.
    Shape,
    /// What stands in the place of the digest is not an even number of hexadecimal digits.
    Digest,
    /// What stands in the place of the algorithm is not a name of letters, digits, `-`, `/` and `_`.
    Tag,
    /// A digest with no name.
    NoName,
    /// A NUL inside the name, as in a UTF-16 file.
    Nul,
    /// A line marked as escaped holds a backslash that is not part of `\\`, `\n` or `\r`.
    Escape,
    /// A carriage return at the end: a list with DOS line ends, or a name that ends so and is not escaped.
    CarriageReturn,
    /// The line begins with the byte order mark of UTF-8.
    ByteOrderMark,
    /// The line is longer than any path, digest and tag together could make it.
    TooLong,
}

impl fmt::Display for SumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "neither 'HEX  name' nor 'TAG (name) = HEX'",
            Self::Digest => "the digest is not an even number of hexadecimal digits",
            Self::Tag => "the name of the algorithm is malformed",
            Self::NoName => "no file name",
            Self::Nul => "NUL in the file name",
            Self::Escape => "backslash that escapes nothing in an escaped name",
            Self::CarriageReturn => "carriage return at the end of the line (DOS line ends?)",
            Self::ByteOrderMark => "byte order mark at the start of the line",
            Self::TooLong => "the line is too long",
        })
    }
}

impl std::error::Error for SumError {}

/// Tag, digest and name of a tagged line, from what stands before and after the opening parenthesis.
fn tagged<'l>(before: &'l [u8], after: &'l [u8], close: &[u8]) -> Result<Parts<'l>, SumError> {
    let tag = tag(before)?;
    let at = after.windows(close.len()).rposition(|w| w == close).ok_or(SumError::Shape)?;
    Ok((Some(tag), &after[at + close.len()..], &after[..at]))
}

type Parts<'l> = (Option<&'l str>, &'l [u8], &'l [u8]);

fn tag(bytes: &[u8]) -> Result<&str, SumError> {
    let known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'_');
    match str::from_utf8(bytes) {
        Ok(tag) if !tag.is_empty() && bytes.iter().all(known) => Ok(tag),
        _ if bytes.starts_with("\u{feff}".as_bytes()) => Err(SumError::ByteOrderMark),
        _ => Err(SumError::Tag),
    }
}

fn unescape(name: &[u8]) -> Result<Vec<u8>, SumError> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                _ => return Err(SumError::Escape),
            },
            _ => byte,
        });
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(Option<&str>, &str, String), SumError> {
        let line = SumLine::parse(line.as_bytes(), End::Newline)?;
        Ok((line.tag, str::from_utf8(line.hex).unwrap(), String::from_utf8(line.name.into_owned()).unwrap()))
    }

    #[test]
    fn every_form_is_read() {
        let name = |name: &str| name.to_owned();
        assert_eq!(parse("00Fa  a b"), Ok((None, "00Fa", name("a b"))));
        assert_eq!(parse("00fa *a b"), Ok((None, "00fa", name("a b"))));
        assert_eq!(parse("00fa   a"), Ok((None, "00fa", name(" a"))));
        assert_eq!(parse("00fa  *a"), Ok((None, "00fa", name("*a"))));
        assert_eq!(parse("00fa  a\\b"), Ok((None, "00fa", name("a\\b"))));
        assert_eq!(parse("\\00fa  a\\\\\\n\\r"), Ok((None, "00fa", name("a\\\n\r"))));
        assert_eq!(parse("00fa  a\rb"), Ok((None, "00fa", name("a\rb"))));
        assert_eq!(parse("XXH3_00fa  a"), Ok((Some("XXH3"), "00fa", name("a"))));
        assert_eq!(parse("XXH3 (a) = 00fa"), Ok((Some("XXH3"), "00fa", name("a"))));
        assert_eq!(parse("BLAKE2b-256 (a) = 0) = 00fa"), Ok((Some("BLAKE2b-256"), "00fa", name("a) = 0"))));
        assert_eq!(parse("\\SHA256 (a\\nb) = 00fa"), Ok((Some("SHA256"), "00fa", name("a\nb"))));
        assert_eq!(parse("SHA2-256(a b)= 00fa"), Ok((Some("SHA2-256"), "00fa", name("a b"))));
        assert_eq!(parse("MD5(a)= 00)= 00fa"), Ok((Some("MD5"), "00fa", name("a)= 00"))));
        assert_eq!(parse("MD5 (a(b)= 00) = 00fa"), Ok((Some("MD5"), "00fa", name("a(b)= 00"))));
        assert_eq!(parse(" \t00fa  a"), Ok((None, "00fa", name("a"))));
        assert_eq!(parse(" \\00fa  a\\n"), Ok((None, "00fa", name("a\n"))));
        // The tag consists of hexadecimal digits: only what follows it tells the styles apart.
        assert_eq!(parse("ADD (a) = 00fa"), Ok((Some("ADD"), "00fa", name("a"))));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, error) in [
            ("", SumError::Shape),
            ("00fa", SumError::Shape),
            ("00fa a", SumError::Shape),
            ("00fa\ta", SumError::Shape),
            ("SHA256 (a) 00fa", SumError::Shape),
            ("SHA256 (a)= 00fa", SumError::Shape),
            ("SHA256(a) = 00fa", SumError::Shape),
            ("SHA256(a)=00fa", SumError::Shape),
            ("(a)= 00fa", SumError::Tag),
            ("  a", SumError::Shape),
            ("00fa(a)  b", SumError::Shape),
            ("00f  a", SumError::Digest),
            ("00fg  a", SumError::Digest),
            ("XXH3_  a", SumError::Digest),
            ("SHA256 (a) = ", SumError::Digest),
            ("SHA256 (a) = 00fa ", SumError::Digest),
            ("SHA256 (a) = 00f", SumError::Digest),
            (" (a) = 00fa", SumError::Tag),
            ("S:A (a) = 00fa", SumError::Tag),
            ("00fa  ", SumError::NoName),
            ("SHA256 () = 00fa", SumError::NoName),
            ("0\x000\x00  a", SumError::Digest),
            ("00fa  a\0", SumError::Nul),
            ("\\00fa  a\\", SumError::Escape),
            ("\\00fa  a\\t", SumError::Escape),
            ("\\00fa  a\\x", SumError::Escape),
            ("\\\\00fa  a", SumError::Digest),
            ("00fa  a\r", SumError::CarriageReturn),
            ("SHA256 (a) = 00fa\r", SumError::CarriageReturn),
            ("\u{feff}00fa  a", SumError::ByteOrderMark),
            ("\u{feff}SHA256 (a) = 00fa", SumError::ByteOrderMark),
        ] {
            assert_eq!(parse(line), Err(error), "{line:?}");
            assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn nul_ended_lines_have_no_escapes() {
        let line = SumLine::parse(b"00fa  a\\n\r", End::Nul).unwrap();
        assert_eq!(&*line.name, b"a\\n\r");
        assert_eq!(SumLine::parse(b"\\00fa  a", End::Nul), Err(SumError::Digest));
    }
}
