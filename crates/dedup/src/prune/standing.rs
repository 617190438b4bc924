//! What is known about a member before the rules choose.

/// What is known about a member before the rules choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// What protects it.
    pub protection: Protection,
    /// Whether it is in a trash or system directory: see [`TRASH`](super::TRASH).
    pub is_trash: bool,
    /// The number of hidden directories in its path.
    pub hidden: u32,
    /// Whether it is on a read-only file system, mount or subvolume.
    pub is_read_only: bool,
    /// Whether that is a read-only subvolume, such as a snapshot: files in it can be cloned into, although they cannot be
    /// written to.
    pub is_in_snapshot: bool,
}

/// What protects a member, whatever the rules choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// Nothing: the rules decide.
    #[default]
    Free,
    /// It is inside a directory that stays as a whole, so it stays and counts as a copy.
    InKept,
    /// It is below a reference, so it stays and counts as a copy.
    Reference,
}

impl Standing {
    /// Returns whether the member stays whatever the rules choose.
    pub fn stays(self) -> bool {
        self.protection != Protection::Free
    }

    /// Returns whether the user named a reference that contains it.
    pub fn is_reference(self) -> bool {
        self.protection == Protection::Reference
    }

    /// Protects the member also for this reason. The stronger one wins.
    pub(crate) fn protect(&mut self, other: Protection) {
        self.protection = self.protection.max(other);
    }
}
