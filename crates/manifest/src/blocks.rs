//! Block fingerprints: a manifest that is read again must still have the bytes that were checked.
//!
//! A manifest's seal (SHA-256 of the whole file) is checked before anything else. Later passes must read the
//! same bytes, whatever happened to the file since. So the first pass records a fingerprint (XXH3, much
//! faster than SHA-256) of every block, and later passes use a block only after its fingerprint has matched
//! again. File times are not trusted. A compressed manifest is decompressed in every pass, and its blocks are
//! those of the decompressed lines.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use ftk_hash::{Algorithm, Digest};
use ftk_record::{ZstdReader, is_zstd};

use crate::Error;

/// Bytes per block; the last block of a file may be shorter. A fingerprint occupies 65 bytes.
pub(crate) const BLOCK: usize = 256 << 10;

/// The fingerprints of a file, block by block.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    blocks: Vec<Digest>,
    /// The length of all blocks.
    len: u64,
}

impl Fingerprints {
    /// Returns how many bytes are read for block `number`: one more than the last block has, to notice a longer file.
    pub(crate) fn room_for(&self, number: usize) -> usize {
        let rest = self.len.saturating_sub(number as u64 * BLOCK as u64) + 1;
        rest.min(BLOCK as u64) as usize
    }

    /// Reads the next block of `source` again, which is block `number`, and returns its length.
    ///
    /// # Errors
    /// When the block cannot be read, and [`Error::Changed`] when its fingerprint does not match.
    pub(crate) fn read_again(
        &self,
        source: &mut Source<'_>,
        number: usize,
        block: &mut [u8],
    ) -> Result<usize, Error> {
        let n = match source.fill(block) {
            // The first pass could decompress it.
            Err(error) if error.kind() == ErrorKind::InvalidData => return Err(Error::Changed),
            read => read?,
        };
        let is_same =
            self.blocks.get(number).is_some_and(|fingerprint| *fingerprint == fingerprint_of(&block[..n]));
        if is_same { Ok(n) } else { Err(Error::Changed) }
    }
}

fn fingerprint_of(block: &[u8]) -> Digest {
    Algorithm::Xxh128.hash_one(block)
}

/// A reader that records a fingerprint of every block.
///
/// Callers must read one whole block at a time.
#[derive(Debug)]
pub(crate) struct FirstPass<'f> {
    pub(crate) source: Source<'f>,
    pub(crate) fingerprints: &'f mut Fingerprints,
}

impl Read for FirstPass<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert_eq!(buffer.len(), BLOCK, "callers must read whole blocks");
        let n = self.source.fill(buffer)?;
        if n > 0 {
            self.fingerprints.blocks.push(fingerprint_of(&buffer[..n]));
            self.fingerprints.len += n as u64;
        }
        Ok(n)
    }
}

/// A file to be read again.
#[derive(Debug)]
pub(crate) enum Handle {
    Open(File),
    /// Opened for each block, since descriptors are scarce. Another file at this path has other fingerprints.
    Closed(PathBuf),
}

impl Handle {
    pub(crate) fn at(&self) -> At<'_> {
        match self {
            Self::Open(file) => At::Open(file),
            Self::Closed(path) => At::Closed(path),
        }
    }
}

/// Where to read a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At<'f> {
    Open(&'f File),
    Closed(&'f Path),
}

/// The lines of a file from its start, decompressed if the file is compressed.
#[derive(Debug)]
pub(crate) enum Source<'f> {
    Plain(FileAt<'f>),
    Zstd(Box<ZstdReader<FileAt<'f>>>),
}

impl<'f> Source<'f> {
    /// Starts at offset 0, whatever the file's own position.
    pub(crate) fn new(at: At<'f>, is_compressed: bool) -> io::Result<Self> {
        let file = FileAt { at, offset: 0 };
        Ok(if is_compressed { Self::Zstd(Box::new(ZstdReader::new(file)?)) } else { Self::Plain(file) })
    }

    /// Starts at an offset of a file that is not compressed.
    pub(crate) fn plain_at(at: At<'f>, offset: u64) -> Self {
        Self::Plain(FileAt { at, offset })
    }

    /// Fills `buffer`, up to the end of the lines.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n = 0;
        while n < buffer.len() {
            let read = match self {
                Self::Plain(file) => file.read(&mut buffer[n..]),
                Self::Zstd(file) => file.read(&mut buffer[n..]),
            };
            match read {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(n)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill(buffer)
    }
}

/// A reader with its own position.
#[derive(Debug)]
pub(crate) struct FileAt<'f> {
    at: At<'f>,
    offset: u64,
}

impl Read for FileAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match self.at {
            At::Open(file) => file.read_at(buffer, self.offset)?,
            At::Closed(path) => File::open(path)?.read_at(buffer, self.offset)?,
        };
        self.offset += n as u64;
        Ok(n)
    }
}

/// Returns whether the file begins like a compressed one.
pub(crate) fn is_compressed(file: &File) -> io::Result<bool> {
    let mut start = [0; 4];
    let n = Source::new(At::Open(file), false)?.fill(&mut start)?;
    Ok(is_zstd(&start[..n]))
}
