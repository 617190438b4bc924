//! The seam: what every engine can do.

use crate::Digest;

/// What an engine has to say about a message.
#[derive(Debug)]
pub enum Event<D> {
    /// These bytes are used up; the message goes on.
    Dry {
        /// The message.
        key: u32,
        /// The bytes, given back.
        data: D,
    },
    /// The message is done.
    Done {
        /// The message.
        key: u32,
        /// Its last bytes, given back.
        data: D,
        /// Its digest.
        digest: Digest,
    },
}

/// Hashes several messages side by side, each in pieces that arrive in order.
///
/// Messages are told apart by keys, `0..keys` as the engine was made for; a key is free again once its
/// message is done or forgotten. The digest of a message never depends on its neighbours.
pub trait Engine<D: AsRef<[u8]>> {
    /// Messages it wants at once to run at full speed: 1 for a serial engine, lanes for a wide one.
    fn width(&self) -> usize;
    /// How many more pieces it takes before it must [`step`](Engine::step).
    fn vacant(&self) -> usize;
    /// Hands over the next piece of message `key`: `start` with its first, `end` with its last piece.
    ///
    /// # Panics
    /// When nothing is [vacant](Engine::vacant) or `key` is out of range.
    fn feed(&mut self, key: u32, start: bool, end: bool, data: D);
    /// Hashes until some piece is used up, and appends what happened. Appends nothing only when empty.
    fn step(&mut self, out: &mut Vec<Event<D>>);
    /// Drops what is known of a message that has no piece in the engine.
    fn forget(&mut self, key: u32);
    /// Writes the digest of each whole message to the same place in `out`. What is in the engine is untouched.
    ///
    /// # Panics
    /// If there are more or fewer places than messages.
    fn hash_many(&self, messages: &[&[u8]], out: &mut [Digest]);
}
