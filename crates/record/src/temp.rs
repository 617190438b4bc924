//! Temporary files for outputs that do not have their name yet.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ftk_file::temp_name;
use rustix::fs::{AtFlags, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

/// A temporary file in a directory. It is removed on drop, unless it was [published](Temp::publish).
///
/// On Linux the file has no name until then, so that even a killed process leaves no file. On file systems
/// that do not support this (NFS, FUSE, overlays on old kernels), it is named `.ftk-` and 16 hexadecimal
/// digits. That is unlikely to be the name of a user's file, and is short, so that the final name may have
/// the maximal length.
#[derive(Debug)]
pub(crate) struct Temp {
    dir: OwnedFd,
    name: Option<CString>,
}

impl Temp {
    /// Creates a file in `dir`, open for writing; the umask applies to `mode`.
    pub(crate) fn create(dir: OwnedFd, mode: Mode) -> io::Result<(Self, File)> {
        match unnamed(dir.as_fd(), mode) {
            Some(file) => Ok((Self { dir, name: None }, file)),
            None => Self::create_named(dir, mode),
        }
    }

    /// Like [`create`](Self::create), but the file has a temporary name from the start.
    pub(crate) fn create_named(dir: OwnedFd, mode: Mode) -> io::Result<(Self, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, file) = with_free_name(|name| openat(&dir, name, flags, mode))?;
        Ok((Self { dir, name: Some(name) }, file.into()))
    }

    /// Gives `file`, which was created together with this `Temp`, the name `target`. An existing file of that
    /// name is replaced, or an error if `replaces` is false.
    ///
    /// Other processes see either the old file or the complete new one. An unnamed file cannot replace a name
    /// in one step: it first gets a temporary name, when it is already complete.
    pub(crate) fn publish(mut self, file: &File, target: &OsStr, replaces: bool) -> io::Result<()> {
        if self.name.is_none() {
            match link(file, self.dir.as_fd(), target) {
                Err(Errno::EXIST) if replaces => {
                    self.name = Some(with_free_name(|name| link(file, self.dir.as_fd(), name))?.0);
                }
                result => return Ok(result?),
            }
        }
        if let (Some(name), false) = (&self.name, replaces) {
            // The temporary name is removed on drop.
            linkat(&self.dir, name, &self.dir, target, AtFlags::empty())?;
        } else if let Some(name) = &self.name {
            renameat(&self.dir, name, &self.dir, target)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // The error that led here has already been reported.
            let _ = unlinkat(&self.dir, name, AtFlags::empty());
        }
    }
}

/// Calls `create` with random names until it finds a free one.
fn with_free_name<T>(mut create: impl FnMut(&CStr) -> rustix::io::Result<T>) -> io::Result<(CString, T)> {
    // The limit is for a directory that always returns EEXIST.
    for _ in 0..16 {
        let name = temp_name();
        match create(&name) {
            Err(Errno::EXIST) => {}
            result => return Ok((name, result?)),
        }
    }
    Err(Errno::EXIST.into())
}

/// Creates an unnamed file in `dir`. Returns `None` if the file system does not support that, or if the file
/// could not be named later because `/proc` is not available.
#[cfg(target_os = "linux")]
fn unnamed(dir: BorrowedFd<'_>, mode: Mode) -> Option<File> {
    let file = openat(dir, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode).ok()?;
    let through_proc = rustix::fs::stat(proc_path(file.as_fd())).ok()?;
    let itself = rustix::fs::fstat(&file).ok()?;
    ((through_proc.st_dev, through_proc.st_ino) == (itself.st_dev, itself.st_ino)).then(|| file.into())
}
#[cfg(not(target_os = "linux"))]
fn unnamed(_: BorrowedFd<'_>, _: Mode) -> Option<File> {
    None
}

/// Gives an unnamed file a free name.
#[cfg(target_os = "linux")]
fn link(file: &File, dir: BorrowedFd<'_>, name: impl Arg) -> rustix::io::Result<()> {
    // Uses /proc, since AT_EMPTY_PATH requires a capability on kernels before 6.10.
    rustix::fs::linkat(rustix::fs::CWD, proc_path(file.as_fd()), dir, name, AtFlags::SYMLINK_FOLLOW)
}
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: BorrowedFd<'_>, _: impl Arg) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}

/// Returns the path of a descriptor of this thread, whose descriptor table may differ from that of the
/// process.
#[cfg(target_os = "linux")]
fn proc_path(file: BorrowedFd<'_>) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/thread-self/fd/{}", file.as_raw_fd())
}
