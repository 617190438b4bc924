//! What `stat` returns for an entry.

use std::os::fd::AsFd;

use ftk_walk::{FileType, Metadata};
use rustix::fs::{AtFlags, Mode, RawMode, fstat, statat};
use rustix::path::Arg;

use crate::{Symlinks, Version};

/// What `stat` returns for an entry. Times are nanoseconds since the Unix epoch, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Type.
    pub file_type: FileType,
    /// Permission bits, including set-user-ID, set-group-ID and sticky: at most `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device of the file system that holds the inode.
    pub dev: u64,
    /// Device that a device file stands for; 0 for all other types.
    pub rdev: u64,
    /// Inode number.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// Size in bytes.
    pub size: u64,
    /// Allocated space in units of 512 bytes. It changes without a write while the system writes new data to
    /// the disk.
    pub blocks: u64,
    /// Time of the last change to the content.
    pub mtime_ns: i128,
    /// Time of the last change to the inode.
    pub ctime_ns: i128,
    /// Time when the inode was created. `None` if it was not [requested](Birth), or the file system does not
    /// record it.
    pub birth_ns: Option<i128>,
}

impl Stat {
    /// A regular file of which everything else is 0: a start for those that know other values.
    pub const EMPTY: Self = Self {
        file_type: FileType::Regular,
        mode: 0,
        uid: 0,
        gid: 0,
        dev: 0,
        rdev: 0,
        ino: 0,
        nlink: 0,
        size: 0,
        blocks: 0,
        mtime_ns: 0,
        ctime_ns: 0,
        birth_ns: None,
    };

    /// Calls `fstat` on an open file.
    ///
    /// # Errors
    /// Any error of `fstat`.
    pub fn of(file: impl AsFd) -> rustix::io::Result<Self> {
        fstat(file).map(|raw| Self::from(&raw))
    }

    /// Like [`of`](Self::of), and determines whether the result has the time of birth.
    ///
    /// # Errors
    /// Any error of `fstat` or `statx`.
    pub fn of_with(file: impl AsFd, birth: Birth) -> rustix::io::Result<Self> {
        with_access_time(file, birth).map(|(stat, _)| stat)
    }

    /// Asks for the entry of this name in a directory.
    ///
    /// # Errors
    /// Any error of `fstatat`.
    pub fn at(dir: impl AsFd, name: impl Arg, symlinks: Symlinks) -> rustix::io::Result<Self> {
        statat(dir, name, symlinks.at_flags()).map(|raw| Self::from(&raw))
    }

    /// Like [`at`](Self::at), and determines whether the result has the time of birth.
    ///
    /// # Errors
    /// Any error of `fstatat` or `statx`.
    pub fn at_with(
        dir: impl AsFd,
        name: impl Arg + Copy,
        symlinks: Symlinks,
        birth: Birth,
    ) -> rustix::io::Result<Self> {
        match statx_with_birth(&dir, name, symlinks.at_flags(), birth)? {
            Some((stat, _)) => Ok(stat),
            None => Self::at(dir, name, symlinks),
        }
    }

    /// Returns whether this is a regular file.
    pub fn is_regular(&self) -> bool {
        self.file_type == FileType::Regular
    }

    /// Returns whether this is a block or character device.
    pub fn is_device(&self) -> bool {
        self.file_type.is_device()
    }

    /// Returns whether the size may be correct. Kernel file systems report synthetic sizes for files without
    /// disk space.
    pub fn has_plausible_size(&self) -> bool {
        self.blocks > 0
    }

