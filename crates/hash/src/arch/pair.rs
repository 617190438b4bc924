//! Two vectors that are used as one.

use super::Vector;

/// Two vectors of 8 words as one of 16, for functions in which each operation waits for the one before: a CPU does those of
/// the other vector meanwhile.
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

impl<K: Vector<u32, 8>> Vector<u32, 16> for Pair<K> {
    type V = [K::V; 2];

    #[inline(always)]
    fn load(self, from: &[u32; 16]) -> Self::V {
        let (halves, _) = from.as_chunks();
        [self.0.load(&halves[0]), self.0.load(&halves[1])]
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [u32; 16]) {
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
    fn words<const BE: bool>(self, data: &[&[u8]; 16], at: usize) -> [Self::V; 16] {
        let (halves, _) = data.as_chunks();
        let (low, high) = (self.0.words::<BE>(&halves[0], at), self.0.words::<BE>(&halves[1], at));
        std::array::from_fn(|word| [low[word], high[word]])
    }
}
