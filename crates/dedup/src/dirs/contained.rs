//! Directories of which a large share also exists elsewhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use ftk_inventory::{DirNo, FileNo};

use crate::dirs::groups::Directories;
use crate::dirs::table::DirTable;
use crate::dirs::{Class, Fate, Fates};

/// For each file, at most this many copies are looked up to find the directories that contain them. One content
/// may have millions of copies.
const MAX_COPIES: usize = 16;

/// A share, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(pub u32);

impl Share {
    /// Everything.
    pub const ALL: Self = Self(10_000);

    /// Returns whether `part` of `whole` is at least this share.
    fn is_reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * u128::from(Self::ALL.0) >= u128::from(whole) * u128::from(self.0)
    }

    /// Returns the share of `part` in `whole`, rounded down. It is everything only if the two are equal.
    pub fn of(part: u64, whole: u64) -> Self {
        let share = u128::from(part) * u128::from(Self::ALL.0);
        Self(share.checked_div(whole.into()).map_or(Self::ALL.0, |share| share.min(10_000) as u32))
    }
}

/// A directory of which a large share also exists elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contained {
    /// The directory.
    pub dir: DirNo,
    /// Files below it, without empty ones unless those count.
    pub files: u64,
    /// Their sizes in bytes.
    pub bytes: u64,
    /// Files whose content also exists outside of the directory.
    pub found_files: u64,
    /// Their sizes in bytes.
    pub found_bytes: u64,
    /// Directories that contain copies of these files, those with the most bytes first. For a directory above this
    /// one, only the files directly in it count; others do not contain each other.
    pub holders: Vec<Holder>,
    /// The files whose content exists nowhere else, or is not known, in ascending order.
    pub missing: Vec<FileNo>,
    /// Whether all entries below it were listed and their contents are known.
    pub is_whole: bool,
}

/// A directory that contains copies of files of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The innermost directory that contains all these copies.
    pub dir: DirNo,
    /// The files of the other directory that have a copy here.
    pub files: u64,
    /// Their sizes in bytes.
    pub bytes: u64,
}

/// Files and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    files: u64,
    bytes: u64,
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Finds the outermost directories of which at least `share`, by files and by bytes, also exists outside of them,
/// those with the most bytes first. Directories that `fates` accounts for are skipped.
///
/// The time depends on the number of files, and not on that of pairs of directories.
pub fn contained(directories: &Directories<'_>, share: Share, fates: Option<&Fates>) -> Vec<Contained> {
    let table = &directories.table;
    let spreads = spreads(table);
    let amounts = amounts(table, &spreads);
    let mut found = Vec::new();
    let mut next = 0;
    for dir in table.dirs() {
        let (all, missing) = amounts[dir.0 as usize];
        let (files, bytes) = (all.files - missing.files, all.bytes.saturating_sub(missing.bytes));
        let is_free = fates.is_none_or(|fates| fates.of(dir) == Fate::Free);
        let is_large = share.is_reached(files, all.files) && share.is_reached(bytes, all.bytes);
        if dir.0 < next || files == 0 || !is_free || !is_large || table.inventory.has_starting_points(dir) {
            continue;
        }
        next = table.end(dir);
        found.push(Contained {
            dir,
            files: all.files,
            bytes: all.bytes,
            found_files: files,
            found_bytes: bytes,
            holders: Vec::new(),
            missing: Vec::new(),
            is_whole: !table.facts(dir).is_partial,
        });
    }
    if !found.is_empty() {
        let copies = Copies::new(table);
        found.iter_mut().for_each(|found| copies.look_up(table, &spreads, found));
    }
    found.sort_by_key(|found| (Reverse(found.found_bytes), found.dir));
    found
}

/// The files of one content.
#[derive(Clone, Copy, Debug)]
struct Spread {
    last: u32,
    files: u32,
}

/// Returns for each content, by its number, which files have it.
fn spreads(table: &DirTable<'_>) -> Vec<Spread> {
    let mut spreads: Vec<_> = (0..table.inventory.files()).map(|last| Spread { last, files: 0 }).collect();
    for file in 0..table.inventory.files() {
        if let Class::Shared(first) = table.contents.class(FileNo(file)) {
            let spread = &mut spreads[first.0 as usize];
            *spread = Spread { last: file, files: spread.files + 1 };
        }
    }
    spreads
}

