//! Rules that decide which copies stay.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use super::Why;
use crate::Member;

/// Rules that decide which copies stay. [`Standing`](super::Standing) protects further ones.
#[derive(Default)]
pub struct KeepRules {
    /// The rules in order of precedence. A rule decides only if all earlier ones find no difference. If no rule decides,
    /// the default order does: not in a hidden directory, not on a read-only file system, the oldest (files only), the
    /// shortest path, the first path in byte order. A copy in a trash or system directory is preferred to none outside,
    /// whatever the rules say, unless a [`KeepRule::Path`] accepts it. So is a copy on a read-only file system or subvolume,
    /// unless `names_survive`.
    pub keep: Vec<KeepRule>,
    /// Whether a copy is removed only if another copy stays below a different starting point. Copies below
    /// the same starting point as a copy chosen to stay are skipped.
    pub isolate: bool,
    /// The minimum number of copies that stay, where hard links count as one; 0 counts as 1.
    pub min_copies: usize,
    /// Tests for members. One copy that each of them accepts stays, if there is one.
    pub one_per: Vec<MemberTest>,
    /// Paths that the user chose. Their files stay. In a group with such a file, all others are removed, except
    /// protected ones and copies that other rules ask for.
    pub chosen: HashSet<Vec<u8>>,
    /// Whether surplus copies become links or clones of kept ones, so that every name still has its content. Then files are
    /// preferred, after the rules and before the default order, whose blocks stay in use anyway: they have names outside of
    /// the group, or share blocks with other files.
    pub names_survive: bool,
    /// Whether files on read-only subvolumes may be changed, which only clones can do.
    pub into_snapshots: bool,
}

impl fmt::Debug for KeepRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeepRules")
            .field("keep", &self.keep)
            .field("isolate", &self.isolate)
            .field("min_copies", &self.min_copies)
            .field("one_per", &self.one_per.len())
            .field("chosen", &self.chosen)
            .field("names_survive", &self.names_survive)
            .field("into_snapshots", &self.into_snapshots)
            .finish()
    }
}

/// A rule that prefers one name to another.
pub enum KeepRule {
    /// Prefers the first in the order of starting points, then of paths.
    First,
    /// Prefers the one below the first starting point. Unlike [`First`](Self::First), it does not decide between
    /// files below the same one.
    Argument,
    /// Prefers the one with the fewest directories in its path.
    Shallowest,
    /// Prefers the one with the most directories in its path.
    Deepest,
    /// Prefers the one with the earliest modification time.
    Oldest,
    /// Prefers the one with the latest modification time.
    Newest,
    /// Prefers the one with the fewest bytes in its path.
    Shortest,
    /// Prefers one that the predicate accepts.
    Path(MemberTest),
}

/// A predicate for members.
pub type MemberTest = Box<dyn Fn(&Member) -> bool>;

impl KeepRule {
    /// The names of all rules but [`Path`](Self::Path).
    pub const NAMES: [&str; 7] =
        ["first", "argument", "oldest", "newest", "shortest", "shallowest", "deepest"];

    /// Returns the rule with this name.
    pub fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"first" => Self::First,
            b"argument" => Self::Argument,
            b"oldest" => Self::Oldest,
            b"newest" => Self::Newest,
            b"shortest" => Self::Shortest,
            b"shallowest" => Self::Shallowest,
            b"deepest" => Self::Deepest,
            _ => return None,
        })
    }

    /// Returns the reason for keeping a file that this rule prefers.
    pub(super) fn why(&self) -> Why {
        match self {
            Self::First => Why::First,
            Self::Argument => Why::Argument,
            Self::Shallowest => Why::Shallowest,
            Self::Deepest => Why::Deepest,
            Self::Oldest => Why::Oldest,
            Self::Newest => Why::Newest,
            Self::Shortest => Why::Shortest,
            Self::Path(_) => Why::Path,
        }
    }
}

impl fmt::Debug for KeepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.why(), f)
    }
}

impl KeepRules {
    /// Returns the numbers of the rules [`KeepRule::Path`], and whether each accepts one of the members. Without members,
    /// there is nothing to protect, so all count as used.
    pub fn used_paths(&self, members: impl Iterator<Item = Member>) -> BTreeMap<usize, bool> {
        let mut members = members.peekable();
        let has_none = members.peek().is_none();
        let paths = self.keep.iter().enumerate().filter(|(_, rule)| matches!(rule, KeepRule::Path(_)));
        let mut used: BTreeMap<_, _> = paths.map(|(nth, _)| (nth, has_none)).collect();
        for member in members {
            if used.values().all(|is_used| *is_used) {
                break;
            }
            for (nth, is_used) in &mut used {
                *is_used |= matches!(&self.keep[*nth], KeepRule::Path(accepts) if accepts(&member));
            }
        }
        used
    }
}
