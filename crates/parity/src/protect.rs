//! Writing parity files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use crate::code::Encoder;
use crate::head::Head;
use crate::index::{Index, are};
use crate::layout::is_large;
use crate::load::Loader;
use crate::pages::{self, Kind, PAGE, Section};
use crate::{
    Algorithms, Batch, Content, Error, Layout, Redundancy, Sources, batches, block_len, checksum, round_up,
};

/// How much of a large content is read at once: whole blocks, whose length is a power of two.
const READ: u64 = 1 << 20;

/// Checksums may always use so many bytes.
const LEAST: u64 = 16 << 20;

/// What a parity file will be.
#[derive(Clone, Debug)]
pub struct Plan {
    index: Index,
}

/// Why a content is not protected.
#[derive(Debug)]
pub enum LeftOut {
    /// No file has it: the content of those that could be read differs.
    Differs,
    /// No file could be read.
    Unreadable(io::Error),
}

/// The result of writing a parity file.
#[derive(Debug)]
pub struct Protected {
    /// The contents that are not protected, by their position.
    pub skipped: Vec<(usize, LeftOut)>,
    /// The length of the file in bytes.
    pub len: u64,
}

impl Plan {
    /// Makes a plan. `data` returns, by the position of a content, the ranges outside which it has holes. `memory` is what
    /// the encoder may use, in bytes. The redundancy is raised until a file of `lost_file` bytes may be lost anywhere.
    ///
    /// # Errors
    /// If the checksums of all blocks do not fit into the memory, or if no redundancy is high enough.
    pub fn new(
        algorithms: Algorithms,
        contents: Vec<Content>,
        mut data: impl FnMut(usize) -> Vec<Range<u64>>,
        mut redundancy: Redundancy,
        lost_file: u64,
        memory: u64,
    ) -> Result<Self, Error> {
        let sizes: Vec<_> = contents.iter().map(|content| content.size).collect();
        let total = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        let layout_of = |block, data: &mut dyn FnMut(usize) -> Vec<Range<u64>>| {
            let layout = Layout::new(block, &sizes, data);
            let is_small = layout.blocks.saturating_mul(16) <= memory.max(LEAST);
            is_small.then_some(layout).ok_or(Error::TooLarge)
        };
        let mut layout = layout_of(block_len(total, redundancy, memory), &mut data)?;
        let batches = loop {
            let block = block_len(total, redundancy, memory);
            if block != layout.block {
                layout = layout_of(block, &mut data)?;
            }
            let batches = batches(layout.blocks, block, redundancy, memory);
            // A file that shares blocks may begin within one.
            let lost = if lost_file == 0 { 0 } else { lost_file.div_ceil(block) + 1 };
            if batches.iter().all(|batch| batch.survives(lost)) {
                break batches;
            }
            redundancy = redundancy.next().ok_or(Error::NoPlan)?;
        };
        let recovery: u64 = batches.iter().map(Batch::recovery_blocks).sum();
        let (data_sums, recovery_sums) = (vec![0; layout.blocks as usize], vec![0; recovery as usize]);
        Ok(Self { index: Index { algorithms, batches, contents, layout, data_sums, recovery_sums } })
    }

    /// Returns the batches. Their offsets count from 0.
    pub fn batches(&self) -> &[Batch] {
        &self.index.batches
    }

    /// Returns the length of a block in bytes.
    pub fn block_len(&self) -> u64 {
        self.index.layout.block
    }

    /// Returns the number of blocks that are encoded.
    pub fn blocks(&self) -> u64 {
        self.index.layout.blocks
    }

    /// Returns the length of the parity file, with a manifest of this length.
    pub fn file_len(&self, manifest: u64) -> u64 {
        self.head(manifest, [0; 16]).len
    }

    /// Returns the head. The first copies are in front of the recovery blocks, and the second ones after them.
    fn head(&self, manifest: u64, id: [u8; 16]) -> Head {
        let index = self.index.encode().len() as u64;
        let block = self.index.layout.block;
        let first = 2 * PAGE + pages::pages_len(manifest);
        let recovery = self.index.recovery_sums.len() as u64 * block;
        let second = round_up(first + pages::pages_len(index) + recovery, PAGE);
        let other = second + pages::pages_len(manifest);
        Head {
            block,
            id,
            generation: 1,
            len: other + pages::pages_len(index) + PAGE,
            index: Section { len: index, copies: [first, other] },
            manifest: Section { len: manifest, copies: [2 * PAGE, second] },
        }
    }
}

