//! Opens directories by paths of any length.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::Symlinks;

/// The size of the longest path that a system call accepts, including its terminating NUL.
pub const PATH_MAX: usize = 4096;

/// Opens a directory only to look up names in it. With `O_PATH`, where the system has it, this needs no permission to list
/// the directory.
#[cfg(target_os = "linux")]
pub const LOOKUP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Opens a directory only to look up names in it. On this system, it needs permission to list the directory.
#[cfg(not(target_os = "linux"))]
pub const LOOKUP: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Opens a directory below `base`, in as few calls as the length of its path allows. The path consists of
/// `names`, each of which is one name or a path.
///
/// With [`Symlinks::NoFollow`] no link in the path is followed. The path must then be relative, must not contain
/// `..`, and so cannot lead out of `base`. `path` is memory to build paths in.
///
/// # Errors
/// `ELOOP` if the path contains a symbolic link that is not to be followed, and every error of opening a
/// directory.
///
/// # Panics
/// If a name contains a NUL.
pub fn descend<'n>(
    base: BorrowedFd<'_>,
    names: impl IntoIterator<Item = &'n [u8]>,
    symlinks: Symlinks,
    path: &mut Vec<u8>,
) -> io::Result<OwnedFd> {
    let mut dir: Option<OwnedFd> = None;
    path.clear();
    for name in names {
        if !path.is_empty() && path.len() + 1 + name.len() >= PATH_MAX {
            dir = Some(open(dir.as_ref().map_or(base, |dir| dir.as_fd()), path, symlinks)?);
            path.clear();
        }
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    open(dir.as_ref().map_or(base, |dir| dir.as_fd()), path, symlinks)
}

/// Opens a directory by a path that is short enough. Adds a NUL to the path.
fn open(base: BorrowedFd<'_>, path: &mut Vec<u8>, symlinks: Symlinks) -> io::Result<OwnedFd> {
    path.push(0);
    let path = CStr::from_bytes_with_nul(path).expect("names contain no NUL");
    match symlinks {
        Symlinks::Follow => Ok(openat(base, path, LOOKUP, Mode::empty())?),
        Symlinks::NoFollow => beneath(base, path),
    }
}

/// Opens a directory without following symbolic links.
fn beneath(base: BorrowedFd<'_>, path: &CStr) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = by_kernel(base, path) {
        return opened;
    }
    by_hand(base, path)
}

/// Opens the directory in one call. Returns `None` if `openat2` is missing (before Linux 5.6) or forbidden.
#[cfg(target_os = "linux")]
fn by_kernel(base: BorrowedFd<'_>, path: &CStr) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(base, path, LOOKUP, Mode::empty(), resolve) {
        // EAGAIN means that the kernel cannot be sure because of a rename elsewhere.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

/// Opens the directory name by name.
fn by_hand(base: BorrowedFd<'_>, path: &CStr) -> io::Result<OwnedFd> {
    let mut dir: Option<OwnedFd> = None;
    let flags = LOOKUP | OFlags::NOFOLLOW;
    let bytes = path.to_bytes();
    let names = bytes.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
    for name in names.chain(bytes.is_empty().then_some(&b""[..])) {
        let at = dir.as_ref().map_or(base, |dir| dir.as_fd());
        let next = openat(at, name, flags, Mode::empty()).map_err(|errno| {
            // With O_DIRECTORY the error for a link is ENOTDIR.
            let stat = || statat(at, name, Symlinks::NoFollow.at_flags());
            let is_link = |mode| FileType::from_raw_mode(mode) == FileType::Symlink;
            match errno {
                Errno::NOTDIR if stat().is_ok_and(|stat| is_link(stat.st_mode)) => Errno::LOOP,
                errno => errno,
            }
        })?;
        dir = Some(next);
    }
    Ok(dir.expect("a path has a name"))
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use rustix::fs::fstat;

    use super::*;

    #[test]
    fn openat2_and_opening_by_name_agree() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(temp.path().join("outside")).unwrap();
        fs::write(root.join("file"), b"").unwrap();
        symlink("../outside", root.join("out")).unwrap();
        symlink("/", root.join("a/top")).unwrap();
        symlink("b", root.join("a/inside")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        let base = File::open(&root).unwrap();
        for (path, errno) in [
            ("a", None),
            ("a/b", None),
            ("a//b//", None),
            ("./a/./b", None),
            (".", None),
            ("", Some(Errno::NOENT)),
            ("missing", Some(Errno::NOENT)),
            ("a/missing/b", Some(Errno::NOENT)),
            ("file", Some(Errno::NOTDIR)),
            ("file/a", Some(Errno::NOTDIR)),
            ("out", Some(Errno::LOOP)),
            ("out/a", Some(Errno::LOOP)),
            ("a/top", Some(Errno::LOOP)),
            ("a/top/etc", Some(Errno::LOOP)),
            ("a/inside", Some(Errno::LOOP)),
            ("dangling/x", Some(Errno::LOOP)),
        ] {
            let name = CString::new(path).unwrap();
            let mut ways = vec![by_hand(base.as_fd(), &name)];
            #[cfg(target_os = "linux")]
            ways.extend(by_kernel(base.as_fd(), &name));
            ways.push(descend(base.as_fd(), [path.as_bytes()], Symlinks::NoFollow, &mut Vec::new()));
            for opened in ways {
                match opened {
                    Ok(fd) => {
                        assert_eq!(errno, None, "{path}");
                        let expected = File::open(root.join(path)).unwrap();
                        let inode = |fd: BorrowedFd<'_>| fstat(fd).unwrap().st_ino;
                        assert_eq!(inode(fd.as_fd()), inode(expected.as_fd()), "{path}");
                    }
                    Err(error) => assert_eq!(Errno::from_io_error(&error), errno, "{path}"),
                }
            }
        }
    }
}
