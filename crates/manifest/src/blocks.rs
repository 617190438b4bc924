//! The bytes of a manifest: read once to be checked, and then known again.
//!
//! The seal of a manifest is checked before anything else, and that takes SHA-256 over all of it. Whoever reads it again
//! must get the very same bytes, whatever was done to the file since. So the first to read it takes a fingerprint of
//! every block (XXH3, a fraction of the time), and nobody later sees a byte of a block before the fingerprint has been
//! found again. No clock is asked, and nothing is believed of the times of a file.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt as _;

use ftk_hash::{Algorithm, Digest, Platform};

use crate::Error;

/// Bytes of a block, the last one but may be shorter. A fingerprint takes 65 bytes.
pub(crate) const BLOCK: usize = 256 << 10;

/// The fingerprints of a file, block by block.
#[derive(Debug)]
pub(crate) struct Prints {
    platform: Platform,
    blocks: Vec<Digest>,
}

impl Prints {
    pub(crate) fn new() -> Self {
        Self { platform: Platform::detect(), blocks: Vec::new() }
    }

    fn of(&self, block: &[u8]) -> Digest {
        Algorithm::Xxh128.hash_one(self.platform, block)
    }

    /// Reads the block with this number, and says how long it is.
    ///
    /// # Errors
    /// When it cannot be read, and [`Error::Changed`] when it is not what it was.
    pub(crate) fn read_again(&self, file: &File, number: usize, block: &mut [u8]) -> Result<usize, Error> {
        let n = read_block(file, number as u64 * BLOCK as u64, block)?;
        let is_same = self.blocks.get(number).is_some_and(|print| *print == self.of(&block[..n]));
        if is_same { Ok(n) } else { Err(Error::Changed) }
    }
}

/// A file read from its beginning, wherever its own position is. It has to be asked for a block at a time.
#[derive(Debug)]
pub(crate) struct First<'f> {
    pub(crate) file: &'f File,
    pub(crate) prints: &'f mut Prints,
}

impl Read for First<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert_eq!(buffer.len(), BLOCK, "fingerprints are those of whole blocks");
        let offset = self.prints.blocks.len() as u64 * BLOCK as u64;
        let n = read_block(self.file, offset, buffer)?;
        if n > 0 {
            self.prints.blocks.push(self.prints.of(&buffer[..n]));
        }
        Ok(n)
    }
}

/// Fills `buffer` from `offset`, unless the file ends before.
fn read_block(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n = 0;
    while n < buffer.len() {
        match file.read_at(&mut buffer[n..], offset + n as u64) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n)
}
