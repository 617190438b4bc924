//! Some of a file that lies in one piece on its disk.

/// Some of a file that lies in one piece on its disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins in the file.
    pub logical: u64,
    /// Where it begins on the disk, as far as that says anything.
    pub physical: u64,
    /// Its length.
    pub len: u64,
    /// It lies there as it is read: written, in whole blocks, neither compressed nor encrypted.
    pub is_plain: bool,
    /// Other files, or other parts of the same one, have it too.
    pub is_shared: bool,
    /// It lies beside what is known of the file, and takes no block.
    pub is_inline: bool,
    /// None of the file follows.
    pub is_last: bool,
}

impl Extent {
    /// Its place on the disk, if whoever has the same one has the same bytes.
    pub fn shared_at(&self) -> Option<u64> {
        (self.is_plain && self.is_shared).then_some(self.physical)
    }
}
