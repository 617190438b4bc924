//! Subvolumes of Btrfs, and the origin that the snapshots of one tree have in common.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "two ioctls, to which pointers are passed"))]

use std::os::fd::AsFd;

use crate::FsId;
use crate::version::WRITTEN_BACK_NS;

/// A subvolume of Btrfs. Numbers of transactions grow with every change of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subvolume {
    /// Its UUID.
    pub uuid: Option<FsId>,
    /// The UUID of the subvolume of which this was made as a snapshot.
    pub parent: Option<FsId>,
    /// Whether nothing in it can be changed.
    pub is_read_only: bool,
    /// The transaction that changed something in it last.
    pub changed: u64,
    /// The transaction that made it.
    pub made: u64,
    /// When it was made, in nanoseconds since the Unix epoch.
    pub made_ns: i128,
}

impl Subvolume {
    /// Returns the subvolume that contains an open file or directory, or `None` if that is not on Btrfs or the kernel
    /// does not say it (before Linux 4.18). Needs no privilege. The descriptor of a directory may be one that is only
    /// for look-ups (`O_PATH`).
    pub fn of(file: impl AsFd) -> Option<Self> {
        ioctls::subvolume(file.as_fd())
    }

    /// Returns the UUID of the subvolume whose states this one and its other snapshots are: of the parent for a
    /// read-only snapshot in which nothing was changed since it was made, or else its own.
    ///
    /// Within a lineage there is one history, so an inode number never means two files: a subvolume does not use one
    /// again. A snapshot that was writable once has a history of its own.
    pub fn lineage(&self) -> Option<FsId> {
        self.parent.filter(|_| self.is_unchanged()).or(self.uuid)
    }

    /// Returns the lineage of the subvolume, which contains an open file or directory. `None` also if a block-wise copy of
    /// the file system is mounted too: its subvolumes have the same UUIDs.
    pub fn mounted_lineage(&self, file: impl AsFd) -> Option<FsId> {
        self.lineage().filter(|_| ioctls::is_mounted_once(file.as_fd()))
    }

    /// Returns the time before which a file must have changed to be complete in this snapshot: an hour before it was made.
    /// `None` if it is not the state of another subvolume.
    ///
    /// To make a snapshot, the kernel first writes all data that programs have written to the subvolume. Then it commits a
    /// transaction, which copies the tree. What is written in between changes the times of its file in the snapshot, while
    /// its data is only in the next one, under the same times. So does a call of `write` or a page fault that has changed
    /// the times and waits. The kernel sets no limit to these periods: they end when the disk has written everything. All
    /// data is taken for written after as long elsewhere ([`is_written_back`](crate::Version::is_written_back)).
    pub fn settled_ns(&self) -> Option<i128> {
        self.parent.filter(|_| self.is_unchanged()).map(|_| self.made_ns.saturating_sub(WRITTEN_BACK_NS))
    }

    /// Returns whether nothing was changed since it was made, and nothing can be.
    fn is_unchanged(&self) -> bool {
        self.is_read_only && self.changed <= self.made
    }
}

/// Returns whether the directory with this inode number is a stub, on a file system with this identity.
///
/// A snapshot has an empty directory where the original has another subvolume. It is on a device of its own, which has
/// the [identity](FsId) of the snapshot, and its times are those of the mount.
pub fn is_subvolume_stub(fs: FsId, ino: u64) -> bool {
    /// `BTRFS_EMPTY_SUBVOL_DIR_OBJECTID`. No other file on Btrfs has this number.
    const STUB: u64 = 2;
    fs.is_btrfs() && ino == STUB
}

#[cfg(target_os = "linux")]
mod ioctls {
    use std::fs;
    use std::os::fd::{BorrowedFd, OwnedFd};

    use rustix::fs::{Mode, OFlags, fstatfs, openat};
    use rustix::io::Errno;
    use rustix::ioctl::{Getter, Opcode, Updater, ioctl, opcode};

    use super::Subvolume;
    use crate::FsId;

    /// The type number of all ioctls of Btrfs (`linux/btrfs.h`).
    const BTRFS: u8 = 0x94;

