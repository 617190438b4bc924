//! Lists of `hashdeep`: a header that names the columns, and a line with size, digests and name for each file.

use std::fmt;
use std::io::{self, BufRead, Write as _};

use memchr::memchr;

use crate::lines::{MAX_LINE, read_line};
use crate::parse::{UNREAD, holds_digest};
use crate::sum::push_hex;

/// The first line of a list of `hashdeep`.
pub const HASHDEEP_HEADER: &[u8] = b"%%%% HASHDEEP-1.0";

/// The start of the second line, which names the columns. `hashdeep` ignores its case.
const COLUMNS: &[u8] = b"%%%% size,";

/// The name of the last column.
const LAST_COLUMN: &[u8] = b"filename";

/// The most columns that are accepted. `hashdeep` has five algorithms.
const MAX_COLUMNS: usize = 64;

/// Appends the two lines of the header. `algorithms` are the names of the columns between size and name, such as
/// `md5`; their names must not contain commas or newlines.
pub fn write_hashdeep_header(out: &mut Vec<u8>, algorithms: &[&str]) {
    out.extend_from_slice(HASHDEEP_HEADER);
    out.push(b'\n');
    out.extend_from_slice(COLUMNS);
    for algorithm in algorithms {
        out.extend_from_slice(algorithm.as_bytes());
        out.push(b',');
    }
    out.extend_from_slice(LAST_COLUMN);
    out.push(b'\n');
}

/// Appends the line of a file of `size` bytes: its digests in the order of the columns, and its name.
///
/// A name may contain commas, since it is the last column.
///
/// # Errors
/// If the format cannot represent the name. Nothing is appended then.
pub fn write_hashdeep_line<'d>(
    out: &mut Vec<u8>,
    size: u64,
    digests: impl Iterator<Item = &'d [u8]>,
    name: &[u8],
) -> Result<(), HashdeepNameError> {
    if name.contains(&b'\n') {
        return Err(HashdeepNameError::Newline);
    }
    if name.ends_with(b"\r") {
        return Err(HashdeepNameError::CarriageReturn);
    }
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{size},");
    for digest in digests {
        push_hex(out, digest);
        out.push(b',');
    }
    out.extend_from_slice(name);
    out.push(b'\n');
    Ok(())
}

/// Why a list of `hashdeep` cannot represent a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashdeepNameError {
    /// The name contains a newline.
    Newline,
    /// The name ends with a carriage return, which `hashdeep` reads as part of the line end.
    CarriageReturn,
}

impl fmt::Display for HashdeepNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newline => "the name contains a newline",
            Self::CarriageReturn => "the name ends with a carriage return",
        })
    }
}

impl std::error::Error for HashdeepNameError {}

/// A reader of a list of `hashdeep`. Comments, which begin with `#`, and empty lines are skipped. Uses memory for
/// one line, up to a fixed limit.
///
/// As in `hashdeep`, carriage returns at the end of a line belong to the line end.
///
/// ```
/// use ftk_record::HashdeepReader;
///
/// let list = b"%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## comment\n3,00fa,a,b\n";
/// let mut reader = HashdeepReader::new(&list[..])?.expect("a valid header");
/// assert_eq!(reader.algorithms(), ["md5"]);
/// let line = reader.next()?.expect("one line").line.unwrap();
/// assert_eq!((line.size, line.name), (3, &b"a,b"[..]));
/// assert_eq!(line.hex().collect::<Vec<_>>(), [b"00fa"]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct HashdeepReader<R> {
    input: R,
    algorithms: Vec<String>,
    line: Vec<u8>,
    number: u64,
}

/// One line of a list of `hashdeep`.
#[derive(Debug)]
pub struct HashdeepRecord<'r> {
    /// The line number; the first line of the header is 1.
    pub number: u64,
    /// Whether the line ends with a newline. If not, the list may be truncated.
    pub is_ended: bool,
    /// The parsed line, or why it is not valid.
    pub line: Result<HashdeepLine<'r>, HashdeepError>,
}

/// The record of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashdeepLine<'l> {
    /// The size of the file in bytes.
    pub size: u64,
    digests: &'l [u8],
    /// The name of the file; never empty and without NUL.
    pub name: &'l [u8],
}

