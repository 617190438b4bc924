//! The code: recovery blocks of a batch, and lost rows of a group.

use reed_solomon_simd::engine::{DefaultEngine, Engine as _, ShardsRefMut};
use reed_solomon_simd::rate::{DecoderWork, HighRateDecoder, RateDecoder as _};

use crate::{Batch, Error};

/// Computes the recovery blocks of a batch from its blocks, which arrive in their order.
///
/// It holds two chunks and a sum for each group, not the data.
pub(crate) struct Encoder {
    engine: DefaultEngine,
    batch: Batch,
    /// The length of a block in units.
    units: usize,
    /// The chunk of rows that is being filled, by group.
    filled: Vec<[u8; 64]>,
    /// The sums of the transformed chunks, by group.
    sums: Vec<[u8; 64]>,
    /// The sum of all data rows, by group. That of all recovery rows must be the same.
    check: Vec<[u8; 64]>,
    /// The number of blocks that have arrived.
    arrived: u64,
}

impl Encoder {
    pub(crate) fn new(batch: Batch, block: u64) -> Self {
        let units = block as usize / 64;
        let groups = units * batch.groups as usize;
        let chunks = groups * batch.chunk() as usize;
        Self {
            engine: DefaultEngine::new(),
            batch,
            units,
            filled: vec![[0; 64]; chunks],
            sums: vec![[0; 64]; chunks],
            check: vec![[0; 64]; groups],
            arrived: 0,
        }
    }

    /// Adds the next block.
    pub(crate) fn add(&mut self, block: &[u8]) {
        let (units, chunk) = (self.units, self.batch.chunk());
        let (group, row) = (self.arrived % self.batch.groups, self.arrived / self.batch.groups);
        self.arrived += 1;
        let (bytes, _) = block.as_chunks::<64>();
        assert_eq!(bytes.len(), units, "a whole block");
        let start = group as usize * units;
        xor(&mut self.check[start..start + units], bytes);
        let start = (group * chunk + row % chunk) as usize * units;
        self.filled[start..start + units].copy_from_slice(bytes);
        if (row + 1).is_multiple_of(chunk) || row + 1 == self.batch.rows(group) {
            self.transform(group, row);
        }
    }

    /// Adds the chunk that ends with this row to the sum of its group.
    fn transform(&mut self, group: u64, last: u64) {
        let chunk = self.batch.chunk();
        let len = chunk as usize * self.units;
        let range = group as usize * len..(group as usize + 1) * len;
        let filled = &mut self.filled[range.clone()];
        let rows = (last % chunk + 1) as usize;
        filled[rows * self.units..].fill([0; 64]);
        let start = (last / chunk * chunk) as usize;
        let chunk = chunk as usize;
        let mut shards = ShardsRefMut::new(chunk, self.units, filled);
        self.engine.ifft(&mut shards, 0, chunk, rows, start + chunk);
        xor(&mut self.sums[range], filled);
    }

    /// Passes the recovery blocks to `write`, row by row, when all blocks have arrived.
    pub(crate) fn finish(mut self, mut write: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        assert_eq!(self.arrived, self.batch.blocks, "all blocks");
        let (units, chunk) = (self.units, self.batch.chunk() as usize);
        for group in self.sums.chunks_exact_mut(chunk * units) {
            self.engine.fft(&mut ShardsRefMut::new(chunk, units, group), 0, chunk, chunk, 0);
        }
        for (group, check) in self.sums.chunks_exact(chunk * units).zip(self.check.chunks_exact_mut(units)) {
            group.chunks_exact(units).for_each(|row| xor(check, row));
            if check.iter().any(|unit| *unit != [0; 64]) {
                return Err(Error::Machine);
            }
        }
        for row in 0..self.batch.recovery as usize {
            for group in self.sums.chunks_exact(chunk * units) {
                write(group[row * units..][..units].as_flattened())?;
            }
        }
        Ok(())
    }
}

