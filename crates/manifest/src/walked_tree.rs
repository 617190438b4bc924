//! A walked tree as a sorted sequence of entries.

use std::collections::HashSet;

use ftk_file::{Stat, Symlinks};
use ftk_inventory::{DirNo, FileNo, Inventory, MovedEntries, Opener, PathOrder};
use ftk_walk::FileType;

use crate::entry::ROOT;
use crate::merge::Side;
use crate::{Error, Failed, Mount, RootIdentity};

/// A tree that was walked from one starting point with [`Keep::Stats`](ftk_inventory::Keep::Stats).
#[derive(Clone, Copy, Debug)]
pub struct WalkedTree<'t> {
    /// The result of the walk.
    pub inventory: &'t Inventory,
    /// The starting point, as it was given to the walk.
    pub root: &'t [u8],
    /// The paths that could not be listed or read, as the walk reports them. What lies at or below them is
    /// unknown.
    pub failed: &'t [Vec<u8>],
}

impl<'t> WalkedTree<'t> {
    /// Returns the entries of the tree in the order of a manifest.
    pub(crate) fn walk(&self) -> Walk<'t> {
        Walk { tree: *self, order: self.inventory.in_path_order(), seen: Seen::default() }
    }

    /// Like [`walk`](Self::walk), with the paths of `moved` in the spelling of a manifest.
    pub(crate) fn walk_with(&self, moved: Option<&'t MovedEntries>) -> Walk<'t> {
        let order = match moved {
            Some(moved) => self.inventory.in_order_of(moved),
            None => self.inventory.in_path_order(),
        };
        Walk { order, ..self.walk() }
    }

    /// Returns the path of a file below the root.
    pub(crate) fn path_of(&self, file: FileNo) -> Vec<u8> {
        self.relative(&self.inventory.path(file)).to_vec()
    }

    /// Returns the directories below the starting point that are on another device than the directory that contains them, in
    /// the order of a manifest: those that were listed.
    pub(crate) fn mounts(&self) -> Vec<Mount> {
        let (inventory, mut opener) = (self.inventory, Opener::new(self.inventory));
        let is_mount = |dir: &DirNo| {
            let parent = inventory.parent(*dir);
            parent.is_some_and(|parent| inventory.device(parent) != inventory.device(*dir))
        };
        let mut mount = |dir: DirNo| {
            let path = self.relative(&inventory.dir_path(dir)).to_vec();
            let identity = opener.open(dir).and_then(|open| RootIdentity::of(open, path.clone()));
            identity.map_or(Mount::Named(path), Mount::Identified)
        };
        let dirs = (0..inventory.dirs()).map(DirNo).filter(is_mount);
        Mount::sorted(dirs.map(&mut mount).collect())
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        let (mut order, mut entries) = (self.inventory.in_path_order(), 0);
        while order.next().is_some() {
            entries += 1;
        }
        entries
    }

    /// Removes the paths that the walk found, and those whose state it does not know, from `paths`.
    ///
    /// # Errors
    /// When the entries cannot be read again.
    pub fn remove_known(&self, paths: &mut HashSet<Vec<u8>>) -> Result<(), Error> {
        let failed = Failed::of(self);
        paths.retain(|path| !failed.covers(path));
        let mut walk = self.walk();
        while !paths.is_empty() && walk.advance()? {
            paths.remove(walk.path());
        }
        Ok(())
    }

    /// Strips the starting point from a path of the walk. The starting point itself is `.`.
    ///
    /// # Panics
    /// If the path does not begin with the starting point.
    pub fn relative<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        if path == self.root {
            return ROOT;
        }
        let below = path.strip_prefix(self.root).expect("everything lies below the starting point");
        below.strip_prefix(b"/").unwrap_or(below)
    }
}

/// An entry that the walk found.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The path below the root, in the spelling of the manifest.
    pub(crate) path: Vec<u8>,
    /// The path in its own spelling, if it is another one.
    pub(crate) own_path: Option<Vec<u8>>,
    /// Whether the name itself is spelled differently.
    pub(crate) is_respelled: bool,
    pub(crate) name: Vec<u8>,
    pub(crate) dir: DirNo,
    pub(crate) file_type: FileType,
    /// Whether this is a directory and the walk found all its entries.
    pub(crate) is_whole: bool,
    pub(crate) file: Option<FileNo>,
    pub(crate) metadata: Option<Stat>,
    target: Vec<u8>,
    has_target: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            own_path: None,
            is_respelled: false,
            name: Vec::new(),
            dir: DirNo(0),
            file_type: FileType::Directory,
            is_whole: false,
            file: None,
            metadata: None,
            target: Vec::new(),
            has_target: false,
        }
    }
}

impl Seen {
    pub(crate) fn target(&self) -> Option<&[u8]> {
        self.has_target.then_some(&*self.target)
    }

    pub(crate) fn is_root(&self) -> bool {
        self.path == ROOT
    }

    /// Returns the metadata that the walk kept.
    ///
    /// # Panics
    /// If the walk did not keep it.
    pub(crate) fn stat(&self) -> Stat {
        self.metadata.expect("the walk keeps metadata")
    }

    /// Only the root may be a link that is followed.
    pub(crate) fn symlinks(&self) -> Symlinks {
        if self.is_root() { Symlinks::Follow } else { Symlinks::NoFollow }
    }
}

/// The entries of a tree in the order of a manifest.
#[derive(Debug)]
pub(crate) struct Walk<'t> {
    tree: WalkedTree<'t>,
    order: PathOrder<'t>,
    /// The current entry.
    pub(crate) seen: Seen,
}

impl Side for Walk<'_> {
    fn advance(&mut self) -> Result<bool, Error> {
        let Some(item) = self.order.next() else { return Ok(false) };
        let seen = &mut self.seen;
        for (to, from) in [
            (&mut seen.path, self.tree.relative(item.path)),
            (&mut seen.name, item.name),
            (&mut seen.target, item.target.unwrap_or_default()),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
        seen.own_path = item.own_path.map(|path| self.tree.relative(path).to_vec());
        seen.is_respelled = item.is_respelled;
        seen.has_target = item.target.is_some();
        (seen.dir, seen.file_type, seen.file) = (item.dir, item.file_type, item.file);
        (seen.is_whole, seen.metadata) = (item.is_whole, item.metadata);
        Ok(true)
    }

    fn path(&self) -> &[u8] {
        &self.seen.path
    }
}
