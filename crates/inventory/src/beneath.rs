//! Opens directories below another one, so that the path cannot lead out of it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

/// Opens the directory `path` below `base` without following symbolic links.
///
/// `access` is `O_PATH` or `O_RDONLY`. The path must be relative and must not contain `..`.
///
/// # Errors
/// `ELOOP` if the path contains a symbolic link, and every error of opening a directory.
pub fn open(base: BorrowedFd<'_>, path: &CStr, access: OFlags) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = by_kernel(base, path, access) {
        return opened;
    }
    by_hand(base, path, access)
}

/// Opens the directory in one call. Returns `None` if `openat2` is missing (before Linux 5.6) or forbidden.
#[cfg(target_os = "linux")]
fn by_kernel(base: BorrowedFd<'_>, path: &CStr, access: OFlags) -> Option<io::Result<OwnedFd>> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(base, path, access | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), resolve) {
        // EAGAIN means that the kernel cannot be sure because of a rename elsewhere.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => None,
        opened => Some(opened.map_err(io::Error::from)),
    }
}

/// Opens the directory name by name.
fn by_hand(base: BorrowedFd<'_>, path: &CStr, access: OFlags) -> io::Result<OwnedFd> {
    let mut dir: Option<OwnedFd> = None;
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let bytes = path.to_bytes();
    let names = bytes.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
    for name in names.chain(bytes.is_empty().then_some(&b""[..])) {
        let at = dir.as_ref().map_or(base, |dir| dir.as_fd());
        let next = openat(at, name, flags, Mode::empty()).map_err(|errno| {
            // With O_DIRECTORY the error for a link is ENOTDIR.
            let stat = || statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
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
            let mut ways = vec![by_hand(base.as_fd(), &name, OFlags::RDONLY)];
            #[cfg(target_os = "linux")]
            ways.extend(by_kernel(base.as_fd(), &name, OFlags::RDONLY));
            ways.push(open(base.as_fd(), &name, OFlags::RDONLY));
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
