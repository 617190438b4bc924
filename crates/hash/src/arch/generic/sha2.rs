//! SHA-256 and SHA-512 (FIPS 180-4, sections 6.2 and 6.4): one structure, two word sizes.

use super::blocks;
use crate::arch::{Counters, Vector};

/// XORs three rotations: the uppercase sigma functions of the standard.
#[inline(always)]
fn sum<W, V: Vector<W, L>, const L: usize, const A: i32, const B: i32, const C: i32>(v: V, x: V::V) -> V::V {
    v.xor3(v.rotate::<A>(x), v.rotate::<B>(x), v.rotate::<C>(x))
}

/// XORs two rotations and a shift: the lowercase sigma functions of the standard.
#[inline(always)]
pub(crate) fn sigma<W, V: Vector<W, L>, const L: usize, const A: i32, const B: i32, const C: u32>(
    v: V,
    x: V::V,
) -> V::V {
    v.xor3(v.rotate::<A>(x), v.rotate::<B>(x), v.shift::<C>(x))
}

/// Defines SHA-256 or SHA-512. The rounds are unrolled within one function, because otherwise the compiler
/// keeps the eight working variables in memory.
macro_rules! sha2 {
    (
        $(#[$doc:meta])*
        $name:ident, $word:ty, $rounds:literal, $k:ident,
        sum0 $s0:tt, sum1 $s1:tt, sigma0 $t0:tt, sigma1 $t1:tt
    ) => {
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name<V: Vector<$word, L>, const L: usize>(
            v: V,
            state: &mut [[$word; L]; 8],
            data: &[&[u8]; L],
            _: &Counters<L>,
        ) {
            const BLOCK: usize = 16 * size_of::<$word>();
            macro_rules! rotations {
                ($f:ident, ($x:literal, $y:literal, $z:literal), $of:expr) => {
                    $f::<$word, V, L, $x, $y, $z>(v, $of)
                };
            }
            macro_rules! round {
                ($a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident, $w:expr, $kt:expr) => {
                    let t = v.add(v.add($h, v.add($w, v.splat($kt))), v.choose($e, $f, $g));
                    let t = v.add(t, rotations!(sum, $s1, $e));
                    $d = v.add($d, t);
                    $h = v.add(v.add(t, v.majority($a, $b, $c)), rotations!(sum, $s0, $a));
                };
            }
            // Replaces word `i` by the one that is used 16 rounds later.
            macro_rules! schedule {
                ($w:ident, $i:literal) => {
                    let older = v.add($w[$i], rotations!(sigma, $t0, $w[($i + 1) % 16]));
                    let newer = v.add($w[($i + 9) % 16], rotations!(sigma, $t1, $w[($i + 14) % 16]));
                    $w[$i] = v.add(older, newer);
                };
            }
            macro_rules! keep {
                ($w:ident, $i:literal) => {};
            }

            let [mut a, mut b, mut c, mut d] = [v.load(&state[0]), v.load(&state[1]), v.load(&state[2]), v.load(&state[3])];
            let [mut e, mut f, mut g, mut h] = [v.load(&state[4]), v.load(&state[5]), v.load(&state[6]), v.load(&state[7])];
            for nth in 0..blocks(data, BLOCK) {
                let mut w = v.words::<true>(data, nth * BLOCK);
                macro_rules! sixteen {
                    ($from:expr, $next:ident) => {
                        let k: &[$word; 16] = &$k[$from];
                        round!(a b c d e f g h, w[0], k[0]);
                        $next!(w, 0);
                        round!(h a b c d e f g, w[1], k[1]);
                        $next!(w, 1);
                        round!(g h a b c d e f, w[2], k[2]);
                        $next!(w, 2);
                        round!(f g h a b c d e, w[3], k[3]);
                        $next!(w, 3);
                        round!(e f g h a b c d, w[4], k[4]);
                        $next!(w, 4);
                        round!(d e f g h a b c, w[5], k[5]);
                        $next!(w, 5);
                        round!(c d e f g h a b, w[6], k[6]);
                        $next!(w, 6);
                        round!(b c d e f g h a, w[7], k[7]);
                        $next!(w, 7);
                        round!(a b c d e f g h, w[8], k[8]);
                        $next!(w, 8);
                        round!(h a b c d e f g, w[9], k[9]);
                        $next!(w, 9);
                        round!(g h a b c d e f, w[10], k[10]);
                        $next!(w, 10);
                        round!(f g h a b c d e, w[11], k[11]);
                        $next!(w, 11);
                        round!(e f g h a b c d, w[12], k[12]);
                        $next!(w, 12);
                        round!(d e f g h a b c, w[13], k[13]);
                        $next!(w, 13);
                        round!(c d e f g h a b, w[14], k[14]);
                        $next!(w, 14);
                        round!(b c d e f g h a, w[15], k[15]);
                        $next!(w, 15);
                    };
                }
                for from in 0..$rounds / 16 - 1 {
                    sixteen!(from, schedule);
                }
                sixteen!($rounds / 16 - 1, keep);
                a = v.add(a, v.load(&state[0]));
                b = v.add(b, v.load(&state[1]));
                c = v.add(c, v.load(&state[2]));
                d = v.add(d, v.load(&state[3]));
                e = v.add(e, v.load(&state[4]));
                f = v.add(f, v.load(&state[5]));
                g = v.add(g, v.load(&state[6]));
                h = v.add(h, v.load(&state[7]));
                v.store(a, &mut state[0]);
                v.store(b, &mut state[1]);
                v.store(c, &mut state[2]);
                v.store(d, &mut state[3]);
                v.store(e, &mut state[4]);
                v.store(f, &mut state[5]);
                v.store(g, &mut state[6]);
                v.store(h, &mut state[7]);
            }
        }
    };
}

sha2! {
    /// SHA-256 (section 6.2.2; rotations from section 4.1.2).
    sha256, u32, 64, K256,
    sum0 (2, 13, 22), sum1 (6, 11, 25), sigma0 (7, 18, 3), sigma1 (17, 19, 10)
}

sha2! {
    /// SHA-512 (section 6.4.2; rotations from section 4.1.3).
    sha512, u64, 80, K512,
    sum0 (28, 34, 39), sum1 (14, 18, 41), sigma0 (1, 8, 7), sigma1 (19, 61, 6)
}

/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes (section 4.2.3).
pub(crate) const K512: [[u64; 16]; 5] = [
    [
        0x428a_2f98_d728_ae22,
        0x7137_4491_23ef_65cd,
        0xb5c0_fbcf_ec4d_3b2f,
        0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538,
        0x59f1_11f1_b605_d019,
        0x923f_82a4_af19_4f9b,
        0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242,
        0x1283_5b01_4570_6fbe,
        0x2431_85be_4ee4_b28c,
        0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f,
        0x80de_b1fe_3b16_96b1,
        0x9bdc_06a7_25c7_1235,
        0xc19b_f174_cf69_2694,
    ],
    [
        0xe49b_69c1_9ef1_4ad2,
        0xefbe_4786_384f_25e3,
        0x0fc1_9dc6_8b8c_d5b5,
        0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275,
        0x4a74_84aa_6ea6_e483,
        0x5cb0_a9dc_bd41_fbd4,
        0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab,
        0xa831_c66d_2db4_3210,
        0xb003_27c8_98fb_213f,
        0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2,
        0xd5a7_9147_930a_a725,
        0x06ca_6351_e003_826f,
        0x1429_2967_0a0e_6e70,
    ],
    [
        0x27b7_0a85_46d2_2ffc,
        0x2e1b_2138_5c26_c926,
        0x4d2c_6dfc_5ac4_2aed,
        0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de,
        0x766a_0abb_3c77_b2a8,
        0x81c2_c92e_47ed_aee6,
        0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364,
        0xa81a_664b_bc42_3001,
        0xc24b_8b70_d0f8_9791,
        0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218,
        0xd699_0624_5565_a910,
        0xf40e_3585_5771_202a,
        0x106a_a070_32bb_d1b8,
    ],
    [
        0x19a4_c116_b8d2_d0c8,
        0x1e37_6c08_5141_ab53,
        0x2748_774c_df8e_eb99,
        0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63,
        0x4ed8_aa4a_e341_8acb,
        0x5b9c_ca4f_7763_e373,
        0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc,
        0x78a5_636f_4317_2f60,
        0x84c8_7814_a1f0_ab72,
        0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28,
        0xa450_6ceb_de82_bde9,
        0xbef9_a3f7_b2c6_7915,
        0xc671_78f2_e372_532b,
    ],
    [
        0xca27_3ece_ea26_619c,
        0xd186_b8c7_21c0_c207,
        0xeada_7dd6_cde0_eb1e,
        0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba,
        0x0a63_7dc5_a2c8_98a6,
        0x113f_9804_bef9_0dae,
        0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84,
        0x32ca_ab7b_40c7_2493,
        0x3c9e_be0a_15c9_bebc,
        0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6,
        0x597f_299c_fc65_7e2a,
        0x5fcb_6fab_3ad6_faec,
        0x6c44_198c_4a47_5817,
    ],
];

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
pub(crate) const K256: [[u32; 16]; 4] = {
    let mut k = [[0; 16]; 4];
    let mut i = 0;
    while i < 64 {
        k[i / 16][i % 16] = (K512[i / 16][i % 16] >> 32) as u32;
        i += 1;
    }
    k
};
