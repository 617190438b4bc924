//! XML as film hash lists need it: bounded input, no entities, and names that XML can hold.

use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read};

/// An input that fails if more than a number of bytes is read for one piece of XML, and counts lines.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    inner: R,
    /// The bytes that may still be read for this piece.
    left: usize,
    /// The number of newlines so far.
    pub(super) newlines: u64,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, left: 0, newlines: 0 }
    }

    /// Begins a piece of at most `len` bytes.
    pub(super) fn begin(&mut self, len: usize) {
        self.left = len;
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let len = from.len().min(to.len());
        to[..len].copy_from_slice(&from[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buffer = self.inner.fill_buf()?;
        if self.left == 0 && !buffer.is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidData, "an element is too long"));
        }
        Ok(&buffer[..buffer.len().min(self.left)])
    }

    fn consume(&mut self, len: usize) {
        // What is consumed was returned before, so nothing is read here.
        if let Ok(buffer) = self.inner.fill_buf() {
            self.newlines += memchr::memchr_iter(b'\n', &buffer[..len]).count() as u64;
        }
        self.left -= len;
        self.inner.consume(len);
    }
}

/// Returns whether XML 1.0 can hold a character.
pub(super) fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Why XML cannot hold a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlNameError {
    /// The name is not UTF-8.
    Encoding,
    /// The name has a character that XML does not allow.
    Character(char),
}

impl fmt::Display for XmlNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoding => f.write_str("the name is not UTF-8, and XML cannot hold it"),
            Self::Character(c) => {
                write!(f, "XML cannot hold the character U+{:04X} of the name", u32::from(*c))
            }
        }
    }
}

impl std::error::Error for XmlNameError {}

/// Returns a name as text if XML can hold it.
///
/// # Errors
/// If it cannot.
pub fn xml_name(name: &[u8]) -> Result<&str, XmlNameError> {
    let text = str::from_utf8(name).map_err(|_| XmlNameError::Encoding)?;
    match text.chars().find(|c| !is_xml_char(*c)) {
        Some(c) => Err(XmlNameError::Character(c)),
        None => Ok(text),
    }
}

/// Appends text as the content of an element or attribute. Tabs and line ends are written as references: readers change
/// those that are not.
pub fn push_xml(out: &mut Vec<u8>, text: &str) {
    for c in text.bytes() {
        match c {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\t' => out.extend_from_slice(b"&#9;"),
            b'\n' => out.extend_from_slice(b"&#10;"),
            b'\r' => out.extend_from_slice(b"&#13;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_xml_cannot_hold_are_refused() {
        for name in ["a", "", "a\tb\r\n", "ü & <b>", "\u{e000}\u{fffd}\u{10ffff}\u{7f}\u{85}"] {
            assert_eq!(xml_name(name.as_bytes()), Ok(name));
        }
        for c in ['\u{1}', '\u{1f}', '\u{b}', '\u{fffe}', '\u{ffff}', '\0'] {
            assert_eq!(xml_name(format!("a{c}").as_bytes()), Err(XmlNameError::Character(c)));
        }
        assert_eq!(xml_name(b"\xff"), Err(XmlNameError::Encoding));
        assert_eq!(
            XmlNameError::Character('\u{1}').to_string(),
            "XML cannot hold the character U+0001 of the name"
        );
    }

    #[test]
    fn pieces_are_bounded_and_lines_counted() {
        let mut input = Bounded::new(io::BufReader::with_capacity(3, &b"a\nb\n\nc"[..]));
        input.begin(4);
        let mut read = [0; 4];
        input.read_exact(&mut read).unwrap();
        assert_eq!((&read, input.newlines), (b"a\nb\n", 2));
        assert_eq!(input.fill_buf().unwrap_err().to_string(), "an element is too long");
        input.begin(9);
        let mut rest = Vec::new();
        input.read_to_end(&mut rest).unwrap();
        assert_eq!((&*rest, input.newlines), (&b"\nc"[..], 3));
    }
}
