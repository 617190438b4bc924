//! What undo adds to the journal: the files and directories that it makes, and the steps that are undone.

use std::fs::File;
use std::io::{self, Write};

use ftk_file::Identity;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;

use crate::intent::{write_remade, write_undone};

/// The journal that is being undone. Records are added at its end.
pub(super) struct Log {
    journal: File,
    /// Whether the caller may write to the journal. It may be one of root.
    is_writable: bool,
    /// The length of the journal without an incomplete line, which is removed before the first record is added.
    len: Option<u64>,
}

impl Log {
    pub(super) fn new(journal: File, len: u64) -> Self {
        let is_writable = fcntl_getfl(&journal).is_ok_and(|flags| flags.contains(OFlags::RDWR));
        Self { journal, is_writable, len: Some(len) }
    }

    /// Records a file or directory that is about to get its name, and waits until the record is on the disk.
    pub(super) fn remade(&mut self, step: u64, identity: &Identity) -> io::Result<()> {
        if !self.is_writable {
            return Err(Errno::ACCESS.into());
        }
        let mut line = Vec::new();
        write_remade(&mut line, step, identity);
        self.add(&line)
    }

    /// Returns whether the caller may write to the journal.
    pub(super) fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Records files that were made, and the steps that are undone and whether their files lack rights, if the journal can be
    /// written.
    pub(super) fn undone(
        &mut self,
        made: impl Iterator<Item = (u64, Identity)>,
        steps: impl Iterator<Item = (u64, bool)>,
    ) -> io::Result<()> {
        let mut lines = Vec::new();
        made.for_each(|(step, identity)| write_remade(&mut lines, step, &identity));
        steps.for_each(|(step, lacks_rights)| write_undone(&mut lines, step, lacks_rights));
        if lines.is_empty() || !self.is_writable { Ok(()) } else { self.add(&lines) }
    }

    fn add(&mut self, lines: &[u8]) -> io::Result<()> {
        if let Some(len) = self.len {
            self.journal.set_len(len)?;
        }
        let len = self.len.take().map_or_else(|| Ok(self.journal.metadata()?.len()), Ok::<_, io::Error>)?;
        let written = self.journal.write_all(lines).and_then(|()| self.journal.sync_data());
        if written.is_err() {
            // Neither an incomplete line nor a record of what was not done may stay.
            self.len = Some(len);
            _ = self.journal.set_len(len);
        }
        written
    }
}
