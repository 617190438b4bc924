//! The parts of a hash function, other than its compression, that the lane engine needs.

mod blake2b;
mod md5;
mod pad;
mod sha1;
mod sha256;
mod sha512;

pub(crate) use blake2b::Blake2b;
pub(crate) use md5::Md5;
pub(crate) use sha1::Sha1;
pub(crate) use sha256::Sha256;
pub(crate) use sha512::Sha512;

use crate::Digest;

/// Size of the largest block in bytes.
pub(crate) const MAX_BLOCK: usize = 128;

/// A buffer for the end of a message and its padding: at most two blocks.
pub(crate) type Tail = [u8; 2 * MAX_BLOCK];

/// An iterated hash function with a chaining value of `W` words and blocks of 16 words.
pub(crate) trait Function<const W: usize>: Send + Sync + 'static {
    /// The word of the function: `u32` or `u64`.
    type Word: Copy + Default + Send + Sync + 'static;

    /// Size of a block in bytes.
    const BLOCK: usize = 16 * size_of::<Self::Word>();

    /// The chaining value before the first block.
    const INIT: [Self::Word; W];

    /// The most bytes from which [`pad`](Self::pad) makes a single block.
    const SHORT: usize;

    /// The most bytes that [`pad`](Self::pad) accepts; at least one byte less than a block.
    const TAIL: usize;

    /// Returns how many blocks of the next `len` bytes can be compressed before it is known whether more
    /// follow. BLAKE2b keeps its last block back, because it compresses this one in another way.
    fn blocks(len: usize) -> usize;

    /// Pads the end of a message of `total` bytes. Its last `used` bytes are at the start of `tail`. Returns
    /// the number of blocks.
    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize;

    /// Converts the last chaining value to the digest.
    fn digest(state: &[Self::Word; W]) -> Digest;
}
