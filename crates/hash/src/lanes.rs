//! The engine that hashes many messages at once, one in each lane of a vector.
//!
//! Every lane has a run of whole blocks. All lanes advance together by the length of the shortest run. The
//! lane whose run is finished then gets its next run. If its piece has no further run, the piece is given
//! back and the lane is free for another message.
//!
//! The state of a message between two pieces is stored under its key, so there can be more keys than lanes.
//! While few lanes are busy, a vector would be mostly idle; then [`Narrow`] compresses one or two messages at
//! a time.

use crate::arch::{Counters, Kernel, Narrow};
use crate::batch::Batch;
use crate::function::Function;
use crate::lane::{Carry, Lane};
use crate::{Digest, Engine, Event};

/// Hashes `L` messages side by side.
pub(crate) struct Lanes<F: Function<W>, K, N, D, const L: usize, const W: usize> {
    kernel: K,
    narrow: N,
    /// Up to this many busy lanes are compressed by `narrow`.
    few: u32,
    state: [[F::Word; L]; W],
    lanes: [Option<Lane<D>>; L],
    /// The state of the message in each lane.
    carries: [Carry; L],
    /// A bit mask of the lanes that hold a piece.
    busy: u32,
    /// The state of each started message that has no piece in a lane, by key. Boxed, so that a key costs only
    /// a pointer as long as it is unused or has messages of a single piece.
    parked: Vec<Option<Box<Parked<F::Word, W>>>>,
}

struct Parked<Word, const W: usize> {
    state: [Word; W],
    carry: Carry,
}

impl<F: Function<W>, K, N, D, const L: usize, const W: usize> Lanes<F, K, N, D, L, W>
where
    K: Kernel<F, L, W>,
    N: Narrow<F, W>,
    D: AsRef<[u8]>,
{
    /// Creates an engine for messages with keys below `keys`. Up to `few` busy lanes are compressed by
    /// `narrow`, the kernel for one or two messages; more by `kernel`.
    pub(crate) fn new(kernel: K, narrow: N, few: u32, keys: usize) -> Self {
        Self {
            kernel,
            narrow,
            few,
            state: [[F::Word::default(); L]; W],
            lanes: [const { None }; L],
            carries: std::array::from_fn(|_| Carry::default()),
            busy: 0,
            parked: (0..keys).map(|_| None).collect(),
        }
    }

    fn column(&self, lane: usize) -> [F::Word; W] {
        self.state.each_ref().map(|row| row[lane])
    }

    fn set_column(&mut self, lane: usize, words: &[F::Word; W]) {
        for (row, word) in self.state.iter_mut().zip(words) {
            row[lane] = *word;
        }
    }

    /// Advances all busy lanes by the length of the shortest run.
    fn compress(&mut self) {
        let len = ones(self.busy).map(|nth| piece_of(&self.lanes, nth).left()).min().unwrap_or(0);
        if self.busy.count_ones() > self.few {
            self.compress_all(len);
        } else {
            let mut lanes = ones(self.busy);
            while let Some(first) = lanes.next() {
                match lanes.next() {
                    Some(second) => self.compress_two(first, second, len),
                    None => self.compress_one(first, len),
                }
            }
        }
        for nth in ones(self.busy) {
            let (lane, carry) = self.lane_mut(nth);
            lane.advance(carry, len);
        }
    }

    /// Compresses `len` bytes in all lanes. Idle lanes get the bytes of a busy one; their results are not
    /// used.
    fn compress_all(&mut self, len: usize) {
        let (lanes, carries) = (&self.lanes, &self.carries);
        let some = self.busy.trailing_zeros() as usize;
        let mut data = [piece_of(lanes, some).next(&carries[some], len); L];
        let mut counters = Counters { count: [0; L], last: [0; L] };
        for nth in ones(self.busy) {
            let (lane, carry) = (piece_of(lanes, nth), &carries[nth]);
            data[nth] = lane.next(carry, len);
            (counters.count[nth], counters.last[nth]) = lane.counter::<F, W>(carry);
        }
        self.kernel.compress(&mut self.state, &data, &counters, self.busy);
    }

    fn compress_two(&mut self, first: usize, second: usize, len: usize) {
        let (mut a, mut b) = (self.column(first), self.column(second));
        let lanes = [first, second].map(|nth| (piece_of(&self.lanes, nth), &self.carries[nth]));
        let counters = lanes.map(|(lane, carry)| lane.counter::<F, W>(carry));
        let counters = Counters { count: counters.map(|c| c.0), last: counters.map(|c| c.1) };
        self.narrow.two([&mut a, &mut b], lanes.map(|(lane, carry)| lane.next(carry, len)), &counters);
        self.set_column(first, &a);
        self.set_column(second, &b);
    }

    fn compress_one(&mut self, nth: usize, len: usize) {
        let mut words = self.column(nth);
        let (lane, carry) = (piece_of(&self.lanes, nth), &self.carries[nth]);
        let (count, last) = lane.counter::<F, W>(carry);
        self.narrow.one(&mut words, lane.next(carry, len), &Counters { count: [count], last: [last] });
        self.set_column(nth, &words);
    }

    /// Returns the piece of lane `nth`, which is used up, and frees the lane.
    fn retire(&mut self, nth: usize) -> Event<D> {
        let state = self.column(nth);
        let lane = self.lanes[nth].take().expect("a busy lane has a piece");
        self.busy &= !(1 << nth);
        let last = lane.is_last();
        let Lane { key, data, .. } = lane;
        if last {
            return Event::Done { key, data, digest: F::digest(&state) };
        }
        self.parked[key as usize] = Some(Box::new(Parked { state, carry: self.carries[nth].clone() }));
        Event::Dry { key, data }
    }

    fn lane_mut(&mut self, nth: usize) -> (&mut Lane<D>, &mut Carry) {
        (self.lanes[nth].as_mut().expect("a busy lane has a piece"), &mut self.carries[nth])
    }
}

