//! Vector operations on 512 bits.

use std::arch::x86_64::*;

use super::{Avx2, CPU, kernels, node_kernel};
use crate::arch::{Counters, Kernel, NodeKernel, Nodes, Vector, generic};
use crate::function::{Blake2b, Md5, Sha1, Sha256, Sha512};

/// Proof that this CPU has AVX-512 F, BW and VL, and what [`Avx2`] proves. Only [`Avx512::detect`] creates a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(Avx2);

impl Avx512 {
    /// Returns the proof if this CPU has these instructions.
    pub(crate) fn detect() -> Option<Self> {
        let avx512 = CPU.avx512f && CPU.avx512bw && CPU.avx512vl;
        Avx2::detect().filter(|_| avx512).map(Self)
    }

    /// Returns the proof of the smaller instruction set.
    pub(crate) fn avx2(self) -> Avx2 {
        self.0
    }
}

kernels! {
    Avx512, "avx512f,avx512bw,avx512vl":
    const LEN => Sha256<LEN>, u32, 16 x 8, generic::sha256;
    Sha1, u32, 16 x 5, generic::sha1;
    Md5, u32, 16 x 4, generic::md5;
    const LEN => Sha512<LEN>, u64, 8 x 8, generic::sha512;
    Blake2b, u64, 8 x 8, generic::blake2b;
}

node_kernel!(Avx512, "avx512f,avx512bw,avx512vl", 16);

