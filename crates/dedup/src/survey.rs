//! Collects the current metadata of files in an inventory.

use ftk_inventory::{FileNo, Inventory, Opener};
use ftk_read::{Failure, Stat};

use crate::Member;
use crate::open::open;

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
        let stat = *open(inventory, &mut self.opener, file)?.stat();
        let dir = inventory.dir_of(file);
        let ((dev, ino), size) = (inventory.identity(dir, file), inventory.size(dir, file));
        if (stat.dev, stat.ino, stat.size) != (dev, ino, size) {
            let before = Box::new(Stat { dev, ino, size, ..stat });
            return Err(Failure::Changed { before, after: Box::new(stat), read: 0 });
        }
        let mut path = Vec::new();
        inventory.push_path(file, &mut path);
        Ok(Member {
            root: inventory.root_of(dir, file),
            path,
            dev,
            ino,
            size,
            blocks: stat.blocks,
            nlink: stat.nlink,
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
            via_link: inventory.via_link(dir, file),
        })
    }
}
