//! Two vectors that are used as one.

use super::{Counters, Kernel, Vector};
use crate::function::Md5;

/// Two vectors as one with twice as many words, for functions in which each operation waits for the one before: a CPU does
/// those of the other vector meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Pair<K>(pub(crate) K);

/// Operations on each of the two vectors.
macro_rules! both {
    ($($operation:ident($($operand:ident),+);)*) => {$(
        #[inline(always)]
        fn $operation(self, $($operand: Self::V),+) -> Self::V {
            [self.0.$operation($($operand[0]),+), self.0.$operation($($operand[1]),+)]
        }
    )*};
}

macro_rules! pair {
    ($half:literal, $both:literal) => {
        impl<K: Vector<u32, $half>> Vector<u32, $both> for Pair<K> {
            type V = [K::V; 2];

            #[inline(always)]
            fn load(self, from: &[u32; $both]) -> Self::V {
                let (halves, _) = from.as_chunks();
                [self.0.load(&halves[0]), self.0.load(&halves[1])]
            }
            #[inline(always)]
            fn store(self, v: Self::V, to: &mut [u32; $both]) {
                let (halves, _) = to.as_chunks_mut();
                self.0.store(v[0], &mut halves[0]);
                self.0.store(v[1], &mut halves[1]);
            }
            #[inline(always)]
            fn splat(self, word: u32) -> Self::V {
                [self.0.splat(word); 2]
            }
            both! {
                add(a, b);
                xor(a, b);
                xor3(a, b, c);
                choose(a, b, c);
                majority(a, b, c);
                xor_or_not(a, b, c);
                equal(a, b);
            }

            #[inline(always)]
            fn rotate<const N: i32>(self, v: Self::V) -> Self::V {
                [self.0.rotate::<N>(v[0]), self.0.rotate::<N>(v[1])]
            }
            #[inline(always)]
            fn shift<const N: u32>(self, v: Self::V) -> Self::V {
                [self.0.shift::<N>(v[0]), self.0.shift::<N>(v[1])]
            }
            #[inline(always)]
            fn words<const BE: bool>(self, data: &[&[u8]; $both], at: usize) -> [Self::V; 16] {
                let (halves, _) = data.as_chunks();
                let (low, high) = (self.0.words::<BE>(&halves[0], at), self.0.words::<BE>(&halves[1], at));
                std::array::from_fn(|word| [low[word], high[word]])
            }
        }
    };
}

pair!(4, 8);
pair!(8, 16);

/// If one half of 16 lanes is idle, compresses the other half with a kernel of 8 lanes. Returns whether that was so.
pub(crate) fn compress_busy_half<K: Kernel<Md5, 8, 4>>(
    kernel: K,
    state: &mut [[u32; 16]; 4],
    data: &[&[u8]; 16],
    busy: u32,
) -> bool {
    let idle = [busy & 0xff, busy >> 8].iter().position(|half| *half == 0);
    let Some(idle) = idle else { return false };
    let half = 1 - idle;
    let mut words: [[u32; 8]; 4] = state.each_ref().map(|row| row.as_chunks().0[half]);
    let counters = Counters { count: [0; 8], last: [0; 8] };
    kernel.compress(&mut words, &data.as_chunks().0[half], &counters, busy >> (8 * half));
    for (row, words) in state.iter_mut().zip(words) {
        row.as_chunks_mut().0[half] = words;
    }
    true
}
