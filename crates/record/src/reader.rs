//! Reading whole lists of checksum lines.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

use crate::{End, SumError, SumLine};

/// Longest line that is looked at, in bytes. The longest path that a walk can print, ten thousand levels of
/// names of 255 bytes all of which are escaped, makes a line of 5 MB.
const MOST: usize = 16 << 20;

/// Reads the checksum lines of a list one by one. Empty lines and lines that begin with `#` are skipped, as the
/// coreutils do. Takes memory for one line, and for no more of it than a line can sensibly have.
#[derive(Debug)]
pub struct SumReader<R> {
    input: R,
    end: End,
    line: Vec<u8>,
    number: u64,
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
        Self { input, end, line: Vec::new(), number: 0 }
    }

    /// The next line, or `None` at the end of the list. A line that is no checksum line does not end it.
    ///
    /// # Errors
    /// When the input cannot be read.
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
            if !self.line.is_empty() && self.line[0] != b'#' {
                break is_ended;
            }
        };
        let fits = self.line.len() <= MOST;
        let line = if fits { SumLine::parse(&self.line, self.end) } else { Err(SumError::TooLong) };
        Ok(Some(SumRecord { number: self.number, is_ended, line }))
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
