//! The decision for each member of a group, and the reason.

use std::collections::BTreeSet;
use std::fmt;

#[cfg(doc)]
use super::{KeepRule, KeepRules};
use crate::Member;

/// The decisions for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDecision {
    /// One decision for each member, in the order of the members.
    pub decisions: Vec<MemberDecision>,
    /// Indices into [`KeepRules::keep`]: the rules that decided between a kept and a removed file.
    pub decided: BTreeSet<usize>,
    /// Indices into [`KeepRules::one_per`]: the tests that keep a file which would be removed without them.
    pub kept_one: BTreeSet<usize>,
    /// The members that each removal counts on, by their indices. `None` if that is only its keeper.
    pub copies: Option<Copies<usize>>,
}

/// Copies that stay, and how many of them must be proven before another copy is removed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies<M> {
    /// The copies, the preferred ones first. The keeper may be one of them. After those that a requirement names, further
    /// kept copies may follow, from which a removed file can be restored.
    pub files: Vec<M>,
    /// The requirements, all of which must be met.
    pub needs: Vec<Need>,
}

/// A requirement: so many of these copies must be different files with the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The number of copies.
    pub count: usize,
    /// Indices into [`Copies::files`].
    pub among: Vec<usize>,
}

impl Copies<usize> {
    /// Returns the copies themselves.
    pub(crate) fn of(self, members: &[Member]) -> Copies<Member> {
        Copies { files: self.files.iter().map(|&nth| members[nth].clone()).collect(), needs: self.needs }
    }
}

impl GroupDecision {
    /// Adds all members that stay to the copies, unless there is only one. A removed file can be restored from any of them.
    pub(crate) fn add_all_kept(&mut self, members: &[Member]) {
        let stays = |nth: &usize| {
            !matches!(self.decisions[*nth], MemberDecision::Goes { .. }) && !members[*nth].via_link
        };
        let kept: Vec<_> = (0..members.len()).filter(stays).collect();
        if kept.len() > 1 {
            let copies = self.copies.get_or_insert(Copies { files: Vec::new(), needs: Vec::new() });
            let known: BTreeSet<_> = copies.files.iter().copied().collect();
            copies.files.extend(kept.into_iter().filter(|nth| !known.contains(nth)));
        }
    }
}

/// The decision for one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberDecision {
    /// The member stays.
    Stays(Why),
    /// The member may be removed, together with all other names of its file.
    Goes {
        /// The index of the kept member: a name of another file that stays, on the same device if possible.
        keeper: usize,
        /// How many hard links of the file are not in the group. If there are any, removing the member frees
        /// no space.
        outside: u64,
        /// Disk space freed by removing this name after all earlier names of its file, in bytes. In the order
        /// of [`Member`], the last name frees the whole file; all others free 0.
        frees: u64,
    },
    /// The member is not needed but must not be removed, for this reason.
    Skipped(SkipReason),
}

/// Why a member stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is below a reference.
    Reference,
    /// It is inside a directory that stays as a whole.
    InKept,
    /// [`KeepRule::First`]: it is first in the order of starting points and paths.
    First,
    /// [`KeepRule::Argument`] prefers it to all members that are removed.
    Argument,
    /// [`KeepRule::Shallowest`] prefers it to all members that are removed.
    Shallowest,
    /// [`KeepRule::Deepest`] prefers it to all members that are removed.
    Deepest,
    /// [`KeepRule::Oldest`] prefers it to all members that are removed.
    Oldest,
    /// [`KeepRule::Newest`] prefers it to all members that are removed.
    Newest,
    /// [`KeepRule::Shortest`] prefers it to all members that are removed.
    Shortest,
    /// [`KeepRule::Path`] prefers it to all members that are removed.
    Path,
    /// The user chose it.
    Chosen,
    /// Its blocks stay in use anyway, and those of the others become free.
    Held,
    /// The removed members are in trash or system directories.
    NotTrash,
    /// The removed members are in hidden directories.
    NotHidden,
    /// The removed members are in more hidden directories.
    LessHidden,
    /// The other members are on a read-only file system or subvolume.
    Writable,
    /// It is the first path in byte order.
    ByteOrder,
    /// It is the preferred copy that one of [`KeepRules::one_per`] accepts.
    OnePer,
    /// All copies are needed, or no other copy may be removed.
    Enough,
    /// It is another name of a file that stays.
    SameFile,
    /// It is a directory with hard links of the files of one that stays.
    Linked,
    /// It already shares all its blocks with the kept file.
    Shares,
}

/// Why a member that is not needed is not removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// By [`KeepRules::isolate`]: its file has a name below the same starting point as a copy that stays.
    Isolated,
    /// Its path, or another path of its file, is a symbolic link.
    ViaLink,
    /// The group has more names of its file than the file has hard links. The names may belong to several
    /// files, or one name may be listed twice. The inode number does not identify the file.
    Unidentified,
    /// To link or to clone it would free nothing.
    FreesNothing,
    /// A name of its file is on a read-only file system or subvolume.
    ReadOnly,
    /// It is in a read-only subvolume, and would be cloned with [`KeepRules::into_snapshots`].
    Snapshot,
    /// It is one of several directories with the same contents under other names.
    OtherNames,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reference => "below a --reference",
            Self::InKept => "in a directory that stays as a whole",
            Self::First => "first",
            Self::Argument => "below the first PATH",
            Self::Shallowest => "fewest directories",
            Self::Deepest => "most directories",
            Self::Oldest => "oldest",
            Self::Newest => "newest",
            Self::Shortest => "shortest path",
            Self::Path => "matches --keep path=",
            Self::Chosen => "chosen",
            Self::Held => "other links, or files that share its blocks, keep these in use",
            Self::NotTrash => "not in a trash or system directory",
            Self::NotHidden => "not in a hidden directory",
            Self::LessHidden => "in fewer hidden directories",
            Self::Writable => "not on a read-only file system",
            Self::ByteOrder => "first in byte order",
            Self::OnePer => "kept by --keep-one-per",
            Self::Enough => "needed as a copy",
            Self::SameFile => "name of the same file",
            Self::Linked => "contains hard links of the kept files",
            Self::Shares => "already shares its blocks",
        })
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Isolated => "below the same PATH as a copy that stays",
            Self::ViaLink => "reached through a symbolic link",
            Self::Unidentified => "has more paths than hard links, so its inode number does not identify it",
            Self::FreesNothing => "frees nothing: other links or files have its blocks, or it has none",
            Self::ReadOnly => "on a read-only file system, mount or subvolume",
            Self::Snapshot => {
                "in a read-only subvolume, such as a snapshot: --into-snapshots permits to clone it"
            }
            Self::OtherNames => "the directories have different names in them",
        })
    }
}
