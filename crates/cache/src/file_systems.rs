//! The identities of the file systems of a run.

use ftk_file::{FsId, Mount, Stat, Symlinks, mounts};
use rustix::fs::{CWD, Mode, OFlags, openat};

/// The identities of the file systems that a run reads from, by device number. Device numbers change when a
/// file system is mounted again; the identities do not.
#[derive(Debug, Default)]
pub struct FileSystems {
    /// Usually one or two.
    ids: Vec<(u64, FsId)>,
    /// The lineages of those that have one.
    lineages: Vec<(u64, FsId)>,
    /// The [times](ftk_file::Subvolume::settled_ns) before which files are complete, of those that are snapshots.
    settled: Vec<(u64, i128)>,
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
        Self { ids, ..Self::default() }
    }

    /// Adds the identity of a device, unless it is known.
    #[must_use]
    pub fn and(self, dev: u64, id: Option<FsId>) -> Self {
        if id.is_none() || self.id(dev).is_some() {
            return self;
        }
        let systems = Self::new(self.ids.into_iter().map(|(dev, id)| (dev, Some(id))).chain([(dev, id)]));
        Self { settled: self.settled, ..systems.with_lineages(self.lineages) }
    }

    /// Adds the lineages of devices with an identity.
    #[must_use]
    pub fn with_lineages(self, lineages: impl IntoIterator<Item = (u64, FsId)>) -> Self {
        let lineages = lineages.into_iter().filter(|(dev, _)| self.id(*dev).is_some()).collect();
        Self { lineages, ..self }
    }

    /// Adds the devices that are snapshots, with the [times](ftk_file::Subvolume::settled_ns) before which their files are
    /// complete.
    #[must_use]
    pub fn with_snapshots(self, settled: impl IntoIterator<Item = (u64, i128)>) -> Self {
        Self { settled: settled.into_iter().collect(), ..self }
    }

    /// Returns what [identifies](Self::of_contents) the content of a file. `None` if nothing does, or the file is in a
    /// snapshot and may be incomplete there: then the other states of its tree may have other content with the same times.
    pub fn of_file(&self, stat: &Stat) -> Option<FsId> {
        let settled_ns = self.settled.iter().find(|(dev, _)| *dev == stat.dev).map(|(_, ns)| *ns);
        let is_complete = settled_ns.is_none_or(|ns| !stat.is_recent(ns));
        self.of_contents(stat.dev).filter(|_| is_complete)
    }

    /// Returns what identifies the contents of files on this device, together with their inode numbers and times: the
    /// [lineage](ftk_file::Subvolume::lineage) that all snapshots of a tree share, or else the identity.
    ///
    /// This does not tell files apart: an inode number in two snapshots is two files.
    pub fn of_contents(&self, dev: u64) -> Option<FsId> {
        let lineage = self.lineages.iter().find(|(it, _)| *it == dev).map(|(_, id)| *id);
        lineage.or_else(|| self.id(dev))
    }

    /// Returns the identity of the file system with this device number, if it can be relied on.
    pub fn id(&self, dev: u64) -> Option<FsId> {
        self.ids.iter().find(|(it, _)| *it == dev).map(|(_, id)| *id)
    }

    /// Returns what identifies the [contents](Self::of_contents) of files.
    pub fn ids_of_contents(&self) -> impl Iterator<Item = FsId> {
        self.ids.iter().filter_map(|(dev, _)| self.of_contents(*dev))
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

    #[test]
    fn snapshots_share_the_contents_of_their_lineage() {
        let [one, two, other, lineage] = [1, 2, 3, 9].map(|byte| FsId::from_bytes([byte; 16]));
        let devices = [(1, Some(one)), (2, Some(two)), (3, Some(other)), (4, None)];
        let systems =
            FileSystems::next_to(devices, Vec::new).with_lineages([1, 2, 4].map(|dev| (dev, lineage)));
        assert_eq!([1, 2, 3, 4].map(|dev| systems.id(dev)), [Some(one), Some(two), Some(other), None]);
        let of_contents = [Some(lineage), Some(lineage), Some(other), None];
        assert_eq!([1, 2, 3, 4].map(|dev| systems.of_contents(dev)), of_contents);
        let fifth = systems.and(5, Some(FsId::from_bytes([5; 16])));
        assert_eq!([1, 2, 3, 4].map(|dev| fifth.of_contents(dev)), of_contents);
    }

    #[test]
    fn files_that_may_be_incomplete_in_a_snapshot_have_no_known_content() {
        const NS: i128 = 1_763_713_800_000_000_001;
        let [one, two, lineage] = [1, 2, 9].map(|byte| FsId::from_bytes([byte; 16]));
        let systems = FileSystems::next_to([(1, Some(one)), (2, Some(two))], Vec::new);
        let systems = systems.with_lineages([1, 2].map(|dev| (dev, lineage))).with_snapshots([(2, NS)]);
        let systems = systems.and(3, Some(FsId::from_bytes([3; 16])));
        for (dev, mtime_ns, ctime_ns, is_known) in [
            (1, NS, NS, true),
            (2, NS - 100_000_000, NS - 100_000_000, true),
            (2, NS + 1, NS - 100_000_000, false),
            (2, NS - 100_000_000, NS, false),
            (9, 0, 0, false),
        ] {
            let stat = Stat { dev, mtime_ns, ctime_ns, ..Stat::EMPTY };
            assert_eq!(systems.of_file(&stat), Some(lineage).filter(|_| is_known), "{stat:?}");
        }
    }
}
