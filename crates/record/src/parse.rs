//! Parsing checksum lines.

use std::borrow::Cow;
use std::fmt;

use data_encoding::{BASE64_NOPAD, HEXLOWER_PERMISSIVE};
use memchr::{memchr, memchr2, memchr3, memrchr};

use crate::End;
use crate::list::by_tag;
use crate::sum::{XXH3, XXH3_PREFIX};

/// One line of a checksum list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumLine<'l> {
    /// The algorithm that the line names; `None` if it names none.
    pub tag: Option<&'l str>,
    /// The digest, at least one byte of it. The caller checks whether the length fits the algorithm.
    pub digest: &'l [u8],
    /// How the digest is written.
    pub encoding: Encoding,
    /// The file name, unescaped; never empty and without NUL.
    pub name: Cow<'l, [u8]>,
}

/// How a digest is written in a checksum line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// An even number of hexadecimal digits of either case.
    Hex,
    /// Base64, as `cksum --base64` prints it. The padding may be missing.
    Base64,
}

/// What separates the digest and the name in the untagged lines of a list.
///
/// As in the coreutils, the first valid untagged line decides for the whole list: in a list with single
/// spaces, `HEX  name` means ` name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// A space, followed by another space or an asterisk, as `sha256sum` prints them.
    Two,
    /// One space or one tab, as `md5 -r` of the BSDs prints it.
    One,
    /// A comma, as `md5deep -c` prints it.
    Comma,
    /// A comma, with the digest after the name.
    CommaAfterName,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The minimal number of hexadecimal digits before a single space: that of XXH64. Fewer are more likely a
/// word, or the decimal checksum of `cksum`.
const MIN_BEFORE_ONE: usize = 16;

/// In an untagged line, an odd number of digits counts as a digest that has lost a digit only from this
/// length, which is that of CRC-32. Shorter text is more likely a word.
const MIN_ODD: usize = 8;

/// The minimal length of a digest in base64 that needs no padding. Shorter text is more likely a word.
const MIN_BASE64: usize = 24;

/// The lengths of digests in base64 whose padding is missing: those of MD5, SHA-1, SHA-224, SHA-256 and SHA-512.
const UNPADDED: [usize; 5] = [22, 27, 38, 43, 86];

/// The numbers of hexadecimal digits of digests, from that of MD5 on.
const DIGITS: [usize; 6] = [32, 40, 56, 64, 96, 128];

/// The minimal number of hexadecimal digits in a row that are a digest wherever they are: that of MD5.
const MIN_ANYWHERE: usize = 32;

impl<'l> SumLine<'l> {
    /// Parses a line as [`SumFormat`](crate::SumFormat) writes it, or with one of these differences:
    ///
    /// - ` *` before the name, as the coreutils write in binary mode;
    /// - one space or one tab between digest and name, as `md5 -r` of the BSDs writes;
    /// - other blanks, or none, around the parentheses and the equals sign of a tagged line, as in
    ///   `TAG(name)= HEX` of openssl and `TAG    (name) = HEX` of RHash, or a colon instead of the equals sign;
    /// - a digest in base64, as `cksum --base64` writes it, or without its padding;
    /// - `TAG:HEX`, `TAG=HEX` or `0xHEX` instead of the digest of an untagged line;
    /// - `TAG name = HEX`, and `TAG HEX name` as in a table of PowerShell's `Get-FileHash`;
    /// - `HEX,name` as `md5deep -c` writes it, or `name,HEX`, without quotes and other commas;
    /// - blanks at the start, which the coreutils skip, too, and blanks at the end of a tagged line.
    ///
    /// `line` must not include its end, newline or NUL. `HEX  name` is parsed as a line of `sha256sum`. Rules
    /// for whole lists are in [`SumReader`](crate::SumReader): it knows whether the list has single spaces,
    /// skips empty lines and comments, and removes DOS line ends.
    ///
    /// # Errors
    /// For anything else, including a carriage return at the end, which may or may not be part of the name.
    pub fn parse(line: &'l [u8], end: End) -> Result<Self, SumError> {
        Self::parse_in(line, end, &mut None)
    }

