//! Opens single files of an inventory.

use ftk_inventory::{FileNo, Inventory, Opener};
use ftk_read::{Failure, File};

/// Opens a file of an inventory.
pub(crate) fn open(inventory: &Inventory, opener: &mut Opener<'_>, file: FileNo) -> Result<File, Failure> {
    let dir = inventory.dir_of(file);
    let at = opener.open(dir).map_err(|source| Failure::Io { op: "open", source })?;
    if !opener.may_open(&at, dir, file) {
        return Err(Failure::NotRegular);
    }
    File::open(&at, inventory.name(dir, file), inventory.via_link(dir, file))
}