/// Adds `from` to `to`.
fn xor(to: &mut [[u8; 64]], from: &[[u8; 64]]) {
    for (to, from) in to.as_flattened_mut().iter_mut().zip(from.as_flattened()) {
        *to ^= from;
    }
}

/// Computes lost rows of groups.
#[derive(Default)]
pub(crate) struct Decoder(Option<DecoderWork>);

impl Decoder {
    /// Returns the number of bytes of memory that it needs for each byte of a row.
    pub(crate) fn held(rows: u64, batch: &Batch) -> u64 {
        (rows + batch.chunk()).next_power_of_two()
    }

    /// Computes the data rows that are `None`, and passes each to `found`. All rows have the same length, a multiple of 64.
    /// At least as many recovery rows must be there.
    pub(crate) fn decode(
        &mut self,
        data: &[Option<&[u8]>],
        recovery: &[Option<&[u8]>],
        len: usize,
        mut found: impl FnMut(usize, &[u8]),
    ) {
        let engine = DefaultEngine::new();
        let decoder = HighRateDecoder::new(data.len(), recovery.len(), len, engine, self.0.take());
        let mut decoder = decoder.expect("a group within the limits of the format");
        for (row, bytes) in data.iter().enumerate() {
            if let Some(bytes) = bytes {
                decoder.add_original_shard(row, bytes).expect("each row once");
            }
        }
        for (row, bytes) in recovery.iter().enumerate() {
            if let Some(bytes) = bytes {
                decoder.add_recovery_shard(row, bytes).expect("each row once");
            }
        }
        let result = decoder.decode().expect("enough rows");
        result.restored_original_iter().for_each(|(row, bytes)| found(row, bytes));
        drop(result);
        self.0 = Some(decoder.into_parts().1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplies symbols as `docs/parity.md` defines it: without tables, and without the library.
    mod field {
        const POLYNOMIAL: u32 = 0x1002D;
        const BASIS: [u16; 16] = [
            0x0001, 0xACCA, 0x3C0E, 0x163E, 0xC582, 0xED2E, 0x914C, 0x4012, 0x6C98, 0x10D8, 0x6A72, 0xB900,
            0xFDB8, 0xFB34, 0xFF38, 0x991E,
        ];

        /// Returns the polynomial of a symbol.
        fn polynomial(symbol: u16) -> u16 {
            (0..16).filter(|bit| symbol >> bit & 1 == 1).fold(0, |sum, bit| sum ^ BASIS[bit])
        }

        /// Returns the product of two polynomials.
        fn multiply(a: u16, b: u16) -> u16 {
            let (mut a, mut product) = (u32::from(a), 0);
            for bit in 0..16 {
                if b >> bit & 1 == 1 {
                    product ^= a;
                }
                a <<= 1;
                if a & 0x10000 != 0 {
                    a ^= POLYNOMIAL;
                }
            }
            product as u16
        }

        /// Returns Σ value · point^power over all rows, as a polynomial.
        pub(super) fn syndrome(rows: &[(u16, u16)], power: u32) -> u16 {
            rows.iter().fold(0, |sum, &(point, value)| {
                let point = polynomial(point);
                sum ^ (0..power).fold(polynomial(value), |product, _| multiply(product, point))
            })
        }
    }

    fn batch(blocks: u64, groups: u64, recovery: u64) -> Batch {
        Batch { first: 0, blocks, groups, recovery, offset: 0, earlier: 0 }
    }

    fn encode(batch: Batch, blocks: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut encoder = Encoder::new(batch, blocks[0].len() as u64);
        blocks.iter().for_each(|block| encoder.add(block));
        let mut all = Vec::new();
        encoder
            .finish(|block| {
                all.push(block.to_vec());
                Ok(())
            })
            .unwrap();
        all
    }

    fn random(count: u64, len: usize, seed: u64) -> Vec<Vec<u8>> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| (0..len).map(|_| random.u8(..)).collect()).collect()
    }

