//! What the lane engine must know of a hash function beside its compression.

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

/// Bytes of the longest block.
pub(crate) const MAX_BLOCK: usize = 128;

/// Blocks that hold the end of a message and its padding: at most two.
pub(crate) type Tail = [u8; 2 * MAX_BLOCK];

/// An iterated hash function with a chaining value of `W` words and blocks of 16 words.
pub(crate) trait Function<const W: usize> {
    /// `u32` or `u64`.
    type Word: Copy + Default;

    /// Bytes of a block.
    const BLOCK: usize = 16 * size_of::<Self::Word>();

    /// The chaining value before the first block.
    const INIT: [Self::Word; W];

    /// The most bytes that [`pad`](Self::pad) makes one block of.
    const SHORT: usize;

    /// The most bytes that [`pad`](Self::pad) takes, not less than a block less one byte.
    const TAIL: usize;

    /// How many blocks of `len` bytes may be compressed as they are, whatever follows.
    fn blocks(len: usize) -> usize;

    /// Completes the last `used` bytes of a message of `total` bytes, which are at the start of `tail`, and
    /// returns the number of blocks this makes.
    fn pad(tail: &mut Tail, used: usize, total: u64) -> usize;

    /// The digest that the last chaining value is.
    fn digest(state: &[Self::Word; W]) -> Digest;
}
