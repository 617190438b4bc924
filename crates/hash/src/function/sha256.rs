//! SHA-256 and SHA-224 (FIPS 180-4, sections 5.1.1, 5.3.2, 5.3.3, 6.2 and 6.3).

use super::{Function, Tail, pad};
use crate::Digest;

/// SHA-256, or with `LEN` 28 SHA-224, which has another initial value and keeps only 28 bytes of the result.
pub(crate) struct Sha256<const LEN: usize = 32>;

impl<const LEN: usize> Function<8> for Sha256<LEN> {
    type Word = u32;
    const INIT: [u32; 8] = match LEN {
        32 => [
            0x6a09_e667,
            0xbb67_ae85,
            0x3c6e_f372,
            0xa54f_f53a,
            0x510e_527f,
            0x9b05_688c,
            0x1f83_d9ab,
            0x5be0_cd19,
        ],
        28 => [
            0xc105_9ed8,
            0x367c_d507,
            0x3070_dd17,
            0xf70e_5939,
            0xffc0_0b31,
            0x6858_1511,
            0x64f9_8fa7,
            0xbefa_4fa4,
        ],
        _ => panic!("the standard defines no digest of this length"),
    };
    const SHORT: usize = pad::longest(Self::BLOCK, 8);
    const TAIL: usize = pad::longest(2 * Self::BLOCK, 8);

    fn blocks(len: usize) -> usize {
        len / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize {
        pad::merkle_damgard(tail, used, Self::BLOCK, total.wrapping_mul(8).to_be_bytes())
    }

    fn digest(state: &[u32; 8]) -> Digest {
        let digest = Digest::from_words(state.map(u32::to_be_bytes));
        if LEN == 32 { digest } else { digest.truncated(LEN) }
    }
}
