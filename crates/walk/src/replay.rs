//! Entries that a record describes, shown to a visitor of walks without any access to a tree.

use std::ffi::{CStr, CString};
use std::io;

use crate::node::{Id, Place};
use crate::sys::CWD;
use crate::{Directory, Entry, Fields, FileType, Metadata, Step, Visitor, WalkError};

/// What a record says about an entry.
#[derive(Clone, Debug)]
pub struct Recorded<'r> {
    /// The metadata. Only `known` fields have a meaning.
    pub metadata: Metadata,
    /// The fields that the record has.
    pub known: Fields,
    /// The target of a symbolic link, if it is recorded.
    pub target: Option<&'r CStr>,
    /// The names of the extended attributes, if they are recorded.
    pub attributes: Option<Vec<&'r [u8]>>,
    /// Whether a directory has entries, if this is known.
    pub has_entries: Option<bool>,
    /// Whether the directory is on another device than the root.
    pub is_mount: bool,
    /// Whether the record lacks the entry, and only has entries below it.
    pub is_implied: bool,
    /// What the record does not say about the type in `metadata`.
    pub doubt: Doubt,
}

/// What a record does not say about the type of an entry. Whether it is a directory is always known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubt {
    /// The type is known.
    #[default]
    None,
    /// It is not a regular file.
    Special,
    /// It may be anything.
    Any,
}

impl Recorded<'_> {
    /// An entry of which only the type is known.
    pub fn new(file_type: FileType) -> Self {
        let metadata = Metadata::new(file_type);
        Self {
            metadata,
            known: Fields::NONE,
            target: None,
            attributes: None,
            has_entries: None,
            is_mount: false,
            is_implied: false,
            doubt: Doubt::None,
        }
    }

    /// Returns the metadata with these fields.
    pub(crate) fn metadata_with(&self, fields: Fields) -> io::Result<Metadata> {
        match NAMES.iter().find(|(field, _)| fields.contains(*field) && !self.known.contains(*field)) {
            Some((_, name)) => Err(lacks(name)),
            None => Ok(self.metadata),
        }
    }
}

/// Makes the error about something that a record does not have.
pub fn lacks(member: &str) -> io::Error {
    io::Error::other(format!("the record has no {member}"))
}

/// The fields, and how manifests call them.
const NAMES: [(Fields, &str); 12] = [
    (Fields::MODE, "mode"),
    (Fields::NLINK, "nlink"),
    (Fields::UID, "uid"),
    (Fields::GID, "gid"),
    (Fields::MTIME, "mtime_ns"),
    (Fields::CTIME, "ctime_ns"),
    (Fields::INO, "ino"),
    (Fields::SIZE, "size_bytes"),
    (Fields::BLOCKS, "allocated_bytes"),
    (Fields::BIRTH, "birth_ns"),
    (Fields::ATIME, "atime_ns"),
    (Fields::MOUNT, "fs_type"),
];

/// Shows the entries of one tree to a visitor, as a walk does.
///
/// Entries come in any order in which each follows the directory that contains it. A directory may be entered several
/// times.
pub struct Replay<V: Visitor> {
    visitor: V,
    root: CString,
    number: usize,
    /// The directories that contain the last entry, and others whose paths are beginnings of its path, with the topmost first.
    dirs: Vec<Dir<V::Dir>>,
    /// The one of them that was entered last.
    current: Option<usize>,
    is_stopped: bool,
}

/// A directory.
struct Dir<T> {
    /// The path below the root. Empty for the root.
    path: Vec<u8>,
    place: At,
    metadata: Metadata,
    is_mount: bool,
    /// `None` if the visitor does not descend into it.
    tag: Option<T>,
}

/// Where a directory is.
struct At {
    path: Vec<u8>,
    depth: u32,
    root: usize,
}

impl Place for At {
    fn depth(&self) -> u32 {
        self.depth
    }
    fn root_number(&self) -> usize {
        self.root
    }
    fn push_path(&self, path: &mut Vec<u8>) {
        path.extend_from_slice(&self.path);
    }
}

impl<V: Visitor> Replay<V> {
    /// Begins a tree whose root has this path and is starting point `number`.
    pub fn new(root: CString, number: usize, visitor: V) -> Self {
        Self { visitor, root, number, dirs: Vec::new(), current: None, is_stopped: false }
    }

