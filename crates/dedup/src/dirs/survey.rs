//! Collects the current metadata of directories in an inventory.

use std::io;

use ftk_file::{Stat, Version};
use ftk_inventory::{DirNo, Inventory, Opener};

use crate::Member;

/// Creates members for directories of an inventory by opening them.
#[derive(Debug)]
pub struct DirSurvey<'i> {
    inventory: &'i Inventory,
    opener: Opener<'i>,
}

impl<'i> DirSurvey<'i> {
    /// Creates a survey of an inventory. It holds one directory open.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self { inventory, opener: Opener::new(inventory) }
    }

    /// Returns the directory's current metadata. It has one link, and no size or blocks.
    ///
    /// # Errors
    /// If it cannot be opened, or is not the directory that was walked.
    pub fn member(&mut self, dir: DirNo) -> io::Result<Member> {
        let stat = Stat::of(self.opener.open(dir)?)?;
        let version = Version { size: 0, ..stat.version() };
        Ok(Member::new(self.inventory.root_of_dir(dir), self.inventory.dir_path(dir), version))
    }
}
