//! Counts how the times of all files changed, and decides whether they have shifted.

use crate::shift::{Shift, ShiftKind, is_shifted};

/// Fewer files than this show no shift.
const FEWEST: u64 = 3;

/// Counts the changes of times. Only files with their recorded size count.
#[derive(Debug)]
pub(super) struct Census {
    /// The amount by which the times may have shifted.
    candidate: i128,
    /// When the manifest was made.
    start_ns: i128,
    files: u64,
    /// Files whose times changed by the candidate.
    shifted: u64,
    /// The first different recorded times of these files.
    distinct: Vec<i128>,
    /// Files with a new time that is later than the manifest, and the recorded content.
    reset: u64,
    /// The first and the last of the new times of these files.
    range: (i128, i128),
}

impl Census {
    pub(super) fn new(candidate: i128, start_ns: i128) -> Self {
        let range = (i128::MAX, i128::MIN);
        Self { candidate, start_ns, files: 0, shifted: 0, distinct: Vec::new(), reset: 0, range }
    }

    /// Adds a file. `is_same`: whether its content was read and is the recorded one.
    pub(super) fn add(&mut self, old_ns: i128, new_ns: i128, is_same: bool) {
        self.files += 1;
        if old_ns == new_ns {
            return;
        }
        if is_shifted(old_ns, new_ns, self.candidate) {
            self.shifted += 1;
            if (self.distinct.len() as u64) < FEWEST && !self.distinct.contains(&old_ns) {
                self.distinct.push(old_ns);
            }
        }
        if is_same && new_ns > self.start_ns {
            self.reset += 1;
            self.range = (self.range.0.min(new_ns), self.range.1.max(new_ns));
        }
    }

    /// Decides.
    pub(super) fn shift(&self) -> Option<Shift> {
        let has_most = self.shifted >= FEWEST && self.shifted * 2 > self.files;
        // A program that sets one time for all files shifts them all by one amount when it runs again. Files of
        // several times cannot shift by one amount through writes.
        if has_most && (self.distinct.len() as u64 >= FEWEST || is_of_a_time_zone(self.candidate)) {
            return Some(Shift { kind: ShiftKind::By(self.candidate), files: self.shifted });
        }
        let (from_ns, to_ns) = self.range;
        let is_reset = self.reset >= FEWEST && self.reset * 10 >= self.files * 9;
        is_reset.then_some(Shift { kind: ShiftKind::Reset { from_ns, to_ns }, files: self.reset })
    }
}

/// Returns the amount by which most of these times changed: pairs of a recorded and a present time. `None` if most
/// of them did not change.
pub(super) fn candidate(changes: &[(i128, i128)]) -> Option<i128> {
    let changed: Vec<_> = changes.iter().filter(|(old_ns, new_ns)| old_ns != new_ns).collect();
    let mut amounts: Vec<_> = changed.iter().map(|(old_ns, new_ns)| new_ns.saturating_sub(*old_ns)).collect();
    amounts.sort_unstable();
    if (changed.len() as u64) < FEWEST || changed.len() * 2 <= changes.len() {
        return None;
    }
    let count = |amount: i128| {
        let is_shifted = |(old_ns, new_ns): &&&(i128, i128)| is_shifted(*old_ns, *new_ns, amount);
        // Without rounding, the exact amount is the most frequent one.
        let exact = amounts.partition_point(|it| *it <= amount) - amounts.partition_point(|it| *it < amount);
        (changed.iter().filter(is_shifted).count(), exact)
    };
    let mut distinct = amounts.clone();
    distinct.dedup();
    distinct.into_iter().max_by_key(|amount| count(*amount))
}

