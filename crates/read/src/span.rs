//! The choice between a whole file and a sample of it.

use std::ops::Range;

/// Which bytes of a file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All bytes.
    Whole,
    /// All bytes of a small file; evenly spaced pieces of a larger one, from its first byte to its last. The
    /// pieces are delivered one after the other, as if they were the file.
    ///
    /// A file is small if it has at most `whole` bytes, or no more bytes than all pieces together. The size
    /// at the open decides.
    Sample {
        /// The largest size, in bytes, that is read whole.
        whole: u64,
        /// Bytes per piece, at least 1.
        piece: u32,
        /// Number of pieces, at least 1. Piece `i` begins at byte `i * (size - piece) / (pieces - 1)`,
        /// rounded down. A single piece begins at byte 0.
        pieces: u32,
    },
}

impl Span {
    /// Returns whether a file of `size` bytes is read whole.
    pub fn is_whole(self, size: u64) -> bool {
        self.pieces(size).is_none()
    }

    /// Returns the byte ranges to read from a file of `size` bytes, in the order of delivery.
    ///
    /// # Panics
    /// If `piece` or `pieces` is 0.
    pub fn ranges(self, size: u64) -> impl Iterator<Item = Range<u64>> {
        let pieces = self.pieces(size);
        let range = move |nth| match pieces {
            None => 0..size,
            Some(pieces) => pieces.start(nth)..pieces.start(nth) + u64::from(pieces.piece),
        };
        (0..pieces.map_or(1, |pieces| pieces.count)).map(range)
    }

    /// Returns the pieces of a file of `size` bytes, or `None` if it is read whole.
    pub(crate) fn pieces(self, size: u64) -> Option<Pieces> {
        let Self::Sample { whole, piece, pieces: count } = self else { return None };
        assert!(piece > 0 && count > 0, "a sample needs at least one piece of at least one byte");
        let pieces = Pieces { size, piece, count };
        (size > whole.max(pieces.len())).then_some(pieces)
    }
}

/// The pieces of one file, which is larger than all of them together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    size: u64,
    piece: u32,
    count: u32,
}

impl Pieces {
    /// Returns the total number of bytes in all pieces.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.piece) * u64::from(self.count)
    }

    /// Maps byte `at` of the concatenated pieces to its offset in the file, and returns how many bytes of its
    /// piece are left from there.
    pub(crate) fn place(&self, at: u64) -> (u64, u64) {
        let piece = u64::from(self.piece);
        let within = at % piece;
        (self.start((at / piece) as u32) + within, piece - within)
    }

    fn start(&self, nth: u32) -> u64 {
        let last = u128::from(self.size - u64::from(self.piece));
        // 128 bits, since the product can exceed 64.
        (u128::from(nth) * last / u128::from(self.count.max(2) - 1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_disjoint_and_evenly_spaced_over_the_whole_file(
            size in prop_oneof![0..400_u64, any::<u64>()],
            whole in prop_oneof![0..200_u64, Just(u64::MAX)],
            piece in 1..40_u32,
            pieces in 1..9_u32,
        ) {
            let span = Span::Sample { whole, piece, pieces };
            let ranges: Vec<_> = span.ranges(size).collect();
            prop_assert_eq!(span.is_whole(size), size <= whole || size <= u64::from(piece * pieces));
            if span.is_whole(size) {
                prop_assert!(ranges.into_iter().eq(std::iter::once(0..size)));
            } else {
                prop_assert_eq!((ranges.len() as u32, ranges[0].start), (pieces, 0));
                prop_assert!(ranges.iter().all(|range| range.end - range.start == u64::from(piece)));
                prop_assert!(ranges.is_sorted_by(|a, b| a.end <= b.start));
                prop_assert!(pieces == 1 || ranges[ranges.len() - 1].end == size);
                let gaps = ranges.windows(2).map(|two| two[1].start - two[0].end);
                prop_assert!(gaps.clone().max().unwrap_or(0) - gaps.min().unwrap_or(0) <= 1, "{:?}", ranges);
                let pieces = span.pieces(size).unwrap();
                let bytes = ranges.iter().flat_map(|range| range.clone().map(move |at| (at, range.end - at)));
                prop_assert!(bytes.eq((0..pieces.len()).map(|at| pieces.place(at))));
            }
        }
    }

    #[test]
    fn whole_span_is_one_range() {
        assert!(Span::Whole.is_whole(u64::MAX));
        assert!(Span::Whole.ranges(7).eq(std::iter::once(0..7)));
    }
}
