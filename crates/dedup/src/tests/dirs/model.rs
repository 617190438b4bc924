//! A tree on disk, read into memory, and the directories that the search found in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use ftk_inventory::{Collect, DirNo, Inventory, Keep};
use ftk_walk::Walker;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::tests::tree::{SMALL, Settings, Tree, run};
use crate::{Contents, Directories, DirectoryRules, Names, UnitPlace};

/// How many random trees a test makes.
pub(super) fn cases() -> u32 {
    std::env::var("FTK_TEST_RANDOM_TREES").map_or(150, |number| number.parse().unwrap())
}

/// One step in making a tree.
#[derive(Clone, Debug)]
pub(super) enum Make {
    File {
        name: String,
        fill: u8,
        len: usize,
    },
    Directory(String),
    Symlink {
        name: String,
        target: &'static str,
    },
    Fifo(String),
    HardLink {
        name: String,
        of: Index,
    },
    /// Copies a directory that exists, as `cp -r`.
    Copy {
        of: Index,
        name: String,
    },
    /// Changes a file, so that a copied directory differs.
    Change {
        of: Index,
        fill: u8,
    },
}

fn name() -> impl Strategy<Value = String> {
    let dir = select(vec!["", "a/", "b/", "a/a/", "a/b/", "c/a/", "a-b/", "d/", "d/e/f/"]);
    (dir, select(vec!["x", "y", "z", "a", "m.n"])).prop_map(|(dir, name)| format!("{dir}{name}"))
}

fn make(has_links: bool) -> impl Strategy<Value = Make> {
    let len = select(vec![0, 1, 7, 63, 64, 65, 500]);
    prop_oneof![
        6 => (name(), 0..3_u8, len).prop_map(|(name, fill, len)| Make::File { name, fill, len }),
        1 => name().prop_map(Make::Directory),
        1 => (name(), select(vec!["x", "../x"])).prop_map(|(name, target)| Make::Symlink { name, target }),
        1 => name().prop_map(Make::Fifo),
        if has_links { 2 } else { 1 } => (name(), any::<Index>()).prop_map(move |(name, of)| match has_links {
            true => Make::HardLink { name, of },
            false => Make::Directory(name),
        }),
        4 => (name(), any::<Index>()).prop_map(|(name, of)| Make::Copy { of, name }),
        1 => (any::<Index>(), 0..3_u8).prop_map(|(of, fill)| Make::Change { of, fill }),
    ]
}

pub(super) fn tree_plan(has_links: bool) -> impl Strategy<Value = Vec<Make>> {
    vec(make(has_links), 1..40)
}

/// Makes the tree. Steps whose name is taken do nothing.
pub(super) fn plant(tree: &Tree, plan: &[Make]) {
    for make in plan {
        let at = |name: &str| {
            let path = tree.path(name);
            let parent = path.parent().unwrap().to_owned();
            (fs::symlink_metadata(&path).is_err() && fs::create_dir_all(parent).is_ok()).then_some(path)
        };
        let all = |is_dir: bool| -> Vec<PathBuf> {
            let node = Node::read(tree.0.path());
            let mut paths = Vec::new();
            node.visit(tree.0.path(), &mut |path, node| {
                let is_one = match node {
                    Node::Dir(_) => is_dir && path != tree.0.path(),
                    Node::File { .. } => !is_dir,
                    _ => false,
                };
                paths.extend(is_one.then(|| path.to_owned()));
            });
            paths
        };
        match make {
            Make::File { name, fill, len } => {
                _ = at(name).map(|path| fs::write(path, vec![*fill; *len]).unwrap())
            }
            Make::Directory(name) => _ = at(name).map(|path| fs::create_dir(path).unwrap()),
            Make::Symlink { name, target } => _ = at(name).map(|path| symlink(target, path).unwrap()),
            Make::Fifo(name) => {
                _ = at(name).map(|path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap());
            }
            Make::HardLink { name, of } => {
                let files = all(false);
                if let (false, Some(path)) = (files.is_empty(), at(name)) {
                    fs::hard_link(&files[of.index(files.len())], path).unwrap();
                }
            }
            Make::Copy { of, name } => {
                let dirs = all(true);
                if dirs.is_empty() {
                    continue;
                }
                let from = &dirs[of.index(dirs.len())];
                if let Some(to) = at(name).filter(|to| !to.starts_with(from)) {
                    Node::read(from).write(&to);
                }
            }
            Make::Change { of, fill } => {
                let files = all(false);
                if !files.is_empty() {
                    fs::write(&files[of.index(files.len())], vec![*fill; 100]).unwrap();
                }
            }
        }
    }
}

