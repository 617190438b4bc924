//! Tests on metadata.

use ftk_walk::{Entry, FileType, Metadata};

use crate::{Links, Owner, Perm, Size, Time};

/// Tests on metadata. An empty list matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inode {
    /// All must match.
    pub(crate) sizes: Vec<Size>,
    /// All must match.
    pub(crate) links: Vec<Links>,
    pub(crate) since: Option<Time>,
    pub(crate) before: Option<Time>,
    /// One must match.
    pub(crate) owners: Vec<Owner>,
    /// One must match.
    pub(crate) perms: Vec<Perm>,
    /// Device and inode numbers, one of which must match.
    pub(crate) same: Vec<(u64, u64)>,
}

impl Inode {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the entry can match, as far as its listing shows. Makes no system call.
    ///
    /// For a mount point, the listing reports the inode of the covered directory, and for a followed link
    /// that of the link. So directories and followed links can always match.
    pub(crate) fn may_match(&self, entry: &Entry<'_>) -> bool {
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
