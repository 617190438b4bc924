//! The entries of a tree whose paths another tree spells differently.

use super::align::Spellings;
use crate::{Budget, DirNo, Full, Inventory, Reservation};

/// Entries whose paths are spelled differently, in the path order of the other spelling. `P` tells where an entry is.
#[derive(Debug)]
pub struct Relocated<P> {
    /// The paths in the other spelling, concatenated.
    paths: Vec<u8>,
    entries: Vec<Entry<P>>,
    /// The positions of the entries in the path order of their own tree, ascending.
    positions: Vec<u64>,
    reserved: Reservation,
}

/// An entry with another spelling.
#[derive(Clone, Copy, Debug)]
struct Entry<P> {
    start: usize,
    len: usize,
    is_respelled: bool,
    place: P,
}

/// The entries of an inventory whose paths are spelled differently.
pub type MovedEntries = Relocated<Place>;

/// Where an entry of an inventory is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) dir: DirNo,
    pub(crate) row: u32,
}

impl<P: Copy> Relocated<P> {
    /// Creates an empty list.
    pub fn new(budget: &Budget) -> Self {
        let reserved = Reservation::new(budget);
        Self { paths: Vec::new(), entries: Vec::new(), positions: Vec::new(), reserved }
    }

    /// Adds the entry with this position in the path order of its own tree. `path` is its path in the other spelling.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(&mut self, position: u64, path: &[u8], is_respelled: bool, place: P) -> Result<(), Full> {
        // Lists that grow are in memory twice.
        let bytes = 2 * (size_of::<Entry<P>>() + size_of::<u64>()) + 2 * path.len();
        self.reserved.consume(bytes as u64)?;
        self.positions.push(position);
        self.entries.push(Entry { start: self.paths.len(), len: path.len(), is_respelled, place });
        self.paths.extend_from_slice(path);
        Ok(())
    }

    /// Sorts the entries, after the last one was added.
    pub fn sort(&mut self) {
        let paths = &self.paths;
        self.entries.sort_unstable_by_key(|entry| &paths[entry.start..][..entry.len]);
    }

    /// Returns the number of entries whose own names are spelled differently.
    pub fn respelled(&self) -> u64 {
        self.entries.iter().filter(|entry| entry.is_respelled).count() as u64
    }

    /// Starts to merge the entries with the others of their tree.
    pub fn merge(&self) -> RelocatedMerge<'_, P> {
        RelocatedMerge { entries: self, returned: 0, passed: 0, position: 0, is_current: false }
    }
}

/// Merges entries with another spelling with the others of their tree, in the path order of the other spelling.
#[derive(Clone, Debug)]
pub struct RelocatedMerge<'r, P> {
    entries: &'r Relocated<P>,
    /// How many entries were returned.
    returned: usize,
    /// How many entries the tree's own order has passed.
    passed: usize,
    /// The position in the tree's own order.
    position: u64,
    /// Whether the entry that was returned last has another spelling.
    is_current: bool,
}

impl<'r, P: Copy> RelocatedMerge<'r, P> {
    /// Returns whether the tree's own order has to be advanced for the next entry.
    pub fn needs_advance(&self) -> bool {
        !self.is_current
    }

    /// Passes the next entry of the tree's own order. Returns whether it has another spelling, and so comes elsewhere.
    pub fn passes_relocated(&mut self) -> bool {
        let is_relocated = self.entries.positions.get(self.passed) == Some(&self.position);
        self.position += 1;
        self.passed += usize::from(is_relocated);
        is_relocated
    }

    /// Returns the next entry if it has another spelling: its path in this spelling, whether it is
    /// [respelled](super::Aligned::is_respelled), and where it is. `own` is the next path of the tree's own order that
    /// [is not relocated](Self::passes_relocated).
    pub fn next(&mut self, own: Option<&[u8]>) -> Option<(&'r [u8], bool, P)> {
        let Relocated { paths, entries, .. } = self.entries;
        let next = entries.get(self.returned).map(|entry| (&paths[entry.start..][..entry.len], entry));
        let next = next.filter(|(path, _)| own.is_none_or(|own| *path < own));
        self.is_current = next.is_some();
        let (path, entry) = next?;
        self.returned += 1;
        Some((path, entry.is_respelled, entry.place))
    }
}

impl Inventory {
    /// Finds the entries at and below names that another tree spells differently. `below` returns the part of a path below
    /// the starting point.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn relocate(
        &self,
        spellings: &Spellings,
        below: impl Fn(&[u8]) -> &[u8],
        budget: &Budget,
    ) -> Result<MovedEntries, Full> {
        let (mut moved, mut aligner) = (Relocated::new(budget), spellings.aligner(budget));
        let (mut order, mut path) = (self.in_path_order(), Vec::new());
        for position in 0.. {
            let Some((item, row)) = order.next_with_row() else { break };
            if let Some(aligned) = aligner.align(below(item.path))? {
                path.clear();
                path.extend_from_slice(&item.path[..item.path.len() - below(item.path).len()]);
                path.extend_from_slice(aligned.path);
                moved.add(position, &path, aligned.is_respelled, Place { dir: item.dir, row })?;
            }
        }
        moved.sort();
        Ok(moved)
    }
}