    pub(super) fn subvolume(file: BorrowedFd<'_>) -> Option<Subvolume> {
        /// `struct btrfs_ioctl_timespec`.
        #[repr(C)]
        struct Time {
            seconds: u64,
            nanoseconds: u32,
        }
        /// `struct btrfs_ioctl_get_subvol_info_args`.
        #[repr(C)]
        struct Info {
            tree: u64,
            name: [u8; 256],
            place: [u64; 2],
            generation: u64,
            flags: u64,
            uuid: [u8; 16],
            parent: [u8; 16],
            received: [u8; 16],
            changed: u64,
            made_by: u64,
            sent_and_received: [u64; 2],
            change_time: Time,
            made: Time,
            send_and_receive_times: [Time; 2],
            reserved: [u64; 8],
        }
        const GET_SUBVOL_INFO: Opcode = opcode::read::<Info>(BTRFS, 60);
        const READ_ONLY: u64 = 1;

        let file = readable(file)?;
        // SAFETY: on Btrfs, which `readable` has checked, the kernel writes exactly this structure, of which every bit
        // pattern is valid.
        let info = unsafe { ioctl(file, Getter::<GET_SUBVOL_INFO, Info>::new()) }.ok()?;
        Some(Subvolume {
            uuid: known(info.uuid),
            parent: known(info.parent),
            is_read_only: info.flags & READ_ONLY != 0,
            changed: info.changed,
            made: info.made_by,
            made_ns: i128::from(info.made.seconds) * 1_000_000_000 + i128::from(info.made.nanoseconds),
        })
    }

    /// Returns whether no copy of the file system is mounted anywhere. The metadata of a copy have the same UUID.
    pub(super) fn is_mounted_once(file: BorrowedFd<'_>) -> bool {
        /// `struct btrfs_ioctl_fs_info_args`.
        #[repr(C)]
        struct Info {
            before: [u64; 5],
            checksum: [u16; 2],
            flags: u64,
            generation: u64,
            metadata: [u8; 16],
            reserved: [u8; 944],
        }
        const FS_INFO: Opcode = opcode::read::<Info>(BTRFS, 31);
        const WITH_METADATA: u64 = 1 << 2;

        let Some(file) = readable(file) else { return false };
        let mut info = Info {
            before: [0; 5],
            checksum: [0; 2],
            flags: WITH_METADATA,
            generation: 0,
            metadata: [0; 16],
            reserved: [0; 944],
        };
        // SAFETY: on Btrfs, which `readable` has checked, the kernel reads the flags and writes exactly this structure,
        // of which every bit pattern is valid.
        if unsafe { ioctl(file, Updater::<FS_INFO, _>::new(&mut info)) }.is_err() {
            return false;
        }
        let own: String = info.metadata.iter().map(|byte| format!("{byte:02x}")).collect();
        // It has a directory for each mounted file system.
        let Ok(mounted) = fs::read_dir("/sys/fs/btrfs") else { return false };
        let uuid = |dir: fs::DirEntry| fs::read_to_string(dir.path().join("metadata_uuid")).ok();
        mounted.flatten().filter_map(uuid).filter(|uuid| uuid.trim_end().replace('-', "") == own).count() == 1
    }

    /// Returns a descriptor for ioctls, if the file or directory is on Btrfs.
    fn readable(file: BorrowedFd<'_>) -> Option<OwnedFd> {
        if fstatfs(file).ok()?.f_type as u32 != FsId::BTRFS {
            return None;
        }
        match openat(file, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Err(Errno::NOTDIR) => file.try_clone_to_owned().ok(),
            dir => dir.ok(),
        }
    }

    fn known(uuid: [u8; 16]) -> Option<FsId> {
        (uuid != [0; 16]).then(|| FsId::from_bytes(uuid))
    }
}

/// Nothing is known about subvolumes on this platform.
#[cfg(not(target_os = "linux"))]
mod ioctls {
    use std::os::fd::BorrowedFd;

    pub(super) fn subvolume(_: BorrowedFd<'_>) -> Option<super::Subvolume> {
        None
    }

    pub(super) fn is_mounted_once(_: BorrowedFd<'_>) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_read_only_snapshot_has_the_lineage_of_its_parent() {
        let [own, parent] = [1, 2].map(|byte| FsId::from_bytes([byte; 16]));
        const HOUR: i128 = 3_600_000_000_000;
        let made_ns = 1_763_713_800_000_000_001;
        let (uuid, parent) = (Some(own), Some(parent));
        let snapshot = Subvolume { uuid, parent, is_read_only: true, changed: 7, made: 7, made_ns };
        for (subvolume, lineage, settled_ns) in [
            (snapshot, parent, Some(made_ns - HOUR)),
            (Subvolume { is_read_only: false, ..snapshot }, uuid, None),
            // It was writable, or it was received.
            (Subvolume { changed: 8, ..snapshot }, uuid, None),
            (Subvolume { parent: None, ..snapshot }, uuid, None),
            (Subvolume { parent: None, uuid: None, ..snapshot }, None, None),
        ] {
            assert_eq!((subvolume.lineage(), subvolume.settled_ns()), (lineage, settled_ns), "{subvolume:?}");
        }
    }

    #[test]
    fn other_file_systems_have_no_subvolumes() {
        for path in ["/proc", "/sys"] {
            let Ok(dir) = std::fs::File::open(path) else { continue };
            assert_eq!(Subvolume::of(&dir), None, "{path}");
        }
    }
}
