//! One lane of an engine: a piece of a message, and the part of it to compress next.

use crate::function::{Function, Tail};

/// The state of a message, besides its chaining value, that is kept from one piece to the next.
///
/// It is stored outside of [`Lane`], because it is large and messages of a single piece need not move it.
#[derive(Clone)]
pub(crate) struct Carry {
    /// Number of bytes compressed so far.
    done: u64,
    /// Number of bytes that wait in the buffer, because they do not fill a block or may be the last block.
    held: usize,
    buffer: Tail,
}

impl Default for Carry {
    fn default() -> Self {
        Self { done: 0, held: 0, buffer: [0; size_of::<Tail>()] }
    }
}

impl Carry {
    /// Resets the state to the start of a message.
    pub(crate) fn reset(&mut self) {
        (self.done, self.held) = (0, 0);
    }
}

/// A piece that is being compressed.
pub(crate) struct Lane<D> {
    pub(crate) key: u32,
    pub(crate) data: D,
    end: bool,
    /// Number of bytes of the piece that belong to a run or were copied to the buffer.
    consumed: usize,
    run: Run,
}

/// Contiguous whole blocks that are compressed next.
#[derive(Default)]
struct Run {
    in_buffer: bool,
    at: usize,
    len: usize,
    /// The length of the message if it ends with this run.
    total: Option<u64>,
}

impl<D: AsRef<[u8]>> Lane<D> {
    pub(crate) fn new(key: u32, end: bool, data: D) -> Self {
        Self { key, data, end, consumed: 0, run: Run::default() }
    }

    /// Returns how many bytes of the run are left.
    pub(crate) fn left(&self) -> usize {
        self.run.len
    }

    /// Returns the next `len` bytes of the run.
    pub(crate) fn next<'a>(&'a self, carry: &'a Carry, len: usize) -> &'a [u8] {
        let bytes = if self.run.in_buffer { &carry.buffer } else { self.data.as_ref() };
        &bytes[self.run.at..][..len]
    }

    /// Returns whether the message ends with this run.
    pub(crate) fn is_last(&self) -> bool {
        self.run.total.is_some()
    }

    /// Returns the number of message bytes up to and including the next block, and all ones if it is the last block.
    pub(crate) fn counter<F: Function<W>, const W: usize>(&self, carry: &Carry) -> (u64, u64) {
        let count = self.run.total.unwrap_or(carry.done + F::BLOCK as u64);
        (count, if self.is_last() { u64::MAX } else { 0 })
    }

    /// Records that the next `len` bytes of the run were compressed.
    pub(crate) fn advance(&mut self, carry: &mut Carry, len: usize) {
        self.run.at += len;
        self.run.len -= len;
        carry.done += len as u64;
    }

    /// Finds the next run after the last one is done. Returns `false` if the piece has no further run and
    /// does not end the message.
    ///
    /// A run lies in the piece itself where possible. Three things are assembled in the buffer: a block that
    /// spans two pieces, the end of a message with its padding, and a short message as a whole.
    pub(crate) fn find_run<F: Function<W>, const W: usize>(&mut self, carry: &mut Carry) -> bool {
        let Carry { done, held, buffer } = carry;
        let rest = &self.data.as_ref()[self.consumed..];
        if self.end && *held + rest.len() <= F::TAIL {
            let used = *held + rest.len();
            buffer[*held..used].copy_from_slice(rest);
            self.consumed += rest.len();
            let total = *done + used as u64;
            let len = F::pad(buffer, used, total) * F::BLOCK;
            self.run = Run { in_buffer: true, at: 0, len, total: Some(total) };
            return true;
        }
        if *held == 0 && F::blocks(rest.len()) > 0 {
            let len = F::blocks(rest.len()) * F::BLOCK;
            self.run = Run { in_buffer: false, at: self.consumed, len, total: None };
            self.consumed += len;
            return true;
        }
        let (more, after) = rest.split_at(rest.len().min(F::BLOCK - *held));
        buffer[*held..*held + more.len()].copy_from_slice(more);
        *held += more.len();
        self.consumed += more.len();
        if F::blocks(*held + after.len()) == 0 {
            return false;
        }
        *held = 0;
        self.run = Run { in_buffer: true, at: 0, len: F::BLOCK, total: None };
        true
    }
}
