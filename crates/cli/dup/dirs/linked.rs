//! Directories that share files by hard links.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::read_dir;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use ftk_apply::Action;
use ftk_dedup::{KeepRules, Member};

/// Sets of directories that share files. Each set is one copy, because no directory of it can be removed without
/// touching the files of the others.
#[derive(Debug)]
pub(super) struct Linked {
    /// For each directory, an earlier one of its set. The first one of a set has its own number.
    earlier: Vec<usize>,
    /// For each file, a directory that contains it.
    known: HashMap<(u64, u64), usize>,
}

impl Linked {
    /// Creates one set for each directory.
    pub(super) fn new(directories: usize) -> Self {
        Self { earlier: (0..directories).collect(), known: HashMap::new() }
    }

    /// Adds files with several hard links to a directory. Joins its set with those of other directories that contain
    /// one of them.
    pub(super) fn add(&mut self, directory: usize, files: impl IntoIterator<Item = (u64, u64)>) {
        for file in files {
            let other = *self.known.entry(file).or_insert(directory);
            let (a, b) = (self.first(directory), self.first(other));
            self.earlier[a.max(b)] = a.min(b);
        }
    }

    /// Returns the first directory of a set.
    fn first(&self, mut directory: usize) -> usize {
        while self.earlier[directory] != directory {
            directory = self.earlier[directory];
        }
        directory
    }

    /// Returns the members with one identity for each set, so that the rules treat its directories like the names of one
    /// file.
    pub(super) fn join(&self, members: &[Member]) -> Vec<Member> {
        let firsts: Vec<_> = (0..members.len()).map(|nth| self.first(nth)).collect();
        let join = |(member, &first): (&Member, &usize)| {
            let mut joined = member.clone();
            (joined.version.dev, joined.version.ino) = members[first].version.identity();
            joined.nlink = firsts.iter().filter(|&&other| other == first).count() as u64;
            joined
        };
        members.iter().zip(&firsts).map(join).collect()
    }
}

/// Returns whether directories that share files count as one copy. Actions that replace files can go on with directories
/// of which some files are links already, unless the rules count copies.
pub(in crate::dup) fn joins_linked(action: &Action, rules: &KeepRules) -> bool {
    matches!(action, Action::Delete | Action::Move(_)) || rules.isolate || rules.min_copies > 1
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
