//! MD5 (RFC 1321, section 3.4).

use super::blocks;
use crate::arch::{Counters, Vector};

/// MD5 (section 3.4).
#[inline(always)]
pub(crate) fn md5<V: Vector<u32, L>, const L: usize>(
    v: V,
    state: &mut [[u32; L]; 4],
    data: &[&[u8]; L],
    _: &Counters<L>,
) {
    const BLOCK: usize = 64;
    let [mut a, mut b, mut c, mut d] =
        [v.load(&state[0]), v.load(&state[1]), v.load(&state[2]), v.load(&state[3])];
    // One operation of the RFC. The RFC rotates left; a right rotation by 32 minus the RFC's count is the
    // same.
    macro_rules! step {
        ($f:ident, $a:ident $b:ident $c:ident $d:ident, $w:expr, $k:expr, $right:literal) => {
            let t = v.add(v.add($a, v.add($w, v.splat($k))), $f!($b, $c, $d));
            $a = v.add(v.rotate::<$right>(t), $b);
        };
    }
    // Four steps. After them, each variable has had each role once.
    macro_rules! four {
        ($f:ident, $w:ident, $k:expr, $i:expr, $stride:literal, $p:literal $q:literal $r:literal $s:literal) => {
            step!($f, a b c d, $w[$i % 16], $k[0], $p);
            step!($f, d a b c, $w[($i + $stride) % 16], $k[1], $q);
            step!($f, c d a b, $w[($i + 2 * $stride) % 16], $k[2], $r);
            step!($f, b c d a, $w[($i + 3 * $stride) % 16], $k[3], $s);
        };
    }
    macro_rules! f {
        ($x:ident, $y:ident, $z:ident) => {
            v.choose($x, $y, $z)
        };
    }
    macro_rules! g {
        ($x:ident, $y:ident, $z:ident) => {
            v.choose($z, $x, $y)
        };
    }
    macro_rules! h {
        ($x:ident, $y:ident, $z:ident) => {
            v.xor3($x, $y, $z)
        };
    }
    macro_rules! i {
        ($x:ident, $y:ident, $z:ident) => {
            v.xor_or_not($y, $x, $z)
        };
    }

    for nth in 0..blocks(data, BLOCK) {
        let w = v.words::<false>(data, nth * BLOCK);
        four!(f, w, K[0], 0, 1, 25 20 15 10);
        four!(f, w, K[1], 4, 1, 25 20 15 10);
        four!(f, w, K[2], 8, 1, 25 20 15 10);
        four!(f, w, K[3], 12, 1, 25 20 15 10);
        four!(g, w, K[4], 1, 5, 27 23 18 12);
        four!(g, w, K[5], 5, 5, 27 23 18 12);
        four!(g, w, K[6], 9, 5, 27 23 18 12);
        four!(g, w, K[7], 13, 5, 27 23 18 12);
        four!(h, w, K[8], 5, 3, 28 21 16 9);
        four!(h, w, K[9], 1, 3, 28 21 16 9);
        four!(h, w, K[10], 13, 3, 28 21 16 9);
        four!(h, w, K[11], 9, 3, 28 21 16 9);
        four!(i, w, K[12], 0, 7, 26 22 17 11);
        four!(i, w, K[13], 12, 7, 26 22 17 11);
        four!(i, w, K[14], 8, 7, 26 22 17 11);
        four!(i, w, K[15], 4, 7, 26 22 17 11);
        a = v.add(a, v.load(&state[0]));
        b = v.add(b, v.load(&state[1]));
        c = v.add(c, v.load(&state[2]));
        d = v.add(d, v.load(&state[3]));
        v.store(a, &mut state[0]);
        v.store(b, &mut state[1]);
        v.store(c, &mut state[2]);
        v.store(d, &mut state[3]);
    }
}

/// The integer parts of 2^32 * |sin(i)| for i from 1, in radians, four steps per row.
pub(crate) const K: [[u32; 4]; 16] = [
    [0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee],
    [0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501],
    [0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be],
    [0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821],
    [0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa],
    [0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8],
    [0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed],
    [0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a],
    [0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c],
    [0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70],
    [0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05],
    [0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665],
    [0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039],
    [0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1],
    [0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1],
    [0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391],
];
