//! Vector operations of x86-64.

#![expect(unsafe_code, reason = "intrinsics that load, store, or need a CPU feature are unsafe")]

mod avx2;
mod avx512;
mod cpu;
mod sha_ni;
mod single;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;
pub(crate) use cpu::CPU;
pub(crate) use sha_ni::ShaNi;

/// Implements `Kernel` for a vector type. Instantiates each compression function inside a function that has
/// the target features. Functions that differ only in the length of their digests share it.
macro_rules! kernels {
    ($proof:ident, $features:literal: $($(const $len:ident =>)? $function:ty, $word:ty, $lanes:literal x $words:literal, $compress:path;)*) => {$(
        impl$(<const $len: usize>)? Kernel<$function, $lanes, $words> for $proof {
            fn compress(
                self,
                state: &mut [[$word; $lanes]; $words],
                data: &[&[u8]; $lanes],
                counters: &Counters<$lanes>,
                _: u32,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    proof: $proof,
                    state: &mut [[$word; $lanes]; $words],
                    data: &[&[u8]; $lanes],
                    counters: &Counters<$lanes>,
                ) {
                    $compress(proof, state, data, counters);
                }
                // SAFETY: a value of this type exists only if its `detect` found these features on this CPU.
                unsafe { run(self, state, data, counters) }
            }
        }
    )*};
}
use kernels;

/// Implements `NodeKernel` for a vector type in the same way as `kernels`.
macro_rules! node_kernel {
    ($proof:ident, $features:literal, $lanes:literal) => {
        impl NodeKernel<$lanes> for $proof {
            fn hash(self, data: &[&[u8]; $lanes], nodes: &Nodes<$lanes>) -> [[u32; $lanes]; 8] {
                #[target_feature(enable = $features)]
                fn run(proof: $proof, data: &[&[u8]; $lanes], nodes: &Nodes<$lanes>) -> [[u32; $lanes]; 8] {
                    generic::blake3(proof, data, nodes)
                }
                // SAFETY: a value of this type exists only if its `detect` found these features on this CPU.
                unsafe { run(self, data, nodes) }
            }
        }
    };
}
use node_kernel;

#[cfg(test)]
mod tests {
    //! These tests skip kernels that this CPU does not support. The tests of whole engines report the skipped
    //! ones.

    use fastrand::Rng;

    use super::*;
    use crate::arch::{Counters, Kernel, Narrow, NodeKernel, Nodes, Portable};
    use crate::function::{Blake2b, Function, Md5, Sha1, Sha256, Sha512};

    /// Compares `kernel` with the portable one, for random states, random data at any alignment, zero to six
    /// blocks, and random 64-bit counters.
    fn check<F, K, const L: usize, const W: usize>(kernel: K)
    where
        F: Function<W, Word: TryFrom<u64> + PartialEq + std::fmt::Debug>,
        K: Kernel<F, L, W>,
        Portable: Kernel<F, L, W>,
    {
        let mut random = Rng::with_seed(1);
        for n_blocks in (0..=6).cycle().take(70) {
            let len = n_blocks * F::BLOCK;
            let bytes: [Vec<u8>; L] = std::array::from_fn(|_| (0..len + 64).map(|_| random.u8(..)).collect());
            let data = bytes.each_ref().map(|bytes| &bytes[random.usize(..64)..][..len]);
            let word = |random: &mut Rng| {
                let bits = random.u64(..);
                F::Word::try_from(bits).or(F::Word::try_from(bits >> 32)).unwrap_or_default()
            };
            let mut state: [[F::Word; L]; W] =
                std::array::from_fn(|_| std::array::from_fn(|_| word(&mut random)));
            let counters = Counters {
                count: std::array::from_fn(|_| random.u64(..)),
                last: std::array::from_fn(|_| random.u64(..2).wrapping_neg()),
            };
            let mut expected = state;
            // All lanes, those of a half, or any.
            let lanes = u32::MAX >> (32 - L);
            let busy = match random.u8(..4) {
                0 => lanes,
                1 => lanes << (L / 2) & lanes,
                2 => lanes >> (L / 2),
                _ => (random.u32(..) & lanes).max(1),
            };
            Portable.compress(&mut expected, &data, &counters, busy);
            kernel.compress(&mut state, &data, &counters, busy);
            for lane in (0..L).filter(|lane| busy >> lane & 1 == 1) {
                let column = |state: &[[F::Word; L]; W]| state.map(|row| row[lane]);
                assert_eq!(column(&state), column(&expected), "{n_blocks} blocks, lane {lane} of {busy:b}");
            }
        }
    }

