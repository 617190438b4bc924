//! What can differ between two trees.

use ftk_inventory::Metadata;
use ftk_read::Failure;
use ftk_walk::FileType;

use super::classify::{Relation, TreeCriteria};
use super::merge::Entry;
use crate::Side;

/// One difference.
#[derive(Debug)]
pub struct Difference<'d> {
    /// Where: the path below both starting points, empty for these themselves.
    pub path: &'d [u8],
    /// What it is.
    pub what: What<'d>,
}

/// What differs. Of two values the first is that of the first tree.
#[derive(Debug)]
#[non_exhaustive]
pub enum What<'d> {
    /// It is there on this side only.
    Only(Side, FileType),
    /// It is of another type.
    Type(FileType, FileType),
    /// The files are of different length.
    Size(u64, u64),
    /// The files hold different bytes.
    Content {
        /// The first of them, from 0. Where one file ends before a byte differs, its length.
        first: u64,
    },
    /// The symbolic links lead to different names.
    Target(&'d [u8], &'d [u8]),
    /// The device files stand for different devices, of these numbers.
    Device(u64, u64),
    /// What is known of the entries differs.
    Metadata {
        /// In what.
        fields: &'d [Field],
        /// What is known of the first.
        a: &'d Metadata,
        /// What is known of the second.
        b: &'d Metadata,
    },
    /// The files could not be compared, because of the one on this side.
    Failed(Side, &'d Failure),
    /// The files were not compared: the run was stopped before.
    Pending,
}

/// A part of what is known of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// Permission bits with set-user-ID, set-group-ID and sticky.
    Mode,
    /// Owner.
    Uid,
    /// Group.
    Gid,
    /// Last change of the content.
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
    /// Those that count.
    pub(crate) fn between(a: &Entry, b: &Entry, relation: Relation, rules: TreeCriteria) -> Self {
        let mut differing = Self { fields: FIELDS, len: 0 };
        // Of entries of different types everything differs somehow.
        if a.file_type != b.file_type || !rules.metadata && !rules.quick {
            return differing;
        }
        let file_type = a.file_type;
        let (a, b) = (a.metadata(), b.metadata());
        for field in FIELDS {
            let (differs, counts) = match field {
                Field::Mode => (a.mode != b.mode, rules.metadata),
                Field::Uid => (a.uid != b.uid, rules.metadata),
                Field::Gid => (a.gid != b.gid, rules.metadata),
                Field::Mtime => (a.mtime_ns != b.mtime_ns, counts_mtime(file_type, relation, rules)),
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

fn counts_mtime(file_type: FileType, relation: Relation, rules: TreeCriteria) -> bool {
    match file_type {
        // It changes with whatever is made in it, also while a faithful copy is made.
        FileType::Directory => false,
        // Where the content is not looked at, the time stands for it.
        FileType::Regular if rules.quick && relation == Relation::Same => true,
        _ => rules.metadata,
    }
}
