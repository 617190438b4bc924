//! Manifests of BagIt bags (RFC 8493, section 2.1.3): lines of digest and path.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead};

use memchr::{memchr, memchr2};

use crate::lines::{MAX_LINE, read_line};
use crate::sum::push_hex;

/// Appends a line of a manifest: the digest, two spaces as `sha256sum` prints them, and the path, in which `%`,
/// newline and carriage return are percent-encoded.
///
/// # Errors
/// If a manifest cannot represent the path. Nothing is appended then.
pub fn write_bag_line(out: &mut Vec<u8>, digest: &[u8], path: &[u8]) -> Result<(), BagNameError> {
    let text = str::from_utf8(path).map_err(|_| BagNameError::NotUtf8)?;
    let encoded = text.replace('%', "%25").replace('\n', "%0A").replace('\r', "%0D");
    check_bag_name(&encoded)?;
    push_hex(out, digest);
    out.extend_from_slice(b"  ");
    out.extend_from_slice(encoded.as_bytes());
    out.push(b'\n');
    Ok(())
}

/// Refuses a path that bagit-python would read as another one, whether it is percent-encoded or not.
///
/// # Errors
/// If Python would end a line in the path, or remove white space from it.
pub fn check_bag_name(path: &str) -> Result<(), BagNameError> {
    if path.contains(is_line_end) {
        return Err(BagNameError::LineEnd);
    }
    // Line ends are percent-encoded, so they stay.
    let is_blank = |c: char| c == '\u{1f}' || c.is_whitespace() && !matches!(c, '\n' | '\r');
    if path.starts_with(is_blank) || path.ends_with(is_blank) {
        return Err(BagNameError::Blank);
    }
    Ok(())
}

/// Returns whether Python ends a line at this character, besides newline and carriage return.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Why a BagIt manifest cannot represent a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BagNameError {
    /// The path is not UTF-8, which is the encoding of the manifest.
    NotUtf8,
    /// The path begins or ends with white space, which bagit-python removes.
    Blank,
    /// The path has a character that Python takes for the end of a line, such as U+0085 or U+2028.
    LineEnd,
}

impl fmt::Display for BagNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "the name is not UTF-8",
            Self::Blank => "the name begins or ends with a blank",
            Self::LineEnd => "the name has a character that may end a line, such as U+0085 or U+2028",
        })
    }
}

impl std::error::Error for BagNameError {}

/// Decodes a path of a manifest or of `fetch.txt`: `%25`, `%0A` and `%0D`, with digits of either case, are `%`,
/// newline and carriage return. Any other `%` stands for itself.
pub fn decode_bag_path(encoded: &[u8]) -> Cow<'_, [u8]> {
    decode(encoded, true)
}

/// Decodes newline and carriage return, and with `percent` also `%`.
fn decode(encoded: &[u8], percent: bool) -> Cow<'_, [u8]> {
    if memchr(b'%', encoded).is_none() {
        return Cow::Borrowed(encoded);
    }
    let mut path = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let [first, after @ ..] = rest {
        let (byte, after) = match rest {
            [b'%', b'2', b'5', after @ ..] if percent => (b'%', after),
            [b'%', b'0', b'A' | b'a', after @ ..] => (b'\n', after),
            [b'%', b'0', b'D' | b'd', after @ ..] => (b'\r', after),
            _ => (*first, after),
        };
        path.push(byte);
        rest = after;
    }
    Cow::Owned(path)
}

/// One line of a BagIt manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BagLine<'l> {
    /// The digest: an even number of hexadecimal digits of either case, at least two. The caller checks whether
    /// the length fits the algorithm.
    pub hex: &'l [u8],
    /// The path as it is written, percent-encoded; never empty.
    encoded: &'l [u8],
}

