//! Writing parity files.

use std::io;

use crate::encode::Writer;
use crate::head::Head;
use crate::index::Index;
use crate::pages::{self, Kind, PAGE, Section};
use crate::{
    Algorithms, Batch, Content, Error, Layout, Redundancy, Sources, Target, batches, block_len, round_up,
};

/// Checksums may always use so many bytes.
const LEAST: u64 = 16 << 20;

/// What a parity file will be.
#[derive(Clone, Debug)]
pub struct Plan {
    index: Index,
    /// What was asked for, which an update also needs.
    redundancy: Redundancy,
    lost_file: u64,
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
    /// Makes a plan. `memory` is what the encoder may use, in bytes. The redundancy is raised until a file of `lost_file`
    /// bytes may be lost anywhere. Of the sources, only [`data`](Sources::data) is used.
    ///
    /// # Errors
    /// If the checksums of all blocks do not fit into the memory, or if no redundancy is high enough.
    pub fn new(
        algorithms: Algorithms,
        contents: Vec<Content>,
        sources: &mut dyn Sources,
        asked: Redundancy,
        lost_file: u64,
        memory: u64,
    ) -> Result<Self, Error> {
        let sizes: Vec<_> = contents.iter().map(|content| content.size).collect();
        let total = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        let mut layout_of = |block| {
            let layout = Layout::new(block, &sizes, |nth| sources.data(nth, sizes[nth]));
            fits(layout.blocks, memory).then_some(layout).ok_or(Error::TooLarge)
        };
        let mut redundancy = asked;
        let mut layout = layout_of(block_len(total, redundancy, memory))?;
        let batches = loop {
            let block = block_len(total, redundancy, memory);
            if block != layout.block {
                layout = layout_of(block)?;
            }
            let batches = batches(layout.blocks, block, redundancy, memory);
            let lost = blocks_of(lost_file, block);
            if batches.iter().all(|batch| batch.survives(lost)) {
                break batches;
            }
            redundancy = redundancy.next().ok_or(Error::NoPlan)?;
        };
        let recovery: u64 = batches.iter().map(Batch::recovery_blocks).sum();
        let (data_sums, recovery_sums) = (vec![0; layout.blocks as usize], vec![0; recovery as usize]);
        let index = Index { algorithms, batches, contents, layout, data_sums, recovery_sums };
        Ok(Self { index, redundancy: asked, lost_file })
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
            redundancy: self.redundancy.millionths(),
            lost_file: self.lost_file,
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
    file: &dyn Target,
    id: [u8; 16],
    manifest: &[u8],
    progress: &mut dyn FnMut(u64),
) -> Result<Protected, Error> {
    let mut head = plan.head(manifest.len() as u64, id);
    let mut index = plan.index;
    let offset = head.index.copies[0] + pages::pages_len(head.index.len);
    index.batches.iter_mut().for_each(|batch| batch.offset += offset);
    let mut writer = Writer { file, index, next: 0, encoder: None };
    let skipped = writer.encode(sources, &|_| false, progress)?;
    let positions: Vec<_> = skipped.iter().map(|failed| failed.content).collect();
    // The blocks of large contents were encoded before their digests were known.
    writer.encode_again(sources, &positions)?;
    let index = writer.index.without(&positions).encode();
    head.index.len = index.len() as u64;
    pages::write(file, &head.salt(), Kind::Manifest, &head.manifest, manifest)?;
    pages::write(file, &head.salt(), Kind::Index, &head.index, &index)?;
    for offset in [head.len - PAGE, PAGE, 0] {
        file.write_all_at(&head.encode(), offset)?;
    }
    let skipped = skipped.into_iter().map(|failed| (failed.content, failed.why)).collect();
    Ok(Protected { skipped, len: head.len })
}

/// Returns whether the checksums of so many blocks fit into the memory.
pub(crate) fn fits(blocks: u64, memory: u64) -> bool {
    blocks.saturating_mul(16) <= memory.max(LEAST)
}

/// Returns how many blocks are lost with a file of so many bytes. One that shares blocks may begin within one.
pub(crate) fn blocks_of(lost_file: u64, block: u64) -> u64 {
    if lost_file == 0 { 0 } else { lost_file.div_ceil(block) + 1 }
}
