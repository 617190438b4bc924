//! Vector operations of aarch64.
//!
//! The crates use the SHA extensions by themselves. Their MD5 has no vectors, so only this function has a kernel here. Its
//! speed was not measured on hardware.

#![expect(unsafe_code, reason = "intrinsics that load and store are unsafe")]

use std::arch::aarch64::*;

use super::{Counters, Kernel, Pair, Vector, compress_busy_half, generic};
use crate::function::Md5;

/// Proof that this CPU has vectors of 128 bits (NEON). Every CPU that Rust calls `aarch64` has them, and the compiler uses them
/// everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// Returns the proof. The order of bytes in vectors was only examined on little-endian CPUs.
    pub(crate) fn detect() -> Option<Self> {
        cfg!(target_endian = "little").then_some(Self(()))
    }
}

/// 8 messages in two vectors.
impl Kernel<Md5, 8, 4> for Neon {
    fn compress(self, state: &mut [[u32; 8]; 4], data: &[&[u8]; 8], counters: &Counters<8>, _: u32) {
        generic::md5(Pair(self), state, data, counters);
    }
}

/// Every step of MD5 waits for the one before, about 15 cycles (the sum of the latencies in the manual of the Cortex-A72). So
/// 16 messages in four vectors take little longer than 4 in one. At most 8 use two vectors.
impl Kernel<Md5, 16, 4> for Neon {
    fn compress(self, state: &mut [[u32; 16]; 4], data: &[&[u8]; 16], counters: &Counters<16>, busy: u32) {
        if !compress_busy_half(self, state, data, busy) {
            generic::md5(Pair(Pair(self)), state, data, counters);
        }
    }
}

/// Operations that access no memory.
macro_rules! operations {
    ($($name:ident($($operand:ident),+) => $result:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($operand: uint32x4_t),+) -> uint32x4_t {
            // SAFETY: `self` proves NEON, and this accesses no memory.
            unsafe { $result }
        }
    )*};
}

impl Vector<u32, 4> for Neon {
    type V = uint32x4_t;