    /// Parses a line of a list. `separator` is the separator of the untagged lines of that list; the first
    /// valid one sets it.
    pub(crate) fn parse_in(
        line: &'l [u8],
        end: End,
        separator: &mut Option<Separator>,
    ) -> Result<Self, SumError> {
        let (bare, mark) = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(bare) => (bare, Some(SumError::ByteOrderMark)),
            None => (line, None),
        };
        let (bare, more) = match bare.strip_suffix(b"\r") {
            Some(bare) if end == End::Newline => (bare, Some(SumError::CarriageReturn)),
            _ => (bare, None),
        };
        let wrong = mark.or(more);
        let parsed = match wrong {
            None => Self::parse_bare(line, end, separator),
            // This error is reported only if nothing else is wrong.
            Some(wrong) => Err(Self::parse_bare(bare, end, &mut None).err().unwrap_or(wrong)),
        };
        // Text has no NUL, and UTF-16 has no two in a row. Two are a sign of a lost block, which may have
        // contained digests.
        let is_torn = || line.windows(2).any(|pair| pair == [0, 0]);
        parsed.or_else(|error| match error {
            SumError::Shape | SumError::Digest | SumError::HexDigits | SumError::Tag if is_torn() => {
                Err(SumError::Nul)
            }
            SumError::Shape | SumError::Digest | SumError::Tag if holds_digest(line) => {
                let rare = if wrong.is_none() { Self::parse_rare(trimmed(line), separator) } else { None };
                rare.ok_or(SumError::Unread)
            }
            error => Err(error),
        })
    }

    /// Parses a line that has no byte order mark and no carriage return at its end.
    fn parse_bare(line: &'l [u8], end: End, separator: &mut Option<Separator>) -> Result<Self, SumError> {
        let line = &line[blanks(line)..];
        let (escaped, rest) = match line.strip_prefix(b"\\") {
            Some(rest) if end == End::Newline => (true, rest),
            _ => (false, line),
        };
        let alone = || if is_long_digest(rest) { SumError::NoName } else { SumError::Shape };
        let first = memchr3(b' ', b'\t', b'(', rest).ok_or_else(alone)?;
        let (first, rest) = rest.split_at(first);
        let mut seen = *separator;
        let (prefix, digest) = prefixed(first);
        let (tag, digest, name) = match rest {
            [b' ', b'(', after @ ..] | [b'(', after @ ..] if !is_long_digest(digest) => tagged(first, after)?,
            rest if rest[blanks(rest)..].starts_with(b"(") && is_padded_tag(first) => {
                tagged(first, &rest[blanks(rest) + 1..])?
            }
            [b' ', b' ' | b'*', name @ ..] if matches!(seen, None | Some(Separator::Two)) => {
                seen = Some(Separator::Two);
                (prefix, digest, name)
            }
            [b' ' | b'\t', name @ ..] if is_long_digest(digest) => match seen.replace(Separator::One) {
                None | Some(Separator::One) => (prefix, digest, name),
                Some(_) => return Err(SumError::Separator),
            },
            _ if is_damaged_hex(digest) => return Err(SumError::HexDigits),
            _ => return Err(SumError::Shape),
        };
        let encoding = match () {
            () if is_hex(digest) && digest.len() % 2 == 0 => Encoding::Hex,
            () if is_hex(digest) && (tag.is_some() || digest.len() >= MIN_ODD) => {
                return Err(SumError::OddDigits);
            }
            () if is_damaged_hex(digest) => return Err(SumError::HexDigits),
            () if is_base64(digest) && (tag.is_some() || !is_word(digest)) => Encoding::Base64,
            () => return Err(SumError::Digest),
        };
        if encoding == Encoding::Base64 && BASE64_NOPAD.decode(letters(digest)).is_err() {
            return Err(SumError::Base64);
        }
        if name.is_empty() {
            return Err(SumError::NoName);
        }
        if memchr(0, name).is_some() {
            return Err(SumError::Nul);
        }
        let name = if escaped { Cow::Owned(unescape(name)?) } else { Cow::Borrowed(name) };
        *separator = seen;
        Ok(Self { tag, digest, encoding, name })
    }

    /// Parses `TAG name = HEX`, `TAG HEX name`, `HEX,name` or `name,HEX`, if it can be nothing else. The tag is that of a
    /// known algorithm, and its digest is complete. Names that may be cut off, as in a narrow table, are refused.
    fn parse_rare(line: &'l [u8], separator: &mut Option<Separator>) -> Option<Self> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let (mut tagged, mut seen) = (None, *separator);
        let (digest, name) = if let Some((word, rest)) = at_first(line, is_blank)
            && let Some(algorithm) = tag(word).ok().and_then(by_tag)
        {
            tagged = tag(word).ok();
            let is_digest = |word: &[u8]| word.len() == 2 * algorithm.digest_len() && is_hex(word);
            let rest = trimmed(rest);
            let last = rest.iter().rposition(is_blank).map_or(0, |at| at + 1);
            let name =
                trimmed(&rest[..last]).strip_suffix(b"=").filter(|name| name.last().is_some_and(is_blank));
            // A parenthesis at one end may be what is left of two.
            let is_plain = |name: &[u8]| !name.starts_with(b"(") && !name.ends_with(b")");
            let after_name = name.map(|name| (&rest[last..], trimmed(name)));
            let after_name = after_name.filter(|(digest, name)| is_digest(digest) && is_plain(name));
            let in_table = at_first(rest, is_blank).filter(|(digest, name)| {
                is_digest(digest) && !name.ends_with(b"...") && !name.ends_with("\u{2026}".as_bytes())
            });
            after_name.xor(in_table.map(|(digest, name)| (digest, trimmed(name))))?
        } else {
            let is_digest = |word: &[u8]| word.len() >= MIN_ANYWHERE && is_hex(word);
            let (first, last) = at_first(line, |byte| *byte == b',')?;
            let (order, digest, name) = match (is_digest(first), is_digest(last)) {
                (true, false) => (Separator::Comma, first, last),
                (false, true) => (Separator::CommaAfterName, last, first),
                _ => return None,
            };
            let is_alone = memchr2(b',', b'"', last).is_none() && memchr(b'"', first).is_none();
            (*seen.get_or_insert(order) == order && is_alone && trimmed(name) == name)
                .then_some((digest, name))?
        };
        if name.is_empty() || memchr(0, name).is_some() || digest.len() % 2 != 0 {
            return None;
        }
        *separator = seen;
        Some(Self { tag: tagged, digest, encoding: Encoding::Hex, name: Cow::Borrowed(name) })
    }

    /// Returns the length of the digest in bytes.
    pub fn digest_len(&self) -> usize {
        match self.encoding {
            Encoding::Hex => self.digest.len() / 2,
            Encoding::Base64 => letters(self.digest).len() * 3 / 4,
        }
    }

    /// Appends the bytes of the digest. They are unspecified if [`digest`](Self::digest) was not set by
    /// [`parse`](Self::parse).
    pub fn push_digest(&self, out: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Hex => {
                let (start, len) = (out.len(), self.digest_len());
                out.resize(start + len, 0);
                // Parsing has checked the digits.
                let _ = HEXLOWER_PERMISSIVE.decode_mut(&self.digest[..2 * len], &mut out[start..]);
            }
            // Parsing has checked the text.
            Encoding::Base64 => out.extend(BASE64_NOPAD.decode(letters(self.digest)).unwrap_or_default()),
        }
    }
}