    fn symbol(row: &[u8], nth: usize) -> u16 {
        let at = nth / 32 * 64 + nth % 32;
        u16::from_le_bytes([row[at], row[at + 32]])
    }

    #[test]
    fn rows_satisfy_the_equations_of_the_format() {
        for (rows, recovery) in [(1, 1), (5, 1), (3, 4), (9, 4), (16, 8), (21, 8)] {
            let data = random(rows, 128, rows);
            let parity = encode(batch(rows, 1, recovery), &data);
            for nth in [0, 31, 32, 63] {
                let chunk = recovery as u16;
                let data = data.iter().enumerate().map(|(row, it)| (row as u16 + chunk, symbol(it, nth)));
                let parity = parity.iter().enumerate().map(|(row, it)| (row as u16, symbol(it, nth)));
                let all: Vec<_> = data.chain(parity).collect();
                for power in 0..u32::from(chunk) {
                    assert_eq!(field::syndrome(&all, power), 0, "{rows} {recovery} {nth} {power}");
                }
            }
        }
    }

    #[test]
    fn vectors_of_the_format() {
        for (data, parity) in [
            ([0x0001, 0, 0], [0x000C, 0x000F, 0x000A]),
            ([0x1234, 0xABCD, 0xFFFF], [0xC980, 0xCB25, 0xBEA7_u16]),
        ] {
            let rows = data.map(|symbol: u16| {
                let mut row = vec![0; 64];
                [row[5], row[37]] = symbol.to_le_bytes();
                row
            });
            let found = encode(batch(3, 1, 3), &rows);
            assert_eq!(found.iter().map(|row| symbol(row, 5)).collect::<Vec<_>>(), parity);
        }
    }

    #[test]
    fn encoding_in_pieces_is_that_of_the_library() {
        for (blocks, groups, recovery) in
            [(1, 1, 1), (7, 3, 1), (100, 3, 5), (100, 1, 48), (37, 4, 3), (5, 2, 9)]
        {
            let data = random(blocks, 64, blocks + groups);
            let batch = batch(blocks, groups, recovery);
            let parity = encode(batch, &data);
            for group in 0..groups {
                use reed_solomon_simd::rate::{HighRateEncoder, RateEncoder as _};
                let rows = batch.rows(group) as usize;
                let engine = DefaultEngine::new();
                let mut encoder = HighRateEncoder::new(rows, recovery as usize, 64, engine, None).unwrap();
                for row in 0..rows as u64 {
                    encoder.add_original_shard(&data[batch.block(group, row) as usize]).unwrap();
                }
                let expected = encoder.encode().unwrap();
                for (row, expected) in expected.recovery_iter().enumerate() {
                    assert_eq!(parity[row * groups as usize + group as usize], expected);
                }
            }
        }
    }

    #[test]
    fn as_many_rows_as_recovery_rows_are_computed() {
        let data = random(40, 128, 7);
        let parity = encode(batch(40, 1, 6), &data);
        let mut random = fastrand::Rng::with_seed(3);
        let mut decoder = Decoder::default();
        for lost in 0..=6 {
            for _ in 0..20 {
                let missing = random.choose_multiple(0..46_usize, lost);
                let known = |row: usize, bytes: &'static [u8]| (!missing.contains(&row)).then_some(bytes);
                let leak = |rows: &[Vec<u8>]| -> &'static [Vec<u8>] { Vec::leak(rows.to_vec()) };
                let rows: Vec<_> = leak(&data).iter().enumerate().map(|(row, it)| known(row, it)).collect();
                let extra: Vec<_> =
                    leak(&parity).iter().enumerate().map(|(row, it)| known(row + 40, it)).collect();
                let mut found = 0;
                decoder.decode(&rows, &extra, 128, |row, bytes| {
                    assert_eq!(bytes, data[row]);
                    found += 1;
                });
                assert_eq!(found, missing.iter().filter(|row| **row < 40).count());
            }
        }
    }
}
