//! Blocks: what the store keeps of up to 32 files whose inode numbers are neighbours.
//!
//! File systems give the files of a directory inode numbers that follow each other, so most blocks are full. One row
//! of the database for each block, instead of one for each file, makes a first run several times cheaper.

use ftk_file::FsId;
use twox_hash::XxHash3_64;

use crate::row::{Row, take};

/// Bits of an inode number that count the files within a block.
const BITS: u32 = 5;

/// The key of a block: the file system and the block number, so that it does not depend on paths.
pub(crate) type Key = [u8; 24];

/// Returns the number of the block that contains this inode number.
pub(crate) fn number(ino: u64) -> u64 {
    ino >> BITS
}

/// Returns the key of a block.
pub(crate) fn key(fs: FsId, number: u64) -> Key {
    let mut key = [0; 24];
    key[..16].copy_from_slice(fs.as_bytes());
    key[16..].copy_from_slice(&number.to_be_bytes());
    key
}

/// Builds the bytes of a block. Rows must be added by ascending inode number, each at most once.
#[derive(Debug)]
pub(crate) struct Builder<'o> {
    out: &'o mut Vec<u8>,
    /// The number of rows so far.
    pub(crate) files: u32,
    /// The earliest day of use of these rows; `u32::MAX` without rows.
    pub(crate) day: u32,
}

impl<'o> Builder<'o> {
    /// Starts a block. The previous content of `out` is removed.
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        out.clear();
        Self { out, files: 0, day: u32::MAX }
    }

    /// Adds a row, in the bytes of [`row::encode`](crate::row::encode).
    pub(crate) fn add(&mut self, ino: u64, row: &[u8]) {
        let Some(decoded) = Row::decode(row) else { return };
        let Some(len) = u32::try_from(row.len()).ok().filter(|len| *len < 1 << (32 - BITS)) else { return };
        let slot = ino as u32 & ((1 << BITS) - 1);
        self.out.extend_from_slice(&(len << BITS | slot).to_le_bytes());
        self.out.extend_from_slice(row);
        self.files += 1;
        self.day = self.day.min(decoded.head.day);
    }

    /// Appends the checksum of the key and the rows.
    pub(crate) fn finish(self, key: &Key) {
        let sum = checksum(key, self.out);
        self.out.extend_from_slice(&sum);
    }
}

/// The rows of a block, by ascending inode number.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'b> {
    first: u64,
    rest: &'b [u8],
}

impl<'b> Rows<'b> {
    /// No rows.
    pub(crate) const NONE: Self = Self { first: 0, rest: &[] };

    /// Reads a block. Returns `None` if it is not one with this key.
    pub(crate) fn new(key: &Key, number: u64, bytes: &'b [u8]) -> Option<Self> {
        let (rest, sum) = bytes.split_last_chunk()?;
        (checksum(key, rest) == *sum).then_some(Self::verified(number, rest))
    }

    /// The rows of a block whose checksum was verified and removed.
    pub(crate) fn verified(number: u64, rest: &'b [u8]) -> Self {
        Self { first: number << BITS, rest }
    }

    /// Returns the bytes of all rows, for [`verified`](Self::verified).
    pub(crate) fn as_bytes(&self) -> &'b [u8] {
        self.rest
    }
}

impl<'b> Iterator for Rows<'b> {
    /// An inode number, and the bytes of its row.
    type Item = (u64, &'b [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let head = u32::from_le_bytes(take(&mut self.rest)?);
        let row = self.rest.split_off(..(head >> BITS) as usize)?;
        Some((self.first | u64::from(head & ((1 << BITS) - 1)), row))
    }
}

/// XXH3 of key and rows. A store on a bad disk, or one that another program wrote to, must not return digests.
fn checksum(key: &Key, rows: &[u8]) -> [u8; 8] {
    let mut hasher = XxHash3_64::with_seed(0);
    std::hash::Hasher::write(&mut hasher, key);
    std::hash::Hasher::write(&mut hasher, rows);
    std::hash::Hasher::finish(&hasher).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: Key = [3; 24];
    const NUMBER: u64 = 7;

    /// Bytes of a row that was used on this day.
    fn row(day: u32) -> Vec<u8> {
        [&[5; 32][..], &day.to_le_bytes(), b"digests"].concat()
    }

    fn block(inos: &[u64]) -> Vec<u8> {
        let mut bytes = vec![9];
        let mut builder = Builder::new(&mut bytes);
        inos.iter().for_each(|&ino| builder.add(ino, &row(ino as u32)));
        builder.finish(&KEY);
        bytes
    }

    #[test]
    fn rows_are_found_under_their_inode_numbers() {
        let inos = [224, 225, 240, 255];
        let bytes = block(&inos);
        let rows = Rows::new(&KEY, NUMBER, &bytes).unwrap();
        assert!(rows.clone().eq(inos.iter().map(|&ino| (ino, &*row(ino as u32).leak()))));
        assert!(
            inos.iter().all(|&ino| number(ino) == NUMBER) && number(223) != NUMBER && number(256) != NUMBER
        );
        assert!(Rows::verified(NUMBER, rows.as_bytes()).eq(rows));
    }

    #[test]
    fn a_block_has_the_earliest_day_of_its_rows() {
        let mut bytes = Vec::new();
        let mut builder = Builder::new(&mut bytes);
        assert_eq!((builder.files, builder.day), (0, u32::MAX));
        [(1, 20), (2, 10), (3, 30)].into_iter().for_each(|(ino, day)| builder.add(ino, &row(day)));
        assert_eq!((builder.files, builder.day), (3, 10));
    }

    #[test]
    fn no_bit_of_a_block_can_change_unnoticed() {
        let bytes = block(&[224, 230]);
        assert!(Rows::new(&KEY, NUMBER, &bytes).is_some());
        assert!(Rows::new(&[4; 24], NUMBER, &bytes).is_none(), "another block");
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Rows::new(&KEY, NUMBER, &damaged).is_none(), "bit {bit}");
        }
        (0..bytes.len())
            .for_each(|len| assert!(Rows::new(&KEY, NUMBER, &bytes[..len]).is_none(), "{len} bytes"));
    }

    proptest! {
        #[test]
        fn any_bytes_with_a_correct_checksum_are_rows_or_not_but_never_a_panic(mut bytes: Vec<u8>) {
            let sum = checksum(&KEY, &bytes);
            bytes.extend_from_slice(&sum);
            let rows = Rows::new(&KEY, NUMBER, &bytes).unwrap();
            prop_assert!(rows.count() <= bytes.len());
        }
    }
}
