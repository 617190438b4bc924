//! Collects the current metadata of files in an inventory.

use ftk_file::{Failure, Symlinks};
use ftk_inventory::{FileNo, Inventory, Opener};

use crate::Member;

/// Creates members for files of an inventory by opening them.
#[derive(Debug)]
pub struct Survey<'i> {
    inventory: &'i Inventory,
    opener: Opener<'i>,
}

impl<'i> Survey<'i> {
    /// Creates a survey of an inventory, which must have sizes. It holds one directory open.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self { inventory, opener: Opener::new(inventory) }
    }

    /// Returns the file's current metadata.
    ///
    /// # Errors
    /// [`Failure::Changed`] if it is not the file that was walked, or its size has changed. Otherwise any error of
    /// opening it.
    pub fn member(&mut self, file: FileNo) -> Result<Member, Failure> {
        let inventory = self.inventory;
        let dir = inventory.dir_of(file);
        let stat = *self.opener.open_file(dir, file)?.stat();
        let before = inventory.stat_then(dir, file, &stat);
        if before != stat {
            return Err(Failure::Changed { before: Box::new(before), after: Box::new(stat), read: 0 });
        }
        let mut path = Vec::new();
        inventory.push_path(file, &mut path);
        Ok(Member {
            root: inventory.root_of(dir, file),
            path,
            version: stat.version(),
            blocks: stat.blocks,
            nlink: stat.nlink,
            via_link: inventory.symlinks(dir, file) == Symlinks::Follow,
        })
    }
}
