//! Buffers and the chunks of files they carry.

use std::io;
use std::mem::MaybeUninit;

use crate::File;

/// A buffer of fixed length that moves between reader and caller.
///
/// Its memory is touched only where bytes were read into it: zeroing it first was half of all page faults of a run
/// over a hundred small files.
#[derive(Debug)]
pub struct Buf(Vec<u8>);

impl Buf {
    /// An empty buffer for `len` bytes.
    pub fn new(len: usize) -> Self {
        Self(Vec::with_capacity(len))
    }

    /// Bytes it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Forgets what it holds.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Bytes it holds.
    pub(crate) fn filled(&self) -> usize {
        self.0.len()
    }

    /// Where more bytes go.
    pub(crate) fn room(&mut self) -> &mut [MaybeUninit<u8>] {
        self.0.spare_capacity_mut()
    }

    /// Reads from `offset` of the file into the first `most` bytes of the room once, and says how many came.
    ///
    /// # Panics
    /// If there is less room.
    #[expect(unsafe_code, reason = "the kernel writes behind the compiler's back")]
    pub(crate) fn read(&mut self, file: &File, offset: u64, most: usize) -> io::Result<usize> {
        let got = file.read_into(&mut self.room()[..most], offset)?;
        // SAFETY: `read_into` says how many bytes it has written to the beginning of the room.
        unsafe { self.grow(got) };
        Ok(got)
    }

    /// Takes what somebody else wrote into the room.
    ///
    /// # Safety
    /// The first `got` bytes of the room were written.
    ///
    /// # Panics
    /// If that is more than there is.
    #[expect(unsafe_code, reason = "the kernel writes behind the compiler's back")]
    pub(crate) unsafe fn grow(&mut self, got: usize) {
        let asked = self.room().len();
        assert!(got <= asked, "a read of {asked} bytes returned {got}");
        // SAFETY: the caller says that they were written, and they fit.
        unsafe { self.0.set_len(self.0.len() + got) };
    }

    #[cfg(test)]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room().len());
        self.0.extend_from_slice(bytes);
    }
}

/// Where a chunk stands in its file, or in what is wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Only,
    /// The start; more follows.
    First,
    /// Neither start nor end.
    Middle,
    /// The end; may be empty.
    Last,
}

impl Part {
    /// Whether this starts a file.
    pub fn is_start(self) -> bool {
        matches!(self, Self::Only | Self::First)
    }
    /// Whether this ends a file.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Only | Self::Last)
    }
}

/// Bytes of one file, in the buffer they were read into.
#[derive(Debug)]
pub struct Chunk {
    /// The slot the file was started on.
    pub slot: u32,
    /// Where the bytes stand in the file.
    pub part: Part,
    pub(crate) buf: Buf,
}

impl Chunk {
    /// The buffer, to be used again.
    pub fn into_buf(self) -> Buf {
        self.buf
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.buf.0
    }
}
