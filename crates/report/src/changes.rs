//! What differs between two manifests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ftk_inventory::{Budget, Full, Reservation};
use ftk_record::sanitize;

use crate::data::{Change, ChangeCounts, ChangedDir, ChangedEntry, Changes, GrownDir};
use crate::room::{self, shorten};

/// The largest number of changed entries and of directories on a page.
const LISTED: usize = 5_000;

/// Collects changes. Memory is proportional to the number of directories in which something changed, and counts towards
/// a budget.
#[derive(Debug)]
pub struct ChangesBuilder {
    counts: ChangeCounts,
    dirs: BTreeMap<Vec<u8>, ChangeCounts>,
    /// The entries that matter most; the least of them first.
    rows: BinaryHeap<Reverse<Row>>,
    total: u64,
    /// For `dirs`, and for the paths of `rows`.
    memory: [Reservation; 2],
    /// The length of the paths of `rows`.
    rows_len: u64,
}

/// The memory for a directory, besides its path. The nodes of the map are half full at worst, and the directories are
/// sorted in a list.
const DIR_BYTES: usize = 3 * size_of::<(Vec<u8>, ChangeCounts)>();

/// An entry, ordered by how much it matters: damage first, then by size, then by path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    is_corrupted: bool,
    bytes: u64,
    path: Reverse<Vec<u8>>,
    kind: Change,
    from: Option<Vec<u8>>,
    sizes: [Option<u64>; 2],
}

impl ChangeCounts {
    fn add(&mut self, kind: Change) {
        *match kind {
            Change::Corrupted => &mut self.corrupted,
            Change::Added => &mut self.added,
            Change::Removed => &mut self.removed,
            Change::Modified => &mut self.modified,
            Change::Moved => &mut self.moved,
            Change::Metadata => &mut self.metadata,
        } += 1;
    }

    fn total(&self) -> u64 {
        let Self { corrupted, added, removed, modified, moved, metadata } = *self;
        corrupted + added + removed + modified + moved + metadata
    }
}

impl Row {
    fn len(&self) -> u64 {
        (self.path.0.len() + self.from.as_ref().map_or(0, Vec::len)) as u64
    }
}

impl ChangesBuilder {
    /// Creates an empty collection.
    pub fn new(budget: &Budget) -> Self {
        Self {
            counts: ChangeCounts::default(),
            dirs: BTreeMap::new(),
            rows: BinaryHeap::new(),
            total: 0,
            memory: [Reservation::new(budget), Reservation::new(budget)],
            rows_len: 0,
        }
    }

    /// Adds the change of the entry at `path` below the root; `from` is the old path of a moved one. `sizes`: in bytes, in
    /// the old and the new manifest; absent for what is not a file there.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(
        &mut self,
        kind: Change,
        path: &[u8],
        from: Option<&[u8]>,
        sizes: [Option<u64>; 2],
    ) -> Result<(), Full> {
        self.counts.add(kind);
        self.total += 1;
        let dir = path.iter().rposition(|byte| *byte == b'/').map_or(&b"."[..], |slash| &path[..slash]);
        match self.dirs.get_mut(dir) {
            Some(counts) => counts.add(kind),
            None => {
                self.memory[0].consume((DIR_BYTES + dir.len()) as u64)?;
                self.dirs.entry(dir.to_vec()).or_default().add(kind);
            }
        }
        let row = Row {
            is_corrupted: kind == Change::Corrupted,
            bytes: sizes.into_iter().flatten().max().unwrap_or(0),
            path: Reverse(path.to_vec()),
            kind,
            from: from.map(<[u8]>::to_vec),
            sizes,
        };
        // The paths of all rows are copied for the page.
        self.rows_len += row.len();
        self.memory[1].reach(4 * self.rows_len)?;
        self.rows.push(Reverse(row));
        if self.rows.len() > LISTED {
            self.rows_len -= self.rows.pop().map_or(0, |row| row.0.len());
        }
        Ok(())
    }

    /// Returns the data of the page. `grown`: the directories that grew or shrank, the most important first; `None` if this
    /// is not known.
    pub fn finish(self, mut grown: Option<Vec<GrownDir>>) -> Changes {
        grown.iter_mut().for_each(|grown| shorten(grown, room::GROWN_DIRS));
        let Self { counts, dirs, rows, total, .. } = self;
        let total_dirs = dirs.len() as u64;
        let mut dirs: Vec<_> = dirs.into_iter().collect();
        dirs.sort_by(|a, b| (b.1.total(), &a.0).cmp(&(a.1.total(), &b.0)));
        dirs.truncate(LISTED);
        let dir = |(path, counts): (Vec<u8>, _)| ChangedDir { path: sanitize(&path).into(), counts };
        let mut dirs: Vec<_> = dirs.into_iter().map(dir).collect();
        shorten(&mut dirs, room::CHANGED_DIRS);
        let mut rows: Vec<_> = rows.into_sorted_vec().into_iter().map(|Reverse(row)| entry(row)).collect();
        shorten(&mut rows, room::CHANGED_ENTRIES);
        Changes {
            counts,
            dirs,
            total_dirs: total_dirs.into(),
            grown,
            omitted_rows: (total - rows.len() as u64).into(),
            rows,
        }
    }
}

