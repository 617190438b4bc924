//! The result of a search among recorded files.

use std::collections::HashMap;
use std::io;

use ftk_hash::Digest;

use super::codec::Decoder;
use super::member::RecordedMember;
use super::sorter::{Merged, Sorted};

/// Groups of recorded files, sorted by wasted space (largest first), then by digest.
#[derive(Debug)]
pub struct RecordedGroups {
    pub(super) width: usize,
    pub(super) contradictions: Sorted,
    pub(super) by_waste: Sorted,
}

/// A name of a file that was recorded with different digests or sizes. Such a file is in no group, because at
/// least one record is out of date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The number of the file. The names of a file have the same number and follow one another.
    pub file: u64,
    /// The number of the manifest.
    pub manifest: usize,
    /// The path, including the recorded root.
    pub path: Vec<u8>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedName {
    /// Whether a group begins with this member.
    pub is_first: bool,
    /// The size of each file of the group, in bytes.
    pub size: u64,
    /// The digest of each file of the group.
    pub digest: Digest,
    /// The number of the file in its group, in order of appearance. Names with the same number are hard links.
    pub cluster: u64,
    /// Whether a file of the group has several names in it.
    pub has_hard_links: bool,
    /// The name.
    pub member: RecordedMember,
}

impl RecordedGroups {
    /// Returns a reader of the names of contradicting files.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub fn contradictions(&self) -> io::Result<Contradictions<'_>> {
        Ok(Contradictions { names: self.contradictions.iter()? })
    }

    /// Returns a reader of the members of all groups. The members of a group follow each other, sorted by path and
    /// then by manifest.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub fn names(&self) -> io::Result<RecordedNames<'_>> {
        let (group, numbers) = (Vec::new(), HashMap::new());
        Ok(RecordedNames { names: self.by_waste.iter()?, width: self.width, group, numbers, next: 0 })
    }
}

/// A reader of the names of contradicting files.
pub struct Contradictions<'s> {
    names: Merged<'s>,
}

impl Contradictions<'_> {
    /// Returns the next name.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "like the readers of entries, it can fail")]
    pub fn next(&mut self) -> io::Result<Option<Contradiction>> {
        let Some(record) = self.names.next()? else { return Ok(None) };
        let mut record = Decoder(record);
        let (file, manifest) = (record.number(), record.number() as usize);
        Ok(Some(Contradiction { file, manifest, path: record.0.to_vec() }))
    }
}

/// A reader of the members of groups.
pub struct RecordedNames<'s> {
    names: Merged<'s>,
    width: usize,
    /// The waste, digest and size of the current group.
    group: Vec<u8>,
    /// The numbers of files in the current group, by their numbers in another order.
    numbers: HashMap<u64, u64>,
    /// The number of the next file.
    next: u64,
}

impl RecordedNames<'_> {
    /// Returns the next member.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "like the readers of entries, it can fail")]
    pub fn next(&mut self) -> io::Result<Option<RecordedName>> {
        let Some(record) = self.names.next()? else { return Ok(None) };
        let group = 8 + self.width + 8;
        let is_first = self.group != record[..group];
        if is_first {
            (self.group, self.numbers, self.next) = (record[..group].to_vec(), HashMap::new(), 0);
        }
        let mut record = Decoder(&record[8..]);
        let (digest, size) = (record.digest(self.width), record.number());
        let path = record.path().to_vec();
        let (manifest, file) = (record.number() as usize, record.number());
        let has_hard_links = record.byte() != 0;
        let cluster = if has_hard_links { *self.numbers.entry(file).or_insert(self.next) } else { self.next };
        self.next += u64::from(cluster == self.next);
        let member = record.details(manifest, path);
        Ok(Some(RecordedName { is_first, size, digest, cluster, has_hard_links, member }))
    }
}
