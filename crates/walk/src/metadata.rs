//! File types and metadata, independent of the platform.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::FileType as RawType;

use crate::node::Id;

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum FileType {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link that is not being followed.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A Unix domain socket.
    Socket,
    /// A block device.
    Block,
    /// A character device; also an inode without a type, such as the anonymous inodes that links in proc lead
    /// to.
    Char,
}

impl FileType {
    /// Returns the type that `st_mode` contains. An inode without a type is a [`Char`](Self::Char).
    pub fn from_mode(st_mode: u32) -> Self {
        Self::from_raw(RawType::from_raw_mode(st_mode as _)).unwrap_or(Self::Char)
    }

    /// Converts the type that a listing contains. Returns `None` if the file system does not report it.
    pub(crate) fn from_raw(raw: RawType) -> Option<Self> {
        Some(match raw {
            RawType::RegularFile => Self::Regular,
            RawType::Directory => Self::Directory,
            RawType::Symlink => Self::Symlink,
            RawType::Fifo => Self::Fifo,
            RawType::Socket => Self::Socket,
            RawType::BlockDevice => Self::Block,
            RawType::CharacterDevice => Self::Char,
            RawType::Unknown => return None,
        })
    }

    /// Returns whether this is a block or character device.
    pub fn is_device(self) -> bool {
        matches!(self, Self::Block | Self::Char)
    }
}

/// The result of `stat` for an entry. Times are nanoseconds since the Unix epoch, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The type.
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
    /// Space allocated on disk, in units of 512 bytes.
    pub blocks: u64,
    /// Time of the last change to the content.
    pub mtime_ns: i128,
    /// Time of the last change to the inode.
    pub ctime_ns: i128,
    /// Time of the last access.
    pub atime_ns: i128,
    /// Time when the inode was created. `None` unless
    /// [`metadata_with_birth`](crate::Entry::metadata_with_birth) requested it and the file system records it.
    pub birth_ns: Option<i128>,
    /// Number of the mount that holds the entry, as in `/proc/self/mountinfo`. `None` unless
    /// [`Fields::MOUNT`](crate::Fields::MOUNT) requested it and the system reports it (Linux 5.8 and later).
    pub mount: Option<u64>,
}

impl Metadata {
    /// Makes metadata in which everything but the type is zero or unknown, for tests of programs that use metadata.
    pub fn new(file_type: FileType) -> Self {
        Self {
            file_type,
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
            atime_ns: 0,
            birth_ns: None,
            mount: None,
        }
    }
    /// Returns the time of the last change to the content.
    pub fn modified(&self) -> SystemTime {
        system_time(self.mtime_ns)
    }
    /// Returns the time of the last access.
    pub fn accessed(&self) -> SystemTime {
        system_time(self.atime_ns)
    }
    /// Returns the time when the inode was created, if [`birth_ns`](Self::birth_ns) is known.
    pub fn created(&self) -> Option<SystemTime> {
        self.birth_ns.map(system_time)
    }
    /// Returns the device and inode number, which identify the file.
    pub(crate) fn id(&self) -> Id {
        Id { dev: self.dev, ino: self.ino }
    }
}

/// Converts nanoseconds since the Unix epoch. A `SystemTime` holds every time that `stat` reports.
fn system_time(nanoseconds: i128) -> SystemTime {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let rest = Duration::from_nanos(nanoseconds.rem_euclid(1_000_000_000) as u64);
    let distance = Duration::from_secs(seconds.unsigned_abs() as u64);
    match seconds < 0 {
        true => UNIX_EPOCH - distance + rest,
        false => UNIX_EPOCH + distance + rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_and_after_the_epoch_are_converted() {
        let (one, half) = (Duration::from_secs(1), Duration::from_nanos(500_000_000));
        assert_eq!(system_time(0), UNIX_EPOCH);
        assert_eq!(system_time(1_500_000_000), UNIX_EPOCH + one + half);
        assert_eq!(system_time(-500_000_000), UNIX_EPOCH - half);
        assert_eq!(system_time(-1_500_000_000), UNIX_EPOCH - one - half);
        for seconds in [i64::MIN, i64::MAX] {
            let time = system_time(i128::from(seconds) * 1_000_000_000);
            let distance = time.duration_since(UNIX_EPOCH).unwrap_or_else(|before| before.duration());
            assert_eq!(distance, Duration::from_secs(seconds.unsigned_abs()));
        }
    }
}
