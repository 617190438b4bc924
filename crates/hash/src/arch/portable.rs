//! Vector operations on single words, for every CPU.

use super::{Counters, Kernel, Narrow, NodeKernel, Nodes, Vector, generic};
use crate::function::{Blake2b, Function, Md5, Sha1, Sha256, Sha512};

/// A kernel without special CPU instructions. It processes the lanes one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

macro_rules! vector {
    ($word:ty) => {
        impl Vector<$word, 1> for Portable {
            type V = $word;

            #[inline(always)]
            fn load(self, from: &[$word; 1]) -> $word {
                from[0]
            }
            #[inline(always)]
            fn store(self, v: $word, to: &mut [$word; 1]) {
                to[0] = v;
            }
            #[inline(always)]
            fn splat(self, word: $word) -> $word {
                word
            }
            #[inline(always)]
            fn add(self, a: $word, b: $word) -> $word {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn xor(self, a: $word, b: $word) -> $word {
                a ^ b
            }
            #[inline(always)]
            fn xor3(self, a: $word, b: $word, c: $word) -> $word {
                a ^ b ^ c
            }
            #[inline(always)]
            fn choose(self, a: $word, b: $word, c: $word) -> $word {
                c ^ (a & (b ^ c))
            }
            #[inline(always)]
            fn majority(self, a: $word, b: $word, c: $word) -> $word {
                (a & b) | (c & (a | b))
            }
            #[inline(always)]
            fn xor_or_not(self, a: $word, b: $word, c: $word) -> $word {
                a ^ (b | !c)
            }
            #[inline(always)]
            fn equal(self, a: $word, b: $word) -> $word {
                if a == b { <$word>::MAX } else { 0 }
            }
            #[inline(always)]
            fn rotate<const N: i32>(self, v: $word) -> $word {
                v.rotate_right(N as u32)
            }
            #[inline(always)]
            fn shift<const N: u32>(self, v: $word) -> $word {
                v >> N
            }
            #[inline(always)]
            fn words<const BE: bool>(self, data: &[&[u8]; 1], at: usize) -> [$word; 16] {
                const SIZE: usize = size_of::<$word>();
                let bytes = data[0][at..at + 16 * SIZE].as_chunks::<SIZE>().0;
                let mut words = [0; 16];
                for (word, &bytes) in words.iter_mut().zip(bytes) {
                    *word = if BE { <$word>::from_be_bytes(bytes) } else { <$word>::from_le_bytes(bytes) };
                }
                words
            }
        }
    };
}

vector!(u32);
vector!(u64);

macro_rules! kernels {
    ($($(const $len:ident =>)? $function:ty, $words:literal, $word:ty, $compress:path;)*) => {$(
        impl$(<const $len: usize>)? Narrow<$function, $words> for Portable {
            fn one(self, state: &mut [$word; $words], data: &[u8], counters: &Counters<1>) {
                // Not generic, so that it is compiled once, in this crate.
                fn run(state: &mut [$word; $words], data: &[u8], counters: &Counters<1>) {
                    let mut column = state.map(|word| [word]);
                    $compress(Portable, &mut column, &[data], counters);
                    *state = column.map(|[word]| word);
                }
                run(state, data, counters);
            }
        }
    )*};
}

kernels! {
    const LEN => Sha256<LEN>, 8, u32, generic::sha256;
    Sha1, 5, u32, generic::sha1;
    Md5, 4, u32, generic::md5;
    const LEN => Sha512<LEN>, 8, u64, generic::sha512;
    Blake2b, 8, u64, generic::blake2b;
}

impl<F: Function<W>, const L: usize, const W: usize> Kernel<F, L, W> for Portable
where
    Self: Narrow<F, W>,
{
    fn compress(self, state: &mut [[F::Word; L]; W], data: &[&[u8]; L], counters: &Counters<L>, _: u32) {
        let len = data[0].len();
        assert!(data.iter().all(|lane| lane.len() == len), "the lanes have different lengths");
        for lane in 0..L {
            let mut words = state.each_ref().map(|row| row[lane]);
            let counters = Counters { count: [counters.count[lane]], last: [counters.last[lane]] };
            self.one(&mut words, data[lane], &counters);
            for (row, word) in state.iter_mut().zip(words) {
                row[lane] = word;
            }
        }
    }
}

impl<const L: usize> NodeKernel<L> for Portable {
    fn hash(self, data: &[&[u8]; L], nodes: &Nodes<L>) -> [[u32; L]; 8] {
        let mut out = [[0; L]; 8];
        for lane in 0..L {
            let Nodes { chunk, first, last, last_block, last_len } = nodes;
            let node = Nodes {
                chunk: [chunk[lane]],
                first: *first,
                last: [last[lane]],
                last_block: [last_block[lane]],
                last_len: [last_len[lane]],
            };
            let words = generic::blake3(self, &[data[lane]], &node);
            for (row, [word]) in out.iter_mut().zip(words) {
                row[lane] = word;
            }
        }
        out
    }
}
