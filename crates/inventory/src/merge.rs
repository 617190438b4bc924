//! Phase B: merges the parts of all workers into one table.

use std::cmp::Ordering;

use crate::shard::{Found, Listing, ROOT, Shard};
use crate::table::{Dir, Inventory, Origin};
use crate::{Collect, Full, Keep, Skipped};

impl Inventory {
    /// Merges the parts of all workers into one table.
    ///
    /// Directories are in depth-first order. Sibling directories are sorted by the bytes of their names, as
    /// if a slash followed each name. Regular files are numbered directory by directory in this order, and by
    /// name within a directory. The time depends on the number of directories, and not on that of files: each
    /// worker has already sorted the files of its directories.
    ///
    /// # Errors
    /// If a part or the table is full.
    ///
    /// # Panics
    /// If the parts are not those of workers `0..parts.len()` of one walk.
    pub fn merge(mut parts: Vec<Collect>) -> Result<Self, Full> {
        parts.sort_by_key(|part| part.worker);
        let keep = parts.first().map_or(Keep::Files, |part| part.keep);
        let mut shards = Vec::with_capacity(parts.len());
        let mut skipped = Skipped::default();
        let (mut errors, mut refused, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for (number, mut part) in parts.into_iter().enumerate() {
            if let Some(full) = part.full {
                return Err(full);
            }
            assert_eq!(usize::from(part.worker), number, "a worker's part is missing or duplicate");
            part.shard.finish_starting_points(part.worker)?;
            shards.push(part.shard);
            skipped += part.skipped;
            errors.append(&mut part.errors);
            repeated.append(&mut part.repeated);
            refused.append(&mut part.refused);
        }
        errors.sort_by(|a, b| a.path.cmp(&b.path));
        repeated.sort_unstable();
        refused.sort();
        if matches!(keep, Keep::Stats { .. }) {
            mark_whole(&mut shards);
        }
        let Numbered { dirs, files, partial } = depth_first(&mut shards)?;
        let origin = Origin::Walked;
        Ok(Self { shards, dirs, files, partial, skipped, keep, errors, refused, repeated, origin })
    }
}

/// Marks the directories whose entries are all in the table.
fn mark_whole(shards: &mut [Shard]) {
    for shard in 0..shards.len() {
        let partial = std::mem::take(&mut shards[shard].partial);
        let mut next = partial.iter().peekable();
        for number in 0..shards[shard].current() {
            if next.next_if_eq(&&number).is_none() {
                let found = shards[shard].listings[number as usize].found;
                shards[usize::from(found.shard)].mark_whole(found);
            }
        }
        shards[shard].partial = partial;
    }
}

/// Converts all listings to directories in depth-first order.
pub(crate) fn depth_first(shards: &mut [Shard]) -> Result<Numbered, Full> {
    let numbered = Order::of(shards)?.number()?;
    for shard in shards {
        shard.listings = Vec::new();
        shard.partial = Vec::new();
    }
    Ok(numbered)
}

/// The directories in depth-first order.
pub(crate) struct Numbered {
    pub(crate) dirs: Vec<Dir>,
    /// The number of regular files.
    pub(crate) files: u32,
    /// The numbers of directories that lack an entry, ascending.
    pub(crate) partial: Vec<u32>,
}

/// The tree of all listings. They are numbered through all shards.
struct Order<'s> {
    shards: &'s [Shard],
    /// The number of the first listing of each shard, and the total.
    bases: Vec<u32>,
    /// Listings grouped by parent, those without a parent last. Within a group they are sorted by `name/`.
    children: Vec<u32>,
    /// The start of each group in `children`, and the end of the last.
    starts: Vec<u32>,
}

impl<'s> Order<'s> {
    fn of(shards: &'s [Shard]) -> Result<Self, Full> {
        let mut bases = vec![0_u32];
        let mut total = 0_u32;
        for shard in shards {
            let count = u32::try_from(shard.listings.len()).map_err(|_| Full::Directories)?;
            total = total.checked_add(count).filter(|&sum| sum < ROOT).ok_or(Full::Directories)?;
            bases.push(total);
        }
        let mut order = Self { shards, bases, children: vec![0; total as usize], starts: Vec::new() };
        order.group();
        order.sort();
        Ok(order)
    }