    /// Returns the device and the inode number. Equal numbers mean one file only on
    /// [trusted](crate::is_trusted) file systems.
    pub fn identity(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// Returns the [identity](Self::identity) of a file that has several names. A directory has one name.
    pub fn linked_identity(&self) -> Option<(u64, u64)> {
        (self.nlink > 1 && self.file_type != FileType::Directory).then(|| self.identity())
    }

    /// Returns the file and the version of its content.
    pub fn version(&self) -> Version {
        let &Self { dev, ino, size, mtime_ns, ctime_ns, .. } = self;
        Version { dev, ino, size, mtime_ns, ctime_ns }
    }

    /// Returns whether both describe the same file with the same content: the same [`Version`].
    pub fn is_same_content(&self, other: &Self) -> bool {
        self.version() == other.version()
    }
}

/// The only conversion from what `fstat` and `fstatat` return.
impl From<&rustix::fs::Stat> for Stat {
    #[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
    fn from(raw: &rustix::fs::Stat) -> Self {
        let file_type = FileType::from_mode(raw.st_mode as u32);
        Self {
            file_type,
            mode: raw.st_mode as u32 & 0o7777,
            uid: raw.st_uid as u32,
            gid: raw.st_gid as u32,
            dev: raw.st_dev as u64,
            // For other types some file systems report the number of their own device here.
            rdev: if file_type.is_device() { raw.st_rdev as u64 } else { 0 },
            ino: raw.st_ino as u64,
            nlink: raw.st_nlink as u64,
            size: raw.st_size as u64,
            blocks: raw.st_blocks as u64,
            mtime_ns: nanos(raw.st_mtime as i64, raw.st_mtime_nsec as i64),
            ctime_ns: nanos(raw.st_ctime as i64, raw.st_ctime_nsec as i64),
            birth_ns: None,
        }
    }
}

/// The only conversion from what the walker returns.
impl From<&Metadata> for Stat {
    fn from(walked: &Metadata) -> Self {
        let &Metadata { file_type, mode, uid, gid, dev, rdev, ino, nlink, size, blocks, .. } = walked;
        let &Metadata { mtime_ns, ctime_ns, birth_ns, .. } = walked;
        Self { file_type, mode, uid, gid, dev, rdev, ino, nlink, size, blocks, mtime_ns, ctime_ns, birth_ns }
    }
}

/// Converts permission bits, as in [`Stat::mode`], to those that system calls accept.
#[allow(clippy::unnecessary_cast, reason = "the width differs between systems")]
pub fn permissions(mode: u32) -> Mode {
    Mode::from_bits_truncate(mode as RawMode)
}

/// Whether the time of birth is requested too. Only `statx` returns it, and `fstat` costs less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Birth {
    /// Call `fstat`: [`Stat::birth_ns`] is `None`.
    #[default]
    Unknown,
    /// Call `statx` instead, where the system has it.
    Requested,
}

/// Returns the metadata of an open file, and the time of its last access.
pub(crate) fn with_access_time(file: impl AsFd, birth: Birth) -> rustix::io::Result<(Stat, i128)> {
    if let Some(found) = statx_with_birth(&file, c"", empty_path(), birth)? {
        return Ok(found);
    }
    let raw = fstat(file)?;
    #[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
    let atime_ns = nanos(raw.st_atime as i64, raw.st_atime_nsec as i64);
    Ok((Stat::from(&raw), atime_ns))
}

#[cfg(target_os = "linux")]
fn empty_path() -> AtFlags {
    AtFlags::EMPTY_PATH
}

#[cfg(not(target_os = "linux"))]
fn empty_path() -> AtFlags {
    AtFlags::empty()
}

/// Returns what `statx` says with the time of birth; `None` if that is not requested or the system has no `statx`.
#[cfg(target_os = "linux")]
fn statx_with_birth(
    dir: impl AsFd,
    name: impl Arg,
    flags: AtFlags,
    birth: Birth,
) -> rustix::io::Result<Option<(Stat, i128)>> {
    use rustix::fs::{StatxFlags, statx};

    if birth == Birth::Unknown {
        return Ok(None);
    }
    match statx(dir, name, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME) {
        Err(rustix::io::Errno::NOSYS) => Ok(None), // Linux before 4.11, and some sandboxes
        raw => raw.map(|raw| Some(from_statx(&raw))),
    }
}

