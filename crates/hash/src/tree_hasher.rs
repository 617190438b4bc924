//! Hashes many short BLAKE3 messages at once by hashing the nodes of all their trees side by side.
//!
//! BLAKE3 cuts a message into chunks of 1 KiB, the leaves of a binary tree. An inner node hashes the chaining
//! values of its two children. The leaves depend only on their own bytes, so the chunks of all messages fill
//! the lanes together. The inner nodes follow, level by level.

use crate::Digest;
use crate::arch::{NodeKernel, Nodes};

/// The size of the largest message that is hashed here. A larger one nearly fills the lanes with its own
/// chunks, and with full lanes the `blake3` crate is a fifth faster.
const MAX_LEN: usize = 32 << 10;

const CHUNK: usize = blake3::CHUNK_LEN;
const BLOCK: usize = blake3::BLOCK_LEN;

// Flags of nodes (table 3 of the BLAKE3 paper).
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;

/// A chaining value.
type Value = [u8; 32];

/// Hashes messages, `L` nodes at a time. The vectors are scratch space, kept between calls to avoid
/// allocations.
pub(crate) struct TreeHasher<K, const L: usize> {
    kernel: K,
    trees: Vec<Message>,
    /// Chunks of full length, and the shorter ones at the ends of messages.
    full: Vec<Leaf>,
    short: Vec<Leaf>,
    /// The short chunk of each lane, padded with zeros to a whole block.
    padded: Vec<[u8; CHUNK]>,
    /// The chaining values of all nodes of a level, tree by tree.
    values: Vec<Value>,
    pairs: Vec<Pair>,
}

/// A message whose tree is being hashed.
struct Message {
    /// The index of the message.
    message: usize,
    /// The index of its first chaining value.
    start: usize,
    /// Number of nodes on the current level.
    width: usize,
}

/// A chunk of a message.
#[derive(Clone, Copy)]
struct Leaf {
    message: usize,
    nth: usize,
    /// The index of its chaining value.
    to: usize,
    is_root: bool,
}

impl Leaf {
    fn bytes<'m>(&self, messages: &[&'m [u8]]) -> &'m [u8] {
        let rest = &messages[self.message][self.nth * CHUNK..];
        &rest[..rest.len().min(CHUNK)]
    }
}

/// Two adjacent nodes with a common parent.
struct Pair {
    from: usize,
    to: usize,
    is_root: bool,
}

impl<K: NodeKernel<L>, const L: usize> TreeHasher<K, L> {
    /// Leaves to hash per call: enough for full lanes, and few enough that all data stays in the first-level
    /// cache.
    pub(crate) const LEAVES: usize = 8 * L;

    pub(crate) fn new(kernel: K) -> Self {
        Self {
            kernel,
            trees: Vec::new(),
            full: Vec::new(),
            short: Vec::new(),
            padded: Vec::new(),
            values: Vec::new(),
            pairs: Vec::new(),
        }
    }

    /// Returns the number of leaves of a message, or 0 if the `blake3` crate hashes it, because it is long or
    /// its chunks fill all lanes exactly.
    pub(crate) fn leaves(message: &[u8]) -> usize {
        let full_lanes = message.len() / (L * CHUNK);
        if message.len() > MAX_LEN || full_lanes > 0 && message.len() == full_lanes * L * CHUNK {
            return 0;
        }
        message.len().div_ceil(CHUNK).max(1)
    }

    /// Computes the digest of each message. The digest of `messages[i]` is written to `out[i]`.
    pub(crate) fn hash(&mut self, messages: &[&[u8]], out: &mut [Digest]) {
        self.record_trees(messages);
        // The `blake3` crate is faster for one or two chunks in total. It is also faster for a single
        // message, because it hashes the chunks of one message side by side.
        if self.trees.len() == 1 || self.values.len() <= 2 {
            self.trees.clear();
            for (message, digest) in messages.iter().zip(out) {
                digest.set([*blake3::hash(message).as_bytes()]);
            }
            return;
        }
        self.hash_leaves(messages);
        while self.trees.iter().any(|tree| tree.width > 1) {
            self.hash_parents();
        }
        for (message, digest) in messages.iter().zip(out.iter_mut()) {
            if Self::leaves(message) == 0 {
                digest.set([*blake3::hash(message).as_bytes()]);
            }
        }
        for tree in &self.trees {
            out[tree.message].set([self.values[tree.start]]);
        }
    }

