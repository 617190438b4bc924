//! The interface of compression functions to the engines.

use crate::function::Function;

/// The inputs of BLAKE2b's compression function besides state and data, for `L` messages. Other functions
/// ignore them.
#[derive(Clone, Copy)]
pub(crate) struct Counters<const L: usize> {
    /// Number of message bytes up to and including the first block of the call.
    pub(crate) count: [u64; L],
    /// All ones if that block is the last of its message, otherwise zero. A last block is always passed
    /// alone.
    pub(crate) last: [u64; L],
}

/// Compresses blocks of `L` messages side by side. A value of the type proves that this CPU has the
/// instructions.
pub(crate) trait Kernel<F: Function<W>, const L: usize, const W: usize>: Copy + 'static {
    /// Compresses all blocks of `data` into the lanes of `state`. All lanes have equally many bytes. `busy` is a bit mask
    /// of the lanes whose results are used, with at least one bit; the others may get any state.
    ///
    /// # Panics
    /// If the lanes differ in length.
    fn compress(self, state: &mut [[F::Word; L]; W], data: &[&[u8]; L], counters: &Counters<L>, busy: u32);
}

/// Compresses blocks of one or two messages, for engines with too few messages to fill the lanes.
pub(crate) trait Narrow<F: Function<W>, const W: usize>: Copy + Send + Sync + 'static {
    /// Compresses all blocks of one message.
    fn one(self, state: &mut [F::Word; W], data: &[u8], counters: &Counters<1>);

    /// Compresses all blocks of two messages with equally many blocks.
    fn two(self, state: [&mut [F::Word; W]; 2], data: [&[u8]; 2], counters: &Counters<2>) {
        let [first, second] = state;
        let Counters { count, last } = counters;
        self.one(first, data[0], &Counters { count: [count[0]], last: [last[0]] });
        self.one(second, data[1], &Counters { count: [count[1]], last: [last[1]] });
    }
}

/// The inputs of BLAKE3's compression function besides chaining value and data, for `L` nodes.
#[derive(Clone, Copy)]
pub(crate) struct Nodes<const L: usize> {
    /// The chunk number, or zero for a parent. 32 bits suffice, since messages that are hashed side by side
    /// are short.
    pub(crate) chunk: [u32; L],
    /// The flags of the first block of every node.
    pub(crate) first: u32,
    /// The additional flags of the last block.
    pub(crate) last: [u32; L],
    /// The index of the last block.
    pub(crate) last_block: [u32; L],
    /// The number of bytes in the last block.
    pub(crate) last_len: [u32; L],
}

impl<const L: usize> Nodes<L> {
    /// Creates nodes of one block with zero bytes, whose first block has the flags `first`.
    pub(crate) fn new(first: u32) -> Self {
        Self { chunk: [0; L], first, last: [0; L], last_block: [0; L], last_len: [0; L] }
    }
}

/// Hashes `L` nodes of BLAKE3 trees side by side. A value of the type proves that this CPU has the
/// instructions.
pub(crate) trait NodeKernel<const L: usize>: Copy + 'static {
    /// Returns the words of the chaining value of each node. The blocks of a node are at the start of its
    /// `data`, with zeros after the last byte.
    ///
    /// # Panics
    /// If the lanes differ in length.
    fn hash(self, data: &[&[u8]; L], nodes: &Nodes<L>) -> [[u32; L]; 8];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Portable;
    use crate::function::{Md5, Sha1, Sha256, Sha512};

    /// Compares the portable kernel with external crates that can start from any state.
    #[test]
    fn portable_kernel_matches_external_crates() {
        let mut random = fastrand::Rng::with_seed(2);
        for n_blocks in 0..40 {
            let data: Vec<u8> = (0..n_blocks * 128).map(|_| random.u8(..)).collect();
            let words: [u64; 8] = std::array::from_fn(|_| random.u64(..));
            let halves = words.map(|word| word as u32);
            let counters = Counters { count: [0], last: [0] };

            let (mut ours, mut theirs) = (halves, halves);
            Narrow::<Sha256, 8>::one(Portable, &mut ours, &data, &counters);
            sha2::block_api::compress256(&mut theirs, data.as_chunks().0);
            assert_eq!(ours, theirs);

            let (mut ours, mut theirs) = (words, words);
            Narrow::<Sha512, 8>::one(Portable, &mut ours, &data, &counters);
            sha2::block_api::compress512(&mut theirs, data.as_chunks().0);
            assert_eq!(ours, theirs);

            let [a, b, c, d, e, ..] = halves;
            let (mut ours, mut theirs) = ([a, b, c, d, e], [a, b, c, d, e]);
            Narrow::<Sha1, 5>::one(Portable, &mut ours, &data, &counters);
            sha1::block_api::compress(&mut theirs, data.as_chunks().0);
            assert_eq!(ours, theirs);

            let (mut ours, mut theirs) = ([a, b, c, d], [a, b, c, d]);
            Narrow::<Md5, 4>::one(Portable, &mut ours, &data, &counters);
            md5::block_api::compress(&mut theirs, data.as_chunks().0);
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    #[should_panic(expected = "different lengths")]
    fn lanes_of_different_lengths_are_refused() {
        let mut state = [[0; 2]; 8];
        let counters = Counters { count: [0; 2], last: [0; 2] };
        Kernel::<Sha256, 2, 8>::compress(Portable, &mut state, &[&[0; 64], &[0; 128]], &counters, 0b11);
    }
}