/// An entry with everything below it.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Dir(BTreeMap<Vec<u8>, Node>),
    File { content: Vec<u8>, ino: u64 },
    Link(PathBuf),
    Fifo,
}

/// A content without its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leaf {
    Content(Vec<u8>),
    Link(PathBuf),
    Fifo,
    EmptyDirectory,
}

impl Node {
    pub(super) fn read(path: &Path) -> Self {
        let stat = fs::symlink_metadata(path).unwrap();
        if stat.is_dir() {
            let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
            let entry = |entry: fs::DirEntry| (entry.file_name().into_vec(), Self::read(&entry.path()));
            Self::Dir(entries.map(entry).collect())
        } else if stat.is_symlink() {
            Self::Link(fs::read_link(path).unwrap())
        } else if stat.file_type().is_fifo() {
            Self::Fifo
        } else {
            Self::File { content: fs::read(path).unwrap(), ino: stat.ino() }
        }
    }

    fn write(&self, path: &Path) {
        match self {
            Self::Dir(entries) => {
                fs::create_dir(path).unwrap();
                entries.iter().for_each(|(name, node)| node.write(&join(path, name)));
            }
            Self::File { content, .. } => fs::write(path, content).unwrap(),
            Self::Link(target) => symlink(target, path).unwrap(),
            Self::Fifo => mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap(),
        }
    }

    /// Calls `each` for this entry and all entries below it.
    pub(super) fn visit<'n>(&'n self, path: &Path, each: &mut impl FnMut(&Path, &'n Node)) {
        each(path, self);
        if let Self::Dir(entries) = self {
            entries.iter().for_each(|(name, node)| node.visit(&join(path, name), each));
        }
    }

    pub(super) fn is_equal(&self, other: &Self, names: Names) -> bool {
        match names {
            Names::Ignored => self.leaves() == other.leaves(),
            Names::Compared => match (self, other) {
                (Self::Dir(a), Self::Dir(b)) => {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.is_equal(b.1, names))
                }
                (Self::Dir(_), _) | (_, Self::Dir(_)) => false,
                _ => self.leaves() == other.leaves(),
            },
        }
    }

    /// Returns all contents below, sorted.
    pub(super) fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.visit(Path::new(""), &mut |_, node| {
            leaves.extend(match node {
                Self::Dir(entries) => entries.is_empty().then_some(Leaf::EmptyDirectory),
                Self::File { content, .. } => Some(Leaf::Content(content.clone())),
                Self::Link(target) => Some(Leaf::Link(target.clone())),
                Self::Fifo => Some(Leaf::Fifo),
            });
        });
        leaves.sort();
        leaves
    }

    /// Returns the size of each file below, by inode number.
    pub(super) fn inodes(&self) -> BTreeMap<u64, u64> {
        let mut inodes = BTreeMap::new();
        self.visit(Path::new(""), &mut |_, node| {
            if let Self::File { content, ino } = node {
                inodes.insert(*ino, content.len() as u64);
            }
        });
        inodes
    }

    /// Returns all directories below, by path.
    pub(super) fn dirs(&self, path: &Path) -> BTreeMap<PathBuf, &Self> {
        let mut dirs = BTreeMap::new();
        self.visit(path, &mut |path, node| {
            if let Self::Dir(_) = node {
                dirs.insert(path.to_owned(), node);
            }
        });
        dirs
    }
}

fn join(path: &Path, name: &[u8]) -> PathBuf {
    path.join(std::ffi::OsStr::from_bytes(name))
}

/// Walks the tree with everything that the comparison of directories needs.
pub(super) fn walk(tree: &Tree) -> Inventory {
    let walker = Walker::new([tree.0.path()]).threads(2);
    Inventory::merge(walker.run(|worker| Collect::new(worker, Keep::Tree))).unwrap()
}

/// Finds the contents of all files.
pub(super) fn contents(inventory: &Inventory, min_size: u64) -> Contents {
    let found = run(inventory, Settings::default(), min_size, &SMALL, |_| ());
    assert!(found.failed.is_empty(), "{:?}", found.failed);
    found.contents(&(min_size..=u64::MAX))
}

pub(super) fn all(names: Names) -> DirectoryRules<'static> {
    DirectoryRules { all: true, place: &|_| UnitPlace::Outside, names }
}

pub(super) fn path(directories: &Directories<'_>, dir: DirNo) -> PathBuf {
    std::ffi::OsString::from_vec(directories.path(dir)).into()
}

pub(super) fn paths(directories: &Directories<'_>, dirs: &[DirNo]) -> BTreeSet<PathBuf> {
    dirs.iter().map(|&dir| path(directories, dir)).collect()
}
