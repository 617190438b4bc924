//! Reading whole checksum lists.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

use crate::lines::{MAX_LINE, read_line};
use crate::parse::Separator;
use crate::{End, SumError, SumLine};

/// A reader of the lines of a checksum list.
///
/// Empty lines and lines that begin with `#` are skipped, as in the coreutils. But if lines end with NUL, empty ones may
/// be a lost block, and the first one in a row is an error. Uses memory for one line, up to a fixed limit.
///
/// Two rules hold for a list as a whole. The first valid untagged line decides whether one or two characters
/// separate digest and name. And if all lines have DOS line ends (a carriage return and a newline), the
/// carriage returns are not part of the names.
#[derive(Debug)]
pub struct SumReader<R> {
    input: R,
    end: End,
    line: Vec<u8>,
    number: u64,
    separator: Option<Separator>,
    /// Whether the first line has a DOS line end.
    has_dos_ends: Option<bool>,
    /// Whether the last line was empty, in a list whose lines end with NUL.
    is_in_gap: bool,
}

/// One line of a list.
#[derive(Debug)]
pub struct SumRecord<'r> {
    /// The line number; the first line is 1.
    pub number: u64,
    /// Whether the line ends with a newline or NUL. If not, the list may be truncated.
    pub is_ended: bool,
    /// The parsed line, or why it is not a valid checksum line.
    pub line: Result<SumLine<'r>, SumError>,
}

impl<R: BufRead> SumReader<R> {
    /// Creates a reader of lines that end with `end`, which may be missing after the last line.
    pub fn new(input: R, end: End) -> Self {
        Self {
            input,
            end,
            line: Vec::new(),
            number: 0,
            separator: None,
            has_dos_ends: None,
            is_in_gap: false,
        }
    }

    /// Returns whether at least one line was read and all lines so far have DOS line ends.
    pub fn has_dos_ends(&self) -> bool {
        self.has_dos_ends == Some(true)
    }

