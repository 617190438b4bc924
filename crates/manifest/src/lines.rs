//! The lines of a manifest whose seal has been checked, read again.

use std::fs::File;
use std::ops::Range;

use memchr::memchr;

use crate::Error;
use crate::blocks::{BLOCK, Fingerprints, Source};

/// A file whose footer has been checked.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) file: File,
    pub(crate) is_compressed: bool,
    pub(crate) fingerprints: Fingerprints,
    /// The number of lines before the footer.
    pub(crate) lines: u64,
}

/// The lines of a sealed file, without its footer. Uses memory for one block and one line.
#[derive(Debug)]
pub(crate) struct Lines<'m> {
    sealed: &'m Sealed,
    source: Source<'m>,
    /// The number of blocks read.
    blocks: usize,
    buffer: Vec<u8>,
    /// The unread part of the buffer.
    rest: Range<usize>,
    /// Length of the next line with its newline; 0 until its end has been searched.
    len: usize,
    /// The number of lines already returned.
    number: u64,
}

impl<'m> Lines<'m> {
    /// Starts at the first line.
    ///
    /// # Errors
    /// If there is no memory to decompress the file.
    pub(crate) fn new(sealed: &'m Sealed) -> Result<Self, Error> {
        let source = Source::new(&sealed.file, sealed.is_compressed)?;
        Ok(Self { sealed, source, blocks: 0, buffer: Vec::new(), rest: 0..0, len: 0, number: 0 })
    }

    /// Returns the next line, without its newline; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        let line = self.rest.start..self.rest.start + self.len - 1;
        self.skip();
        Ok(Some(&self.buffer[line]))
    }

    /// Returns the next line with its newline, and the same line again until it is skipped.
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

    /// Skips a line that [`peek`](Self::peek) has returned.
    pub(crate) fn skip(&mut self) {
        debug_assert!(self.len > 0, "skip must follow peek");
        self.rest.start += self.len;
        self.len = 0;
        self.number += 1;
    }

    /// Appends the next block to the unread part of the buffer.
    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.rest.clone(), 0);
        self.rest = 0..self.rest.len();
        let room = self.rest.end..self.rest.end + BLOCK;
        if self.buffer.len() < room.end {
            self.buffer.resize(room.end, 0);
        }
        let block = &mut self.buffer[room];
        self.rest.end += self.sealed.fingerprints.read_again(&mut self.source, self.blocks, block)?;
        self.blocks += 1;
        Ok(())
    }

    /// Returns the number of the line that was returned last; the first line is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}
