//! One message that is hashed piece by piece.

use crate::Digest;
use crate::arch::{Counters, Narrow};
use crate::function::Function;
use crate::lane::{Carry, Lane};
use crate::stream::Stream;

/// The state of a message, whatever its hash function is.
pub(crate) trait Message: Send + Sync {
    /// Hashes the next bytes.
    fn update(&mut self, data: &[u8]);
    /// Returns the digest of all bytes.
    fn finish(self: Box<Self>) -> Digest;
    /// Returns a copy of the state.
    fn duplicate(&self) -> Box<dyn Message>;
}

impl<H: Stream> Message for H {
    fn update(&mut self, data: &[u8]) {
        Stream::update(self, data);
    }

    fn finish(self: Box<Self>) -> Digest {
        Stream::finish(*self)
    }

    fn duplicate(&self) -> Box<dyn Message> {
        Box::new(self.clone())
    }
}

/// The state of a message of an iterated hash function. The engine with many lanes compresses single messages with the
/// same kernel.
pub(crate) struct Blocks<F: Function<W>, N, const W: usize> {
    narrow: N,
    state: [F::Word; W],
    carry: Carry,
}

impl<F: Function<W>, N: Narrow<F, W>, const W: usize> Blocks<F, N, W> {
    pub(crate) fn new(narrow: N) -> Self {
        Self { narrow, state: F::INIT, carry: Carry::default() }
    }

    /// Hashes a piece, which is the last one if `end`.
    fn feed(&mut self, data: &[u8], end: bool) {
        let mut lane = Lane::new(0, end, data);
        while !lane.is_last() && lane.find_run::<F, W>(&mut self.carry) {
            let (count, last) = lane.counter::<F, W>(&self.carry);
            let len = lane.left();
            let counters = Counters { count: [count], last: [last] };
            self.narrow.one(&mut self.state, lane.next(&self.carry, len), &counters);
            lane.advance(&mut self.carry, len);
        }
    }
}

impl<F: Function<W>, N: Narrow<F, W>, const W: usize> Message for Blocks<F, N, W> {
    fn update(&mut self, data: &[u8]) {
        self.feed(data, false);
    }

    fn finish(mut self: Box<Self>) -> Digest {
        self.feed(&[], true);
        F::digest(&self.state)
    }

    fn duplicate(&self) -> Box<dyn Message> {
        Box::new(Self { carry: self.carry.clone(), ..*self })
    }
}
