//! What the tree digests of directories cover, of some successive entries.

use ftk_file::Stat;
use ftk_walk::FileType;

use crate::{Entry, FieldSet};

/// Copies of successive entries, with what a tree digest covers.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The paths, targets and digests of all entries, one after another.
    bytes: Vec<u8>,
    entries: Vec<Outlined>,
}

/// An entry, with the lengths of its parts.
#[derive(Debug)]
struct Outlined {
    path_len: usize,
    target_len: Option<usize>,
    digests_len: usize,
    tree_len: usize,
    file_type: FileType,
    mode: u32,
    size: u64,
    rdev: u64,
    absent: FieldSet,
}

impl Outline {
    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: &Entry<'_>) {
        let Entry { path, target, digests, tree, stat, absent, .. } = *entry;
        for part in [path, target.unwrap_or_default(), digests, tree] {
            self.bytes.extend_from_slice(part);
        }
        self.entries.push(Outlined {
            path_len: path.len(),
            target_len: target.map(<[u8]>::len),
            digests_len: digests.len(),
            tree_len: tree.len(),
            file_type: stat.file_type,
            mode: stat.mode,
            size: stat.size,
            rdev: stat.rdev,
            absent,
        });
    }

    /// Returns the entries in the order in which they were added. What a tree digest does not cover is missing.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut rest = &*self.bytes;
        self.entries.iter().map(move |it| {
            let mut part = |len| rest.split_off(..len).expect("all parts were added");
            let path = part(it.path_len);
            let target = it.target_len.map(&mut part);
            let (digests, tree) = (part(it.digests_len), part(it.tree_len));
            let Outlined { file_type, mode, size, rdev, absent, .. } = *it;
            let stat = Stat { file_type, mode, size, rdev, ..Stat::EMPTY };
            Entry { absent, target, digests, tree, ..Entry::new(path, stat) }
        })
    }
}
