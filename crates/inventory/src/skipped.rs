//! What a table of regular files leaves out.

use std::ops::AddAssign;

use ftk_walk::FileType;

/// How many entries were met in the tree and left out because they are not regular files. Directories are
/// not counted: they are walked, not skipped.
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
    /// All of them.
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

/// An argument that is neither a regular file nor a directory, where only regular files are kept. What is
/// merely met in a tree is counted in [`Skipped`] instead: who names a pipe expects it to be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    /// The argument.
    pub path: Vec<u8>,
    /// What it is.
    pub file_type: FileType,
}
