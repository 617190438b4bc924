//! Recognises a copy that did not keep the times.

use crate::shift::{Shift, ShiftKind};

/// Fewer files than this show no such copy.
const FEWEST: u64 = 3;

/// Counts new times. Only files with their recorded size count.
#[derive(Debug)]
pub(super) struct ResetCensus {
    /// When the manifest was made.
    start_ns: i128,
    files: u64,
    /// Files with a new time that is later than the manifest, and the recorded content.
    reset: u64,
    /// The first and the last of the new times of these files.
    range: (i128, i128),
}

impl ResetCensus {
    pub(super) fn new(start_ns: i128) -> Self {
        Self { start_ns, files: 0, reset: 0, range: (i128::MAX, i128::MIN) }
    }

    /// Adds a file. `is_same`: whether its content was read and is the recorded one.
    pub(super) fn add(&mut self, old_ns: i128, new_ns: i128, is_same: bool) {
        self.files += 1;
        if is_same && old_ns != new_ns && new_ns > self.start_ns {
            self.reset += 1;
            self.range = (self.range.0.min(new_ns), self.range.1.max(new_ns));
        }
    }

    /// Decides.
    pub(super) fn shift(&self) -> Option<Shift> {
        let (from_ns, to_ns) = self.range;
        let is_reset = self.reset >= FEWEST && self.reset * 10 >= self.files * 9;
        is_reset.then_some(Shift { kind: ShiftKind::Reset { from_ns, to_ns }, files: self.reset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i128 = 1_000_000_000;
    const START: i128 = 10_000_000 * S;

    /// Decides about files: recorded time, present time, and whether the content is the recorded one.
    fn shift(files: &[(i128, i128, bool)]) -> Option<Shift> {
        let mut census = ResetCensus::new(START);
        files.iter().for_each(|&(old_ns, new_ns, is_same)| census.add(old_ns, new_ns, is_same));
        census.shift()
    }

    fn files(n: i128, new: impl Fn(i128) -> i128) -> Vec<(i128, i128, bool)> {
        (0..n).map(|nth| (nth * nth * S + nth, new(nth * nth * S + nth), true)).collect()
    }

    #[test]
    fn a_copy_without_times_is_recognised_by_its_content() {
        let copy = |old: i128| START + 5 * S + old % 1_000_003;
        let mut tree = files(20, copy);
        let found = shift(&tree).unwrap();
        assert_eq!(found.files, 20);
        assert!(matches!(found.kind, ShiftKind::Reset { from_ns, .. } if from_ns > START), "{found:?}");
        tree[3].2 = false;
        tree[4].2 = false;
        let found = shift(&tree).unwrap();
        assert!(found.files == 18 && found.explains(tree[3].0, tree[7].1));
        assert!(!found.explains(tree[3].0, START + 60 * S), "an edit after the copy");
        tree[5].2 = false;
        assert_eq!(shift(&tree), None, "less than nine tenths");
        let early = |old: i128| START - 5 * S + old % 1_000_003;
        assert_eq!(shift(&files(20, early)), None, "files older than the manifest");
        assert_eq!(shift(&files(50, |old| old)), None, "no changes");
    }
}
