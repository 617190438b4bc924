//! Changes of the times of nearly all files that are not edits: a copy that rounds them or has none, or daylight saving
//! time on FAT.

mod census;
mod recorded;

use std::cell::RefCell;
use std::ops::ControlFlow;

use ftk_file::{EvenSample, TimeAgreement, TimeCensus};

pub(crate) use recorded::RecordedTimes;

use crate::common::Common;
use crate::merge::merge;
use crate::pairs::{Pass, merge_manifests};
use crate::respelled::Respelled;
use crate::shift::census::ResetCensus;
use crate::walked_tree::Walk;
use crate::{Contents, Entry, Error, Field, Manifest};

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
    /// They are rounded, or shifted by the same amount, or both.
    Agreeing(TimeAgreement),
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
        mut walk: Walk<'_>,
        contents: &Contents<'_>,
    ) -> Result<Option<Self>, Error> {
        // Nearly every tree has its recorded times, which the sample shows without another pass.
        let sample = recorded.changes(contents);
        let changed = sample.iter().filter(|(old_ns, new_ns)| old_ns != new_ns).count();
        let mut census = TimeCensus::new(&sample);
        if census.is_none() && changed * 2 <= sample.len() {
            return Ok(None);
        }
        let mut reset = ResetCensus::new(manifest.header().start_ns);
        let mut digests = Vec::new();
        merge(&mut manifest.entries()?, &mut walk, |old, new| {
            if let (Some(old), Some(new)) = (old, new)
                && let Some(file) = new.seen.file
                && let old = old.entry()
                && is_timed(&old)
                && let Some((stat, row)) = contents.stat(file, new.seen.metadata)
                && stat.size == old.stat.size
            {
                let is_same = row.map(|row| {
                    contents.digests(row, &mut digests);
                    digests == old.digests
                });
                let (old_ns, new_ns) = (old.stat.mtime_ns, stat.mtime_ns);
                census.iter_mut().for_each(|census| census.add(old_ns, new_ns, is_same));
                reset.add(old_ns, new_ns, is_same == Some(true));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let agreeing = census.as_ref().and_then(TimeCensus::agreement);
        // A fast copy without times of files that all have one recorded time looks shifted and rounded, too.
        let is_certain = agreeing.is_some_and(|(it, _)| it.shift_ns() == 0 || it.rounding().is_none());
        let reset = if is_certain { None } else { reset.shift() };
        Ok(reset.or(agreeing.map(Self::agreeing)))
    }

    /// Finds out whether the times of two manifests agree. `sample` are times of some files, if an earlier pass has read
    /// them.
    ///
    /// # Errors
    /// When a manifest cannot be read or has changed.
    pub(crate) fn between(
        old: &Manifest,
        new: &Manifest,
        respelled: Option<&Respelled>,
        common: &Common,
        sample: Option<TimeSample>,
    ) -> Result<Option<Self>, Error> {
        let sample = match sample {
            Some(sample) => sample,
            None => {
                let mut sample = TimeSample::default();
                each_pair(old, new, respelled, |old, new| _ = sample.add(old, new))?;
                sample
            }
        };
        let Some(mut census) = TimeCensus::new(sample.times.items()) else { return Ok(None) };
        each_pair(old, new, respelled, |old, new| {
            let is_same = (!common.is_empty()).then(|| common.is_same(old.digests, new.digests));
            census.add(old.stat.mtime_ns, new.stat.mtime_ns, is_same);
        })?;
        Ok(census.agreement().map(Self::agreeing))
    }

    fn agreeing((agreement, files): (TimeAgreement, u64)) -> Self {
        Self { kind: ShiftKind::Agreeing(agreement), files }
    }

    /// Returns whether the change of an mtime is a part of the shift.
    pub(crate) fn explains(&self, old_ns: i128, new_ns: i128) -> bool {
        match self.kind {
            ShiftKind::Agreeing(agreement) => agreement.explains(old_ns, new_ns),
            ShiftKind::Reset { from_ns, to_ns } => (from_ns..=to_ns).contains(&new_ns),
        }
    }
}

/// Old and new times of some files of equal size in two manifests.
#[derive(Debug, Default)]
pub(crate) struct TimeSample {
    times: EvenSample<(i128, i128)>,
}

impl TimeSample {
    /// Adds two entries, if they are files that count. Returns whether they do and their times differ.
    pub(crate) fn add(&mut self, old: &Entry<'_>, new: &Entry<'_>) -> bool {
        let (old_ns, new_ns) = (old.stat.mtime_ns, new.stat.mtime_ns);
        if is_counted(old, new) {
            self.times.add((old_ns, new_ns));
        }
        is_counted(old, new) && old_ns != new_ns
    }
}

/// Passes the entries of all files of equal size with known times to `each`.
fn each_pair(
    old: &Manifest,
    new: &Manifest,
    respelled: Option<&Respelled>,
    each: impl FnMut(&Entry<'_>, &Entry<'_>),
) -> Result<(), Error> {
    let each = RefCell::new(each);
    let pair = |old: &Entry<'_>, new: &Entry<'_>| {
        if is_counted(old, new) {
            each.borrow_mut()(old, new);
        }
    };
    merge_manifests(
        (old, new),
        Pass::First,
        None,
        respelled,
        false,
        |_, same| same.into_iter().for_each(|entry| pair(entry, entry)),
        |old, new, _| {
            if let (Some(old), Some(new)) = (old, new) {
                pair(&old, &new);
            }
            Ok(ControlFlow::Continue(()))
        },
    )
}

/// Returns whether two entries are files of equal size with known times.
fn is_counted(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    is_timed(old) && is_timed(new) && old.stat.size == new.stat.size
}

fn is_timed(entry: &Entry<'_>) -> bool {
    entry.stat.is_regular() && entry.knows_all(&[Field::Size, Field::Mtime])
}
