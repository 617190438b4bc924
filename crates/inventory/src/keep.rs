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
    /// Regular files as with `Sizes`, and all other entries: directories, links that are not followed with their
    /// targets, and special files. The table knows which directories it has whole.
    Tree,
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
            Self::Tree | Self::All | Self::Stats { .. } => true,
        }
    }

    /// Returns whether starting points of this type go into the table as entries.
    pub(crate) fn matches_start(self, file_type: FileType) -> bool {
        match self {
            Self::Tree => file_type == FileType::Regular,
            _ => self.matches(file_type),
        }
    }

    /// Returns whether entries of this type need a `stat`, if they go into the table.
    pub(crate) fn needs_stat_for(self, file_type: FileType) -> bool {
        match self {
            Self::Files | Self::All => false,
            Self::Sizes | Self::Times => true,
            Self::Tree => file_type != FileType::Directory,
            Self::Stats { files } => files || file_type != FileType::Regular,
        }
    }

    /// Returns whether the table has a column with the sizes of files, and not their whole metadata.
    pub(crate) fn has_sizes_in_columns(self) -> bool {
        matches!(self, Self::Sizes | Self::Times | Self::Tree)
    }

    /// Returns whether entries of any type need a `stat`.
    pub(crate) fn needs_stat(self) -> bool {
        matches!(self, Self::Sizes | Self::Times | Self::Tree | Self::Stats { .. })
    }
}
