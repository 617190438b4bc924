//! Groups of equal directories, the outermost ones first.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt;

use ftk_inventory::{DirNo, FileNo, Inventory};

use crate::dirs::equality::{digests, split};
use crate::dirs::table::DirTable;
use crate::dirs::{Choice, Contents, Fate, Fates};

/// Whether names count when directories are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// Directories are equal if they have the same names with the same contents.
    #[default]
    Compared,
    /// Directories are equal if they contain the same contents equally often, under any names and in any
    /// subdirectories. An empty directory is a content too.
    Ignored,
}

/// Which directories are compared, and how.
pub struct DirectoryRules<'r> {
    /// Whether all directories are compared, and not only units.
    pub all: bool,
    /// Returns where a directory that is not inside another unit is, seen from units.
    pub place: &'r dyn Fn(DirNo) -> UnitPlace,
    /// Whether names count.
    pub names: Names,
}

impl fmt::Debug for DirectoryRules<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { all, names, .. } = self;
        f.debug_struct("DirectoryRules").field("all", all).field("names", names).finish_non_exhaustive()
    }
}

/// All directories, with those that look equal.
#[derive(Debug)]
pub struct Directories<'i> {
    pub(crate) table: DirTable<'i>,
    names: Names,
    /// Sets of directories with the same digest. A set comes before those of directories inside its members.
    candidates: Vec<Vec<DirNo>>,
    /// Whether a directory is a unit or inside one.
    units: Vec<UnitPlace>,
}

/// Where a directory is, seen from units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitPlace {
    /// It is in no unit.
    Outside,
    /// It is an outermost unit: it is compared as a whole, and never what is inside.
    Unit,
    /// It is inside a unit, and stays as it is.
    Inside,
}

/// Equal directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirGroup {
    /// Directories inside directories that stay as a whole, so they stay too. Sorted by path.
    pub kept: Vec<DirNo>,
    /// The other directories, sorted by path. There is at least one, and two if none are kept.
    pub dirs: Vec<DirNo>,
    /// The size of one of the directories in bytes, with hard links counted once.
    pub size: u64,
    /// The number of files in each directory.
    pub files: u64,
    /// The number of entries of any type in the first directory.
    pub entries: u64,
    /// Wasted bytes: the sizes of all files except those of the first directory. Hard links count once.
    pub wasted: u64,
}

impl DirGroup {
    /// Returns all directories: those that stay anyway, then the others.
    pub fn all(&self) -> impl Iterator<Item = DirNo> {
        self.kept.iter().chain(&self.dirs).copied()
    }
}

impl<'i> Directories<'i> {
    /// Memory for the directories, in bytes per directory.
    pub const BYTES_PER_DIR: usize = DirTable::BYTES_PER_DIR + 2;

    /// Computes the digests of all directories.
    ///
    /// # Panics
    /// If the inventory was not made with [`Keep::Tree`](ftk_inventory::Keep::Tree).
    pub fn new(inventory: &'i Inventory, contents: &'i Contents, rules: &DirectoryRules<'_>) -> Self {
        let table = DirTable::new(inventory, contents);
        let mut units = vec![UnitPlace::Outside; inventory.dirs() as usize];
        for dir in table.dirs() {
            units[dir.0 as usize] = match inventory.parent(dir).map(|parent| units[parent.0 as usize]) {
                Some(UnitPlace::Unit | UnitPlace::Inside) => UnitPlace::Inside,
                _ => (rules.place)(dir),
            };
        }
        let is_compared = |dir: u32| match units[dir as usize] {
            UnitPlace::Outside => rules.all,
            UnitPlace::Unit => true,
            UnitPlace::Inside => false,
        };
        let mut digests = digests(&table, rules.names);
        digests.retain(|&(_, dir)| is_compared(dir));
        digests.sort_unstable();
        let equal = digests.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
        let mut candidates: Vec<Vec<_>> =
            equal.map(|same| same.iter().map(|&(_, dir)| DirNo(dir)).collect()).collect();
        // A directory has at least the contents of one inside it, and more entries. If names are ignored, directories
        // of one set may differ in their entries, but then equal contents put both into one set.
        let facts = |dirs: &Vec<DirNo>| table.facts(dirs[0]);
        candidates.sort_by_key(|dirs| (Reverse(facts(dirs).contents), Reverse(facts(dirs).entries), dirs[0]));
        Self { table, names: rules.names, candidates, units }
    }

    /// Returns the number of directories that are equal to no other because the table lacks an entry of them, or
    /// because the content of a file below them is unknown.
    pub fn partial(&self) -> u64 {
        let is_partial = |dir: &DirNo| {
            self.table.facts(*dir).is_partial && !self.table.inventory.has_starting_points(*dir)
        };
        self.table.dirs().filter(is_partial).count() as u64
    }

