//! SHA-256 (FIPS 180-4, sections 5.1.1, 5.3.3 and 6.2).

use super::{Function, Tail, pad};
use crate::Digest;

pub(crate) struct Sha256;

impl Function<8> for Sha256 {
    type Word = u32;
    const INIT: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    const SHORT: usize = pad::longest(Self::BLOCK, 8);
    const TAIL: usize = pad::longest(2 * Self::BLOCK, 8);

    fn blocks(len: usize) -> usize {
        len / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize {
        pad::merkle_damgard(tail, used, Self::BLOCK, total.wrapping_mul(8).to_be_bytes())
    }

    fn digest(state: &[u32; 8]) -> Digest {
        Digest::from_words(state.map(u32::to_be_bytes))
    }
}
