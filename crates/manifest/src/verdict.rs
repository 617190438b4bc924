//! The results for single entries.

use std::fmt;
use std::io;
use std::ops::AddAssign;

use ftk_inventory::FileNo;
use ftk_walk::FileType;

use crate::{Criteria, Entry, Field, Shift};

/// The result for an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything that is compared is the same.
    Ok,
    /// Only the name differs: it is in another Unicode normal form. Everything else that is compared is the same.
    Respelled,
    /// The content is the same, as far as it was compared; other fields differ.
    Metadata,
    /// The content differs, and so does the size, the mtime or the type: a normal change.
    Modified,
    /// The content differs although size and mtime are the same: a storage error, or a concealed change. Of a file that may
    /// have been [incomplete](Entry::is_unsettled) in a snapshot, it is a normal change.
    Corrupted,
    /// The path no longer exists, and a new path has the content.
    Moved,
    /// The path no longer exists.
    Missing,
    /// The path was not recorded.
    New,
    /// The entry cannot be read, or changed while being read.
    Unreadable,
    /// A record could not be made of the path or of a directory above it, so nothing shows whether it was added, removed or
    /// moved.
    Unknown,
}

impl Verdict {
    /// All verdicts, in the order they are listed to users.
    pub const ALL: [Self; 10] = [
        Self::Ok,
        Self::Respelled,
        Self::Metadata,
        Self::Modified,
        Self::Corrupted,
        Self::Moved,
        Self::Missing,
        Self::New,
        Self::Unreadable,
        Self::Unknown,
    ];

    /// Returns the word for it in the output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Metadata => "metadata",
            Self::Respelled => "respelled",
            Self::Modified => "modified",
            Self::Corrupted => "corrupted",
            Self::Moved => "moved",
            Self::Missing => "missing",
            Self::New => "new",
            Self::Unreadable => "unreadable",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the verdict on two entries at the same path that differ in the fields `changed`. An mtime that the
    /// shift explains counts as unchanged.
    pub(crate) fn of(old: &Entry<'_>, new: &Entry<'_>, changed: &[Field], shift: Option<&Shift>) -> Self {
        let is_content =
            |field: &Field| matches!(field, Field::Type | Field::Size | Field::Target | Field::Digests);
        // Even if size or mtime are not compared, they distinguish a normal change from corruption. If one is
        // not known, nothing shows that it did not change.
        let stat = |it: &Entry<'_>| (it.stat.file_type, it.stat.size);
        let is_same_time = is_same_time(old, new, shift);
        let is_known = |it: &Entry<'_>| it.knows_all(&[Field::Size, Field::Mtime]);
        match () {
            () if changed.is_empty() => Self::Ok,
            () if !changed.iter().any(is_content) => Self::Metadata,
            () if stat(old) != stat(new) || !is_same_time || !is_known(old) || !is_known(new) => {
                Self::Modified
            }
            () if is_unsettled(old, new) => Self::Modified,
            () => Self::Corrupted,
        }
    }
}

/// Returns whether the content of a file differs, and the record does not show whether that is an edit or damage: it
/// lacks the size or the time and nothing that it has differs, it is marked as damaged and only the time differs, or the
/// file may have been [incomplete](Entry::is_unsettled) in a snapshot and nothing but its content differs.
pub(crate) fn is_undecided(old: &Entry<'_>, new: &Entry<'_>, shift: Option<&Shift>) -> bool {
    let sizes = old.size().zip(new.size());
    let is_known = |field| old.knows(field) && new.knows(field);
    old.stat.is_regular()
        && new.stat.is_regular()
        && old.digests != new.digests
        && sizes.is_none_or(|(old, new)| old == new)
        && match is_known(Field::Size) && is_known(Field::Mtime) {
            true => match is_same_time(old, new, shift) {
                true => is_unsettled(old, new),
                false => old.damaged_ns.is_some(),
            },
            false => !is_known(Field::Mtime) || is_same_time(old, new, shift),
        }
}

/// Returns whether a file may have been incomplete on one of both sides, and is not known to be damaged.
fn is_unsettled(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    (old.is_unsettled || new.is_unsettled) && old.damaged_ns.is_none()
}

/// Returns whether two entries have the same mtime, or different ones that the shift explains.
pub(crate) fn is_same_time(old: &Entry<'_>, new: &Entry<'_>, shift: Option<&Shift>) -> bool {
    let (old_ns, new_ns) = (old.stat.mtime_ns, new.stat.mtime_ns);
    old_ns == new_ns || shift.is_some_and(|shift| shift.explains(old_ns, new_ns))
}

/// Returns whether the hard links of an entry are compared: it is no directory, and has the recorded type.
pub(crate) fn compares_links(old: &Entry<'_>, new: FileType) -> bool {
    old.stat.file_type == new && new != FileType::Directory
}

