//! Changes of the times of nearly all files that are not edits: a copy that rounds them or has none, or daylight saving
//! time on FAT.

mod census;
mod recorded;

use std::cell::RefCell;
use std::ops::ControlFlow;

use ftk_file::{EvenSample, TimeAgreement, TimeCensus};
use ftk_inventory::{Budget, Full, LinkOnce};

pub(crate) use recorded::RecordedTimes;

use crate::aligned::Aligned;
use crate::common::Common;
use crate::pairs::{Pass, merge_manifests};
use crate::respelled::Respelled;
use crate::shift::census::ResetCensus;
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
    /// some files. A file with several names counts once.
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed, or the files with several names do not fit into the budget.
    pub(crate) fn find(
        recorded: &RecordedTimes,
        aligned: &Aligned<'_>,
        contents: &Contents<'_>,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        // Nearly every tree has its recorded times, which the sample shows without another pass.
        let sample = recorded.changes(contents);
        let changed = sample.iter().filter(|(old_ns, new_ns)| old_ns != new_ns).count();
        let mut census = TimeCensus::new(&sample);
        if census.is_none() && changed * 2 <= sample.len() {
            return Ok(None);
        }
        let mut reset = ResetCensus::new(aligned.manifest.header().start_ns);
        let (mut digests, mut once) = (Vec::new(), LinkOnce::new(budget));
        aligned.merge(|old, new| {
            if let (Some(old), Some(new)) = (old, new)
                && let Some(file) = new.seen.file
                && let old = old.entry()
                && is_timed(&old)
                && let Some((stat, row)) = contents.stat(file, new.seen.metadata)
                && stat.size == old.stat.size
                && once.add(old.group_hash(), stat.linked_identity())?
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
        once.release();
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
    /// When a manifest cannot be read or has changed, or the files with several names do not fit into the budget.
    pub(crate) fn between(
        old: &Manifest,
        new: &Manifest,
        respelled: Option<&Respelled>,
        common: &Common,
        sample: Option<TimeSample>,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        let sample = match sample {
            Some(sample) => sample,
            None => {
                let mut sample = TimeSample::new(budget);
                each_pair(old, new, respelled, |old, new| sample.add(old, new).map(drop))?;
                sample
            }
        };
        let Some(mut census) = TimeCensus::new(sample.times.items()) else { return Ok(None) };
        sample.release();
        let mut once = LinkOnce::new(budget);
        each_pair(old, new, respelled, |old, new| {
            if once.add(old.group_hash(), new.group_hash())? {
                let is_same = (!common.is_empty()).then(|| common.is_same(old.digests, new.digests));
                census.add(old.stat.mtime_ns, new.stat.mtime_ns, is_same);
            }
            Ok(())
        })?;
        once.release();
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

/// Old and new times of some files of equal size in two manifests. A file with several names counts once.
#[derive(Debug)]
pub(crate) struct TimeSample {
    times: EvenSample<(i128, i128)>,
    once: LinkOnce<u64, u64>,
}

impl TimeSample {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { times: EvenSample::default(), once: LinkOnce::new(budget) }
    }

    /// Returns the memory to the budget.
    pub(crate) fn release(self) {
        self.once.release();
    }

    /// Adds two entries, if they are files that count. Returns whether they do and their times differ.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(crate) fn add(&mut self, old: &Entry<'_>, new: &Entry<'_>) -> Result<bool, Full> {
        if !is_counted(old, new) {
            return Ok(false);
        }
        let (old_ns, new_ns) = (old.stat.mtime_ns, new.stat.mtime_ns);
        if self.once.add(old.group_hash(), new.group_hash())? {
            self.times.add((old_ns, new_ns));
        }
        Ok(old_ns != new_ns)
    }
}

/// Passes the entries of all files of equal size with known times to `each`.
fn each_pair(
    old: &Manifest,
    new: &Manifest,
    respelled: Option<&Respelled>,
    each: impl FnMut(&Entry<'_>, &Entry<'_>) -> Result<(), Full>,
) -> Result<(), Error> {
    let each = RefCell::new(each);
    let pair = |old: &Entry<'_>, new: &Entry<'_>| match is_counted(old, new) {
        true => each.borrow_mut()(old, new),
        false => Ok(()),
    };
    let mut same = Ok(());
    merge_manifests(
        (old, new),
        Pass::First,
        None,
        respelled,
        false,
        |_, entry| same = same.and_then(|()| entry.map_or(Ok(()), |entry| pair(entry, entry))),
        |old, new, _| {
            if let (Some(old), Some(new)) = (old, new) {
                pair(&old, &new)?;
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(same?)
}

/// Returns whether two entries are files of equal size with known times.
fn is_counted(old: &Entry<'_>, new: &Entry<'_>) -> bool {
    is_timed(old) && is_timed(new) && old.stat.size == new.stat.size
}

fn is_timed(entry: &Entry<'_>) -> bool {
    entry.stat.is_regular() && entry.knows_all(&[Field::Size, Field::Mtime])
}
