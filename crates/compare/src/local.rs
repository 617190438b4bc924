//! File systems whose word is taken for holes and inode numbers.

use std::os::fd::AsFd;

/// Local file systems that tell holes and identities right, by the numbers of `linux/magic.h`.
///
/// Missing for a reason: ZFS reported holes in files that were just written; FUSE shows whatever a program makes up, and
/// some of those programs give different files one inode number; overlays and network file systems pass on what others say.
#[cfg(target_os = "linux")]
const TRUSTED: [u32; 4] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
];

/// Whether the file is on such a file system.
#[cfg(target_os = "linux")]
pub fn is_trusted(file: impl AsFd) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|fs| TRUSTED.contains(&(fs.f_type as u32)))
}

/// Whether the file is on such a file system: not known here.
#[cfg(not(target_os = "linux"))]
pub fn is_trusted(_: impl AsFd) -> bool {
    false
}
