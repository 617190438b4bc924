//! Members of the files of an inventory.

use ftk_inventory::{FileNo, Inventory, Opener};
use ftk_read::{Failure, Stat};

use crate::Member;
use crate::open::open;

/// Makes members of the files of an inventory, by opening them.
#[derive(Debug)]
pub struct Survey<'i> {
    inventory: &'i Inventory,
    opener: Opener<'i>,
}

impl<'i> Survey<'i> {
    /// A survey of this table, which has sizes. Holds one directory open.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self { inventory, opener: Opener::new(inventory) }
    }

    /// Looks at a file as it is now.
    ///
    /// # Errors
    /// [`Failure::Changed`] when it is not the file that was walked, or no longer of that size; else whatever
    /// opening it gives.
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
