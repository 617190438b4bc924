//! Buffers and the chunks of files they carry.

/// A buffer of fixed length that moves between reader and caller.
#[derive(Debug)]
pub struct Buf(Box<[u8]>);

impl Buf {
    /// A zeroed buffer of `len` bytes.
    pub fn new(len: usize) -> Self {
        Self(vec![0; len].into_boxed_slice())
    }

    /// Bytes it can hold.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Its bytes from `at` on.
    pub(crate) fn room(&mut self, at: usize) -> &mut [u8] {
        &mut self.0[at..]
    }
}

/// Where a chunk stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole file.
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
    pub(crate) len: usize,
}

impl Chunk {
    /// The buffer, to be used again.
    pub fn into_buf(self) -> Buf {
        self.buf
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        &self.buf.0[..self.len]
    }
}
