//! Tables made from a list of paths instead of a walk.

use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use ftk_file::Symlinks;
use ftk_walk::FileType;

use crate::merge::{Numbered, depth_first};
use crate::names::Name;
use crate::shard::{Found, Listing, Packed, ROOT, Shard};
use crate::table::{Dir, Origin};
use crate::{Budget, FileNo, Full, Inventory, Keep, Skipped};

/// A list of paths for [`Inventory::from_list`].
///
/// Paths are kept byte for byte, and [`Inventory::push_path`] returns them unchanged. So `a/b`, `./a/b` and
/// `a//b` are three files. Paths are relative to the working directory unless the list is
/// [confined](PathList::confined). They may come in any order. It is fastest if the paths of each directory
/// are consecutive.
#[derive(Debug)]
pub struct PathList {
    /// Directories and paths. Each directory is a listing without entries, whose `start` holds its number in
    /// the order of first mention. Each path is an entry, whose `ino` holds the number of its directory and
    /// its own number.
    shard: Shard,
    /// Directories by a hash of parent and name. On a collision the next free hash is used.
    index: HashMap<u64, u32>,
    hasher: RandomState,
    /// The last path without its name, and its directory.
    last: Option<(Vec<u8>, u32)>,
    origin: Origin,
    budget: Option<Budget>,
    /// Bytes reserved from the budget.
    reserved: u64,
}

/// The error for a path that cannot be added to a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unlisted {
    /// The path is empty or ends with a slash, so no file can have it.
    NoFile,
    /// The path contains a NUL.
    Nul,
    /// A name in the path has more than 65,535 bytes.
    LongName,
    /// The path is absolute or contains `..`, and the list is confined to a directory.
    Outside,
    /// The table is full, and no further path can be added.
    Full(Full),
}

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFile => "no file can have this path",
            Self::Nul => "the path contains a NUL",
            Self::LongName => "file name too long",
            Self::Outside => "the path leads out of the directory",
            Self::Full(full) => return full.fmt(f),
        })
    }
}

impl std::error::Error for Unlisted {}

impl PathList {
    /// Makes an empty list. Its files are opened by their paths, and symbolic links are followed.
    pub fn new() -> Self {
        Self::of(Origin::Listed)
    }

    /// Makes an empty list whose paths are relative to `root` and must stay below it.
    ///
    /// Paths that are absolute or contain `..` are refused. Symbolic links in the paths are not followed;
    /// those in `root` itself are.
    pub fn confined(root: CString) -> Self {
        Self::of(Origin::Confined(root))
    }

    /// Makes an empty list with the same starting directory and confinement as the list that `inventory` was
    /// made from.
    ///
    /// # Panics
    /// If the table was made by a walk.
    pub fn like(inventory: &Inventory) -> Self {
        assert_ne!(inventory.origin, Origin::Walked, "the table was made by a walk");
        Self::of(inventory.origin.clone())
    }

    fn of(origin: Origin) -> Self {
        Self {
            shard: Shard::default(),
            index: HashMap::new(),
            hasher: RandomState::new(),
            last: None,
            origin,
            budget: None,
            reserved: 0,
        }
    }

