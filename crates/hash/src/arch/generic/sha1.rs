//! SHA-1 (FIPS 180-4, section 6.1).

use super::blocks;
use crate::arch::{Counters, Vector};

/// SHA-1 (section 6.1.2).
#[inline(always)]
pub(crate) fn sha1<V: Vector<u32, L>, const L: usize>(
    v: V,
    state: &mut [[u32; L]; 5],
    data: &[&[u8]; L],
    _: &Counters<L>,
) {
    const BLOCK: usize = 64;
    let [mut a, mut b, mut c] = [v.load(&state[0]), v.load(&state[1]), v.load(&state[2])];
    let [mut d, mut e] = [v.load(&state[3]), v.load(&state[4])];
    macro_rules! round {
        ($f:ident, $k:ident, $w:ident, $a:ident $b:ident $c:ident $d:ident $e:ident, $t:literal) => {
            let sum = v.add(v.add($e, v.add($w[$t % 16], $k)), v.rotate::<27>($a));
            $e = v.add(sum, v.$f($b, $c, $d));
            $b = v.rotate::<2>($b);
            // Compute the word that replaces this one 16 rounds later. In the last 16 rounds the result is
            // unused, and the compiler removes the computation.
            let mixed = v.xor3($w[($t + 13) % 16], $w[($t + 8) % 16], $w[($t + 2) % 16]);
            $w[$t % 16] = v.rotate::<31>(v.xor(mixed, $w[$t % 16]));
        };
    }
    // Five rounds. After them, each variable has had each role once.
    macro_rules! five {
        ($f:ident, $k:ident, $w:ident, $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal) => {
            round!($f, $k, $w, a b c d e, $t0);
            round!($f, $k, $w, e a b c d, $t1);
            round!($f, $k, $w, d e a b c, $t2);
            round!($f, $k, $w, c d e a b, $t3);
            round!($f, $k, $w, b c d e a, $t4);
        };
    }

    for nth in 0..blocks(data, BLOCK) {
        let mut w = v.words::<true>(data, nth * BLOCK);
        let k = v.splat(0x5a82_7999);
        five!(choose, k, w, 0 1 2 3 4);
        five!(choose, k, w, 5 6 7 8 9);
        five!(choose, k, w, 10 11 12 13 14);
        five!(choose, k, w, 15 16 17 18 19);
        let k = v.splat(0x6ed9_eba1);
        five!(xor3, k, w, 20 21 22 23 24);
        five!(xor3, k, w, 25 26 27 28 29);
        five!(xor3, k, w, 30 31 32 33 34);
        five!(xor3, k, w, 35 36 37 38 39);
        let k = v.splat(0x8f1b_bcdc);
        five!(majority, k, w, 40 41 42 43 44);
        five!(majority, k, w, 45 46 47 48 49);
        five!(majority, k, w, 50 51 52 53 54);
        five!(majority, k, w, 55 56 57 58 59);
        let k = v.splat(0xca62_c1d6);
        five!(xor3, k, w, 60 61 62 63 64);
        five!(xor3, k, w, 65 66 67 68 69);
        five!(xor3, k, w, 70 71 72 73 74);
        five!(xor3, k, w, 75 76 77 78 79);
        a = v.add(a, v.load(&state[0]));
        b = v.add(b, v.load(&state[1]));
        c = v.add(c, v.load(&state[2]));
        d = v.add(d, v.load(&state[3]));
        e = v.add(e, v.load(&state[4]));
        v.store(a, &mut state[0]);
        v.store(b, &mut state[1]);
        v.store(c, &mut state[2]);
        v.store(d, &mut state[3]);
        v.store(e, &mut state[4]);
    }
}
