//! Batches: runs of the stream that are encoded together.

use std::ops::Range;

/// The shortest block, in bytes: a sector.
const SHORTEST: u64 = 4 << 10;

/// The longest block that a plan chooses, in bytes.
const LONGEST: u64 = 1 << 20;

/// Blocks become longer so that a tree has at most this many, as long as they are not the longest.
const BLOCKS: u64 = 1 << 20;

/// The number of blocks of a group, data and recovery: the transforms are fast while it is small.
const ROWS: u64 = 1024;

/// Blocks are shortened until the memory suffices for this many groups.
const GROUPS: u64 = 8;

/// Returns the chance that at least one of two independent events happens. Small chances are not rounded away.
pub fn either_of(one: f64, other: f64) -> f64 {
    one + other * (1.0 - one)
}

/// Returns the chance that at least one of `n` independent events happens, each of which has this chance.
pub fn any_of(chance: f64, n: u64) -> f64 {
    let (mut any, mut of_power) = (0.0, chance);
    for bit in 0..u64::BITS - n.leading_zeros() {
        if n >> bit & 1 == 1 {
            any = either_of(any, of_power);
        }
        of_power = either_of(of_power, of_power);
    }
    any
}

/// The share of recovery blocks, in millionths of the data blocks: from 1 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redundancy(u32);

impl Redundancy {
    /// Makes a share of `millionths`. Returns `None` unless it is from 1 to 1,000,000.
    pub fn new(millionths: u32) -> Option<Self> {
        (1..=1_000_000).contains(&millionths).then_some(Self(millionths))
    }

    /// Returns the share in millionths.
    pub(crate) fn millionths(self) -> u64 {
        self.0.into()
    }

    /// Returns the next larger share, about a tenth more.
    pub(crate) fn next(self) -> Option<Self> {
        let next = self.0 + (self.0 / 10).max(1);
        (self.0 < 1_000_000).then(|| Self(next.min(1_000_000)))
    }

    /// Returns the number of recovery rows for so many data rows: at least one.
    fn recovery(self, rows: u64) -> u64 {
        (rows * u64::from(self.0)).div_ceil(1_000_000).max(1)
    }

    /// Returns the largest number of data rows in a group.
    fn rows(self) -> u64 {
        let fits = |rows: &u64| rows + self.recovery(*rows).next_power_of_two() <= ROWS;
        (1..ROWS).rev().find(fits).expect("one row and its recovery row fit")
    }

    /// Returns the number of blocks that the encoder holds for a group: two chunks, and a sum.
    fn held(self) -> u64 {
        2 * self.recovery(self.rows()).next_power_of_two() + 1
    }
}

/// A run of blocks that are encoded together, and its recovery blocks.
///
/// Block `i` of the run is row `i / groups` of the group `i % groups`, so neighbours are in different groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The first block of the stream that it has.
    pub first: u64,
    /// The number of data blocks: at least one.
    pub blocks: u64,
    /// The number of groups: from 1 to the number of blocks.
    pub groups: u64,
    /// The number of recovery rows: each group has so many recovery blocks.
    pub recovery: u64,
    /// Where the recovery blocks begin in the parity file. They lie row by row.
    pub offset: u64,
    /// The number of recovery blocks of the batches before.
    pub earlier: u64,
}

impl Batch {
    /// Returns the numbers of its data blocks in the stream.
    pub fn range(&self) -> Range<u64> {
        self.first..self.first + self.blocks
    }

    /// Returns the number of recovery blocks.
    pub fn recovery_blocks(&self) -> u64 {
        self.groups * self.recovery
    }

    /// Returns the number of data rows of a group.
    pub fn rows(&self, group: u64) -> u64 {
        (self.blocks - group).div_ceil(self.groups)
    }

    /// Returns the number of the block in the stream.
    pub fn block(&self, group: u64, row: u64) -> u64 {
        self.first + row * self.groups + group
    }

    /// Returns the number of rows that a chunk of the code has: the first power of two that is not less than the number of
    /// recovery rows.
    pub fn chunk(&self) -> u64 {
        self.recovery.next_power_of_two()
    }

    /// Returns whether so many neighbouring blocks may be lost anywhere.
    pub(crate) fn survives(&self, blocks: u64) -> bool {
        blocks.min(self.blocks) <= self.burst()
    }

