//! One entry of a tree, and its metadata.

use ftk_inventory::Metadata;
use ftk_walk::FileType;
use rustix::fs::FileType as RawType;

/// One entry of a manifest, or of a tree that is recorded or verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'e> {
    /// The path below the root; `.` for the root itself.
    pub path: &'e [u8],
    /// The metadata.
    pub stat: Stat,
    /// The target of a symbolic link; `None` for all other types.
    pub target: Option<&'e [u8]>,
    /// The digests of a regular file, concatenated in the order of the [`Header`](crate::Header)'s
    /// algorithms. Empty for other types, and if the content was not read.
    pub digests: &'e [u8],
    /// The extended attributes, sorted by name, if they were requested.
    pub xattrs: Option<&'e [Xattr]>,
    /// When a run first found that the content has changed although size and mtime are the same.
    pub damaged_ns: Option<i128>,
}

/// The metadata of an entry. Times are nanoseconds since the Unix epoch, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The type.
    pub file_type: FileType,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the content.
    pub mtime_ns: i128,
    /// Last change of the inode.
    pub ctime_ns: i128,
    /// Permission bits with set-user-ID, set-group-ID and sticky: `0o7777` at most.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The device that contains the entry.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Number of hard links.
    pub nlink: u64,
    /// The device number of a device file; 0 for other types.
    pub rdev: u64,
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Xattr {
    /// The name, including the name space: `user.comment`.
    pub name: Vec<u8>,
    /// The value.
    pub value: Vec<u8>,
}

impl Stat {
    /// Converts the metadata that the walk kept.
    pub(crate) fn walked(file_type: FileType, seen: &Metadata) -> Self {
        Self {
            file_type,
            size: seen.size,
            mtime_ns: seen.mtime_ns,
            ctime_ns: seen.ctime_ns,
            mode: seen.mode,
            uid: seen.uid,
            gid: seen.gid,
            dev: seen.dev,
            ino: seen.ino,
            nlink: seen.nlink,
            rdev: seen.rdev,
        }
    }

    /// Converts the `fstat` of the descriptor through which a regular file was read.
    pub(crate) fn read(seen: &ftk_read::Stat) -> Self {
        Self {
            file_type: FileType::Regular,
            size: seen.size,
            mtime_ns: seen.mtime_ns,
            ctime_ns: seen.ctime_ns,
            mode: seen.mode & 0o7777,
            uid: seen.uid,
            gid: seen.gid,
            dev: seen.dev,
            ino: seen.ino,
            nlink: seen.nlink,
            rdev: 0,
        }
    }

    /// Converts the result of a `stat` call.
    #[allow(clippy::unnecessary_cast, reason = "the widths of the fields differ between platforms")]
    pub(crate) fn asked(raw: &rustix::fs::Stat) -> Self {
        let nanos = |seconds, rest| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let file_type = match RawType::from_raw_mode(raw.st_mode) {
            RawType::RegularFile => FileType::Regular,
            RawType::Directory => FileType::Directory,
            RawType::Symlink => FileType::Symlink,
            RawType::Fifo => FileType::Fifo,
            RawType::Socket => FileType::Socket,
            RawType::BlockDevice => FileType::Block,
            RawType::CharacterDevice | RawType::Unknown => FileType::Char,
        };
        let stat = Self {
            file_type,
            size: raw.st_size as u64,
            mtime_ns: nanos(raw.st_mtime, raw.st_mtime_nsec),
            ctime_ns: nanos(raw.st_ctime, raw.st_ctime_nsec),
            mode: raw.st_mode as u32 & 0o7777,
            uid: raw.st_uid,
            gid: raw.st_gid,
            dev: raw.st_dev as u64,
            ino: raw.st_ino as u64,
            nlink: raw.st_nlink as u64,
            rdev: 0,
        };
        Self { rdev: if stat.is_device() { raw.st_rdev as u64 } else { 0 }, ..stat }
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.file_type == FileType::Regular
    }

    pub(crate) fn is_device(&self) -> bool {
        matches!(self.file_type, FileType::Block | FileType::Char)
    }
}

/// The names of types in manifests.
const TYPES: [(FileType, &str); 7] = [
    (FileType::Regular, "file"),
    (FileType::Directory, "directory"),
    (FileType::Symlink, "symlink"),
    (FileType::Fifo, "fifo"),
    (FileType::Socket, "socket"),
    (FileType::Block, "block_device"),
    (FileType::Char, "char_device"),
];

pub(crate) fn type_name(file_type: FileType) -> &'static str {
    TYPES.iter().find(|(known, _)| *known == file_type).expect("every type has a name").1
}

pub(crate) fn type_of(name: &[u8]) -> Option<FileType> {
    TYPES.iter().find(|(_, known)| known.as_bytes() == name).map(|(file_type, _)| *file_type)
}

/// Returns the sort key of a path: its bytes, except for the root, which sorts before everything else.
pub(crate) fn key(path: &[u8]) -> &[u8] {
    if path == ROOT { b"" } else { path }
}

/// The path of the root.
pub(crate) const ROOT: &[u8] = b".";
