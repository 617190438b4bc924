//! Files as a scan saw them, and steps that remove one in favour of another.

use ftk_file::Version;

/// A file as a scan saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The path as scanned: the starting point joined with the path below it.
    pub path: Vec<u8>,
    /// Length of the starting point in `path`.
    ///
    /// Links in the starting point are followed once for the whole run; links below it are never followed.
    /// For a file that the user named itself, the starting point is the whole path. With 0, only the working
    /// directory is trusted, or the root directory for an absolute path.
    pub root_len: usize,
    /// The file and the version of its content.
    pub version: Version,
}

/// One unit of work: the victim is a copy of the keeper, and is removed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The file that loses its name or its blocks.
    pub victim: Seen,
    /// The file that is kept.
    pub keeper: Seen,
}