impl<'l> HashdeepLine<'l> {
    /// Parses a line of a list with `columns` digests. `line` must not include its end.
    ///
    /// # Errors
    /// If the line is malformed.
    pub fn parse(line: &'l [u8], columns: usize) -> Result<Self, HashdeepError> {
        let (size, rest) = split(line).ok_or(HashdeepError::Shape)?;
        let size = str::from_utf8(size).ok().filter(|size| size.bytes().all(|byte| byte.is_ascii_digit()));
        let size = size.and_then(|size| size.parse().ok()).ok_or(HashdeepError::Size)?;
        let mut name = rest;
        for _ in 0..columns {
            let (hex, after) = split(name).ok_or(HashdeepError::Columns)?;
            if hex.is_empty() || hex.len() % 2 != 0 || !hex.iter().all(u8::is_ascii_hexdigit) {
                return Err(HashdeepError::Digest);
            }
            name = after;
        }
        if name.is_empty() {
            return Err(HashdeepError::NoName);
        }
        if memchr(0, name).is_some() {
            return Err(HashdeepError::Nul);
        }
        Ok(Self { size, digests: &rest[..rest.len() - name.len()], name })
    }

    /// Returns the digests in the order of the columns: an even number of hexadecimal digits of either case, at
    /// least two. The caller checks whether the lengths fit the algorithms.
    pub fn hex(&self) -> impl Iterator<Item = &'l [u8]> + use<'l> {
        // Each digest ends with a comma, so the text after the last comma is empty.
        let digests = self.digests.strip_suffix(b",").unwrap_or_default();
        digests.split(|byte| *byte == b',').filter(|hex| !hex.is_empty())
    }
}

/// Splits at the first comma.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr(b',', line)?;
    Some((&line[..at], &line[at + 1..]))
}

impl<R: BufRead> HashdeepReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// The outer error is that of reading the input. The inner one is for a header that is malformed.
    pub fn new(input: R) -> io::Result<Result<Self, HashdeepError>> {
        let mut reader = Self { input, algorithms: Vec::new(), line: Vec::new(), number: 0 };
        reader.fill()?;
        if reader.line != HASHDEEP_HEADER {
            return Ok(Err(HashdeepError::Header));
        }
        reader.fill()?;
        let Some(algorithms) = columns(&reader.line) else { return Ok(Err(HashdeepError::Header)) };
        reader.algorithms = algorithms;
        Ok(Ok(reader))
    }

    /// Returns the names of the columns between size and name, in lower case.
    pub fn algorithms(&self) -> &[String] {
        &self.algorithms
    }

    /// Returns the next line, or `None` at the end of the list. Reading can continue after an invalid line.
    ///
    /// # Errors
    /// When the input cannot be read.
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader's one buffer")]
    pub fn next(&mut self) -> io::Result<Option<HashdeepRecord<'_>>> {
        let is_ended = loop {
            let Some(is_ended) = self.fill()? else { return Ok(None) };
            if !self.line.is_empty() && self.line[0] != b'#' {
                break is_ended;
            }
        };
        let line = match &*self.line {
            line if line.len() > MAX_LINE => Err(HashdeepError::TooLong),
            line if line.starts_with(b"%%%%") => Err(HashdeepError::Repeated),
            line => HashdeepLine::parse(line, self.algorithms.len()).map_err(|error| match error {
                HashdeepError::Shape | HashdeepError::Size if holds_digest(line) => HashdeepError::Unread,
                error => error,
            }),
        };
        Ok(Some(HashdeepRecord { number: self.number, is_ended, line }))
    }

    /// Reads the next line. Returns whether it ends with a newline, or `None` at the end of the input.
    fn fill(&mut self) -> io::Result<Option<bool>> {
        self.line.clear();
        let read = read_line(&mut self.input, &mut self.line, |buffer| memchr(b'\n', buffer))?;
        self.number += u64::from(read.is_some());
        while self.line.len() <= MAX_LINE && self.line.pop_if(|last| *last == b'\r').is_some() {}
        Ok(read.map(|end| end.is_some()))
    }
}

/// Returns the names of the algorithms in the second line of the header.
fn columns(line: &[u8]) -> Option<Vec<String>> {
    let (start, rest) = line.split_at_checked(COLUMNS.len())?;
    if !start.eq_ignore_ascii_case(COLUMNS) {
        return None;
    }
    let names = str::from_utf8(rest).ok()?.to_ascii_lowercase();
    let names = names.strip_suffix("filename")?.strip_suffix(',')?;
    let names: Vec<_> = names.split(',').map(str::to_owned).collect();
    let is_name = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    (names.len() <= MAX_COLUMNS && names.iter().all(is_name)).then_some(names)
}

/// Why a list of `hashdeep`, or a line of it, is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HashdeepError {
    /// The first two lines are not the header of a list.
    Header,
    /// There is a header in the middle of the list.
    Repeated,
    /// The line has no comma.
    Shape,
    /// The size is not a decimal number below 2^64.
    Size,
    /// The line has fewer columns than the header.
    Columns,
    /// A digest is not made of hexadecimal digits, or has an odd number of them.
    Digest,
    /// The line has no file name.
    NoName,
    /// The line contains a NUL.
    Nul,
    /// The line is too long for any path.
    TooLong,
    /// The line has the digits of a digest, but not in the columns of the header.
    Unread,
}

