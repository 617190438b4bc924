//! The journal of a run: every step stands on the disk before it is taken.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ftk_record::{write_path, write_string};

use crate::action::Freed;
use crate::intent::Intent;
use crate::refusal::ActError;

/// A journal being written: JSON, one record a line.
///
/// The first line is a header with the working directory, which relative paths start from. Then each step has an
/// intent, synced to the disk before the step is taken, and an outcome after it. A run that is killed leaves
/// intents without outcomes, and perhaps half a last line; [`undo`](crate::undo()) looks what became of them.
///
/// A journal without a single step is removed when it is dropped.
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
    /// Starts a journal in a new file, which only its owner may read: it tells names and attributes of files.
    ///
    /// # Errors
    /// If there is a file already, or it or its directory cannot be written and synced, or the working directory
    /// has no path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        let mut journal = Self { file, path: path.to_owned(), identity, lines: Vec::new(), next: 0 };
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let line = &mut journal.lines;
        line.extend_from_slice(b"{\"ftk\":\"journal\",\"version\":1,");
        write_path(line, "cwd", std::env::current_dir()?.as_os_str().as_bytes());
        line.extend_from_slice(format!(",\"started_ns\":{started}}}\n").as_bytes());
        journal.sync()?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(journal)
    }

    /// Device and inode number of the journal. A scan of the tree it lies in should leave it out.
    pub fn identity(&self) -> (u64, u64) {
        self.identity
    }

    /// Writes what is left to write and waits until it is on the disk.
    ///
    /// # Errors
    /// If either fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.sync()
    }

    /// The number for the next step.
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Adds an intent, to be [synced](Journal::sync) before the step is taken.
    pub(crate) fn intend(&mut self, intent: &Intent) {
        intent.write(&mut self.lines);
    }

    /// Adds the outcome of a step.
    pub(crate) fn note(&mut self, step: u64, outcome: &Result<Freed, ActError>) {
        let line = &mut self.lines;
        let word = match outcome {
            Ok(_) => "done",
            Err(ActError::Refused(_)) => "refused",
            Err(ActError::Failed { .. }) => "failed",
            Err(ActError::Stopped) => "stopped",
        };
        line.extend_from_slice(format!("{{\"step\":{step},\"outcome\":\"{word}\"").as_bytes());
        match outcome {
            Ok(Freed(bytes)) => line.extend_from_slice(format!(",\"freed_bytes\":{bytes}").as_bytes()),
            Err(error) => {
                line.extend_from_slice(b",\"why\":");
                let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
                write_string(line, &format!("{error}{}", cause.unwrap_or_default()));
            }
        }
        line.extend_from_slice(b"}\n");
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
            // One that stays is in nobody's way.
            let _ = fs::remove_file(&self.path);
        }
    }
}