    /// Returns the next line, or `None` at the end of the list. Reading can continue after an invalid line.
    ///
    /// # Errors
    /// When the input cannot be read, or when a line has no carriage return although earlier lines have: then
    /// it is unclear whether the carriage returns are part of the names.
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader's one buffer")]
    pub fn next(&mut self) -> io::Result<Option<SumRecord<'_>>> {
        let end = match self.end {
            End::Newline => b'\n',
            End::Nul => 0,
        };
        let is_ended = loop {
            self.line.clear();
            let read = read_line(&mut self.input, &mut self.line, |buffer| memchr(end, buffer))?;
            let Some(is_ended) = read.map(|end| end.is_some()) else { return Ok(None) };
            self.number += 1;
            if self.end == End::Newline {
                self.strip_return(is_ended)?;
            } else {
                let is_first = !self.is_in_gap;
                self.is_in_gap = self.line.is_empty();
                if self.is_in_gap && is_first {
                    return Ok(Some(SumRecord { number: self.number, is_ended, line: Err(SumError::Empty) }));
                }
            }
            if !self.line.is_empty() && self.line[0] != b'#' {
                break is_ended;
            }
        };
        let fits = self.line.len() <= MAX_LINE;
        let line = if fits {
            SumLine::parse_in(&self.line, self.end, &mut self.separator)
        } else {
            Err(SumError::TooLong)
        };
        Ok(Some(SumRecord { number: self.number, is_ended, line }))
    }

    /// Removes the carriage return from the end of the line if the first line had one.
    fn strip_return(&mut self, is_ended: bool) -> io::Result<()> {
        if self.line.len() > MAX_LINE {
            return Ok(());
        }
        let has_return = self.line.ends_with(b"\r");
        if *self.has_dos_ends.get_or_insert(has_return && is_ended) {
            // The last line may lack the newline, or both characters.
            if !has_return && is_ended {
                let number = self.number;
                let why =
                    format!("line {number} ends without the carriage return that the lines before it have");
                return Err(io::Error::new(ErrorKind::InvalidData, why));
            }
            self.line.pop_if(|last| *last == b'\r');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _};

    use super::*;

    /// The number, whether it is ended, and the name or error of every line.
    fn lines(list: &[u8], end: End) -> Vec<(u64, bool, Result<String, SumError>)> {
        // The smallest possible buffer, so that every line crosses its edge.
        let mut reader = SumReader::new(BufReader::with_capacity(1, list), end);
        let mut lines = Vec::new();
        while let Some(SumRecord { number, is_ended, line }) = reader.next().expect("memory can be read") {
            let name = line.map(|line| String::from_utf8(line.name.into_owned()).unwrap());
            lines.push((number, is_ended, name));
        }
        lines
    }

    #[test]
    fn comments_and_empty_lines_are_counted_and_skipped() {
        let list = b"# made by hand\n\n00fa  a\nnonsense\n\n#00fa  b\n00fa  c\n";
        let name = |name: &str| Ok(name.to_owned());
        let expected = [(3, true, name("a")), (4, true, Err(SumError::Shape)), (7, true, name("c"))];
        assert_eq!(lines(list, End::Newline), expected);
        assert_eq!(lines(b"#\n\0\x30\x30fa  a\nb\0", End::Nul), [(2, true, name("a\nb"))]);
        assert_eq!(lines(b"", End::Newline), []);
        assert_eq!(lines(b"", End::Nul), []);
    }

    #[test]
    fn empty_lines_between_nuls_are_one_error_for_each_gap() {
        let a = || Ok("a".to_owned());
        let gap = |number| (number, true, Err(SumError::Empty));
        let list = b"00fa  a\0\0\x30\x30fa  a\0\0\0\0#\0\0";
        let expected = [(1, true, a()), gap(2), (3, true, a()), gap(4), gap(8)];
        assert_eq!(lines(list, End::Nul), expected);
        assert_eq!(lines(b"\0\x30\x30fa  a\0", End::Nul), [gap(1), (2, true, a())]);
        assert_eq!(lines(&[0; 99], End::Nul), [gap(1)]);
    }

    #[test]
    fn a_list_that_was_cut_off_shows_it() {
        assert_eq!(lines(b"00fa  a", End::Newline), [(1, false, Ok("a".to_owned()))]);
        assert_eq!(lines(b"00fa  a\n00f", End::Newline)[1], (2, false, Err(SumError::Shape)));
        assert_eq!(lines(b"00fa  a\0", End::Nul), [(1, true, Ok("a".to_owned()))]);
        assert_eq!(lines(b"00fa  a\n", End::Nul), [(1, false, Ok("a\n".to_owned()))]);
    }

    #[test]
    fn dos_line_ends_of_all_lines_are_removed() {
        let a = || Ok("a".to_owned());
        for list in ["# made on DOS\r\n00fa  a\r\n\r\nMD5 (a) = 00fa\r\n", "\r\n00fa  a\r\n\r\n00fa  a\r\n"] {
            assert_eq!(lines(list.as_bytes(), End::Newline), [(2, true, a()), (4, true, a())]);
        }
        for last in ["00fa  a", "00fa  a\r"] {
            let list = format!("00fa  a\r\n{last}");
            assert_eq!(lines(list.as_bytes(), End::Newline), [(1, true, a()), (2, false, a())]);
        }
        // Of two carriage returns, one belongs to the line end.
        assert_eq!(lines(b"00fa  a\r\r\n", End::Newline), [(1, true, Err(SumError::CarriageReturn))]);
        assert_eq!(lines(b"\\00fa  a\\r\r\n", End::Newline), [(1, true, Ok("a\r".to_owned()))]);
        // Carriage returns stay if the first line has none, or if lines end with NUL.
        let mixed = b"00fa  a\n00fa  a\r\n";
        assert_eq!(lines(mixed, End::Newline), [(1, true, a()), (2, true, Err(SumError::CarriageReturn))]);
        assert_eq!(lines(b"00fa  a\r", End::Newline), [(1, false, Err(SumError::CarriageReturn))]);
        assert_eq!(lines(b"00fa  a\r\0", End::Nul), [(1, true, Ok("a\r".to_owned()))]);
    }

    #[test]
    fn a_list_that_loses_its_dos_line_ends_is_an_error() {
        let mut reader = SumReader::new(&b"00fa  a\r\n00fa  b\n00fa  c\r\n"[..], End::Newline);
        assert!(!reader.has_dos_ends());
        assert_eq!(reader.next().unwrap().unwrap().line.unwrap().name.as_ref(), b"a");
        assert!(reader.has_dos_ends());
        let error = reader.next().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(
            error.to_string(),
            "line 2 ends without the carriage return that the lines before it have"
        );
    }

    #[test]
    fn the_first_untagged_line_sets_the_separator() {
        let hex = "00".repeat(8);
        let names = |list: &str| -> Vec<_> {
            lines(list.as_bytes(), End::Newline).into_iter().map(|(.., name)| name).collect()
        };
        let name = |name: &str| Ok(name.to_owned());
        let list = format!("MD5 (t) = {hex}\n{hex} a\n{hex}  b\n{hex}\t*c\n");
        assert_eq!(names(&list), [name("t"), name("a"), name(" b"), name("*c")]);
        let list = format!("{hex}  a\n{hex} b\n{hex} *c\n");
        assert_eq!(names(&list), [name("a"), Err(SumError::Separator), name("c")]);
    }

    #[test]
    fn endless_lines_use_bounded_memory() {
        let endless = io::repeat(b'f').take(3 * MAX_LINE as u64);
        let mut reader = SumReader::new(BufReader::new(endless.chain(&b"\n00fa  a\n"[..])), End::Newline);
        let record = reader.next().unwrap().unwrap();
        assert_eq!((record.number, record.is_ended, record.line), (1, true, Err(SumError::TooLong)));
        assert_eq!(reader.next().unwrap().unwrap().line.unwrap().name.as_ref(), b"a");
        assert!(reader.next().unwrap().is_none());
        assert!(reader.line.capacity() <= 2 * MAX_LINE + 64);
        let mut reader =
            SumReader::new(BufReader::new(io::repeat(b'f').take(2 * MAX_LINE as u64)), End::Newline);
        let record = reader.next().unwrap().unwrap();
        assert_eq!((record.is_ended, record.line), (false, Err(SumError::TooLong)));
    }

    #[test]
    fn digests_of_either_case_become_bytes() {
        let line = SumLine::parse(b"00fAFF  a", End::Newline).unwrap();
        let mut bytes = vec![7];
        line.push_digest(&mut bytes);
        assert_eq!((line.digest_len(), &bytes[..]), (3, &[7, 0x00, 0xfa, 0xff][..]));
    }
}