impl<'l> BagLine<'l> {
    /// Parses a line: the digest, blanks, and a path. A single space and an asterisk between them are accepted
    /// too, as `sha256sum --binary` writes. `line` must not include its end.
    ///
    /// # Errors
    /// If the line is malformed.
    pub fn parse(line: &'l [u8]) -> Result<Self, BagError> {
        let at = memchr2(b' ', b'\t', line).ok_or(if line.iter().all(u8::is_ascii_hexdigit) {
            BagError::NoName
        } else {
            BagError::Digest
        })?;
        let (hex, rest) = line.split_at(at);
        if hex.is_empty() || hex.len() % 2 != 0 || !hex.iter().all(u8::is_ascii_hexdigit) {
            return Err(BagError::Digest);
        }
        let encoded = match rest {
            [b' ', b'*', path @ ..] => path,
            rest => &rest[rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..],
        };
        if encoded.is_empty() {
            return Err(BagError::NoName);
        }
        if memchr(0, encoded).is_some() {
            return Err(BagError::Nul);
        }
        if str::from_utf8(encoded).is_err() {
            return Err(BagError::NotUtf8);
        }
        Ok(Self { hex, encoded })
    }

    /// Returns the path as it is written.
    pub(crate) fn encoded(&self) -> &'l [u8] {
        self.encoded
    }

    /// Returns the path that the line names according to RFC 8493.
    pub fn path(&self) -> Cow<'l, [u8]> {
        decode(self.encoded, true)
    }

    /// Returns the path that the line names if bagit-python wrote it, which does not encode `%`. Returns `None` if
    /// this is the same as [`path`](Self::path).
    pub fn path_of_python(&self) -> Option<Cow<'l, [u8]>> {
        Some(decode(self.encoded, false)).filter(|path| *path != self.path())
    }
}

/// A reader of a BagIt manifest. Lines end with a newline, a carriage return, or both. Empty lines and comments,
/// which begin with `#`, are skipped, as bagit-python does. Uses memory for one line, up to a fixed limit.
#[derive(Debug)]
pub struct BagReader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    /// Whether the last line ended with a carriage return, so that a newline belongs to the same line end.
    is_after_return: bool,
}

/// One line of a BagIt manifest, with its number.
#[derive(Debug)]
pub struct BagRecord<'r> {
    /// The line number; the first line is 1.
    pub number: u64,
    /// Whether the line has an end. If not, the manifest may be truncated.
    pub is_ended: bool,
    /// The parsed line, or why it is not valid.
    pub line: Result<BagLine<'r>, BagError>,
}

impl<R: BufRead> BagReader<R> {
    /// Creates a reader.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0, is_after_return: false }
    }

    /// Returns the next line of a manifest, or `None` at its end. Reading can continue after an invalid line.
    ///
    /// # Errors
    /// When the input cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader's one buffer")]
    pub fn next(&mut self) -> io::Result<Option<BagRecord<'_>>> {
        let is_ended = loop {
            let Some((number, is_ended)) = self.fill()? else { return Ok(None) };
            if number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                let line = Err(BagError::ByteOrderMark);
                return Ok(Some(BagRecord { number, is_ended, line }));
            }
            let line = self.line.trim_ascii();
            if !line.is_empty() && line[0] != b'#' {
                break is_ended;
            }
        };
        let is_long = self.line.len() > MAX_LINE;
        let line = if is_long { Err(BagError::TooLong) } else { BagLine::parse(&self.line) };
        Ok(Some(BagRecord { number: self.number, is_ended, line }))
    }

    /// Returns the next line as it is, such as one of `bagit.txt`, with its number and whether it has an end; or
    /// `None` at the end of the file. A line that is too long is an error.
    ///
    /// # Errors
    /// When the input cannot be read, or a line is too long for any path.
    pub fn next_text(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let Some((number, _)) = self.fill()? else { return Ok(None) };
        if self.line.len() > MAX_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("line {number} is too long")));
        }
        Ok(Some((number, &self.line)))
    }

    /// Reads the next line. Returns its number and whether it has an end, or `None` at the end of the input.
    fn fill(&mut self) -> io::Result<Option<(u64, bool)>> {
        loop {
            self.line.clear();
            let find = |buffer: &[u8]| memchr2(b'\n', b'\r', buffer);
            let Some(end) = read_line(&mut self.input, &mut self.line, find)? else { return Ok(None) };
            let is_second_half = self.is_after_return && end == Some(b'\n') && self.line.is_empty();
            self.is_after_return = end == Some(b'\r');
            if !is_second_half {
                self.number += 1;
                return Ok(Some((self.number, end.is_some())));
            }
        }
    }
}

