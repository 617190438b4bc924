//! The merged table.

use std::ffi::{CStr, CString};
use std::ops::Range;

use ftk_file::Symlinks;
use ftk_walk::WalkError;

use crate::names::Name;
use crate::shard::{Packed, ROOT, Shard};
use crate::{Keep, PathOrder, Refused, Skipped};

/// The number of a regular file: its position in directory order, and its index in every table of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNo(pub u32);

/// The number of a directory: its position in depth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirNo(pub u32);

/// A compact table of files and other entries. It holds no descriptor, so it can be used on any thread.
#[derive(Debug)]
pub struct Inventory {
    pub(crate) shards: Vec<Shard>,
    /// All directories in depth-first order, siblings in the byte order of `name/`.
    pub(crate) dirs: Vec<Dir>,
    pub(crate) files: u32,
    /// The numbers of directories that lack an entry, ascending. Only [`Keep::Tree`] and [`Keep::Stats`] know them.
    pub(crate) partial: Vec<u32>,
    pub(crate) skipped: Skipped,
    pub(crate) keep: Keep,
    pub(crate) errors: Vec<WalkError>,
    pub(crate) repeated: Vec<[Vec<u8>; 2]>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) origin: Origin,
}

/// Where a table comes from. This determines how its directories are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A walk. Its files were seen to be regular, and a directory must still be the one that was walked.
    Walked,
    /// A list of paths that were not accessed.
    Listed,
    /// A list that is not trusted. Its paths must stay below this directory.
    Confined(CString),
}

/// A directory of the table. The pseudo directory of files given as starting points has an empty name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dir {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// [`ROOT`] for a starting point.
    pub(crate) up: u32,
    pub(crate) name: Name,
    /// The shard whose arena contains the name.
    pub(crate) name_shard: u16,
    /// The shard that contains its entries.
    pub(crate) shard: u16,
    /// The first row of its entries: regular files, then others.
    pub(crate) start: u32,
    pub(crate) others: u32,
    /// The number of its first regular file.
    pub(crate) first: u32,
    /// The number of the starting point that it was reached from.
    pub(crate) root: u32,
}

impl Inventory {
    /// Returns the number of regular files. They are numbered `0..files()`.
    pub fn files(&self) -> u32 {
        self.files
    }

    /// Returns the number of directories. They are numbered `0..dirs()`.
    ///
    /// Starting points that are not directories share a pseudo directory, which has no path.
    pub fn dirs(&self) -> u32 {
        self.dirs.len() as u32
    }

    /// Returns the counts of entries that were skipped because of their type.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Returns the errors of the walk, sorted by path. Later calls return nothing.
    pub fn take_errors(&mut self) -> Vec<WalkError> {
        std::mem::take(&mut self.errors)
    }

    /// Returns the paths of directories that were not entered again, sorted by path. Later calls return
    /// nothing.
    ///
    /// Each pair is the path that was not entered, and the path under which the directory was entered.
    pub fn take_repeated(&mut self) -> Vec<[Vec<u8>; 2]> {
        std::mem::take(&mut self.repeated)
    }

    /// Returns the starting points that cannot be read as files, sorted by path. Later calls return nothing.
    pub fn take_refused(&mut self) -> Vec<Refused> {
        std::mem::take(&mut self.refused)
    }

    /// Returns the numbers of the files in a directory.
    pub fn files_of(&self, dir: DirNo) -> Range<u32> {
        let at = dir.0 as usize;
        let end = self.dirs.get(at + 1).map_or(self.files, |next| next.first);
        self.dirs[at].first..end
    }

    /// Returns the directory that contains a file, in O(log directories).
    ///
    /// # Panics
    /// If there is no such file.
    pub fn dir_of(&self, file: FileNo) -> DirNo {
        assert!(file.0 < self.files, "no file {} in a table of {}", file.0, self.files);
        // This is the last directory whose first file is not after the file. Directories without files have
        // the same `first` as the next one, and come before it.
        DirNo(self.dirs.partition_point(|dir| dir.first <= file.0) as u32 - 1)
    }