impl<F: Function<W>, K, N, D, const L: usize, const W: usize> Engine<D> for Lanes<F, K, N, D, L, W>
where
    K: Kernel<F, L, W>,
    N: Narrow<F, W>,
    D: AsRef<[u8]>,
{
    fn width(&self) -> usize {
        L
    }

    fn vacant(&self) -> usize {
        L - self.busy.count_ones() as usize
    }

    fn feed(&mut self, key: u32, start: bool, end: bool, data: D) {
        assert!((key as usize) < self.parked.len(), "key {key} is out of range");
        assert!(self.vacant() > 0, "a piece was fed to a full engine");
        let parked = self.parked[key as usize].take();
        let nth = self.busy.trailing_ones() as usize;
        if start {
            self.set_column(nth, &F::INIT);
            self.carries[nth].reset();
        } else {
            let Parked { state, carry } = *parked.expect("the first piece of a message needs `start`");
            self.set_column(nth, &state);
            self.carries[nth] = carry;
        }
        self.lanes[nth] = Some(Lane::new(key, end, data));
        self.busy |= 1 << nth;
    }

    fn step(&mut self, out: &mut Vec<Event<D>>) {
        let before = out.len();
        loop {
            for nth in ones(self.busy) {
                let (lane, carry) = self.lane_mut(nth);
                if lane.left() == 0 && (lane.is_last() || !lane.find_run::<F, W>(carry)) {
                    let event = self.retire(nth);
                    out.push(event);
                }
            }
            if out.len() > before || self.busy == 0 {
                return;
            }
            self.compress();
        }
    }

    fn forget(&mut self, key: u32) {
        self.parked[key as usize] = None;
    }

    fn hash_many(&self, messages: &[&[u8]], out: &mut [Digest]) {
        hash_all::<F, K, N, L, W>(self.kernel, self.narrow, self.few, messages, out);
    }
}