    /// Returns the chance that data of the batch is lost, if each of its blocks is lost with this chance, independently
    /// of the others.
    pub fn loss(&self, lost: f64) -> f64 {
        let rows = self.rows(0) + self.recovery;
        if lost <= 0.0 || lost >= 1.0 {
            return lost.clamp(0.0, 1.0);
        }
        // The terms of the binomial distribution, relative to its largest one: those that are too small do not count. No
        // logarithm is needed, so that ftk starts without the mathematical library.
        let next = |nth: u64| (rows - nth) as f64 / (nth + 1) as f64 * lost / (1.0 - lost);
        let (mut all, mut fatal) = (0.0, 0.0);
        let mut add = |nth, term| {
            all += term;
            fatal += if nth > self.recovery { term } else { 0.0 };
        };
        let largest = (((rows + 1) as f64 * lost) as u64).min(rows);
        let mut term = 1.0;
        for nth in largest..=rows {
            add(nth, term);
            term *= next(nth);
        }
        term = 1.0;
        for nth in (0..largest).rev() {
            term /= next(nth);
            add(nth, term);
        }
        any_of(fatal / all, self.groups)
    }

    /// Returns the number of neighbouring blocks that may be lost anywhere in the batch.
    pub fn burst(&self) -> u64 {
        self.recovery_blocks()
    }
}

/// Returns the length of blocks for `bytes` of contents: a power of two from 4 KiB to 1 MiB.
///
/// `memory` is what the encoder may use, in bytes. If it is small, blocks become shorter.
pub fn block_len(bytes: u64, redundancy: Redundancy, memory: u64) -> u64 {
    let mut block = SHORTEST;
    let is_enough = |block: u64| redundancy.held().saturating_mul(GROUPS * block) <= memory;
    while block < LONGEST && bytes / block > BLOCKS && is_enough(2 * block) {
        block *= 2;
    }
    block
}

/// Returns the number of groups that fit into the memory: at least one.
fn most(block: u64, redundancy: Redundancy, memory: u64) -> u64 {
    (memory / (redundancy.held() * block)).max(1)
}

/// Returns the numbers of data blocks and of recovery blocks of the largest batch within the memory.
pub(crate) fn largest(block: u64, redundancy: Redundancy, memory: u64) -> (u64, u64) {
    let (groups, rows) = (most(block, redundancy, memory), redundancy.rows());
    (groups.saturating_mul(rows), groups.saturating_mul(redundancy.recovery(rows)))
}

