//! What removing or replacing files frees on the disk.
//!
//! A file system stores blocks once that several files share, as after a reflink or a snapshot. It does not say which files
//! these are. If all files that are known to share some blocks go, these blocks may become free, but a file outside of the
//! group may still have them.

use std::collections::BTreeMap;
use std::iter::Sum;

use ftk_read::SharedBlocks;

/// Bytes on the disk that steps free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gain {
    /// These become free.
    pub certain: u64,
    /// These become free unless a file outside of the group shares them.
    pub possible: u64,
    /// Whether a file that goes frees nothing because other files have its blocks.
    pub is_held: bool,
}

impl Gain {
    /// Returns the upper bound.
    pub fn most(self) -> u64 {
        self.certain.saturating_add(self.possible)
    }

    /// Returns what a step frees that was to free this, if so many bytes are free after it. The file system may not have got
    /// to the others yet.
    #[must_use]
    pub fn when_done(self, certain: u64) -> Self {
        let possible = self.most().saturating_sub(certain).min(self.possible);
        let is_held = certain + possible == 0 && (self.is_held || self.certain > 0);
        Self { certain, possible, is_held }
    }
}

impl Sum for Gain {
    fn sum<I: Iterator<Item = Self>>(gains: I) -> Self {
        gains.fold(Self::default(), |sum, it| Self {
            certain: sum.certain.saturating_add(it.certain),
            possible: sum.possible.saturating_add(it.possible),
            is_held: sum.is_held || it.is_held,
        })
    }
}

/// A file of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'b> {
    /// Bytes on the disk.
    pub(super) allocated: u64,
    /// Those that other files have, too.
    pub(super) shared: &'b [SharedBlocks],
    /// Whether the file has no name any more, or no longer its blocks, when all steps are done.
    pub(super) goes: bool,
}

/// What a file contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contribution {
    /// Bytes that are free after the step for this file, if all earlier files of the list are done.
    pub(super) gain: Gain,
    /// Whether without this file as much would not be freed.
    pub(super) is_needed: bool,
}

/// The number of a disk, and a byte on it.
type Place = (u64, u64);

/// A part of a disk whose blocks belong to the same files.
struct Segment {
    start: Place,
    len: u64,
    /// Whether a file that stays has the blocks.
    is_kept: bool,
    /// How often files that go, and come later in the list, have the blocks.
    left: u64,
    /// How often all files that go have them.
    going: u64,
}

impl Segment {
    /// Returns whether the blocks may become free. If only one place in one file has them, another file shares them.
    fn may_go(&self) -> bool {
        !self.is_kept && self.going > 1
    }
}

/// Returns what each file contributes. Files that stay contribute nothing.
pub(super) fn contributions(files: &[Blocks<'_>]) -> Vec<Contribution> {
    let mut segments = segments(files);
    let contribution = |file: &Blocks<'_>| {
        if !file.goes {
            return Contribution::default();
        }
        let shared = file.shared.iter().fold(0_u64, |sum, it| sum.saturating_add(it.len));
        let certain = file.allocated.saturating_sub(shared);
        let (mut possible, mut is_needed) = (0, certain > 0);
        for it in file.shared {
            let first = segments.partition_point(|segment| segment.start < (it.disk, it.start));
            let end = (it.disk, it.start.saturating_add(it.len));
            for segment in segments[first..].iter_mut().take_while(|segment| segment.start < end) {
                segment.left -= 1;
                is_needed |= segment.may_go();
                if segment.left == 0 && segment.may_go() {
                    possible += segment.len;
                }
            }
        }
        let is_held = file.allocated > 0 && certain + possible == 0;
        Contribution { gain: Gain { certain, possible, is_held }, is_needed }
    };
    files.iter().map(contribution).collect()
}

