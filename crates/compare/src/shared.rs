//! Extents that two files share on the disk, because one is a clone of the other. They are equal without
//! being read.

use ftk_read::{Extent, File, extents, share_a_disk};

use crate::holes::KnownRange;

/// File systems on which files can share extents: Btrfs, XFS, bcachefs, OCFS2. The numbers are from
/// `linux/magic.h`, except for bcachefs. No other file system is queried.
const SHARING: [u32; 4] = [0x9123_683e, 0x5846_5342, 0xca45_1a4e, 0x7461_636f];

/// After this many queries in a row that find no shared extent, no more are made. Files share extents because
/// one was cloned from the other, and such files usually share many, so further queries would find little.
const MAX_TRIES: u32 = 3;

/// The extents that two files share, looked up in ascending order of offsets.
pub(crate) struct Shared<'f> {
    a: (&'f File, u64),
    b: (&'f File, u64),
    tries_left: u32,
    /// The offset of the last lookup, and its result.
    last: (u64, KnownRange),
}

impl<'f> Shared<'f> {
    /// Prepares the lookup for two files, each with its number of skipped bytes. Nothing is queried if the
    /// files cannot share extents.
    pub(crate) fn new(a: (&'f File, u64), b: (&'f File, u64), is_wanted: bool) -> Self {
        let tries_left = if is_wanted && can_share(a.0, b.0) { MAX_TRIES } else { 0 };
        Self { a, b, tries_left, last: (u64::MAX, KnownRange::NOWHERE) }
    }

    /// Whether both files share the bytes at this offset on the disk, and where this ends.
    pub(crate) fn at(&mut self, offset: u64) -> KnownRange {
        let (start, known) = self.last;
        if self.tries_left > 0 && !(start..known.end).contains(&offset) {
            // The second query first writes out unwritten data, which is expensive. It only confirms a shared
            // extent that the first query found.
            let mut known = self.ask(offset, false);
            if known.holds {
                known = self.ask(offset, true);
            }
            self.tries_left = if known.holds { MAX_TRIES } else { self.tries_left - 1 };
            self.last = (offset, known);
        }
        if self.tries_left > 0 { self.last.1 } else { KnownRange::NOWHERE }
    }

    fn ask(&self, offset: u64, sync: bool) -> KnownRange {
        let ask = |(file, skip)| extents(file, skip + offset, sync);
        match (ask(self.a), ask(self.b)) {
            (Ok(a), Ok(b)) => common(offset, (&a, self.a.1), (&b, self.b.1)),
            _ => KnownRange::NOWHERE,
        }
    }
}

/// Whether both files are on one file system that lets files share extents, with the same disk addresses.
fn can_share(a: &File, b: &File) -> bool {
    let kind = |file| rustix::fs::fstatfs(file).map_or(0, |fs| fs.f_type as u32);
    a.stat().dev == b.stat().dev && SHARING.contains(&kind(a)) && share_a_disk(a, b)
}

/// Compares two lists of extents from `offset` on, where each file has its own number of skipped bytes.
/// Returns whether the bytes are shared, and where this changes or the lists end.
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

/// Returns the disk address of the byte at `offset` after the skipped bytes, if it is shared. Also returns
/// the end of its extent or gap; this is `offset` itself if nothing is known.
fn place(extents: &[Extent], skip: u64, offset: u64) -> (Option<u64>, u64) {
    let at = skip.saturating_add(offset);
    match extents.iter().find(|extent| extent.logical + extent.len > at) {
        Some(extent) if extent.logical <= at => {
            let end = extent.logical + extent.len - skip;
            (extent.shared_at().map(|shared_at| shared_at + (at - extent.logical)), end)
        }
        Some(next) => (None, next.logical - skip),
        // There is nothing after the file's last extent. If the list is incomplete, more extents may follow.
        None if extents.last().is_none_or(|last| last.is_last) => (None, u64::MAX),
        None => (None, offset),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIB: u64 = 1 << 10;

    /// Creates consecutive extents from lengths and disk addresses in KiB; `None` is an extent that is not
    /// shared.
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
    fn a_clone_shares_everything_however_its_extents_are_split() {
        let whole = extents(0, &[(64, Some(1000))]);
        let cut = extents(0, &[(16, Some(1000)), (48, Some(1016))]);
        let end = KnownRange { holds: true, end: 64 * KIB };
        assert_eq!(common(0, (&whole, 0), (&cut, 0)), end);
        assert_eq!(common(20 * KIB + 7, (&cut, 0), (&whole, 0)), end);
    }

    #[test]
    fn rewritten_ranges_are_not_shared() {
        let old = extents(0, &[(64, Some(1000))]);
        let new = extents(0, &[(16, Some(1000)), (16, Some(5000)), (16, None), (16, Some(1048))]);
        let holds = |at: u64| common(at * KIB, (&old, 0), (&new, 0));
        assert_eq!(holds(0), KnownRange { holds: true, end: 16 * KIB });
        assert_eq!(holds(16), KnownRange { holds: false, end: 48 * KIB });
        assert_eq!(holds(50), KnownRange { holds: true, end: 64 * KIB });
        assert_eq!(holds(64), KnownRange { holds: false, end: u64::MAX });
    }

    #[test]
    fn skipped_bytes_are_part_of_the_position() {
        let a = extents(8, &[(64, Some(1008))]);
        let b = extents(0, &[(64, Some(1008))]);
        assert_eq!(common(0, (&a, 8 * KIB), (&b, 0)), KnownRange { holds: true, end: 64 * KIB });
        assert!(!common(0, (&a, 9 * KIB), (&b, 0)).holds);
        assert!(!common(8 * KIB, (&a, 0), (&b, 0)).holds);
    }

    #[test]
    fn nothing_is_known_past_an_incomplete_extent_list() {
        let mut listed = extents(0, &[(16, Some(1000))]);
        listed[0].is_last = false;
        assert_eq!(common(0, (&listed, 0), (&listed, 0)), KnownRange { holds: true, end: 16 * KIB });
        assert_eq!(common(16 * KIB, (&listed, 0), (&listed, 0)), KnownRange::NOWHERE);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Checks against the disk address of every single KiB.
        #[test]
        fn known_ranges_agree_with_every_single_kib(
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
            let known = common(offset * KIB, (&a, skips.0 * KIB), (&b, skips.1 * KIB));
            let end = (known.end / KIB).min(100);
            prop_assert!(end > offset);
            prop_assert!((offset..end).all(|kib| holds(kib) == known.holds));
        }
    }
}
