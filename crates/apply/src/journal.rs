//! The journal of a run: every step is recorded on the disk before it is performed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ftk_file::{Version, now_ns};
use ftk_record::write_record;

use crate::action::Freed;
use crate::intent::{Intent, write_made};
use crate::refusal::ActError;

/// A journal that is being written: JSON, one record per line.
///
/// The first line is a header with the working directory, from which relative paths start. Each step has an
/// intent, which is synced to the disk before the step is performed, and later an outcome. A killed run
/// leaves intents without outcomes, and possibly an incomplete last line; [`undo`](crate::undo()) finds out
/// which of these steps were performed.
///
/// A journal without steps is removed on drop.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    identity: (u64, u64),
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// Number of the next step.
    next: u64,
}

impl Journal {
    /// Creates a journal as a new file. Only its owner may read it, since it contains names and attributes of
    /// files.
    ///
    /// # Errors
    /// If the file exists, if it or its directory cannot be written and synced, or if the working directory
    /// has no path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        let mut journal = Self { file, path: path.to_owned(), identity, lines: Vec::new(), next: 0 };
        let started = now_ns();
        let cwd = std::env::current_dir()?;
        write_record(&mut journal.lines, |record| {
            record
                .member("ftk", "journal")
                .member("version", 1)
                .path("cwd", cwd.as_os_str().as_bytes())
                .member("started_ns", started);
        });
        journal.sync()?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(journal)
    }

    /// Returns the device and inode number of the journal, so that a scan of the tree that contains it can
    /// skip it.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Writes the remaining lines and waits until they are on the disk.
    ///
    /// # Errors
    /// If either fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.sync()
    }

    /// Returns the number of the next step.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Adds an intent. It must be [synced](Journal::sync) before the step is performed.
    pub(crate) fn intend(&mut self, intent: &Intent) {
        intent.write(&mut self.lines);
    }

    /// Adds the new file of a step. This must be [synced](Journal::sync) before the file gets its name.
    pub(crate) fn made(&mut self, step: u64, made: &Version) {
        write_made(&mut self.lines, step, made);
    }

    /// Adds the outcome of a step.
    pub(crate) fn note(&mut self, step: u64, outcome: &Result<Freed, ActError>) {
        match outcome {
            Ok(freed) => self.note_done(step, *freed),
            Err(error) => self.note_error(step, error),
        }
    }

    /// Adds the outcome of a step that succeeded.
    pub(crate) fn note_done(&mut self, step: u64, Freed(bytes): Freed) {
        write_record(&mut self.lines, |record| {
            record.member("step", step).member("outcome", "done").member("freed_bytes", bytes);
        });
    }

    /// Adds the outcome of a step that did not succeed.
    pub(crate) fn note_error(&mut self, step: u64, error: &ActError) {
        let word = match error {
            ActError::Refused(_) => "refused",
            ActError::Failed { .. } => "failed",
            ActError::Stopped => "stopped",
        };
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        write_record(&mut self.lines, |record| {
            record.member("step", step).member("outcome", word);
            record.member("why", format!("{error}{}", cause.unwrap_or_default()));
        });
    }

    /// Writes the lines so far.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    /// Writes the lines so far and waits until they are on the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.write()?;
        self.file.sync_data()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.next == 0
            && fs::symlink_metadata(&self.path).is_ok_and(|it| (it.dev(), it.ino()) == self.identity)
        {
            // If this fails, the empty journal is harmless.
            let _ = fs::remove_file(&self.path);
        }
    }
}