    #[inline(always)]
    fn load(self, from: &[u32; 4]) -> uint32x4_t {
        // SAFETY: `from` is 16 readable bytes, this load needs no alignment, and `self` proves NEON.
        unsafe { vld1q_u32(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, v: uint32x4_t, to: &mut [u32; 4]) {
        // SAFETY: `to` is 16 writable bytes, this store needs no alignment, and `self` proves NEON.
        unsafe { vst1q_u32(to.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn splat(self, word: u32) -> uint32x4_t {
        // SAFETY: `self` proves NEON, and this accesses no memory.
        unsafe { vdupq_n_u32(word) }
    }
    operations! {
        add(a, b) => vaddq_u32(a, b);
        xor(a, b) => veorq_u32(a, b);
        xor3(a, b, c) => veorq_u32(veorq_u32(a, b), c);
        choose(a, b, c) => vbslq_u32(a, b, c);
        majority(a, b, c) => vbslq_u32(veorq_u32(a, b), c, b);
        xor_or_not(a, b, c) => veorq_u32(a, vornq_u32(b, c));
        equal(a, b) => vceqq_u32(a, b);
    }
    #[inline(always)]
    fn rotate<const N: i32>(self, v: uint32x4_t) -> uint32x4_t {
        // The counts are constants, so the compiler turns these into shifts by immediates.
        // SAFETY: `self` proves NEON, and these access no memory.
        unsafe {
            let left = vshlq_u32(v, vdupq_n_s32(u32::BITS as i32 - N));
            vorrq_u32(left, vshlq_u32(v, vdupq_n_s32(-N)))
        }
    }
    #[inline(always)]
    fn shift<const N: u32>(self, v: uint32x4_t) -> uint32x4_t {
        // SAFETY: `self` proves NEON, and these access no memory.
        unsafe { vshlq_u32(v, vdupq_n_s32(-(N as i32))) }
    }
    #[inline(always)]
    fn words<const BE: bool>(self, data: &[&[u8]; 4], at: usize) -> [uint32x4_t; 16] {
        let mut words = [self.splat(0); 16];
        let blocks = data.map(|message| message[at..at + 64].as_chunks::<16>().0);
        for (part, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let rows = blocks.map(|block| {
                // SAFETY: `block[part]` is 16 readable bytes, this load needs no alignment, and `self` proves NEON.
                unsafe {
                    let bytes = vld1q_u8(block[part].as_ptr());
                    vreinterpretq_u32_u8(if BE { vrev32q_u8(bytes) } else { bytes })
                }
            });
            *words = self.transpose(rows);
        }
        words
    }
}

impl Neon {
    /// Transposes 4 rows of 4 words.
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
        // SAFETY: `self` proves NEON, and these access no memory.
        unsafe {
            // Words 0 and 2 of two rows, then their words 1 and 3.
            let [ab_even, ab_odd] = [vtrn1q_u32(a, b), vtrn2q_u32(a, b)].map(|v| vreinterpretq_u64_u32(v));
            let [cd_even, cd_odd] = [vtrn1q_u32(c, d), vtrn2q_u32(c, d)].map(|v| vreinterpretq_u64_u32(v));
            let low = [vtrn1q_u64(ab_even, cd_even), vtrn1q_u64(ab_odd, cd_odd)];
            let high = [vtrn2q_u64(ab_even, cd_even), vtrn2q_u64(ab_odd, cd_odd)];
            [low[0], low[1], high[0], high[1]].map(|v| vreinterpretq_u32_u64(v))
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::arch::Portable;

    /// The operations that MD5 does not use are tested here; `tests/engines.rs` tests the digests.
    #[test]
    fn each_operation_equals_that_on_single_words() {
        let neon = Neon::detect().unwrap();
        let mut random = Rng::with_seed(1);
        let read = |v| {
            let mut words = [0; 4];
            neon.store(v, &mut words);
            words
        };
        for _ in 0..1000 {
            let [a, b, c]: [[u32; 4]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random.u32(..)));
            let [x, y, z] = [a, b, c].map(|words| neon.load(&words));
            let each = |f: fn(u32, u32, u32) -> u32| std::array::from_fn(|nth| f(a[nth], b[nth], c[nth]));
            assert_eq!(read(neon.splat(a[0])), [a[0]; 4]);
            assert_eq!(read(neon.add(x, y)), each(|a, b, _| Vector::<u32, 1>::add(Portable, a, b)));
            assert_eq!(read(neon.xor(x, y)), each(|a, b, _| Vector::<u32, 1>::xor(Portable, a, b)));
            assert_eq!(read(neon.xor3(x, y, z)), each(|a, b, c| Vector::<u32, 1>::xor3(Portable, a, b, c)));
            assert_eq!(
                read(neon.choose(x, y, z)),
                each(|a, b, c| Vector::<u32, 1>::choose(Portable, a, b, c))
            );
            assert_eq!(
                read(neon.majority(x, y, z)),
                each(|a, b, c| Vector::<u32, 1>::majority(Portable, a, b, c))
            );
            assert_eq!(
                read(neon.xor_or_not(x, y, z)),
                each(|a, b, c| Vector::<u32, 1>::xor_or_not(Portable, a, b, c))
            );
            let same = [a[0], b[1], a[2], b[3]];
            assert_eq!(
                read(neon.equal(x, neon.load(&same))),
                [0, 1, 2, 3].map(|nth| if a[nth] == same[nth] { u32::MAX } else { 0 })
            );
            assert_eq!(read(neon.rotate::<7>(x)), a.map(|word| word.rotate_right(7)));
            assert_eq!(read(neon.rotate::<25>(x)), a.map(|word| word.rotate_right(25)));
            assert_eq!(read(neon.shift::<3>(x)), a.map(|word| word >> 3));
        }
    }

    #[test]
    fn words_are_those_of_each_message() {
        let neon = Neon::detect().unwrap();
        let bytes: [[u8; 100]; 4] =
            std::array::from_fn(|lane| std::array::from_fn(|nth| (100 * lane + 3 * nth) as u8));
        let data = bytes.each_ref().map(|bytes| &bytes[..]);
        for at in [0, 1, 33] {
            let (little, big) = (neon.words::<false>(&data, at), neon.words::<true>(&data, at));
            for nth in 0..16 {
                let of = bytes.map(|bytes| bytes[at + 4 * nth..][..4].try_into().unwrap());
                let mut words = [[0; 4]; 2];
                neon.store(little[nth], &mut words[0]);
                neon.store(big[nth], &mut words[1]);
                assert_eq!(words, [of.map(u32::from_le_bytes), of.map(u32::from_be_bytes)], "{at} {nth}");
            }
        }
    }
}