    /// Groups all listings by parent, with a counting sort.
    fn group(&mut self) {
        let total = self.children.len();
        let mut ends = vec![0_u32; total + 2];
        for listing in self.shards.iter().flat_map(|shard| &shard.listings) {
            ends[self.parent(&listing.found) + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        self.starts.clone_from(&ends);
        for (number, listing) in self.shards.iter().flat_map(|shard| &shard.listings).enumerate() {
            let next = &mut ends[self.parent(&listing.found)];
            self.children[*next as usize] = number as u32;
            *next += 1;
        }
    }

    /// Sorts each group by `name/`.
    fn sort(&mut self) {
        let mut children = std::mem::take(&mut self.children);
        for range in self.starts.windows(2) {
            children[range[0] as usize..range[1] as usize]
                .sort_by(|&a, &b| by_name_as_directory(self.name(a), self.name(b)));
        }
        self.children = children;
    }

    /// Returns all directories in depth-first order.
    fn number(&self) -> Result<Numbered, Full> {
        let mut dirs: Vec<Dir> = Vec::with_capacity(self.children.len());
        let (mut files, mut partial) = (0_u32, Vec::new());
        // Pending listings with the numbers of their parents, the next one last.
        let mut waiting: Vec<(u32, u32)> = Vec::new();
        waiting.extend(self.children_of(self.children.len()).iter().rev().map(|&root| (root, ROOT)));
        while let Some((at, up)) = waiting.pop() {
            let (shard, listing) = self.listing(at);
            let Found { shard: name_shard, name, .. } = listing.found;
            let &Listing { dev, ino, root, start, others, .. } = listing;
            let number = dirs.len() as u32;
            dirs.push(Dir { dev, ino, up, name, name_shard, shard, start, others, first: files, root });
            files = files.checked_add(listing.files).ok_or(Full::Entries)?;
            let local = at - self.bases[usize::from(shard)];
            if self.shards[usize::from(shard)].partial.binary_search(&local).is_ok() {
                partial.push(number);
            }
            waiting.extend(self.children_of(at as usize).iter().rev().map(|&child| (child, number)));
        }
        Ok(Numbered { dirs, files, partial })
    }

    fn children_of(&self, parent: usize) -> &[u32] {
        &self.children[self.starts[parent] as usize..self.starts[parent + 1] as usize]
    }

    /// Returns the number of a directory's parent; for a starting point, the number of all listings.
    fn parent(&self, found: &Found) -> usize {
        match found.up {
            ROOT => self.children.len(),
            up => (self.bases[usize::from(found.shard)] + up) as usize,
        }
    }

    fn listing(&self, at: u32) -> (u16, &'s Listing) {
        let shard = self.bases.partition_point(|&base| base <= at) - 1;
        (shard as u16, &self.shards[shard].listings[(at - self.bases[shard]) as usize])
    }

    fn name(&self, at: u32) -> &'s [u8] {
        let found = self.listing(at).1.found;
        self.shards[usize::from(found.shard)].names.get(found.name)
    }
}

/// Compares names as if a slash followed each, so that the entries of the directories are in path order.
fn by_name_as_directory(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    a[..common]
        .cmp(&b[..common])
        .then_with(|| a[common..].iter().chain(b"/").cmp(b[common..].iter().chain(b"/")))
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use ftk_file::Symlinks;
    use ftk_walk::FileType;
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::fixture;
    use crate::shard::Id;
    use crate::{DirNo, FileNo};

    proptest! {
        #[test]
        fn numbers_are_depth_first_and_give_the_right_names(fixture in fixture()) {
            let (parts, lines) = fixture.collect(Keep::Files);
            let inventory = Inventory::merge(parts).unwrap();
            prop_assert_eq!(inventory.files() as usize, lines.len());
            let mut next = 0;
            for dir in (0..inventory.dirs()).map(DirNo) {
                let files = inventory.files_of(dir);
                prop_assert_eq!(files.start, next);
                next = files.end;
                for file in files.map(FileNo) {
                    prop_assert_eq!(inventory.dir_of(file), dir);
                    let (path, ..) = &lines[inventory.ino(dir, file) as usize];
                    let mut found = b"before ".to_vec();
                    inventory.push_path(file, &mut found);
                    prop_assert_eq!(&found, &[b"before ", &path[..]].concat());
                    prop_assert!(path.ends_with(inventory.name(dir, file).to_bytes()));
                }
                let up = inventory.dirs[dir.0 as usize].up;
                prop_assert!(up == ROOT || up < dir.0);
            }
            prop_assert_eq!(next, inventory.files());
        }

        #[test]
        fn the_table_is_the_same_for_any_share_of_work(mut fixture in fixture(), seed in any::<u64>()) {
            let paths = |fixture: &crate::fixture::Fixture| {
                let inventory = Inventory::merge(fixture.collect(Keep::Files).0).unwrap();
                (0..inventory.files()).map(|file| inventory.path(FileNo(file))).collect::<Vec<_>>()
            };
            let before = paths(&fixture);
            (fixture.workers, fixture.seed) = (7, seed);
            prop_assert_eq!(paths(&fixture), before);
        }
    }

    #[test]
    fn ten_thousand_levels_are_merged_without_recursion() {
        const DEPTH: usize = 10_000;
        let mut part = Collect::new(0, Keep::Files);
        let mut up = ROOT;
        for level in 0..DEPTH {
            let name = part.shard.names.push(&CString::new(format!("directory{level}")).unwrap()).unwrap();
            part.shard.add(c"file", level as u64, FileType::Regular, Symlinks::NoFollow).unwrap();
            let current = part.shard.current();
            part.shard.finish(Found { shard: 0, up, name }, Id::default()).unwrap();
            up = current;
        }
        let inventory = Inventory::merge(vec![part]).unwrap();
        let mut order = inventory.in_path_order();
        let mut last = 0;
        // `file` comes after `directory...`, so the deepest comes first.
        for level in (0..DEPTH).rev() {
            let item = order.next().unwrap();
            assert_eq!(item.file, Some(FileNo(level as u32)));
            last = item.path.len();
        }
        assert_eq!(last, "directory0/file".len());
        assert!(order.next().is_none());
    }

    #[test]
    fn a_part_that_is_full_fails_the_merge() {
        let parts = vec![Collect::new(0, Keep::Files), Collect::new(70_000, Keep::Files)];
        assert_eq!(Inventory::merge(parts).unwrap_err(), Full::Workers);
    }
}