/// Why a line is not a valid checksum line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SumError {
    /// The line is neither `HEX  name` nor `TAG (name) = HEX`.
    Shape,
    /// The digest is empty or contains something other than hexadecimal digits; or it has 1, 3, 5 or 7 digits
    /// and the line is untagged, so that the word is probably no digest.
    Digest,
    /// The digest has an odd number of hexadecimal digits. In an untagged line, it has more than 8.
    OddDigits,
    /// The digest has the length of hexadecimal digits, and three quarters of it are such digits: others are damaged, so
    /// that it might be taken for base64.
    HexDigits,
    /// The digest looks like base64, but is not the encoding of any bytes.
    Base64,
    /// Digest and name are not separated as in the untagged lines before.
    Separator,
    /// The name of the algorithm has characters other than letters, digits, `-`, `/` and `_`.
    Tag,
    /// The line has a digest but no name.
    NoName,
    /// The line contains a NUL, as in a UTF-16 file or a lost block.
    Nul,
    /// The line is empty in a list whose lines end with NUL: two NULs in a row, as in a lost block.
    Empty,
    /// An escaped name has a backslash that is not part of `\\`, `\n` or `\r`.
    Escape,
    /// The line ends with a carriage return and is otherwise valid: the carriage return is part of a DOS line
    /// end in a list that also has other line ends, or the last character of a name, not escaped.
    CarriageReturn,
    /// The line begins with the byte order mark of UTF-8 and is otherwise valid.
    ByteOrderMark,
    /// The line is too long for any path, digest and tag.
    TooLong,
    /// The line has the digits of a digest, but in none of the forms that are read.
    Unread,
}