    /// Limits the memory of the table.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        Self { budget: Some(budget.clone()), ..self }
    }

    /// Returns the number of paths so far.
    pub fn len(&self) -> usize {
        self.shard.entries.len()
    }

    /// Returns whether the list has no paths.
    pub fn is_empty(&self) -> bool {
        self.shard.entries.is_empty()
    }

    /// Adds a path. Equal paths are the same file.
    ///
    /// # Errors
    /// If no file can have the path, or the table is full. Then nothing is added.
    pub fn push(&mut self, path: &[u8]) -> Result<(), Unlisted> {
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (prefix, name) = path.split_at(slash.map_or(0, |at| at + 1));
        if name.is_empty() {
            return Err(Unlisted::NoFile);
        }
        let is_confined = matches!(self.origin, Origin::Confined(_));
        if is_confined
            && (path.starts_with(b"/") || path.split(|&byte| byte == b'/').any(|part| part == b".."))
        {
            return Err(Unlisted::Outside);
        }
        if path.contains(&0) {
            return Err(Unlisted::Nul);
        }
        let number = u32::try_from(self.len()).map_err(|_| Unlisted::Full(Full::Entries))?;
        self.reserve()?;
        let dir = match &self.last {
            Some((last, dir)) if last == prefix => *dir,
            _ => self.find(prefix)?,
        };
        let name = self.push_name(name)?;
        let ino = u64::from(dir) << 32 | u64::from(number);
        self.shard.entries.push(Packed::new(name, ino, FileType::Regular, Symlinks::follow_if(!is_confined)));
        Ok(())
    }

    /// Returns the number of the directory `prefix`. Adds it and those above it if they are new.
    fn find(&mut self, prefix: &[u8]) -> Result<u32, Unlisted> {
        let mut dir = ROOT;
        let mut rest = prefix;
        // An empty prefix stands for the directory without a name.
        loop {
            let (part, below) = if dir == ROOT { first_part(rest) } else { part(rest) };
            dir = self.child(dir, part)?;
            rest = below;
            if rest.is_empty() {
                break;
            }
        }
        let (last, number) = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(prefix);
        *number = dir;
        Ok(dir)
    }

    /// Returns the number of the directory `name` in `up`. Adds it if it is new.
    fn child(&mut self, up: u32, name: &[u8]) -> Result<u32, Unlisted> {
        let mut hash = self.hasher.hash_one((up, name));
        while let Some(&dir) = self.index.get(&hash) {
            let found = self.shard.listings[dir as usize].found;
            if found.up == up && self.shard.names.get(found.name) == name {
                return Ok(dir);
            }
            hash = hash.wrapping_add(1);
        }
        let number = self.shard.current();
        if number == ROOT {
            return Err(Unlisted::Full(Full::Directories));
        }
        let found = Found { shard: 0, up, name: self.push_name(name)? };
        let (dev, ino, root) = (0, 0, 0);
        self.shard.listings.push(Listing { dev, ino, root, found, start: number, files: 0, others: 0 });
        self.index.insert(hash, number);
        Ok(number)
    }

    fn push_name(&mut self, name: &[u8]) -> Result<Name, Unlisted> {
        self.shard.names.push_bytes(name).map_err(|full| match full {
            Full::LongName => Unlisted::LongName,
            full => Unlisted::Full(full),
        })
    }

    /// Reserves more memory if the list is larger than what was reserved before.
    fn reserve(&mut self) -> Result<(), Unlisted> {
        if let Some(budget) = &self.budget {
            // Sorting needs a copy of the entries, and a file number for each.
            let sorting = self.len() * (size_of::<Packed>() + size_of::<FileNo>());
            let index = self.index.capacity() * size_of::<(u64, u32)>();
            while self.shard.bytes() + (sorting + index) as u64 > self.reserved {
                budget.reserve(Budget::UNIT).map_err(Unlisted::Full)?;
                self.reserved += Budget::UNIT;
            }
        }
        Ok(())
    }
}

impl Default for PathList {
    fn default() -> Self {
        Self::new()
    }
}

impl Inventory {
    /// Makes a table of the files in a list. Returns it, and the file of each path in the order of the list.
    ///
    /// This does not access the files. They may not exist, or not be regular files; call
    /// [`may_open`](crate::Opener::may_open) before opening one. Inode numbers are 0.
    ///
    /// # Errors
    /// If the files do not fit into a table.
    pub fn from_list(list: PathList) -> Result<(Self, Vec<FileNo>), Full> {
        let PathList { shard, index, origin, .. } = list;
        drop(index);
        let mut shards = [shard];
        let Numbered { mut dirs, .. } = depth_first(&mut shards)?;
        let [mut shard] = shards;
        let (entries, file_of) = number(&shard, &mut dirs);
        shard.entries = entries;
        let files = shard.entries.len() as u32;
        let inventory = Self {
            shards: vec![shard],
            dirs,
            files,
            partial: Vec::new(),
            skipped: Skipped::default(),
            keep: Keep::Files,
            errors: Vec::new(),
            repeated: Vec::new(),
            refused: Vec::new(),
            origin,
        };
        Ok((inventory, file_of))
    }
}

/// Sorts the entries by directory and name, and removes duplicates. Returns them, and the file number of each
/// path. Sets `start` and `first` of each directory.
fn number(shard: &Shard, dirs: &mut [Dir]) -> (Vec<Packed>, Vec<FileNo>) {
    let dir_of = |row: &Packed| (row.ino >> 32) as usize;
    // Counting sort by directory. `ends` is indexed by the number of a directory in the order of first
    // mention.
    let mut ends = vec![0_u32; dirs.len()];
    for row in &shard.entries {
        ends[dir_of(row)] += 1;
    }
    let mut end = 0;
    for dir in dirs.iter() {
        let mention = &mut ends[dir.start as usize];
        end += *mention;
        *mention = end;
    }
    let mut rows = shard.entries.clone();
    let mut starts = ends.clone();
    for row in shard.entries.iter().rev() {
        let at = &mut starts[dir_of(row)];
        *at -= 1;
        rows[*at as usize] = *row;
    }
    let name = |row: &Packed| shard.names.get(row.name());
    let mut file_of = vec![FileNo(0); rows.len()];
    let mut next = 0;
    for dir in dirs {
        let mention = dir.start as usize;
        let range = starts[mention] as usize..ends[mention] as usize;
        rows[range.clone()].sort_unstable_by(|a, b| name(a).cmp(name(b)));
        let first = next;
        (dir.start, dir.first) = (first as u32, first as u32);
        for at in range {
            let mut row = rows[at];
            let path = std::mem::take(&mut row.ino) as u32;
            if next == first || name(&rows[next - 1]) != name(&row) {
                rows[next] = row;
                next += 1;
            }
            file_of[path as usize] = FileNo(next as u32 - 1);
        }
    }
    rows.truncate(next);
    (rows, file_of)
}