impl HashdeepError {
    /// Returns whether the line may have a digest, so that it is a faulty record rather than the second part of
    /// a name or a comment with a newline, which `hashdeep` writes as it is.
    pub fn has_digest(self) -> bool {
        !matches!(self, Self::Shape | Self::Size)
    }
}

impl fmt::Display for HashdeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "the first two lines are not a header of hashdeep",
            Self::Repeated => "a second header: this is another list",
            Self::Shape => "not 'SIZE,HEX,...,name'",
            Self::Size => "the size is not a number",
            Self::Columns => "fewer columns than in the header",
            Self::Digest => "a digest is not made of pairs of hexadecimal digits",
            Self::NoName => "no file name",
            Self::Nul => "a NUL in the line",
            Self::TooLong => "the line is too long",
            Self::Unread => UNREAD,
        })
    }
}

impl std::error::Error for HashdeepError {}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n";

    fn read(list: &str) -> Vec<(u64, bool, Result<String, HashdeepError>)> {
        // The smallest buffer, so that every line crosses its end.
        let input = io::BufReader::with_capacity(1, list.as_bytes());
        let mut reader = HashdeepReader::new(input).unwrap().unwrap();
        assert_eq!(reader.algorithms(), ["md5", "sha256"]);
        let mut all = Vec::new();
        while let Some(HashdeepRecord { number, is_ended, line }) = reader.next().unwrap() {
            let line = line.map(|line| {
                let hex: Vec<_> = line.hex().map(|hex| str::from_utf8(hex).unwrap()).collect();
                format!("{} {} {}", line.size, hex.join(" "), str::from_utf8(line.name).unwrap())
            });
            all.push((number, is_ended, line));
        }
        all
    }

    #[test]
    fn lines_are_read_and_comments_are_skipped() {
        let list = format!("{HEADER}## Invoked from: /\n##\n\n0,00,FF,a\r\n18446744073709551615,aa,00fa,b,c");
        let expected = [
            (6, true, Ok("0 00 FF a".to_owned())),
            (7, false, Ok("18446744073709551615 aa 00fa b,c".to_owned())),
        ];
        assert_eq!(read(&list), expected);
        assert_eq!(read(&HEADER.to_uppercase().replace('\n', "\r\n")), []);
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (line, error) in [
            ("line", HashdeepError::Shape),
            ("x,00,00,a", HashdeepError::Size),
            (",00,00,a", HashdeepError::Size),
            ("+1,00,00,a", HashdeepError::Size),
            ("18446744073709551616,00,00,a", HashdeepError::Size),
            ("1,00,a", HashdeepError::Columns),
            ("1,00", HashdeepError::Columns),
            ("1,,00,a", HashdeepError::Digest),
            ("1,000,00,a", HashdeepError::Digest),
            ("1,0g,00,a", HashdeepError::Digest),
            ("1,00,00,", HashdeepError::NoName),
            ("1,00,00,a\0", HashdeepError::Nul),
            ("%%%% HASHDEEP-1.0", HashdeepError::Repeated),
            ("x,d41d8cd98f00b204e9800998ecf8427e,00,a", HashdeepError::Unread),
            ("d41d8cd98f00b204e9800998ecf8427e  a", HashdeepError::Unread),
        ] {
            assert_eq!(read(&format!("{HEADER}{line}\n")), [(3, true, Err(error))], "{line:?}");
            assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn other_headers_are_refused() {
        for list in [
            "",
            "%%%% HASHDEEP-1.0",
            "%%%% HASHDEEP-1.0\n%%%% size,filename\n",
            "%%%% HASHDEEP-1.0\n%%%% size,md5\n",
            "%%%% HASHDEEP-1.0\n%%%% size,,filename\n",
            "%%%% HASHDEEP-1.0\n1,00,a\n",
            "%%%% HASHDEEP-2.0\n%%%% size,md5,filename\n",
        ] {
            let error = HashdeepReader::new(list.as_bytes()).unwrap().unwrap_err();
            assert_eq!(error, HashdeepError::Header, "{list:?}");
        }
    }

    #[test]
    fn names_that_end_a_line_are_refused() {
        let mut out = Vec::new();
        let mut write = |name: &[u8]| write_hashdeep_line(&mut out, 7, [&[0xfa][..]].into_iter(), name);
        assert_eq!(write(b"a\nb"), Err(HashdeepNameError::Newline));
        assert_eq!(write(b"a\r"), Err(HashdeepNameError::CarriageReturn));
        assert_eq!(write(b"a\rb,"), Ok(()));
        assert_eq!(out, b"7,fa,a\rb,\n");
    }
}
