//! Path order: a cursor over the whole table.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use ftk_file::Stat;
use ftk_walk::FileType;

use crate::cursor::Cursor;
use crate::shard::ROOT;
use crate::{DirNo, FileNo, Inventory};

/// One entry in path order.
#[derive(Debug)]
pub struct Item<'c> {
    /// The whole path.
    pub path: &'c [u8],
    /// The last part of the path: the name in its directory. For a starting point, the whole path.
    pub name: &'c [u8],
    /// The directory that contains the entry.
    pub dir: DirNo,
    /// The type.
    pub file_type: FileType,
    /// Whether the table has all entries of this directory: it was listed without an error, and no filter
    /// skipped an entry. False for everything else, and in tables without [`Keep::Stats`](crate::Keep::Stats).
    pub is_whole: bool,
    /// The number of a regular file; `None` for every other type.
    pub file: Option<FileNo>,
    /// The metadata, in tables with [`Keep::Stats`](crate::Keep::Stats). Regular files have it only if
    /// `files` is set.
    pub metadata: Option<Stat>,
    /// The target of a symbolic link that is not followed, in tables with
    /// [`Keep::Stats`](crate::Keep::Stats).
    pub target: Option<&'c [u8]>,
}

/// A cursor over all entries in the byte order of their whole paths.
///
/// The entries of one starting point are merged directory by directory. Several starting points are merged by
/// whole paths, because one may be below another.
#[derive(Debug)]
pub struct PathOrder<'i> {
    /// The cursors of all starting points, each at its next entry. After the first call of `next`, the first
    /// cursor is at the entry that was returned last.
    roots: BinaryHeap<Root<'i>>,
    has_started: bool,
}

impl<'i> PathOrder<'i> {
    pub(crate) fn new(inventory: &'i Inventory) -> Self {
        let is_root = |&dir: &u32| inventory.dirs[dir as usize].up == ROOT;
        let cursor = |dir| Cursor::new(inventory, DirNo(dir)).map(|cursor| Root { cursor, dir });
        Self { roots: (0..inventory.dirs()).filter(is_root).filter_map(cursor).collect(), has_started: false }
    }

    /// Returns the next entry. It borrows the cursor, so it is valid until the next call.
    #[expect(clippy::should_implement_trait, reason = "a lending cursor cannot be an Iterator")]
    pub fn next(&mut self) -> Option<Item<'_>> {
        if self.has_started {
            let mut first = self.roots.peek_mut()?;
            if !first.cursor.advance() {
                PeekMut::pop(first);
            }
        }
        self.has_started = true;
        Some(self.roots.peek()?.cursor.item())
    }
}

/// The cursor of one starting point. The greatest is the one with the smallest path, then the smallest
/// number.
#[derive(Debug)]
struct Root<'i> {
    cursor: Cursor<'i>,
    dir: u32,
}

impl Ord for Root<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.cursor.path(), other.dir).cmp(&(self.cursor.path(), self.dir))
    }
}

impl PartialOrd for Root<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Root<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Root<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::Keep;
    use crate::fixture::fixture;

    proptest! {
        #[test]
        fn entries_come_in_the_order_of_their_whole_paths(
            fixture in fixture(),
            keep in select(vec![Keep::Files, Keep::Sizes, Keep::Tree, Keep::All, Keep::Stats { files: true }]),
        ) {
            let (parts, mut expected) = fixture.collect(keep);
            let inventory = Inventory::merge(parts).unwrap();
            let mut order = inventory.in_path_order();
            let mut found = Vec::new();
            while let Some(item) = order.next() {
                prop_assert!(item.path.ends_with(item.name));
                prop_assert!(item.file.is_none_or(|file| inventory.dir_of(file) == item.dir));
                let ino = item.file.map(|file| inventory.ino(item.dir, file));
                found.push((item.path.to_vec(), item.file_type, ino));
            }
            prop_assert!(found.is_sorted_by(|a, b| a.0 <= b.0), "{:?}", found);
            found.sort();
            expected.sort();
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(path, kind, ino)| (path, kind, (kind == FileType::Regular).then_some(ino)))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_empty_table_has_no_entries() {
        let inventory = Inventory::merge(Vec::new()).unwrap();
        assert!(inventory.in_path_order().next().is_none());
        assert_eq!((inventory.files(), inventory.dirs()), (0, 0));
    }
}
