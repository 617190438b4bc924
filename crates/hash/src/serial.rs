//! The engine of width 1: it hashes one piece at a time with a hash function for single messages.

use crate::stream::Stream;
use crate::{Digest, Engine, Event};

/// Hashes one piece at a time. There can be as many open messages as keys.
pub(crate) struct Serial<H, D> {
    /// The state of each message between two pieces, by key. Boxed, so that a key costs only a pointer, and
    /// not the two kilobytes of a BLAKE3 state, as long as it is unused or has messages of a single piece.
    open: Vec<Option<Box<H>>>,
    now: Option<Piece<D>>,
}

struct Piece<D> {
    key: u32,
    start: bool,
    end: bool,
    data: D,
}

impl<H, D> Serial<H, D> {
    /// Creates an engine for messages with keys below `keys`.
    pub(crate) fn new(keys: usize) -> Self {
        Self { open: (0..keys).map(|_| None).collect(), now: None }
    }
}

impl<H: Stream, D: AsRef<[u8]>> Serial<H, D> {
    /// Hashes a piece. Returns the digest if it was the last piece of its message.
    fn run(&mut self, piece: &Piece<D>) -> Option<Digest> {
        let (slot, data) = (&mut self.open[piece.key as usize], piece.data.as_ref());
        if piece.start && piece.end {
            *slot = None;
            let mut digest = Digest::from_bytes(&[]);
            H::whole(data, &mut digest);
            return Some(digest);
        }
        if piece.start {
            *slot = Some(Box::new(H::new()));
        }
        let hasher = slot.as_mut().expect("the first piece of a message needs `start`");
        hasher.update(data);
        if piece.end { slot.take().map(|hasher| hasher.finish()) } else { None }
    }
}

impl<H: Stream, D: AsRef<[u8]>> Engine<D> for Serial<H, D> {
    fn width(&self) -> usize {
        1
    }

    fn vacant(&self) -> usize {
        usize::from(self.now.is_none())
    }

    fn feed(&mut self, key: u32, start: bool, end: bool, data: D) {
        assert!((key as usize) < self.open.len(), "key {key} is out of range");
        assert!(self.now.is_none(), "a piece was fed to a full engine");
        self.now = Some(Piece { key, start, end, data });
    }

    fn step(&mut self, out: &mut Vec<Event<D>>) {
        let Some(piece) = self.now.take() else { return };
        let digest = self.run(&piece);
        let Piece { key, data, .. } = piece;
        out.push(match digest {
            Some(digest) => Event::Done { key, data, digest },
            None => Event::Dry { key, data },
        });
    }

    fn forget(&mut self, key: u32) {
        self.open[key as usize] = None;
    }

    fn hash_many(&self, messages: &[&[u8]], out: &mut [Digest]) {
        hash_each::<H>(messages, out);
    }
}

/// Computes the digest of each message, like [`Engine::hash_many`], which needs an engine.
pub(crate) fn hash_each<H: Stream>(messages: &[&[u8]], out: &mut [Digest]) {
    assert_eq!(messages.len(), out.len(), "messages and digests must be equally many");
    for (message, digest) in messages.iter().zip(out) {
        H::whole(message, digest);
    }
}
