//! Zstandard, the one compression that ftk reads and writes itself.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::path::Path;

use zstd::stream::{read, write};

/// The first bytes of a Zstandard frame.
const MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// The largest window that is accepted, as a power of two: 128 MiB, the limit of `zstd -d`. The decoder allocates
/// what the frame asks for, so a larger limit would let a few bytes of input claim gigabytes.
const MAX_WINDOW_LOG: u32 = 27;

/// The compression level, the default of `zstd`.
const LEVEL: i32 = 3;

/// Returns whether a file that begins with `start` is compressed with Zstandard.
pub fn is_zstd(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Returns whether a file of this name is written compressed: its name ends in `.zst`.
pub fn is_zstd_name(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b".zst")
}

/// Decompresses what `input` returns: one or more Zstandard frames up to its end.
///
/// Uses memory for the window that the frame asks for, at most 128 MiB, however much the input expands to.
pub struct ZstdReader<R: Read>(read::Decoder<'static, BufReader<R>>);

impl<R: Read> ZstdReader<R> {
    /// Creates a reader.
    ///
    /// # Errors
    /// If there is no memory for a decoder.
    pub fn new(input: R) -> io::Result<Self> {
        let mut decoder = read::Decoder::new(input)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        Ok(Self(decoder))
    }
}

impl<R: Read> Read for ZstdReader<R> {
    /// Reads decompressed bytes.
    ///
    /// # Errors
    /// The errors of `input` unchanged, and [`ErrorKind::InvalidData`] for input that is cut off, damaged, or followed
    /// by something other than a frame.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            _ if error.raw_os_error().is_some() => error,
            ErrorKind::Interrupted | ErrorKind::OutOfMemory => error,
            ErrorKind::UnexpectedEof => invalid("its Zstandard compression is cut off".into()),
            _ => invalid(format!("its Zstandard compression is damaged: {error}")),
        })
    }
}

impl<R: Read> std::fmt::Debug for ZstdReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ZstdReader")
    }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Compresses what is written to it into one frame with a checksum.
pub struct ZstdWriter<W: Write>(write::Encoder<'static, W>);

impl<W: Write> ZstdWriter<W> {
    /// Creates a writer.
    ///
    /// # Errors
    /// If there is no memory for an encoder.
    pub fn new(output: W) -> io::Result<Self> {
        let mut encoder = write::Encoder::new(output, LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self(encoder))
    }

    /// Ends the frame. Without this, readers find that the output is cut off.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> Write for ZstdWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut writer = ZstdWriter::new(Vec::new()).unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    fn decompressed(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let read = ZstdReader::new(bytes).unwrap().read_to_end(&mut out);
        read.map(|_| out).map_err(|error| {
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            error.to_string()
        })
    }

    #[test]
    fn what_is_written_is_read_back() {
        for len in [0, 1, 100, 300_000] {
            let bytes: Vec<_> = (0..len).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            let frame = compressed(&bytes);
            assert!(is_zstd(&frame) && !is_zstd(&bytes));
            assert_eq!(decompressed(&frame).unwrap(), bytes);
            assert_eq!(decompressed(&[&*frame, &frame].concat()).unwrap(), [&*bytes, &bytes].concat());
        }
    }

    #[test]
    fn cut_off_damaged_and_continued_input_is_an_error() {
        let text = b"some text, some text, some text";
        let frame = compressed(text);
        for len in 1..frame.len() {
            assert_eq!(
                decompressed(&frame[..len]).unwrap_err(),
                "its Zstandard compression is cut off",
                "{len}"
            );
        }
        for at in 0..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x10;
            // Decoders ignore one bit of the fifth byte. The sixth may be the size of the window, which may be larger.
            let is_harmless = decompressed(&damaged).is_ok_and(|it| it == text) && (4..6).contains(&at);
            assert!(is_harmless || decompressed(&damaged).is_err(), "{at}");
        }
        for rest in [&b"\n"[..], b"garbage", b"\0\0\0\0\0"] {
            assert!(decompressed(&[&*frame, rest].concat()).is_err());
        }
    }

    /// `zstd --long=31` makes frames that need 2 GiB of memory.
    #[test]
    fn frames_with_huge_windows_are_refused() {
        let frame = |window_log: u8| [MAGIC, &[0, (window_log - 10) << 3, 1, 0, 0]].concat();
        assert_eq!(decompressed(&frame(27)).unwrap(), b"");
        let error = decompressed(&frame(28)).unwrap_err();
        assert!(error.contains("too much memory"), "{error}");
    }

    #[test]
    fn names_that_end_in_zst_are_compressed() {
        for (name, expected) in
            [("a.zst", true), (".zst", true), ("a.jsonl", false), ("zst", false), ("a.zst.b", false)]
        {
            assert_eq!(is_zstd_name(Path::new(name)), expected, "{name}");
        }
    }
}
