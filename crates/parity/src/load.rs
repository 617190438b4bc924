//! Loading blocks of the stream from the files that may have their contents.

use std::collections::HashMap;
use std::ops::Range;

use crate::index::Index;
use crate::layout::is_large;
use crate::{Piece, Sources, UNIT, checksum, round_up};

/// Loads blocks, and says which bytes of them are not known.
pub(crate) struct Loader<'l> {
    index: &'l Index,
    sources: &'l mut dyn Sources,
    /// The files that have small contents which were examined. `None`: no file has it.
    examined: HashMap<usize, Option<usize>>,
}

impl<'l> Loader<'l> {
    pub(crate) fn new(index: &'l Index, sources: &'l mut dyn Sources) -> Self {
        Self { index, sources, examined: HashMap::new() }
    }

    /// Loads a block into `buf`. Returns the ranges of the block that are lost, in whole units. Everything else was checked.
    pub(crate) fn load(&mut self, block: u64, buf: &mut [u8]) -> Vec<Range<u64>> {
        let pieces: Vec<_> = self.index.layout.pieces_of(block).collect();
        let Some(first) = pieces.first() else {
            buf.fill(0);
            return Vec::new();
        };
        let candidates = match is_large(self.index.contents[first.content].size, self.index.layout.block) {
            true => self.sources.candidates(first.content),
            false => 1,
        };
        for candidate in 0..candidates {
            buf.fill(0);
            if pieces.iter().all(|piece| self.read(block, piece, candidate, buf)) && self.is_right(block, buf)
            {
                return Vec::new();
            }
        }
        buf.fill(0);
        let (mut unknown, mut lost) = (Vec::new(), Vec::new());
        for piece in &pieces {
            let is_known = !is_large(self.index.contents[piece.content].size, self.index.layout.block)
                && self.examine(block, piece, buf);
            if !is_known {
                let start = piece.place - block * self.index.layout.block;
                unknown.push(piece);
                lost.push(start..round_up(start + piece.len, UNIT));
            }
        }
        // A file that is damaged elsewhere may still have its part of this block.
        let is_whole = unknown.len() < pieces.len()
            && unknown.iter().all(|piece| self.read(block, piece, 0, buf))
            && self.is_right(block, buf);
        if is_whole { Vec::new() } else { lost }
    }

    fn is_right(&self, block: u64, buf: &[u8]) -> bool {
        checksum(&[buf]) == self.index.data_sums[block as usize]
    }

    /// Copies a part of a small content, if a file has it.
    fn examine(&mut self, block: u64, piece: &Piece, buf: &mut [u8]) -> bool {
        let all = match self.examined.get(&piece.content) {
            Some(None) => return false,
            Some(Some(known)) => *known..*known + 1,
            None => 0..self.sources.candidates(piece.content),
        };
        let content = &self.index.contents[piece.content];
        let mut bytes = vec![0; content.size as usize];
        let found = all.into_iter().find(|&candidate| {
            self.sources.part(piece.content, candidate, 0, &mut bytes).is_ok()
                && self.index.algorithms.match_digests(&bytes, &content.digests)
        });
        self.examined.insert(piece.content, found);
        if found.is_some() {
            let from = &bytes[piece.offset as usize..][..piece.len as usize];
            self.part(block, piece, buf).copy_from_slice(from);
        }
        found.is_some()
    }

    fn read(&mut self, block: u64, piece: &Piece, candidate: usize, buf: &mut [u8]) -> bool {
        let buf = self.part(block, piece, buf);
        self.sources.part(piece.content, candidate, piece.offset, buf).is_ok()
    }

    /// Returns the part of a block that a piece has.
    fn part<'b>(&self, block: u64, piece: &Piece, buf: &'b mut [u8]) -> &'b mut [u8] {
        let start = piece.place - block * self.index.layout.block;
        &mut buf[start as usize..][..piece.len as usize]
    }
}
