//! Reads files of lines whose footer proves that they are complete.

use std::fmt;
use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

use crate::Seal;
use crate::seal::FOOTER;

/// A reader of the lines that a [`Seal`] has sealed. At the end it checks that they are complete and
/// unchanged.
///
/// Lines are returned before the footer has been checked. Callers that must not act on an incomplete file
/// have to read it to its end first. Uses memory for one line, at most [`Seal::MAX_LINE`] bytes.
#[derive(Debug)]
pub struct SealedReader<R> {
    input: R,
    line: Vec<u8>,
    seal: Seal,
    number: u64,
    is_over: bool,
}

impl<R: BufRead> SealedReader<R> {
    /// Creates a reader of `input`.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new(), seal: Seal::new(), number: 0, is_over: false }
    }

    /// Returns the next line before the footer, without its newline. Returns `None` only after a footer that
    /// matches all lines and is the last line.
    ///
    /// # Errors
    /// See [`SealError`]. After [`SealError::WrongCount`] and [`SealError::WrongDigest`], all lines have been
    /// returned and only the seal is broken, so that a file that was edited on purpose can still be used.
    /// After any other error, the reader cannot be used.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, SealError> {
        if self.is_over {
            return Ok(None);
        }
        self.line.clear();
        self.fill()?;
        self.number += 1;
        if self.line.starts_with(FOOTER) {
            self.is_over = true;
            return self.check_footer().map(|()| None);
        }
        self.seal.add(&self.line);
        self.line.pop();
        Ok(Some(&self.line))
    }

    /// Returns the seal of the lines that were read so far.
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// Returns the number of the line that was read last; the first line is 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Reads a line with its newline.
    fn fill(&mut self) -> Result<(), SealError> {
        loop {
            let buffer = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                filled => filled?,
            };
            if buffer.is_empty() {
                return Err(SealError::Incomplete);
            }
            let end = memchr(b'\n', buffer).map(|at| at + 1);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if self.line.len() + part.len() > Seal::MAX_LINE + 1 {
                return Err(SealError::TooLong);
            }
            self.line.extend_from_slice(part);
            let used = part.len();
            self.input.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Returns whether the input is at its end.
    fn is_at_end(&mut self) -> io::Result<bool> {
        loop {
            match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                filled => return filled.map(<[u8]>::is_empty),
            }
        }
    }

    fn check_footer(&mut self) -> Result<(), SealError> {
        if !self.is_at_end()? {
            return Err(SealError::Trailing);
        }
        let mut expected = Vec::new();
        self.seal.footer(&mut expected);
        if self.line == expected {
            return Ok(());
        }
        let records = |footer: &[u8]| {
            let rest = footer.strip_prefix(FOOTER)?.strip_prefix(b"{\"records\":")?;
            Some(rest[..memchr(b',', rest)?].to_vec())
        };
        let is_count = records(&self.line).is_some_and(|count| Some(count) != records(&expected));
        Err(if is_count { SealError::WrongCount } else { SealError::WrongDigest })
    }
}

/// Why a sealed file is not valid.
#[derive(Debug)]
#[non_exhaustive]
pub enum SealError {
    /// The file cannot be read.
    Io(io::Error),
    /// The file ends without a footer.
    Incomplete,
    /// The number of lines in the footer is not the number of lines before it.
    WrongCount,
    /// The footer does not match the bytes before it, or is itself damaged.
    WrongDigest,
    /// Something follows the footer.
    Trailing,
    /// A line is longer than [`Seal::MAX_LINE`].
    TooLong,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Io(_) => "cannot be read",
            Self::Incomplete => "incomplete: it ends without a footer",
            Self::WrongCount => "damaged: the footer has another number of lines",
            Self::WrongDigest => "damaged: the footer does not match the lines before it",
            Self::Trailing => "damaged: something follows the footer",
            Self::TooLong => "a line is too long",
        })
    }
}

