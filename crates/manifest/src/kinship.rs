//! What ties a tree to its record if its file system is not the recorded one.

use ftk_file::{FsId, Stat};
use ftk_process::FileSystems;

use crate::{Entry, Field};

/// Why inode numbers in a tree can be compared with those of its record, although they are on another file system or
/// subvolume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinship {
    /// They cannot.
    #[default]
    None,
    /// The subvolumes that contain the recorded root and the present one are states of [one
    /// history](crate::Provenance::is_history_of).
    History {
        /// The recorded subvolume.
        fs: FsId,
        /// The device number of the present one.
        dev: u64,
    },
    /// The user says that the root is a snapshot of what the manifest records.
    SnapshotOf,
}

impl Kinship {
    /// Returns the record of an entry that was not examined as one of the present subvolume: together with the others
    /// it would be of no use in the next update.
    pub(crate) fn present<'e>(self, old: Entry<'e>, file_systems: &FileSystems) -> Entry<'e> {
        match self {
            Self::History { fs, dev } if old.fs == Some(fs) => {
                Entry { fs: file_systems.id(dev), stat: Stat { dev, ..old.stat }, ..old }
            }
            _ => old,
        }
    }

    /// Returns whether a recorded entry and a present one on the device `dev` are on one file system, as far as the
    /// meaning of inode numbers goes.
    ///
    /// A device number changes when a file system is mounted again, and another one can get it. So it counts only if
    /// the record has no identity.
    pub(crate) fn connects(self, old: &Entry<'_>, dev: u64, file_systems: &FileSystems) -> bool {
        match (self, old.fs, file_systems.id(dev)) {
            (Self::SnapshotOf, ..) => true,
            (Self::History { fs, dev: root }, Some(old), _) if (fs, root) == (old, dev) => true,
            (_, Some(old), Some(now)) => old == now,
            (_, Some(_), None) => false,
            (_, None, _) => old.knows(Field::Dev) && old.stat.dev == dev,
        }
    }
}
