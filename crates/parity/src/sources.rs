//! The files that may have the contents.

use std::io;
use std::iter;
use std::ops::Range;

/// The files that may have the contents, by the positions of the contents.
pub trait Sources {
    /// Returns the ascending ranges of a content of this size outside which it has holes. By default it has none.
    fn data(&mut self, _content: usize, size: u64) -> Vec<Range<u64>> {
        iter::once(0..size).collect()
    }

    /// Returns the number of files that may have the content.
    fn candidates(&mut self, content: usize) -> usize;

    /// Reads bytes of the content from one of these files.
    ///
    /// # Errors
    /// If the file cannot be opened, does not have the size of the content, or cannot be read there.
    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()>;

    /// Reads like [`read`](Self::read), also from a file of another size: one that grew, or was cut, may still have parts
    /// of the content. Checksums tell which. By default only reads what `read` does.
    ///
    /// # Errors
    /// If the file cannot be opened, or cannot be read there.
    fn part(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.read(content, candidate, offset, buf)
    }
}
