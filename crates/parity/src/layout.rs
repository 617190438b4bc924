//! The places of contents in the stream.

use std::ops::Range;

use crate::{UNIT, round_up};

/// A content of at least this many blocks has blocks of its own. Others share blocks.
const LARGE: u64 = 16;

/// A part of a content, and its place in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The position of the content.
    pub content: usize,
    /// Where the part begins in the content.
    pub offset: u64,
    /// Where it is in the stream: at a multiple of [`UNIT`].
    pub place: u64,
    /// Its length in bytes: at least one.
    pub len: u64,
}

impl Piece {
    /// Returns its range in the stream.
    pub fn range(&self) -> Range<u64> {
        self.place..self.place + self.len
    }

    /// Returns the part of it that is within a range of the stream, if there is one.
    pub fn within(&self, range: &Range<u64>) -> Option<Self> {
        let start = self.place.max(range.start);
        let end = (self.place + self.len).min(range.end);
        let offset = self.offset + (start.max(self.place) - self.place);
        (start < end).then(|| Self { offset, place: start, len: end - start, ..*self })
    }
}

/// The places of all contents in the stream. Bytes of the stream without a content are zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The pieces, in the order of the stream. What of a content has no piece is a hole: zeros.
    pub pieces: Vec<Piece>,
    /// The number of blocks.
    pub blocks: u64,
    /// The length of a block in bytes.
    pub block: u64,
}

impl Layout {
    /// Gives each content a place. `data` returns, by its position, the ascending ranges of a content outside which it
    /// has holes. Small contents come first, and hole or not, are stored whole. A larger one has whole blocks of its own,
    /// so the checksums of these depend on no other content.
    pub fn new(block: u64, sizes: &[u64], mut data: impl FnMut(usize) -> Vec<Range<u64>>) -> Self {
        let mut pieces = Vec::new();
        let mut place = 0;
        for (content, &size) in sizes.iter().enumerate() {
            if size > 0 && !is_large(size, block) {
                place = round_up(place, UNIT);
                pieces.push(Piece { content, offset: 0, place, len: size });
                place = place.saturating_add(size);
            }
        }
        for (content, &size) in sizes.iter().enumerate() {
            if is_large(size, block) {
                let mut end = 0;
                for range in data(content) {
                    let start = (range.start / block * block).max(end);
                    end = round_up(range.end, block).min(size);
                    if start < end {
                        place = round_up(place, block);
                        pieces.push(Piece { content, offset: start, place, len: end - start });
                        place = place.saturating_add(end - start);
                        end = round_up(end, block);
                    }
                }
            }
        }
        Self { pieces, blocks: place.div_ceil(block), block }
    }

    /// Returns the range of a block in the stream.
    pub fn range_of(&self, block: u64) -> Range<u64> {
        block * self.block..(block + 1) * self.block
    }

    /// Returns the parts of contents that a block has.
    pub fn pieces_of(&self, block: u64) -> impl Iterator<Item = Piece> + '_ {
        let range = self.range_of(block);
        let first = self.pieces.partition_point(|piece| piece.range().end <= range.start);
        self.pieces[first..].iter().map_while(move |piece| piece.within(&range))
    }
}

/// Returns whether a content of this size has blocks of its own.
pub(crate) fn is_large(size: u64, block: u64) -> bool {
    size >= LARGE * block
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "a content without holes is one range")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BLOCK: u64 = 4096;

    #[test]
    fn small_contents_share_blocks_and_large_ones_do_not() {
        let sizes = [100, LARGE * BLOCK + 1, 0, 64, 5000];
        let layout = Layout::new(BLOCK, &sizes, |nth| vec![0..sizes[nth]]);
        let places: Vec<_> =
            layout.pieces.iter().map(|piece| (piece.content, piece.place, piece.len)).collect();
        assert_eq!(places, [(0, 0, 100), (3, 128, 64), (4, 192, 5000), (1, 2 * BLOCK, LARGE * BLOCK + 1)]);
        assert_eq!(layout.blocks, 2 + LARGE + 1);
        let first: Vec<_> =
            layout.pieces_of(1).map(|piece| (piece.content, piece.offset, piece.len)).collect();
        assert_eq!(first, [(4, BLOCK - 192, 5000 + 192 - BLOCK)]);
        assert_eq!(layout.pieces_of(layout.blocks - 1).next().unwrap().len, 1);
    }

    #[test]
    fn holes_of_large_contents_have_no_place() {
        let size = 100 * BLOCK;
        let data = vec![5..6, BLOCK - 1..BLOCK + 1, 50 * BLOCK..51 * BLOCK, 99 * BLOCK + 7..size];
        let layout = Layout::new(BLOCK, &[size], |_| data.clone());
        let parts: Vec<_> =
            layout.pieces.iter().map(|piece| (piece.offset / BLOCK, piece.len / BLOCK)).collect();
        assert_eq!(parts, [(0, 1), (1, 1), (50, 1), (99, 1)]);
        assert_eq!(layout.blocks, 4);
    }

    proptest! {
        #[test]
        fn pieces_have_units_of_their_own(sizes in prop::collection::vec(0_u64..40 * BLOCK, 0..40)) {
            let layout = Layout::new(BLOCK, &sizes, |nth| vec![0..sizes[nth]]);
            let mut end = 0;
            for piece in &layout.pieces {
                prop_assert!(piece.place % UNIT == 0 && piece.place >= end && piece.len > 0);
                if is_large(sizes[piece.content], BLOCK) {
                    prop_assert!(piece.place % BLOCK == 0);
                }
                let unit = if is_large(sizes[piece.content], BLOCK) { BLOCK } else { UNIT };
                end = round_up(piece.range().end, unit);
            }
            prop_assert_eq!(layout.blocks, end.div_ceil(BLOCK));
            let mut stored = vec![0; sizes.len()];
            for block in 0..layout.blocks {
                layout.pieces_of(block).for_each(|piece| stored[piece.content] += piece.len);
            }
            prop_assert_eq!(stored, sizes);
        }
    }
}
