//! Streams that another program has compressed: gzip, Zstandard, xz.

use std::fmt;
use std::io::{self, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::{Magic, ZstdReader};

/// Bytes that show what a stream is.
const START: usize = 16;

/// Bytes read at a time.
const BUFFER: usize = 128 << 10;

/// The memory of a decoder of xz. The largest window that a preset of `xz` uses is 64 MiB.
const XZ_MEMORY_KIB: u32 = 130 << 10;

/// A stream as it was before it was compressed, if it is compressed with gzip, xz or Zstandard, in whatever number of
/// members or frames. Its first bytes show this.
///
/// Uses memory for the window that the stream asks for, at most 130 MiB.
pub struct Decompressed<'r>(Box<dyn Read + 'r>);

impl<'r> Decompressed<'r> {
    /// Creates a reader. Reads the first bytes of `input`.
    ///
    /// # Errors
    /// If these cannot be read, or show another compression.
    pub fn new(mut input: impl Read + 'r) -> io::Result<Self> {
        let mut start = Vec::with_capacity(START);
        input.by_ref().take(START as u64).read_to_end(&mut start)?;
        let magic = Magic::of(&start);
        let input = BufReader::with_capacity(BUFFER, io::Cursor::new(start).chain(input));
        Ok(Self(match magic {
            Some(Magic::Compressed { with: "gzip", .. }) => {
                Box::new(Damage { inner: MultiGzDecoder::new(input), with: "gzip" })
            }
            Some(Magic::Compressed { with: "xz", .. }) => {
                Box::new(Damage { inner: XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB), with: "xz" })
            }
            Some(Magic::Compressed { with: "zstd", .. }) => Box::new(ZstdReader::new(input)?),
            Some(Magic::Compressed { with, cat }) => {
                let what = format!("it is compressed with {with}: pipe it through {cat}");
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            _ => Box::new(input),
        }))
    }
}

impl Read for Decompressed<'_> {
    /// Reads bytes.
    ///
    /// # Errors
    /// The errors of the input, and [`ErrorKind::InvalidData`] for a compressed stream that is damaged or cut off.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl fmt::Debug for Decompressed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decompressed")
    }
}

/// Says which compression is damaged or cut off.
struct Damage<R> {
    inner: R,
    with: &'static str,
}

impl<R: Read> Read for Damage<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let with = self.with;
        let invalid = |what| io::Error::new(ErrorKind::InvalidData, what);
        self.inner.read(buffer).map_err(|error| match error.kind() {
            _ if error.raw_os_error().is_some() => error,
            ErrorKind::Interrupted => error,
            ErrorKind::OutOfMemory => invalid(format!("its {with} compression needs too much memory")),
            ErrorKind::UnexpectedEof => invalid(format!("its {with} compression is cut off")),
            _ => invalid(format!("its {with} compression is damaged: {error}")),
        })
    }
}