    /// Calls `choose` for each group, from the outermost directories to the innermost. It returns one choice for
    /// each of [`DirGroup::dirs`]. Returns the groups, those with the largest waste first, and what the choices
    /// mean for all directories.
    ///
    /// Directories inside surplus ones are in no group. Neither are directories with no bytes, unless empty files
    /// count, and groups in which all directories consist of the same hard links.
    pub fn decide(
        &self,
        mut choose: impl FnMut(&DirGroup) -> Vec<Choice>,
    ) -> (Vec<(DirGroup, Vec<Choice>)>, Fates) {
        let mut fates = Fates(vec![Fate::Free; self.units.len()]);
        let mut decided = Vec::new();
        for candidates in &self.candidates {
            let dirs = self.outermost(candidates, &fates);
            if dirs.len() < 2 || dirs.iter().all(|&dir| fates.of(dir) == Fate::Kept) {
                continue;
            }
            for equal in split(&self.table, self.names, &dirs) {
                let Some(group) = self.group(equal, &fates) else { continue };
                let choices = choose(&group);
                assert_eq!(choices.len(), group.dirs.len(), "one choice for each directory");
                for (&dir, choice) in group.dirs.iter().zip(&choices) {
                    let fate = if *choice == Choice::Goes { Fate::Gone } else { Fate::Kept };
                    fates.0[dir.0 as usize..self.table.end(dir) as usize].fill(fate);
                }
                decided.push((group, choices));
            }
        }
        for (fate, place) in fates.0.iter_mut().zip(&self.units) {
            if *fate == Fate::Free && *place != UnitPlace::Outside {
                *fate = Fate::Kept;
            }
        }
        decided.sort_by_cached_key(|(group, _)| (Reverse(group.wasted), self.path(group.dirs[0])));
        (decided, fates)
    }

    /// Returns the path of a directory.
    pub fn path(&self, dir: DirNo) -> Vec<u8> {
        self.table.inventory.dir_path(dir)
    }

    /// Returns the identity of each file below a directory that has several hard links, once for each name.
    pub fn linked_files(&self, top: DirNo) -> impl Iterator<Item = (u64, u64)> {
        let inventory = self.table.inventory;
        let files = |dir| inventory.files_of(dir).map(move |file| (dir, FileNo(file)));
        let all = (top.0..self.table.end(top)).map(DirNo).flat_map(files);
        all.filter(|&(dir, file)| inventory.is_linked(dir, file))
            .map(|(dir, file)| inventory.identity(dir, file))
    }

    /// Returns the directories that are not surplus, without those inside another one of them.
    fn outermost(&self, candidates: &[DirNo], fates: &Fates) -> Vec<DirNo> {
        let mut outermost: Vec<DirNo> = Vec::new();
        for &dir in candidates.iter().filter(|&&dir| fates.of(dir) != Fate::Gone) {
            if !outermost.last().is_some_and(|&last| self.table.is_in(dir, last)) {
                outermost.push(dir);
            }
        }
        outermost
    }

    /// Makes a group of equal directories, if it is one to report.
    fn group(&self, mut equal: Vec<DirNo>, fates: &Fates) -> Option<DirGroup> {
        if equal.len() < 2 {
            return None;
        }
        equal.sort_by_cached_key(|&dir| self.path(dir));
        let (kept, dirs): (Vec<_>, Vec<_>) = equal.into_iter().partition(|&dir| fates.of(dir) == Fate::Kept);
        let first = *kept.first().or(dirs.first())?;
        let (files, counts_empty) = (self.table.facts(first).files, self.table.contents.counts_empty);
        let mut known = HashSet::new();
        let (size, _) = self.add_files(first, &mut known);
        let (mut wasted, mut copies) = (0_u64, 0);
        for &dir in dirs.iter().filter(|&&dir| dir != first) {
            let (bytes, files) = self.add_files(dir, &mut known);
            wasted = wasted.saturating_add(bytes);
            copies += files;
        }
        let has_bytes = size > 0 || counts_empty;
        let is_copied = wasted > 0 || (counts_empty && (copies > 0 || files == 0));
        (has_bytes && is_copied && !dirs.is_empty()).then_some(DirGroup {
            kept,
            dirs,
            size,
            files: files.into(),
            entries: self.table.facts(first).entries.into(),
            wasted,
        })
    }

    /// Adds the files below a directory that are not known yet. Returns their bytes and number.
    fn add_files(&self, top: DirNo, known: &mut HashSet<(u64, u64)>) -> (u64, u64) {
        let (inventory, mut bytes, mut files) = (self.table.inventory, 0_u64, 0);
        for dir in (top.0..self.table.end(top)).map(DirNo) {
            for file in inventory.files_of(dir).map(FileNo) {
                // Without other hard links, only the file itself has its identity.
                if !inventory.is_linked(dir, file) || known.insert(inventory.identity(dir, file)) {
                    bytes = bytes.saturating_add(inventory.size(dir, file));
                    files += 1;
                }
            }
        }
        (bytes, files)
    }
}