#[cfg(not(target_os = "linux"))]
fn statx_with_birth(
    _: impl AsFd,
    _: impl Arg,
    _: AtFlags,
    _: Birth,
) -> rustix::io::Result<Option<(Stat, i128)>> {
    Ok(None)
}

#[cfg(target_os = "linux")]
fn from_statx(raw: &rustix::fs::Statx) -> (Stat, i128) {
    use rustix::fs::{StatxFlags, StatxTimestamp, makedev};

    let file_type = FileType::from_mode(raw.stx_mode.into());
    let time = |time: &StatxTimestamp| nanos(time.tv_sec, time.tv_nsec.into());
    let has_birth = raw.stx_mask & StatxFlags::BTIME.bits() != 0;
    let stat = Stat {
        file_type,
        mode: u32::from(raw.stx_mode) & 0o7777,
        uid: raw.stx_uid,
        gid: raw.stx_gid,
        dev: makedev(raw.stx_dev_major, raw.stx_dev_minor),
        rdev: if file_type.is_device() { makedev(raw.stx_rdev_major, raw.stx_rdev_minor) } else { 0 },
        ino: raw.stx_ino,
        nlink: raw.stx_nlink.into(),
        size: raw.stx_size,
        blocks: raw.stx_blocks,
        mtime_ns: time(&raw.stx_mtime),
        ctime_ns: time(&raw.stx_ctime),
        birth_ns: has_birth.then(|| time(&raw.stx_btime)),
    };
    (stat, time(&raw.stx_atime))
}

fn nanos(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn fields_match_the_standard_library() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), [7; 10_000]).unwrap();
        let file = std::fs::File::open(dir.path().join("file")).unwrap();
        // The block count may be incomplete before the sync.
        file.sync_all().unwrap();
        let (stat, metadata) = (Stat::of(&file).unwrap(), file.metadata().unwrap());
        assert_eq!(
            (stat.dev, stat.ino, stat.mode | 0o10_0000),
            (metadata.dev(), metadata.ino(), metadata.mode())
        );
        assert_eq!((stat.nlink, stat.uid, stat.gid), (metadata.nlink(), metadata.uid(), metadata.gid()));
        assert_eq!((stat.size, stat.blocks), (metadata.size(), metadata.blocks()));
        assert_eq!(stat.mtime_ns, nanos(metadata.mtime(), metadata.mtime_nsec()));
        assert_eq!(stat.ctime_ns, nanos(metadata.ctime(), metadata.ctime_nsec()));
        assert!(stat.is_regular() && stat.rdev == 0);
        assert_eq!(Stat::at(rustix::fs::CWD, dir.path().join("file"), Symlinks::NoFollow).unwrap(), stat);
    }

    #[test]
    fn statx_returns_the_same_and_the_time_of_birth() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, [7; 10_000]).unwrap();
        let device = std::fs::File::open("/dev/null").unwrap();
        let file = std::fs::File::open(&path).unwrap();
        file.sync_all().unwrap();
        for file in [&file, &std::fs::File::open(dir.path()).unwrap(), &device] {
            let [(without, atime_ns), (with, same)] =
                [Birth::Unknown, Birth::Requested].map(|birth| with_access_time(file, birth).unwrap());
            assert_eq!((without.birth_ns, atime_ns), (None, same));
            assert_eq!(Stat { birth_ns: None, ..with }, without);
            let by_name = |birth| Stat::at_with(rustix::fs::CWD, &path, Symlinks::NoFollow, birth).unwrap();
            if without.is_regular() {
                assert_eq!([Birth::Unknown, Birth::Requested].map(by_name), [without, with]);
            }
            let born = file.metadata().unwrap().created().ok();
            let born =
                born.map(|time| time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i128);
            assert_eq!(with.birth_ns, born);
        }
    }
}