    /// Shows an entry. `path` is the one below the root, whose own is empty. Returns whether the visitor wants more.
    pub fn show(&mut self, path: &[u8], entry: &Recorded<'_>) -> bool {
        if self.is_stopped {
            return false;
        }
        // A later entry may still be in a directory whose path begins this one: `a`, `a-b`, `a/x`.
        let begins =
            |dir: &[u8]| dir.is_empty() || path.strip_prefix(dir).is_some_and(|it| it.first() <= Some(&b'/'));
        while self.dirs.last().is_some_and(|last| !begins(&last.path)) {
            self.pop();
        }
        let parent = path.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |end| &path[..end]);
        if path.is_empty() {
            let root = self.root.clone();
            self.offer(path, None, &root, entry);
            return !self.is_stopped;
        }
        let Some(at) = self.dirs.iter().rposition(|dir| dir.path == parent) else {
            return self.show(parent, &Recorded { is_implied: true, ..Recorded::new(FileType::Directory) })
                && self.show(path, entry);
        };
        let Ok(name) = CString::new(path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)) else {
            return true;
        };
        if self.enter(at) {
            self.offer(path, Some(at), &name, entry);
        } else if entry.metadata.file_type == FileType::Directory {
            let place = At { path: Vec::new(), depth: 0, root: self.number };
            let (path, metadata) = (path.to_vec(), entry.metadata);
            self.dirs.push(Dir { path, place, metadata, is_mount: false, tag: None });
        }
        !self.is_stopped
    }

    /// Reports what the record could not read.
    pub fn error(&mut self, error: WalkError) {
        self.is_stopped |= self.visitor.error(error) == Step::Stop;
    }

    /// Returns the visitor.
    pub fn finish(mut self) -> V {
        self.leave();
        self.visitor
    }

    fn pop(&mut self) {
        if self.current == Some(self.dirs.len() - 1) {
            self.leave();
        }
        self.dirs.pop();
    }

    fn leave(&mut self) {
        if let Some(tag) = self.current.take().and_then(|at| self.dirs[at].tag.as_ref()) {
            self.visitor.leave(tag);
        }
    }

    /// Enters a directory. Returns whether its entries are shown.
    fn enter(&mut self, at: usize) -> bool {
        if self.current == Some(at) {
            return true;
        }
        if self.dirs[at].tag.is_none() {
            return false;
        }
        self.leave();
        let Dir { place, metadata, is_mount, tag, .. } = &self.dirs[at];
        let Some(dir_tag) = tag else { return false };
        // Hosts number devices differently, so the numbers of a merged record say nothing.
        let (dev, root_dev) = (u64::from(*is_mount), 0);
        let id = Id { dev, ino: metadata.ino };
        let opened = Directory { fd: CWD, place, id, metadata: *metadata, root_dev, up_dev: None };
        match self.visitor.enter(dir_tag, &opened) {
            Step::Descend => self.current = Some(at),
            Step::Next => self.dirs[at].tag = None,
            Step::Stop => self.is_stopped = true,
        }
        self.current == Some(at)
    }

    fn offer(&mut self, path: &[u8], parent: Option<usize>, name: &CStr, recorded: &Recorded<'_>) {
        let is_directory = recorded.metadata.file_type == FileType::Directory;
        let (place, up_tag) = match parent.map(|at| &self.dirs[at]) {
            Some(up) => (Some(&up.place), up.tag.as_ref()),
            None => (None, None),
        };
        let mut entry = Entry::recorded(name, self.number, place.map(|at| at as &dyn Place), recorded);
        let step = self.visitor.entry(up_tag, &mut entry);
        self.is_stopped |= step == Step::Stop;
        if !is_directory {
            return;
        }
        let tag = (step == Step::Descend).then(|| self.visitor.descend(up_tag, &mut entry));
        let (mut full, depth) = (Vec::new(), entry.depth());
        entry.push_path(&mut full);
        let place = At { path: full, depth, root: self.number };
        let (metadata, is_mount) = (recorded.metadata, recorded.is_mount);
        self.dirs.push(Dir { path: path.to_vec(), place, metadata, is_mount, tag });
    }
}
