//! One lane: a piece of a message, and what of it to compress next.

use crate::function::{Function, Tail};

/// What a message carries from one piece to the next, beside its chaining value. Kept beside the lane, because it
/// is large, and a message that comes in one piece should not have it moved about.
#[derive(Clone)]
pub(crate) struct Carry {
    /// Bytes compressed.
    done: u64,
    /// Bytes that wait in the buffer because they are no whole block, or perhaps the last one.
    held: usize,
    buffer: Tail,
}

impl Default for Carry {
    fn default() -> Self {
        Self { done: 0, held: 0, buffer: [0; size_of::<Tail>()] }
    }
}

impl Carry {
    /// Makes it that of a message before its first byte.
    pub(crate) fn reset(&mut self) {
        (self.done, self.held) = (0, 0);
    }
}

/// A piece on its way through the kernel.
pub(crate) struct Lane<D> {
    pub(crate) key: u32,
    pub(crate) data: D,
    end: bool,
    /// Bytes of the piece that are in a run or in the buffer.
    taken: usize,
    run: Run,
}

/// Whole blocks that lie side by side, to be compressed next.
#[derive(Default)]
struct Run {
    in_buffer: bool,
    at: usize,
    len: usize,
    /// Length of the message, if it ends with this run.
    total: Option<u64>,
}

impl<D: AsRef<[u8]>> Lane<D> {
    pub(crate) fn new(key: u32, end: bool, data: D) -> Self {
        Self { key, data, end, taken: 0, run: Run::default() }
    }

    /// Bytes of the run that are left.
    pub(crate) fn left(&self) -> usize {
        self.run.len
    }

    /// The next `len` bytes of the run.
    pub(crate) fn next<'a>(&'a self, carry: &'a Carry, len: usize) -> &'a [u8] {
        let bytes = if self.run.in_buffer { &carry.buffer } else { self.data.as_ref() };
        &bytes[self.run.at..][..len]
    }

    /// Whether the message is compressed to its end when the run is.
    pub(crate) fn is_last(&self) -> bool {
        self.run.total.is_some()
    }

    /// Bytes of the message up to and with the next block.
    pub(crate) fn count<F: Function<W>, const W: usize>(&self, carry: &Carry) -> u64 {
        self.run.total.unwrap_or(carry.done + F::BLOCK as u64)
    }

    /// Notes that the next `len` bytes of the run have been compressed.
    pub(crate) fn advance(&mut self, carry: &mut Carry, len: usize) {
        self.run.at += len;
        self.run.len -= len;
        carry.done += len as u64;
    }

    /// Finds the next run once the one before is done; `false` if the piece has no more, and no end of the
    /// message in it.
    ///
    /// A run is made of the piece itself wherever possible. Blocks that straddle two pieces, and the end of a
    /// message with its padding, are put together in the buffer, and so is a short message as a whole.
    pub(crate) fn plan<F: Function<W>, const W: usize>(&mut self, carry: &mut Carry) -> bool {
        let Carry { done, held, buffer } = carry;
        let rest = &self.data.as_ref()[self.taken..];
        if self.end && *held + rest.len() <= F::TAIL {
            let used = *held + rest.len();
            buffer[*held..used].copy_from_slice(rest);
            self.taken += rest.len();
            let total = *done + used as u64;
            let len = F::pad(buffer, used, total) * F::BLOCK;
            self.run = Run { in_buffer: true, at: 0, len, total: Some(total) };
            return true;
        }
        if *held == 0 && F::blocks(rest.len()) > 0 {
            let len = F::blocks(rest.len()) * F::BLOCK;
            self.run = Run { in_buffer: false, at: self.taken, len, total: None };
            self.taken += len;
            return true;
        }
        let (more, after) = rest.split_at(rest.len().min(F::BLOCK - *held));
        buffer[*held..*held + more.len()].copy_from_slice(more);
        *held += more.len();
        self.taken += more.len();
        if F::blocks(*held + after.len()) == 0 {
            return false;
        }
        *held = 0;
        self.run = Run { in_buffer: true, at: 0, len: F::BLOCK, total: None };
        true
    }
}
