//! What `stat` returns for an entry.

use std::os::fd::AsFd;

use ftk_walk::{FileType, Metadata};
use rustix::fs::{fstat, statat};
use rustix::path::Arg;

use crate::Symlinks;

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
    };

    /// Calls `fstat` on an open file.
    ///
    /// # Errors
    /// Any error of `fstat`.
    pub fn of(file: impl AsFd) -> rustix::io::Result<Self> {
        fstat(file).map(|raw| Self::from(&raw))
    }

    /// Asks for the entry of this name in a directory.
    ///
    /// # Errors
    /// Any error of `fstatat`.
    pub fn at(dir: impl AsFd, name: impl Arg, symlinks: Symlinks) -> rustix::io::Result<Self> {
        statat(dir, name, symlinks.at_flags()).map(|raw| Self::from(&raw))
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

    /// Returns whether both describe the same file with the same content, as far as `fstat` can show: device,
    /// inode number, size, mtime and ctime are equal.
    pub fn is_same_content(&self, other: &Self) -> bool {
        let key = |s: &Self| (s.dev, s.ino, s.size, s.mtime_ns, s.ctime_ns);
        key(self) == key(other)
    }
}

/// The only conversion from what the system returns.
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
        }
    }
}

/// The only conversion from what the walker returns.
impl From<&Metadata> for Stat {
    fn from(walked: &Metadata) -> Self {
        let &Metadata { file_type, mode, uid, gid, dev, rdev, ino, nlink, size, blocks, .. } = walked;
        let &Metadata { mtime_ns, ctime_ns, .. } = walked;
        Self { file_type, mode, uid, gid, dev, rdev, ino, nlink, size, blocks, mtime_ns, ctime_ns }
    }
}

/// Returns the time of the last access.
#[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
pub(crate) fn atime_ns(raw: &rustix::fs::Stat) -> i128 {
    nanos(raw.st_atime as i64, raw.st_atime_nsec as i64)
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
}