    /// Returns the file's name in its directory; for a starting point, the whole path.
    pub fn name(&self, dir: DirNo, file: FileNo) -> &CStr {
        let dir = &self.dirs[dir.0 as usize];
        self.shards[usize::from(dir.shard)].names.get_c(self.row(dir, file).name())
    }

    /// Returns the file's inode number; in a table without [sizes](Self::has_sizes), the one that the listing
    /// reports.
    ///
    /// The listing reports another number for a file that is mounted over a file, and for a followed link.
    pub fn ino(&self, dir: DirNo, file: FileNo) -> u64 {
        let dir = &self.dirs[dir.0 as usize];
        let row = self.row(dir, file);
        self.record(&self.shards[usize::from(dir.shard)], row).map_or(row.ino, |record| record.identity().1)
    }

    /// Returns whether the file must be opened with its last name followed if that is a symbolic link.
    pub fn symlinks(&self, dir: DirNo, file: FileNo) -> Symlinks {
        self.row(&self.dirs[dir.0 as usize], file).symlinks()
    }

    /// Appends the path of a file.
    pub fn push_path(&self, file: FileNo, path: &mut Vec<u8>) {
        let dir = self.dir_of(file);
        self.push_prefix(dir, path);
        path.extend_from_slice(self.name(dir, file).to_bytes());
    }

    /// Returns the path of a file.
    pub fn path(&self, file: FileNo) -> Vec<u8> {
        let mut path = Vec::new();
        self.push_path(file, &mut path);
        path
    }

    /// Returns a cursor over all entries, in the byte order of their whole paths.
    pub fn in_path_order(&self) -> PathOrder<'_> {
        PathOrder::new(self)
    }

    /// Returns the device of a directory that was walked.
    pub fn device(&self, dir: DirNo) -> u64 {
        self.dirs[dir.0 as usize].dev
    }

    /// Returns whether this is the pseudo directory of starting points that are not directories.
    pub fn has_starting_points(&self, dir: DirNo) -> bool {
        self.dir_name(dir).is_empty()
    }

    /// Returns the entries of a directory: its regular files, then the others.
    pub(crate) fn rows(&self, dir: DirNo) -> &[Packed] {
        let files = self.files_of(dir).len();
        let dir = &self.dirs[dir.0 as usize];
        let start = dir.start as usize;
        &self.shards[usize::from(dir.shard)].entries[start..start + files + dir.others as usize]
    }

    /// Returns a directory's name: for a starting point the path as given, for the pseudo directory nothing.
    pub(crate) fn dir_name(&self, dir: DirNo) -> &[u8] {
        let dir = &self.dirs[dir.0 as usize];
        self.shards[usize::from(dir.name_shard)].names.get(dir.name)
    }

    /// Appends the part of a path that comes before the names in this directory: its path and a slash.
    ///
    /// For the pseudo directory it appends nothing. It uses no recursion, and allocates nothing except in
    /// `path`.
    pub fn push_prefix(&self, dir: DirNo, path: &mut Vec<u8>) {
        let up = |&dir: &DirNo| match self.dirs[dir.0 as usize].up {
            ROOT => None,
            up => Some(DirNo(up)),
        };
        let above = || std::iter::successors(Some(dir), up);
        let len: usize =
            above().map(|dir| self.segment(dir).into_iter().map(<[u8]>::len).sum::<usize>()).sum();
        let mut end = path.len() + len;
        path.resize(end, 0);
        for dir in above() {
            for part in self.segment(dir).into_iter().rev() {
                path[end - part.len()..end].copy_from_slice(part);
                end -= part.len();
            }
        }
    }

    /// Returns the part of a path that a directory contributes: its name, and a slash unless it ends with
    /// one.
    pub(crate) fn segment(&self, dir: DirNo) -> [&[u8]; 2] {
        let name = self.dir_name(dir);
        let bare = name.is_empty() || name.ends_with(b"/");
        [name, if bare { b"" } else { b"/" }]
    }

    fn row(&self, dir: &Dir, file: FileNo) -> &Packed {
        &self.shards[usize::from(dir.shard)].entries[(dir.start + (file.0 - dir.first)) as usize]
    }
}
