//! The target of an output path: a name to be replaced, or something that is written in place.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// What is at an output path.
pub(crate) enum Target {
    /// A device, a FIFO, or a descriptor of this process under `/proc` or `/dev/fd`, open for writing.
    InPlace(File),
    /// A regular file, or nothing yet.
    Replace(Box<Place>),
}

/// A name in a directory, and the file that has it.
pub(crate) struct Place {
    pub(crate) dir: OwnedFd,
    pub(crate) name: OsString,
    /// The regular file there, or `None` if the name is free.
    pub(crate) old: Option<Metadata>,
}

/// Finds the target of `path`. Symbolic links are followed, even to a file that does not exist yet.
///
/// # Errors
/// If the target is a directory, if its directory cannot be opened, or if the file is not writable. A file
/// that its owner made read-only is not replaced, even if the directory is writable.
pub(crate) fn resolve(path: &Path) -> io::Result<Target> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return in_place(OpenOptions::new().write(true), path),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match follow(path)? {
        Some(path) => Ok(Target::Replace(Box::new(open_place(&path)?))),
        // The path leads to a file through a descriptor of this process. Appends to it: data that others
        // wrote through the descriptor must stay.
        None => in_place(OpenOptions::new().append(true), path),
    }
}

fn in_place(options: &mut OpenOptions, path: &Path) -> io::Result<Target> {
    options.custom_flags(OFlags::NOCTTY.bits().cast_signed()).open(path).map(Target::InPlace)
}

fn open_place(path: &Path) -> io::Result<Place> {
    let (dir, name) = split(path)?;
    let dir = openat(CWD, dir, OFlags::DIRECTORY | DIR_ACCESS | OFlags::CLOEXEC, Mode::empty())?;
    // Opening proves that the file is writable. O_NONBLOCK: the file may have been replaced by a FIFO.
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let old = match openat(&dir, name, flags, Mode::empty()) {
        Ok(file) => Some(File::from(file).metadata()?),
        Err(rustix::io::Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(io::Error::other("the file has been replaced by something else"));
    }
    let name = name.to_owned();
    Ok(Place { dir, name, old })
}

/// The directory is used only to look up names, which needs no permission to read it.
#[cfg(target_os = "linux")]
const DIR_ACCESS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const DIR_ACCESS: OFlags = OFlags::RDONLY;

/// The number of links that Linux follows before it returns `ELOOP`.
const MAX_LINKS: usize = 40;

/// Returns the end of the chain of symbolic links at `path`, or `None` if the chain leads through a
/// descriptor of this process, whose link text is not a usable path.
fn follow(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..=MAX_LINKS {
        let (dir, _) = split(&path)?;
        if holds_descriptors(dir)? {
            return Ok(None);
        }
        match fs::read_link(&path) {
            Ok(text) => path = dir.join(text),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(Some(path)); // not a link, or nothing there
            }
            Err(error) => return Err(error),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

#[cfg(target_os = "linux")]
fn holds_descriptors(dir: &Path) -> io::Result<bool> {
    Ok(rustix::fs::statfs(dir)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}
#[cfg(not(target_os = "linux"))]
fn holds_descriptors(dir: &Path) -> io::Result<bool> {
    Ok(dir == Path::new("/dev/fd"))
}

/// Splits a path into directory and last name. Unlike [`Path::file_name`], it does not ignore a final slash
/// or dot, which mean a directory.
fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let (dir, name) = match bytes.iter().rposition(|&byte| byte == b'/') {
        Some(0) => (&b"/"[..], &bytes[1..]),
        Some(slash) => (&bytes[..slash], &bytes[slash + 1..]),
        None => (&b"."[..], bytes),
    };
    match name {
        b"" if bytes.is_empty() => Err(ErrorKind::NotFound.into()),
        b"" | b"." | b".." => Err(ErrorKind::IsADirectory.into()),
        _ => Ok((Path::new(OsStr::from_bytes(dir)), OsStr::from_bytes(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_returns_the_last_name() {
        for (path, dir, name) in [("a", ".", "a"), ("/a", "/", "a"), ("b/a", "b", "a"), ("../a", "..", "a")] {
            assert_eq!(split(Path::new(path)).unwrap(), (Path::new(dir), OsStr::new(name)));
        }
        for path in ["/", "a/", "a/.", "..", "a/.."] {
            assert_eq!(split(Path::new(path)).unwrap_err().kind(), ErrorKind::IsADirectory, "{path}");
        }
        assert_eq!(split(Path::new("")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
