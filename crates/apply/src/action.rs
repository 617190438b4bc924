//! What can be done with a duplicate.

use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::rc::Rc;

use rustix::io::Errno;

use crate::destination::Destination;
use crate::durable::sync_names;
use crate::refusal::ActError;
use crate::trash::Bins;

/// What is done with a victim. There is no fallback to another action: if a hard link is impossible, the step
/// fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The victim becomes a hard link to the keeper.
    Hardlink,
    /// The victim shares the keeper's blocks until either file is written to. It keeps its inode and all its
    /// metadata. The kernel compares the bytes.
    Reflink,
    /// The victim becomes a symbolic link to the absolute path of the keeper. All links on that path are
    /// resolved. The step is refused if another user can change the keeper or replace it: a user other than root, the
    /// caller and, if root is the caller, the owner of the victim.
    Symlink,
    /// The victim is removed. Undo copies it back from a kept copy, as long as one is unchanged. With [`Action::Move`], the
    /// file itself stays.
    Delete,
    /// The victim moves below this directory, on the same file system, to the path it was scanned under.
    /// Existing files are never overwritten. Missing directories are created.
    Move(PathBuf),
    /// The victim moves to the trash of the desktop: to the home trash at this path, or to the one at the top of its file
    /// system.
    Trash(PathBuf),
}

impl Action {
    /// Returns the kind of the action.
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::Hardlink => ActionKind::Hardlink,
            Self::Reflink => ActionKind::Reflink,
            Self::Symlink => ActionKind::Symlink,
            Self::Delete => ActionKind::Delete,
            Self::Move(_) => ActionKind::Move,
            Self::Trash(_) => ActionKind::Trash,
        }
    }
}

/// An [`Action`] that is ready to be performed: the directory of a move is open.
#[derive(Debug)]
pub(crate) enum OpenAction {
    Hardlink,
    Reflink,
    Symlink,
    Delete,
    Move(Destination),
    Trash(Bins),
}

impl OpenAction {
    /// Opens the directory of a move, and creates missing ones. A relative path starts at `base`.
    pub(crate) fn of(action: &Action, base: BorrowedFd<'_>) -> Result<Self, ActError> {
        Ok(match action {
            Action::Hardlink => Self::Hardlink,
            Action::Reflink => Self::Reflink,
            Action::Symlink => Self::Symlink,
            Action::Delete => Self::Delete,
            Action::Move(path) => Self::Move(Destination::open(base, path)?),
            Action::Trash(home) => Self::Trash(Bins::new(home)),
        })
    }

    pub(crate) fn destination(&self) -> Option<&Destination> {
        match self {
            Self::Move(destination) => Some(destination),
            Self::Hardlink | Self::Reflink | Self::Symlink | Self::Delete | Self::Trash(_) => None,
        }
    }

    /// Waits until the changed names are on the disk. `changed` are the directories of victims.
    pub(crate) fn sync(&mut self, changed: &[Rc<OwnedFd>]) -> Result<(), Errno> {
        match self {
            Self::Move(destination) if !changed.is_empty() => destination.sync(),
            Self::Trash(bins) => bins.sync(),
            _ => sync_names(changed),
        }
    }
}

/// The kind of an [`Action`]. Its text form is the action's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// See [`Action::Trash`].
    Trash,
    /// A damaged file is replaced with its recorded content: see [`Restorer`](crate::Restorer).
    Replace,
    /// A missing file is created with its recorded content: see [`Restorer`](crate::Restorer).
    Create,
    /// An entry gets its recorded metadata: see [`Restorer::set_metadata`](crate::Restorer::set_metadata).
    SetMetadata,
    /// A symbolic link is removed or moved together with its directory: see [`Engine::run_tree`](crate::Engine::run_tree).
    RemoveLink,
    /// An empty directory is removed: see [`Engine::run_tree`](crate::Engine::run_tree).
    RemoveDirectory,
    /// An entry that the user chose is moved: see [`Engine::run_chosen`](crate::Engine::run_chosen).
    MoveEntry,
    /// An entry that the user chose is deleted for good: see [`Engine::run_chosen`](crate::Engine::run_chosen).
    DeleteEntry,
}

impl ActionKind {
    pub(crate) const ALL: [Self; 13] = [
        Self::Hardlink,
        Self::Reflink,
        Self::Symlink,
        Self::Delete,
        Self::Move,
        Self::Trash,
        Self::Replace,
        Self::Create,
        Self::SetMetadata,
        Self::RemoveLink,
        Self::RemoveDirectory,
        Self::MoveEntry,
        Self::DeleteEntry,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hardlink => "hardlink",
            Self::Reflink => "reflink",
            Self::Symlink => "symlink",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Trash => "trash",
            Self::Replace => "replace",
            Self::Create => "create",
            Self::SetMetadata => "set-metadata",
            Self::RemoveLink => "remove-link",
            Self::RemoveDirectory => "remove-directory",
            Self::MoveEntry => "move-entry",
            Self::DeleteEntry => "delete-entry",
        }
    }

    /// Returns whether the victim itself gets another name.
    pub fn moves(self) -> bool {
        matches!(self, Self::Move | Self::Trash | Self::MoveEntry)
    }

    /// Returns whether the victim's name is removed.
    pub(crate) fn removes(self) -> bool {
        self == Self::Delete || self.moves()
    }

    /// Returns whether the victim's name gets a new file, which the journal describes once it is complete.
    pub(crate) fn makes_a_file(self) -> bool {
        matches!(self, Self::Replace | Self::Create)
    }

    /// Returns whether undo copies content back.
    pub(crate) fn copies_back(self) -> bool {
        self.loses_metadata() || self == Self::Replace
    }

    /// Returns whether the victim's inode goes, with metadata that undo has to set again.
    pub(crate) fn loses_metadata(self) -> bool {
        matches!(self, Self::Hardlink | Self::Symlink | Self::Delete)
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

/// Requirements on a victim besides equal content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ActionOptions {
    /// Whether [`Action::Hardlink`] and [`Action::Symlink`] may replace the victim's owner, permissions,
    /// access control list and extended attributes by different ones of the keeper. Even then, no name
    /// becomes set-user-ID or set-group-ID.
    pub metadata_may_differ: bool,
    /// Whether [`Action::Reflink`] may change files on read-only subvolumes, such as snapshots. The kernel permits it.
    pub into_snapshots: bool,
}

/// Bytes on the disk that an action has freed.
///
/// For a reflink, these are the bytes that only the victim used before, and that it now shares. If the file
/// system does not report shared blocks, they are all bytes of the victim.
///
/// For the other actions, these are the bytes that only the victim used, if its last name was removed, and
/// otherwise 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Freed(
    /// The number of bytes, which may differ from the length of the file.
    pub u64,
);