fn entry(row: Row) -> ChangedEntry {
    let [old_bytes, new_bytes] = row.sizes.map(|size| size.map(Into::into));
    ChangedEntry {
        kind: row.kind,
        path: sanitize(&row.path.0).into(),
        from: row.from.map(|from| sanitize(&from).into()),
        old_bytes,
        new_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new() -> ChangesBuilder {
        ChangesBuilder::new(&Budget::new(u64::MAX))
    }

    #[test]
    fn damage_comes_first_then_the_largest() {
        let mut builder = new();
        builder.add(Change::Added, b"a/x", None, [None, Some(10)]).unwrap();
        builder.add(Change::Removed, b"a/y", None, [Some(30), None]).unwrap();
        builder.add(Change::Corrupted, b"z", None, [Some(1), Some(1)]).unwrap();
        builder.add(Change::Moved, b"b/n", Some(b"a/\xff"), [Some(20), Some(20)]).unwrap();
        let changes = builder.finish(None);
        let rows: Vec<_> = changes.rows.iter().map(|row| &*row.path).collect();
        assert_eq!(rows, ["z", "a/y", "b/n", "a/x"]);
        assert_eq!(changes.rows[2].from.as_deref(), Some("a/\\xff"));
        let dirs: Vec<_> = changes.dirs.iter().map(|dir| (&*dir.path, dir.counts.total())).collect();
        assert_eq!(dirs, [("a", 2), (".", 1), ("b", 1)]);
        assert_eq!(changes.counts.total(), 4);
    }

    #[test]
    fn many_changes_are_counted_and_the_largest_shown() {
        let mut builder = new();
        for n in 0..2 * LISTED as u64 {
            builder.add(Change::Added, format!("d/{n}").as_bytes(), None, [None, Some(n)]).unwrap();
        }
        let changes = builder.finish(None);
        assert_eq!((changes.rows.len(), changes.omitted_rows.0), (LISTED, LISTED as u128));
        assert_eq!(changes.rows[LISTED - 1].new_bytes.unwrap().0, LISTED as u128);
        assert_eq!(changes.dirs[0].counts.added, 2 * LISTED as u64);
    }

    #[test]
    fn the_longest_paths_fit_into_the_page() {
        let mut builder = new();
        let n = 3_000;
        for number in 0..n {
            let path = format!("{}{number:04}/x", "\u{1}".repeat(4000));
            builder.add(Change::Moved, path.as_bytes(), Some(path.as_bytes()), [None, Some(number)]).unwrap();
        }
        let changes = builder.finish(None);
        assert!(!changes.rows.is_empty() && !changes.dirs.is_empty());
        assert_eq!(changes.omitted_rows.0, u128::from(n) - changes.rows.len() as u128);
        assert_eq!(changes.total_dirs.0, n.into());
        let len = room::embedded_len(&changes);
        assert!(len < room::CHANGED_ENTRIES + room::CHANGED_DIRS + 1000, "{len}");
    }

    #[test]
    fn directories_and_shown_paths_count_towards_the_budget() {
        let add = |builder: &mut ChangesBuilder, path: String| {
            builder.add(Change::Added, path.as_bytes(), None, [None, Some(1)])
        };
        let mut builder = ChangesBuilder::new(&Budget::new(1 << 20));
        let most = (1 << 20) / DIR_BYTES;
        assert!((0..2 * most).any(|n| add(&mut builder, format!("{n}/x")).is_err()));
        let mut builder = ChangesBuilder::new(&Budget::new(1 << 20));
        assert_eq!(add(&mut builder, "x".repeat(1 << 19)), Err(Full::Memory));
        // Rows that are replaced count no longer.
        let mut builder = ChangesBuilder::new(&Budget::new(4 << 20));
        assert!((0..4 * LISTED).all(|n| add(&mut builder, format!("{n:0100}")).is_ok()));
    }
}