impl std::error::Error for SealError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for SealError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read as _};

    use proptest::prelude::*;

    use super::*;

    fn sealed(lines: &[&str]) -> Vec<u8> {
        let (mut file, mut seal) = (Vec::new(), Seal::new());
        for line in lines {
            let line = format!("{line}\n");
            seal.line(line.as_bytes());
            file.extend_from_slice(line.as_bytes());
        }
        seal.footer(&mut file);
        file
    }

    /// Returns the lines, and the result at their end.
    fn read(file: &[u8]) -> (Vec<String>, Result<(), SealError>) {
        // The smallest possible buffer, so that every line crosses its edge.
        let mut reader = SealedReader::new(BufReader::with_capacity(1, file));
        let mut lines = Vec::new();
        loop {
            match reader.next_line() {
                Ok(Some(line)) => lines.push(String::from_utf8_lossy(line).into_owned()),
                Ok(None) => return (lines, Ok(())),
                Err(error) => return (lines, Err(error)),
            }
        }
    }

    const LINES: [&str; 4] = ["{\"ftk\":\"list\",\"version\":1}", "", "{\"path\":\"a\"}", "\u{e9}"];

    #[test]
    fn sealed_lines_are_read_back() {
        let (lines, end) = read(&sealed(&LINES));
        assert_eq!(lines, LINES);
        assert!(end.is_ok());
        assert!(matches!(read(&sealed(&[])), (lines, Ok(())) if lines.is_empty()));
        let file = sealed(&LINES);
        let mut reader = SealedReader::new(&file[..]);
        while reader.next_line().unwrap().is_some() {}
        assert_eq!(reader.number(), 5);
        assert!(reader.next_line().unwrap().is_none(), "the end is returned again");
    }

    #[test]
    fn truncated_files_are_incomplete() {
        let file = sealed(&LINES);
        for cut in 0..file.len() {
            let (lines, end) = read(&file[..cut]);
            assert!(matches!(end, Err(SealError::Incomplete)), "{cut}: {end:?}");
            assert!(LINES.starts_with(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn every_changed_bit_is_detected() {
        let file = sealed(&LINES);
        for at in 0..8 * file.len() {
            let mut file = file.clone();
            file[at / 8] ^= 1 << (at % 8);
            assert!(read(&file).1.is_err(), "bit {at}");
        }
    }

    #[test]
    fn nothing_may_follow_the_footer() {
        for more in ["\n", "x", "{\"path\":\"a\"}\n"] {
            let mut file = sealed(&LINES);
            file.extend_from_slice(more.as_bytes());
            assert!(matches!(read(&file).1, Err(SealError::Trailing)), "{more:?}");
        }
        let twice = [sealed(&LINES), sealed(&LINES)].concat();
        assert!(matches!(read(&twice).1, Err(SealError::Trailing)));
    }

    #[test]
    fn all_lines_of_an_edited_file_are_returned_before_the_error() {
        let text = String::from_utf8(sealed(&LINES)).unwrap();
        let (lines, end) = read(text.replace("\"a\"", "\"b\"").as_bytes());
        assert_eq!(lines.len(), 4);
        assert!(matches!(end, Err(SealError::WrongDigest)));
        let (lines, end) = read(text.replace("{\"path\":\"a\"}\n", "").as_bytes());
        assert_eq!(lines.len(), 3);
        assert!(matches!(end, Err(SealError::WrongCount)));
        let (_, end) = read(text.replace("\"records\"", "\"lines\"").as_bytes());
        assert!(matches!(end, Err(SealError::WrongDigest)));
    }

    #[test]
    fn endless_lines_use_bounded_memory() {
        let endless = io::repeat(b'x').take(2 * Seal::MAX_LINE as u64);
        let mut reader = SealedReader::new(BufReader::new(endless));
        assert!(matches!(reader.next_line(), Err(SealError::TooLong)));
        assert!(reader.line.capacity() <= 2 * Seal::MAX_LINE);
    }

    #[test]
    fn the_longest_line_fits() {
        let mut line = vec![b'x'; Seal::MAX_LINE];
        line.push(b'\n');
        let mut seal = Seal::new();
        seal.line(&line);
        let mut footer = Vec::new();
        seal.footer(&mut footer);
        let mut reader = SealedReader::new(line.chain(&footer[..]));
        assert_eq!(reader.next_line().unwrap().map(<[u8]>::len), Some(Seal::MAX_LINE));
        assert!(reader.next_line().unwrap().is_none());
    }

    proptest! {
        #[test]
        fn any_lines_are_read_back(lines in prop::collection::vec("[^\n]{0,12}", 0..8)) {
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            let (found, end) = read(&sealed(&lines));
            prop_assert!(end.is_ok());
            prop_assert_eq!(found, lines);
        }

        #[test]
        fn no_input_panics(bytes: Vec<u8>) {
            prop_assert!(read(&bytes).1.is_err());
        }
    }
}
