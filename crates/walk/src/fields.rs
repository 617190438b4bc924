//! Sets of metadata fields.

use std::ops::{BitOr, BitOrAssign};

/// A set of the fields of [`Metadata`](crate::Metadata), for
/// [`Entry::metadata_with`](crate::Entry::metadata_with).
///
/// The type and the device come with every set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(u32);

impl Fields {
    /// No field.
    pub const NONE: Self = Self(0);
    /// The permission bits.
    pub const MODE: Self = Self(1);
    /// The number of hard links.
    pub const NLINK: Self = Self(1 << 1);
    /// The owner.
    pub const UID: Self = Self(1 << 2);
    /// The group.
    pub const GID: Self = Self(1 << 3);
    /// The time of the last access.
    pub const ATIME: Self = Self(1 << 4);
    /// The time of the last change to the content.
    pub const MTIME: Self = Self(1 << 5);
    /// The time of the last change to the inode.
    pub const CTIME: Self = Self(1 << 6);
    /// The inode number.
    pub const INO: Self = Self(1 << 7);
    /// The size.
    pub const SIZE: Self = Self(1 << 8);
    /// The space allocated on disk.
    pub const BLOCKS: Self = Self(1 << 9);
    /// The fields of `stat`: all of the above.
    pub const BASIC: Self = Self((1 << 10) - 1);
    /// The time of birth.
    pub const BIRTH: Self = Self(1 << 10);
    /// The number of the mount.
    pub const MOUNT: Self = Self(1 << 11);

    /// Returns whether the set contains every field of `other`.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether the set contains no field.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for Fields {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Fields {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}
