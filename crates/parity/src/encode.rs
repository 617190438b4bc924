//! Encoding contents into recovery blocks.

use std::collections::BTreeSet;
use std::io;
use std::iter;
use std::ops::Range;

use crate::code::Encoder;
use crate::index::{Index, are};
use crate::layout::is_large;
use crate::load::Loader;
use crate::{Algorithms, Content, Error, LeftOut, Piece, Sources, Target, checksum, round_up};

/// How much of a large content is read at once: whole blocks, whose length is a power of two.
const READ: u64 = 1 << 20;

/// A content that no file has.
pub(crate) struct Failed {
    pub(crate) content: usize,
    pub(crate) why: LeftOut,
    /// The ranges of the content that no file has.
    pub(crate) lost: Vec<Range<u64>>,
}

/// The state of a file that is being written.
pub(crate) struct Writer<'w> {
    pub(crate) file: &'w dyn Target,
    pub(crate) index: Index,
    /// The next block.
    pub(crate) next: u64,
    /// The batch that is being encoded.
    pub(crate) encoder: Option<(usize, Encoder)>,
}

impl Writer<'_> {
    /// Encodes all contents from the next block on, and returns those that no file has. Small ones are zeros then; of large
    /// ones, the blocks are not to be used. The blocks of large contents that are known (`is_known`) have checksums already,
    /// and only such blocks are encoded.
    pub(crate) fn encode(
        &mut self,
        sources: &mut dyn Sources,
        is_known: &dyn Fn(usize) -> bool,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Failed>, Error> {
        let block = self.index.layout.block;
        let mut buf = vec![0; block as usize];
        let (mut filled, mut skipped) = (0, Vec::new());
        let start = self.next * block;
        let first = self.index.layout.pieces.partition_point(|piece| piece.place < start);
        let pieces = self.index.layout.pieces[first..].to_vec();
        for own in pieces.chunk_by(|one, other| one.content == other.content) {
            let nth = own[0].content;
            let Content { size, digests } = self.index.contents[nth].clone();
            let whole = || iter::once(0..size).collect();
            if is_large(size, block) {
                if filled > 0 {
                    self.add(&buf)?;
                    buf.fill(0);
                    filled = 0;
                }
                if is_known(nth) {
                    let lost = self.known(nth, own, sources)?;
                    if !lost.is_empty() {
                        skipped.push(Failed { content: nth, why: LeftOut::Differs, lost });
                    }
                    progress(own.iter().map(|piece| piece.len).sum());
                    continue;
                }
                let ranges = own.iter().map(|piece| piece.offset..piece.offset + piece.len);
                if let Err(why) = self.large(nth, &digests, ranges, size, sources)? {
                    skipped.push(Failed { content: nth, why, lost: whole() });
                }
            } else {
                let content = small(nth, size, &digests, &self.index.algorithms, sources);
                let fail = |why| skipped.push(Failed { content: nth, why, lost: whole() });
                let content = content.map_err(fail).unwrap_or_default();
                // A content that is skipped leaves its place empty.
                for piece in own {
                    let mut done = 0;
                    while done < piece.len {
                        let at = piece.place + done;
                        while at / block > self.next {
                            self.add(&buf)?;
                            buf.fill(0);
                        }
                        let len = (block - at % block).min(piece.len - done);
                        if !content.is_empty() {
                            let from = &content[(piece.offset + done) as usize..][..len as usize];
                            buf[(at % block) as usize..][..len as usize].copy_from_slice(from);
                        }
                        (done, filled) = (done + len, 1);
                    }
                }
            }
            progress(size);
        }
        if filled > 0 {
            self.add(&buf)?;
        }
        // What is only a hole has no piece. Its digests must be right nevertheless.
        let mut is_hole: Vec<_> = self.index.contents.iter().map(|content| content.size > 0).collect();
        self.index.layout.pieces.iter().for_each(|piece| is_hole[piece.content] = false);
        for nth in (0..is_hole.len()).filter(|nth| is_hole[*nth] && !is_known(*nth)) {
            let Content { size, digests } = self.index.contents[nth].clone();
            if let Err(why) = self.large(nth, &digests, iter::empty(), size, sources)? {
                skipped.push(Failed { content: nth, why, lost: iter::once(0..size).collect() });
            }
            progress(size);
        }
        Ok(skipped)
    }

    /// Encodes a large content, which begins with a block.
    fn large(
        &mut self,
        nth: usize,
        digests: &[u8],
        ranges: impl Iterator<Item = Range<u64>>,
        size: u64,
        sources: &mut dyn Sources,
    ) -> Result<Result<(), LeftOut>, Error> {
        let block = self.index.layout.block;
        let zeros = vec![0; block as usize];
        let (candidate, mut result) = readable(nth, sources);
        let mut hashers = self.index.algorithms.hashers();
        let mut hash = |bytes: &[u8]| hashers.iter_mut().for_each(|hasher| hasher.update(bytes));
        let mut at = 0;
        let mut buf = vec![0; READ.max(block) as usize];
        let skip = |from: u64, to: u64, hash: &mut dyn FnMut(&[u8])| {
            let mut at = from;
            while at < to {
                let len = block.min(to - at);
                hash(&zeros[..len as usize]);
                at += len;
            }
        };
        for range in ranges {
            skip(at, range.start, &mut hash);
            at = range.start;
            while at < range.end {
                let len = (buf.len() as u64).min(range.end - at) as usize;
                let part = &mut buf[..round_up(len as u64, block) as usize];
                part[len..].fill(0);
                if result.is_ok()
                    && let Err(error) = sources.read(nth, candidate, at, &mut part[..len])
                {
                    result = Err(LeftOut::Unreadable(error));
                }
                if result.is_err() {
                    part.fill(0);
                }
                hash(&part[..len]);
                for bytes in part.chunks_exact(block as usize) {
                    self.add(bytes)?;
                }
                at += len as u64;
            }
        }
        skip(at, size, &mut hash);
        if result.is_ok() && !are(hashers, digests) {
            result = Err(LeftOut::Differs);
        }
        Ok(result)
    }

    /// Encodes pieces of a large content, which have checksums. Returns the ranges of the content that no file has.
    fn known(
        &mut self,
        nth: usize,
        own: &[Piece],
        sources: &mut dyn Sources,
    ) -> Result<Vec<Range<u64>>, Error> {
        let block = self.index.layout.block;
        let (mut buf, mut lost) = (vec![0; block as usize], Vec::new());
        for piece in own {
            for start in (0..piece.len).step_by(block as usize) {
                let len = block.min(piece.len - start);
                let offset = piece.offset + start;
                let sum = self.index.data_sums[self.next as usize];
                let candidates = sources.candidates(nth);
                let has = |candidate| {
                    buf.fill(0);
                    let part = &mut buf[..len as usize];
                    sources.part(nth, candidate, offset, part).is_ok() && checksum(&[&buf]) == sum
                };
                if !(0..candidates).any(has) {
                    buf.fill(0);
                    lost.push(offset..offset + len);
                }
                self.add(&buf)?;
            }
        }
        Ok(lost)
    }

    /// Encodes the next block.
    fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.index.data_sums[self.next as usize] = checksum(&[bytes]);
        let (nth, mut encoder) = self.encoder.take().unwrap_or_else(|| {
            let nth = self.index.batches.partition_point(|batch| batch.range().end <= self.next);
            (nth, Encoder::new(self.index.batches[nth], self.index.layout.block))
        });
        encoder.add(bytes);
        self.next += 1;
        if self.next < self.index.batches[nth].range().end {
            self.encoder = Some((nth, encoder));
            return Ok(());
        }
        let mut offset = self.index.batches[nth].offset;
        let mut sum = self.index.batches[nth].earlier as usize;
        encoder.finish(|block| {
            self.file.write_all_at(block, offset)?;
            self.index.recovery_sums[sum] = checksum(&[block]);
            offset += block.len() as u64;
            sum += 1;
            Ok(())
        })
    }

    /// Encodes the batches again that have blocks of large contents which are skipped, without these.
    pub(crate) fn encode_again(&mut self, sources: &mut dyn Sources, skipped: &[usize]) -> Result<(), Error> {
        let block = self.index.layout.block;
        let set: BTreeSet<_> = skipped.iter().copied().collect();
        let mut removed: BTreeSet<u64> = BTreeSet::new();
        for piece in &self.index.layout.pieces {
            if set.contains(&piece.content) && is_large(self.index.contents[piece.content].size, block) {
                removed.extend(piece.place / block..piece.range().end.div_ceil(block));
            }
        }
        if removed.is_empty() {
            return Ok(());
        }
        let before = self.index.clone().without(skipped);
        // Positions of contents differ now.
        let kept: Vec<_> = (0..self.index.contents.len()).filter(|nth| !set.contains(nth)).collect();
        let mut sources = Renumbered { sources, kept: &kept };
        let mut buf = vec![0; block as usize];
        for batch in self.index.batches.clone() {
            if removed.range(batch.range()).next().is_none() {
                continue;
            }
            let mut loader = Loader::new(&before, &mut sources);
            self.next = batch.first;
            for at in batch.range() {
                match removed.contains(&at) {
                    true => buf.fill(0),
                    false
                        if loader.load(at, &mut buf).is_empty()
                            && checksum(&[&buf]) == before.data_sums[at as usize] => {}
                    false => return Err(Error::Changed),
                }
                self.add(&buf)?;
            }
        }
        Ok(())
    }
}

