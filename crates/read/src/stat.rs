//! The `fstat` of an open file.

use std::os::fd::AsFd;

use rustix::fs::FileType;
use rustix::io;

/// Identity, size and times of an open file. Times are nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Device.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Type and permission bits, as `st_mode`.
    pub mode: u32,
    /// Number of hard links.
    pub nlink: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// Allocated space in units of 512 bytes. It changes without a write while the system writes new data to
    /// the disk.
    pub blocks: u64,
    /// Last change of the content (mtime).
    pub mtime_ns: i128,
    /// Last change of the inode (ctime).
    pub ctime_ns: i128,
}

impl Stat {
    /// Calls `fstat` on an open file.
    #[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
    pub(crate) fn of(file: impl AsFd) -> io::Result<Self> {
        let raw = rustix::fs::fstat(file)?;
        Ok(Self {
            dev: raw.st_dev as u64,
            ino: raw.st_ino as u64,
            mode: raw.st_mode as u32,
            nlink: raw.st_nlink as u64,
            uid: raw.st_uid as u32,
            gid: raw.st_gid as u32,
            size: raw.st_size as u64,
            blocks: raw.st_blocks as u64,
            mtime_ns: nanos(raw.st_mtime as i64, raw.st_mtime_nsec as i64),
            ctime_ns: nanos(raw.st_ctime as i64, raw.st_ctime_nsec as i64),
        })
    }

    /// Returns whether this is a regular file.
    pub(crate) fn is_regular(&self) -> bool {
        FileType::from_raw_mode(self.mode as _) == FileType::RegularFile
    }

    /// Returns whether both describe the same file with the same content, as far as `fstat` can show: device,
    /// inode number, size, mtime and ctime are equal.
    pub fn is_same_content(&self, other: &Self) -> bool {
        let key = |s: &Self| (s.dev, s.ino, s.size, s.mtime_ns, s.ctime_ns);
        key(self) == key(other)
    }
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
        assert_eq!((stat.dev, stat.ino, stat.mode), (metadata.dev(), metadata.ino(), metadata.mode()));
        assert_eq!((stat.nlink, stat.uid, stat.gid), (metadata.nlink(), metadata.uid(), metadata.gid()));
        assert_eq!((stat.size, stat.blocks), (metadata.size(), metadata.blocks()));
        assert_eq!(stat.mtime_ns, nanos(metadata.mtime(), metadata.mtime_nsec()));
        assert_eq!(stat.ctime_ns, nanos(metadata.ctime(), metadata.ctime_nsec()));
    }
}