/// Splits the directories of a path into a starting point and the rest.
///
/// If there are double slashes, the starting point extends to the last of them. Below a starting point one
/// slash follows each directory; otherwise the order of directories would not be the order of their paths.
fn first_part(prefix: &[u8]) -> (&[u8], &[u8]) {
    match prefix.windows(2).rposition(|two| two == b"//") {
        Some(at) => prefix.split_at(at + 2),
        None if prefix.starts_with(b"/") => prefix.split_at(1),
        None if prefix.is_empty() => (b"", b""),
        None => part(prefix),
    }
}

/// Splits a path that ends with a slash after its first name. Returns the name without its slash, and the
/// rest.
fn part(prefix: &[u8]) -> (&[u8], &[u8]) {
    let slash = prefix.iter().position(|&byte| byte == b'/').expect("a prefix ends with a slash");
    (&prefix[..slash], &prefix[slash + 1..])
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn list(paths: &[Vec<u8>]) -> (Inventory, Vec<FileNo>) {
        let mut list = PathList::new();
        paths.iter().for_each(|path| list.push(path).unwrap());
        Inventory::from_list(list).unwrap()
    }

    /// Generates paths with many equal parts, double slashes, and bytes below and above the slash.
    fn paths() -> impl Strategy<Value = Vec<Vec<u8>>> {
        const PARTS: &[&[u8]] = &[b"a", b"a/", b"a-", b"b", b".", b"..", b"a0", b"aa", b"/", b"a/b", b"\xff"];
        let part = select(PARTS);
        let path = vec(part, 1..6).prop_map(|parts| parts.join(&b'/'));
        vec(path.prop_filter("not the path of a file", |path| !path.ends_with(b"/")), 0..40)
    }

    proptest! {
        #[test]
        fn paths_are_returned_unchanged_and_equal_paths_are_one_file(paths in paths()) {
            let (inventory, files) = list(&paths);
            prop_assert_eq!(files.len(), paths.len());
            for (file, expected) in files.iter().zip(&paths) {
                prop_assert_eq!(&inventory.path(*file), expected);
            }
            let mut different = paths;
            different.sort();
            different.dedup();
            prop_assert_eq!(inventory.files() as usize, different.len());
            let mut order = inventory.in_path_order();
            for expected in different {
                prop_assert_eq!(order.next().unwrap().path, expected);
            }
            prop_assert!(order.next().is_none());
        }

        #[test]
        fn the_order_of_the_list_does_not_matter(paths in paths().prop_shuffle()) {
            let all = |inventory: &Inventory| -> Vec<_> {
                (0..inventory.files()).map(|file| inventory.path(FileNo(file))).collect()
            };
            let mut sorted = paths.clone();
            sorted.sort();
            prop_assert_eq!(all(&list(&paths).0), all(&list(&sorted).0));
        }
    }

    #[test]
    fn each_directory_is_in_the_table_once() {
        let paths =
            ["d/x", "e/x", "d/y", "d/e/x", "z", "e/y", "./d/x", "/d/x"].map(|path| path.as_bytes().to_vec());
        let (inventory, _) = list(&paths);
        // None, `.`, `./d`, `/`, `/d`, `d`, `d/e`, `e`.
        assert_eq!(inventory.dirs(), 8);
    }

    #[test]
    fn paths_that_no_file_can_have_are_refused() {
        let mut list = PathList::new();
        let long = vec![b'x'; 70_000];
        for (path, why) in [
            (&b""[..], Unlisted::NoFile),
            (b"a/", Unlisted::NoFile),
            (b"/", Unlisted::NoFile),
            (b"a\0b", Unlisted::Nul),
            (b"\0/b", Unlisted::Nul),
            (&long, Unlisted::LongName),
            (&[&long[..], b"/a"].concat(), Unlisted::LongName),
        ] {
            assert_eq!(list.push(path), Err(why));
            assert!(!why.to_string().is_empty());
        }
        assert!(list.is_empty());
        let mut list = PathList::confined(c".".into());
        for path in ["/a", "..", "../a", "a/..", "a/../b", "//a"] {
            assert_eq!(list.push(path.as_bytes()), Err(Unlisted::Outside), "{path}");
        }
        for path in ["a", "./a", "...", "..a/b", "a../b", "a//b"] {
            assert_eq!(list.push(path.as_bytes()), Ok(()), "{path}");
        }
    }

    #[test]
    fn a_budget_ends_the_list() {
        let mut list = PathList::new().within(&Budget::new(1 << 20));
        let refused = (0..100_000).find_map(|n| list.push(format!("directory/{n}").as_bytes()).err());
        assert_eq!(refused, Some(Unlisted::Full(Full::Memory)));
        assert!(list.len() > 10_000);
    }

    #[test]
    fn an_empty_list_is_an_empty_table() {
        let (inventory, files) = list(&[]);
        assert_eq!((inventory.files(), inventory.dirs(), files.len()), (0, 0, 0));
    }
}
