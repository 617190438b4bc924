//! The kinds of differences between two trees.

use ftk_file::{AttributeDifference, Failure, Stat};
use ftk_walk::FileType;

use super::classify::{Relation, TreeCriteria};
use super::merge::Entry;
use crate::Side;

/// One difference.
#[derive(Debug)]
pub struct Difference<'d> {
    /// The path below both starting points; empty for the starting points themselves.
    pub path: &'d [u8],
    /// The path in the second tree, if it has the same name in another Unicode normal form, or is below such a name.
    pub path_b: Option<&'d [u8]>,
    /// What differs.
    pub what: What<'d>,
    /// What is below a directory that only one tree has. `None` for everything else, unless the criteria ask for
    /// [sums](TreeCriteria::sums), and if a walk failed there.
    pub below: Option<Below>,
}

/// How much is below a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// The number of entries, without the directory itself.
    pub entries: u64,
    /// The sum of the sizes of regular files, in bytes. A file with several names counts for each of them.
    pub size_bytes: u64,
}

/// What differs. If there are two values, the first one belongs to the first tree.
#[derive(Debug)]
#[non_exhaustive]
pub enum What<'d> {
    /// The entry exists only on this side.
    Only(
        Side,
        FileType,
        /// The size of a regular file in bytes, if the criteria ask for [sums](TreeCriteria::sums).
        Option<u64>,
    ),
    /// The names are in different Unicode normal forms.
    Name,
    /// The entries have different types.
    Type(FileType, FileType),
    /// The files have different sizes.
    Size(u64, u64),
    /// The files have different content.
    Content {
        /// The offset of the first byte that differs, from 0. If one file is a prefix of the other, its
        /// length.
        first: u64,
    },
    /// The symbolic links have different targets.
    Target(&'d [u8], &'d [u8]),
    /// The device files have these different device numbers.
    Device(u64, u64),
    /// The metadata of the entries differs.
    Metadata {
        /// The fields that differ.
        fields: &'d [Field],
        /// The extended attributes that differ.
        attributes: &'d [AttributeDifference],
        /// The metadata of the first entry.
        a: &'d Stat,
        /// The metadata of the second entry.
        b: &'d Stat,
    },
    /// The path is a hard link of different paths.
    Links {
        /// The first path of its file in each tree, among those that both trees have. It is the path itself if no path before
        /// it leads to the file.
        first: [&'d [u8]; 2],
    },
    /// The other tree has files with several names, and on this side each of these names is a file of its own. The value is
    /// the number of these files.
    Unlinked(Side, u64),
    /// The files could not be compared because of an error on this side.
    Failed(Side, &'d Failure),
    /// The files were not compared, because the run was stopped before.
    Pending,
}

/// A field of an entry's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Permission bits, including set-user-ID, set-group-ID and sticky.
    Mode,
    /// Owner.
    Uid,
    /// Group.
    Gid,
    /// Time of the last modification.
    Mtime,
}

const FIELDS: [Field; 4] = [Field::Mode, Field::Uid, Field::Gid, Field::Mtime];

/// The fields in which two entries differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Differing {
    fields: [Field; FIELDS.len()],
    len: usize,
}

impl Differing {
    /// Returns the fields that differ, as far as the criteria include them.
    pub(crate) fn between(a: &Entry, b: &Entry, relation: Relation, criteria: TreeCriteria) -> Self {
        let mut differing = Self { fields: FIELDS, len: 0 };
        // The metadata of entries of different types is not comparable.
        if a.file_type != b.file_type || !criteria.metadata && !criteria.quick {
            return differing;
        }
        let file_type = a.file_type;
        let (a, b) = (a.metadata(), b.metadata());
        for field in FIELDS {
            let (differs, counts) = match field {
                Field::Mode => (a.mode != b.mode, criteria.metadata && !criteria.ignored.mode),
                Field::Uid => (a.uid != b.uid, criteria.metadata && !criteria.ignored.uid),
                Field::Gid => (a.gid != b.gid, criteria.metadata && !criteria.ignored.gid),
                Field::Mtime => {
                    let is_equal = criteria.times.has(a.mtime_ns, b.mtime_ns);
                    (!is_equal, counts_mtime(file_type, relation, criteria))
                }
            };
            if differs && counts {
                differing.fields[differing.len] = field;
                differing.len += 1;
            }
        }
        differing
    }

    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields[..self.len]
    }
}

fn counts_mtime(file_type: FileType, relation: Relation, criteria: TreeCriteria) -> bool {
    match file_type {
        // Any change in a directory updates its mtime, even making an exact copy of it.
        FileType::Directory => false,
        // Without reading the content, the mtime decides whether it is the same.
        FileType::Regular if criteria.quick && relation == Relation::Same => true,
        // The mtime of any future type is metadata too.
        _ => criteria.metadata && !criteria.ignored.mtime,
    }
}
