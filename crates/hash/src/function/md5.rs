//! MD5 (RFC 1321, section 3).

use super::{Function, Tail, pad};
use crate::Digest;

pub(crate) struct Md5;

impl Function<4> for Md5 {
    type Word = u32;
    const INIT: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    const SHORT: usize = pad::longest(Self::BLOCK, 8);
    const TAIL: usize = pad::longest(2 * Self::BLOCK, 8);

    fn blocks(len: usize) -> usize {
        len / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize {
        pad::merkle_damgard(tail, used, Self::BLOCK, total.wrapping_mul(8).to_le_bytes())
    }

    fn digest(state: &[u32; 4]) -> Digest {
        Digest::from_words(state.map(u32::to_le_bytes))
    }
}
