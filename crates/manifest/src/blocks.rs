//! Block fingerprints: a manifest that is read again must still have the bytes that were checked.
//!
//! A manifest's seal (SHA-256 of the whole file) is checked before anything else. Later passes must read the
//! same bytes, whatever happened to the file since. So the first pass records a fingerprint (XXH3, much
//! faster than SHA-256) of every block, and later passes use a block only after its fingerprint has matched
//! again. File times are not trusted.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileExt as _;

use ftk_hash::{Algorithm, Digest, Platform};

use crate::Error;

/// Bytes per block; the last block of a file may be shorter. A fingerprint occupies 65 bytes.
pub(crate) const BLOCK: usize = 256 << 10;

/// The fingerprints of a file, block by block.
#[derive(Debug)]
pub(crate) struct Fingerprints {
    platform: Platform,
    blocks: Vec<Digest>,
}

impl Fingerprints {
    pub(crate) fn new() -> Self {
        Self { platform: Platform::detect(), blocks: Vec::new() }
    }

    fn of(&self, block: &[u8]) -> Digest {
        Algorithm::Xxh128.hash_one(self.platform, block)
    }

    /// Reads block `number` again and returns its length.
    ///
    /// # Errors
    /// When the block cannot be read, and [`Error::Changed`] when its fingerprint does not match.
    pub(crate) fn read_again(&self, file: &File, number: usize, block: &mut [u8]) -> Result<usize, Error> {
        let n = read_block(file, number as u64 * BLOCK as u64, block)?;
        let is_same = self.blocks.get(number).is_some_and(|fingerprint| *fingerprint == self.of(&block[..n]));
        if is_same { Ok(n) } else { Err(Error::Changed) }
    }
}

/// A reader that starts at offset 0, whatever the file's own position, and records a fingerprint of every
/// block.
///
/// Callers must read one whole block at a time.
#[derive(Debug)]
pub(crate) struct FirstPass<'f> {
    pub(crate) file: &'f File,
    pub(crate) fingerprints: &'f mut Fingerprints,
}

impl Read for FirstPass<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert_eq!(buffer.len(), BLOCK, "callers must read whole blocks");
        let offset = self.fingerprints.blocks.len() as u64 * BLOCK as u64;
        let n = read_block(self.file, offset, buffer)?;
        if n > 0 {
            self.fingerprints.blocks.push(self.fingerprints.of(&buffer[..n]));
        }
        Ok(n)
    }
}

/// Fills `buffer` from `offset`, up to the end of the file.
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
