//! Files that were recorded with different digests or sizes.

use std::io;

use super::codec::{Decoder, Identity};
use super::member::RecordedFile;
use super::sorter::{Sorted, Sorter};

/// The bytes of a digest that are compared. Different digests have the same first bytes only by design.
const HEAD: usize = 16;

/// Collects the identities of all files.
#[derive(Debug)]
pub(super) struct Identities {
    sorter: Sorter,
}

/// The entries of files with contradicting digests.
#[derive(Debug, Default)]
pub(super) struct Contradicting {
    /// Manifest, entry, and the number of the file, ascending.
    entries: Vec<(u64, u64, u64)>,
}

impl Identities {
    pub(super) fn new(memory: u64) -> Self {
        Self { sorter: Sorter::new(memory) }
    }

    /// Adds a file. Files without a lasting identity cannot contradict each other.
    pub(super) fn add(&mut self, file: &RecordedFile<'_>, identity: &Identity) -> io::Result<()> {
        if !identity.is_lasting() {
            return Ok(());
        }
        self.sorter.add(|out| {
            out.extend_from_slice(identity.as_bytes());
            out.extend_from_slice(&file.size.to_be_bytes());
            out.extend_from_slice(&file.digest[..file.digest.len().min(HEAD)]);
            out.extend_from_slice(&(file.member.manifest as u64).to_be_bytes());
            out.extend_from_slice(&file.entry.to_be_bytes());
        })
    }

    /// Returns the entries of files whose sizes or digests differ. `width` is the length of digests.
    pub(super) fn finish(self, width: usize) -> io::Result<Contradicting> {
        /// A mark, identity of a file system, and inode number.
        const IDENTITY: usize = 1 + 16 + 8;
        let sorted: Sorted = self.sorter.finish()?;
        let mut records = sorted.iter()?;
        let (mut entries, mut number) = (Vec::new(), 0);
        let (mut identity, mut content, mut is_different) = (Vec::new(), Vec::new(), false);
        // Where the entries of the current file begin.
        let mut start = 0;
        while let Some(record) = records.next()? {
            let mut record = Decoder(record);
            let (of_file, of_content) = (record.take(IDENTITY), record.take(8 + width.min(HEAD)));
            if of_file != identity {
                if !is_different {
                    entries.truncate(start);
                }
                (start, is_different, number) = (entries.len(), false, number + 1);
                (identity, content) = (of_file.to_vec(), of_content.to_vec());
            }
            is_different |= of_content != content;
            entries.push((record.number(), record.number(), number));
        }
        if !is_different {
            entries.truncate(start);
        }
        entries.sort_unstable();
        Ok(Contradicting { entries })
    }
}

impl Contradicting {
    /// Returns the number of the file if this entry contradicts another one.
    pub(super) fn file(&self, manifest: u64, entry: u64) -> Option<u64> {
        let at =
            self.entries.binary_search_by_key(&(manifest, entry), |&(manifest, entry, _)| (manifest, entry));
        Some(self.entries[at.ok()?].2)
    }
}
