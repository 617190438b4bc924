//! Changes of the times of nearly all files that are not edits: a copy that rounds them or has none, or daylight saving
//! time on FAT.

mod census;
mod recorded;

use std::cell::RefCell;
use std::ops::ControlFlow;

use ftk_file::{EvenSample, TimeAgreement, TimeCensus};
use ftk_inventory::{Budget, Full, Witnesses};

pub(crate) use recorded::RecordedTimes;

use crate::aligned::Aligned;
use crate::common::Common;
use crate::pairs::{Pass, merge_manifests};
use crate::respelled::Respelled;
use crate::shift::census::ResetCensus;
use crate::whole_seconds::Archives;
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
    /// When the manifest cannot be read or has changed, or the files with several names do not fit into the budget.
    pub(crate) fn find(
        recorded: &RecordedTimes,
        aligned: &Aligned<'_>,
        contents: &Contents<'_>,
        budget: &Budget,
    ) -> Result<Option<Self>, Error> {
        // Nearly every tree has its recorded times, which the samples show without another pass. Other names of linked files
        // may be witnesses or not.
        let [files, names] = recorded.changes(contents, Archives::recorded(aligned.manifest.header()));
        let is_changed = |(old_ns, new_ns): &&(i128, i128)| old_ns != new_ns;
        let is_possible = |sample: &[_], part: usize| {
            sample.iter().filter(is_changed).count() * part > sample.len()
                || TimeCensus::new(sample).is_some()
        };
        if !is_possible(&files, 2) && !is_possible(&names, 10) {
            return Ok(None);
        }
        let mut sample = EvenSample::default();
        each_witness(aligned, contents, budget, |old_ns, new_ns, _| sample.add((old_ns, new_ns)))?;
        let sample = sample.items();
        let mut census = TimeCensus::new(sample);
        if census.is_none() && sample.iter().filter(is_changed).count() * 2 <= sample.len() {
            return Ok(None);
        }
        let mut reset = ResetCensus::new(aligned.manifest.header().start_ns);
        each_witness(aligned, contents, budget, |old_ns, new_ns, is_same| {
            census.iter_mut().for_each(|census| census.add(old_ns, new_ns, is_same));
            reset.add(old_ns, new_ns, is_same == Some(true));
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
        let mut witnesses = Witnesses::new(budget);
        each_pair(old, new, respelled, |old, new| {
            let is_same = (!common.is_empty()).then(|| common.is_same(old.digests, new.digests));
            if witnesses.add(old.linked_identity(), new.linked_identity(), is_same)? {
                census.add(old.stat.mtime_ns, new.stat.mtime_ns, is_same);
            }
            Ok(())
        })?;
        witnesses.release();
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

/// Old and new times of some files of equal size in two manifests, one of each [witness](Witnesses).
#[derive(Debug)]
pub(crate) struct TimeSample {
    times: EvenSample<(i128, i128)>,
    witnesses: Witnesses<u64, u64>,
}

impl TimeSample {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { times: EvenSample::default(), witnesses: Witnesses::new(budget) }
    }

    /// Returns the memory to the budget.
    pub(crate) fn release(self) {
        self.witnesses.release();
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
        if self.witnesses.add(old.linked_identity(), new.linked_identity(), None)? {
            self.times.add((old_ns, new_ns));
        }
        Ok(old_ns != new_ns)
    }
}

/// Passes the recorded and the present time of each [witness](Witnesses) in a tree to `each`, and whether its content is the
/// recorded one, if it was read.
fn each_witness(
    aligned: &Aligned<'_>,
    contents: &Contents<'_>,
    budget: &Budget,
    mut each: impl FnMut(i128, i128, Option<bool>),
) -> Result<(), Error> {
    let (mut digests, mut witnesses) = (Vec::new(), Witnesses::new(budget));
    let archives = Archives::recorded(aligned.manifest.header());
    aligned.merge(|old, new| {
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
            if witnesses.add(old.linked_identity(), Some(stat.linked_identity()), is_same)? {
                let [old_ns, new_ns] = archives.compared([old.stat.mtime_ns, stat.mtime_ns]);
                each(old_ns, new_ns, is_same);
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    witnesses.release();
    Ok(())
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
        None,
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
