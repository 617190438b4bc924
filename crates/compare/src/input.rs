//! Inputs that are read from front to back: a file from some offset, or a stream.

use std::io::{self, ErrorKind};

use ftk_read::{Failure, File};

/// An offset larger than any file that the kernel still accepts.
pub(crate) const MAX_SKIP: u64 = 1 << 62;

/// Something that is read from front to back.
pub(crate) trait Input {
    /// Reads once. A short read does not mean the end of the input; only 0 bytes do.
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Failure>;

    /// Reads until the buffer is full or the input ends.
    fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        let mut len = 0;
        while len < buf.len() {
            match self.read(&mut buf[len..])? {
                0 => break,
                got => len += got,
            }
        }
        Ok(len)
    }
}

/// A position in a file.
pub(crate) struct Cursor<'f> {
    file: &'f File,
    at: u64,
    bytes: u64,
    reads: u64,
    /// Whether the end was reached: a read returned nothing, or was short and ended exactly at the file's
    /// size.
    has_ended: bool,
}

impl<'f> Cursor<'f> {
    pub(crate) fn new(file: &'f File, at: u64) -> Self {
        Self { file, at, bytes: 0, reads: 0, has_ended: false }
    }

    /// Moves to another offset of the file.
    pub(crate) fn go_to(&mut self, at: u64) {
        self.at = at;
        self.has_ended = false;
    }

    /// Checks that all bytes were read from one state of the file. `reads` is the number of further reads by
    /// others.
    pub(crate) fn verify(&self, reads: u64) -> Result<(), Failure> {
        self.file.verify(self.bytes, self.reads + reads)
    }
}

impl Input for Cursor<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        if self.has_ended {
            return Ok(0);
        }
        let got = self.file.read_at(buf, self.at).map_err(|source| Failure::Io { op: "read", source })?;
        self.at += got as u64;
        self.bytes += got as u64;
        self.reads += 1;
        let size = self.file.stat().size;
        self.has_ended = got == 0 || (got < buf.len() && self.at == size);
        if self.at > size {
            // Without this check, reading a file that grows as fast as it is read would never end.
            self.verify(0)?;
        }
        Ok(got)
    }
}

/// A stream.
pub(crate) struct Piped<'s>(pub(crate) &'s mut dyn io::Read);

impl Piped<'_> {
    /// Reads and discards up to `bytes` bytes; fewer if the stream ends before.
    pub(crate) fn skip(&mut self, mut bytes: u64, block: usize) -> Result<(), Failure> {
        let mut buf = vec![0; block];
        while bytes > 0 {
            let len = bytes.min(block as u64) as usize;
            match self.read(&mut buf[..len])? {
                0 => break,
                got => bytes -= got as u64,
            }
        }
        Ok(())
    }
}

impl Input for Piped<'_> {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        loop {
            match self.0.read(buf) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(Failure::Io { op: "read", source }),
                Ok(got) => return Ok(got),
            }
        }
    }
}
