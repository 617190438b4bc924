//! Tests on what `stat` says.

use ftk_walk::{Entry, FileType, Metadata};

use crate::{Links, Owner, Perm, Size, Time};

/// Tests on metadata. An empty list is no test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inode {
    /// All must hold.
    pub(crate) sizes: Vec<Size>,
    /// All must hold.
    pub(crate) links: Vec<Links>,
    pub(crate) since: Option<Time>,
    pub(crate) before: Option<Time>,
    pub(crate) owners: Vec<Owner>,
    pub(crate) perms: Vec<Perm>,
    /// Device and inode number.
    pub(crate) same: Vec<(u64, u64)>,
}

impl Inode {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the entry can pass, by what is known without asking the system. A listing tells of a mount point,
    /// which may be a directory, and of a link what is covered or stands in between.
    pub(crate) fn may_take(&self, entry: &Entry<'_>) -> bool {
        self.same.is_empty()
            || entry.via_link()
            || entry.file_type() == FileType::Directory
            || self.same.iter().any(|&(_, ino)| ino == entry.ino())
    }

    pub(crate) fn matches(&self, of: &Metadata) -> bool {
        let time = Time(of.mtime_ns);
        self.sizes.iter().all(|size| size.matches(of.size))
            && self.links.iter().all(|links| links.matches(of.nlink))
            && self.since.is_none_or(|since| time >= since)
            && self.before.is_none_or(|before| time < before)
            && (self.owners.is_empty() || self.owners.iter().any(|owner| owner.matches(of.uid, of.gid)))
            && (self.perms.is_empty() || self.perms.iter().any(|perm| perm.matches(of.mode)))
            && (self.same.is_empty() || self.same.contains(&(of.dev, of.ino)))
    }
}
