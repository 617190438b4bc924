//! BLAKE2b with 64 bytes of output and without a key (RFC 7693).

use super::{Function, Sha512, Tail};
use crate::Digest;

pub(crate) struct Blake2b;

impl Blake2b {
    /// The initialization vector, which is SHA-512's (section 2.6).
    pub(crate) const IV: [u64; 8] = <Sha512>::INIT;
}

impl Function<8> for Blake2b {
    type Word = u64;
    const INIT: [u64; 8] = {
        let mut init = Self::IV;
        init[0] ^= 0x0101_0040; // fanout 1, depth 1, no key, 64 bytes (section 2.5)
        init
    };
    const SHORT: usize = Self::BLOCK;
    const TAIL: usize = Self::BLOCK;

    /// The last block is compressed differently from the others. So a block that may be the last must wait.
    fn blocks(len: usize) -> usize {
        len.saturating_sub(1) / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, _total: u64) -> usize {
        tail[used..Self::BLOCK].fill(0);
        1
    }

    fn digest(state: &[u64; 8]) -> Digest {
        Digest::from_words(state.map(u64::to_le_bytes))
    }
}
