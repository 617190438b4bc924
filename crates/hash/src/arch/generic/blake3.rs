//! BLAKE3 (the paper of O'Connor, Aumasson, Neves and Wilcox-O'Hearn, section 2).

use super::blocks;
use crate::arch::{Nodes, Vector};

/// Bytes of a block.
const BLOCK: usize = 64;

/// The initialization vector: that of SHA-256, and the initial chaining value of every node (table 1).
const IV: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Computes the chaining values of `L` nodes (sections 2.2, 2.4 and 2.5). Every lane processes as many blocks
/// as the longest node has. Results past the end of a lane's own node are discarded.
#[inline(always)]
pub(crate) fn blake3<V: Vector<u32, L>, const L: usize>(
    v: V,
    data: &[&[u8]; L],
    nodes: &Nodes<L>,
) -> [[u32; L]; 8] {
    // Mixes four columns or diagonals in parallel. They do not depend on each other.
    macro_rules! mix {
        ($($a:ident $b:ident $c:ident $d:ident, $x:expr, $y:expr;)*) => {
            $($a = v.add(v.add($a, $x), $b);)*
            $($d = v.rotate::<16>(v.xor($d, $a));)*
            $($c = v.add($c, $d);)*
            $($b = v.rotate::<12>(v.xor($b, $c));)*
            $($a = v.add(v.add($a, $y), $b);)*
            $($d = v.rotate::<8>(v.xor($d, $a));)*
            $($c = v.add($c, $d);)*
            $($b = v.rotate::<7>(v.xor($b, $c));)*
        };
    }

    let (last_block, last, last_len) =
        (v.load(&nodes.last_block), v.load(&nodes.last), v.load(&nodes.last_len));
    let mut first = v.splat(nodes.first);
    let mut is_over = v.splat(0);
    let mut chain = IV.map(|word| v.splat(word));
    for nth in 0..blocks(data, BLOCK) {
        let m = v.words::<false>(data, nth * BLOCK);
        let is_last = v.equal(last_block, v.splat(nth as u32));
        let flags = v.xor(first, v.choose(is_last, last, v.splat(0)));
        let len = v.choose(is_last, last_len, v.splat(BLOCK as u32));
        let [mut a0, mut a1, mut a2, mut a3, mut b0, mut b1, mut b2, mut b3] = chain;
        let [mut c0, mut c1, mut c2, mut c3] =
            [v.splat(IV[0]), v.splat(IV[1]), v.splat(IV[2]), v.splat(IV[3])];
        let [mut d0, mut d1, mut d2, mut d3] = [v.load(&nodes.chunk), v.splat(0), len, flags];
        // Unrolled, so that every message word has a fixed address and no index is computed.
        macro_rules! rounds {
            ($($r:literal)*) => {$(
                mix! {
                    a0 b0 c0 d0, m[ORDER[$r][0]], m[ORDER[$r][1]];
                    a1 b1 c1 d1, m[ORDER[$r][2]], m[ORDER[$r][3]];
                    a2 b2 c2 d2, m[ORDER[$r][4]], m[ORDER[$r][5]];
                    a3 b3 c3 d3, m[ORDER[$r][6]], m[ORDER[$r][7]];
                }
                mix! {
                    a0 b1 c2 d3, m[ORDER[$r][8]], m[ORDER[$r][9]];
                    a1 b2 c3 d0, m[ORDER[$r][10]], m[ORDER[$r][11]];
                    a2 b3 c0 d1, m[ORDER[$r][12]], m[ORDER[$r][13]];
                    a3 b0 c1 d2, m[ORDER[$r][14]], m[ORDER[$r][15]];
                }
            )*};
        }
        rounds!(0 1 2 3 4 5 6);
        let next = [
            v.xor(a0, c0),
            v.xor(a1, c1),
            v.xor(a2, c2),
            v.xor(a3, c3),
            v.xor(b0, d0),
            v.xor(b1, d1),
            v.xor(b2, d2),
            v.xor(b3, d3),
        ];
        for (old, new) in chain.iter_mut().zip(next) {
            *old = v.choose(is_over, *old, new);
        }
        is_over = v.xor(is_over, is_last);
        first = v.splat(0);
    }
    let mut out = [[0; L]; 8];
    for (row, words) in out.iter_mut().zip(chain) {
        v.store(words, row);
    }
    out
}

/// The order of the message words in each round: the previous order, permuted (table 2).
const ORDER: [[usize; 16]; 7] = {
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut order = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]; 7];
    let mut round = 1;
    while round < order.len() {
        let mut nth = 0;
        while nth < PERMUTATION.len() {
            order[round][nth] = order[round - 1][PERMUTATION[nth]];
            nth += 1;
        }
        round += 1;
    }
    order
};
