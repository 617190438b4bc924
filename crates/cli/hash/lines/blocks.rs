//! Splits the input into blocks of whole lines.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;

use ftk_file::Stream;
use memchr::{memchr, memrchr};

/// Size of a block: a few thousand short lines, whose digests still fit in the second-level cache.
pub(super) const BLOCK: usize = 128 << 10;

/// The input that has not been returned yet.
pub(super) struct Blocks<'f> {
    input: Stream<BorrowedFd<'f>>,
    /// The byte that ends a line.
    end: u8,
    /// Bytes that were read but belong to the next block.
    rest: Vec<u8>,
    is_over: bool,
    /// Total number of bytes read.
    bytes: u64,
}

/// The kind of a block.
pub(super) enum Block {
    /// Whole lines. The last line of the input may lack its terminator.
    Lines,
    /// The beginning of a line that is longer than a block.
    Begun,
    /// The end of the input.
    Over,
}

impl<'f> Blocks<'f> {
    pub(super) fn new(input: BorrowedFd<'f>, end: u8) -> Self {
        Self { input: Stream::new(input), end, rest: Vec::new(), is_over: false, bytes: 0 }
    }

    /// Replaces the content of `block` with the next block. Returns as soon as there is a whole line, so that
    /// lines of a slow writer are processed as they arrive.
    pub(super) fn next(&mut self, block: &mut Vec<u8>) -> io::Result<Block> {
        block.clear();
        std::mem::swap(block, &mut self.rest);
        let mut seen = 0;
        loop {
            if let Some(at) = memrchr(self.end, &block[seen..]) {
                let len = seen + at + 1;
                self.rest.extend_from_slice(&block[len..]);
                block.truncate(len);
                return Ok(Block::Lines);
            }
            if self.is_over {
                return Ok(if block.is_empty() { Block::Over } else { Block::Lines });
            }
            if block.len() >= BLOCK {
                return Ok(Block::Begun);
            }
            seen = block.len();
            block.reserve(BLOCK - seen);
            let n = self.input.append_to(block)?;
            self.count(n);
        }
    }

    /// Returns the number of bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn count(&mut self, n: usize) {
        self.is_over = n == 0;
        self.bytes += n as u64;
    }

    /// Returns a reader of a whole line that is longer than a block. `begun` is its beginning.
    pub(super) fn line<'b>(&'b mut self, begun: &'b [u8]) -> Line<'b, 'f> {
        Line { blocks: self, begun, is_over: false }
    }
}

/// A reader of one long line.
pub(super) struct Line<'b, 'f> {
    blocks: &'b mut Blocks<'f>,
    begun: &'b [u8],
    is_over: bool,
}

impl Read for Line<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.begun.is_empty() {
            return self.begun.read(buffer);
        }
        if self.is_over {
            return Ok(0);
        }
        let n = self.blocks.input.read(buffer)?;
        self.blocks.count(n);
        let end = memchr(self.blocks.end, &buffer[..n]);
        self.is_over = n == 0 || end.is_some();
        if let Some(at) = end {
            self.blocks.rest.extend_from_slice(&buffer[at + 1..n]);
        }
        Ok(end.unwrap_or(n))
    }
}
