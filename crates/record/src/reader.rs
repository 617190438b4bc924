//! Reading whole lists of checksum lines.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

use crate::parse::Separator;
use crate::{End, SumError, SumLine};

/// Longest line that is looked at, in bytes. The longest path that a walk can print, ten thousand levels of
/// names of 255 bytes all of which are escaped, makes a line of 5 MB.
const MOST: usize = 16 << 20;

/// Reads the checksum lines of a list one by one. Empty lines and lines that begin with `#` are skipped, as the
/// coreutils do. Takes memory for one line, and for no more of it than a line can sensibly have.
///
/// Two things hold for a list as a whole. Whether one or two characters separate digest and name is what the first
/// untagged line has. And where all lines end with a carriage return and a newline, as DOS ends them, the returns are
/// no part of the names.
#[derive(Debug)]
pub struct SumReader<R> {
    input: R,
    end: End,
    line: Vec<u8>,
    number: u64,
    separator: Option<Separator>,
    /// As the first line has it.
    has_dos_ends: Option<bool>,
}

/// One line of a list.
#[derive(Debug)]
pub struct SumRecord<'r> {
    /// Its number in the list; the first line is 1.
    pub number: u64,
    /// Whether its end, newline or NUL, is there. Where it is not, the list may have been cut off.
    pub is_ended: bool,
    /// What it says, or why it says nothing.
    pub line: Result<SumLine<'r>, SumError>,
}

impl<R: BufRead> SumReader<R> {
    /// The lines of `input`, each ended by `end` but perhaps the last.
    pub fn new(input: R, end: End) -> Self {
        Self { input, end, line: Vec::new(), number: 0, separator: None, has_dos_ends: None }
    }

    /// Whether the lines read so far, at least one, end with a carriage return and a newline.
    pub fn has_dos_ends(&self) -> bool {
        self.has_dos_ends == Some(true)
    }

    /// The next line, or `None` at the end of the list. A line that is no checksum line does not end it.
    ///
    /// # Errors
    /// When the input cannot be read, or a line has no carriage return and those before have: then nobody knows
    /// whether the returns are part of names.
    #[expect(clippy::should_implement_trait, reason = "a record borrows the reader's one buffer")]
    pub fn next(&mut self) -> io::Result<Option<SumRecord<'_>>> {
        let end = match self.end {
            End::Newline => b'\n',
            End::Nul => 0,
        };
        let is_ended = loop {
            self.line.clear();
            let Some(is_ended) = self.fill(end)? else { return Ok(None) };
            self.number += 1;
            if self.end == End::Newline {
                self.strip_return(is_ended)?;
            }
            if !self.line.is_empty() && self.line[0] != b'#' {
                break is_ended;
            }
        };
        let fits = self.line.len() <= MOST;
        let line = if fits {
            SumLine::parse_in(&self.line, self.end, &mut self.separator)
        } else {
            Err(SumError::TooLong)
        };
        Ok(Some(SumRecord { number: self.number, is_ended, line }))
    }

    /// Takes the carriage return from the end of the line if the first line had one.
    fn strip_return(&mut self, is_ended: bool) -> io::Result<()> {
        if self.line.len() > MOST {
            return Ok(());
        }
        let has_return = self.line.ends_with(b"\r");
        if *self.has_dos_ends.get_or_insert(has_return && is_ended) {
            // The last line may have lost its end, or half of it.
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

    /// Reads a line up to `end`, or as much of it as shows that it is too long, and says whether `end` was
    /// there. `None` when nothing is left.
    fn fill(&mut self, end: u8) -> io::Result<Option<bool>> {
        let mut is_read = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            if buffer.is_empty() {
                return Ok(is_read.then_some(false));
            }
            is_read = true;
            let at = memchr(end, buffer);
            let part = &buffer[..at.unwrap_or(buffer.len())];
            let room = MOST + 1 - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(at.is_some());
            self.input.consume(used);
            if at.is_some() {
                return Ok(Some(true));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _};

    use super::*;

    /// Number, whether it is ended, and name or error of every line.
    fn lines(list: &[u8], end: End) -> Vec<(u64, bool, Result<String, SumError>)> {
        // A buffer as small as can be, so that every line straddles its edge.
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
        assert_eq!(lines(b"\0#\n\0\x30\x30fa  a\nb\0", End::Nul), [(3, true, name("a\nb"))]);
        assert_eq!(lines(b"", End::Newline), []);
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
        // Of two returns one ends the line.
        assert_eq!(lines(b"00fa  a\r\r\n", End::Newline), [(1, true, Err(SumError::CarriageReturn))]);
        assert_eq!(lines(b"\\00fa  a\\r\r\n", End::Newline), [(1, true, Ok("a\r".to_owned()))]);
        // Not where the first line has none, and not where names are raw.
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
    fn the_first_untagged_line_decides_what_separates() {
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
    fn a_line_without_end_takes_bounded_memory() {
        let endless = io::repeat(b'f').take(3 * MOST as u64);
        let mut reader = SumReader::new(BufReader::new(endless.chain(&b"\n00fa  a\n"[..])), End::Newline);
        let record = reader.next().unwrap().unwrap();
        assert_eq!((record.number, record.is_ended, record.line), (1, true, Err(SumError::TooLong)));
        assert_eq!(reader.next().unwrap().unwrap().line.unwrap().name.as_ref(), b"a");
        assert!(reader.next().unwrap().is_none());
        assert!(reader.line.capacity() <= 2 * MOST + 64);
        let mut reader = SumReader::new(BufReader::new(io::repeat(b'f').take(2 * MOST as u64)), End::Newline);
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
