//! Buffers, and the chunks of files that they hold.

use std::io;
use std::mem::MaybeUninit;

use crate::File;

/// A buffer of fixed capacity that moves between reader and caller.
///
/// The memory is not zeroed first: zeroing caused half of all page faults in a run over a hundred small
/// files.
#[derive(Debug)]
pub struct Buf(Vec<u8>);

impl Buf {
    /// Creates an empty buffer with room for `len` bytes.
    pub fn new(len: usize) -> Self {
        Self(Vec::with_capacity(len))
    }

    /// Returns how many bytes the buffer can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Removes all bytes.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns how many bytes the buffer holds.
    pub(crate) fn filled(&self) -> usize {
        self.0.len()
    }

    /// Returns the unused part of the buffer, where the next bytes go.
    pub(crate) fn room(&mut self) -> &mut [MaybeUninit<u8>] {
        self.0.spare_capacity_mut()
    }

    /// Reads once from `offset` of the file into the first `most` bytes of the room. Returns how many bytes
    /// were read.
    ///
    /// # Panics
    /// If the room is smaller than `most`.
    #[expect(unsafe_code, reason = "the kernel writes to memory that the compiler treats as uninitialized")]
    pub(crate) fn read(&mut self, file: &File, offset: u64, most: usize) -> io::Result<usize> {
        let got = file.read_into(&mut self.room()[..most], offset)?;
        // SAFETY: `read_into` returned `got`, the number of bytes it has written to the beginning of the
        // room.
        unsafe { self.grow(got) };
        Ok(got)
    }

    /// Adds the first `got` bytes of the room, which were written from outside, to the bytes the buffer
    /// holds.
    ///
    /// # Safety
    /// The first `got` bytes of the room must have been written.
    ///
    /// # Panics
    /// If `got` is larger than the room.
    #[expect(unsafe_code, reason = "the kernel writes to memory that the compiler treats as uninitialized")]
    pub(crate) unsafe fn grow(&mut self, got: usize) {
        let asked = self.room().len();
        assert!(got <= asked, "a read of {asked} bytes returned {got}");
        // SAFETY: the caller guarantees that these bytes were written, and the assertion above guarantees
        // that they fit.
        unsafe { self.0.set_len(self.0.len() + got) };
    }

    #[cfg(test)]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room().len());
        self.0.extend_from_slice(bytes);
    }
}

/// The position of a chunk in its file, or in the sampled pieces of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The only chunk of the file.
    Only,
    /// The first chunk. More follow.
    First,
    /// A chunk between the first and the last.
    Middle,
    /// The last chunk. It may be empty.
    Last,
}

impl Part {
    /// Returns whether this chunk is the first of its file.
    pub fn is_start(self) -> bool {
        matches!(self, Self::Only | Self::First)
    }
    /// Returns whether this chunk is the last of its file.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Only | Self::Last)
    }
}

/// Consecutive bytes of one file, in the buffer they were read into.
#[derive(Debug)]
pub struct Chunk {
    /// The slot on which the file was started.
    pub slot: u32,
    /// The position of the bytes in the file.
    pub part: Part,
    pub(crate) buf: Buf,
}

impl Chunk {
    /// Returns the buffer for reuse.
    pub fn into_buf(self) -> Buf {
        self.buf
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.buf.0
    }
}
