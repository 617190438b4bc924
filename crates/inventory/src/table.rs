//! The merged table.

use std::ffi::{CStr, CString};
use std::ops::Range;

use ftk_walk::WalkError;

use crate::names::Name;
use crate::shard::{Packed, ROOT, Shard};
use crate::{Keep, PathOrder, Refused, Skipped};

/// A regular file's number: position in directory order, and its row in every table of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileNo(pub u32);

/// A directory's number: position in depth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirNo(pub u32);

/// The table. Holds no descriptor, so it may cross any thread.
#[derive(Debug)]
pub struct Inventory {
    pub(crate) shards: Vec<Shard>,
    /// Depth-first: behind each directory all that lies below it, siblings by the bytes of `name/`.
    pub(crate) dirs: Vec<Dir>,
    pub(crate) files: u32,
    pub(crate) skipped: Skipped,
    pub(crate) keep: Keep,
    pub(crate) errors: Vec<WalkError>,
    pub(crate) repeated: Vec<[Vec<u8>; 2]>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) origin: Origin,
}

/// Where a table comes from, and with it how its directories are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A walk: a directory must still be the one that was walked, and what is in the table is a regular file.
    Walked,
    /// A list: nobody has looked at anything.
    Listed,
    /// A list that is not trusted: what it names must lie below this directory.
    Confined(CString),
}

/// A directory of the table. A name of no bytes is that of the pseudo directory of file arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dir {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// [`ROOT`] for a starting point.
    pub(crate) up: u32,
    pub(crate) name: Name,
    /// Whose arena holds the name.
    pub(crate) name_shard: u16,
    /// Who listed it, and so holds its entries.
    pub(crate) shard: u16,
    /// Where its entries begin: regular files, then others.
    pub(crate) start: u32,
    pub(crate) others: u32,
    /// The number of its first regular file.
    pub(crate) first: u32,
    /// The number of the starting point it was reached from.
    pub(crate) root: u32,
}

impl Inventory {
    /// Number of regular files; their numbers are `0..files()`.
    pub fn files(&self) -> u32 {
        self.files
    }

    /// Number of directories; their numbers are `0..dirs()`. Arguments that are no directories share one of
    /// their own, which has no path.
    pub fn dirs(&self) -> u32 {
        self.dirs.len() as u32
    }

    /// What the walk met and the table leaves out because of its type.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// What the walk could not open, list or stat, by path. A second call returns nothing.
    pub fn take_errors(&mut self) -> Vec<WalkError> {
        std::mem::take(&mut self.errors)
    }

    /// Paths of directories that were not entered again, each before the path that the directory was entered under, by
    /// path. A second call returns nothing.
    pub fn take_repeated(&mut self) -> Vec<[Vec<u8>; 2]> {
        std::mem::take(&mut self.repeated)
    }

    /// Arguments that cannot be read as files, by path. A second call returns nothing.
    pub fn take_refused(&mut self) -> Vec<Refused> {
        std::mem::take(&mut self.refused)
    }

    /// The files of one directory.
    pub fn files_of(&self, dir: DirNo) -> Range<u32> {
        let at = dir.0 as usize;
        let end = self.dirs.get(at + 1).map_or(self.files, |next| next.first);
        self.dirs[at].first..end
    }

    /// The directory a file lies in. O(log directories).
    ///
    /// # Panics
    /// When there is no such file.
    pub fn dir_of(&self, file: FileNo) -> DirNo {
        assert!(file.0 < self.files, "no file {} in a table of {}", file.0, self.files);
        // The last directory that begins at or before the file: those behind it begin after the file, and
        // those without files that share its beginning lie before it.
        DirNo(self.dirs.partition_point(|dir| dir.first <= file.0) as u32 - 1)
    }

    /// The file's name in its directory; the whole path for a file given as an argument.
    pub fn name(&self, dir: DirNo, file: FileNo) -> &CStr {
        let dir = &self.dirs[dir.0 as usize];
        self.shards[usize::from(dir.shard)].names.get_c(self.row(dir, file).name())
    }

    /// The inode number that the directory lists, which for a file mounted over another, or for a link that is
    /// followed, is another than its own; its own in a table [with sizes](Self::has_sizes).
    pub fn ino(&self, dir: DirNo, file: FileNo) -> u64 {
        let dir = &self.dirs[dir.0 as usize];
        let row = self.row(dir, file);
        self.record(&self.shards[usize::from(dir.shard)], row).map_or(row.ino, |record| record.ino)
    }

    /// Whether the name, if it is a symbolic link, is to be followed when the file is opened.
    pub fn via_link(&self, dir: DirNo, file: FileNo) -> bool {
        self.row(&self.dirs[dir.0 as usize], file).via_link()
    }

    /// Appends the file's path.
    pub fn push_path(&self, file: FileNo, path: &mut Vec<u8>) {
        let dir = self.dir_of(file);
        self.push_prefix(dir, path);
        path.extend_from_slice(self.name(dir, file).to_bytes());
    }

    /// All entries in the byte order of their whole paths.
    pub fn in_path_order(&self) -> PathOrder<'_> {
        PathOrder::new(self)
    }

    /// The entries of a directory: its regular files, then the others.
    pub(crate) fn rows(&self, dir: DirNo) -> &[Packed] {
        let files = self.files_of(dir).len();
        let dir = &self.dirs[dir.0 as usize];
        let start = dir.start as usize;
        &self.shards[usize::from(dir.shard)].entries[start..start + files + dir.others as usize]
    }

    /// A directory's own name; the path as given for a root, empty for the directory of file arguments.
    pub(crate) fn dir_name(&self, dir: DirNo) -> &[u8] {
        let dir = &self.dirs[dir.0 as usize];
        self.shards[usize::from(dir.name_shard)].names.get(dir.name)
    }

    /// Appends what stands before every name in this directory: its path and a slash, or nothing for the
    /// directory of file arguments. Without recursion and without allocation but for `path` itself.
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

    /// A directory's share of a path: its name, and the slash that follows unless it ends in one.
    pub(crate) fn segment(&self, dir: DirNo) -> [&[u8]; 2] {
        let name = self.dir_name(dir);
        let bare = name.is_empty() || name.ends_with(b"/");
        [name, if bare { b"" } else { b"/" }]
    }

    fn row(&self, dir: &Dir, file: FileNo) -> &Packed {
        &self.shards[usize::from(dir.shard)].entries[(dir.start + (file.0 - dir.first)) as usize]
    }
}
