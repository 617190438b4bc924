//! The lines of a manifest whose seal was checked, read again.

use std::fs::File;
use std::ops::Range;

use memchr::memchr;

use crate::Error;
use crate::blocks::{BLOCK, Prints};

/// A file of lines before a footer that matches them.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) file: File,
    pub(crate) prints: Prints,
    /// How many lines are before the footer.
    pub(crate) lines: u64,
}

/// The lines of a sealed file, without its footer. Takes memory for a block and a line.
#[derive(Debug)]
pub(crate) struct Lines<'m> {
    sealed: &'m Sealed,
    /// How many blocks were read, and where what is left of them lies in the buffer.
    blocks: usize,
    buffer: Vec<u8>,
    rest: Range<usize>,
    /// Bytes of the next line with its newline; 0 as long as nobody has looked for its end.
    len: usize,
    /// How many lines are behind.
    number: u64,
}

impl<'m> Lines<'m> {
    pub(crate) fn new(sealed: &'m Sealed) -> Self {
        Self { sealed, blocks: 0, buffer: Vec::new(), rest: 0..0, len: 0, number: 0 }
    }

    /// The next line, without its newline; `None` behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        let line = self.rest.start..self.rest.start + self.len - 1;
        self.skip();
        Ok(Some(&self.buffer[line]))
    }

    /// The next line with its newline, and again until it is skipped.
    pub(crate) fn peek(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.number == self.sealed.lines {
            return Ok(None);
        }
        let mut searched = 0;
        while self.len == 0 {
            let rest = &self.buffer[self.rest.clone()];
            match memchr(b'\n', &rest[searched..]) {
                Some(at) => self.len = searched + at + 1,
                None => {
                    searched = rest.len();
                    self.fill()?;
                }
            }
        }
        Ok(Some(&self.buffer[self.rest.start..][..self.len]))
    }

    /// Goes past a line that was seen.
    pub(crate) fn skip(&mut self) {
        debug_assert!(self.len > 0, "a line that nobody has seen");
        self.rest.start += self.len;
        self.len = 0;
        self.number += 1;
    }

    /// Reads the next block behind what is left.
    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        let room = self.rest.end..self.rest.end + BLOCK;
        if self.buffer.len() < room.end {
            self.buffer.resize(room.end, 0);
        }
        let Sealed { file, prints, .. } = self.sealed;
        self.rest.end += prints.read_again(file, self.blocks, &mut self.buffer[room])?;
        self.blocks += 1;
        Ok(())
    }

    /// The number of the line that was read last; the first one is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}
