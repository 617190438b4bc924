//! SHA-512 (FIPS 180-4, sections 5.1.2, 5.3.5 and 6.4).

use super::{Function, Tail, pad};
use crate::Digest;

pub(crate) struct Sha512;

impl Function<8> for Sha512 {
    type Word = u64;
    const INIT: [u64; 8] = [
        0x6a09_e667_f3bc_c908,
        0xbb67_ae85_84ca_a73b,
        0x3c6e_f372_fe94_f82b,
        0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1,
        0x9b05_688c_2b3e_6c1f,
        0x1f83_d9ab_fb41_bd6b,
        0x5be0_cd19_137e_2179,
    ];
    const SHORT: usize = pad::longest(Self::BLOCK, 16);
    const TAIL: usize = pad::longest(2 * Self::BLOCK, 16);

    fn blocks(len: usize) -> usize {
        len / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize {
        pad::merkle_damgard(tail, used, Self::BLOCK, (u128::from(total) * 8).to_be_bytes())
    }

    fn digest(state: &[u64; 8]) -> Digest {
        Digest::from_words(state.map(u64::to_be_bytes))
    }
}
