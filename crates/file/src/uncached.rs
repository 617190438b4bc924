//! Which parts of a file were not cached before this process read them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Ranges that are being looked up, or are known.
type Ranges = OnceLock<Vec<Range<u64>>>;

/// The ranges of all files that are being read, by device and inode.
static KNOWN: Mutex<BTreeMap<(u64, u64), Weak<Ranges>>> = Mutex::new(BTreeMap::new());

/// The ranges of a file that were not cached before the first of all reads that are in progress.
///
/// Several workers may read one file, each with its own descriptor. A worker that starts late would find the
/// pages of the others and keep them.
#[derive(Debug)]
pub(crate) struct Uncached {
    identity: (u64, u64),
    ranges: Arc<Ranges>,
}

impl Uncached {
    /// Calls `look_up` unless the file is already being read.
    pub(crate) fn of(identity: (u64, u64), look_up: impl FnOnce() -> Vec<Range<u64>>) -> Self {
        let shared = {
            let mut known = known();
            let shared = known.get(&identity).and_then(Weak::upgrade).unwrap_or_default();
            known.insert(identity, Arc::downgrade(&shared));
            shared
        };
        // Not under the lock, which other files need. Others who read this file wait here.
        shared.get_or_init(look_up);
        Self { identity, ranges: shared }
    }

    /// Returns the parts of the ranges that lie within another range.
    pub(crate) fn within(&self, within: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let ranges = self.ranges.get().map_or(&[][..], Vec::as_slice);
        let first = ranges.partition_point(|range| range.end <= within.start);
        let (start, end) = (within.start, within.end);
        let overlapping = ranges[first..].iter().take_while(move |range| range.start < end);
        overlapping.map(move |range| range.start.max(start)..range.end.min(end))
    }
}

impl Drop for Uncached {
    fn drop(&mut self) {
        let mut known = known();
        // Under the lock no one can start to share the ranges.
        if Arc::strong_count(&self.ranges) == 1 {
            known.remove(&self.identity);
        }
    }
}

fn known() -> MutexGuard<'static, BTreeMap<(u64, u64), Weak<Ranges>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of ranges")]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_range_is_cut_to_what_was_not_cached() {
        let ranges = vec![0..MIB, 2 * MIB..5 * MIB, 7 * MIB..8 * MIB];
        let uncached = Uncached::of((0, 1), || ranges.clone());
        let within = |range| uncached.within(range).collect::<Vec<_>>();
        assert_eq!(within(0..u64::MAX), ranges);
        assert_eq!(within(MIB..2 * MIB), []);
        assert_eq!(within(MIB / 2..4 * MIB), [MIB / 2..MIB, 2 * MIB..4 * MIB]);
        assert_eq!(within(3 * MIB..4 * MIB), [3 * MIB..4 * MIB]);
        assert_eq!(within(5 * MIB..7 * MIB), []);
        assert_eq!(within(9 * MIB..10 * MIB), []);
    }

    #[test]
    fn a_second_reader_shares_the_ranges_of_the_first() {
        let all = |uncached: &Uncached| uncached.within(0..u64::MAX).collect::<Vec<_>>();
        let first = Uncached::of((0, 2), || vec![0..MIB]);
        let second = Uncached::of((0, 2), || unreachable!("the file is already being read"));
        drop(first);
        let third = Uncached::of((0, 2), || unreachable!("the file is still being read"));
        assert_eq!((all(&second), all(&third)), (vec![0..MIB], vec![0..MIB]));
        drop((second, third));
        assert!(!known().contains_key(&(0, 2)));
        assert_eq!(all(&Uncached::of((0, 2), Vec::new)), []);
    }
}