/// Computes the digests of whole messages. Not generic over the pieces of an engine, so that all engines share it.
fn hash_all<F, K, N, const L: usize, const W: usize>(
    kernel: K,
    narrow: N,
    few: u32,
    messages: &[&[u8]],
    out: &mut [Digest],
) where
    F: Function<W>,
    K: Kernel<F, L, W>,
    N: Narrow<F, W>,
{
    assert_eq!(messages.len(), out.len(), "messages and digests must be equally many");
    let mut batch = Batch::<L>::new();
    let mut long = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        if message.len() > F::SHORT {
            long.push(place);
            continue;
        }
        batch.push::<F, W>(place, message);
        if batch.is_full() {
            batch.flush::<F, K, N, W>(kernel, narrow, few, out);
        }
    }
    batch.flush::<F, K, N, W>(kernel, narrow, few, out);

    if long.is_empty() {
        return;
    }
    let mut engine = Lanes::<F, K, N, &[u8], L, W>::new(kernel, narrow, few, long.len());
    let mut events = Vec::with_capacity(L);
    let mut waiting = long.iter().enumerate();
    loop {
        for (key, place) in waiting.by_ref().take(engine.vacant()) {
            engine.feed(key as u32, true, true, messages[*place]);
        }
        engine.step(&mut events);
        if events.is_empty() {
            return;
        }
        for event in events.drain(..) {
            let Event::Done { key, digest, .. } = event else {
                unreachable!("every piece is a whole message")
            };
            out[long[key as usize]] = digest;
        }
    }
}

fn piece_of<D>(lanes: &[Option<Lane<D>>], nth: usize) -> &Lane<D> {
    lanes[nth].as_ref().expect("a busy lane has a piece")
}

/// Returns the positions of the one bits in `mask`, lowest first.
fn ones(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let nth = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (nth < u32::BITS).then_some(nth as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Portable;
    use crate::function::{Blake2b, Sha256, Sha512};

    /// Computes the digests of messages of `0..n` bytes, each cut into pieces of `cut` bytes.
    fn digests<F, const L: usize, const W: usize>(few: u32, n: usize, cut: usize) -> Vec<Digest>
    where
        F: Function<W>,
        Portable: Kernel<F, L, W> + Narrow<F, W>,
    {
        let mut engine = Lanes::<F, _, _, _, L, W>::new(Portable, Portable, few, n);
        let messages: Vec<Vec<u8>> =
            (0..n).map(|len| (0..len).map(|i| (i * 7 + len) as u8).collect()).collect();
        let mut fed = vec![0; n];
        let mut waiting: Vec<u32> = (0..n as u32).collect();
        let mut found = vec![None; n];
        let mut events = Vec::new();
        while found.iter().any(Option::is_none) {
            while engine.vacant() > 0 && !waiting.is_empty() {
                let key = waiting.remove(0);
                let (message, from) = (&messages[key as usize], fed[key as usize]);
                let to = message.len().min(from + cut);
                engine.feed(key, from == 0, to == message.len(), &message[from..to]);
                fed[key as usize] = to;
            }
            engine.step(&mut events);
            for event in events.drain(..) {
                match event {
                    Event::Dry { key, .. } => waiting.push(key),
                    Event::Done { key, digest, .. } => found[key as usize] = Some(digest),
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    #[test]
    fn digests_do_not_depend_on_lanes_and_limits() {
        fn same<F, const W: usize>()
        where
            F: Function<W>,
            Portable: Kernel<F, 1, W> + Kernel<F, 3, W> + Kernel<F, 16, W> + Narrow<F, W>,
        {
            let expected = digests::<F, 1, W>(1, 270, 1000);
            assert_eq!(digests::<F, 1, W>(0, 270, 64), expected);
            assert_eq!(digests::<F, 3, W>(0, 270, 128), expected);
            assert_eq!(digests::<F, 16, W>(0, 270, 1000), expected);
            assert_eq!(digests::<F, 16, W>(5, 270, 65), expected);
            assert_eq!(digests::<F, 16, W>(16, 270, 40), expected);
        }
        same::<Sha256, 8>();
        same::<Sha512, 8>();
        same::<Blake2b, 8>();
    }

    #[test]
    fn one_bits_are_found_in_order() {
        assert_eq!(ones(0).count(), 0);
        assert_eq!(ones(0x8000_0103).collect::<Vec<_>>(), [0, 1, 8, 31]);
    }
}
