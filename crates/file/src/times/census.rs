//! Decides whether the times of two trees agree.

use crate::times::TimeAgreement;
use crate::times::agreement::sides;
use crate::times::distinct::{Distinct, FEWEST};
use crate::times::estimate::{Fit, estimate};
use crate::times::grid::FINE;

/// Counts how the times of all files differ between two trees, and decides whether they agree.
///
/// Times agree if those of one tree are the times of the other one, rounded to a step of a file system or program that is
/// known, through a `double`, or to another step that explains nine tenths of the files, or shifted by one amount, or both.
/// An estimate comes from a sample. Then all files are counted.
#[derive(Debug)]
pub struct TimeCensus {
    agreement: TimeAgreement,
    is_known: bool,
    /// All files of equal size.
    files: u64,
    /// Those of them whose different times the agreement explains.
    changed: u64,
    /// Those of them whose times differ by less than [`FINE`].
    close: u64,
    /// Some of the exact and of the rounded times that the agreement explains.
    distinct: [Distinct; 2],
    /// Files with the same content, as far as it is known.
    alike: u64,
    /// Those of them whose times, also equal ones, the agreement explains.
    alike_explained: u64,
    /// Those of them whose different times the agreement explains.
    alike_changed: u64,
    /// Whether the content of a file is known.
    knows_content: bool,
}

impl TimeCensus {
    /// Prepares the count. `sample` are old and new times of some files of equal size, some hundreds of them if there are
    /// many. Returns `None` if they show that the times do not agree, or all are equal.
    pub fn new(sample: &[(i128, i128)]) -> Option<Self> {
        let Fit { agreement, is_known, changed, explained, .. } = estimate(sample)?;
        let is_likely = explained * 4 >= sample.len() * 3 || changed * 5 >= sample.len() * 2;
        (is_likely || is_fine(&agreement)).then(|| Self {
            agreement,
            is_known,
            files: 0,
            changed: 0,
            close: 0,
            distinct: Default::default(),
            alike: 0,
            alike_explained: 0,
            alike_changed: 0,
            knows_content: false,
        })
    }

    /// Adds a file of equal size. `is_same`: whether its content is the same, if that is known.
    pub fn add(&mut self, old_ns: i128, new_ns: i128, is_same: Option<bool>) {
        let is_explained = self.agreement.explains(old_ns, new_ns);
        let is_changed = is_explained && old_ns != new_ns;
        self.files += 1;
        self.changed += u64::from(is_changed);
        self.close += u64::from(old_ns != new_ns && new_ns.saturating_sub(old_ns).saturating_abs() <= FINE);
        self.knows_content |= is_same.is_some();
        if is_same != Some(false) {
            self.alike += 1;
            self.alike_explained += u64::from(is_explained);
            self.alike_changed += u64::from(is_changed);
        }
        if is_explained {
            let (rounded, exact) = sides(self.agreement.rounded, (old_ns, new_ns));
            for (distinct, ns) in self.distinct.iter_mut().zip([exact, rounded]) {
                distinct.add(ns);
            }
        }
    }

    /// Returns how the times agree, and the number of files whose times differ by this. `None` if they do not agree.
    pub fn agreement(&self) -> Option<(TimeAgreement, u64)> {
        let &Self { agreement, is_known, changed, .. } = self;
        let [are_exact_distinct, are_rounded_distinct] = self.distinct.each_ref().map(Distinct::are_enough);
        let is_most = changed * 2 > self.files;
        let is_nearly_all = self.alike_explained * 10 >= self.alike * 9;
        // An unknown step must explain more, and is not one time that a program sets for all files.
        let is_step = is_known && is_most || is_nearly_all && (is_known || are_rounded_distinct);
        let is_fine = is_fine(&agreement);
        // Enough files have times of the step, so one that has changed is enough.
        let is_sure = changed >= FEWEST || is_fine && self.alike >= 4 * FEWEST;
        let agrees = if agreement.shift_ns() != 0 {
            // A program that sets one time for all files shifts them all by one amount when it runs again. Files of
            // several times cannot shift by one amount through writes.
            is_most && is_step && (are_exact_distinct || agreement.is_of_time_zones())
        } else if is_known && is_fine && changed * 10 >= self.close * 9 {
            // Some files of the tree may come from a copy. No edit comes so close to the old time.
            true
        } else {
            // Files written within a step of their old time have another content. If contents are not known, most times
            // must differ, because equal whole seconds show nothing.
            are_exact_distinct
                && is_step
                && self.alike_changed * 2 > changed
                && (self.knows_content || is_most || is_fine)
        };
        (agrees && is_sure && changed > 0).then_some((agreement, changed))
    }
}

/// Returns whether times are only rounded, with errors that are too small for an edit.
fn is_fine(agreement: &TimeAgreement) -> bool {
    agreement.shift_ns() == 0 && agreement.width < FINE
}
