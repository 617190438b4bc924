//! Hashes messages of one block. They need no engine, since no state has to be kept between pieces.

use crate::Digest;
use crate::arch::{Counters, Kernel, Narrow};
use crate::function::{Function, Tail};

/// Collects messages of one block each until every lane has one.
pub(crate) struct Batch<const L: usize> {
    /// The padded block of each lane.
    blocks: [Tail; L],
    /// The length of the last message in each block. The padding is reused if the next message in that block
    /// is equally long, as for keys and numbers of fixed width.
    lens: [usize; L],
    /// The index of each message in the output.
    places: [usize; L],
    n: usize,
}

impl<const L: usize> Batch<L> {
    pub(crate) fn new() -> Self {
        Self { blocks: [[0; size_of::<Tail>()]; L], lens: [usize::MAX; L], places: [0; L], n: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.n == L
    }

    /// Adds the message with index `place`. It has at most [`Function::SHORT`] bytes. The batch must not be
    /// full.
    pub(crate) fn push<F: Function<W>, const W: usize>(&mut self, place: usize, message: &[u8]) {
        let (block, len) = (&mut self.blocks[self.n], message.len());
        block[..len].copy_from_slice(message);
        if self.lens[self.n] != len {
            F::pad(block, len, len as u64);
            self.lens[self.n] = len;
        }
        self.places[self.n] = place;
        self.n += 1;
    }

    /// Writes the digests of the collected messages to `out` and empties the batch. If there are at most
    /// `few` messages, `narrow` hashes them one by one.
    pub(crate) fn flush<F, K, N, const W: usize>(
        &mut self,
        kernel: K,
        narrow: N,
        few: u32,
        out: &mut [Digest],
    ) where
        F: Function<W>,
        K: Kernel<F, L, W>,
        N: Narrow<F, W>,
    {
        let n = std::mem::take(&mut self.n);
        if n <= few as usize {
            for lane in 0..n {
                let counters = Counters { count: [self.lens[lane] as u64], last: [u64::MAX] };
                let mut words = F::INIT;
                narrow.one(&mut words, &self.blocks[lane][..F::BLOCK], &counters);
                out[self.places[lane]] = F::digest(&words);
            }
            return;
        }
        let mut state = F::INIT.map(|word| [word; L]);
        let counters = Counters { count: self.lens.map(|len| len as u64), last: [u64::MAX; L] };
        let blocks = self.blocks.each_ref().map(|block| &block[..F::BLOCK]);
        kernel.compress(&mut state, &blocks, &counters, u32::MAX >> (32 - n));
        for (lane, place) in self.places[..n].iter().enumerate() {
            out[*place] = F::digest(&state.each_ref().map(|row| row[lane]));
        }
    }
}
