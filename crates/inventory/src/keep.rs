//! The contents of a table.

use ftk_walk::FileType;

/// What a table contains. It must be the same for all parts of one walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Regular files only, without a `stat`.
    Files,
    /// Regular files only, each with size, device, inode number, and whether it has more than one hard link.
    ///
    /// This costs one `stat` per file. If that fails, it is an error, and the file is not in the table.
    Sizes,
    /// The same as `Sizes`, and the times of the last changes to content and inode.
    Times,
    /// Every entry, including directories and starting points, without a `stat`.
    All,
    /// Every entry, with the metadata of each that is not a regular file, and the targets of links that are
    /// not followed.
    ///
    /// If `stat` fails, it is an error, and the entry is not in the table.
    Stats {
        /// Whether regular files have metadata too.
        files: bool,
    },
}

impl Keep {
    /// Returns whether entries of this type go into the table.
    pub(crate) fn matches(self, file_type: FileType) -> bool {
        match self {
            Self::Files | Self::Sizes | Self::Times => file_type == FileType::Regular,
            Self::All | Self::Stats { .. } => true,
        }
    }

    /// Returns whether entries of this type need a `stat`, if they go into the table.
    pub(crate) fn needs_stat_for(self, file_type: FileType) -> bool {
        match self {
            Self::Files | Self::All => false,
            Self::Sizes | Self::Times => true,
            Self::Stats { files } => files || file_type != FileType::Regular,
        }
    }

    /// Returns whether entries of any type need a `stat`.
    pub(crate) fn needs_stat(self) -> bool {
        matches!(self, Self::Sizes | Self::Times | Self::Stats { .. })
    }
}
