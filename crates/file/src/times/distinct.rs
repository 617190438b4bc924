//! Different times of some files.

/// Fewer files than this show no shift, and no rounding to steps that an edit may meet by chance. So it is with fewer times.
pub(super) const FEWEST: u64 = 3;

/// Some different times.
#[derive(Debug, Default)]
pub(super) struct Distinct(Vec<i128>);

impl Distinct {
    pub(super) fn add(&mut self, ns: i128) {
        if !self.are_enough() && !self.0.contains(&ns) {
            self.0.push(ns);
        }
    }

    /// Returns whether there are at least [`FEWEST`].
    pub(super) fn are_enough(&self) -> bool {
        self.0.len() as u64 >= FEWEST
    }
}
