//! SHA-512 and SHA-384 (FIPS 180-4, sections 5.1.2, 5.3.4, 5.3.5, 6.4 and 6.5).

use super::{Function, Tail, pad};
use crate::Digest;

/// SHA-512, or with `LEN` 48 SHA-384, which has another initial value and keeps only 48 bytes of the result.
pub(crate) struct Sha512<const LEN: usize = 64>;

impl<const LEN: usize> Function<8> for Sha512<LEN> {
    type Word = u64;
    const INIT: [u64; 8] = match LEN {
        64 => [
            0x6a09_e667_f3bc_c908,
            0xbb67_ae85_84ca_a73b,
            0x3c6e_f372_fe94_f82b,
            0xa54f_f53a_5f1d_36f1,
            0x510e_527f_ade6_82d1,
            0x9b05_688c_2b3e_6c1f,
            0x1f83_d9ab_fb41_bd6b,
            0x5be0_cd19_137e_2179,
        ],
        48 => [
            0xcbbb_9d5d_c105_9ed8,
            0x629a_292a_367c_d507,
            0x9159_015a_3070_dd17,
            0x152f_ecd8_f70e_5939,
            0x6733_2667_ffc0_0b31,
            0x8eb4_4a87_6858_1511,
            0xdb0c_2e0d_64f9_8fa7,
            0x47b5_481d_befa_4fa4,
        ],
        _ => panic!("the standard defines no digest of this length"),
    };
    const SHORT: usize = pad::longest(Self::BLOCK, 16);
    const TAIL: usize = pad::longest(2 * Self::BLOCK, 16);

    fn blocks(len: usize) -> usize {
        len / Self::BLOCK
    }

    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize {
        pad::merkle_damgard(tail, used, Self::BLOCK, (u128::from(total) * 8).to_be_bytes())
    }

    fn digest(state: &[u64; 8]) -> Digest {
        let digest = Digest::from_words(state.map(u64::to_be_bytes));
        if LEN == 64 { digest } else { digest.truncated(LEN) }
    }
}