/// Writes a parity file. A content that no file has is skipped, and never encoded. `progress` is called with the number of
/// bytes of contents that were read.
///
/// `file` must be empty and is not synced; `id` are random bytes, and `manifest` is kept as it is.
///
/// # Errors
/// If the file cannot be written, if a file changes meanwhile, or if the computer makes mistakes. The file is then of no
/// use.
pub fn protect(
    plan: Plan,
    sources: &mut dyn Sources,
    file: &fs::File,
    id: [u8; 16],
    manifest: &[u8],
    progress: &mut dyn FnMut(u64),
) -> Result<Protected, Error> {
    let mut head = plan.head(manifest.len() as u64, id);
    let Plan { mut index } = plan;
    let offset = head.index.copies[0] + pages::pages_len(head.index.len);
    index.batches.iter_mut().for_each(|batch| batch.offset += offset);
    let mut writer = Writer { file, index, next: 0, encoder: None };
    let skipped = writer.encode(sources, progress)?;
    let positions: Vec<_> = skipped.iter().map(|(content, _)| *content).collect();
    // The blocks of large contents were encoded before their digests were known.
    writer.encode_again(sources, &positions)?;
    let index = writer.index.without(&positions).encode();
    head.index.len = index.len() as u64;
    pages::write(file, &id, Kind::Manifest, &head.manifest, manifest)?;
    pages::write(file, &id, Kind::Index, &head.index, &index)?;
    for offset in [head.len - PAGE, PAGE, 0] {
        file.write_all_at(&head.encode(), offset)?;
    }
    Ok(Protected { skipped, len: head.len })
}

/// The state of a file that is being written.
struct Writer<'w> {
    file: &'w fs::File,
    index: Index,
    /// The next block.
    next: u64,
    /// The batch that is being encoded.
    encoder: Option<(usize, Encoder)>,
}

impl Writer<'_> {
    /// Encodes all contents, and returns those that no file has. Small ones are zeros then; of large ones, the blocks are
    /// not to be used.
    fn encode(
        &mut self,
        sources: &mut dyn Sources,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<(usize, LeftOut)>, Error> {
        let block = self.index.layout.block;
        let mut buf = vec![0; block as usize];
        let (mut filled, mut skipped) = (0, Vec::new());
        let pieces = self.index.layout.pieces.clone();
        for own in pieces.chunk_by(|one, other| one.content == other.content) {
            let nth = own[0].content;
            let Content { size, digests } = self.index.contents[nth].clone();
            if is_large(size, block) {
                if filled > 0 {
                    self.add(&buf)?;
                    buf.fill(0);
                    filled = 0;
                }
                let ranges = own.iter().map(|piece| piece.offset..piece.offset + piece.len);
                if let Err(why) = self.large(nth, &digests, ranges, size, sources)? {
                    skipped.push((nth, why));
                }
            } else {
                let content = small(nth, size, &digests, &self.index.algorithms, sources);
                let place = own[0].place;
                let content = content.map_err(|why| skipped.push((nth, why))).unwrap_or_default();
                // A content that is skipped leaves its place empty.
                let mut done = 0;
                while done < size {
                    let at = place + done;
                    while at / block > self.next {
                        self.add(&buf)?;
                        buf.fill(0);
                    }
                    let len = (block - at % block).min(size - done);
                    if !content.is_empty() {
                        let from = &content[done as usize..][..len as usize];
                        buf[(at % block) as usize..][..len as usize].copy_from_slice(from);
                    }
                    (done, filled) = (done + len, 1);
                }
            }
            progress(size);
        }
        if filled > 0 {
            self.add(&buf)?;
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
    fn encode_again(&mut self, sources: &mut dyn Sources, skipped: &[usize]) -> Result<(), Error> {
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

/// The files of the contents that were not skipped.
struct Renumbered<'r> {
    sources: &'r mut dyn Sources,
    kept: &'r [usize],
}

impl Sources for Renumbered<'_> {
    fn candidates(&mut self, content: usize) -> usize {
        self.sources.candidates(self.kept[content])
    }

    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.sources.read(self.kept[content], candidate, offset, buf)
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
