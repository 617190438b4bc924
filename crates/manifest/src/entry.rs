//! One entry of a tree, and its metadata.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ftk_file::{FsId, Inode, Stat};
use ftk_walk::FileType;

use crate::field::Field;
use crate::field_set::FieldSet;

/// One entry of a manifest, or of a tree that is recorded or verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'e> {
    /// The path below the root; `.` for the root itself.
    pub path: &'e [u8],
    /// The metadata.
    pub stat: Stat,
    /// Members of a manifest's entry that are absent. Their values in `stat` have no meaning.
    pub absent: FieldSet,
    /// The target of a symbolic link; `None` for all other types.
    pub target: Option<&'e [u8]>,
    /// The group of hard links that the entry belongs to, named by a path. Entries with equal names are links of one file.
    /// `None` if the entry is a directory or has no other names, or if its other names are [not known](Self::links).
    pub link_group: Option<&'e [u8]>,
    /// The digests of a regular file, concatenated in the order of the [`Header`](crate::Header)'s
    /// algorithms. Empty for other types, and if the content was not read.
    pub digests: &'e [u8],
    /// The tree digests of a directory, concatenated like `digests`. Empty for other types, and if there are
    /// none.
    pub tree: &'e [u8],
    /// The extended attributes, sorted by name, if they were requested.
    pub xattrs: Option<&'e [Xattr]>,
    /// The identity of the file system, if it has one. Unlike the device number, it stays the same when the
    /// file system is mounted again.
    pub fs: Option<FsId>,
    /// When a run last read the content and found or recorded these digests. `None` if no run has read it
    /// since the start time in the [`Header`](crate::Header).
    pub verified_ns: Option<i128>,
    /// When a run first found that the content has changed although size and mtime are the same.
    pub damaged_ns: Option<i128>,
    /// Whether the entry is a file that was recorded from a snapshot and may have been
    /// [incomplete](crate::Provenance::settled_ns) there. Then other content under the same times is no sign of damage. A
    /// file that is known to be damaged is not one.
    pub is_unsettled: bool,
}

impl<'e> Entry<'e> {
    /// Creates an entry of which only the path and the metadata are known.
    pub fn new(path: &'e [u8], stat: Stat) -> Self {
        Self {
            path,
            stat,
            absent: FieldSet::default(),
            target: None,
            link_group: None,
            digests: &[],
            tree: &[],
            xattrs: None,
            fs: None,
            verified_ns: None,
            damaged_ns: None,
            is_unsettled: false,
        }
    }

    /// Returns whether the value of a field is known. An unknown value is not compared.
    pub fn knows(&self, field: Field) -> bool {
        !self.absent.contains(field)
    }

    /// Returns the size, if it is known.
    pub fn size(&self) -> Option<u64> {
        self.knows(Field::Size).then_some(self.stat.size)
    }

    /// Returns what identifies the file, if it is known. Entries with the same inode are hard links of one file, also if
    /// several hosts recorded them with different device numbers.
    pub fn inode(&self) -> Option<Inode> {
        let known = |field, value| self.knows(field).then_some(value);
        Inode::new(self.fs, known(Field::Dev, self.stat.dev), known(Field::Ino, self.stat.ino))
    }

    /// Returns the group of hard links that the entry belongs to, `Some(None)` if it has no other names. `None` if this is
    /// not known, or if it is a directory.
    pub fn links(&self) -> Option<Option<&'e [u8]>> {
        match self.link_group {
            Some(group) => Some(Some(group)),
            None if self.stat.file_type == FileType::Directory => None,
            None => (self.knows(Field::Nlink) && self.stat.nlink == 1).then_some(None),
        }
    }

    /// Returns a number for the file that the entry is a name of, `Some(None)` if it has no other names. `None` if this is
    /// not known. Merged manifests have no groups of links, so their inodes are used.
    pub(crate) fn linked_identity(&self) -> Option<Option<u64>> {
        let mut hasher = DefaultHasher::new();
        match self.link_group {
            Some(group) => hasher.write(group),
            None if !self.knows(Field::Nlink) => return None,
            None if self.stat.nlink <= 1 => return Some(None),
            None => self.inode()?.hash(&mut hasher),
        }
        Some(Some(hasher.finish()))
    }

    /// Returns when a run last read the content. `start_ns` is that in the manifest's header, a time before the files were
    /// read that have no other time. `None` if the entry comes from another program, which records no ctime: then only
    /// a list was read.
    pub fn read_ns(&self, start_ns: i128) -> Option<i128> {
        self.verified_ns.or(self.knows(Field::Ctime).then_some(start_ns))
    }

    /// Returns whether the file may have other content by now without a change of its size and times, because it was written
    /// while it was recorded by a run that began at `start_ns`, or while the recorded snapshot was made.
    pub(crate) fn is_recent(&self, start_ns: i128) -> bool {
        self.stat.is_recent(start_ns) || self.is_unsettled
    }

    /// Returns whether the values of all these fields are known.
    pub fn knows_all(&self, fields: &[Field]) -> bool {
        fields.iter().all(|field| self.knows(*field))
    }
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xattr {
    /// The name, including the name space: `user.comment`.
    pub name: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
}

/// Returns the sort key of a path: its bytes, except for the root, which sorts before everything else.
pub(crate) fn key(path: &[u8]) -> &[u8] {
    if path == ROOT { b"" } else { path }
}

/// Returns the path with this [`key`].
pub(crate) fn path_of_key(key: &[u8]) -> &[u8] {
    if key.is_empty() { ROOT } else { key }
}

/// Returns paths in the order of a manifest, each once.
pub(crate) fn sorted(mut paths: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    paths.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    paths.dedup();
    paths
}

/// Returns whether `path` is below the directory `dir`.
pub(crate) fn is_below(dir: &[u8], path: &[u8]) -> bool {
    match key(dir) {
        [] => path != ROOT,
        dir => path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/")),
    }
}

/// Returns the path below the directory `dir` of an entry at or below it.
pub(crate) fn path_below<'p>(dir: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    match path.strip_prefix(dir)? {
        [] => Some(ROOT),
        rest => rest.strip_prefix(b"/"),
    }
}

/// The name of a group of hard links.
pub(crate) type LinkGroup = Box<[u8]>;

/// The path of the root.
pub(crate) const ROOT: &[u8] = b".";
