//! Lets several workers hash one BLAKE3 message.
//!
//! A BLAKE3 digest is the root of a binary tree over chunks of 1 KiB, in which every left subtree is complete
//! (section 2.1 of the BLAKE3 paper). A message cut at multiples of a power of two therefore consists of
//! whole subtrees, which can be hashed in any order and on any thread. The root is computed from their
//! chaining values.
//!
//! ```
//! use ftk_hash::{Algorithm, Windows};
//!
//! let data = vec![7; 3_500_000];
//! let tree = Windows::new(data.len() as u64, 2).expect("more than one window");
//! let values: Vec<_> = (0..tree.windows())
//!     .map(|nth| {
//!         let window = tree.window(nth);
//!         let mut subtree = tree.subtree(nth);
//!         subtree.update(&data[window.start as usize..window.end as usize]);
//!         subtree.finalize()
//!     })
//!     .collect();
//! assert_eq!(tree.root(&values), Algorithm::Blake3.hash_one(&data));
//! ```

use std::ops::Range;

use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

use crate::Digest;

/// The division of one long message into windows. Each window is the data of one subtree.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    total: u64,
    window: u64,
}

impl Windows {
    /// The size of the smallest window in bytes. It is a multiple of every sensible buffer size, and large
    /// enough that distributing windows costs nothing compared with hashing them.
    pub const WINDOW: u64 = 1 << 20;

    /// The size of the largest window in bytes. Large windows pay because mapping and unmapping briefly stops
    /// the other workers: a file of 2 GiB takes 0.85 of the time it takes with windows of 1 MiB (the `hash`
    /// record, one huge file).
    const MAX_WINDOW: u64 = 1 << 24;

    /// The least number of windows per worker, unless they would become too small. It is large enough that all
    /// workers finish at about the same time: on average, they wait half a window for the last one.
    const MIN_PER_WORKER: u64 = 8;

    /// Divides a message of `total` bytes for `workers` workers. Returns `None` if it fits into one window: then
    /// there are no subtrees to share, and the ordinary [engine](crate::Algorithm::engine) hashes it.
    pub fn new(total: u64, workers: usize) -> Option<Self> {
        // The next power of two is less than twice as large.
        let count = 2 * Self::MIN_PER_WORKER * workers.max(1) as u64;
        let window = (total / count).next_power_of_two();
        Self::with_window(total, window.clamp(Self::WINDOW, Self::MAX_WINDOW))
    }

    fn with_window(total: u64, window: u64) -> Option<Self> {
        assert!(window.is_power_of_two() && window >= blake3::CHUNK_LEN as u64);
        let is_countable = usize::try_from(total.div_ceil(window)).is_ok(); // else not: 32 bits, and over 2^32 windows
        (total > window && is_countable).then_some(Self { total, window })
    }

    /// Returns the number of windows, at least two.
    pub fn windows(&self) -> usize {
        self.total.div_ceil(self.window) as usize
    }

    /// Returns the byte range of window `nth` in the message.
    ///
    /// # Panics
    /// If there is no such window.
    pub fn window(&self, nth: usize) -> Range<u64> {
        assert!(nth < self.windows(), "there is no window {nth}, only {}", self.windows());
        let start = nth as u64 * self.window;
        start..self.total.min(start.saturating_add(self.window))
    }

    /// Creates a hasher for window `nth`.
    ///
    /// # Panics
    /// If there is no such window.
    pub fn subtree(&self, nth: usize) -> Subtree {
        let Range { start, end } = self.window(nth);
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(start);
        Subtree { hasher, left: end - start }
    }

    /// Computes the digest of the message from the chaining values of its windows, in order.
    ///
    /// # Panics
    /// If the number of values is not the number of [windows](Self::windows).
    pub fn root(&self, values: &[ChainingValue]) -> Digest {
        assert_eq!(values.len(), self.windows(), "there must be one chaining value for each window");
        let (left, right) = halves(values);
        Digest::from_bytes(merge_subtrees_root(&merge(left), &merge(right), Mode::Hash).as_bytes())
    }
}

/// Hashes the bytes of one window. They must arrive in order.
#[derive(Clone, Debug)]
pub struct Subtree {
    hasher: blake3::Hasher,
    left: u64,
}

impl Subtree {
    /// Hashes the next bytes of the window.
    ///
    /// # Panics
    /// If they extend past the end of the window.
    pub fn update(&mut self, data: &[u8]) {
        self.left = self.left.checked_sub(data.len() as u64).expect("bytes past the end of the window");
        self.hasher.update(data);
    }

