//! The journal of a run: every step is recorded on the disk before it is performed.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftk_file::{Identity, now_ns};
use ftk_record::{write_path, write_record};
use rustix::fs::{CWD, Mode, openat};

use crate::action::Freed;
use crate::identity_record::write_identity;
use crate::intent::{Intent, Made, Making, write_copies, write_made, write_making, write_start};
use crate::reach::{DIRECTORY, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::{Copies, Seen};
use crate::trust::lock;

/// The version of the format that is written.
pub(crate) const VERSION: u64 = 2;

/// The maximal length of the record of a step that is written, in bytes. Undo reads longer lines, and holds all of them in
/// memory.
pub(crate) const MAX_RECORD: usize = 1 << 20;

/// A journal that is being written: JSON, one record per line.
///
/// The first line is a header with the working directory, from which relative paths start, and its identity. Each
/// starting point has a record with its identity before the first step below it. Each step has an intent, which is synced to the disk before the step is performed, and later an outcome. A killed run
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
    /// The starting points that have a record.
    starts: BTreeSet<Vec<u8>>,
    /// The latest list of copies. The steps of a group follow each other, and share it.
    copies: Option<Arc<Copies>>,
    n_copies: u64,
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
        // Undo waits until the run has ended.
        lock(&file).map_err(io::Error::other)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        let (lines, starts) = (Vec::new(), BTreeSet::new());
        let (copies, n_copies) = (None, 0);
        let mut journal =
            Self { file, path: path.to_owned(), identity, lines, next: 0, starts, copies, n_copies };
        let cwd = std::env::current_dir()?;
        let lines = &mut journal.lines;
        lines.extend_from_slice(format!("{{\"ftk\":\"journal\",\"version\":{VERSION},").as_bytes());
        write_path(lines, "cwd", cwd.as_os_str().as_bytes());
        lines.extend_from_slice(b",\"cwd_identity\":{");
        write_identity(lines, &Identity::of(openat(CWD, ".", DIRECTORY, Mode::empty())?)?);
        lines.extend_from_slice(format!("}},\"start_ns\":{}}}\n", now_ns()).as_bytes());
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

    /// Whether a step has a record. A journal without steps is removed on drop.
    pub fn has_steps(&self) -> bool {
        self.next > 0
    }

    /// Writes the remaining lines and waits until they are on the disk.
    ///
    /// # Errors
    /// If either fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.sync()
    }

    /// Returns the number of the next step.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Numbers an intent and adds it, after the starting points of its files that have no record yet. It must be
    /// [synced](Journal::sync) before the step is performed.
    ///
    /// # Errors
    /// If the record would be too long: one user with long paths or large attributes could make a journal that fills the
    /// disk, or that no undo reads. Nothing is added then.
    pub(crate) fn intend(&mut self, intent: &mut Intent, reach: &Reach) -> Result<(), Refusal> {
        intent.step = self.next;
        let start = self.lines.len();
        intent.write(&mut self.lines);
        let line = self.lines.split_off(start);
        if line.len() > MAX_RECORD {
            return Err(Refusal::LongRecord);
        }
        self.next += 1;
        let Intent { victim, keeper, to, .. } = intent;
        let paths = [(&victim.path, victim.root_len), (&keeper.path, keeper.root_len)];
        for (path, root_len) in paths.into_iter().chain(to.iter().map(|to| (&to.path, to.root_len))) {
            if let Some((start, identity)) = reach.start_of(path, root_len) {
                self.start(start, identity);
            }
        }
        self.lines.extend_from_slice(&line);
        Ok(())
    }

    /// Adds a list of copies, with their starting points, unless it was the latest one: the first ones, as many as a record
    /// may name. Returns its number.
    pub(crate) fn copies(&mut self, copies: &Arc<Copies>, reach: &mut Reach) -> u64 {
        let is_same = |latest: &Arc<Copies>| Arc::ptr_eq(latest, copies) || latest.files == copies.files;
        if !self.copies.as_ref().is_some_and(is_same) {
            for Seen { path, root_len, .. } in &copies.files {
                // Undo does not use a copy whose starting point is not known.
                if reach.locate(Side::Copy, path, *root_len).is_ok()
                    && let Some((start, identity)) = reach.start_of(path, *root_len)
                {
                    self.start(start, identity);
                }
            }
            write_copies(&mut self.lines, self.n_copies, &copies.files);
            self.copies = Some(copies.clone());
            self.n_copies += 1;
        }
        self.n_copies - 1
    }

    /// Adds the identity of a starting point, or of another directory that paths start with, unless it has a record.
    /// Returns whether it had none.
    pub(crate) fn start(&mut self, path: &[u8], identity: &Identity) -> bool {
        let is_new = self.starts.insert(path.to_vec());
        if is_new {
            write_start(&mut self.lines, path, identity);
        }
        is_new
    }

    /// Adds a directory that is about to be made, and its starting point. This must be [synced](Journal::sync) before it is
    /// made.
    pub(crate) fn making(&mut self, making: &Making, reach: &Reach) {
        if let Some((start, identity)) = reach.start_of(&making.path, making.root_len) {
            self.start(start, identity);
        }
        write_making(&mut self.lines, making);
    }

    /// Adds the new file of a step, and the digest of the damaged content that was saved. This must be
    /// [synced](Journal::sync) before the file gets its name.
    pub(crate) fn made(&mut self, step: u64, made: &Made, saved: Option<&blake3::Hash>) {
        write_made(&mut self.lines, step, made, saved);
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
