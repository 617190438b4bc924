//! Whether a symbolic link is followed.

use rustix::fs::{AtFlags, OFlags};

/// Whether a symbolic link as the last component of a path is followed. Links before it always are, except in
/// a path that is confined to a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symlinks {
    /// The entry is the link itself.
    NoFollow,
    /// The entry is what the link leads to.
    Follow,
}

impl Symlinks {
    /// Returns `Follow` if `condition` is true.
    pub fn follow_if(condition: bool) -> Self {
        if condition { Self::Follow } else { Self::NoFollow }
    }

    /// Returns the flags for `statat` and its relatives.
    pub fn at_flags(self) -> AtFlags {
        match self {
            Self::NoFollow => AtFlags::SYMLINK_NOFOLLOW,
            Self::Follow => AtFlags::empty(),
        }
    }

    /// Returns the flags for `openat`.
    pub fn open_flags(self) -> OFlags {
        match self {
            Self::NoFollow => OFlags::NOFOLLOW,
            Self::Follow => OFlags::empty(),
        }
    }
}
