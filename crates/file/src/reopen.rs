//! Opening a FIFO or a device without waiting for one that another user has put in its place.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, openat};
#[cfg(target_os = "linux")]
use rustix::fs::{fcntl_getfl, fcntl_setfl};
#[cfg(target_os = "linux")]
use rustix::io::Errno;

#[cfg(target_os = "linux")]
use crate::FileType;
use crate::Stat;

/// Opens a file. `check` gets its state before it is opened: in place of the expected one, another user may have put a FIFO
/// there that no process reads or writes.
///
/// On Linux, exactly the file that was checked is opened. Elsewhere, `check` gets the state of the open file.
///
/// # Errors
/// If it cannot be opened, and those of `check`.
pub fn open_checked(
    dir: impl AsFd,
    path: impl AsRef<Path>,
    flags: OFlags,
    check: impl FnOnce(&Stat) -> io::Result<()>,
) -> io::Result<File> {
    let (dir, path, flags) = (dir.as_fd(), path.as_ref(), flags | OFlags::CLOEXEC);
    #[cfg(target_os = "linux")]
    {
        let only_name = OFlags::PATH | OFlags::CLOEXEC | (flags & OFlags::NOFOLLOW);
        let found = openat(dir, path, only_name, Mode::empty())?;
        let seen = Stat::of(&found)?;
        check(&seen)?;
        let of_descriptor = format!("/proc/thread-self/fd/{}", found.as_raw_fd());
        match openat(dir, of_descriptor, flags.difference(OFlags::NOFOLLOW), Mode::empty()) {
            Err(Errno::NOENT) => without_proc(dir, path, flags, &seen),
            file => Ok(file?.into()),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let file = openat(dir, path, flags, Mode::empty())?;
        check(&Stat::of(&file)?)?;
        Ok(file.into())
    }
}

/// Opens the file by its name again. Only to open a FIFO may wait.
#[cfg(target_os = "linux")]
fn without_proc(dir: BorrowedFd<'_>, path: &Path, flags: OFlags, seen: &Stat) -> io::Result<File> {
    let waits = seen.file_type == FileType::Fifo;
    let open = if waits { flags } else { flags | OFlags::NONBLOCK };
    let file = openat(dir, path, open, Mode::empty())?;
    if Stat::of(&file)?.identity() != seen.identity() {
        return Err(io::Error::other("the file has been replaced by something else"));
    }
    if !waits {
        fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
    }
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use rustix::fs::{CWD, FileType as Kind, mknodat};

    use super::*;

    #[test]
    fn what_is_refused_is_not_opened() {
        let temp = tempfile::tempdir().unwrap();
        let fifo = temp.path().join("fifo");
        mknodat(CWD, &fifo, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // No process reads or writes it.
        if cfg!(target_os = "linux") {
            for flags in [OFlags::RDONLY, OFlags::WRONLY | OFlags::NOFOLLOW] {
                let refused = open_checked(CWD, &fifo, flags, |_| Err(io::Error::other("refused")));
                assert_eq!(refused.unwrap_err().to_string(), "refused");
            }
        }
        std::thread::scope(|scope| {
            let fifo = &fifo;
            let open = move |flags| open_checked(CWD, fifo, flags, |_| Ok(())).unwrap();
            scope.spawn(move || open(OFlags::WRONLY | OFlags::NOFOLLOW).write_all(b"x").unwrap());
            let mut text = String::new();
            open(OFlags::RDONLY).read_to_string(&mut text).unwrap();
            assert_eq!(text, "x");
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn without_proc_the_file_must_still_be_the_same() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "x").unwrap();
        let seen = Stat::at(CWD, temp.path().join("file"), crate::Symlinks::Follow).unwrap();
        let open = || without_proc(CWD, &temp.path().join("file"), OFlags::RDONLY, &seen);
        let file = open().unwrap();
        assert!(!fcntl_getfl(&file).unwrap().contains(OFlags::NONBLOCK));
        std::fs::remove_file(temp.path().join("file")).unwrap();
        mknodat(CWD, temp.path().join("file"), Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(open().is_err());
    }
}
