//! Vector operations on 256 bits.

use std::arch::x86_64::*;

use super::{CPU, kernels, node_kernel};
use crate::arch::{Counters, Kernel, NodeKernel, Nodes, Pair, Vector, compress_busy_half, generic};
use crate::function::{Blake2b, Md5, Sha1, Sha256, Sha512};

/// Proof that this CPU has AVX2, BMI1 and BMI2, which came together. Only [`Avx2::detect`] creates a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// Returns the proof if this CPU has AVX2, BMI1 and BMI2.
    pub(crate) fn detect() -> Option<Self> {
        (CPU.avx2 && CPU.bmi1 && CPU.bmi2).then_some(Self(()))
    }
}

kernels! {
    Avx2, "avx2":
    const LEN => Sha256<LEN>, u32, 8 x 8, generic::sha256;
    Sha1, u32, 8 x 5, generic::sha1;
    Md5, u32, 8 x 4, generic::md5;
    const LEN => Sha512<LEN>, u64, 4 x 8, generic::sha512;
    Blake2b, u64, 4 x 8, generic::blake2b;
}

node_kernel!(Avx2, "avx2", 8);

/// Every step of MD5 waits for the one before, so a single vector leaves half of the CPU idle: 16 messages in pairs of vectors
/// take only 1.3 times as long as 8 (EPYC of 2021). At most 8 use a single vector. The other functions have more state
/// than fits in the registers: pairs make them 1.2 to 2.4 times as slow.
impl Kernel<Md5, 16, 4> for Avx2 {
    fn compress(self, state: &mut [[u32; 16]; 4], data: &[&[u8]; 16], counters: &Counters<16>, busy: u32) {
        #[target_feature(enable = "avx2")]
        fn run(v: Avx2, state: &mut [[u32; 16]; 4], data: &[&[u8]; 16], counters: &Counters<16>) {
            generic::md5(Pair(v), state, data, counters);
        }
        if !compress_busy_half(self, state, data, busy) {
            // SAFETY: an `Avx2` exists only if its `detect` found this feature on this CPU.
            unsafe { run(self, state, data, counters) }
        }
    }
}

macro_rules! vector {
    (
        $word:ty, $lanes:literal, $splat:ident, $add:ident, $equal:ident, $left:ident, $right:ident,
        $transpose:ident, $order:literal
    ) => {
        impl Vector<$word, $lanes> for Avx2 {
            type V = __m256i;

            #[inline(always)]
            fn load(self, from: &[$word; $lanes]) -> __m256i {
                // SAFETY: `from` is 32 readable bytes, this load needs no alignment, and `self` proves AVX2.
                unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, v: __m256i, to: &mut [$word; $lanes]) {
                // SAFETY: `to` is 32 writable bytes, this store needs no alignment, and `self` proves AVX2.
                unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn splat(self, word: $word) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { $splat(word.cast_signed()) }
            }
            #[inline(always)]
            fn add(self, a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            fn xor(self, a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { _mm256_xor_si256(a, b) }
            }
            #[inline(always)]
            fn xor3(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { _mm256_xor_si256(_mm256_xor_si256(a, b), c) }
            }
            #[inline(always)]
            fn choose(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { _mm256_xor_si256(c, _mm256_and_si256(a, _mm256_xor_si256(b, c))) }
            }
            #[inline(always)]
            fn majority(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_or_si256(a, b))) }
            }
            #[inline(always)]
            fn xor_or_not(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
                let ones = self.splat(<$word>::MAX);
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { _mm256_xor_si256(a, _mm256_or_si256(b, _mm256_xor_si256(c, ones))) }
            }
            #[inline(always)]
            fn equal(self, a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { $equal(a, b) }
            }
            #[inline(always)]
            fn rotate<const N: i32>(self, v: __m256i) -> __m256i {
                // The counts are constants, so the compiler turns these into shifts by immediates or a byte
                // shuffle.
                // SAFETY: `self` proves AVX2, and these access no memory.
                unsafe {
                    let right = $right(v, _mm_cvtsi32_si128(N));
                    let left = $left(v, _mm_cvtsi32_si128(<$word>::BITS as i32 - N));
                    _mm256_or_si256(right, left)
                }
            }
            #[inline(always)]
            fn shift<const N: u32>(self, v: __m256i) -> __m256i {
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                unsafe { $right(v, _mm_cvtsi32_si128(N as i32)) }
            }
            #[inline(always)]
            fn words<const BE: bool>(self, data: &[&[u8]; $lanes], at: usize) -> [__m256i; 16] {
                /// For each word, the positions of its bytes in reverse order. The shuffle counts positions
                /// within 16 bytes.
                const SWAP: [$word; $lanes] = {
                    let mut swap = [0; $lanes];
                    let mut lane = 0;
                    while lane < $lanes {
                        let first = (lane * size_of::<$word>() % 16) as $word;
                        swap[lane] = $order + first * (<$word>::MAX / 255);
                        lane += 1;
                    }
                    swap
                };
                // SAFETY: `self` proves AVX2, and this accesses no memory.
                let mut rows = unsafe { [_mm256_setzero_si256(); 16] };
                for (lane, message) in data.iter().enumerate() {
                    let block = &message[at..at + 16 * size_of::<$word>()];
                    for (part, bytes) in block.as_chunks::<32>().0.iter().enumerate() {
                        // SAFETY: `bytes` is 32 readable bytes, this load needs no alignment, and `self`
                        // proves AVX2.
                        rows[part * $lanes + lane] = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
                    }
                }
                let mut words = self.$transpose(rows);
                if BE {
                    let order = self.load(&SWAP);
                    for word in &mut words {
                        // SAFETY: `self` proves AVX2, and this accesses no memory.
                        *word = unsafe { _mm256_shuffle_epi8(*word, order) };
                    }
                }
                words
            }
        }
    };
}

