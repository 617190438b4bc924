//! What a walk says about the tree as a whole: whether it is the recorded one, and how much of it is missing.

use std::ops::ControlFlow;

use ftk_file::Stat;
use ftk_process::FileSystems;

use crate::aligned::Aligned;
use crate::entry::ROOT;
use crate::merge::merge;
use crate::walked_tree::Seen;
use crate::{Entry, Error, Failed, Field, Header, Kinship, OtherRoot, Selector};

/// Counts for the guards of commands that change a manifest or a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The number of recorded entries below the root.
    pub recorded: u64,
    /// How many of them no longer exist. Entries below a directory that could not be listed do not count.
    pub missing: u64,
    /// Why the root is not the one that the entry `.` records.
    pub other_root: Option<OtherRoot>,
    /// Whether the header has a [`RootIdentity`](crate::RootIdentity). Then the entry counts only if it has a lasting one.
    is_identified: bool,
}

impl Survey {
    pub(crate) fn of(header: &Header) -> Self {
        Self { is_identified: header.root_identity.is_some(), ..Self::default() }
    }

    /// Counts all entries of a manifest that a part does not skip, whether it selects them or not: the walk looked for them.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub(crate) fn of_unskipped(
        aligned: &Aligned<'_>,
        part: &Selector,
        file_systems: &FileSystems,
    ) -> Result<Self, Error> {
        let mut survey = Self::of(aligned.manifest.header());
        merge(&mut aligned.entries()?, &mut aligned.walk(), |old, new| {
            if let Some(old) = old.map(|old| old.entry())
                && !part.skips(old.path)
            {
                survey.note(&old, new.map(|new| &new.seen), &aligned.failed, file_systems, Kinship::None);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(survey)
    }

    /// Counts a recorded entry, and what the walk found at its path.
    pub(crate) fn note(
        &mut self,
        old: &Entry<'_>,
        seen: Option<&Seen>,
        failed: &Failed,
        file_systems: &FileSystems,
        kinship: Kinship,
    ) {
        let is_root = old.path == ROOT;
        self.recorded += u64::from(!is_root);
        match seen {
            // Subvolumes and file systems differ. The header has the inode, too.
            Some(seen) if is_root && kinship != Kinship::None => {
                let is_other = old.knows(Field::Ino) && old.stat.ino != seen.stat().ino;
                self.other_root = is_other.then_some(OtherRoot::Inode);
            }
            Some(seen) if is_root => {
                self.other_root = lasting_difference(old, &seen.stat(), file_systems).unwrap_or_else(|| {
                    let is_other = !self.is_identified && differs_in_both(old, &seen.stat());
                    is_other.then_some(OtherRoot::FileSystem)
                });
            }
            Some(_) => {}
            None => self.missing += u64::from(!is_root && !failed.covers(old.path)),
        }
    }
}

/// Returns why a directory is not the recorded one, if the identities of both file systems are known.
pub(crate) fn lasting_difference(
    old: &Entry<'_>,
    now: &Stat,
    file_systems: &FileSystems,
) -> Option<Option<OtherRoot>> {
    let (then, today) = (old.fs?, file_systems.id(now.dev)?);
    let is_other_inode = old.knows(Field::Ino) && old.stat.ino != now.ino;
    let is_other_birth = old.stat.birth_ns.zip(now.birth_ns).is_some_and(|(old, now)| old != now);
    Some(if then != today {
        Some(OtherRoot::FileSystem)
    } else {
        (is_other_inode || is_other_birth).then_some(OtherRoot::Inode)
    })
}

/// Returns whether both device and inode number of a directory differ from the record.
fn differs_in_both(old: &Entry<'_>, now: &Stat) -> bool {
    old.knows_all(&[Field::Dev, Field::Ino]) && old.stat.dev != now.dev && old.stat.ino != now.ino
}

/// Returns whether a directory below the root is not the recorded one. Without a lasting identity of both file systems, only
/// the owner is compared.
pub(crate) fn is_other_directory(old: &Entry<'_>, now: &Stat, file_systems: &FileSystems) -> bool {
    lasting_difference(old, now, file_systems)
        .map_or_else(|| old.knows(Field::Uid) && old.stat.uid != now.uid, |difference| difference.is_some())
}
