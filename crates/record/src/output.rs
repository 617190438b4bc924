//! Output files that are complete or absent.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::Path;
use std::time::SystemTime;

use ftk_file::{FileType, Stat, Symlinks, begin_write_back, permissions};
use rustix::fs::Mode;
use rustix::process::geteuid;

use crate::target::{Opened, Place, Target};
use crate::temp::Temp;

/// An output file that appears under its name only when it is [committed](Output::commit).
///
/// Before the commit, the path keeps its old file. If the `Output` is dropped or the process is killed, the
/// old file stays. Anything but a regular file, such as a FIFO or `/dev/full`, is written in place. So is a
/// descriptor that is named through `/dev/stdout` or `/proc`.
///
/// The new file belongs to the caller. If the old one does too, it passes on its permissions, and its group if the process
/// may set it. Otherwise the new file gets no permission that the old one does not have. Extended attributes and access
/// control lists are lost, and other hard links keep the old file. If the path is a symbolic link, the file it points to
/// is replaced and the link stays.
///
/// What other users may have planted is refused: in a directory with the sticky bit that others can write to, a link
/// or file of another user; in a directory that all users can write to, and for root in one that any other user can
/// write to, a link of another user; and in any directory a FIFO of another user. A file without any permission to
/// write is not replaced, not by root either.
///
/// Writes are buffered in blocks of 128 KiB. The disk starts to write a large file before it is complete.
///
/// ```
/// use std::io::Write;
///
/// let dir = tempfile::tempdir()?;
/// let path = dir.path().join("list");
/// let mut output = ftk_record::Output::create(&path)?;
/// output.write_all(b"complete\n")?;
/// assert!(!path.exists());
/// output.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"complete\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Output {
    writer: BufWriter<File>,
    pending: Option<Box<Pending>>,
    identities: Vec<(u64, u64)>,
    /// The mtime that the file gets, if it is not the time of its last write.
    modified: Option<SystemTime>,
    failed: bool,
    /// The bytes that were written, and those of them whose way to the disk has begun.
    written: u64,
    begun: u64,
}

/// What a commit needs for a file that is not written in place.
#[derive(Debug)]
struct Pending {
    temp: Temp,
    name: OsString,
    old: Option<Stat>,
    /// Whether a file of that name is replaced.
    replaces: bool,
}

/// What an output path leads to. Two paths that lead to one target have equal values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputId {
    /// The device and inode number of a file, FIFO or block device.
    Existing(u64, u64),
    /// A name that no file has yet, in the directory with this device and inode number.
    Free((u64, u64), OsString),
    /// A descriptor of this process, by its number, that is a regular file with this device and inode number.
    Descriptor(OsString, (u64, u64)),
    /// A character device, such as `/dev/null`, or a descriptor that is no regular file. Several outputs may share it.
    Shared,
}

impl OutputId {
    /// Whether both lead to one file, by a name or through a descriptor. What several outputs may share is no file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        match (self.identity(), other.identity()) {
            (None, None) => matches!(self, Self::Free(..)) && self == other,
            (one, other) => one == other,
        }
    }

    fn identity(&self) -> Option<(u64, u64)> {
        match self {
            Self::Existing(dev, ino) => Some((*dev, *ino)),
            Self::Descriptor(_, identity) => Some(*identity),
            Self::Free(..) | Self::Shared => None,
        }
    }
}

/// Large enough to write a list of 86,000 lines in 60 calls, and small enough for the second-level cache.
const BUFFER: usize = 128 * 1024;

/// The way to the disk begins for so many bytes at a time. Without it, the `fsync` of 369 MB took 180 ms of the 810 ms of
/// `ftk manifest merge`.
const WRITE_BACK: u64 = 8 << 20;

impl Output {
    /// Finds out what `path` leads to. Opens nothing for writing.
    ///
    /// # Errors
    /// If [`create`](Self::create) would refuse the path.
    pub fn id(path: &Path) -> io::Result<OutputId> {
        Ok(match Target::find(path)? {
            Target::Descriptor(place) => {
                let file = Stat::at(&place.dir, &place.name, Symlinks::Follow)?;
                match file.is_regular() {
                    true => OutputId::Descriptor(place.name, file.identity()),
                    false => OutputId::Shared,
                }
            }
            Target::Special(place) | Target::Replace(place) => match place.old {
                Some(stat) if stat.file_type == FileType::Char => OutputId::Shared,
                Some(stat) => OutputId::Existing(stat.dev, stat.ino),
                None => OutputId::Free(Stat::of(place.dir)?.identity(), place.name),
            },
        })
    }