/// Returns whether an amount is, to two seconds, a difference between the clocks of two time zones: a multiple of 15
/// minutes, of at most 14 hours.
fn is_of_a_time_zone(ns: i128) -> bool {
    const SECOND: i128 = 1_000_000_000;
    const QUARTER: i128 = 15 * 60 * SECOND;
    let off = ns.saturating_add(QUARTER / 2).rem_euclid(QUARTER) - QUARTER / 2;
    off.abs() < 2 * SECOND && (QUARTER / 2..14 * 3600 * SECOND + 2 * SECOND).contains(&ns.saturating_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i128 = 1_000_000_000;
    const HOUR: i128 = 3600 * S;
    const START: i128 = 10_000_000 * S;

    /// Decides about files: recorded time, present time, and whether the content is the recorded one.
    fn shift(files: &[(i128, i128, bool)]) -> Option<Shift> {
        let changes: Vec<_> = files.iter().map(|&(old_ns, new_ns, _)| (old_ns, new_ns)).collect();
        let mut census = Census::new(candidate(&changes)?, START);
        files.iter().for_each(|&(old_ns, new_ns, is_same)| census.add(old_ns, new_ns, is_same));
        census.shift()
    }

    fn files(n: i128, new: impl Fn(i128) -> i128) -> Vec<(i128, i128, bool)> {
        (0..n).map(|nth| (nth * nth * S + nth, new(nth * nth * S + nth), true)).collect()
    }

    #[test]
    fn a_constant_shift_of_most_files_is_recognised() {
        for by in [HOUR, -HOUR, 5 * 1800 * S, 1, -7 * S - 3, 300 * 24 * HOUR] {
            let mut tree = files(10, |old| old + by);
            assert_eq!(shift(&tree), Some(Shift { kind: ShiftKind::By(by), files: 10 }), "{by}");
            tree[3].2 = false;
            tree[4].1 += 5 * HOUR;
            tree[5].1 = tree[5].0;
            assert_eq!(shift(&tree), Some(Shift { kind: ShiftKind::By(by), files: 8 }), "{by}");
            tree.iter_mut().take(5).for_each(|file| file.1 = file.0);
            assert_eq!(shift(&tree), None, "half of the files");
        }
    }

    #[test]
    fn rounding_to_two_seconds_or_ten_milliseconds_is_part_of_a_shift() {
        for (resolution, by) in [(2 * S, HOUR), (2 * S, 0), (S / 100, -HOUR), (2 * S, -HOUR), (100, 0)] {
            let tree = files(40, |old| {
                let new = old * 7 + 123_456_789 + by;
                new - new.rem_euclid(resolution)
            });
            let tree: Vec<_> = tree.iter().map(|file| (file.0 * 7 + 123_456_789, file.1, true)).collect();
            let shift = shift(&tree).unwrap();
            assert_eq!(shift.files, 40);
            assert!(matches!(shift.kind, ShiftKind::By(ns) if (ns - by).abs() <= resolution), "{shift:?}");
            assert!(tree.iter().all(|file| shift.explains(file.0, file.1)));
            assert!(!shift.explains(5 * S, 5 * S + by + 3 * S + 1));
        }
    }

    #[test]
    fn one_time_for_all_files_shows_a_shift_only_by_a_difference_of_time_zones() {
        for (by, is_shift) in [
            (HOUR, true),
            (-HOUR, true),
            (14 * HOUR, true),
            (900 * S, true),
            (24 * HOUR, false),
            (70 * S, false),
            (S, false),
        ] {
            let tree = [(5 * S, 5 * S + by, false); 4];
            assert_eq!(shift(&tree).is_some(), is_shift, "{by}");
        }
        assert_eq!(shift(&[(5 * S, 5 * S + HOUR, true); 2]), None, "too few files");
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
    }

    #[test]
    fn any_recorded_time_is_possible() {
        for old in [i128::MIN, i128::MIN + 1, -1, 0, i128::MAX] {
            for new in [i128::from(i64::MIN), 0, i128::from(i64::MAX)] {
                let found = shift(&[(old, new, true); 5]);
                assert!(found.is_none_or(|it| it.explains(old, new)), "{old} {new}: {found:?}");
            }
        }
    }

    #[test]
    fn an_edit_or_a_tree_without_changes_is_no_shift() {
        assert_eq!(shift(&files(50, |old| old)), None);
        let mut tree = files(50, |old| old);
        for file in &mut tree[..20] {
            file.1 += HOUR;
        }
        assert_eq!(shift(&tree), None);
        assert_eq!(shift(&[]), None);
    }
}
