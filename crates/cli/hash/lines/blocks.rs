//! Input cut into blocks of whole lines.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;

use memchr::{memchr, memrchr};
use rustix::buffer::spare_capacity;

/// Bytes of a block: some thousand short lines, whose digests still fit in the second-level cache.
pub(super) const BLOCK: usize = 128 << 10;

/// What is left of the input.
pub(super) struct Blocks<'f> {
    input: BorrowedFd<'f>,
    /// The byte that ends a line.
    end: u8,
    /// Bytes that were read and lie behind the last block.
    rest: Vec<u8>,
    is_over: bool,
    /// Bytes read.
    bytes: u64,
}

/// What the next block is.
pub(super) enum Block {
    /// Whole lines; the very last may lack its end.
    Lines,
    /// The beginning of a line that no block can hold.
    Begun,
    /// Nothing: the input is over.
    Over,
}

impl<'f> Blocks<'f> {
    pub(super) fn new(input: BorrowedFd<'f>, end: u8) -> Self {
        Self { input, end, rest: Vec::new(), is_over: false, bytes: 0 }
    }

    /// Replaces what is in `block`. Does not wait for more than one whole line, so that those of a slow writer
    /// come out as they come in.
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
            let n = retry(|| rustix::io::read(self.input, spare_capacity(block)))?;
            self.count(n);
        }
    }

    /// Bytes read until now.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn count(&mut self, n: usize) {
        self.is_over = n == 0;
        self.bytes += n as u64;
    }

    /// The line that begins with `begun`, up to its end.
    pub(super) fn line<'b>(&'b mut self, begun: &'b [u8]) -> Line<'b, 'f> {
        Line { blocks: self, begun, is_over: false }
    }
}

/// A long line, which is read once.
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
        let n = retry(|| rustix::io::read(self.blocks.input, &mut *buffer))?;
        self.blocks.count(n);
        let end = memchr(self.blocks.end, &buffer[..n]);
        self.is_over = n == 0 || end.is_some();
        if let Some(at) = end {
            self.blocks.rest.extend_from_slice(&buffer[at + 1..n]);
        }
        Ok(end.unwrap_or(n))
    }
}

fn retry(mut read: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(rustix::io::Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}
