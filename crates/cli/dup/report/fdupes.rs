//! Prints groups like fdupes and jdupes: one path per line, an empty line after each group.

use ftk_dedup::Group;
use ftk_inventory::Inventory;
use ftk_record::sanitize;

/// The format: the terminator, and whether the output goes to a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fdupes {
    /// Written after each path, and once more after each group.
    pub(super) end: u8,
    pub(super) is_shown: bool,
}

impl Fdupes {
    /// Appends the first hard link of each file.
    pub(super) fn push_group(self, out: &mut Vec<u8>, inventory: &Inventory, group: &Group<'_>) {
        for names in group.clusters() {
            let start = out.len();
            inventory.push_path(names[0], out);
            if self.is_shown {
                let shown = sanitize(&out[start..]).into_owned();
                out.truncate(start);
                out.extend_from_slice(shown.as_bytes());
            }
            out.push(self.end);
        }
        out.push(self.end);
    }
}
