//! The lines of a manifest whose seal has been checked, read again.

use std::ops::Range;

use ftk_file::{ALIGNMENT_SPARE, aligned_start};
use memchr::memchr;

use crate::Error;
use crate::blocks::{BLOCK, Fingerprints, Handle, Source};

/// A file whose footer has been checked.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) file: Handle,
    pub(crate) is_compressed: bool,
    pub(crate) fingerprints: Fingerprints,
    /// The number of lines before the footer.
    pub(crate) lines: u64,
    /// The first line that begins in each block after the first one.
    pub(crate) index: Vec<LinePlace>,
}

impl Sealed {
    /// Returns how many bytes of memory are needed to read the lines, for usual ones.
    pub(crate) fn bytes_to_read(&self) -> u64 {
        /// The window that ftk writes Zstandard with, and the buffers for it.
        const DECODER: u64 = 4 << 20;
        let decoder = if self.is_compressed { DECODER } else { 0 };
        (self.fingerprints.room_for(0) + ALIGNMENT_SPARE) as u64 + decoder
    }
}

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePlace {
    pub(crate) offset: u64,
    /// The number of lines before it.
    pub(crate) lines: u64,
}

/// The blocks after the current one in which lines are skipped one by one. A search reads at least two blocks, and the one
/// where it ends twice.
const NEAR: usize = 2;

/// The lines of a sealed file, without its footer. Uses memory for one block and one line.
#[derive(Debug)]
pub(crate) struct Lines<'m> {
    sealed: &'m Sealed,
    source: Source<'m>,
    /// The number of blocks read.
    blocks: usize,
    buffer: Vec<u8>,
    /// The offset of the end of the buffer in the file.
    end: u64,
    /// The unread part of the buffer.
    rest: Range<usize>,
    /// Length of the next line with its newline; 0 until its end has been searched.
    len: usize,
    /// The number of lines already returned.
    number: u64,
    /// The line that was skipped last, with its newline.
    last: Range<usize>,
}

impl<'m> Lines<'m> {
    /// Starts at the first line.
    ///
    /// # Errors
    /// If there is no memory to decompress the file.
    pub(crate) fn new(sealed: &'m Sealed) -> Result<Self, Error> {
        let source = Source::new(sealed.file.at(), sealed.is_compressed)?;
        Ok(Self {
            sealed,
            source,
            blocks: 0,
            buffer: Vec::new(),
            end: 0,
            rest: 0..0,
            len: 0,
            number: 0,
            last: 0..0,
        })
    }

    /// Returns the next line, without its newline; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        self.skip();
        Ok(self.last().strip_suffix(b"\n"))
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
        self.last = self.rest.start..self.rest.start + self.len;
        self.rest.start = self.last.end;
        self.len = 0;
        self.number += 1;
    }

    /// Returns the line that was returned by [`next`](Self::next) or skipped last, with its newline, until another one is
    /// looked at.
    pub(crate) fn last(&self) -> &[u8] {
        &self.buffer[self.last.clone()]
    }

    /// Skips lines as long as `is_skipped` returns true, and returns their number. It must return true for no line after
    /// one for which it returns false, and is not called for every line.
    pub(crate) fn skip_while(
        &mut self,
        mut is_skipped: impl FnMut(&[u8], u64) -> Result<bool, Error>,
    ) -> Result<u64, Error> {
        let start = self.number;
        let near = self.blocks + NEAR;
        // A compressed file can only be read from its start.
        while self.blocks <= near || self.sealed.is_compressed {
            if !self.skip_if(&mut is_skipped)? {
                return Ok(self.number - start);
            }
        }
        // Larger and larger steps find a line that is not skipped. The last line before it that is skipped and begins a
        // block is then searched between the last two steps.
        let index = &self.sealed.index;
        let here = LinePlace { offset: self.end - self.rest.len() as u64, lines: self.number };
        let (mut first, mut step) = (index.partition_point(|place| place.lines <= here.lines), 1);
        let mut last = here;
        let mut end = index.len();
        while first < end {
            let at = if step == 0 { first + (end - first) / 2 } else { (first + step - 1).min(end - 1) };
            self.seek(index[at])?;
            let number = self.number + 1;
            let is_in = self.peek()?.map_or(Ok(false), |line| is_skipped(line, number))?;
            if is_in {
                (last, first) = (index[at], at + 1);
                step *= 2;
            } else {
                (end, step) = (at, 0);
            }
        }
        self.seek(last)?;
        while self.skip_if(&mut is_skipped)? {}
        Ok(self.number - start)
    }

    /// Skips the next line if `is_skipped` returns true. Returns whether it did.
    fn skip_if(
        &mut self,
        is_skipped: &mut impl FnMut(&[u8], u64) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let number = self.number + 1;
        let Some(line) = self.peek()? else { return Ok(false) };
        let is_in = is_skipped(line, number)?;
        if is_in {
            self.skip();
        }
        Ok(is_in)
    }

    /// Moves to a line of a file that is not compressed.
    fn seek(&mut self, to: LinePlace) -> Result<(), Error> {
        self.blocks = (to.offset / BLOCK as u64) as usize;
        self.source = Source::plain_at(self.sealed.file.at(), (self.blocks * BLOCK) as u64);
        (self.rest, self.len, self.number) = (0..0, 0, to.lines);
        self.fill()?;
        self.rest.start += (to.offset % BLOCK as u64) as usize;
        Ok(())
    }

    /// Appends the next block to the unread part of the buffer.
    fn fill(&mut self) -> Result<(), Error> {
        let unread = self.rest.len();
        let block = self.sealed.fingerprints.room_for(self.blocks);
        let len = unread + ALIGNMENT_SPARE + block;
        if self.buffer.len() < len {
            self.buffer.resize(len, 0);
        }
        let start = unread + aligned_start(&raw const self.buffer[unread]);
        self.buffer.copy_within(self.rest.clone(), start - unread);
        self.rest = start - unread..start;
        let room = start..start + block;
        let read =
            self.sealed.fingerprints.read_again(&mut self.source, self.blocks, &mut self.buffer[room])?;
        self.rest.end += read;
        self.end = (self.blocks * BLOCK + read) as u64;
        self.blocks += 1;
        Ok(())
    }

    /// Returns the number of the line that was returned last; the first line is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}
