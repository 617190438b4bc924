//! SHA-1 (FIPS 180-4, sections 5.1.1, 5.3.1 and 6.1).

use super::{Function, Tail, pad};
use crate::Digest;

pub(crate) struct Sha1;

impl Function<5> for Sha1 {
    type Word = u32;
    const INIT: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    const SHORT: usize = pad::longest(Self::BLOCK, 8);
    const TAIL: usize = pad::longest(2 * Self::BLOCK, 8);

    fn blocks(len: usize) -> usize {
        len / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize {
        pad::merkle_damgard(tail, used, Self::BLOCK, total.wrapping_mul(8).to_be_bytes())
    }

    fn digest(state: &[u32; 5]) -> Digest {
        Digest::from_words(state.map(u32::to_be_bytes))
    }
}
