//! The sum over a directory and everything below it.

use std::ops::AddAssign;

use crate::Measure;

/// The space that a tree uses, and the number of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The sum of the sizes in bytes. An inode with several links counts once.
    pub apparent: u128,
    /// The sum of the allocated bytes. An inode with several links counts once.
    pub allocated: u128,
    /// The number of entries that are not directories. Every link counts.
    pub files: u64,
    /// The number of directories, the directory itself included.
    pub directories: u64,
}

impl Sum {
    /// Returns the bytes by one of the two measures.
    pub fn bytes(&self, measure: Measure) -> u128 {
        match measure {
            Measure::Allocated => self.allocated,
            Measure::Apparent => self.apparent,
        }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        // Fewer than 2^64 entries of less than 2^64 bytes fit into 128 bits.
        self.apparent += other.apparent;
        self.allocated += other.allocated;
        self.files += other.files;
        self.directories += other.directories;
    }
}
