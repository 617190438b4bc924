//! Checks whether an action is possible at all for two files, before their contents are read.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use ftk_file::Stat;
use rustix::fs::{Access, AtFlags, Mode, StatVfsMountFlags, accessat, fstatfs, fstatvfs, openat};
use rustix::io::Errno;

use crate::action::Action;
use crate::dedupe::dedupe;
use crate::reach::{DIRECTORY, Reach};
use crate::refusal::{Refusal, Side};
use crate::seen::Step;

/// Why an action is impossible for two files.
#[derive(Debug)]
#[non_exhaustive]
pub enum Obstacle {
    /// The victim's file system, or its mount, is read-only.
    ReadOnly,
    /// The caller may not change names in the victim's directory.
    NotWritable,
    /// The victim and the keeper, or the victim and the directory of a move, are on different file systems.
    OtherFileSystem,
    /// The file system has no hard links.
    NoHardlinks,
    /// The file system does not share blocks between files.
    NoReflinks,
    /// The files or the directory cannot be reached.
    Unreachable(Refusal),
    /// The file system cannot be queried.
    Unknown(io::Error),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => f.write_str("the file system is read-only"),
            Self::NotWritable => f.write_str("no permission to change the directory"),
            Self::OtherFileSystem => f.write_str("the files are on different file systems"),
            Self::NoHardlinks => f.write_str("the file system has no hard links"),
            Self::NoReflinks => f.write_str("the file system cannot share blocks between files"),
            Self::Unreachable(refusal) => refusal.fmt(f),
            Self::Unknown(_) => f.write_str("cannot query the file system"),
        }
    }
}

impl std::error::Error for Obstacle {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(refusal) => std::error::Error::source(refusal),
            Self::Unknown(error) => Some(error),
            _ => None,
        }
    }
}

/// Checks whether the action is possible for the two files of a step. Only their paths are used: the files
/// may have changed since the scan. For hard links, returns the maximal number of links to a file on that
/// file system, if it is known.
///
/// Nothing is written. So some obstacles are found only when the action is performed: mounts of one file
/// system that do not allow links between them, XFS without reflinks, immutable files.
///
/// # Errors
/// Returns the first obstacle found.
pub fn probe(reach: &mut Reach, action: &Action, step: &Step) -> Result<Option<u64>, Obstacle> {
    let victim = reach.open(Side::Victim, &step.victim).map_err(Obstacle::Unreachable)?;
    let keeper = reach.open(Side::Keeper, &step.keeper).map_err(Obstacle::Unreachable)?;
    let dir = victim.place.dir.as_fd();
    if fstatvfs(dir).map_err(unknown)?.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(Obstacle::ReadOnly);
    }
    if *action == Action::Reflink {
        // With a length of 0, the kernel compares and shares nothing. But it checks the permission, and that
        // both files are on one file system whose driver can share blocks.
        return match dedupe(&keeper.file, &victim.file, 0, 0) {
            Ok(_) => Ok(None),
            Err(error) => Err(match Errno::from_io_error(&error) {
                Some(Errno::XDEV) => Obstacle::OtherFileSystem,
                Some(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOTTY | Errno::NOSYS) => Obstacle::NoReflinks,
                _ => Obstacle::Unknown(error),
            }),
        };
    }
    match accessat(dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
        Ok(()) => {}
        Err(Errno::ACCESS | Errno::PERM) => return Err(Obstacle::NotWritable),
        Err(Errno::ROFS) => return Err(Obstacle::ReadOnly),
        Err(errno) => return Err(unknown(errno)),
    }
    match action {
        Action::Hardlink => {
            if victim.stat.dev != keeper.stat.dev {
                return Err(Obstacle::OtherFileSystem);
            }
            let max = max_links(dir).map_err(unknown)?;
            if max == Some(1) { Err(Obstacle::NoHardlinks) } else { Ok(max) }
        }
        Action::Move(to) if nearest_device(reach.base(), to).map_err(unknown)? != victim.identity().0 => {
            Err(Obstacle::OtherFileSystem)
        }
        _ => Ok(None),
    }
}

fn unknown(errno: Errno) -> Obstacle {
    Obstacle::Unknown(errno.into())
}

/// Returns the device of a directory, or of the nearest existing directory above it.
pub(crate) fn nearest_device(base: BorrowedFd<'_>, path: &Path) -> Result<u64, Errno> {
    for ancestor in path.ancestors() {
        let shown = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        match openat(base, shown, DIRECTORY, Mode::empty()) {
            Ok(fd) => return Ok(Stat::of(fd)?.identity().0),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::NOENT)
}

/// Returns the maximal number of links to a file, from the file system's magic number (`linux/magic.h`) and
/// its limit in the kernel's sources.
fn max_links(dir: BorrowedFd<'_>) -> Result<Option<u64>, Errno> {
    #[allow(clippy::unnecessary_cast, reason = "the width of this field differs between architectures")]
    let magic = fstatfs(dir)?.f_type as u32;
    Ok(match magic {
        0xef53 => Some(65_000),             // ext4 (EXT4_LINK_MAX); ext2 and ext3 have 32,000
        0x9123_683e => Some(65_535),        // btrfs (BTRFS_LINK_MAX)
        0x5846_5342 => Some(2_147_483_647), // XFS (XFS_MAXLINK)
        0x4d44 | 0x2011_bab0 => Some(1),    // FAT, exFAT
        _ => None,
    })
}