impl SumError {
    /// Returns whether the line has a digest, which means that it is a faulty checksum line rather than a
    /// comment or other text.
    pub fn has_digest(self) -> bool {
        match self {
            Self::Shape | Self::Digest | Self::Tag => false,
            Self::OddDigits
            | Self::HexDigits
            | Self::Base64
            | Self::Separator
            | Self::NoName
            | Self::Nul
            | Self::Empty
            | Self::Escape
            | Self::CarriageReturn
            | Self::ByteOrderMark
            | Self::TooLong
            | Self::Unread => true,
        }
    }
}

impl fmt::Display for SumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "neither 'HEX  name' nor 'TAG (name) = HEX'",
            Self::Digest => "the digest is not made of hexadecimal digits",
            Self::OddDigits => "the digest has an odd number of hexadecimal digits",
            Self::HexDigits => "some characters of the digest are not hexadecimal digits",
            Self::Base64 => "the digest is not valid base64",
            Self::Separator => "digest and name are not separated as in the lines before",
            Self::Tag => "the name of the algorithm is malformed",
            Self::NoName => "no file name after the digest",
            Self::Nul => "a NUL in the line",
            Self::Empty => "an empty line: two NULs in a row",
            Self::Escape => "a backslash in the escaped name is not part of \\\\, \\n or \\r",
            Self::CarriageReturn => "carriage return at the end, which the first line does not have",
            Self::ByteOrderMark => "byte order mark at the start of the line",
            Self::TooLong => "the line is too long",
            Self::Unread => UNREAD,
        })
    }
}

impl std::error::Error for SumError {}

/// The message for a line that has a digest in an unknown form.
pub(crate) const UNREAD: &str = "the line has a digest, but not in a form that is known";

/// Returns whether text contains the digits of a digest: so many hexadecimal digits in a row that they cannot be a
/// word or a number, or a word of that length that has only a few other characters, such as a damaged digest.
pub(crate) fn holds_digest(text: &[u8]) -> bool {
    let is_long = |part: &&[u8]| part.len() >= MIN_ANYWHERE;
    text.split(|byte| !byte.is_ascii_hexdigit()).any(|run| is_long(&run))
        || text.split(u8::is_ascii_whitespace).filter(is_long).any(is_mostly_hex)
}

/// Tag, digest and name.
type Parts<'l> = (Option<&'l str>, &'l [u8], &'l [u8]);

/// Splits a tagged line, given the text before and after the opening parenthesis. The last parenthesis closes
/// the name, since the digest has none.
fn tagged<'l>(before: &'l [u8], after: &'l [u8]) -> Result<Parts<'l>, SumError> {
    let tag = tag(before)?;
    let (name, rest) = after.split_at(memrchr(b')', after).ok_or(SumError::Shape)?);
    let [b'=' | b':', digest @ ..] = &rest[1 + blanks(&rest[1..])..] else { return Err(SumError::Shape) };
    Ok((Some(tag), trimmed(digest), name))
}

/// Splits what stands for the digest in an untagged line: `XXH3_HEX`, `TAG:HEX`, `TAG=HEX`, `0xHEX` or the digest
/// alone.
fn prefixed(word: &[u8]) -> (Option<&str>, &[u8]) {
    if let Some(hex) = word.strip_prefix(XXH3_PREFIX) {
        return (Some(XXH3), hex);
    }
    if let [b'0', b'x' | b'X', hex @ ..] = word
        && is_long_digest(hex)
    {
        return (None, hex);
    }
    match memchr2(b':', b'=', word).map(|at| (tag(&word[..at]), &word[at + 1..])) {
        // A tag that may be a digest would have another meaning in a tagged line.
        Some((Ok(tag), hex)) if is_long_digest(hex) && !is_long_digest(prefixed(tag.as_bytes()).1) => {
            (Some(tag), hex)
        }
        _ => (None, word),
    }
}

