//! Entries that own their data. The fuzz targets use them too.

use ftk_file::{FsId, Stat};
use ftk_manifest::{Entry, FieldSet, Xattr};

/// An entry that owns its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) stat: Stat,
    pub(crate) absent: FieldSet,
    pub(crate) target: Option<Vec<u8>>,
    pub(crate) link_group: Option<Vec<u8>>,
    pub(crate) digests: Vec<u8>,
    pub(crate) tree: Vec<u8>,
    pub(crate) xattrs: Option<Vec<Xattr>>,
    pub(crate) fs: Option<FsId>,
    pub(crate) verified_ns: Option<i128>,
    pub(crate) damaged_ns: Option<i128>,
}

/// A path that sorts in the order of a manifest: the root is `.` and sorts like an empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(pub(crate) Vec<u8>);

impl Ord for Path {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |path: &Self| (path.0 != b".").then(|| path.0.clone());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Owned {
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        Self {
            stat: entry.stat,
            absent: entry.absent,
            target: entry.target.map(<[u8]>::to_vec),
            link_group: entry.link_group.map(<[u8]>::to_vec),
            digests: entry.digests.to_vec(),
            tree: entry.tree.to_vec(),
            xattrs: entry.xattrs.map(<[Xattr]>::to_vec),
            fs: entry.fs,
            verified_ns: entry.verified_ns,
            damaged_ns: entry.damaged_ns,
        }
    }

    pub(crate) fn entry<'e>(&'e self, path: &'e Path) -> Entry<'e> {
        Entry {
            path: &path.0,
            stat: self.stat,
            absent: self.absent,
            target: self.target.as_deref(),
            link_group: self.link_group.as_deref(),
            digests: &self.digests,
            tree: &self.tree,
            xattrs: self.xattrs.as_deref(),
            fs: self.fs,
            verified_ns: self.verified_ns,
            damaged_ns: self.damaged_ns,
            is_unsettled: false,
        }
    }
}