/// Why a line of a BagIt manifest is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BagError {
    /// The line does not begin with pairs of hexadecimal digits.
    Digest,
    /// The line has no path.
    NoName,
    /// The line contains a NUL.
    Nul,
    /// The path is not UTF-8.
    NotUtf8,
    /// The file begins with the byte order mark of UTF-8.
    ByteOrderMark,
    /// The line is too long for any path.
    TooLong,
}

impl fmt::Display for BagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Digest => "the digest is not made of pairs of hexadecimal digits",
            Self::NoName => "no path after the digest",
            Self::Nul => "a NUL in the line",
            Self::NotUtf8 => "the path is not UTF-8",
            Self::ByteOrderMark => "byte order mark at the start of the file",
            Self::TooLong => "the line is too long",
        })
    }
}

impl std::error::Error for BagError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(&str, String), BagError> {
        let line = BagLine::parse(line.as_bytes())?;
        Ok((str::from_utf8(line.hex).unwrap(), String::from_utf8(line.path().into_owned()).unwrap()))
    }

    #[test]
    fn every_form_is_read() {
        for (rest, path) in [
            (" data/a", "data/a"),
            ("  data/a b ", "data/a b "),
            ("\t \tdata/a", "data/a"),
            (" *data/a", "data/a"),
            ("  *a", "*a"),
            ("  data/%25 %0A%0d%20%2%", "data/% \n\r%20%2%"),
            ("  data/%250A", "data/%0A"),
        ] {
            assert_eq!(parse(&format!("00Fa{rest}")), Ok(("00Fa", path.to_owned())), "{rest:?}");
        }
    }

    #[test]
    fn a_percent_sign_that_was_not_encoded_is_found() {
        let python = |line: &'static str| BagLine::parse(line.as_bytes()).unwrap().path_of_python();
        assert_eq!(python("00  a%25%0A").as_deref(), Some(&b"a%25\n"[..]));
        assert_eq!(python("00  a%0A%20"), None);
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (line, error) in [
            ("", BagError::NoName),
            ("00fa", BagError::NoName),
            ("00fa  ", BagError::NoName),
            ("00fa *", BagError::NoName),
            ("00f  a", BagError::Digest),
            ("0g  a", BagError::Digest),
            ("  a", BagError::Digest),
            ("text", BagError::Digest),
            ("00  a\0", BagError::Nul),
        ] {
            assert_eq!(parse(line), Err(error), "{line:?}");
            assert!(!error.to_string().is_empty());
        }
        assert_eq!(BagLine::parse(b"00  a\xff"), Err(BagError::NotUtf8));
    }

    #[test]
    fn lines_end_with_newlines_or_carriage_returns() {
        let list = b"00  a\r\n\r\n# comment\n00  b\r00  c\n\r \t\n00  d";
        let mut reader = BagReader::new(io::BufReader::with_capacity(1, &list[..]));
        let mut all = Vec::new();
        while let Some(BagRecord { number, is_ended, line }) = reader.next().unwrap() {
            all.push((number, is_ended, String::from_utf8(line.unwrap().path().into_owned()).unwrap()));
        }
        let expected = [(1, true, "a"), (4, true, "b"), (5, true, "c"), (8, false, "d")];
        assert_eq!(all, expected.map(|(number, is_ended, path)| (number, is_ended, path.to_owned())));
        let mut reader = BagReader::new(&b"\xef\xbb\xbf00  a\n"[..]);
        assert_eq!(reader.next().unwrap().unwrap().line, Err(BagError::ByteOrderMark));
    }

    #[test]
    fn paths_that_cannot_be_read_back_are_refused() {
        let mut out = Vec::new();
        assert_eq!(write_bag_line(&mut out, &[0xfa], b"\xff"), Err(BagNameError::NotUtf8));
        for (path, why) in [
            (" a", BagNameError::Blank),
            ("a\t", BagNameError::Blank),
            ("a\u{3000}", BagNameError::Blank),
            ("a\u{c}b", BagNameError::LineEnd),
            ("\u{2029}", BagNameError::LineEnd),
        ] {
            assert_eq!(write_bag_line(&mut out, &[0xfa], path.as_bytes()), Err(why), "{path:?}");
        }
        assert_eq!(write_bag_line(&mut out, &[0xfa], b"data/100%\r\n"), Ok(()));
        assert_eq!(out, b"fa  data/100%25%0D%0A\n");
    }
}
