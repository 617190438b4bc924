//! What is known about each directory.

use ftk_file::FileType;
use ftk_inventory::{DirNo, FileNo, Inventory};

use crate::dirs::{Class, Contents};

/// Facts about all directories, each a column by the number of the directory.
#[derive(Debug)]
pub(crate) struct DirTable<'i> {
    pub(crate) inventory: &'i Inventory,
    pub(crate) contents: &'i Contents,
    /// The number after the last directory below.
    ends: Vec<u32>,
    facts: Vec<Facts>,
}

/// Facts about a directory and everything below it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// Sizes of all files.
    pub(crate) bytes: u64,
    /// Files.
    pub(crate) files: u32,
    /// Files, directories and other entries.
    pub(crate) entries: u32,
    /// Contents: files, links, special files and empty directories.
    pub(crate) contents: u32,
    /// Whether an entry is missing from the table, or the content of a file is unknown.
    pub(crate) is_partial: bool,
    /// Whether a file has a content that no other file has.
    pub(crate) has_unique: bool,
}

impl<'i> DirTable<'i> {
    /// Memory for a table and the digests, in bytes per directory.
    pub(crate) const BYTES_PER_DIR: usize = size_of::<u32>() + size_of::<Facts>() + 3 * size_of::<u128>();

    pub(crate) fn new(inventory: &'i Inventory, contents: &'i Contents) -> Self {
        let n_dirs = inventory.dirs();
        let mut ends: Vec<u32> = (1..=n_dirs).collect();
        let mut facts = vec![Facts::default(); n_dirs as usize];
        // A directory has a smaller number than those below it.
        for dir in (0..n_dirs).rev() {
            if let Some(parent) = inventory.parent(DirNo(dir)) {
                let parent = parent.0 as usize;
                ends[parent] = ends[parent].max(ends[dir as usize]);
            }
        }
        let mut table = Self { inventory, contents, ends, facts: Vec::new() };
        for dir in (0..n_dirs).rev().map(DirNo) {
            let own = table.own_facts(dir);
            let below = table.children(dir).map(|child| facts[child.0 as usize]);
            facts[dir.0 as usize] = below.fold(own, Facts::and);
        }
        table.facts = facts;
        table
    }

    /// Returns the number after the last directory below this one. All directories below have consecutive numbers.
    pub(crate) fn end(&self, dir: DirNo) -> u32 {
        self.ends[dir.0 as usize]
    }

    /// Returns whether a directory is this one or below it.
    pub(crate) fn is_in(&self, dir: DirNo, outer: DirNo) -> bool {
        (outer.0..self.end(outer)).contains(&dir.0)
    }

    pub(crate) fn facts(&self, dir: DirNo) -> Facts {
        self.facts[dir.0 as usize]
    }

    /// Returns the numbers of all files below a directory, which are consecutive.
    pub(crate) fn files(&self, dir: DirNo) -> std::ops::Range<u32> {
        self.inventory.files_of(dir).start..self.inventory.files_of(DirNo(self.end(dir) - 1)).end
    }

    /// Returns all directories, ascending.
    pub(crate) fn dirs(&self) -> impl DoubleEndedIterator<Item = DirNo> + use<> {
        (0..self.inventory.dirs()).map(DirNo)
    }

    /// Returns the directories directly inside a directory that were listed, in the order of their numbers.
    pub(crate) fn children(&self, dir: DirNo) -> impl Iterator<Item = DirNo> {
        let end = self.end(dir);
        let within = move |next: u32| (next < end).then_some(DirNo(next));
        std::iter::successors(within(dir.0 + 1), move |child| within(self.end(*child)))
    }

    /// Returns the facts about a directory alone.
    fn own_facts(&self, dir: DirNo) -> Facts {
        let (inventory, contents) = (self.inventory, self.contents);
        let mut facts = Facts::default();
        for file in inventory.files_of(dir).map(FileNo) {
            let class = contents.class(file);
            facts.bytes = facts.bytes.saturating_add(inventory.size(dir, file));
            facts.files += 1;
            facts.is_partial |= class == Class::Unknown;
            facts.has_unique |= class == Class::Unique;
        }
        let others = inventory.others_of(dir);
        facts.entries = facts.files.saturating_add(others.len() as u32);
        let dirs = others.filter(|other| other.file_type == FileType::Directory).count();
        facts.contents = (facts.entries - dirs as u32).max(u32::from(facts.entries == 0));
        let is_whole = inventory.is_whole(dir) && !inventory.has_starting_points(dir);
        facts.is_partial |= !is_whole || contents.is_repeated(dir) || dirs != self.children(dir).count();
        facts
    }
}

impl Facts {
    fn and(self, below: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(below.bytes),
            files: self.files + below.files,
            entries: self.entries.saturating_add(below.entries),
            contents: self.contents.saturating_add(below.contents),
            is_partial: self.is_partial | below.is_partial,
            has_unique: self.has_unique | below.has_unique,
        }
    }

    /// Whether another directory may be equal.
    pub(crate) fn may_be_equal(self) -> bool {
        !self.is_partial && !self.has_unique
    }
}