    /// Returns the chaining value of the window.
    ///
    /// # Panics
    /// If bytes of the window are missing.
    pub fn finalize(self) -> ChainingValue {
        assert_eq!(self.left, 0, "bytes of the window are missing");
        self.hasher.finalize_non_root()
    }
}

/// Computes the chaining value of a subtree over several windows.
fn merge(values: &[ChainingValue]) -> ChainingValue {
    if let [value] = values {
        return *value;
    }
    let (left, right) = halves(values);
    merge_subtrees_non_root(&merge(left), &merge(right), Mode::Hash)
}

/// Splits the values between the two subtrees. The left one gets the largest power of two that leaves at
/// least one value for the right one.
fn halves(values: &[ChainingValue]) -> (&[ChainingValue], &[ChainingValue]) {
    values.split_at(values.len().div_ceil(2).next_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i % 251) as u8).collect()
    }

    /// Computes the digest by subtrees of `window` bytes, last window first, fed `piece` bytes at a time.
    fn by_windows(data: &[u8], window: u64, piece: usize) -> Option<Digest> {
        let tree = Windows::with_window(data.len() as u64, window)?;
        let mut values: Vec<_> = (0..tree.windows())
            .rev()
            .map(|nth| {
                let Range { start, end } = tree.window(nth);
                let mut subtree = tree.subtree(nth);
                for piece in data[start as usize..end as usize].chunks(piece) {
                    subtree.update(piece);
                }
                subtree.finalize()
            })
            .collect();
        values.reverse();
        Some(tree.root(&values))
    }

    fn whole(data: &[u8]) -> Digest {
        Digest::from_bytes(blake3::hash(data).as_bytes())
    }

    #[test]
    fn lengths_around_chunks_and_windows_are_correct() {
        let data = pattern(70 * 1024);
        for window in [1024, 2048, 4096, 16384] {
            for edge in (0..=data.len()).step_by(1024) {
                for len in [edge.saturating_sub(1), edge, (edge + 1).min(data.len())] {
                    let data = &data[..len];
                    let expected = (len as u64 > window).then(|| whole(data));
                    assert_eq!(
                        by_windows(data, window, 3000),
                        expected,
                        "{len} bytes in windows of {window}"
                    );
                }
            }
        }
    }

    #[test]
    fn windows_of_the_smallest_real_size_are_correct() {
        let window = Windows::WINDOW as usize;
        let data = pattern(5 * window + 1);
        for len in [
            window + 1,
            2 * window - 1,
            2 * window,
            2 * window + 1,
            3 * window,
            4 * window + 1023,
            5 * window + 1,
        ] {
            assert_eq!(
                by_windows(&data[..len], Windows::WINDOW, 256 << 10),
                Some(whole(&data[..len])),
                "{len}"
            );
        }
    }

    #[test]
    fn windows_cover_the_whole_message() {
        assert!(Windows::new(0, 8).is_none() && Windows::new(Windows::WINDOW, 8).is_none());
        for (total, workers, window) in [
            (Windows::WINDOW + 1, 8, Windows::WINDOW),
            (100 * Windows::WINDOW, 8, Windows::WINDOW),
            (300 * Windows::WINDOW, 8, 4 * Windows::WINDOW),
            (128 * Windows::WINDOW, 2, 4 * Windows::WINDOW),
            (128 * Windows::WINDOW, usize::MAX >> 8, Windows::WINDOW),
            (u64::MAX, 1, Windows::MAX_WINDOW),
        ] {
            let Some(tree) = Windows::new(total, workers) else {
                assert!(total / window > usize::MAX as u64, "{total} bytes can be divided");
                continue;
            };
            let last = tree.windows() - 1;
            assert_eq!(tree.window(0), 0..window);
            assert_eq!(tree.window(last - 1).end, tree.window(last).start);
            assert_eq!(tree.window(last).end, total);
            assert!(!tree.window(last).is_empty());
        }
    }

    #[test]
    #[should_panic(expected = "past the end of the window")]
    fn too_many_bytes_are_refused() {
        Windows::with_window(5000, 1024).unwrap().subtree(4).update(&[0; 905]);
    }

    #[test]
    #[should_panic(expected = "bytes of the window are missing")]
    fn too_few_bytes_are_refused() {
        let mut subtree = Windows::with_window(5000, 1024).unwrap().subtree(0);
        subtree.update(&[0; 1023]);
        subtree.finalize();
    }

    proptest! {
        #[test]
        fn any_lengths_of_message_window_and_piece_are_correct(len in 1025_usize..200_000, shift in 10_u32..15, piece in 1_usize..10_000) {
            let data = pattern(len);
            let expected = (len as u64 > 1 << shift).then(|| whole(&data));
            prop_assert_eq!(by_windows(&data, 1 << shift, piece), expected);
        }
    }
}
