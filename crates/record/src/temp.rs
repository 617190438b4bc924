//! The file that an output is written to before it gets its name.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

/// A file in a directory that goes away when this is dropped, unless it was [published](Temp::publish).
///
/// On Linux it has no name until then, so that even a killed process leaves nothing behind. File systems
/// that cannot do this (NFS, FUSE, overlays on old kernels) get a name that no listing of ours would mistake
/// for a user's file, `.ftk-` and 16 hexadecimal digits: short, so that the final name may be as long as
/// names can be.
#[derive(Debug)]
pub(crate) struct Temp {
    dir: OwnedFd,
    name: Option<String>,
}

impl Temp {
    /// Makes one in `dir`, open for writing; the umask applies to `mode`.
    pub(crate) fn create(dir: OwnedFd, mode: Mode) -> io::Result<(Self, File)> {
        match unnamed(dir.as_fd(), mode) {
            Some(file) => Ok((Self { dir, name: None }, file)),
            None => Self::create_named(dir, mode),
        }
    }

    /// As [`create`](Self::create), with a temporary name from the start.
    pub(crate) fn create_named(dir: OwnedFd, mode: Mode) -> io::Result<(Self, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, file) = with_free_name(|name| openat(&dir, name, flags, mode))?;
        Ok((Self { dir, name: Some(name) }, file.into()))
    }

    /// Gives `file`, the one made with this, the name `target`, in the place of whatever has it.
    ///
    /// Other processes see what was there before or the whole new file, never anything between. An unnamed
    /// file cannot take a name that is in use: it passes through a temporary one, complete already.
    pub(crate) fn publish(mut self, file: &File, target: &OsStr) -> io::Result<()> {
        if self.name.is_none() {
            match link(file, self.dir.as_fd(), target) {
                Err(Errno::EXIST) => {
                    self.name =
                        Some(with_free_name(|name| link(file, self.dir.as_fd(), OsStr::new(name)))?.0);
                }
                result => return Ok(result?),
            }
        }
        if let Some(name) = &self.name {
            renameat(&self.dir, name, &self.dir, target)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // There is nobody to tell, and the error that led here has been told already.
            let _ = unlinkat(&self.dir, name, AtFlags::empty());
        }
    }
}

/// Calls `take` with one random name after another until it finds one that is free.
fn with_free_name<T>(mut take: impl FnMut(&str) -> rustix::io::Result<T>) -> io::Result<(String, T)> {
    // Names of 64 random bits do not meet by chance; the bound is for a directory that always says EEXIST.
    for _ in 0..16 {
        let random = RandomState::new().build_hasher().finish();
        let name = format!(".ftk-{random:016x}");
        match take(&name) {
            Err(Errno::EXIST) => {}
            result => return Ok((name, result?)),
        }
    }
    Err(Errno::EXIST.into())
}

/// An unnamed file in `dir`, or `None` if the file system has none or it could not be given a name later.
#[cfg(target_os = "linux")]
fn unnamed(dir: BorrowedFd<'_>, mode: Mode) -> Option<File> {
    let file = openat(dir, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, mode).ok()?;
    let behind_proc = rustix::fs::stat(proc_path(file.as_fd())).ok()?;
    let itself = rustix::fs::fstat(&file).ok()?;
    ((behind_proc.st_dev, behind_proc.st_ino) == (itself.st_dev, itself.st_ino)).then(|| file.into())
}
#[cfg(not(target_os = "linux"))]
fn unnamed(_: BorrowedFd<'_>, _: Mode) -> Option<File> {
    None
}

/// Gives an unnamed file a name that is free.
#[cfg(target_os = "linux")]
fn link(file: &File, dir: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<()> {
    // By way of /proc, since AT_EMPTY_PATH wants a capability on kernels before 6.10.
    rustix::fs::linkat(rustix::fs::CWD, proc_path(file.as_fd()), dir, name, AtFlags::SYMLINK_FOLLOW)
}
#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: BorrowedFd<'_>, _: &OsStr) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}

/// The path of a descriptor of this thread, whose table need not be that of the process.
#[cfg(target_os = "linux")]
fn proc_path(file: BorrowedFd<'_>) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/thread-self/fd/{}", file.as_raw_fd())
}