/// Notes in `changed` that an entry is a hard link of different paths. `first`: the first path of its file among those that
/// were compared, in the record and now.
pub(crate) fn note_links<'e>(
    changed: &mut Vec<Field>,
    [old, new]: [&mut Entry<'e>; 2],
    first: [&'e [u8]; 2],
) {
    [old.link_group, new.link_group] = first.map(|first| Some(first).filter(|first| *first != old.path));
    changed.push(Field::LinkGroup);
    changed.sort_unstable();
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One result of a verification or a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Finding<'f> {
    /// The verdict.
    pub verdict: Verdict,
    /// The path below the root; for a moved file, the recorded path.
    pub path: &'f [u8],
    /// The present path of a moved file, and of an entry that has the same path in another Unicode normal form.
    pub new_path: Option<&'f [u8]>,
    /// Whether the name is in another Unicode normal form, and that counts as a difference.
    pub is_respelled: bool,
    /// The recorded type, or the present type of a new entry.
    pub file_type: FileType,
    /// The recorded entry. `None` for a new entry.
    pub old: Option<Entry<'f>>,
    /// The present entry. `None` for an entry that is missing, moved or unreadable; and for a new entry of a
    /// tree if the walk has not kept its metadata.
    pub new: Option<Entry<'f>>,
    /// The compared fields in which the two entries differ; of an unreadable entry, what could not be read, if that is known.
    pub changed: &'f [Field],
    /// The file that could not be read. The reason was reported when it was read.
    pub file: Option<FileNo>,
    /// Why it could not be read, if the failure was not in reading the content.
    pub error: Option<&'f io::Error>,
}

impl<'f> Finding<'f> {
    /// Creates a finding about a regular file of which nothing else is known.
    pub(crate) fn new(verdict: Verdict, path: &'f [u8]) -> Self {
        Self {
            verdict,
            path,
            new_path: None,
            is_respelled: false,
            file_type: FileType::Regular,
            old: None,
            new: None,
            changed: &[],
            file: None,
            error: None,
        }
    }
}

impl<'f> Finding<'f> {
    /// Adds the path of an entry in its own spelling, if that is another one. `is_respelled`: whether its name differs.
    pub(crate) fn spelled(self, own_path: Option<&'f [u8]>, is_respelled: bool, criteria: &Criteria) -> Self {
        let is_respelled = is_respelled && !criteria.normalize_names;
        let verdict = if is_respelled { self.verdict.max(Verdict::Respelled) } else { self.verdict };
        Self { verdict, new_path: own_path, is_respelled, ..self }
    }
}

/// Creates a finding about a recorded entry.
pub(crate) fn finding<'f>(verdict: Verdict, old: &Entry<'f>) -> Finding<'f> {
    Finding { file_type: old.stat.file_type, old: Some(*old), ..Finding::new(verdict, old.path) }
}

/// The number of entries per verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    counts: [u64; Verdict::ALL.len()],
    /// The number of regular files that are `Ok` although their content was not compared. A verification
    /// counts only those with recorded digests.
    pub unread: u64,
    /// A shift of nearly all times, if times are compared. The differences that it explains are not counted.
    pub shift: Option<Shift>,
    /// The number of files with several recorded names, if there are no hard links at all now. These differences are not
    /// counted otherwise.
    pub split_links: u64,
    /// The number of modified files of which nothing shows whether they were edited or are damaged: a record lacks the
    /// size or the time and nothing that it has differs, or it is marked as damaged and only the time differs.
    pub undecided: u64,
    /// The number of modified files that were corrupted if [ignored](Criteria::ignore) times counted.
    pub untimed: u64,
    /// The number of entries with extended attributes that only root sees, and that were not compared: the process that
    /// recorded them, or this one, does not see those of others.
    pub hidden_xattrs: u64,
    /// The number of entries whose names are in another Unicode normal form, whatever their verdicts, if that counts as a
    /// difference.
    pub respelled: u64,
    /// The number of entries outside the [part](Criteria::part) that was compared. Nothing else counts them.
    pub unselected: u64,
    /// The number of files that may only grow and of which the recorded bytes were read, or could not be.
    pub growing: u64,
    /// How many bytes of them were read.
    pub growing_bytes: u64,
}

impl Summary {
    /// Returns the number of entries with this verdict. A moved file counts once.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.counts[verdict as usize]
    }

    /// Returns the number of all entries.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn add(&mut self, verdict: Verdict) {
        self.counts[verdict as usize] += 1;
    }

    /// Counts so many files as moved that were counted as missing and as new.
    pub(crate) fn join_moved(&mut self, files: u64) {
        self.counts[Verdict::Missing as usize] -= files;
        self.counts[Verdict::New as usize] -= files;
        self.counts[Verdict::Moved as usize] += files;
    }

    /// Counts a finding.
    pub(crate) fn note(&mut self, finding: &Finding<'_>, shift: Option<&Shift>) {
        self.add(finding.verdict);
        self.respelled += u64::from(finding.is_respelled);
        let is_undecided = finding.verdict == Verdict::Modified
            && finding.changed.contains(&Field::Digests)
            && finding
                .old
                .as_ref()
                .zip(finding.new.as_ref())
                .is_some_and(|(old, new)| is_undecided(old, new, shift));
        self.undecided += u64::from(is_undecided);
    }

    /// Adds entries that are `Ok`; the content of `unread` of them was not compared.
    pub(crate) fn add_same(&mut self, entries: u64, unread: u64) {
        self.counts[Verdict::Ok as usize] += entries;
        self.unread += unread;
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.unread += other.unread;
        self.shift = self.shift.or(other.shift);
        self.split_links += other.split_links;
        self.undecided += other.undecided;
        self.untimed += other.untimed;
        self.hidden_xattrs += other.hidden_xattrs;
        self.respelled += other.respelled;
        self.unselected += other.unselected;
        self.growing += other.growing;
        self.growing_bytes += other.growing_bytes;
    }
}
