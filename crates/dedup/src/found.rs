//! The result of the funnel, before groups are sorted.

use ftk_inventory::{FileNo, Inventory};
use ftk_process::Failed;

use crate::Groups;
use crate::links::Links;

/// Files that share their size and digest, and files that could not be read.
#[derive(Debug)]
pub struct Found<'i> {
    /// Candidates that are in no group because they could not be read or have changed, sorted by number.
    pub failed: Vec<Failed>,
    /// The number of candidates that were not processed. Above 0 only if the run was stopped.
    pub pending: u64,
    pub(crate) inventory: &'i Inventory,
    pub(crate) links: Links,
    pub(crate) equal: Equal,
}

impl Found<'_> {
    /// Sorts the groups and adds the other hard links of their files.
    pub fn into_groups(self) -> Groups {
        Groups::new(self.inventory, &self.links, self.equal)
    }
}

/// Sets of identical files. Each file is represented by one name.
#[derive(Debug)]
pub(crate) struct Equal {
    /// The size of the files, and where the set ends in `files`.
    sets: Vec<(u64, u32)>,
    files: Vec<FileNo>,
    pub(crate) digests: Vec<u8>,
    pub(crate) width: usize,
}

/// One set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Set<'e> {
    pub(crate) size: u64,
    pub(crate) digest: &'e [u8],
    pub(crate) files: &'e [FileNo],
}

impl Equal {
    /// Creates an empty list, for digests of `width` bytes.
    pub(crate) fn new(width: usize) -> Self {
        Self { sets: Vec::new(), files: Vec::new(), digests: Vec::new(), width }
    }

    pub(crate) fn push(&mut self, size: u64, digest: &[u8], files: impl IntoIterator<Item = FileNo>) {
        self.files.extend(files);
        self.digests.extend_from_slice(digest);
        self.sets.push((size, self.files.len() as u32));
    }

    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    pub(crate) fn get(&self, nth: usize) -> Option<Set<'_>> {
        let &(size, end) = self.sets.get(nth)?;
        let start = nth.checked_sub(1).map_or(0, |before| self.sets[before].1);
        Some(Set {
            size,
            digest: &self.digests[nth * self.width..][..self.width],
            files: &self.files[start as usize..end as usize],
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Set<'_>> {
        (0..self.len()).map_while(|nth| self.get(nth))
    }
}
