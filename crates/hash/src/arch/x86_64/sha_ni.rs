//! Kernels that use the SHA extensions: SHA-256 of one or two messages, and SHA-1 of the external crate.
//!
//! A pair of rounds waits four cycles for the previous pair. Two interleaved messages use the waiting time,
//! and take hardly longer than one.

use std::arch::x86_64::*;

use super::CPU;
use crate::arch::generic::K256;
use crate::arch::{Counters, Kernel, Narrow};
use crate::function::{Sha1, Sha256};

/// Proof that this CPU has the SHA extensions and SSE4.1. Only [`ShaNi::detect`] creates a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShaNi(());

impl ShaNi {
    /// Returns the proof if this CPU has the SHA extensions and SSE4.1.
    pub(crate) fn detect() -> Option<Self> {
        (CPU.sha && CPU.sse41).then_some(Self(()))
    }

    fn sha256_one(self, state: &mut [u32; 8], data: &[u8]) {
        // SAFETY: a `ShaNi` exists only if `detect` found these features on this CPU.
        unsafe { sha256([state], [data]) }
    }

    fn sha256_two(self, state: [&mut [u32; 8]; 2], data: [&[u8]; 2]) {
        // SAFETY: a `ShaNi` exists only if `detect` found these features on this CPU.
        unsafe { sha256(state, data) }
    }
}

impl<const LEN: usize> Narrow<Sha256<LEN>, 8> for ShaNi {
    fn one(self, state: &mut [u32; 8], data: &[u8], _: &Counters<1>) {
        self.sha256_one(state, data);
    }

    fn two(self, state: [&mut [u32; 8]; 2], data: [&[u8]; 2], _: &Counters<2>) {
        self.sha256_two(state, data);
    }
}

impl<const LEN: usize> Kernel<Sha256<LEN>, 2, 8> for ShaNi {
    fn compress(self, state: &mut [[u32; 2]; 8], data: &[&[u8]; 2], counters: &Counters<2>, _: u32) {
        let (mut first, mut second) = (state.map(|word| word[0]), state.map(|word| word[1]));
        Narrow::<Sha256<LEN>, 8>::two(self, [&mut first, &mut second], *data, counters);
        *state = std::array::from_fn(|nth| [first[nth], second[nth]]);
    }
}

impl Narrow<Sha1, 5> for ShaNi {
    /// The external crate uses the same extensions. Interleaving two messages gains nothing here, since
    /// rounds wait less than those of SHA-256.
    fn one(self, state: &mut [u32; 5], data: &[u8], _: &Counters<1>) {
        sha1::block_api::compress(state, data.as_chunks().0);
    }
}

/// Compresses `N` messages with equally many blocks.
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn sha256<const N: usize>(state: [&mut [u32; 8]; N], data: [&[u8]; N]) {
    let blocks = data[0].len() / 64;
    assert!(data.iter().all(|message| message.len() / 64 == blocks), "the messages have different lengths");
    let table = K256.as_flattened().as_chunks::<4>().0;
    let swap = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    // The instructions expect the state as (f, e, b, a) and (h, g, d, c), lowest word first.
    let mut feba = [_mm_setzero_si128(); N];
    let mut hgdc = [_mm_setzero_si128(); N];
    for n in 0..N {
        let [a, b, c, d, e, f, g, h] = state[n].map(u32::cast_signed);
        feba[n] = _mm_set_epi32(a, b, e, f);
        hgdc[n] = _mm_set_epi32(c, d, g, h);
    }
    for nth in 0..blocks {
        let (old_feba, old_hgdc) = (feba, hgdc);
        let mut w = [[_mm_setzero_si128(); 4]; N];
        for n in 0..N {
            let block = &data[n][64 * nth..64 * nth + 64];
            for (words, bytes) in w[n].iter_mut().zip(block.as_chunks::<16>().0) {
                // SAFETY: `bytes` is 16 readable bytes, and this load needs no alignment.
                *words = _mm_shuffle_epi8(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }, swap);
            }
        }
        // Four rounds. `w[i % 4]` holds W[4 i..4 i + 4]. It becomes W[4 i + 16..4 i + 20] in two steps:
        // `sha256msg1` as soon as the next four words are known, and `sha256msg2` once the last of the next
        // three groups is known.
        macro_rules! four {
            ($($i:literal)*) => {$(
                // SAFETY: `table[i]` is 16 readable bytes, and this load needs no alignment.
                let k = unsafe { _mm_loadu_si128(table[$i].as_ptr().cast()) };
                for n in 0..N {
                    let w = &mut w[n];
                    let now = w[$i % 4];
                    let sum = _mm_add_epi32(now, k);
                    hgdc[n] = _mm_sha256rnds2_epu32(hgdc[n], feba[n], sum);
                    feba[n] = _mm_sha256rnds2_epu32(feba[n], hgdc[n], _mm_shuffle_epi32::<0x0e>(sum));
                    if (3..15).contains(&$i) {
                        let next = _mm_add_epi32(w[($i + 1) % 4], _mm_alignr_epi8::<4>(now, w[($i + 3) % 4]));
                        w[($i + 1) % 4] = _mm_sha256msg2_epu32(next, now);
                    }
                    if (1..13).contains(&$i) {
                        w[($i + 3) % 4] = _mm_sha256msg1_epu32(w[($i + 3) % 4], now);
                    }
                }
            )*};
        }
        four!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for n in 0..N {
            feba[n] = _mm_add_epi32(feba[n], old_feba[n]);
            hgdc[n] = _mm_add_epi32(hgdc[n], old_hgdc[n]);
        }
    }
    for (n, state) in state.into_iter().enumerate() {
        let mut words = [[0_u32; 4]; 2];
        for (half, v) in words.iter_mut().zip([feba[n], hgdc[n]]) {
            // SAFETY: `half` is 16 writable bytes, and this store needs no alignment.
            unsafe { _mm_storeu_si128(half.as_mut_ptr().cast(), v) };
        }
        let [[f, e, b, a], [h, g, d, c]] = words;
        *state = [a, b, c, d, e, f, g, h];
    }
}
