//! Reflinks: the victim shares the keeper's blocks, and keeps everything else.

use std::io;
use std::os::fd::AsFd;

use ftk_read::{Extent, share_a_disk};
use ftk_sched::Stop;
use rustix::io::Errno;

use crate::action::Freed;
use crate::dedupe::dedupe;
use crate::prove::Proven;
use crate::refusal::{ActError, Refusal};

/// Bytes per call: the most that btrfs compares at once (`BTRFS_MAX_DEDUPE_LEN`). Except at the end of the
/// file it must be a multiple of the block size, and it is one for every file system.
const CHUNK: u64 = 16 << 20;

/// Shares all blocks of the two files that are not shared yet. The kernel first compares them, with both
/// files locked against writes. A victim that differs keeps all its bytes.
///
/// The victim is not opened for writing. Since Linux 4.20 that is not necessary if the caller owns it, may
/// write to it, or is root. So a program can be shared while it is running.
pub(crate) fn share(proven: &Proven, stop: &Stop) -> Result<Freed, ActError> {
    let (victim, keeper) = (&proven.victim, &proven.keeper);
    let before = extents(&victim.file, true).ok();
    if let (Some(ours), Ok(theirs)) = (&before, extents(&keeper.file, true))
        && share_a_disk(&victim.file, &keeper.file)
        && is_shared(ours, &theirs)
    {
        return Ok(Freed(0));
    }
    let size = victim.stat.size;
    let mut at = 0;
    while at < size {
        if stop.is_raised() {
            return Err(ActError::Stopped); // blocks that are already shared may stay so
        }
        match dedupe(&keeper.file, &victim.file, at, CHUNK.min(size - at)) {
            Ok(Some(0)) => return Err(ActError::failed("share blocks", io::ErrorKind::InvalidInput)),
            Ok(Some(len)) => at += len,
            Ok(None) => return Err(Refusal::ContentDiffers.into()),
            Err(error) => {
                return Err(match Errno::from_io_error(&error) {
                    // On btrfs: only one of the files has the attribute `C` (no copy on write).
                    Some(Errno::INVAL) => Refusal::Unsupported.into(),
                    Some(errno) => ActError::of_naming("share blocks", errno),
                    None => ActError::failed("share blocks", error),
                });
            }
        }
    }
    let after = extents(&victim.file, true).ok();
    Ok(Freed(match (before, after) {
        (Some(before), Some(after)) => owned(&before).saturating_sub(owned(&after)),
        _ => at,
    }))
}

/// Returns whether two files already share all their blocks, as far as the file system reports it.
pub(crate) fn shares_all(a: impl AsFd, b: impl AsFd) -> bool {
    share_a_disk(&a, &b)
        && extents(a, false).is_ok_and(|a| extents(b, false).is_ok_and(|b| is_shared(&a, &b)))
}

/// Returns all extents of a file. With `sync`, data without a place on the disk is written first.
fn extents(file: impl AsFd, sync: bool) -> io::Result<Vec<Extent>> {
    let mut all: Vec<Extent> = Vec::new();
    loop {
        let start = all.last().map_or(0, |last| last.logical + last.len);
        let more = ftk_read::extents(&file, start, sync)?;
        let is_end = more.last().is_none_or(|last| last.is_last);
        all.extend(more);
        if is_end {
            return Ok(all);
        }
    }
}

/// Returns whether both files have the same extents on the disk.
fn is_shared(a: &[Extent], b: &[Extent]) -> bool {
    let place = |extent: &Extent| (extent.logical, extent.shared_at(), extent.len);
    !a.is_empty()
        && a.iter().map(place).eq(b.iter().map(place))
        && a.iter().all(|it| it.shared_at().is_some())
}

/// Returns the bytes on the disk that no other file uses.
fn owned(extents: &[Extent]) -> u64 {
    extents.iter().filter(|extent| !extent.is_shared && !extent.is_inline).map(|extent| extent.len).sum()
}

/// Returns the bytes of a file's extents that other files share; 0 if unknown.
pub(crate) fn shared_bytes(file: impl AsFd) -> u64 {
    shared_extents(file).map(|extent| extent.len).sum()
}

/// Returns the extents of a file that other files share, or nothing if these are unknown.
pub(crate) fn shared_extents(file: impl AsFd) -> impl Iterator<Item = Extent> {
    extents(file, false).unwrap_or_default().into_iter().filter(|extent| extent.is_shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shared extent of 4 KiB.
    fn extent(logical: u64, physical: u64) -> Extent {
        let (len, is_plain, is_shared) = (4096, true, true);
        Extent { logical, physical, len, is_plain, is_shared, is_inline: false, is_last: false }
    }

    #[test]
    fn only_plain_extents_at_the_same_place_count_as_shared() {
        let one = [extent(0, 8192), Extent { is_last: true, ..extent(4096, 65536) }];
        assert!(is_shared(&one, &one));
        assert!(!is_shared(&[], &[]), "nothing is known of an empty map");
        assert!(!is_shared(&one, &one[..1]));
        for other in [
            extent(0, 4096),    // elsewhere on the disk
            extent(1024, 8192), // elsewhere in the file
            Extent { is_shared: false, ..one[0] },
            Extent { is_plain: false, ..one[0] }, // compressed, or without a place yet
        ] {
            let changed = [other, one[1]];
            assert!(!is_shared(&one, &changed) && !is_shared(&changed, &one), "{other:?}");
        }
        let compressed = [Extent { is_plain: false, ..one[0] }];
        assert!(!is_shared(&compressed, &compressed), "the places are equal, the bytes may differ");
    }

    #[test]
    fn shared_and_inline_extents_free_nothing() {
        let owned_one = Extent { is_shared: false, ..extent(0, 0) };
        let inline = Extent { is_inline: true, is_plain: false, ..owned_one };
        assert_eq!(owned(&[owned_one, extent(4096, 0), inline]), 4096);
    }
}
