//! What a table is to hold.

use ftk_walk::FileType;

/// What goes into the table. All parts of one walk must be told the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Regular files only, without a `stat`.
    Files,
    /// Regular files only, each with its size, its true device and inode number, and whether it has further hard
    /// links: one `stat` a file. A file that cannot be asked is an error and not in the table.
    Sizes,
    /// Every entry, directories and roots included, without a `stat`.
    All,
    /// Every entry, with what `stat` says of each that is not a regular file, and where symbolic links lead that
    /// are not followed. An entry that cannot be asked is an error and not in the table.
    Stats {
        /// Whether regular files are asked too.
        files: bool,
    },
}

impl Keep {
    /// Whether entries of this type go into the table.
    pub(crate) fn matches(self, file_type: FileType) -> bool {
        match self {
            Self::Files | Self::Sizes => file_type == FileType::Regular,
            Self::All | Self::Stats { .. } => true,
        }
    }

    /// Whether entries of this type, if they are taken, are asked what `stat` says.
    pub(crate) fn asks_about(self, file_type: FileType) -> bool {
        match self {
            Self::Files | Self::All => false,
            Self::Sizes => true,
            Self::Stats { files } => files || file_type != FileType::Regular,
        }
    }

    /// Whether anything is asked.
    pub(crate) fn asks(self) -> bool {
        matches!(self, Self::Sizes | Self::Stats { .. })
    }
}