    /// Records the trees and their leaves.
    fn record_trees(&mut self, messages: &[&[u8]]) {
        self.trees.clear();
        self.full.clear();
        self.short.clear();
        let mut start = 0;
        for (message, bytes) in messages.iter().enumerate() {
            let width = Self::leaves(bytes);
            if width == 0 {
                continue;
            }
            self.trees.push(Message { message, start, width });
            let leaf = |nth| Leaf { message, nth, to: start + nth, is_root: width == 1 };
            let n_full = bytes.len() / CHUNK;
            self.full.extend((0..n_full).map(leaf));
            self.short.extend((n_full..width).map(leaf));
            start += width;
        }
        self.values.resize(start, [0; 32]);
    }

    fn hash_leaves(&mut self, messages: &[&[u8]]) {
        // All lanes run as long as the longest one, so chunks of similar length are grouped.
        self.short.sort_unstable_by_key(|leaf| std::cmp::Reverse(messages[leaf.message].len() % CHUNK));
        self.full.append(&mut self.short);
        self.padded.resize(L, [0; CHUNK]);
        let Self { kernel, full: leaves, padded, values, .. } = self;
        for leaves in leaves.chunks(L) {
            let longest = leaves[0].bytes(messages).len().div_ceil(BLOCK).max(1) * BLOCK;
            let mut nodes = Nodes::new(CHUNK_START);
            for (lane, leaf) in leaves.iter().enumerate() {
                let bytes = leaf.bytes(messages);
                let last = bytes.len().saturating_sub(1) / BLOCK;
                nodes.chunk[lane] = leaf.nth as u32;
                nodes.last_block[lane] = last as u32;
                nodes.last_len[lane] = (bytes.len() - last * BLOCK) as u32;
                nodes.last[lane] = if leaf.is_root { CHUNK_END | ROOT } else { CHUNK_END };
                if bytes.len() < longest {
                    let (copy, pad) = padded[lane][..(last + 1) * BLOCK].split_at_mut(bytes.len());
                    copy.copy_from_slice(bytes);
                    pad.fill(0);
                }
            }
            let mut data = [&padded[0][..longest]; L];
            for (lane, leaf) in leaves.iter().enumerate() {
                let bytes = leaf.bytes(messages);
                data[lane] = if bytes.len() < longest { &padded[lane][..longest] } else { bytes };
            }
            let state = kernel.hash(&data, &nodes);
            for (lane, leaf) in leaves.iter().enumerate() {
                write_value(&mut values[leaf.to], &state, lane);
            }
        }
    }

    /// Replaces the values of each tree by those of their parents, in place. A node without a sibling moves
    /// up unchanged.
    fn hash_parents(&mut self) {
        let Self { kernel, trees, values, pairs, .. } = self;
        pairs.clear();
        for &Message { start, width, .. } in trees.iter() {
            let pair = |nth| Pair { from: start + 2 * nth, to: start + nth, is_root: width == 2 };
            pairs.extend((0..width / 2).map(pair));
        }
        for pairs in pairs.chunks(L) {
            let mut nodes = Nodes::new(PARENT);
            let mut data = [values[pairs[0].from..][..2].as_flattened(); L];
            for (lane, pair) in pairs.iter().enumerate() {
                data[lane] = values[pair.from..][..2].as_flattened();
                nodes.last_len[lane] = BLOCK as u32;
                nodes.last[lane] = if pair.is_root { ROOT } else { 0 };
            }
            let state = kernel.hash(&data, &nodes);
            for (lane, pair) in pairs.iter().enumerate() {
                write_value(&mut values[pair.to], &state, lane);
            }
        }
        for Message { start, width, .. } in trees.iter_mut() {
            if *width % 2 == 1 {
                values[*start + *width / 2] = values[*start + *width - 1];
            }
            *width = width.div_ceil(2);
        }
    }
}

fn write_value<const L: usize>(value: &mut Value, state: &[[u32; L]; 8], lane: usize) {
    for (bytes, row) in value.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = row[lane].to_le_bytes();
    }
}
