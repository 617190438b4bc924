//! Counts of entries that are not in a table of regular files.

use std::ops::AddAssign;

use ftk_walk::FileType;

/// Counts of entries that were skipped because they are not regular files. Directories do not count: they are
/// walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Symbolic links that were not followed.
    pub symlinks: u64,
    /// Named pipes.
    pub fifos: u64,
    /// Unix domain sockets.
    pub sockets: u64,
    /// Block and character devices.
    pub devices: u64,
}

impl Skipped {
    /// Returns the sum of all counts.
    pub fn total(&self) -> u64 {
        self.symlinks + self.fifos + self.sockets + self.devices
    }

    pub(crate) fn count(&mut self, file_type: FileType) {
        match file_type {
            FileType::Regular | FileType::Directory => {}
            FileType::Symlink => self.symlinks += 1,
            FileType::Fifo => self.fifos += 1,
            FileType::Socket => self.sockets += 1,
            FileType::Block | FileType::Char => self.devices += 1,
            _ => self.devices += 1, // as `FileType::from_mode` does with what it does not know
        }
    }
}

impl AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        self.symlinks += other.symlinks;
        self.fifos += other.fifos;
        self.sockets += other.sockets;
        self.devices += other.devices;
    }
}

/// A starting point that is neither a regular file nor a directory, in a table of regular files.
///
/// Users expect that a pipe given by name is read, so it is reported. Entries found in a tree are only
/// counted in [`Skipped`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// The path as given.
    pub path: Vec<u8>,
    /// The type.
    pub file_type: FileType,
}