vector!(
    u32,
    8,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_cmpeq_epi32,
    _mm256_sll_epi32,
    _mm256_srl_epi32,
    transpose_u32,
    0x0001_0203
);
vector!(
    u64,
    4,
    _mm256_set1_epi64x,
    _mm256_add_epi64,
    _mm256_cmpeq_epi64,
    _mm256_sll_epi64,
    _mm256_srl_epi64,
    transpose_u64,
    0x0001_0203_0405_0607
);

impl Avx2 {
    /// Transposes two sets of 8 rows of 8 words.
    #[inline(always)]
    fn transpose_u32(self, rows: [__m256i; 16]) -> [__m256i; 16] {
        let mut words = rows;
        for half in [0, 8] {
            // In `quads[q + j]`, the low 128 bits hold word `j` of rows `q` to `q + 3`, and the high ones
            // word `j + 4`.
            let mut quads = [rows[0]; 8];
            for q in [0, 4] {
                let [a, b] = [rows[half + q], rows[half + q + 1]];
                let [c, d] = [rows[half + q + 2], rows[half + q + 3]];
                // SAFETY: `self` proves AVX2, and these access no memory.
                unsafe {
                    let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
                    let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
                    quads[q] = _mm256_unpacklo_epi64(ab_low, cd_low);
                    quads[q + 1] = _mm256_unpackhi_epi64(ab_low, cd_low);
                    quads[q + 2] = _mm256_unpacklo_epi64(ab_high, cd_high);
                    quads[q + 3] = _mm256_unpackhi_epi64(ab_high, cd_high);
                }
            }
            for j in 0..4 {
                // SAFETY: `self` proves AVX2, and these access no memory.
                unsafe {
                    words[half + j] = _mm256_permute2x128_si256::<0x20>(quads[j], quads[j + 4]);
                    words[half + j + 4] = _mm256_permute2x128_si256::<0x31>(quads[j], quads[j + 4]);
                }
            }
        }
        words
    }

    /// Transposes four sets of 4 rows of 4 words.
    #[inline(always)]
    fn transpose_u64(self, rows: [__m256i; 16]) -> [__m256i; 16] {
        let mut words = rows;
        for quarter in [0, 4, 8, 12] {
            let [a, b] = [rows[quarter], rows[quarter + 1]];
            let [c, d] = [rows[quarter + 2], rows[quarter + 3]];
            // SAFETY: `self` proves AVX2, and these access no memory.
            unsafe {
                let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
                let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
                words[quarter] = _mm256_permute2x128_si256::<0x20>(ab_even, cd_even);
                words[quarter + 1] = _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd);
                words[quarter + 2] = _mm256_permute2x128_si256::<0x31>(ab_even, cd_even);
                words[quarter + 3] = _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd);
            }
        }
        words
    }
}
