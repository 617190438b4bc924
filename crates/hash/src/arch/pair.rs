//! Two vectors that are used as one.

use super::Vector;

/// Two vectors of 8 words as one of 16, for functions in which each operation waits for the one before: a CPU does those of
/// the other vector meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Pair<K>(pub(crate) K);

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
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        [self.0.add(a[0], b[0]), self.0.add(a[1], b[1])]
    }
    #[inline(always)]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        [self.0.xor(a[0], b[0]), self.0.xor(a[1], b[1])]
    }
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        [self.0.xor3(a[0], b[0], c[0]), self.0.xor3(a[1], b[1], c[1])]
    }
    #[inline(always)]
    fn choose(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        [self.0.choose(a[0], b[0], c[0]), self.0.choose(a[1], b[1], c[1])]
    }
    #[inline(always)]
    fn majority(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        [self.0.majority(a[0], b[0], c[0]), self.0.majority(a[1], b[1], c[1])]
    }
    #[inline(always)]
    fn xor_or_not(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        [self.0.xor_or_not(a[0], b[0], c[0]), self.0.xor_or_not(a[1], b[1], c[1])]
    }
    #[inline(always)]
    fn equal(self, a: Self::V, b: Self::V) -> Self::V {
        [self.0.equal(a[0], b[0]), self.0.equal(a[1], b[1])]
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
