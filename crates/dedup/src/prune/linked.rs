//! Directories that share files by hard links.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::read_dir;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// Sets of directories that share files. Each set is one copy, because no directory of it can be removed without
/// touching the files of the others.
#[derive(Debug, Default)]
pub(super) struct Linked {
    /// For each directory, an earlier one of its set. The first one of a set has its own number.
    earlier: Vec<usize>,
    /// For each file, a directory that contains it.
    known: HashMap<(u64, u64), usize>,
}

impl Linked {
    /// Adds the next directory, with its files that have several hard links. Joins its set with those of earlier
    /// directories that contain one of them.
    pub(super) fn push(&mut self, files: impl IntoIterator<Item = (u64, u64)>) {
        let directory = self.earlier.len();
        self.earlier.push(directory);
        for file in files {
            let other = *self.known.entry(file).or_insert(directory);
            let (a, b) = (self.first(directory), self.first(other));
            self.earlier[a.max(b)] = a.min(b);
        }
    }

    /// Returns for each directory the first one of its set.
    pub(super) fn firsts(&self) -> Vec<usize> {
        (0..self.earlier.len()).map(|directory| self.first(directory)).collect()
    }

    /// Returns the first directory of a set.
    fn first(&self, mut directory: usize) -> usize {
        while self.earlier[directory] != directory {
            directory = self.earlier[directory];
        }
        directory
    }
}

/// Returns the identity of each file with several hard links below a directory.
///
/// # Errors
/// If a directory cannot be read.
pub(super) fn linked_files(directory: &[u8]) -> io::Result<Vec<(u64, u64)>> {
    let mut files = Vec::new();
    let mut waiting = vec![PathBuf::from(OsStr::from_bytes(directory))];
    while let Some(directory) = waiting.pop() {
        for entry in read_dir(&directory)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                waiting.push(entry.path());
            } else if metadata.nlink() > 1 {
                files.push((metadata.dev(), metadata.ino()));
            }
        }
    }
    Ok(files)
}
