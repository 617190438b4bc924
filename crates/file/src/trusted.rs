//! Local file systems that report holes and inode numbers reliably.

use std::os::fd::AsFd;

/// Local file systems that report holes and inode numbers reliably, by their numbers in `linux/magic.h`.
///
/// Each of them answers `SEEK_DATA` from the structures that a read would use, and counts data that is not
/// yet on the disk as data. An inode number belongs to one file of the file system. The thread that reads a file
/// requests the data from the disk itself, so the kernel counts the input for this thread.
///
/// | file system | why it is trusted |
/// |---|---|
/// | ext3, ext4 | They look into the extent tree, delayed allocations and the page cache of unwritten extents (`iomap_seek_data`). |
/// | ext2 | Its number is that of ext4, which normally mounts it. Its own driver reports no holes. |
/// | XFS | As ext4, under the lock of the inode's extents. |
/// | Btrfs | It looks into the extent tree and delayed allocations while it holds the lock of the extents. |
/// | tmpfs | The page cache is the only storage. Pages that were never allocated are holes; swapped pages are data. |
///
/// These are excluded on purpose:
///
/// | file system | why it is not trusted |
/// |---|---|
/// | ZFS | It reported holes in files that were just written (openzfs/zfs issues 15526 and 15933). |
/// | FUSE | A program invents the answers. Some of these programs give several files one inode number. |
/// | overlayfs, ecryptfs | They pass on the answers of other file systems, which may be any of those in this list. |
/// | NFS, SMB, Ceph, 9p, AFS | A server answers. Its file system is unknown, and its answer may be older than the file. |
/// | FAT, exFAT, ISO 9660 | They have no holes, so nothing is gained, and FAT invents inode numbers at each mount. |
/// | procfs, sysfs and the like | Their sizes are synthetic, so that a hole would replace content. |
/// | all others (F2FS, bcachefs, OCFS2, GFS2...) | They have not been examined. |
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