macro_rules! vector {
    ($word:ty, $lanes:literal, $splat:ident, $add:ident, $equal:ident, $blend:ident, $rotate:ident, $shift:ident, $transpose:ident, $order:literal) => {
        impl Vector<$word, $lanes> for Avx512 {
            type V = __m512i;

            #[inline(always)]
            fn load(self, from: &[$word; $lanes]) -> __m512i {
                // SAFETY: `from` is 64 readable bytes, this load needs no alignment, and `self` proves AVX-512.
                unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, v: __m512i, to: &mut [$word; $lanes]) {
                // SAFETY: `to` is 64 writable bytes, this store needs no alignment, and `self` proves AVX-512.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn splat(self, word: $word) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { $splat(word.cast_signed()) }
            }
            #[inline(always)]
            fn add(self, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            fn xor(self, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { _mm512_xor_si512(a, b) }
            }
            #[inline(always)]
            fn xor3(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { _mm512_ternarylogic_epi32::<0x96>(a, b, c) }
            }
            #[inline(always)]
            fn choose(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { _mm512_ternarylogic_epi32::<0xca>(a, b, c) }
            }
            #[inline(always)]
            fn majority(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { _mm512_ternarylogic_epi32::<0xe8>(a, b, c) }
            }
            #[inline(always)]
            fn xor_or_not(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { _mm512_ternarylogic_epi32::<0x2d>(a, b, c) }
            }
            #[inline(always)]
            fn equal(self, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { $blend($equal(a, b), _mm512_setzero_si512(), _mm512_set1_epi32(-1)) }
            }
            #[inline(always)]
            fn rotate<const N: i32>(self, v: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { $rotate::<N>(v) }
            }
            #[inline(always)]
            fn shift<const N: u32>(self, v: __m512i) -> __m512i {
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                unsafe { $shift::<N>(v) }
            }
            #[inline(always)]
            fn words<const BE: bool>(self, data: &[&[u8]; $lanes], at: usize) -> [__m512i; 16] {
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
                // SAFETY: `self` proves AVX-512, and this accesses no memory.
                let mut rows = unsafe { [_mm512_setzero_si512(); 16] };
                for (lane, message) in data.iter().enumerate() {
                    let block = &message[at..at + 16 * size_of::<$word>()];
                    for (part, bytes) in block.as_chunks::<64>().0.iter().enumerate() {
                        // SAFETY: `bytes` is 64 readable bytes, this load needs no alignment, and `self`
                        // proves AVX-512.
                        rows[part * $lanes + lane] = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
                    }
                }
                let mut words = self.$transpose(rows);
                if BE {
                    let order = self.load(&SWAP);
                    for word in &mut words {
                        // SAFETY: `self` proves AVX-512, and this accesses no memory.
                        *word = unsafe { _mm512_shuffle_epi8(*word, order) };
                    }
                }
                words
            }
        }
    };
}

vector!(
    u32,
    16,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_cmpeq_epi32_mask,
    _mm512_mask_blend_epi32,
    _mm512_ror_epi32,
    _mm512_srli_epi32,
    transpose_u32,
    0x0001_0203
);
vector!(
    u64,
    8,
    _mm512_set1_epi64,
    _mm512_add_epi64,
    _mm512_cmpeq_epi64_mask,
    _mm512_mask_blend_epi64,
    _mm512_ror_epi64,
    _mm512_srli_epi64,
    transpose_u64,
    0x0001_0203_0405_0607
);

impl Avx512 {
    /// Transposes 16 rows of 16 words.
    #[inline(always)]
    fn transpose_u32(self, rows: [__m512i; 16]) -> [__m512i; 16] {
        let mut words = rows;
        // Each 128-bit part of `quads[4 * q + j]` will hold word `j`, `j + 4`, `j + 8` or `j + 12` of rows 4
        // q to 4 q + 3.
        let mut quads = rows;
        for q in 0..4 {
            let [a, b, c, d] = [rows[4 * q], rows[4 * q + 1], rows[4 * q + 2], rows[4 * q + 3]];
            // SAFETY: `self` proves AVX-512, and these access no memory.
            unsafe {
                let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
                let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
                quads[4 * q] = _mm512_unpacklo_epi64(ab_low, cd_low);
                quads[4 * q + 1] = _mm512_unpackhi_epi64(ab_low, cd_low);
                quads[4 * q + 2] = _mm512_unpacklo_epi64(ab_high, cd_high);
                quads[4 * q + 3] = _mm512_unpackhi_epi64(ab_high, cd_high);
            }
        }
        for j in 0..4 {
            let columns = self.transpose_u128([quads[j], quads[j + 4], quads[j + 8], quads[j + 12]]);
            for (nth, column) in columns.into_iter().enumerate() {
                words[4 * nth + j] = column;
            }
        }
        words
    }

    /// Transposes two sets of 8 rows of 8 words.
    #[inline(always)]
    fn transpose_u64(self, rows: [__m512i; 16]) -> [__m512i; 16] {
        let mut words = rows;
        for half in [0, 8] {
            let mut even = [rows[0]; 4];
            let mut odd = [rows[0]; 4];
            for q in 0..4 {
                let (a, b) = (rows[half + 2 * q], rows[half + 2 * q + 1]);
                // SAFETY: `self` proves AVX-512, and these access no memory.
                unsafe {
                    even[q] = _mm512_unpacklo_epi64(a, b);
                    odd[q] = _mm512_unpackhi_epi64(a, b);
                }
            }
            let (even, odd) = (self.transpose_u128(even), self.transpose_u128(odd));
            for nth in 0..4 {
                words[half + 2 * nth] = even[nth];
                words[half + 2 * nth + 1] = odd[nth];
            }
        }
        words
    }

    /// Transposes 4 rows of four 128-bit parts.
    #[inline(always)]
    fn transpose_u128(self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        // Selector 0x88 picks parts 0 and 2 of either operand, 0xdd parts 1 and 3.
        // SAFETY: `self` proves AVX-512, and these access no memory.
        unsafe {
            let (ab_even, ab_odd) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xdd>(a, b));
            let (cd_even, cd_odd) = (_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xdd>(c, d));
            [
                _mm512_shuffle_i32x4::<0x88>(ab_even, cd_even),
                _mm512_shuffle_i32x4::<0x88>(ab_odd, cd_odd),
                _mm512_shuffle_i32x4::<0xdd>(ab_even, cd_even),
                _mm512_shuffle_i32x4::<0xdd>(ab_odd, cd_odd),
            ]
        }
    }
}
