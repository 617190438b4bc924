//! The trait that all engines implement.

use crate::Digest;

/// The result of an engine's step for one message.
#[derive(Debug)]
pub enum Event<D> {
    /// This piece was hashed, and the message needs its next piece.
    Dry {
        /// The key of the message.
        key: u32,
        /// The piece, given back.
        data: D,
    },
    /// The message is complete.
    Done {
        /// The key of the message.
        key: u32,
        /// The last piece, given back.
        data: D,
        /// The digest of the message.
        digest: Digest,
    },
}

/// Hashes several messages side by side. The pieces of each message arrive in order.
///
/// The caller identifies messages by keys `0..keys`; `keys` is set when the engine is created. A key is free
/// again once its message is done or forgotten. The digest of a message never depends on the other messages.
pub trait Engine<D: AsRef<[u8]>> {
    /// Returns how many messages the engine needs at once for full speed: 1 for a serial engine, the number
    /// of lanes for a wide one.
    fn width(&self) -> usize;
    /// Returns how many more pieces the engine accepts before the next [`step`](Engine::step).
    fn vacant(&self) -> usize;
    /// Adds the next piece of message `key`. `start` marks the first piece of the message, `end` the last
    /// one.
    ///
    /// # Panics
    /// If no piece is [vacant](Engine::vacant) or `key` is out of range.
    fn feed(&mut self, key: u32, start: bool, end: bool, data: D);
    /// Hashes until at least one piece is used up, and appends the events. Appends nothing only if the engine
    /// holds no piece.
    fn step(&mut self, out: &mut Vec<Event<D>>);
    /// Drops the state of a message. The engine must not hold a piece of it.
    fn forget(&mut self, key: u32);
    /// Computes the digests of whole messages. The digest of `messages[i]` is written to `out[i]`. Messages
    /// in progress are not affected.
    ///
    /// # Panics
    /// If `messages` and `out` differ in length.
    fn hash_many(&self, messages: &[&[u8]], out: &mut [Digest]);
}
