//! Writes the manifest with the times of verification.

use std::io;

use super::plan::Scrub;
use crate::merge::Side as _;
use crate::{Entry, Error, Writer};

/// What to write to the record of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(u32);

impl Mark {
    /// The file was read and is damaged.
    pub(super) const DAMAGED: Self = Self(0);
    /// The file could not be read.
    pub(super) const FAILED: Self = Self(1);
    /// The file was not read.
    const UNREAD: Self = Self(2);
    /// The file was not read, in this run or since it was recorded.
    const NEVER: Self = Self(3);
    /// The file was read and has other content, which is not known to be damage.
    pub(super) const CHANGED: Self = Self(4);
    /// The smallest number that stands for a batch.
    const FIRST: usize = 5;

    pub(super) fn unread(old: &Entry<'_>) -> Self {
        if old.verified_ns.is_some() { Self::UNREAD } else { Self::NEVER }
    }

    /// The file was intact in the batch of this number.
    pub(super) fn verified(batch: usize) -> Self {
        Self(u32::try_from(batch + Self::FIRST).expect("a run has fewer batches"))
    }

    pub(super) fn was_never_read(self) -> bool {
        self == Self::NEVER
    }

    /// Returns the number of the batch in which the file was intact.
    pub(super) fn batch(self) -> Option<usize> {
        (self.0 as usize).checked_sub(Self::FIRST)
    }
}

impl Scrub<'_> {
    /// Writes all records. Those of files that were read get the time of their verification, or the time at which
    /// their damage was found; all others stay as they are.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed meanwhile, or the new one cannot be written.
    pub fn write<S: FnMut(&[u8]) -> io::Result<()>>(&self, writer: &mut Writer<S>) -> Result<(), Error> {
        let mut marks = self.marks.iter();
        let mut entries = self.manifest.entries()?;
        while entries.advance()? {
            let mut entry = entries.entry();
            if !entry.digests.is_empty() {
                let mark = *marks.next().expect("a mark for each record with digests");
                if let Some(batch) = mark.batch() {
                    (entry.verified_ns, entry.damaged_ns) = (Some(self.begun_ns[batch]), None);
                } else if mark == Mark::DAMAGED {
                    entry.damaged_ns = entry.damaged_ns.or(Some(self.now_ns));
                }
            }
            match entries.written_line().filter(|_| entry == entries.entry()) {
                Some(line) => writer.copy_line(entry.path, line)?,
                None => writer.trusted_entry(&entry)?,
            }
        }
        Ok(())
    }
}