/// Returns for each directory how much is below it, and how much of that exists nowhere else.
///
/// A content exists nowhere else if the directory contains its first file and its last one, because files are
/// numbered in the order of directories. So it is counted at the innermost directory that contains both.
fn amounts(table: &DirTable<'_>, spreads: &[Spread]) -> Vec<(Amount, Amount)> {
    let inventory = table.inventory;
    let mut amounts = vec![(Amount::default(), Amount::default()); inventory.dirs() as usize];
    for (dir, file) in crate::candidates::files(inventory) {
        let bytes = inventory.size(dir, file);
        if !counts(table, bytes) {
            continue;
        }
        let amount = Amount { files: 1, bytes };
        amounts[dir.0 as usize].0.add(amount);
        match table.contents.class(file) {
            Class::Unique | Class::Unknown => amounts[dir.0 as usize].1.add(amount),
            Class::Shared(first) => {
                let Spread { last, files } = spreads[first.0 as usize];
                // Once for all files of the content.
                if file.0 == last
                    && let Some(at) = common(table, inventory.dir_of(first), file)
                {
                    let (files, bytes) = (u64::from(files), bytes.saturating_mul(files.into()));
                    amounts[at.0 as usize].1.add(Amount { files, bytes });
                }
            }
        }
    }
    for dir in table.dirs().rev() {
        if let Some(parent) = inventory.parent(dir) {
            let (all, missing) = amounts[dir.0 as usize];
            amounts[parent.0 as usize].0.add(all);
            amounts[parent.0 as usize].1.add(missing);
        }
    }
    amounts
}

/// Returns whether files of this size count.
fn counts(table: &DirTable<'_>, size: u64) -> bool {
    size > 0 || table.contents.counts_empty
}

/// Returns the innermost directory that is `dir` or above it, and contains the file.
fn common(table: &DirTable<'_>, dir: DirNo, file: FileNo) -> Option<DirNo> {
    let mut above = Some(dir);
    while let Some(dir) = above.filter(|&dir| !table.files(dir).contains(&file.0)) {
        above = table.inventory.parent(dir);
    }
    above
}

/// The files of each shared content.
struct Copies {
    /// The number of the content, and the file, ascending.
    files: Vec<(u32, u32)>,
}

impl Copies {
    fn new(table: &DirTable<'_>) -> Self {
        let shared = |file| match table.contents.class(FileNo(file)) {
            Class::Shared(first) => Some((first.0, file)),
            Class::Unique | Class::Unknown => None,
        };
        let mut files: Vec<_> = (0..table.inventory.files()).filter_map(shared).collect();
        files.sort_unstable();
        Self { files }
    }

    /// Finds the directories that hold copies, and the files that exist nowhere else.
    fn look_up(&self, table: &DirTable<'_>, spreads: &[Spread], found: &mut Contained) {
        let inventory = table.inventory;
        let own = table.files(found.dir);
        let mut tops = HashMap::new();
        let mut holders = BTreeMap::<DirNo, Holder>::new();
        for file in own.clone().map(FileNo) {
            let bytes = inventory.size(inventory.dir_of(file), file);
            let first = match table.contents.class(file) {
                Class::Shared(first) if first.0 < own.start || spreads[first.0 as usize].last >= own.end => {
                    first
                }
                _ => {
                    if counts(table, bytes) {
                        found.missing.push(file);
                    }
                    continue;
                }
            };
            if !counts(table, bytes) {
                continue;
            }
            let mut last_top = None;
            for copy in self.outside(first, &own).take(MAX_COPIES) {
                let dir = inventory.dir_of(copy);
                let top = *tops.entry(dir).or_insert_with(|| top(table, dir, found.dir));
                let holder = holders.entry(top).or_insert(Holder { dir, files: 0, bytes: 0 });
                holder.dir = common(table, holder.dir, copy).unwrap_or(top);
                // Several copies in one directory count once. They follow each other.
                if last_top != Some(top) {
                    holder.files += 1;
                    holder.bytes = holder.bytes.saturating_add(bytes);
                    last_top = Some(top);
                }
            }
        }
        found.holders = holders.into_values().collect();
        found.holders.sort_by_key(|holder| (Reverse(holder.bytes), Reverse(holder.files), holder.dir));
    }

    /// Returns the files with a content that are outside of a range, ascending.
    fn outside(&self, first: FileNo, own: &std::ops::Range<u32>) -> impl Iterator<Item = FileNo> {
        let start = self.files.partition_point(|&(class, _)| class < first.0);
        let same = self.files[start..].iter().take_while(move |(class, _)| *class == first.0);
        let below = same.clone().take_while({
            let own = own.clone();
            move |(_, file)| *file < own.start
        });
        let end = own.end;
        let above = self.files.partition_point(move |&(class, file)| (class, file) < (first.0, end));
        let above = self.files[above..].iter().take_while(move |(class, _)| *class == first.0);
        below.chain(above).map(|&(_, file)| FileNo(file))
    }
}

/// Returns the outermost directory above `dir` that does not contain `other`.
fn top(table: &DirTable<'_>, dir: DirNo, other: DirNo) -> DirNo {
    let mut top = dir;
    while let Some(above) = table.inventory.parent(top).filter(|&above| !table.is_in(other, above)) {
        top = above;
    }
    top
}
