//! Groups of files without those that groups of directories account for.

use ftk_inventory::{FileNo, Inventory};

use crate::Groups;
use crate::dirs::{Fate, Fates};

impl Groups {
    /// Removes the names inside surplus directories, and the groups that have no name outside of directories that
    /// stay as a whole.
    ///
    /// A name inside a directory that stays shows what the other names are copies of. With `has_all_kept` all
    /// such names stay in their groups, otherwise those of one file.
    #[must_use]
    pub fn outside(self, inventory: &Inventory, fates: &Fates, has_all_kept: bool) -> Self {
        let fate = |file: FileNo| fates.of(inventory.dir_of(file));
        self.map(|clusters| {
            let mut has_kept = false;
            let mut left = Vec::new();
            for names in clusters {
                let is_first = !has_kept;
                let names = names.iter().copied().filter(|&name| match fate(name) {
                    Fate::Free => true,
                    Fate::Gone => false,
                    Fate::Kept => {
                        has_kept = true;
                        is_first || has_all_kept
                    }
                });
                left.push(names.collect::<Vec<_>>());
            }
            left.retain(|names| !names.is_empty());
            let is_outside = left.iter().flatten().any(|&name| fate(name) == Fate::Free);
            if is_outside { left } else { Vec::new() }
        })
    }
}