/// Returns whether a word may be a tag with any number of blanks after it. What may be a digest is not a tag.
fn is_padded_tag(word: &[u8]) -> bool {
    tag(word).is_ok() && !is_hex(word) && !is_base64(word) && prefixed(word) == (None, word)
}

fn tag(bytes: &[u8]) -> Result<&str, SumError> {
    let known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'_');
    match str::from_utf8(bytes) {
        Ok(tag) if !tag.is_empty() && bytes.iter().all(known) => Ok(tag),
        _ => Err(SumError::Tag),
    }
}

/// Splits text at the first byte of a kind, which is removed.
fn at_first(text: &[u8], is_wanted: impl Fn(&u8) -> bool) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(is_wanted)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Returns the number of blanks at the start.
fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns text without the blanks around it.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let bytes = &bytes[blanks(bytes)..];
    let end = bytes.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(0, |last| last + 1);
    &bytes[..end]
}

/// Returns whether all bytes are hexadecimal digits, and there is at least one.
fn is_hex(bytes: &[u8]) -> bool {
    // Without an early exit the loop vectorises.
    !bytes.is_empty() && bytes.iter().fold(true, |all, byte| all & byte.is_ascii_hexdigit())
}

/// Returns whether these are hexadecimal digits of a digest, of which some are damaged. Digests in base64 with the same
/// number of characters have a third of such digits, and one in 10^11 has three quarters.
fn is_damaged_hex(bytes: &[u8]) -> bool {
    if !DIGITS.contains(&bytes.len()) || bytes.ends_with(b"=") {
        return false;
    }
    !is_hex(bytes) && is_mostly_hex(bytes)
}

/// Returns whether three quarters of a word are hexadecimal digits.
fn is_mostly_hex(word: &[u8]) -> bool {
    4 * word.iter().filter(|byte| byte.is_ascii_hexdigit()).count() >= 3 * word.len()
}

/// Returns whether these are enough hexadecimal digits for a digest, so that they are not a tag or a word.
fn is_long_digest(bytes: &[u8]) -> bool {
    bytes.len() >= MIN_BEFORE_ONE && is_hex(bytes)
}

fn is_base64(bytes: &[u8]) -> bool {
    let letters = letters(bytes);
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_long = bytes.len() >= MIN_BASE64 || bytes.ends_with(b"=");
    let is_whole = is_long && bytes.len().is_multiple_of(4) && !letters.is_empty();
    (is_whole || UNPADDED.contains(&bytes.len()) && letters == bytes) && letters.iter().all(is_letter)
}

/// Returns the text of a digest in base64 without its padding.
fn letters(base64: &[u8]) -> &[u8] {
    base64.strip_suffix(b"==").or(base64.strip_suffix(b"=")).unwrap_or(base64)
}

