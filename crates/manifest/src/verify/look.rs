//! Metadata of walked entries: from the walk, or else from the system.

use std::io;

use ftk_inventory::{DirNo, FileNo, Inventory, Opener};
use rustix::fs::{AtFlags, statat};
use rustix::path::Arg;

use crate::Stat;
use crate::walked_tree::Seen;

/// Reads metadata that the walk did not keep, through the directories that were walked.
#[derive(Debug)]
pub(super) struct Look<'i> {
    inventory: &'i Inventory,
    opener: Opener<'i>,
}

impl<'i> Look<'i> {
    pub(super) fn new(inventory: &'i Inventory) -> Self {
        Self { inventory, opener: Opener::new(inventory) }
    }

    /// Returns the metadata of an entry.
    pub(super) fn stat(&mut self, seen: &Seen) -> io::Result<Stat> {
        match &seen.metadata {
            Some(metadata) => Ok(Stat::walked(seen.file_type, metadata)),
            None => self.ask(seen.dir, &*seen.name, seen.is_root()),
        }
    }

    /// Returns the length of a file; `None` if it cannot be read.
    pub(super) fn size(&mut self, file: FileNo) -> Option<u64> {
        let dir = self.inventory.dir_of(file);
        if self.inventory.has_sizes() {
            return Some(self.inventory.size(dir, file));
        }
        let name = self.inventory.name(dir, file);
        let follow = self.inventory.via_link(dir, file);
        self.ask(dir, name, follow).ok().map(|stat| stat.size)
    }

    fn ask(&mut self, dir: DirNo, name: impl Arg, follow: bool) -> io::Result<Stat> {
        let dir = self.opener.open(dir)?;
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        Ok(Stat::asked(&statat(dir, name, flags)?))
    }
}
