//! What can be done with a duplicate.

use std::fmt;
use std::path::PathBuf;

/// What is done with a victim. Never anything but what was asked: where a hard link is impossible there is an
/// error, and no symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its name becomes another name of the keeper.
    Hardlink,
    /// It shares the keeper's blocks until either is written to, and keeps its inode and all that belongs to it.
    /// The kernel compares the bytes.
    Reflink,
    /// Its name becomes a symbolic link to the absolute path of the keeper, every link on that path resolved.
    Symlink,
    /// Its name goes. There is no way back: [`Action::Move`] into a directory apart is the delete that has one.
    Delete,
    /// It moves below this directory, on the same file system, to the path it was scanned under. Nothing there
    /// is overwritten. The directory, and those below it, are made where they are missing.
    Move(PathBuf),
}

impl Action {
    /// The kind without the particulars.
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::Hardlink => ActionKind::Hardlink,
            Self::Reflink => ActionKind::Reflink,
            Self::Symlink => ActionKind::Symlink,
            Self::Delete => ActionKind::Delete,
            Self::Move(_) => ActionKind::Move,
        }
    }
}

/// The kind of an [`Action`]; shown as the word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// See [`Action::Hardlink`].
    Hardlink,
    /// See [`Action::Reflink`].
    Reflink,
    /// See [`Action::Symlink`].
    Symlink,
    /// See [`Action::Delete`].
    Delete,
    /// See [`Action::Move`].
    Move,
}

impl ActionKind {
    const ALL: [Self; 5] = [Self::Hardlink, Self::Reflink, Self::Symlink, Self::Delete, Self::Move];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hardlink => "hardlink",
            Self::Reflink => "reflink",
            Self::Symlink => "symlink",
            Self::Delete => "delete",
            Self::Move => "move",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is asked of a victim beside its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionOptions {
    /// Whether [`Action::Hardlink`] and [`Action::Symlink`], which put the keeper's owner, permissions, access
    /// control list and extended attributes in the place of the victim's, do so where they differ. Even then no
    /// name becomes set-user-ID or set-group-ID that was not.
    pub metadata_may_differ: bool,
}

/// Bytes that an action gave back to the file system: what the victim alone had, if its last name went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Freed(
    /// Bytes on the disk, not the length of the file.
    pub u64,
);
