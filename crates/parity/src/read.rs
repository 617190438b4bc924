//! Reading parity files.

use ftk_file::File;

use crate::head::{Head, MAGIC};
use crate::index::Index;
use crate::pages::{self, Kind};
use crate::{Algorithms, Batch, Content, Error, checksum};

/// Returns whether a file begins or ends as a parity file. Its head may nevertheless be damaged.
pub fn is_parity(file: &File) -> bool {
    let mut start = [0; MAGIC.len()];
    file.read_exact_at(&mut start, 0).is_ok() && start == *MAGIC || Head::find(file).is_ok()
}

/// A parity file.
#[derive(Debug)]
pub struct Parity {
    file: File,
    pub(crate) head: Head,
    /// Where its undamaged copies are.
    pub(crate) heads: Vec<u64>,
    pub(crate) index: Index,
}

/// What is damaged in a parity file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Copies of the head, of three.
    pub heads: u64,
    /// Pages of the two copies of the index and the manifest. Every page has an undamaged copy.
    pub pages: u64,
    /// Recovery blocks.
    pub blocks: u64,
    /// The largest number of damaged recovery blocks in one group.
    pub worst: u64,
}

impl Condition {
    /// Returns whether nothing is damaged.
    pub fn is_good(&self) -> bool {
        *self == Self::default()
    }
}

impl Parity {
    /// Reads the head and the index, in at most `memory` bytes.
    ///
    /// # Errors
    /// If no copy of the head is undamaged, or a page of the index in both copies, if they contradict themselves, or if
    /// this needs more memory.
    pub fn open(file: File, memory: u64) -> Result<Self, Error> {
        let (head, heads) = Head::find(&file)?;
        if head.index.len.saturating_mul(Index::HELD) > memory {
            return Err(Error::TooLarge);
        }
        let bytes = pages::read(&file, &head.salt(), Kind::Index, &head.index)?;
        let index = Index::decode(&bytes, head.block, head.len)?;
        Ok(Self { file, head, heads, index })
    }

    /// Returns the algorithms of the digests.
    pub fn algorithms(&self) -> &Algorithms {
        &self.index.algorithms
    }

    /// Returns the contents that it protects.
    pub fn contents(&self) -> &[Content] {
        &self.index.contents
    }

    /// Returns how many bytes of memory its tables use, about.
    pub fn held(&self) -> u64 {
        let index = &self.index;
        let contents: usize = index.contents.iter().map(|it| size_of_val(it) + it.digests.len() + 16).sum();
        let pieces = size_of_val(&*index.layout.pieces) + size_of_val(&*index.batches);
        (contents + pieces + 8 * (index.data_sums.len() + index.recovery_sums.len())) as u64
    }

    /// Returns the batches.
    pub fn batches(&self) -> &[Batch] {
        &self.index.batches
    }

    /// Returns the length of a block in bytes.
    pub fn block_len(&self) -> u64 {
        self.head.block
    }

    /// Returns the length of the file in bytes, with what follows its end.
    pub(crate) fn len(&self) -> u64 {
        self.file.stat().size
    }

    /// Reads the manifest, as the writer was given it: compressed with Zstandard, and at most `memory` bytes long.
    ///
    /// # Errors
    /// If a page of it is damaged in both copies, or if it is longer.
    pub fn manifest(&self, memory: u64) -> Result<Vec<u8>, Error> {
        if self.head.manifest.len > memory {
            return Err(Error::TooLarge);
        }
        pages::read(&self.file, &self.head.salt(), Kind::Manifest, &self.head.manifest)
    }

    /// Reads everything, and counts what is damaged.
    ///
    /// # Errors
    /// If a page of the index or the manifest is damaged in both copies.
    pub fn verify(&self) -> Result<Condition, Error> {
        let heads = 3 - self.heads.len() as u64;
        let mut condition = Condition { heads, pages: self.damaged_pages()?, ..Condition::default() };
        for nth in 0..self.index.batches.len() {
            let damaged = self.damaged(nth);
            condition.blocks += damaged.iter().sum::<u64>();
            condition.worst = condition.worst.max(damaged.into_iter().max().unwrap_or(0));
        }
        Ok(condition)
    }

    /// Reads both copies of the index and the manifest. Returns how many pages are damaged.
    pub(crate) fn damaged_pages(&self) -> Result<u64, Error> {
        let sections = [(Kind::Index, &self.head.index), (Kind::Manifest, &self.head.manifest)];
        let check = |(kind, section)| pages::check(&self.file, &self.head.salt(), kind, section);
        sections.into_iter().map(check).sum()
    }

    /// Reads the recovery blocks of a batch. Returns how many are damaged, by group.
    pub(crate) fn damaged(&self, nth: usize) -> Vec<u64> {
        let batch = &self.index.batches[nth];
        let (mut buf, mut damaged) = (vec![0; self.head.block as usize], vec![0; batch.groups as usize]);
        for row in 0..batch.recovery {
            for group in 0..batch.groups {
                let is_good = self.recovery(nth, group, row, &mut buf);
                damaged[group as usize] += u64::from(!is_good);
            }
        }
        damaged
    }

    /// Reads a recovery block. Returns whether it is undamaged.
    pub(crate) fn recovery(&self, batch: usize, group: u64, row: u64, buf: &mut [u8]) -> bool {
        let at = &self.index.batches[batch];
        let nth = row * at.groups + group;
        let sum = self.index.recovery_sums[(at.earlier + nth) as usize];
        self.file.read_exact_at(buf, at.offset + nth * self.head.block).is_ok() && checksum(&[buf]) == sum
    }
}
