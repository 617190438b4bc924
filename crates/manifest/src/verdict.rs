//! What is said of an entry.

use std::fmt;
use std::io;
use std::ops::AddAssign;

use ftk_inventory::FileNo;
use ftk_walk::FileType;

use crate::{Entry, Field};

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything that is compared is the same.
    Ok,
    /// The content is the same as far as it was compared, something else is not.
    Metadata,
    /// The content is another one, and so is the size, the time or the type: somebody changed it.
    Modified,
    /// The content is another one although size and time are not: it has rotted, or somebody hides a change.
    Corrupted,
    /// Its content is gone from its path and found at a path that is new.
    Moved,
    /// Nothing is at its path any more.
    Missing,
    /// It is at a path that was not recorded.
    New,
    /// It cannot be looked at or read, or changed while it was read.
    Unreadable,
}

impl Verdict {
    /// All of them, in the order they are listed to users.
    pub const ALL: [Self; 8] = [
        Self::Ok,
        Self::Metadata,
        Self::Modified,
        Self::Corrupted,
        Self::Moved,
        Self::Missing,
        Self::New,
        Self::Unreadable,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Metadata => "metadata",
            Self::Modified => "modified",
            Self::Corrupted => "corrupted",
            Self::Moved => "moved",
            Self::Missing => "missing",
            Self::New => "new",
            Self::Unreadable => "unreadable",
        }
    }

    /// What to say of two entries at the same path that differ in these compared fields.
    pub(crate) fn of(old: &Entry<'_>, new: &Entry<'_>, changed: &[Field]) -> Self {
        let is_content =
            |field: &Field| matches!(field, Field::Type | Field::Size | Field::Target | Field::Digests);
        // Ignored or not, size and time are what tells a change from rot.
        let stat = |it: &Entry<'_>| (it.stat.file_type, it.stat.size, it.stat.mtime_ns);
        match () {
            () if changed.is_empty() => Self::Ok,
            () if !changed.iter().any(is_content) => Self::Metadata,
            () if stat(old) != stat(new) => Self::Modified,
            () => Self::Corrupted,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One record of a verification or a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'f> {
    /// What became of the entry.
    pub verdict: Verdict,
    /// Its path below the root; of what moved, the recorded one.
    pub path: &'f [u8],
    /// Where it is now, if it has moved.
    pub new_path: Option<&'f [u8]>,
    /// Its type: the recorded one, unless it is new.
    pub file_type: FileType,
    /// What was recorded of it. Nothing of what is new.
    pub old: Option<Entry<'f>>,
    /// What is known of it now. Nothing of what is gone or moved, or cannot be looked at; and of what is new in a
    /// tree only if the walk kept it.
    pub new: Option<Entry<'f>>,
    /// The compared fields in which it differs.
    pub changed: &'f [Field],
    /// The file that could not be read, by which whoever read it knows why.
    pub file: Option<FileNo>,
    /// Why it could not be looked at otherwise.
    pub error: Option<&'f io::Error>,
}

/// A verdict on what was recorded.
pub(crate) fn finding<'f>(verdict: Verdict, old: &Entry<'f>) -> Finding<'f> {
    Finding {
        verdict,
        path: old.path,
        new_path: None,
        file_type: old.stat.file_type,
        old: Some(*old),
        new: None,
        changed: &[],
        file: None,
        error: None,
    }
}

/// How often each verdict was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    counts: [u64; Verdict::ALL.len()],
    /// Regular files among those that are `Ok` whose content was recorded and not compared.
    pub unread: u64,
}

impl Summary {
    /// How many entries got this verdict. What moved counts once.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.counts[verdict as usize]
    }

    /// How many entries there are in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        self.counts[verdict as usize] += 1;
    }

    /// Adds entries that are `Ok`, and of how many of them the content was not compared.
    pub(crate) fn add_same(&mut self, entries: u64, unread: u64) {
        self.counts[Verdict::Ok as usize] += entries;
        self.unread += unread;
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.unread += other.unread;
    }
}
