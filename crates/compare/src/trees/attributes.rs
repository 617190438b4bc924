//! The extended attributes of entries with the same path.

use std::io;

use ftk_file::{
    Attribute, AttributeDifference, AttributeReader, Failure, FileType, Symlinks, attribute_differences,
};
use ftk_inventory::{Budget, Full, Opener, Reservation};

use super::merge::Entry;
use super::tree::Trees;
use crate::Side;

/// What was found for two entries: the differences, or why the attributes of one side cannot be read.
pub(crate) type Found = Result<Vec<AttributeDifference>, (Side, Failure)>;

/// The differences, and the failures, each with the number of its pair of entries. Most pairs have none.
#[derive(Debug)]
pub(crate) struct Differences {
    found: Vec<(u64, Found)>,
    reserved: Reservation,
}

impl Differences {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { found: Vec::new(), reserved: Reservation::new(budget) }
    }

    /// Adds what was found for pair number `nth`. Returns whether it has differences, and whether it failed.
    pub(crate) fn add(&mut self, nth: u64, found: Found) -> Result<[bool; 2], Full> {
        let kinds = [found.as_ref().is_ok_and(|differences| !differences.is_empty()), found.is_err()];
        if kinds != [false; 2] {
            let size = |it: &AttributeDifference| size_of::<AttributeDifference>() + it.name.len();
            let names = found.as_ref().map_or(0, |differences| differences.iter().map(size).sum());
            self.reserved.consume((size_of::<(u64, Found)>() + names) as u64)?;
            self.found.push((nth, found));
        }
        Ok(kinds)
    }

    /// Returns what was found for pair number `nth`, if anything.
    pub(crate) fn of(&self, nth: u64) -> Option<&Found> {
        let at = self.found.binary_search_by_key(&nth, |(nth, _)| *nth).ok()?;
        Some(&self.found[at].1)
    }
}

/// Reads and compares the attributes of entries.
#[derive(Debug)]
pub(crate) struct Attributes<'t> {
    openers: [Opener<'t>; 2],
    reader: AttributeReader,
}

impl<'t> Attributes<'t> {
    pub(crate) fn new(trees: &Trees<'t>) -> Self {
        let openers = [trees.a, trees.b].map(|tree| Opener::new(tree.inventory));
        Self { openers, reader: AttributeReader::default() }
    }

    /// Compares the attributes of two entries of one type.
    pub(crate) fn compare(&mut self, a: &Entry, b: &Entry) -> Found {
        let mut read = |side: Side, entry: &Entry| {
            let read = self.read(side, entry);
            read.map_err(|source| (side, Failure::Io { op: "read the attributes of", source }))
        };
        let (a, b) = (read(Side::A, a)?, read(Side::B, b)?);
        Ok(if a == b { Vec::new() } else { attribute_differences(pairs(&a), pairs(&b)) })
    }

    fn read(&mut self, side: Side, entry: &Entry) -> io::Result<Vec<Attribute>> {
        // An entry that is not a link may have been reached through one that is followed.
        let symlinks = match entry.file_type {
            FileType::Symlink => Symlinks::NoFollow,
            _ => Symlinks::Follow,
        };
        self.openers[side as usize].attributes(entry.dir, &entry.name, symlinks, &mut self.reader)
    }
}

fn pairs(found: &[Attribute]) -> impl Iterator<Item = (&[u8], &[u8])> {
    found.iter().map(|(name, value)| (&name[..], &value[..]))
}
