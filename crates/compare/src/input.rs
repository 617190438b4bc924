//! Inputs that are read from front to back: a file from some offset, or a stream.

use std::io::{self, ErrorKind};

use ftk_file::{AlignedBuf, Cursor, Failure};

/// An offset larger than any file that the kernel still accepts.
pub(crate) const MAX_SKIP: u64 = 1 << 62;

/// Something that is read from front to back.
pub(crate) trait Input {
    /// Reads until the buffer is full or the input ends.
    fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Failure>;
}

impl Input for Cursor<'_> {
    fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        self.fill(buf)
    }
}

/// A stream.
pub(crate) struct Piped<'s>(pub(crate) &'s mut dyn io::Read);

impl Piped<'_> {
    /// Reads and discards up to `bytes` bytes; fewer if the stream ends before.
    pub(crate) fn skip(&mut self, mut bytes: u64, block: usize) -> Result<(), Failure> {
        let mut buf = AlignedBuf::new(block);
        while bytes > 0 {
            let len = bytes.min(block as u64) as usize;
            if self.fill(&mut buf[..len])? < len {
                break;
            }
            bytes -= len as u64;
        }
        Ok(())
    }
}

impl Input for Piped<'_> {
    fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        let mut len = 0;
        while len < buf.len() {
            match self.0.read(&mut buf[len..]) {
                Ok(0) => break,
                Ok(got) => len += got,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(Failure::of_read(source)),
            }
        }
        Ok(len)
    }
}
