//! The identities of the file systems of a run.

use ftk_file::{FsId, Mount, Stat, Symlinks, mounts};
use rustix::fs::{CWD, Mode, OFlags, openat};

/// The identities of the file systems that a run reads from, by device number. Device numbers change when a
/// file system is mounted again; the identities do not.
#[derive(Debug, Default)]
pub struct FileSystems {
    /// Usually one or two.
    ids: Vec<(u64, FsId)>,
}

impl FileSystems {
    /// Keeps the identities of these devices. A device without one is omitted, and so is every device whose
    /// identity another mounted one shares: a block-wise copy of a file system has the same inode numbers and
    /// times.
    pub fn new(devices: impl IntoIterator<Item = (u64, Option<FsId>)>) -> Self {
        Self::next_to(devices, mounted)
    }

    fn next_to<M: IntoIterator<Item = (u64, FsId)>>(
        devices: impl IntoIterator<Item = (u64, Option<FsId>)>,
        mounted: impl FnOnce() -> M,
    ) -> Self {
        let mut ids: Vec<_> = devices.into_iter().filter_map(|(dev, id)| Some((dev, id?))).collect();
        if !ids.is_empty() {
            let all: Vec<_> = ids.iter().copied().chain(mounted()).collect();
            ids.retain(|(dev, id)| all.iter().all(|(other, it)| it != id || other == dev));
        }
        Self { ids }
    }

    /// Adds the identity of a device, unless it is known.
    #[must_use]
    pub fn and(self, dev: u64, id: Option<FsId>) -> Self {
        if id.is_none() || self.id(dev).is_some() {
            return self;
        }
        Self::new(self.ids.into_iter().map(|(dev, id)| (dev, Some(id))).chain([(dev, id)]))
    }

    /// Returns the identity of the file system with this device number, if it can be relied on.
    pub fn id(&self, dev: u64) -> Option<FsId> {
        self.ids.iter().find(|(it, _)| *it == dev).map(|(_, id)| *id)
    }

    /// Returns the identities that can be relied on.
    pub fn ids(&self) -> impl Iterator<Item = FsId> {
        self.ids.iter().map(|(_, id)| *id)
    }

    /// Whether no file of this run can be remembered.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// Mount points are opened with `O_PATH` where the system has it: a file system can be mounted on a FIFO or a
/// device, which must not be opened, and on a directory that this user cannot list.
#[cfg(target_os = "linux")]
const ACCESS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ACCESS: OFlags = OFlags::DIRECTORY;

/// The types of file systems that may have an identity. Others are not touched: a network file system whose server
/// is away would block.
const IDENTIFIED: [&str; 5] = ["ext2", "ext3", "ext4", "btrfs", "xfs"];

/// Returns the device numbers and identities of the mounted file systems that have an identity.
///
/// `/proc` may be missing. Then the same file system cannot be seen twice either, except by those who mount a copy of
/// it.
fn mounted() -> Vec<(u64, FsId)> {
    let identify = |Mount { at, .. }: Mount| {
        let dev = Stat::at(CWD, &at, Symlinks::NoFollow).ok()?.dev;
        let open = |flags| openat(CWD, &at, flags | OFlags::CLOEXEC, Mode::empty());
        // Only a file descriptor that was opened for reading can be asked for the UUID of XFS.
        let id =
            FsId::of(open(ACCESS).ok()?).or_else(|_| FsId::of(open(OFlags::RDONLY | OFlags::DIRECTORY)?));
        Some((dev, id.ok()??))
    };
    mounts().filter(|mount| IDENTIFIED.contains(&&*mount.kind)).filter_map(identify).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_that_share_an_identity_have_none() {
        let here = FsId::from_bytes([7; 16]);
        let ids = |mounted: &[(u64, FsId)]| {
            let systems = FileSystems::next_to([(1, Some(here)), (2, None)], || mounted.to_vec());
            [1, 2, 3].map(|dev| systems.id(dev))
        };
        assert_eq!(ids(&[]), [Some(here), None, None]);
        assert_eq!(ids(&[(1, here)]), [Some(here), None, None], "the same device, mounted twice");
        assert_eq!(ids(&[(9, here)]), [None; 3], "a copy on another device");
    }
}
