//! Path order: a cursor over the whole table.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use ftk_file::Stat;
use ftk_walk::FileType;

use crate::cursor::Cursor;
use crate::shard::{Packed, ROOT};
use crate::{DirNo, FileNo, Inventory, MovedEntries, Place, RelocatedMerge};

/// One entry in path order.
#[derive(Debug)]
pub struct Item<'c> {
    /// The whole path.
    pub path: &'c [u8],
    /// The path in its own spelling, if `path` has that of [another tree](Inventory::in_order_of).
    pub own_path: Option<&'c [u8]>,
    /// Whether the name itself is [spelled differently](crate::Aligned::is_respelled).
    pub is_respelled: bool,
    /// The last part of its own path: the name in its directory. For a starting point, the whole path.
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
#[derive(Clone, Debug)]
pub struct PathOrder<'i> {
    /// The cursors of all starting points, each at its next entry. After the first call of `next`, the first
    /// cursor is at the entry that was returned last.
    roots: BinaryHeap<Root<'i>>,
    has_started: bool,
    moved: Option<Moved<'i>>,
}

/// The state of entries that come in the order of other paths than their own.
#[derive(Clone, Debug)]
struct Moved<'i> {
    inventory: &'i Inventory,
    merge: RelocatedMerge<'i, Place>,
    own_path: Vec<u8>,
}

impl<'i> PathOrder<'i> {
    pub(crate) fn new(inventory: &'i Inventory) -> Self {
        let is_root = |&dir: &u32| inventory.dirs[dir as usize].up == ROOT;
        let cursor = |dir| Cursor::new(inventory, DirNo(dir)).map(|cursor| Root { cursor, dir });
        let roots = (0..inventory.dirs()).filter(is_root).filter_map(cursor).collect();
        Self { roots, has_started: false, moved: None }
    }

    /// Returns the next entry. It borrows the cursor, so it is valid until the next call.
    #[expect(clippy::should_implement_trait, reason = "a lending cursor cannot be an Iterator")]
    pub fn next(&mut self) -> Option<Item<'_>> {
        if self.moved.is_some() {
            return self.next_of_both();
        }
        self.advance();
        Some(self.roots.peek()?.cursor.item())
    }

    /// Returns the next entry, and its number among the rows of its directory.
    pub(crate) fn next_with_row(&mut self) -> Option<(Item<'_>, u32)> {
        self.advance();
        let cursor = &self.roots.peek()?.cursor;
        Some((cursor.item(), cursor.row()))
    }

    /// Moves to the next entry; the first call moves to the first one.
    fn advance(&mut self) {
        if self.has_started
            && let Some(mut first) = self.roots.peek_mut()
            && !first.cursor.advance()
        {
            PeekMut::pop(first);
        }
        self.has_started = true;
    }

    /// Returns the next entry, if some entries come in the order of other paths than their own.
    fn next_of_both(&mut self) -> Option<Item<'_>> {
        if self.moved.as_ref()?.merge.needs_advance() {
            self.advance();
            while !self.roots.is_empty() && self.moved.as_mut()?.merge.passes_relocated() {
                self.advance();
            }
        }
        let first = self.roots.peek().map(|root| &root.cursor);
        let Moved { inventory, merge, own_path } = self.moved.as_mut()?;
        let Some((path, is_respelled, place)) = merge.next(first.map(Cursor::path)) else {
            return Some(first?.item());
        };
        let (files, row) = (inventory.files_of(place.dir), &inventory.rows(place.dir)[place.row as usize]);
        let file = Some(FileNo(files.start + place.row)).filter(|file| files.contains(&file.0));
        own_path.clear();
        inventory.push_prefix(place.dir, own_path);
        let start = own_path.len();
        let item = inventory.item(place.dir, row, file);
        own_path.extend_from_slice(inventory.name_of(place.dir, row));
        Some(Item { path, name: &own_path[start..], own_path: Some(own_path), is_respelled, ..item })
    }
}

impl Inventory {
    /// Returns a cursor over all entries, in the byte order of their paths as another tree spells them.
    pub fn in_order_of<'i>(&'i self, entries: &'i MovedEntries) -> PathOrder<'i> {
        let moved = Moved { inventory: self, merge: entries.merge(), own_path: Vec::new() };
        PathOrder { moved: Some(moved), ..self.in_path_order() }
    }

    fn name_of(&self, dir: DirNo, row: &Packed) -> &[u8] {
        self.shards[usize::from(self.dirs[dir.0 as usize].shard)].names.get(row.name())
    }
}

/// The cursor of one starting point. The greatest is the one with the smallest path, then the smallest
/// number.
#[derive(Clone, Debug)]
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
