//! The files that a scrub may read, in the order in which it reads them.

use ftk_inventory::FileNo;

/// A recorded file that is in the tree with its recorded size and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    /// When its content was last verified, in nanoseconds since the Unix epoch. [`DAMAGED`] for a damaged file,
    /// [`UNKNOWN`] if the record has no plausible time.
    pub(super) verified_ns: i64,
    /// The number of the file among those with recorded digests, in path order.
    pub(super) record: u32,
    pub(super) file: FileNo,
    pub(super) size: u64,
    /// Whether the record has an mtime. Without it, other content may be an edit.
    pub(super) is_timed: bool,
}

/// Sorts damaged files before all others.
pub(super) const DAMAGED: i64 = i64::MIN;
/// Sorts files whose last verification is unknown before those whose is known.
pub(super) const UNKNOWN: i64 = i64::MIN + 1;

impl Item {
    pub(super) fn is_damaged(&self) -> bool {
        self.verified_ns == DAMAGED
    }
}

/// Files to be read and judged together.
#[derive(Debug)]
pub struct Batch {
    /// The files, ascending.
    pub files: Vec<FileNo>,
    /// The same files.
    pub(super) items: Vec<Item>,
}

/// The work that a file takes in addition to reading its bytes, in bytes: small files are slower per byte.
const PER_FILE: u64 = 64 << 10;

impl Item {
    fn weight(&self) -> u64 {
        self.size.saturating_add(PER_FILE)
    }
}

impl Batch {
    /// Returns the work for this batch, in bytes.
    pub fn weight(&self) -> u64 {
        self.items.iter().fold(0, |sum, item| sum.saturating_add(item.weight()))
    }
}

/// The files in order, and how many of them were given out.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) items: Vec<Item>,
    next: usize,
}

impl Queue {
    /// Sorts the files: damaged ones, then those that were not verified for the longest time, then by path.
    pub(super) fn new(mut items: Vec<Item>) -> Self {
        items.sort_unstable();
        Self { items, next: 0 }
    }

    /// Returns how many files are read to reach `bytes`, including damaged ones.
    pub(super) fn within(&self, bytes: Option<u64>) -> u64 {
        let mut quota = Quota { bytes, sum: 0 };
        self.items.iter().take_while(|item| quota.takes(item)).count() as u64
    }

    /// Returns the next files with a total weight of at most `weight`, and at least one file; `None` at the end.
    ///
    /// Damaged files and others are never in one batch. Of the others, only as many are returned as are needed to
    /// reach `bytes`; files without content that follow them cost nothing and are added.
    pub(super) fn next_batch(&mut self, weight: u64, bytes: Option<u64>) -> Option<Batch> {
        let rest = &self.items[self.next..];
        let are_damaged = rest.first()?.is_damaged();
        let (mut quota, mut total, mut n) = (Quota { bytes, sum: 0 }, 0_u64, 0);
        for item in rest {
            total = total.saturating_add(item.weight());
            if item.is_damaged() != are_damaged || n > 0 && total > weight || !quota.takes(item) {
                break;
            }
            n += 1;
        }
        let mut items = rest[..n].to_vec();
        self.next += n;
        items.sort_unstable_by_key(|item| item.file);
        (n > 0).then(|| Batch { files: items.iter().map(|item| item.file).collect(), items })
    }
}

/// Counts the bytes of the files that are read, up to a limit.
struct Quota {
    bytes: Option<u64>,
    sum: u64,
}

impl Quota {
    /// Counts a file and returns whether it is read. Damaged files and files without content always are.
    fn takes(&mut self, item: &Item) -> bool {
        let counts = !item.is_damaged() && item.size > 0;
        let is_over = counts && self.bytes.is_some_and(|bytes| self.sum >= bytes);
        if counts && !is_over {
            self.sum = self.sum.saturating_add(item.size);
        }
        !is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(items: &[(i64, u64)]) -> Queue {
        let item = |(nth, &(verified_ns, size)): (usize, &(i64, u64))| Item {
            verified_ns,
            record: nth as u32,
            file: FileNo(100 - nth as u32),
            size,
            is_timed: true,
        };
        Queue::new(items.iter().enumerate().map(item).collect())
    }

    fn sizes(batch: Option<Batch>) -> Vec<u64> {
        let mut items = batch.map_or_else(Vec::new, |batch| batch.items);
        items.sort_unstable();
        items.iter().map(|item| item.size).collect()
    }

    #[test]
    fn damaged_files_come_first_and_then_the_oldest() {
        let mut queue = queue(&[(7, 1), (5, 2), (DAMAGED, 3), (7, 4), (UNKNOWN, 5), (DAMAGED, 6), (6, 7)]);
        assert_eq!(sizes(queue.next_batch(u64::MAX, None)), [3, 6]);
        assert_eq!(sizes(queue.next_batch(3 * PER_FILE + 14, None)), [5, 2, 7]);
        let batch = queue.next_batch(0, None).unwrap();
        assert_eq!(batch.weight(), PER_FILE + 1);
        assert_eq!(sizes(queue.next_batch(0, None)), [4]);
        assert!(queue.next_batch(u64::MAX, None).is_none());
    }

    #[test]
    fn a_limit_is_rounded_up_to_whole_files() {
        let all = [(1, 5), (2, 0), (3, 10), (4, 0), (5, 0), (6, 1)];
        for (bytes, expected) in [
            (0, &[][..]),
            (1, &[5, 0][..]),
            (5, &[5, 0]),
            (6, &[5, 0, 10, 0, 0]),
            (15, &[5, 0, 10, 0, 0]),
            (16, &[5, 0, 10, 0, 0, 1]),
            (99, &[5, 0, 10, 0, 0, 1]),
        ] {
            assert_eq!(sizes(queue(&all).next_batch(u64::MAX, Some(bytes))), expected, "{bytes}");
            assert_eq!(queue(&all).within(Some(bytes)), expected.len() as u64);
        }
        let with_damage = [(DAMAGED, 9), (1, 5), (2, 5)];
        assert_eq!(sizes(queue(&with_damage).next_batch(0, Some(0))), [9]);
        assert_eq!(queue(&with_damage).within(Some(1)), 2);
        assert_eq!(queue(&with_damage).within(None), 3);
    }
}
