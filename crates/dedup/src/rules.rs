//! What is to be kept.

use std::collections::BTreeSet;
use std::fmt;

/// Which copies of a content stay.
#[derive(Debug, Default)]
pub struct KeepRules {
    /// In the order of their weight: a later one decides only where all earlier ones find no difference, and
    /// [`KeepRule::First`] where none does.
    pub keep: Vec<KeepRule>,
    /// Starting points below which everything stays, and counts as a copy.
    pub references: BTreeSet<usize>,
    /// Whether a copy goes only if one stays below another starting point: those beside a copy that was
    /// chosen to stay are left alone.
    pub isolate: bool,
    /// How many copies stay at least, each an inode of its own; 0 counts as 1.
    pub min_copies: usize,
}

/// Prefers one name to another.
pub enum KeepRule {
    /// The first in the order of the starting points, then of paths.
    First,
    /// The one whose content has not been changed for longest.
    Oldest,
    /// The one whose content was changed last.
    Newest,
    /// The one whose path has the fewest bytes.
    Shortest,
    /// One whose whole path the predicate accepts.
    Path(PathTest),
}

/// Says whether a path, in bytes, is wanted.
pub type PathTest = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

impl fmt::Debug for KeepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "First",
            Self::Oldest => "Oldest",
            Self::Newest => "Newest",
            Self::Shortest => "Shortest",
            Self::Path(_) => "Path",
        })
    }
}
