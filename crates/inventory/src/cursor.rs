//! A cursor over the entries of one starting point, in path order.

use std::cmp::Ordering;

use ftk_file::Stat;
use ftk_walk::FileType;

use crate::shard::{Packed, Shard};
use crate::{DirNo, FileNo, Inventory, Item};

/// A cursor over one starting point and everything below it, in path order.
///
/// In each directory it merges three sorted sequences: regular files, other entries, and subdirectories.
/// Subdirectories are sorted by `name/`, and stand for everything below them. Directories are numbered
/// depth-first in the same order, so the next subdirectory always has the next number.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'i> {
    inventory: &'i Inventory,
    /// The directories from the starting point down to the current one.
    open: Vec<Open<'i>>,
    /// The next directory.
    next_dir: u32,
    path: Vec<u8>,
    /// The row of the current entry, and its number if it is a regular file.
    current: Option<(&'i Packed, Option<FileNo>)>,
}

/// The position in one directory.
#[derive(Clone, Debug)]
struct Open<'i> {
    dir: u32,
    /// The shard that contains its entries.
    shard: &'i Shard,
    files: &'i [Packed],
    others: &'i [Packed],
    /// The number of all other entries.
    others_len: usize,
    /// The number of the first file in `files`.
    file: u32,
    /// Length of the path up to and including its last slash.
    prefix: usize,
}

impl<'i> Cursor<'i> {
    /// Makes a cursor at the first entry of `root`. Returns `None` if there are no entries.
    pub(crate) fn new(inventory: &'i Inventory, root: DirNo) -> Option<Self> {
        let mut cursor =
            Self { inventory, open: Vec::new(), next_dir: root.0, path: Vec::new(), current: None };
        cursor.open_next_dir();
        cursor.advance().then_some(cursor)
    }

    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the current entry.
    pub(crate) fn item(&self) -> Item<'_> {
        let ((row, file), open) = self.current.zip(self.open.last()).expect("the cursor is at an entry");
        let name = &self.path[open.prefix..];
        Item { path: &self.path, name, ..self.inventory.item(DirNo(open.dir), row, file) }
    }

    /// Returns the number of the current entry among the [rows](Inventory::rows) of its directory.
    pub(crate) fn row(&self) -> u32 {
        let ((_, file), open) = self.current.zip(self.open.last()).expect("the cursor is at an entry");
        let rows = self.inventory.rows(DirNo(open.dir)).len();
        let after = if file.is_some() { open.files.len() + open.others_len } else { open.others.len() };
        (rows - after - 1) as u32
    }

    /// Moves to the next entry. Returns `false` if there are no more.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some(open) = self.open.last_mut() {
            self.path.truncate(open.prefix);
            let names = &open.shard.names;
            let file = open.files.first().map(|row| names.get(row.name()));
            let other = open.others.first().map(|row| names.get(row.name()));
            let is_file = is_first(file, other);
            let entry = if is_file { file } else { other };
            let below = self.inventory.dirs.get(self.next_dir as usize).is_some_and(|dir| dir.up == open.dir);
            match entry {
                Some(name) if !below || !self.is_after_dir(name) => {
                    self.path.extend_from_slice(name);
                    self.current = Some(self.next_row(is_file));
                    return true;
                }
                _ if below => self.open_next_dir(),
                _ => {
                    self.open.pop();
                }
            }
        }
        false
    }

    /// Returns whether an entry of the innermost directory comes after everything in the next subdirectory.
    fn is_after_dir(&self, name: &[u8]) -> bool {
        let dir = self.inventory.dir_name(DirNo(self.next_dir));
        let common = name.len().min(dir.len());
        // If the entry equals the directory's name or is a prefix of it, the entry comes first.
        match name[..common].cmp(&dir[..common]) {
            Ordering::Equal => name.get(common).is_some_and(|&byte| byte > b'/'),
            order => order == Ordering::Greater,
        }
    }

    /// Removes and returns the next file, or the next other entry, of the innermost directory.
    fn next_row(&mut self, is_file: bool) -> (&'i Packed, Option<FileNo>) {
        let open = self.open.last_mut().expect("an entry was seen in it");
        let part = if is_file { &mut open.files } else { &mut open.others };
        let row = part.split_off_first().expect("an entry was seen in it");
        let file = is_file.then_some(FileNo(open.file));
        open.file += u32::from(is_file);
        (row, file)
    }

    fn open_next_dir(&mut self) {
        let dir = DirNo(self.next_dir);
        let files = self.inventory.files_of(dir);
        let rows = self.inventory.rows(dir);
        for part in self.inventory.segment(dir) {
            self.path.extend_from_slice(part);
        }
        let (regular, others) = rows.split_at(files.len());
        let prefix = self.path.len();
        let shard = &self.inventory.shards[usize::from(self.inventory.dirs[self.next_dir as usize].shard)];
        let others_len = others.len();
        self.open.push(Open {
            dir: dir.0,
            shard,
            files: regular,
            others,
            others_len,
            file: files.start,
            prefix,
        });
        self.next_dir += 1;
    }
}

impl Inventory {
    /// Returns an entry without its path and name.
    pub(crate) fn item<'i>(&'i self, dir: DirNo, row: &'i Packed, file: Option<FileNo>) -> Item<'i> {
        let shard = &self.shards[usize::from(self.dirs[dir.0 as usize].shard)];
        let record = self.record(shard, row);
        let is_link = record.is_some() && row.file_type == FileType::Symlink;
        Item {
            path: &[],
            name: &[],
            own_path: None,
            is_respelled: false,
            dir,
            file_type: row.file_type,
            is_whole: row.is_whole(),
            file,
            metadata: record.map(Stat::from),
            target: is_link.then(|| shard.names.target(row.name())),
        }
    }
}

/// Returns whether `a` exists and does not come after `b`.
fn is_first(a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a <= b,
        (a, _) => a.is_some(),
    }
}
