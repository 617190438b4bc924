//! The files that may have the contents.

use std::io;

/// The files that may have the contents, by the positions of the contents.
pub trait Sources {
    /// Returns the number of files that may have the content.
    fn candidates(&mut self, content: usize) -> usize;

    /// Reads bytes of the content from one of these files.
    ///
    /// # Errors
    /// If the file cannot be opened, does not have the size of the content, or cannot be read there.
    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()>;
}
