//! Lists of CRC-32 in the form of Simple File Verification: `name CRC32`, and comments that begin with `;`.

use std::fmt;
use std::io::{self, BufRead};

use memchr::memchr;

use crate::lines::{MAX_LINE, read_line};

/// The number of digits of a CRC-32.
const DIGITS: usize = 8;

/// Appends the line of a file, with capital digits as other programs write them. [`check_sfv_name`] must accept the
/// name.
pub fn write_sfv_line(out: &mut Vec<u8>, crc: &[u8], name: &[u8]) {
    out.extend_from_slice(name);
    out.push(b' ');
    out.extend_from_slice(data_encoding::HEXUPPER.encode(crc).as_bytes());
    out.push(b'\n');
}

/// Refuses a name that an SFV list cannot represent.
///
/// # Errors
/// If the name would be read as another one.
pub fn check_sfv_name(name: &[u8]) -> Result<(), SfvNameError> {
    if name.contains(&b'\n') || name.contains(&b'\r') {
        return Err(SfvNameError::LineEnd);
    }
    if name.starts_with(b";") {
        return Err(SfvNameError::Comment);
    }
    if name != name.trim_ascii() {
        return Err(SfvNameError::Blank);
    }
    Ok(())
}

/// Why an SFV list cannot represent a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SfvNameError {
    /// The name contains a newline or a carriage return.
    LineEnd,
    /// The name begins with a semicolon, as comments do.
    Comment,
    /// The name begins or ends with a blank.
    Blank,
}

impl fmt::Display for SfvNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LineEnd => "the name contains a line end",
            Self::Comment => "the name begins with a semicolon, as comments do",
            Self::Blank => "the name begins or ends with a blank",
        })
    }
}

impl std::error::Error for SfvNameError {}

/// The record of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfvLine<'l> {
    /// The name; never empty and without NUL.
    pub name: &'l [u8],
    /// The eight digits of either case.
    pub hex: &'l [u8],
}

impl<'l> SfvLine<'l> {
    /// Parses a line: a name, blanks, and eight hexadecimal digits. Blanks around the line belong to neither.
    ///
    /// # Errors
    /// If the line is malformed.
    pub fn parse(line: &'l [u8]) -> Result<Self, SfvError> {
        let line = line.trim_ascii();
        let at = line.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1);
        let (name, hex) = line.split_at(at);
        if hex.len() != DIGITS || !hex.iter().all(u8::is_ascii_hexdigit) {
            return Err(SfvError::Digest);
        }
        let name = name.trim_ascii_end();
        if name.is_empty() {
            return Err(SfvError::NoName);
        }
        if memchr(0, name).is_some() {
            return Err(SfvError::Nul);
        }
        Ok(Self { name, hex })
    }
}

/// A reader of an SFV list. Empty lines and comments are skipped. Uses memory for one line, up to a fixed limit.
#[derive(Debug)]
pub struct SfvReader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

/// One line of an SFV list.
#[derive(Debug)]
pub struct SfvRecord<'r> {
    /// The line number; the first line is 1.
    pub number: u64,
    /// Whether the line ends with a newline. If not, the list may be truncated.
    pub is_ended: bool,
    /// The parsed line, or why it is not valid.
    pub line: Result<SfvLine<'r>, SfvError>,
}

impl<R: BufRead> SfvReader<R> {
    /// Creates a reader.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// Returns the next line, or `None` at the end of the list. Reading can continue after an invalid line.
    ///
    /// # Errors
    /// When the input cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader's one buffer")]
    pub fn next(&mut self) -> io::Result<Option<SfvRecord<'_>>> {
        let is_ended = loop {
            self.line.clear();
            let read = read_line(&mut self.input, &mut self.line, |buffer| memchr(b'\n', buffer))?;
            let Some(end) = read else { return Ok(None) };
            self.number += 1;
            let line = self.line.trim_ascii();
            if !line.is_empty() && line[0] != b';' {
                break end.is_some();
            }
        };
        let is_long = self.line.len() > MAX_LINE;
        let line = if is_long { Err(SfvError::TooLong) } else { SfvLine::parse(&self.line) };
        Ok(Some(SfvRecord { number: self.number, is_ended, line }))
    }
}

/// Why a line of an SFV list is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SfvError {
    /// The line does not end with eight hexadecimal digits.
    Digest,
    /// The line has no name.
    NoName,
    /// The line contains a NUL.
    Nul,
    /// The line is too long for any path.
    TooLong,
}

impl fmt::Display for SfvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Digest => "the line does not end with the 8 digits of a CRC-32",
            Self::NoName => "no file name before the digits",
            Self::Nul => "a NUL in the line",
            Self::TooLong => "the line is too long",
        })
    }
}

impl std::error::Error for SfvError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let list = b"; made by hand\r\n\r\na b  352441C2\r\n ;x\nc\t352441c2\nnone\n352441C2\n\0 352441C2\nd 352441C2";
        let mut reader = SfvReader::new(io::BufReader::with_capacity(1, &list[..]));
        let mut all = Vec::new();
        while let Some(SfvRecord { number, is_ended, line }) = reader.next().unwrap() {
            let line = line.map(|line| format!("{} {}", line.name.escape_ascii(), line.hex.escape_ascii()));
            all.push((number, is_ended, line));
        }
        let expected = [
            (3, true, Ok("a b 352441C2".to_owned())),
            (5, true, Ok("c 352441c2".to_owned())),
            (6, true, Err(SfvError::Digest)),
            (7, true, Err(SfvError::NoName)),
            (8, true, Err(SfvError::Nul)),
            (9, false, Ok("d 352441C2".to_owned())),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn names_that_cannot_be_read_back_are_refused() {
        for (name, why) in [
            (&b"a\nb"[..], SfvNameError::LineEnd),
            (b"a\r", SfvNameError::LineEnd),
            (b";a", SfvNameError::Comment),
            (b" a", SfvNameError::Blank),
            (b"a\t", SfvNameError::Blank),
        ] {
            assert_eq!(check_sfv_name(name), Err(why));
            assert!(!why.to_string().is_empty());
        }
        assert_eq!(check_sfv_name(b"a ;b"), Ok(()));
        let mut out = Vec::new();
        write_sfv_line(&mut out, &[0x35, 0x24, 0x41, 0xc2], b"a ;b");
        assert_eq!(out, b"a ;b 352441C2\n");
    }
}
