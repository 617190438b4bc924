//! What happens to directories, and to what is inside them.

use ftk_inventory::DirNo;

/// The choice for a directory of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It stays as it is, with everything inside.
    Stays,
    /// It is surplus.
    Goes,
}

/// What was chosen for a directory, or for one that contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// Nothing was chosen. Its files may be members of groups of files.
    #[default]
    Free,
    /// It stays as a whole. Its files are never removed as copies of others.
    Kept,
    /// It is surplus as a whole. Its files are not considered again.
    Gone,
}

/// The fates of all directories.
#[derive(Clone, Debug)]
pub struct Fates(pub(crate) Vec<Fate>);

impl Fates {
    /// Returns the fate of a directory.
    pub fn of(&self, dir: DirNo) -> Fate {
        self.0[dir.0 as usize]
    }
}
