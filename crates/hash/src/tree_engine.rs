//! The engine of BLAKE3. It hashes short whole messages side by side; the `blake3` crate hashes all others.

use crate::arch::NodeKernel;
use crate::serial::Serial;
use crate::tree_hasher::TreeHasher;
use crate::{Digest, Engine, Event};

/// Hashes up to `L` messages at once.
pub(crate) struct TreeEngine<K, D, const L: usize> {
    kernel: K,
    tree_hasher: TreeHasher<K, L>,
    /// Hashes messages that arrive in several pieces.
    serial: Serial<blake3::Hasher, D>,
    /// Whole messages that wait for the next step, with their keys.
    whole: Vec<(u32, D)>,
    /// Pieces of other messages that wait for the next step.
    parts: Vec<Part<D>>,
    keys: usize,
}

/// One of several pieces of a message.
struct Part<D> {
    key: u32,
    start: bool,
    end: bool,
    data: D,
}

impl<K: NodeKernel<L>, D: AsRef<[u8]>, const L: usize> TreeEngine<K, D, L> {
    /// Creates an engine for messages with keys below `keys`.
    pub(crate) fn new(kernel: K, keys: usize) -> Self {
        Self {
            kernel,
            tree_hasher: TreeHasher::new(kernel),
            serial: Serial::new(keys),
            whole: Vec::new(),
            parts: Vec::new(),
            keys,
        }
    }
}

impl<K: NodeKernel<L>, D: AsRef<[u8]>, const L: usize> Engine<D> for TreeEngine<K, D, L> {
    fn width(&self) -> usize {
        L
    }

    fn vacant(&self) -> usize {
        L - self.whole.len() - self.parts.len()
    }

    fn feed(&mut self, key: u32, start: bool, end: bool, data: D) {
        assert!((key as usize) < self.keys, "key {key} is out of range");
        assert!(self.vacant() > 0, "a piece was fed to a full engine");
        if start && end {
            self.whole.push((key, data));
        } else {
            self.parts.push(Part { key, start, end, data });
        }
    }

    fn step(&mut self, out: &mut Vec<Event<D>>) {
        for Part { key, start, end, data } in self.parts.drain(..) {
            self.serial.feed(key, start, end, data);
            self.serial.step(out);
        }
        let mut messages: [&[u8]; L] = [&[]; L];
        let mut digests = [Digest::from_bytes(&[]); L];
        let n = self.whole.len();
        for (message, (_, data)) in messages.iter_mut().zip(&self.whole) {
            *message = data.as_ref();
        }
        self.tree_hasher.hash(&messages[..n], &mut digests[..n]);
        let done = self.whole.drain(..).zip(digests);
        out.extend(done.map(|((key, data), digest)| Event::Done { key, data, digest }));
    }

    fn forget(&mut self, key: u32) {
        self.serial.forget(key);
    }

    fn hash_many(&self, messages: &[&[u8]], out: &mut [Digest]) {
        assert_eq!(messages.len(), out.len(), "messages and digests must be equally many");
        let mut tree_hasher = TreeHasher::new(self.kernel);
        let (mut from, mut leaves) = (0, 0);
        for (to, message) in messages.iter().enumerate() {
            leaves += TreeHasher::<K, L>::leaves(message);
            if leaves >= TreeHasher::<K, L>::LEAVES || to + 1 == messages.len() {
                tree_hasher.hash(&messages[from..=to], &mut out[from..=to]);
                (from, leaves) = (to + 1, 0);
            }
        }
    }
}
