//! Changes of the times of nearly all files that are not edits: daylight saving time on FAT, or a copy without
//! times.

mod census;
mod recorded;

use std::ops::ControlFlow;

pub(crate) use recorded::RecordedTimes;

use crate::merge::merge;
use crate::shift::census::Census;
use crate::walked_tree::WalkedTree;
use crate::{Contents, Error, Field, Manifest};

/// A change of the mtimes of nearly all files that edits do not explain.
///
/// The mtime of a file that it explains counts as unchanged. So its content must be unchanged too, or it is
/// corrupted. `docs/manifest-format.md` has the exact rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// How the times changed.
    pub kind: ShiftKind,
    /// The number of regular files whose times changed like this.
    pub files: u64,
}

/// How the times of nearly all files changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShiftKind {
    /// All by the same amount in nanoseconds, apart from rounding.
    By(i128),
    /// All files have new times, and nearly all the recorded content.
    Reset {
        /// The first of the new times, in nanoseconds since the Unix epoch.
        from_ns: i128,
        /// The last of the new times.
        to_ns: i128,
    },
}

impl Shift {
    /// Finds out whether the times of a tree have shifted, after its files were read. `recorded` are times of
    /// some files.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed.
    pub(crate) fn find(
        recorded: &RecordedTimes,
        manifest: &Manifest,
        tree: &WalkedTree<'_>,
        contents: &Contents<'_>,
    ) -> Result<Option<Self>, Error> {
        // Nearly every tree has most of its recorded times, which the sample shows without another pass.
        let changes = recorded.changes(contents);
        let Some(candidate) = census::candidate(&changes) else { return Ok(None) };
        let mut census = Census::new(candidate, manifest.header().start_ns);
        let mut digests = Vec::new();
        merge(&mut manifest.entries()?, &mut tree.walk(), |old, new| {
            if let (Some(old), Some(new)) = (old, new)
                && let Some(file) = new.seen.file
                && let old = old.entry()
                && old.stat.is_regular()
                && old.knows_all(&[Field::Size, Field::Mtime])
                && let Some((stat, row)) = contents.stat(file, new.seen.metadata)
                && stat.size == old.stat.size
            {
                let is_same = row.is_some_and(|row| {
                    contents.digests(row, &mut digests);
                    digests == old.digests
                });
                census.add(old.stat.mtime_ns, stat.mtime_ns, is_same);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(census.shift())
    }

    /// Returns whether the change of an mtime is a part of the shift.
    pub(crate) fn explains(&self, old_ns: i128, new_ns: i128) -> bool {
        match self.kind {
            ShiftKind::By(ns) => is_shifted(old_ns, new_ns, ns),
            ShiftKind::Reset { from_ns, to_ns } => (from_ns..=to_ns).contains(&new_ns),
        }
    }
}

/// Returns whether `new_ns` is `old_ns` shifted by `ns`, and rounded as the file system may do.
fn is_shifted(old_ns: i128, new_ns: i128, ns: i128) -> bool {
    // Recorded times are any numbers.
    new_ns.saturating_sub(old_ns).saturating_sub(ns).saturating_abs() < resolution(new_ns)
}

/// Returns the coarsest resolution of a file system that can store this time: two seconds on FAT, one second on
/// older file systems, 10 ms on exFAT, 100 ns on NTFS.
fn resolution(ns: i128) -> i128 {
    const SECOND: i128 = 1_000_000_000;
    let known = [2 * SECOND, SECOND, SECOND / 100, 100];
    known.into_iter().find(|resolution| ns % resolution == 0).unwrap_or(1)
}