/// The files of some contents.
pub(crate) struct Renumbered<'r> {
    pub(crate) sources: &'r mut dyn Sources,
    /// The positions of these contents.
    pub(crate) kept: &'r [usize],
}

impl Sources for Renumbered<'_> {
    fn candidates(&mut self, content: usize) -> usize {
        self.sources.candidates(self.kept[content])
    }

    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.sources.read(self.kept[content], candidate, offset, buf)
    }

    fn part(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.sources.part(self.kept[content], candidate, offset, buf)
    }
}

/// Returns the first file that can be read.
fn readable(nth: usize, sources: &mut dyn Sources) -> (usize, Result<(), LeftOut>) {
    let mut result = Err(LeftOut::Differs);
    for candidate in 0..sources.candidates(nth) {
        match sources.read(nth, candidate, 0, &mut [0]) {
            Ok(()) => return (candidate, Ok(())),
            Err(error) => result = Err(LeftOut::Unreadable(error)),
        }
    }
    (0, result)
}

/// Reads a small content from the first file that has it.
fn small(
    nth: usize,
    size: u64,
    digests: &[u8],
    algorithms: &Algorithms,
    sources: &mut dyn Sources,
) -> Result<Vec<u8>, LeftOut> {
    let mut result = Err(LeftOut::Differs);
    let mut content = vec![0; size as usize];
    for candidate in 0..sources.candidates(nth) {
        match sources.read(nth, candidate, 0, &mut content) {
            Ok(()) if algorithms.match_digests(&content, digests) => return Ok(content),
            Ok(()) => result = Err(LeftOut::Differs),
            Err(error) => result = Err(LeftOut::Unreadable(error)),
        }
    }
    result
}
