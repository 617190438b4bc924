//! Files as a scan saw them, and steps that remove one in favour of another.

use std::sync::Arc;

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
    /// The copies that must exist besides, if the keeper alone is not enough.
    pub copies: Option<Arc<Copies>>,
    /// Whether the step is carried out only together with the next one. Such steps are all proven before the first is
    /// carried out, and if one is refused, all are.
    pub with_next: bool,
}

/// Copies that stay, and how many of them must be proven before a victim is removed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The copies, the preferred ones first. The keeper may be one of them. Further kept copies may follow that no
    /// requirement names: the journal records them, so that undo can copy a deleted file back from any of them.
    pub files: Vec<Seen>,
    /// The requirements. A step is refused unless all are met.
    pub needs: Vec<Need>,
}

/// A requirement: so many of these copies must be different files with the victim's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The number of copies.
    pub count: usize,
    /// Indices into [`Copies::files`].
    pub among: Vec<usize>,
}

impl Step {
    /// Creates a step that needs no copy besides the keeper.
    pub fn new(victim: Seen, keeper: Seen) -> Self {
        Self { victim, keeper, copies: None, with_next: false }
    }
}
