//! What two files share on the disk, since one was cloned from the other: equal without being read.

use ftk_read::{Extent, File, extents, share_a_disk};

use crate::holes::KnownRange;

/// File systems on which files share extents, by the numbers of `linux/magic.h` (bcachefs by its own): Btrfs, XFS,
/// bcachefs, OCFS2. Others are not asked.
const SHARING: [u32; 4] = [0x9123_683e, 0x5846_5342, 0xca45_1a4e, 0x7461_636f];

/// So many times in a row nothing shared is found before nobody is asked any more: files that share anything were
/// cloned, and mostly share much.
const PATIENCE: u32 = 3;

/// What two files share, in the order in which it is asked for.
pub(crate) struct Shared<'f> {
    a: (&'f File, u64),
    b: (&'f File, u64),
    patience: u32,
    /// Where the last answer began, and what it was.
    last: (u64, KnownRange),
}

impl<'f> Shared<'f> {
    /// Of two files, each with what is skipped of it. Nothing is asked where they cannot share.
    pub(crate) fn new(a: (&'f File, u64), b: (&'f File, u64), is_wanted: bool) -> Self {
        let patience = if is_wanted && can_share(a.0, b.0) { PATIENCE } else { 0 };
        Self { a, b, patience, last: (u64::MAX, KnownRange::NOWHERE) }
    }

    /// Whether both files share what is at this offset, and up to where that goes.
    pub(crate) fn at(&mut self, offset: u64) -> KnownRange {
        let (start, stretch) = self.last;
        if self.patience > 0 && !(start..stretch.end).contains(&offset) {
            // Writing out what waits costs more than asking: only where there is something to be confirmed.
            let mut stretch = self.ask(offset, false);
            if stretch.holds {
                stretch = self.ask(offset, true);
            }
            self.patience = if stretch.holds { PATIENCE } else { self.patience - 1 };
            self.last = (offset, stretch);
        }
        if self.patience > 0 { self.last.1 } else { KnownRange::NOWHERE }
    }

    fn ask(&self, offset: u64, sync: bool) -> KnownRange {
        let ask = |(file, skip)| extents(file, skip + offset, sync);
        match (ask(self.a), ask(self.b)) {
            (Ok(a), Ok(b)) => common(offset, (&a, self.a.1), (&b, self.b.1)),
            _ => KnownRange::NOWHERE,
        }
    }
}

/// Whether both are on one file system that lets files share extents, and count places alike.
fn can_share(a: &File, b: &File) -> bool {
    let kind = |file| rustix::fs::fstatfs(file).map_or(0, |fs| fs.f_type as u32);
    a.stat().dev == b.stat().dev && SHARING.contains(&kind(a)) && share_a_disk(a, b)
}

/// What two lists of extents have in common from `offset` on, which is so much further in each file: whether places
/// are shared there, and up to where it stays like that or nothing more is known.
fn common(offset: u64, a: (&[Extent], u64), b: (&[Extent], u64)) -> KnownRange {
    let mut common = None;
    let mut at = offset;
    loop {
        let [(a, a_end), (b, b_end)] = [a, b].map(|(extents, skip)| place(extents, skip, at));
        let (holds, end) = (a.is_some() && a == b, a_end.min(b_end));
        match common {
            Some(KnownRange { holds: before, .. }) if before != holds || end == at => break,
            None if end == at => break,
            _ => common = Some(KnownRange { holds, end }),
        }
        at = end;
    }
    common.unwrap_or(KnownRange::NOWHERE)
}

/// Where the byte `offset` behind what is skipped lies, if that is shared, and up to which offset its extent, or the
/// gap it is in, goes. The same offset where nothing is known of it.
fn place(extents: &[Extent], skip: u64, offset: u64) -> (Option<u64>, u64) {
    let at = skip.saturating_add(offset);
    match extents.iter().find(|extent| extent.logical + extent.len > at) {
        Some(extent) if extent.logical <= at => {
            let end = extent.logical + extent.len - skip;
            (extent.shared_at().map(|shared_at| shared_at + (at - extent.logical)), end)
        }
        Some(next) => (None, next.logical - skip),
        // Behind the last extent of the file there is none; behind the last that was told there may be.
        None if extents.last().is_none_or(|last| last.is_last) => (None, u64::MAX),
        None => (None, offset),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIB: u64 = 1 << 10;

    /// Extents one behind the other, from their places in KiB; `None`: shared with nobody.
    fn extents(start: u64, lens_and_places: &[(u64, Option<u64>)]) -> Vec<Extent> {
        let mut logical = start * KIB;
        let last = lens_and_places.len().saturating_sub(1);
        let extent = |(nth, &(len, place)): (usize, &(u64, Option<u64>))| {
            let len = len * KIB;
            let extent = Extent {
                logical,
                physical: place.unwrap_or_default() * KIB,
                len,
                is_plain: true,
                is_shared: place.is_some(),
                is_inline: false,
                is_last: nth == last,
            };
            logical += len;
            extent
        };
        lens_and_places.iter().enumerate().map(extent).collect()
    }

    #[test]
    fn a_clone_shares_all_however_it_is_cut() {
        let whole = extents(0, &[(64, Some(1000))]);
        let cut = extents(0, &[(16, Some(1000)), (48, Some(1016))]);
        let end = KnownRange { holds: true, end: 64 * KIB };
        assert_eq!(common(0, (&whole, 0), (&cut, 0)), end);
        assert_eq!(common(20 * KIB + 7, (&cut, 0), (&whole, 0)), end);
    }

    #[test]
    fn what_was_rewritten_is_not_shared() {
        let old = extents(0, &[(64, Some(1000))]);
        let new = extents(0, &[(16, Some(1000)), (16, Some(5000)), (16, None), (16, Some(1048))]);
        let holds = |at: u64| common(at * KIB, (&old, 0), (&new, 0));
        assert_eq!(holds(0), KnownRange { holds: true, end: 16 * KIB });
        assert_eq!(holds(16), KnownRange { holds: false, end: 48 * KIB });
        assert_eq!(holds(50), KnownRange { holds: true, end: 64 * KIB });
        assert_eq!(holds(64), KnownRange { holds: false, end: u64::MAX });
    }

    #[test]
    fn a_shift_is_part_of_the_place() {
        let a = extents(8, &[(64, Some(1008))]);
        let b = extents(0, &[(64, Some(1008))]);
        assert_eq!(common(0, (&a, 8 * KIB), (&b, 0)), KnownRange { holds: true, end: 64 * KIB });
        assert!(!common(0, (&a, 9 * KIB), (&b, 0)).holds);
        assert!(!common(8 * KIB, (&a, 0), (&b, 0)).holds);
    }

    #[test]
    fn nothing_is_said_of_what_was_not_told() {
        let mut told = extents(0, &[(16, Some(1000))]);
        told[0].is_last = false;
        assert_eq!(common(0, (&told, 0), (&told, 0)), KnownRange { holds: true, end: 16 * KIB });
        assert_eq!(common(16 * KIB, (&told, 0), (&told, 0)), KnownRange::NOWHERE);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Against the place of every single KiB.
        #[test]
        fn what_holds_holds_everywhere_and_ends_where_it_ends(
            a in prop::collection::vec((1..4_u64, prop::option::of(0..6_u64)), 0..8),
            b in prop::collection::vec((1..4_u64, prop::option::of(0..6_u64)), 0..8),
            starts in (0..3_u64, 0..3_u64),
            skips in (0..4_u64, 0..4_u64),
            offset in 0..20_u64,
        ) {
            let (a, b) = (extents(starts.0, &a), extents(starts.1, &b));
            let at = |extents: &[Extent], kib: u64| {
                let extent = extents.iter().find(|it| (it.logical..it.logical + it.len).contains(&(kib * KIB)))?;
                Some(extent.shared_at()? + (kib * KIB - extent.logical))
            };
            let holds = |kib: u64| {
                let (a, b) = (at(&a, skips.0 + kib), at(&b, skips.1 + kib));
                a.is_some() && a == b
            };
            let stretch = common(offset * KIB, (&a, skips.0 * KIB), (&b, skips.1 * KIB));
            let end = (stretch.end / KIB).min(100);
            prop_assert!(end > offset);
            prop_assert!((offset..end).all(|kib| holds(kib) == stretch.holds));
        }
    }
}
