//! The identity of an open file or directory.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use crate::stat::with_access_time;
use crate::{Birth, FileType, FsId, is_trusted};

/// This very file or directory, whatever its name.
///
/// It can be recorded and compared later, also after the file system was mounted again under another device number.
/// Inode numbers are used again, so the time of birth is part of the identity where it is reliable: on the file systems
/// that [`is_trusted`] accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file system, if it has an identity that lasts.
    pub fs: Option<FsId>,
    /// The device number of the file system. It is valid until the file system is unmounted, and counts only if one of the
    /// two identities lacks [`fs`](Self::fs).
    pub dev: u64,
    /// The inode number.
    pub ino: u64,
    /// The time when the inode was created, in nanoseconds since the Unix epoch. `None` if it is not known.
    pub birth_ns: Option<i128>,
    /// The type.
    pub file_type: FileType,
    /// The owner.
    pub uid: u32,
}

/// What tells two files apart. The first difference counts, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityDifference {
    /// They are on different file systems, or on one without a lasting identity that was mounted again.
    FileSystem,
    /// The type, the inode number or the time of birth differs.
    Inode,
    /// The owner differs.
    Owner,
}

impl Identity {
    /// Returns the identity of an open file or directory. The descriptor may be one that is only for look-ups (`O_PATH`).
    ///
    /// # Errors
    /// Any error of `statx`. If the file system cannot be asked, its device number counts.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let file = file.as_fd();
        let (stat, _) = with_access_time(file, Birth::Requested)?;
        let fs = match FsId::of(file) {
            // XFS tells its identity only to a descriptor that could be read from.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BADF) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                openat(file, ".", flags, Mode::empty()).ok().and_then(|dir| FsId::of(dir).ok().flatten())
            }
            fs => fs.ok().flatten(),
        };
        let birth_ns = stat.birth_ns.filter(|_| is_trusted(file));
        let file_type = stat.file_type;
        Ok(Self { fs, dev: stat.dev, ino: stat.ino, birth_ns, file_type, uid: stat.uid })
    }

    /// Returns what tells the two apart, or `None` if both are the same.
    pub fn difference(&self, other: &Self) -> Option<IdentityDifference> {
        let on_one_file_system = match (self.fs, other.fs) {
            (Some(a), Some(b)) => a == b,
            _ => self.dev == other.dev,
        };
        let born_together = match (self.birth_ns, other.birth_ns) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        if !on_one_file_system {
            Some(IdentityDifference::FileSystem)
        } else if (self.ino, self.file_type) != (other.ino, other.file_type) || !born_together {
            Some(IdentityDifference::Inode)
        } else if self.uid != other.uid {
            Some(IdentityDifference::Owner)
        } else {
            None
        }
    }

    /// Returns whether both are the same file with the same owner.
    pub fn is_same(&self, other: &Self) -> bool {
        self.difference(other).is_none()
    }

    /// Returns whether both are the same file, with any owner.
    pub fn is_same_inode(&self, other: &Self) -> bool {
        matches!(self.difference(other), None | Some(IdentityDifference::Owner))
    }
}

impl fmt::Display for IdentityDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FileSystem => "it is on another file system, or on one without a lasting identity",
            Self::Inode => "it is another one",
            Self::Owner => "it has another owner",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use rustix::fs::CWD;

    use super::*;

    fn of(path: &std::path::Path) -> Identity {
        Identity::of(File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn a_renamed_directory_stays_the_same_and_a_new_one_is_another() {
        let temp = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| temp.path().join(name));
        fs::create_dir(&a).unwrap();
        let before = of(&a);
        fs::rename(&a, &b).unwrap();
        fs::create_dir(&a).unwrap();
        assert!(before.is_same(&of(&b)));
        assert_eq!(before.difference(&of(&a)), Some(IdentityDifference::Inode));
        let looked_up = openat(CWD, &b, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
        assert_eq!(Identity::of(looked_up).unwrap(), before);
    }

    #[test]
    fn every_part_of_an_identity_counts() {
        let fs = |byte| Some(FsId::from_bytes([byte; 16]));
        let known =
            Identity { fs: fs(1), dev: 2, ino: 3, birth_ns: Some(4), file_type: FileType::Directory, uid: 5 };
        use IdentityDifference as D;
        for (other, difference, same_inode) in [
            (known, None, true),
            (Identity { dev: 9, ..known }, None, true),
            (Identity { fs: fs(9), ..known }, Some(D::FileSystem), false),
            (Identity { fs: None, ..known }, None, true),
            (Identity { fs: None, dev: 9, ..known }, Some(D::FileSystem), false),
            (Identity { ino: 9, ..known }, Some(D::Inode), false),
            (Identity { birth_ns: Some(9), ..known }, Some(D::Inode), false),
            (Identity { birth_ns: None, ..known }, None, true),
            (Identity { file_type: FileType::Regular, ..known }, Some(D::Inode), false),
            (Identity { uid: 9, ..known }, Some(D::Owner), true),
        ] {
            for (a, b) in [(known, other), (other, known)] {
                assert_eq!(a.difference(&b), difference, "{b:?}");
                assert_eq!((a.is_same(&b), a.is_same_inode(&b)), (difference.is_none(), same_inode));
            }
        }
    }
}
