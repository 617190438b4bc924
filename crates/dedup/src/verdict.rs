//! What a plan says of each member, and why.

use std::fmt;

#[cfg(doc)]
use crate::{KeepRule, KeepRules, Member};

/// What becomes of each member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDecision {
    /// In the order of the members.
    pub verdicts: Vec<MemberDecision>,
}

/// What becomes of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberDecision {
    /// It stays because the rules want it.
    Stays(Why),
    /// It may go, as do all other names of its file.
    Goes {
        /// The member in whose favour: a name of another file, which stays. On the same device where one is.
        keeper: usize,
        /// Names of its file that are not in the group. If there are any, nothing is freed.
        outside: u64,
        /// Bytes on the disk that are freed with this name when the names of its file before it, in the order
        /// of [`Member`], are gone: those of the whole file for the last one, else 0.
        frees: u64,
    },
    /// It would go, but for this.
    Left(Left),
}

/// Why a member stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It lies below a reference.
    Reference,
    /// It is the first in the order of arguments and paths: by [`KeepRule::First`], or because no rule finds a
    /// difference.
    First,
    /// [`KeepRule::Oldest`] prefers it to all that go.
    Oldest,
    /// [`KeepRule::Newest`] does.
    Newest,
    /// [`KeepRule::Shortest`] does.
    Shortest,
    /// [`KeepRule::Path`] does.
    Path,
    /// There are no more copies than have to stay, or none that may go.
    Enough,
    /// It is another name of a file that stays.
    SameFile,
}

/// Why a member that the rules do not want is not touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// [`KeepRules::isolate`]: its file has a name below the same starting point as a copy that stays.
    Isolated,
    /// Its path, or another one of its file, is a symbolic link.
    ViaLink,
    /// The group has more names of its file than the file has links. They may be names of several files, or one
    /// name seen twice: device and inode number are no identity here.
    Unidentified,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reference => "below a --reference",
            Self::First => "first",
            Self::Oldest => "oldest",
            Self::Newest => "newest",
            Self::Shortest => "shortest path",
            Self::Path => "matches --keep path=",
            Self::Enough => "needed as a copy",
            Self::SameFile => "name of the same file",
        })
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Isolated => "below the same argument as a copy that stays",
            Self::ViaLink => "reached through a symbolic link",
            Self::Unidentified => "has more names than links, so its inode number does not identify it",
        })
    }
}
