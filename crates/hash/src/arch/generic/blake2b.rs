//! BLAKE2b (RFC 7693, section 3).

use super::blocks;
use crate::arch::{Counters, Vector};
use crate::function::Blake2b;

/// BLAKE2b (section 3.2).
#[inline(always)]
pub(crate) fn blake2b<V: Vector<u64, L>, const L: usize>(
    v: V,
    state: &mut [[u64; L]; 8],
    data: &[&[u8]; L],
    counters: &Counters<L>,
) {
    const BLOCK: usize = 128;
    // Mixes four columns or diagonals in parallel. They do not depend on each other.
    macro_rules! mix {
        ($($a:ident $b:ident $c:ident $d:ident, $x:expr, $y:expr;)*) => {
            $($a = v.add(v.add($a, $x), $b);)*
            $($d = v.rotate::<32>(v.xor($d, $a));)*
            $($c = v.add($c, $d);)*
            $($b = v.rotate::<24>(v.xor($b, $c));)*
            $($a = v.add(v.add($a, $y), $b);)*
            $($d = v.rotate::<16>(v.xor($d, $a));)*
            $($c = v.add($c, $d);)*
            $($b = v.rotate::<63>(v.xor($b, $c));)*
        };
    }

    for nth in 0..blocks(data, BLOCK) {
        let m = v.words::<false>(data, nth * BLOCK);
        let [mut a0, mut a1, mut a2, mut a3] =
            [v.load(&state[0]), v.load(&state[1]), v.load(&state[2]), v.load(&state[3])];
        let [mut b0, mut b1, mut b2, mut b3] =
            [v.load(&state[4]), v.load(&state[5]), v.load(&state[6]), v.load(&state[7])];
        let iv = Blake2b::IV;
        let [mut c0, mut c1, mut c2, mut c3] =
            [v.splat(iv[0]), v.splat(iv[1]), v.splat(iv[2]), v.splat(iv[3])];
        let [mut d0, mut d1, mut d2, mut d3] =
            [v.splat(iv[4]), v.splat(iv[5]), v.splat(iv[6]), v.splat(iv[7])];
        let count = v.add(v.load(&counters.count), v.splat((nth * BLOCK) as u64));
        d0 = v.xor(d0, count);
        d2 = v.xor(d2, v.load(&counters.last));
        // Unrolled, so that every message word has a fixed address and no index is computed.
        macro_rules! rounds {
            ($($r:literal)*) => {$(
                mix! {
                    a0 b0 c0 d0, m[SIGMA[$r][0]], m[SIGMA[$r][1]];
                    a1 b1 c1 d1, m[SIGMA[$r][2]], m[SIGMA[$r][3]];
                    a2 b2 c2 d2, m[SIGMA[$r][4]], m[SIGMA[$r][5]];
                    a3 b3 c3 d3, m[SIGMA[$r][6]], m[SIGMA[$r][7]];
                }
                mix! {
                    a0 b1 c2 d3, m[SIGMA[$r][8]], m[SIGMA[$r][9]];
                    a1 b2 c3 d0, m[SIGMA[$r][10]], m[SIGMA[$r][11]];
                    a2 b3 c0 d1, m[SIGMA[$r][12]], m[SIGMA[$r][13]];
                    a3 b0 c1 d2, m[SIGMA[$r][14]], m[SIGMA[$r][15]];
                }
            )*};
        }
        rounds!(0 1 2 3 4 5 6 7 8 9 0 1);
        v.store(v.xor3(v.load(&state[0]), a0, c0), &mut state[0]);
        v.store(v.xor3(v.load(&state[1]), a1, c1), &mut state[1]);
        v.store(v.xor3(v.load(&state[2]), a2, c2), &mut state[2]);
        v.store(v.xor3(v.load(&state[3]), a3, c3), &mut state[3]);
        v.store(v.xor3(v.load(&state[4]), b0, d0), &mut state[4]);
        v.store(v.xor3(v.load(&state[5]), b1, d1), &mut state[5]);
        v.store(v.xor3(v.load(&state[6]), b2, d2), &mut state[6]);
        v.store(v.xor3(v.load(&state[7]), b3, d3), &mut state[7]);
    }
}

/// The order of the message words in each round (section 2.7). Rounds 10 and 11 repeat the first two.
const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
