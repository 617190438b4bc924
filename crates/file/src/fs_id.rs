//! The identity of a file system, which stays the same when it is mounted again.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "one ioctl, to which a pointer is passed"))]

use std::io;
use std::os::fd::AsFd;

/// The identity of a file system: together with an inode number it names a file across mounts and reboots.
///
/// Only some file systems have one that can be relied on:
///
/// - ext2, ext3, ext4: `f_fsid` is derived from the UUID (`ext4_statfs` in `fs/ext4/super.c`).
/// - Btrfs: `f_fsid` is derived from the UUID and the number of the subvolume (`btrfs_statfs` in
///   `fs/btrfs/super.c`). Inode numbers are unique only within a subvolume.
/// - XFS: the UUID. Its `f_fsid` is only the number of the device.
///
/// The UUIDs of subvolumes and the [lineages](crate::Subvolume::lineage) of snapshots have this type, too.
///
/// All others have none. On tmpfs, a write through a mapping does not always change the times of the file.
/// FUSE and network file systems invent or reuse inode numbers. Overlays have the identity of another file
/// system or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FsId([u8; 16]);

impl FsId {
    /// The number of Btrfs in `linux/magic.h`.
    pub(crate) const BTRFS: u32 = 0x9123_683e;

    /// Returns the identity of the file system that contains an open file or directory, or `None` if it has
    /// none.
    ///
    /// # Errors
    /// Any error of `fstatfs` and `ioctl`.
    #[cfg(target_os = "linux")]
    pub fn of(file: impl AsFd) -> io::Result<Option<Self>> {
        /// Numbers in `linux/magic.h`.
        const EXT: u32 = 0xef53;
        const XFS: u32 = 0x5846_5342;

        let magic = rustix::fs::fstatfs(&file)?.f_type as u32;
        match magic {
            EXT | Self::BTRFS => {
                let fsid = rustix::fs::fstatvfs(&file)?.f_fsid;
                Ok((fsid != 0).then(|| {
                    let mut id = [0; 16];
                    id[..4].copy_from_slice(&magic.to_be_bytes());
                    id[8..].copy_from_slice(&fsid.to_be_bytes());
                    Self(id)
                }))
            }
            XFS => xfs_uuid(file).map(|uuid| (uuid != [0; 16]).then_some(Self(uuid))),
            _ => Ok(None),
        }
    }

    /// Returns `None`: nothing is known about the file systems of this platform.
    ///
    /// # Errors
    /// None.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: impl AsFd) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Returns whether both are subvolumes of one Btrfs file system.
    ///
    /// The number of a subvolume changes only the second half of `f_fsid`, which comes before the first half here, as
    /// long as it is less than 2^32.
    pub fn is_on_same_btrfs(&self, other: &Self) -> bool {
        self.is_btrfs() && other.is_btrfs() && self.0[12..] == other.0[12..]
    }

    pub(crate) fn is_btrfs(&self) -> bool {
        self.0[..8] == u64::from(Self::BTRFS).rotate_left(32).to_be_bytes()
    }

    /// Restores an identity from the bytes that [`as_bytes`](Self::as_bytes) returned.
    pub const fn from_bytes(id: [u8; 16]) -> Self {
        Self(id)
    }

    /// Returns the identity as bytes, for use in keys.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Asks for the geometry of an XFS file system (`XFS_IOC_FSGEOMETRY_V1` in `fs/xfs/libxfs/xfs_fs.h`), and
/// returns the UUID in it.
#[cfg(target_os = "linux")]
fn xfs_uuid(file: impl AsFd) -> io::Result<[u8; 16]> {
    use rustix::ioctl::{Getter, Opcode, ioctl, opcode};

    /// `struct xfs_fsop_geom_v1`.
    #[repr(C)]
    struct Geometry {
        before: [u64; 8],
        uuid: [u8; 16],
        after: [u64; 4],
    }
    const GEOMETRY: Opcode = opcode::read::<Geometry>(b'X', 100);

    // SAFETY: on XFS, which the caller has checked, the kernel writes exactly this structure, of which every
    // bit pattern is valid.
    let geometry = unsafe { ioctl(file, Getter::<GEOMETRY, Geometry>::new()) }?;
    Ok(geometry.uuid)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn files_of_one_file_system_have_one_identity() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let file = File::create(&path).unwrap();
        let of_dir = FsId::of(File::open(dir.path()).unwrap()).unwrap();
        assert_eq!(FsId::of(&file).unwrap(), of_dir);
    }

    #[test]
    fn file_systems_without_a_lasting_identity_have_none() {
        for path in ["/proc", "/sys", "/dev/shm"] {
            let Ok(dir) = File::open(path) else { continue };
            assert_eq!(FsId::of(dir).unwrap(), None, "{path}");
        }
    }
}