    /// Opens `path` for output. Opening a FIFO waits for its reader.
    ///
    /// # Errors
    /// If `path` is a directory, if no file may be created in its directory, if the existing file is not
    /// writable or is read-only for everyone, or if another user may have planted it.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::with(path, true, Temp::create)
    }

    /// Like [`create`](Self::create), but no file is replaced.
    ///
    /// # Errors
    /// If `path` exists. The commit fails if it exists by then.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        Self::with(path, false, Temp::create)
    }

    fn with(
        path: &Path,
        replaces: bool,
        make: impl FnOnce(OwnedFd, Mode) -> io::Result<(Temp, File)>,
    ) -> io::Result<Self> {
        if !replaces && path.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let (file, pending) = match Target::find(path)?.open()? {
            Opened::InPlace(file) => (file, None),
            Opened::Replace(Place { dir, name, old }) => {
                let mode = match &old {
                    None => 0o666,
                    // A replacement gets the permissions of the old file, but only when it is complete.
                    Some(old) if old.uid == geteuid().as_raw() => 0o600,
                    Some(old) => old.mode & 0o666,
                };
                let (temp, file) = make(dir, permissions(mode))?;
                (file, Some(Box::new(Pending { temp, name, old, replaces })))
            }
        };
        let mut identities = vec![Stat::of(&file)?.identity()];
        identities.extend(pending.iter().filter_map(|pending| pending.old.as_ref()).map(Stat::identity));
        let writer = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { writer, pending, identities, modified: None, failed: false, written: 0, begun: 0 })
    }

    /// Returns the device and inode number of every file that is this output: the one being written, and the
    /// one that it will replace. A scan of the tree that contains them should skip them.
    pub fn identities(&self) -> &[(u64, u64)] {
        &self.identities
    }

    /// Returns the file that is being written. It has no name, or a temporary one, before the commit.
    pub fn file(&self) -> &File {
        self.writer.get_ref()
    }

    /// Whether the commit will replace a regular file that has content.
    pub fn replaces_content(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.old.as_ref().is_some_and(|old| old.size > 0))
    }

    /// Appends to the name that the file gets, so that it appears next to the path, which keeps its old file. The
    /// commit fails if a file has that name. An output that is written in place is not changed.
    pub fn add_to_name(&mut self, suffix: &str) {
        if let Some(pending) = &mut self.pending {
            pending.name.push(suffix);
            pending.replaces = false;
        }
    }

    /// Gives the new file the owner of the old one.
    ///
    /// # Errors
    /// If the process may not: then only the owner can replace the file without taking it over.
    pub fn keep_owner(&self) -> io::Result<()> {
        let Some(old) = self.pending.as_ref().and_then(|pending| pending.old.as_ref()) else { return Ok(()) };
        let file = self.writer.get_ref();
        if Stat::of(file)?.uid == old.uid { Ok(()) } else { fchown(file, Some(old.uid), Some(old.gid)) }
    }

    /// Sets the mtime that the file has when it is complete. By default it is the time of the last write.
    pub fn set_modified(&mut self, time: SystemTime) {
        self.modified = Some(time);
    }

    /// Writes the buffered data, waits until the file is on the disk, and gives it its name.
    ///
    /// # Errors
    /// If any of this fails, or an earlier write has failed. The path then keeps its old file; data that was
    /// written in place stays written.
    pub fn commit(mut self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.writer.flush()?;
        let file = self.writer.get_ref();
        if let Some(modified) = self.modified {
            file.set_modified(modified)?;
        }
        match self.pending.take() {
            Some(pending) => {
                let Pending { temp, name, old, replaces } = *pending;
                if let Some(old) = old {
                    copy_permissions(&old, file)?;
                }
                file.sync_all()?;
                temp.publish(file, &name, replaces)
            }
            None if file.metadata()?.is_file() => file.sync_all(),
            None => Ok(()),
        }
    }

    /// Returns the result, and remembers a failure: an output with lost data must never be committed.
    fn note_failure<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.failed |= result.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
        result
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.writer.write(bytes);
        self.written += result.as_ref().map_or(0, |n| *n as u64);
        let new = self.written - self.begun;
        if new >= WRITE_BACK && self.pending.is_some() {
            begin_write_back(self.writer.get_ref(), self.begun, new);
            self.begun = self.written;
        }
        self.note_failure(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.flush();
        self.note_failure(result)
    }
}

/// Gives a file that belongs to the caller the permissions of the old file, or fewer.
fn copy_permissions(old: &Stat, file: &File) -> io::Result<()> {
    ftk_file::remove_access_lists(file, false)?;
    let now = Stat::of(file)?;
    let mut mode = old.mode & 0o777;
    let has_group = now.gid == old.gid || (now.uid == old.uid && fchown(file, None, Some(old.gid)).is_ok());
    if !has_group {
        mode = mode_for_new_group(mode);
    }
    if now.uid != old.uid {
        // Another user must not widen what the caller's umask permits.
        mode &= now.mode;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Returns the permissions for a file whose group could not be kept: its new group gets only what others had.
fn mode_for_new_group(mode: u32) -> u32 {
    mode & 0o707 | (mode & 0o007) << 3
}

#[cfg(test)]
mod tests;