/// Returns the parts of the disks that the shared blocks of files consist of, in order.
fn segments(files: &[Blocks<'_>]) -> Vec<Segment> {
    // How many more files that stay and that go have the blocks from a place on.
    let mut changes = BTreeMap::<_, [i64; 2]>::new();
    for file in files {
        for it in file.shared {
            let which = usize::from(file.goes);
            changes.entry((it.disk, it.start)).or_default()[which] += 1;
            changes.entry((it.disk, it.start.saturating_add(it.len))).or_default()[which] -= 1;
        }
    }
    let ends = changes.keys().skip(1).copied().collect::<Vec<_>>();
    let mut now = [0; 2];
    let segment = |((start, change), end): ((Place, [i64; 2]), Place)| {
        now = [now[0] + change[0], now[1] + change[1]];
        let going = now[1] as u64;
        // Nothing reaches from one disk to the next one.
        let len = if now == [0, 0] { 0 } else { end.1 - start.1 };
        Segment { start, len, is_kept: now[0] > 0, left: going, going }
    };
    changes.into_iter().zip(ends).map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    /// Blocks of 1 MiB at these places.
    fn at(places: &[u64]) -> Vec<SharedBlocks> {
        places.iter().map(|&start| SharedBlocks { disk: 1, start: start * MB, len: MB }).collect()
    }

    /// Returns the certain and the possible bytes in MiB, and whether the file is needed. Each file has its size, its
    /// shared blocks and whether it goes.
    fn of(files: &[(u64, Vec<SharedBlocks>, bool)]) -> Vec<(u64, u64, bool)> {
        fn blocks((allocated, shared, goes): &(u64, Vec<SharedBlocks>, bool)) -> Blocks<'_> {
            Blocks { allocated: allocated * MB, shared, goes: *goes }
        }
        let blocks: Vec<_> = files.iter().map(blocks).collect();
        let mib = |it: Contribution| (it.gain.certain / MB, it.gain.possible / MB, it.is_needed);
        contributions(&blocks).into_iter().map(mib).collect()
    }

    #[test]
    fn blocks_become_free_with_the_last_file_that_has_them() {
        // a, and clones b and c of one file.
        let clone = || at(&[0]);
        assert_eq!(
            of(&[(1, at(&[]), false), (1, clone(), true), (1, clone(), true)]),
            [(0, 0, false), (0, 0, true), (0, 1, true)]
        );
        assert_eq!(
            of(&[(1, at(&[]), true), (1, clone(), false), (1, clone(), true)]),
            [(1, 0, true), (0, 0, false), (0, 0, false)]
        );
        // A snapshot has the blocks of the only file that goes.
        assert_eq!(of(&[(1, at(&[]), false), (1, clone(), true)]), [(0, 0, false), (0, 0, false)]);
    }

    #[test]
    fn what_is_not_free_after_a_step_may_become_free_later() {
        let gain = |certain, possible, is_held| Gain { certain, possible, is_held };
        for (planned, bytes, expected) in [
            (gain(5, 0, false), 5, gain(5, 0, false)),
            (gain(5, 3, false), 5, gain(5, 3, false)),
            (gain(5, 3, false), 8, gain(8, 0, false)),
            (gain(5, 3, false), 0, gain(0, 3, false)),
            // Other files have the blocks.
            (gain(5, 0, false), 0, gain(0, 0, true)),
            (gain(0, 0, true), 0, gain(0, 0, true)),
            (gain(0, 0, false), 0, gain(0, 0, false)),
        ] {
            assert_eq!(planned.when_done(bytes), expected, "{planned:?} {bytes}");
        }
    }

    #[test]
    fn files_may_share_parts() {
        let whole = vec![SharedBlocks { disk: 1, start: 0, len: 3 * MB }];
        // One file has three shared blocks in one piece, others have two of them.
        assert_eq!(
            of(&[(4, whole, true), (2, at(&[1]), true), (2, at(&[2]), false)]),
            [(1, 0, true), (1, 1, true), (0, 0, false)]
        );
        // A file that has its own blocks twice.
        assert_eq!(of(&[(2, at(&[5, 5]), true)]), [(0, 1, true)]);
        // The same places on another disk are other blocks.
        let other = vec![SharedBlocks { disk: 2, start: 0, len: MB }];
        assert_eq!(of(&[(1, at(&[0]), true), (1, other, true)]), [(0, 0, false), (0, 0, false)]);
    }
}