    /// Compares the kernel for one message with the portable one, for random states, and random data at any
    /// alignment, of as many blocks as make up to three groups with a remainder.
    fn check_one<F, K, const W: usize>(kernel: K)
    where
        F: Function<W, Word: TryFrom<u64> + PartialEq + std::fmt::Debug>,
        K: Narrow<F, W>,
        Portable: Narrow<F, W>,
    {
        let mut random = Rng::with_seed(4);
        let bytes: Vec<u8> = (0..30 * F::BLOCK + 64).map(|_| random.u8(..)).collect();
        let counters = Counters { count: [0], last: [0] };
        for n_blocks in (0..=30).cycle().take(100) {
            let data = &bytes[random.usize(..64)..][..n_blocks * F::BLOCK];
            let mut state: [F::Word; W] = std::array::from_fn(|_| {
                let bits = random.u64(..);
                F::Word::try_from(bits).or(F::Word::try_from(bits >> 32)).unwrap_or_default()
            });
            let mut expected = state;
            Portable.one(&mut expected, data, &counters);
            kernel.one(&mut state, data, &counters);
            assert_eq!(state, expected, "{n_blocks} blocks");
        }
    }

    /// Compares a node kernel with the portable one, for lanes that end in any block, with any flags.
    fn check_nodes<K: NodeKernel<L>, const L: usize>(kernel: K) {
        let mut random = Rng::with_seed(3);
        for n_blocks in (1..=16).cycle().take(70) {
            let len = n_blocks * 64;
            let bytes: [Vec<u8>; L] = std::array::from_fn(|_| (0..len + 64).map(|_| random.u8(..)).collect());
            let data = bytes.each_ref().map(|bytes| &bytes[random.usize(..64)..][..len]);
            let mut words = |below: u64| std::array::from_fn(|_| random.u64(..below) as u32);
            let nodes = Nodes {
                chunk: words(1 << 32),
                first: n_blocks as u32 % 8,
                last: words(16),
                last_block: words(n_blocks as u64),
                last_len: words(65),
            };
            assert_eq!(kernel.hash(&data, &nodes), Portable.hash(&data, &nodes), "{n_blocks} blocks");
        }
    }

    #[test]
    fn avx512_kernels_match_the_portable_ones() {
        let Some(avx512) = Avx512::detect() else { return };
        check::<Sha256, _, 16, 8>(avx512);
        check::<Sha1, _, 16, 5>(avx512);
        check::<Md5, _, 16, 4>(avx512);
        check::<Sha512, _, 8, 8>(avx512);
        check::<Blake2b, _, 8, 8>(avx512);
        check_nodes::<_, 16>(avx512);
    }

    #[test]
    fn avx2_kernels_match_the_portable_ones() {
        let Some(avx2) = Avx2::detect() else { return };
        check::<Sha256, _, 8, 8>(avx2);
        check::<Sha1, _, 8, 5>(avx2);
        check::<Md5, _, 8, 4>(avx2);
        check::<Md5, _, 16, 4>(avx2);
        check::<Sha512, _, 4, 8>(avx2);
        check::<Blake2b, _, 4, 8>(avx2);
        check_nodes::<_, 8>(avx2);
        check_one::<Sha256, _, 8>(avx2);
        check_one::<Sha512, _, 8>(avx2);
        check_one::<Sha1, _, 5>(avx2);
        check_one::<Md5, _, 4>(avx2);
    }

    #[test]
    fn sha_ni_kernel_matches_the_portable_one() {
        let Some(sha_ni) = ShaNi::detect() else { return };
        check::<Sha256, _, 2, 8>(sha_ni);
        check_one::<Sha256, _, 8>(sha_ni);
        check_one::<Sha1, _, 5>(sha_ni);
    }
}
