//! File systems that report holes and inode numbers reliably.

use std::os::fd::AsFd;

/// Local file systems that report holes and inode numbers reliably, by their numbers in `linux/magic.h`.
///
/// These are excluded on purpose: ZFS has reported holes in files that were just written. FUSE shows what a
/// program invents, and some of these programs give several files one inode number. Overlays and network file
/// systems pass on what other systems report.
#[cfg(target_os = "linux")]
const TRUSTED: [u32; 4] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
];

/// Whether the file is on a file system that reports holes and inode numbers reliably.
#[cfg(target_os = "linux")]
pub fn is_trusted(file: impl AsFd) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|fs| TRUSTED.contains(&(fs.f_type as u32)))
}

/// Whether the file is on a file system that reports holes and inode numbers reliably. Unknown on this
/// platform, so always false.
#[cfg(not(target_os = "linux"))]
pub fn is_trusted(_: impl AsFd) -> bool {
    false
}
