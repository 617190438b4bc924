//! A cursor over one starting point and all below it, in path order.

use std::cmp::Ordering;

use ftk_walk::FileType;

use crate::metadata::Record;
use crate::shard::{Packed, Shard};
use crate::{DirNo, FileNo, Inventory, Item};

/// Merges, in each directory, three sorted sequences: regular files, other entries, and subdirectories by
/// `name/`, which stand for all that lies below them. Since directories are numbered depth-first in that very
/// order, the next subdirectory is always the next number.
#[derive(Debug)]
pub(crate) struct Cursor<'i> {
    inventory: &'i Inventory,
    /// The directories open now, the innermost last.
    open: Vec<Open<'i>>,
    /// The next directory that was not opened yet.
    next_dir: u32,
    path: Vec<u8>,
    /// The entry it stands at: its row, and its number if it is a regular file.
    now: Option<(&'i Packed, Option<FileNo>)>,
}

/// A directory being gone through.
#[derive(Debug)]
struct Open<'i> {
    dir: u32,
    /// Who listed it.
    shard: &'i Shard,
    files: &'i [Packed],
    others: &'i [Packed],
    /// The number of the first of `files`.
    file: u32,
    /// Bytes of the path up to and with its last slash.
    prefix: usize,
}

impl<'i> Cursor<'i> {
    /// A cursor at the first entry of `root`, or `None` when there is none.
    pub(crate) fn new(inventory: &'i Inventory, root: DirNo) -> Option<Self> {
        let mut cursor = Self { inventory, open: Vec::new(), next_dir: root.0, path: Vec::new(), now: None };
        cursor.open_next_dir();
        cursor.advance().then_some(cursor)
    }

    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// The entry it stands at.
    pub(crate) fn item(&self) -> Item<'_> {
        let ((row, file), open) = self.now.zip(self.open.last()).expect("it stands at an entry");
        let record = self.inventory.record(open.shard, row);
        let is_link = record.is_some() && row.file_type == FileType::Symlink;
        Item {
            path: &self.path,
            name: &self.path[open.prefix..],
            dir: DirNo(open.dir),
            file_type: row.file_type,
            file,
            metadata: record.map(Record::metadata),
            target: is_link.then(|| open.shard.names.target(row.name())),
        }
    }

    /// Goes to the next entry; `false` when that was the last one.
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
                    self.now = Some(self.take(is_file));
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

    /// Whether an entry of the innermost directory comes after all that lies in the next subdirectory.
    fn is_after_dir(&self, name: &[u8]) -> bool {
        let dir = self.inventory.dir_name(DirNo(self.next_dir));
        let common = name.len().min(dir.len());
        // An entry that is as long as or shorter than the directory's name and equal so far comes first: it
        // is the directory itself, or the beginning of its name.
        match name[..common].cmp(&dir[..common]) {
            Ordering::Equal => name.get(common).is_some_and(|&byte| byte > b'/'),
            order => order == Ordering::Greater,
        }
    }

    /// Steps over the next file, or the next other entry, of the innermost directory.
    fn take(&mut self, is_file: bool) -> (&'i Packed, Option<FileNo>) {
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
        self.open.push(Open { dir: dir.0, shard, files: regular, others, file: files.start, prefix });
        self.next_dir += 1;
    }
}

/// Whether `a` is there and not behind `b`.
fn is_first(a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a <= b,
        (a, _) => a.is_some(),
    }
}