/// Divides a stream of `blocks` into batches of about the same size, as few as `memory` permits. Their
/// [offsets](Batch::offset) count from 0.
///
/// `block` is the length of a block, and `memory` what the encoder may use, in bytes. It needs at least one group.
pub fn batches(blocks: u64, block: u64, redundancy: Redundancy, memory: u64) -> Vec<Batch> {
    let most = most(block, redundancy, memory);
    let groups = blocks.div_ceil(redundancy.rows());
    let count = groups.div_ceil(most);
    let (mut first, mut earlier) = (0, 0);
    let mut all = Vec::new();
    // Divides so many into equal parts, of which these end: products do not fit into 64 bits.
    let end = |of: u64, part: u64, parts: u64| (u128::from(of) * u128::from(part) / u128::from(parts)) as u64;
    for nth in 0..count {
        let (before, after) = (end(groups, nth, count), end(groups, nth + 1, count));
        let (next, groups) = (end(blocks, after, groups), after - before);
        let blocks = next - first;
        let recovery = redundancy.recovery(blocks.div_ceil(groups));
        let batch = Batch { first, blocks, groups, recovery, offset: earlier * block, earlier };
        first = next;
        earlier += batch.recovery_blocks();
        all.push(batch);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn groups_of_usual_shares_fill_the_transform() {
        for (millionths, rows, recovery) in
            [(50_000, 960, 48), (100_000, 896, 90), (10_000, 1008, 11), (1, 1023, 1), (1_000_000, 512, 512)]
        {
            let redundancy = Redundancy::new(millionths).unwrap();
            assert_eq!((redundancy.rows(), redundancy.recovery(rows)), (rows, recovery), "{millionths}");
        }
        assert_eq!(Redundancy::new(0), None);
        assert_eq!(Redundancy::new(1_000_001), None);
    }

    #[test]
    fn blocks_become_longer_with_the_tree_and_shorter_with_the_memory() {
        let redundancy = Redundancy::new(50_000).unwrap();
        for (bytes, memory, block) in [
            (0, 1 << 30, 4 << 10),
            (5 << 30, 1 << 30, 8 << 10),
            (500 << 30, 1 << 30, 512 << 10),
            (500 << 40, 2 << 30, 1 << 20),
            (500 << 30, 64 << 20, 32 << 10),
            (500 << 30, 0, 4 << 10),
        ] {
            assert_eq!(block_len(bytes, redundancy, memory), block, "{bytes} {memory}");
        }
    }

    #[test]
    fn the_chance_of_a_loss_is_that_of_the_binomial_distribution() {
        let batch = |groups, rows: u64, recovery| Batch {
            first: 0,
            blocks: groups * rows,
            groups,
            recovery,
            offset: 0,
            earlier: 0,
        };
        let near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        // Two of two, at least two of three, and the same in one of two groups.
        near(batch(1, 1, 1).loss(0.5), 0.25);
        near(batch(1, 2, 1).loss(0.1), 0.028);
        near(batch(2, 2, 1).loss(0.1), 1.0 - (1.0 - 0.028) * (1.0 - 0.028));
        // 48 of 1,008: with fractions of integers.
        near(batch(1, 960, 48).loss(0.01), 5.992739838968972e-19);
        assert_eq!((batch(3, 5, 1).loss(0.0), batch(3, 5, 1).loss(1.0)), (0.0, 1.0));
    }

    #[test]
    fn chances_of_independent_events() {
        assert_eq!(
            (any_of(0.0, 9), any_of(0.3, 0), any_of(0.3, 1), any_of(1.0, u64::MAX)),
            (0.0, 0.0, 0.3, 1.0)
        );
        assert_eq!((any_of(0.5, 3), either_of(0.5, 0.25)), (0.875, 0.625));
        // Each of the terms below is lost if it is subtracted from 1 first.
        assert_eq!((either_of(1e-20, 1e-30), any_of(1e-20, 5)), (1e-20 + 1e-30, 5e-20));
    }

    proptest! {
        /// The same sum, of logarithms.
        #[test]
        fn the_chance_of_a_loss_agrees_with_logarithms(
            rows in 1_u64..1000, recovery in 1_u64..60, groups in 1_u64..5000, lost in 1e-9..0.999_f64,
        ) {
            let batch = Batch { first: 0, blocks: groups * rows, groups, recovery, offset: 0, earlier: 0 };
            let all = rows + recovery;
            let mut term = all as f64 * (-lost).ln_1p();
            let mut group = 0.0;
            for nth in 1..=all {
                term += ((all - nth + 1) as f64).ln() - (nth as f64).ln() + lost.ln() - (-lost).ln_1p();
                group += if nth > recovery { term.exp() } else { 0.0 };
            }
            let expected = -(groups as f64 * (-f64::min(group, 1.0)).ln_1p()).exp_m1();
            let found = batch.loss(lost);
            prop_assert!((found - expected).abs() <= 1e-9 * expected + 1e-300, "{found} {expected}");
        }

        #[test]
        fn batches_cover_the_stream_within_the_memory(
            blocks in 0_u64..2_000_000, millionths in 1_u32..=1_000_000, memory in 0_u64..(2 << 30),
        ) {
            let redundancy = Redundancy::new(millionths).unwrap();
            let all = batches(blocks, SHORTEST, redundancy, memory);
            let (mut first, mut earlier) = (0, 0);
            for batch in &all {
                prop_assert_eq!((batch.first, batch.earlier), (first, earlier));
                prop_assert_eq!(batch.offset, earlier * SHORTEST);
                prop_assert!(batch.blocks > 0 && (1..=batch.blocks).contains(&batch.groups));
                let rows: u64 = (0..batch.groups).map(|group| batch.rows(group)).sum();
                prop_assert_eq!(rows, batch.blocks);
                prop_assert!(batch.rows(0) + batch.chunk() <= ROWS);
                // The share that was asked for, rounded up to whole rows.
                let wanted = batch.rows(0) * u64::from(millionths);
                prop_assert!(batch.recovery * 1_000_000 >= wanted);
                prop_assert!((batch.recovery - 1) * 1_000_000 < wanted);
                prop_assert!(batch.groups == 1 || batch.groups * redundancy.held() * SHORTEST <= memory);
                first += batch.blocks;
                earlier += batch.recovery_blocks();
            }
            prop_assert_eq!(first, blocks);
        }

        #[test]
        fn neighbours_are_in_different_groups(
            blocks in 1_u64..5_000, millionths in 1_u32..=1_000_000, start in any::<u64>(),
        ) {
            let redundancy = Redundancy::new(millionths).unwrap();
            for batch in batches(blocks, SHORTEST, redundancy, 1 << 26) {
                let burst = batch.burst().min(batch.blocks);
                let start = start % (batch.blocks - burst + 1);
                for group in 0..batch.groups {
                    let rows = (0..batch.rows(group)).map(|row| batch.block(group, row) - batch.first);
                    let lost = rows.filter(|it| (start..start + burst).contains(it)).count() as u64;
                    prop_assert!(lost <= batch.recovery);
                }
            }
        }
    }
}