/// Returns whether text without padding is a word of small letters, perhaps after one capital, rather than base64.
fn is_word(base64: &[u8]) -> bool {
    UNPADDED.contains(&base64.len()) && base64[1..].iter().all(u8::is_ascii_lowercase)
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
        Ok((
            line.tag,
            str::from_utf8(line.digest).unwrap(),
            String::from_utf8(line.name.into_owned()).unwrap(),
        ))
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
        for line in ["MD5(a) = 00fa", "MD5 (a)= 00fa", "MD5(a)=00fa", "MD5 (a)=00fa", "MD5 (a)\t= \t 00fa"] {
            assert_eq!(parse(line), Ok((Some("MD5"), "00fa", name("a"))));
        }
        assert_eq!(parse(" \t00fa  a"), Ok((None, "00fa", name("a"))));
        assert_eq!(parse(" \\00fa  a\\n"), Ok((None, "00fa", name("a\n"))));
        // The tag consists of hexadecimal digits: only the text after it distinguishes the styles.
        assert_eq!(parse("ADD (a) = 00fa"), Ok((Some("ADD"), "00fa", name("a"))));
    }

    #[test]
    fn digests_in_base64_are_read() {
        for (line, expected) in [
            (
                "1B2M2Y8AsgTpgAmY7PhCfg==  a",
                &b"\xd4\x1d\x8c\xd9\x8f\0\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e"[..],
            ),
            (
                "MD5 (a) = 1B2M2Y8AsgTpgAmY7PhCfg==",
                b"\xd4\x1d\x8c\xd9\x8f\0\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e",
            ),
            ("CRC32 (a) = NSRBwg==", b"5$A\xc2"),
            ("YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4  a", b"abcdefghijklmnopqrstuvwx"),
            // Text that is both is hexadecimal.
            ("000000000000000000000000  a", &[0; 12]),
        ] {
            let line = SumLine::parse(line.as_bytes(), End::Newline).unwrap();
            let mut digest = Vec::new();
            line.push_digest(&mut digest);
            assert_eq!((&*digest, line.digest_len(), &*line.name), (expected, expected.len(), &b"a"[..]));
        }
    }

    #[test]
    fn digest_and_name_may_be_separated_by_a_space_or_tab() {
        let hex = "00fa00fa00fa00fa";
        for (rest, name) in [
            (" a", "a"),
            ("\ta", "a"),
            ("\t a", " a"),
            ("\t*a", "*a"),
            (" (a", "(a"),
            (" (a) = b", "(a) = b"),
            (" (a) = 00fa", "(a) = 00fa"),
            ("  a", "a"),
            (" *a", "a"),
            ("   a", " a"),
            ("  *a", "*a"),
            ("  (a) = 00fa", "(a) = 00fa"),
        ] {
            assert_eq!(parse(&format!("{hex}{rest}")), Ok((None, hex, name.to_owned())), "{rest:?}");
        }
        assert_eq!(parse(&format!("\\{hex} a\\n")), Ok((None, hex, "a\n".to_owned())));
        // A few digits before a space have no clear meaning.
        for line in ["00fa00fa00fa00 a", "3015617425 6 a", "dead end", "cafe\tlatte"] {
            assert_eq!(parse(line), Err(SumError::Shape), "{line:?}");
        }
    }

    #[test]
    fn forms_of_other_programs_are_read() {
        let hex = "00fa00fa00fa00fa00fa00fa00fa00fa";
        let base64 = "1B2M2Y8AsgTpgAmY7PhCfg";
        for (line, tag, digest) in [
            (format!("MD5    (a b) = {hex}"), Some("MD5"), hex),
            (format!("MD5\t(a b) = {hex}"), Some("MD5"), hex),
            (format!("MD5 (a b): {hex}"), Some("MD5"), hex),
            (format!("MD5 (a b) = {hex} \t"), Some("MD5"), hex),
            (format!("md5:{hex}  a b"), Some("md5"), hex),
            (format!("md5={hex} *a b"), Some("md5"), hex),
            (format!("md5={hex} a b"), Some("md5"), hex),
            (format!("0x{hex}  a b"), None, hex),
            (format!("0X{hex}\ta b"), None, hex),
            (format!("MD5 (a b) = {base64}"), Some("MD5"), base64),
            (format!("{base64}  a b"), None, base64),
        ] {
            assert_eq!(parse(&line), Ok((tag, digest, "a b".into())), "{line}");
        }
        // Text that is not a tag does not become one, and words are not digests.
        for (line, name) in [
            (format!("{hex}   (a) = {hex}"), format!(" (a) = {hex}")),
            (format!("XXH3_{hex}  (a) = {hex}"), format!("(a) = {hex}")),
            (format!("XXH3_{hex} (a) = {hex}"), format!("(a) = {hex}")),
            (format!("0x{hex}  (a) = {hex}"), format!("(a) = {hex}")),
            (format!("0x{hex} (a) = {hex}"), format!("(a) = {hex}")),
            (format!("md5:{hex}  (a) = {hex}"), format!("(a) = {hex}")),
            ("00fa00fa  (a) = 00fa".into(), "(a) = 00fa".into()),
            (format!("{base64}==  (a) = {hex}"), format!("(a) = {hex}")),
        ] {
            assert_eq!(parse(&line).map(|(.., name)| name), Ok(name), "{line}");
        }
        for line in ["counterrevolutionaries  a", "Counterrevolutionaries  a"] {
            assert_eq!(parse(line), Err(SumError::Digest));
        }
    }

    #[test]
    fn h102_a_digest_in_an_unknown_form_is_not_other_text() {
        for digits in [32, 40, 56, 64, 96, 128] {
            let hex = "0aF9".repeat(digits / 4);
            for line in [
                format!("f: {hex}"),
                format!("SHA256: {hex}"),
                format!("f  {hex}"),
                format!("Hash      : {hex}"),
                format!("\"SHA256\",\"{hex}\",\"C:\\f\""),
                format!("SHA2\u{fffd}56 (f) = {hex}"),
                format!("SHA256 (f) = {hex}x"),
                format!("SHA256 (f = {hex}"),
                format!("x{hex}  f"),
                format!("{hex}\u{a0} f"),
                format!("{hex}:{hex}  f"),
                format!("0x{hex}={hex}  f"),
                format!("<{hex}>  f"),
            ] {
                assert_eq!(parse(&line), Err(SumError::Unread), "{line}");
            }
            // A damaged digest.
            let damaged = format!("{}~{}  f", &hex[..digits / 2], &hex[digits / 2 + 1..]);
            assert_eq!(parse(&damaged), Err(SumError::HexDigits), "{damaged}");
        }
        for line in [
            "-----BEGIN PGP SIGNATURE-----",
            "Hash: SHA256",
            "iQIzBAEBCAAdFiEEcafe01234567",
            "f: 0123456789abcdef",
        ] {
            assert!(!parse(line).unwrap_err().has_digest(), "{line}");
        }
    }

    #[test]
    fn forms_whose_meaning_is_clear_are_read() {
        let (hex, md5) = ("0aF9".repeat(16), "0aF9".repeat(8));
        let read = |tag, name: &str| Ok((tag, &*hex, name.to_owned()));
        let sha256 = Some("SHA256");
        for (line, expected) in [
            (format!("SHA256 f = {hex}"), read(sha256, "f")),
            (format!("SHA256 a b,c  = {hex}"), read(sha256, "a b,c")),
            (format!("SHA256 a = b = {hex}"), read(sha256, "a = b")),
            (format!("SHA256\ta\\n =\t{hex} "), read(sha256, "a\\n")),
            (format!("SHA256          {hex}       C:\\a b\\f   "), read(sha256, "C:\\a b\\f")),
            (format!("SHA256 {hex} /a = b"), read(sha256, "/a = b")),
            (format!("{hex},f"), read(None, "f")),
            (format!("{hex},/a b/f = x"), read(None, "/a b/f = x")),
            (format!("f,{hex}"), read(None, "f")),
            (format!("a (b: c  d,{hex}"), read(None, "a (b: c  d")),
        ] {
            assert_eq!(parse(&line), expected, "{line}");
        }
        for line in [
            // The name may be cut off, or be followed by another column.
            format!("SHA256 {hex} C:\\Users\\..."),
            format!("SHA256 {hex} C:\\Users\u{2026}"),
            format!("{hex},f,7"),
            format!("7,{hex},f"),
            format!("{hex},\"f\""),
            format!("\"f\",{hex}"),
            format!("{hex}, f"),
            format!("f ,{hex}"),
            // The digest is not one of the algorithm, or the algorithm is not known.
            format!("MD5 f = {hex}"),
            format!("MD5 {hex} f"),
            format!("SHA3-384 f = {hex}{md5}"),
            format!("f = {hex}"),
            format!("SHA256 = {hex}"),
            format!("SHA256 f={hex}"),
            format!("SHA256 {hex}"),
            // A damaged parenthesis.
            format!("SHA256 f) = {hex}"),
            format!("SHA256  (f = {hex}"),
            // Several digests.
            format!("{hex},{md5}"),
            format!("SHA256 {hex} f = {hex}"),
            format!("{hex},f\0"),
            format!("0{md5},f"),
            format!("\u{feff}f,{hex}"),
        ] {
            assert!(parse(&line).unwrap_err().has_digest(), "{line:?}");
        }
    }

    /// A list has one form: a damaged line of another form is not read as a strange name.
    #[test]
    fn commas_separate_in_all_lines_or_in_none() {
        let hex = "0aF9".repeat(16);
        let [comma, before, blanks, tab] =
            [format!("{hex},f"), format!("f,{hex}"), format!("{hex}  f"), format!("{hex}\tf")];
        for first in [&comma, &before, &blanks, &tab] {
            for second in [&comma, &before, &blanks, &tab] {
                let mut separator = None;
                SumLine::parse_in(first.as_bytes(), End::Newline, &mut separator).unwrap();
                let read = SumLine::parse_in(second.as_bytes(), End::Newline, &mut separator);
                // After a tab, the second of two blanks belongs to the name.
                let is_read = first == second || (first, second) == (&tab, &blanks);
                assert_eq!(read.is_ok(), is_read, "{first} {second}");
                assert!(read.is_ok() || read.unwrap_err().has_digest());
            }
        }
    }

    /// The first untagged line decides for all.
    #[test]
    fn the_first_line_sets_the_separator() {
        let hex = "00fa00fa00fa00fa";
        let read = |separator: &mut Option<Separator>, rest: &str| {
            let line = format!("{hex}{rest}");
            SumLine::parse_in(line.as_bytes(), End::Newline, separator)
                .map(|line| String::from_utf8(line.name.into_owned()).unwrap())
        };
        let mut separator = None;
        assert_eq!(read(&mut separator, "x no digest"), Err(SumError::Shape));
        assert_eq!(read(&mut separator, " "), Err(SumError::NoName));
        assert_eq!(separator, None, "an invalid line does not set the separator");
        assert_eq!(read(&mut separator, " a"), Ok("a".into()));
        assert_eq!(read(&mut separator, "  a"), Ok(" a".into()));
        assert_eq!(read(&mut separator, " *a"), Ok("*a".into()));
        let mut separator = None;
        assert_eq!(read(&mut separator, " *a"), Ok("a".into()));
        for rest in [" a", "\ta", " (a) = 00fa"] {
            assert_eq!(read(&mut separator, rest), Err(SumError::Separator));
        }
        assert_eq!(read(&mut separator, "  a"), Ok("a".into()));
        assert_eq!(
            SumLine::parse_in(b"MD5 (a) = 00fa", End::Newline, &mut separator).unwrap().tag,
            Some("MD5")
        );
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (line, error) in [
            ("", SumError::Shape),
            ("00fa", SumError::Shape),
            ("00fa a", SumError::Shape),
            ("00fa\ta", SumError::Shape),
            ("SHA256 (a) 00fa", SumError::Shape),
            ("SHA256 (a = 00fa", SumError::Shape),
            ("(a)= 00fa", SumError::Tag),
            ("  a", SumError::Shape),
            ("00fa(a)  b", SumError::Shape),
            ("00f  a", SumError::Digest),
            ("00fg  a", SumError::Digest),
            ("XXH3_  a", SumError::Digest),
            ("SHA256 (a) = ", SumError::Digest),
            ("SHA256 (a) = 00f", SumError::OddDigits),
            ("00fa00fa0  a", SumError::OddDigits),
            ("SHA256 (a) = 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=", SumError::Base64),
            ("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=  a", SumError::Base64),
            ("1B2M2Y8AsgTpgAmY7PhCfh==  a", SumError::Base64),
            ("1B2M2Y8A=gTpgAmY7PhCfg==  a", SumError::Digest),
            ("1B2M2Y8AsgTpgAmY7PhCfg=  a", SumError::Digest),
            ("MD5 (a) = ====", SumError::Digest),
            ("MD5 (a) = sixteen_letters", SumError::Digest),
            ("NOTE (a) = sixteenletters00", SumError::Digest),
            ("nonsense  a", SumError::Digest),
            (" (a) = 00fa", SumError::Tag),
            ("S:A (a) = 00fa", SumError::Tag),
            ("00fa  ", SumError::NoName),
            ("SHA256 () = 00fa", SumError::NoName),
            ("SHA256 (a) = 00fa x", SumError::Digest),
            ("0\x000\x00  a", SumError::Digest),
            ("\0\0\0", SumError::Nul),
            ("0123456789abcdef0123456789abcdef", SumError::NoName),
            ("00fa  a\0", SumError::Nul),
            ("\\00fa  a\\", SumError::Escape),
            ("\\00fa  a\\t", SumError::Escape),
            ("\\00fa  a\\x", SumError::Escape),
            ("\\\\00fa  a", SumError::Digest),
            ("00fa  a\r", SumError::CarriageReturn),
            ("SHA256 (a) = 00fa\r", SumError::CarriageReturn),
            ("\u{feff}00fa  a", SumError::ByteOrderMark),
            ("\u{feff}SHA256 (a) = 00fa", SumError::ByteOrderMark),
            ("\u{feff}00fa00fa00fa00fa a\r", SumError::ByteOrderMark),
            ("\u{feff}text", SumError::Shape),
            ("text\r", SumError::Shape),
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
