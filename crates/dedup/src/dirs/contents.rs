//! The content of each file, as a number.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use ftk_inventory::{DirNo, FileNo, Inventory, Opener, is_pseudo};

use crate::Found;
use crate::candidates::files;

/// The content of each file of an inventory.
#[derive(Debug)]
pub struct Contents {
    classes: Vec<u32>,
    /// Directories that were listed before under another path, ascending.
    repeated: Vec<u32>,
    /// Whether empty files count when contents are counted.
    pub(crate) counts_empty: bool,
}

/// What is known about the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The content of this file, which has the smallest number among those with the content.
    Shared(FileNo),
    /// No other file has the content.
    Unique,
    /// The content was not compared: the file was outside the limits of sizes, could not be read, changed, or is
    /// the same file under another path.
    Unknown,
}

const UNIQUE: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;

impl Contents {
    /// Memory for the contents, in bytes per file.
    pub const BYTES_PER_FILE: usize = size_of::<u32>();

    /// Returns what is known about the content of a file.
    pub fn class(&self, file: FileNo) -> Class {
        match self.classes[file.0 as usize] {
            UNIQUE => Class::Unique,
            UNKNOWN => Class::Unknown,
            first => Class::Shared(FileNo(first)),
        }
    }

    /// Returns whether the directory was listed before under another path, for example because it is mounted twice.
    pub(crate) fn is_repeated(&self, dir: DirNo) -> bool {
        self.repeated.binary_search(&dir.0).is_ok()
    }
}

impl Found<'_> {
    /// Returns the content of each file. `sizes` are those of the [`Funnel`](crate::Funnel).
    ///
    /// Empty files have the same content even if `sizes` excludes them. Files of other excluded sizes have an
    /// unknown content. Hard links have the content of their file.
    ///
    /// # Panics
    /// If the inventory has no sizes.
    pub fn contents(&self, sizes: &RangeInclusive<u64>) -> Contents {
        let inventory = self.inventory;
        assert!(inventory.files() < UNKNOWN, "the numbers of files end before those with a meaning");
        let repeated = repeated(inventory);
        let mut numbering = Numbering { found: self, classes: vec![UNIQUE; inventory.files() as usize] };
        numbering.hard_links();
        numbering.sets();
        numbering.sizes(sizes);
        self.failed.iter().for_each(|failed| numbering.set(failed.file, UNKNOWN));
        let mut classes = numbering.classes;
        for &dir in &repeated {
            inventory.files_of(DirNo(dir)).for_each(|file| classes[file as usize] = UNKNOWN);
        }
        Contents { classes, repeated, counts_empty: sizes.contains(&0) }
    }
}

/// Returns the directories that have the identity of an earlier one, ascending.
fn repeated(inventory: &Inventory) -> Vec<u32> {
    let is_walked = |dir: &u32| !inventory.has_starting_points(DirNo(*dir));
    let identity = |dir| (inventory.identity_of_dir(DirNo(dir)), dir);
    let mut known: Vec<_> = (0..inventory.dirs()).filter(is_walked).map(identity).collect();
    known.sort_unstable();
    let again = known.chunk_by(|a, b| a.0 == b.0).flat_map(|same| &same[1..]);
    let mut repeated: Vec<_> = again.map(|&(_, dir)| dir).collect();
    repeated.sort_unstable();
    repeated
}

struct Numbering<'f, 'i> {
    found: &'f Found<'i>,
    classes: Vec<u32>,
}

impl Numbering<'_, '_> {
    /// Sets the class of all names of a file, which is given by its first name.
    fn set(&mut self, first: FileNo, class: u32) {
        let names = std::iter::once(first).chain(self.found.links.other_names_of(first));
        names.for_each(|name| self.classes[name.0 as usize] = class);
    }

    /// Files of several names share their content even if no other file has it.
    fn hard_links(&mut self) {
        for (first, other) in self.found.links.pairs() {
            (self.classes[first.0 as usize], self.classes[other.0 as usize]) = (first.0, first.0);
        }
    }

    /// Files of one set have the same content. Two of them with one inode number are one file, although it has no
    /// second hard link: the file is mounted twice, and its second path is no copy.
    fn sets(&mut self) {
        let inventory = self.found.inventory;
        let identity = |file: FileNo| inventory.identity(inventory.dir_of(file), file);
        for set in self.found.equal.iter() {
            let mut files: Vec<_> = set.files.iter().map(|&file| (identity(file), file)).collect();
            files.sort_unstable();
            let class = set.files.iter().min().expect("a set has files").0;
            for same in files.chunk_by(|a, b| a.0 == b.0) {
                self.set(same[0].1, class);
                same[1..].iter().for_each(|&(_, file)| self.set(file, UNKNOWN));
            }
        }
    }

    /// Empty files are equal, unless their sizes are made up. Files of excluded sizes are unknown.
    fn sizes(&mut self, sizes: &RangeInclusive<u64>) {
        let inventory = self.found.inventory;
        let (mut opener, mut devices) = (Opener::new(inventory), BTreeMap::new());
        let mut first_empty = None;
        for (dir, file) in files(inventory) {
            let size = inventory.size(dir, file);
            let class = &mut self.classes[file.0 as usize];
            if size == 0 && *class == UNIQUE {
                let is_pseudo = *devices
                    .entry(inventory.device(dir))
                    .or_insert_with(|| opener.open(dir).map_or(true, is_pseudo));
                *class = if is_pseudo { UNKNOWN } else { *first_empty.get_or_insert(file.0) };
            } else if size > 0 && !sizes.contains(&size) {
                *class = UNKNOWN;
            }
        }
    }
}
