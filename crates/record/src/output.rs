//! Output files that are complete or absent.

use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::Mode;

use crate::target::{Place, Target, resolve};
use crate::temp::Temp;

/// A file being written that takes its name only when it is [committed](Output::commit).
///
/// Until then the path keeps what it had, and if the writer is dropped or the process killed, for good. What
/// is not a regular file, such as a FIFO or `/dev/full`, is written in place, and so is a descriptor named
/// as `/dev/stdout` or under `/proc`.
///
/// A file that is replaced hands on its permissions, and its owner and group where the process may set them.
/// Extended attributes and access control lists are not handed on, and other hard links keep the old file.
/// Where a symbolic link is at the path, the file it points to is replaced and the link stays.
///
/// Writes are gathered in 128 KiB.
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
    failed: bool,
}

/// What is left to do for a file that is not written in place.
#[derive(Debug)]
struct Pending {
    temp: Temp,
    name: OsString,
    old: Option<Metadata>,
}

/// Large enough that a list of 86,000 lines is 60 writes, small enough to stay in the second-level cache.
const BUFFER: usize = 128 * 1024;

impl Output {
    /// Opens `path` for output.
    ///
    /// # Errors
    /// If `path` is a directory, or a file may not be made in its directory, or the file that is there may
    /// not be written. Opening a FIFO waits for its reader.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::with(path, Temp::create)
    }

    fn with(path: &Path, make: impl FnOnce(OwnedFd, Mode) -> io::Result<(Temp, File)>) -> io::Result<Self> {
        let (file, pending) = match resolve(path)? {
            Target::InPlace(file) => (file, None),
            Target::Replace(place) => {
                let Place { dir, name, old } = *place;
                // In the place of another file it gets that one's permissions, but not before it is complete.
                let mode = if old.is_some() { 0o600 } else { 0o666 };
                let (temp, file) = make(dir, Mode::from_raw_mode(mode))?;
                (file, Some(Box::new(Pending { temp, name, old })))
            }
        };
        let mut identities = vec![identity(&file.metadata()?)];
        identities.extend(pending.iter().filter_map(|pending| pending.old.as_ref()).map(identity));
        Ok(Self { writer: BufWriter::with_capacity(BUFFER, file), pending, identities, failed: false })
    }

    /// Device and inode number of every file that is this output: the one being written, and the one that
    /// it will replace. A scan of the tree they lie in should leave them out.
    pub fn identities(&self) -> &[(u64, u64)] {
        &self.identities
    }

    /// Writes out what is buffered, waits until it is on the disk, and gives the file its name.
    ///
    /// # Errors
    /// If any of this fails, or an earlier write did. The path then has what it had before; what was written
    /// in place stays written.
    pub fn commit(mut self) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.writer.flush()?;
        let file = self.writer.get_ref();
        match self.pending.take() {
            Some(pending) => {
                let Pending { temp, name, old } = *pending;
                if let Some(old) = old {
                    hand_on_permissions(&old, file)?;
                }
                file.sync_all()?;
                temp.publish(file, &name)
            }
            None if file.metadata()?.is_file() => file.sync_all(),
            None => Ok(()),
        }
    }

    /// Passes a result on and remembers a failure: what was lost must never be committed.
    fn noting<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.failed |= result.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted);
        result
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.writer.write(bytes);
        self.noting(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.writer.flush();
        self.noting(result)
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn hand_on_permissions(old: &Metadata, file: &File) -> io::Result<()> {
    let now = file.metadata()?;
    let mut mode = old.mode() & 0o777;
    let same = (now.uid(), now.gid()) == (old.uid(), old.gid());
    if !same && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        mode = mode_of_another_owner(mode);
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Permissions for a file that had to change hands: its new group gets what everybody had.
fn mode_of_another_owner(mode: u32) -> u32 {
    mode & 0o707 | (mode & 0o007) << 3
}

#[cfg(test)]
mod tests;
