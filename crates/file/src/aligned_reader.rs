//! A buffered reader whose memory the kernel copies into at full speed.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use crate::AlignedBuf;

/// Does what [`io::BufReader`] does, but its memory is an [`AlignedBuf`]. Every read of `input` asks for the whole
/// buffer.
#[derive(Debug)]
pub struct AlignedReader<R> {
    input: R,
    buf: AlignedBuf,
    /// The bytes of `buf` that were read and not yet consumed.
    unread: Range<usize>,
}

impl<R> AlignedReader<R> {
    /// Creates a reader with a buffer of `len` bytes.
    ///
    /// # Panics
    /// If `len` is 0: such a reader would always be at its end.
    pub fn new(len: usize, input: R) -> Self {
        assert!(len > 0, "a buffer needs room");
        Self { input, buf: AlignedBuf::new(len), unread: 0..0 }
    }
}

impl<R: Read> BufRead for AlignedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.unread.is_empty() {
            self.unread = 0..0;
            self.unread.end = self.input.read(&mut self.buf)?;
        }
        Ok(&self.buf[self.unread.clone()])
    }

    fn consume(&mut self, amount: usize) {
        self.unread.start = self.unread.end.min(self.unread.start + amount);
    }
}

impl<R: Read> Read for AlignedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte, then an error, then two bytes, and so on.
    struct Halting<'b>(&'b [u8], usize);

    impl Read for Halting<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(2) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let most = out.len().min(self.1);
            self.0.read(&mut out[..most])
        }
    }

    #[test]
    fn everything_is_read_once_whatever_the_length_of_the_reads() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|i| (i % 251) as u8).collect();
        for len in [1, 7, 4096, 20_000] {
            let mut all = Vec::new();
            AlignedReader::new(len, Halting(&bytes, 0)).read_to_end(&mut all).unwrap();
            assert!(all == bytes, "{len}");
            let mut lines = AlignedReader::new(len, Halting(&bytes, 0));
            let mut line = Vec::new();
            while lines.read_until(7, &mut line).unwrap() > 0 {}
            assert!(line == bytes, "{len}");
        }
    }

    #[test]
    fn an_error_loses_nothing() {
        let mut reader = AlignedReader::new(100, Halting(b"abc", 0));
        assert_eq!(reader.fill_buf().unwrap(), b"a");
        reader.consume(1);
        assert!(reader.fill_buf().is_err());
        assert_eq!(reader.fill_buf().unwrap(), b"bc");
    }
}
