//! The target of an output path: a name to be replaced, or something that is written in place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use ftk_file::{FileType, LOOKUP, Stat, Symlinks, open_checked};
use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// What is at an output path, before anything is opened for writing.
pub(crate) enum Target {
    /// A descriptor of this process under `/proc` or `/dev/fd`.
    Descriptor(Place),
    /// A device or a FIFO.
    Special(Place),
    /// A regular file, or nothing yet.
    Replace(Place),
}

/// A target that may be written.
pub(crate) enum Opened {
    /// Open for writing in place.
    InPlace(File),
    /// To be replaced.
    Replace(Place),
}

/// A name in a directory, and the file that has it.
pub(crate) struct Place {
    pub(crate) dir: OwnedFd,
    pub(crate) name: OsString,
    /// `None` if the name is free.
    pub(crate) old: Option<Stat>,
}

impl Target {
    /// Finds the target of `path`. Symbolic links are followed, even to a file that does not exist yet.
    ///
    /// The kernel resolves the path, so that its own protections apply. Then this follows the same path step by step,
    /// to find the directory of the target and to refuse what other users could have planted: links of others in a
    /// directory that all users can write to or, if the caller is root, any other user; files of others in a
    /// directory with the sticky bit that others can write to; and FIFOs and devices of others in any directory (a
    /// terminal can be stopped). Both must lead to the same file. From then on, only the directory and the name are
    /// used. In procfs, only the descriptors of this process are targets: those of others can lead to any file, also
    /// to a FIFO.
    ///
    /// # Errors
    /// If the target is a directory, is refused, or cannot be found.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let seen = match Stat::at(CWD, path, Symlinks::Follow) {
            Ok(seen) if seen.file_type == FileType::Directory => return Err(ErrorKind::IsADirectory.into()),
            Ok(seen) => Some(seen),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let place = match walk(path.as_os_str().as_bytes())? {
            Found::Entry(place) => place,
            Found::Descriptor(place) => {
                Stat::at(&place.dir, &place.name, Symlinks::Follow)?; // it may not be open
                return Ok(Self::Descriptor(place));
            }
        };
        if place.old.as_ref().map(Stat::identity) != seen.as_ref().map(Stat::identity) {
            return Err(replaced());
        }
        let is_replaced = seen.is_none_or(|seen| seen.is_regular());
        Ok(if is_replaced { Self::Replace(place) } else { Self::Special(place) })
    }

    /// Opens the target for writing.
    ///
    /// # Errors
    /// If it cannot be opened for writing, or is another one now. A file that its owner made read-only is not replaced, even
    /// if the directory is writable.
    pub(crate) fn open(self) -> io::Result<Opened> {
        match self {
            Self::Descriptor(Place { dir, name, .. }) => {
                // Appends to a file: data that others wrote through the descriptor must stay.
                let is_file = Stat::at(&dir, &name, Symlinks::Follow)?.is_regular();
                let append = if is_file { OFlags::APPEND } else { OFlags::empty() };
                let flags = append | OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
                Ok(Opened::InPlace(openat(&dir, &name, flags, Mode::empty())?.into()))
            }
            Self::Special(Place { dir, name, old }) => {
                let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NOCTTY;
                let around = Stat::of(&dir)?;
                let file = open_checked(&dir, &name, flags, |now| {
                    if old.is_none_or(|old| old.file_type != now.file_type) {
                        return Err(replaced());
                    }
                    refuse_planted(&around, now)
                })?;
                Ok(Opened::InPlace(file))
            }
            Self::Replace(place) if place.old.is_none() => Ok(Opened::Replace(place)),
            Self::Replace(place) => {
                let old = place.open()?;
                Ok(Opened::Replace(Place { old: Some(old), ..place }))
            }
        }
    }
}

impl Place {
    /// Opens a regular file for a moment. With `O_CREAT`, the kernel applies `protected_regular` and `protected_fifos`. What was opened counts,
    /// and not what was seen before: an overlay gives a file other numbers when it is opened for writing.
    ///
    /// The directory is not resolved again. Otherwise another user could replace it by a link, and a file would be created
    /// elsewhere.
    fn open(&self) -> io::Result<Stat> {
        // O_NONBLOCK: the file may have been replaced by a FIFO.
        let flags = OFlags::NONBLOCK | OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW;
        let flags = flags | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(&self.dir, &self.name, flags, Mode::from_raw_mode(0o666))?;
        let opened = Stat::of(&file)?;
        let is_same_type = self.old.as_ref().is_some_and(|old| old.file_type == opened.file_type);
        if !is_same_type {
            return Err(replaced());
        }
        refuse_planted(&Stat::of(&self.dir)?, &opened)?;
        // Root may open it nevertheless.
        if opened.mode & 0o222 == 0 {
            let why = format!("it is read-only (mode {:04o})", opened.mode & 0o7777);
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        Ok(opened)
    }
}

fn replaced() -> io::Error {
    io::Error::other("the file has been replaced by something else")
}

/// The number of links that Linux follows before it returns `ELOOP`.
const MAX_LINKS: usize = 40;

/// Where a path leads.
enum Found {
    Entry(Place),
    /// A descriptor of this process, whose link text is not a usable path.
    Descriptor(Place),
}

/// Follows a path to its last name.
fn walk(path: &[u8]) -> io::Result<Found> {
    if path.is_empty() {
        return Err(Errno::NOENT.into());
    }
    let mut rest = path.to_vec();
    let mut dir = start(&rest)?;
    for _ in 0..=MAX_LINKS {
        let (name, found) = loop {
            let (name, after) = first_name(&rest)?;
            let is_special = has_unusable_links(&dir)?;
            if is_special && after.is_none() {
                return match is_own_descriptors(&dir) {
                    true => Ok(Found::Descriptor(Place { dir, name: OsString::from_vec(name), old: None })),
                    false => Err(io::Error::new(ErrorKind::PermissionDenied, NOT_OWN)),
                };
            }
            let symlinks = Symlinks::follow_if(is_special || name == b"..");
            let found = match Stat::at(&dir, OsStr::from_bytes(&name), symlinks) {
                Err(Errno::NOENT) if after.is_none() => None,
                found => Some(found?),
            };
            match (after, found) {
                (Some(after), Some(found)) if found.file_type != FileType::Symlink => {
                    let flags = LOOKUP | symlinks.open_flags();
                    dir = openat(&dir, OsStr::from_bytes(&name), flags, Mode::empty())?;
                    rest = after;
                }
                (after, found) => {
                    rest = after.unwrap_or_default();
                    break (OsString::from_vec(name), found);
                }
            }
        };
        let Some(found) = found else { return Ok(Found::Entry(Place { dir, name, old: None })) };
        refuse_planted(&Stat::of(&dir)?, &found)?;
        if found.file_type != FileType::Symlink {
            return Ok(Found::Entry(Place { dir, name, old: Some(found) }));
        }
        let mut text = readlinkat(&dir, &name, Vec::new())?.into_bytes();
        if text.starts_with(b"/") {
            dir = start(&text)?;
        }
        if !rest.is_empty() {
            text.push(b'/');
            text.append(&mut rest);
        }
        rest = text;
    }
    Err(Errno::LOOP.into())
}

/// Opens the directory where a path begins.
fn start(path: &[u8]) -> io::Result<OwnedFd> {
    let dir = if path.starts_with(b"/") { "/" } else { "." };
    Ok(openat(CWD, dir, LOOKUP, Mode::empty())?)
}

/// Returns the first name of a path, and the rest of the path if that has another name.
///
/// # Errors
/// If the last name is followed by a slash, or is `.` or `..`: these mean a directory.
fn first_name(path: &[u8]) -> io::Result<(Vec<u8>, Option<Vec<u8>>)> {
    let mut names = path.split(|&byte| byte == b'/').skip_while(|name| matches!(*name, b"" | b"."));
    let name = names.next().ok_or(ErrorKind::IsADirectory)?;
    let rest: Vec<_> = names.collect();
    if rest.iter().any(|name| !matches!(*name, b"" | b".")) {
        return Ok((name.to_vec(), Some(rest.join(&b'/'))));
    }
    if !rest.is_empty() || name == b".." {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok((name.to_vec(), None))
}

/// Refuses an entry of `dir` that another user may have planted.
fn refuse_planted(dir: &Stat, entry: &Stat) -> io::Result<()> {
    let user = geteuid().as_raw();
    let is_sticky = dir.mode & 0o1000 != 0 && dir.mode & 0o022 != 0;
    // Links lead to files that their makers may not write to. Members of a group and owners of directories let in
    // whom they trust, but root trusts none of them.
    let is_open = is_sticky || dir.mode & 0o002 != 0;
    let is_open_for_root = user == 0 && (dir.uid != 0 || dir.mode & 0o022 != 0);
    // Where users may make hard links to the files of others, one of them can give such an entry a second name.
    let has_other_name = match entry.file_type {
        FileType::Symlink => (is_open || is_open_for_root) && entry.nlink > 1,
        _ => is_sticky && entry.nlink > 1,
    };
    let why = match entry.file_type {
        FileType::Fifo | FileType::Symlink if has_other_name => {
            "it has another name, and other users can make names in this directory"
        }
        _ if entry.uid == user => return Ok(()),
        FileType::Fifo => "it is a FIFO of another user",
        FileType::Char | FileType::Block if entry.uid != 0 => "it is a device of another user",
        FileType::Regular if is_sticky => {
            "it is another user's file in a directory where all users can make files"
        }
        // Root can do more than plant a link.
        FileType::Symlink if is_open && entry.uid != 0 => {
            "it leads through another user's link in a directory where all users can make links"
        }
        FileType::Symlink if is_open_for_root && entry.uid != 0 => {
            "it leads through another user's link in a directory where root is not the only one to make links"
        }
        FileType::Regular
        | FileType::Directory
        | FileType::Symlink
        | FileType::Socket
        | FileType::Block
        | FileType::Char => return Ok(()),
        _ => "its type is not known",
    };
    Err(io::Error::new(ErrorKind::PermissionDenied, why))
}

const NOT_OWN: &str = "it is in a pseudo file system and not a descriptor of this process";

/// Returns whether the links in this directory have no usable text: those of procfs.
#[cfg(target_os = "linux")]
fn has_unusable_links(dir: impl AsFd) -> io::Result<bool> {
    Ok(rustix::fs::fstatfs(dir)?.f_type == rustix::fs::PROC_SUPER_MAGIC)
}
#[cfg(not(target_os = "linux"))]
fn has_unusable_links(dir: impl AsFd) -> io::Result<bool> {
    Ok(is_own_descriptors(dir))
}

/// The directories with the descriptors of this process.
#[cfg(target_os = "linux")]
const OWN_DESCRIPTORS: [&str; 2] = ["/proc/self/fd", "/proc/thread-self/fd"];
#[cfg(not(target_os = "linux"))]
const OWN_DESCRIPTORS: [&str; 1] = ["/dev/fd"];

fn is_own_descriptors(dir: impl AsFd) -> bool {
    let Ok(dir) = Stat::of(dir) else { return false };
    let own = OWN_DESCRIPTORS.iter().filter_map(|path| Stat::at(CWD, *path, Symlinks::Follow).ok());
    own.map(|own| own.identity()).any(|own| own == dir.identity())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_another_user_may_have_planted_are_refused() {
        let user = geteuid().as_raw();
        let base = Stat::at(CWD, "/", Symlinks::Follow).unwrap();
        let stat = |file_type, mode, uid, nlink| Stat { file_type, mode, uid, nlink, ..base };
        for (dir_mode, file_type, uid, nlink, is_fine) in [
            (0o1777, FileType::Symlink, user, 1, true),
            (0o1777, FileType::Symlink, user, 2, false),
            (0o1777, FileType::Symlink, 0, 1, true),
            (0o1777, FileType::Symlink, 0, 2, false),
            (0o1777, FileType::Symlink, 77, 1, false),
            (0o0777, FileType::Symlink, 77, 1, false),
            (0o1777, FileType::Fifo, user, 1, true),
            (0o1777, FileType::Fifo, user, 2, false),
            (0o0755, FileType::Fifo, user, 2, true),
            (0o0755, FileType::Fifo, 77, 1, false),
            (0o0755, FileType::Char, user, 1, true),
            (0o0755, FileType::Char, 0, 1, true),
            (0o0755, FileType::Char, 77, 1, false),
            (0o0755, FileType::Block, 77, 1, false),
            // A file is replaced, so other names of it keep their content.
            (0o1777, FileType::Regular, user, 2, true),
            (0o1777, FileType::Regular, 77, 1, false),
        ] {
            let dir = stat(FileType::Directory, dir_mode, 0, 2);
            let planted = refuse_planted(&dir, &stat(file_type, 0o777, uid, nlink));
            assert_eq!(planted.is_ok(), is_fine, "{dir_mode:o} {file_type:?} {uid} {nlink}");
        }
    }

    /// The user of a directory exchanges the link to standard output for a FIFO without a reader: nothing waits for it. The
    /// outputs of `-o`, `--stats` and `--metrics` are all opened in this way.
    #[test]
    fn a_link_to_a_descriptor_is_not_followed_again() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;

        let temp = tempfile::tempdir().unwrap();
        let (path, link) = (temp.path().join("file"), temp.path().join("link"));
        let file = File::options().create_new(true).read(true).append(true).open(&path).unwrap();
        std::os::unix::fs::symlink(format!("/proc/self/fd/{}", file.as_raw_fd()), &link).unwrap();
        let target = Target::find(&link).unwrap();
        assert!(matches!(target, Target::Descriptor(_)));
        std::fs::remove_file(&link).unwrap();
        rustix::fs::mknodat(CWD, &link, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let Opened::InPlace(mut opened) = target.open().unwrap() else { panic!("it is replaced") };
        opened.write_all(b"written").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"written");
    }

    /// A descriptor of another process can lead to a FIFO of its user, and no process may wait at the other end.
    #[cfg(target_os = "linux")]
    #[test]
    fn only_the_descriptors_of_this_process_are_targets() {
        use std::os::fd::AsRawFd as _;
        use std::process::{Command, Stdio};

        let temp = tempfile::tempdir().unwrap();
        let file = File::create(temp.path().join("file")).unwrap();
        let (pid, fd) = (std::process::id(), file.as_raw_fd());
        // The child waits until its input ends.
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let other = child.id();
        let link = temp.path().join("link");
        for (path, is_own) in [
            (format!("/proc/self/fd/{fd}"), true),
            (format!("/dev/fd/{fd}"), true),
            (format!("/proc/thread-self/fd/{fd}"), true),
            (format!("/proc/{pid}/fd/{fd}"), true),
            (format!("/proc/{other}/fd/0"), false),
            (format!("/proc/{other}/fd/1"), false),
            (format!("/proc/{other}/task/{other}/fd/0"), false),
            (format!("/proc/{other}/exe"), false),
            ("/proc/self/exe".into(), false),
            ("/proc/self/comm".into(), false),
        ] {
            std::os::unix::fs::symlink(&path, &link).unwrap();
            for target in [Path::new(&path), &link] {
                match Target::find(target) {
                    Ok(Target::Descriptor(_)) => assert!(is_own, "{path}"),
                    Ok(_) => panic!("{path} is replaced"),
                    Err(error) => {
                        assert!(!is_own && error.kind() == ErrorKind::PermissionDenied, "{path}: {error}");
                    }
                }
            }
            std::fs::remove_file(&link).unwrap();
        }
        // A directory that is named through procfs is like any other.
        let Ok(Target::Replace(_)) =
            Target::find(Path::new(&format!("/proc/self/root{}", temp.path().join("new").display())))
        else {
            panic!("it is a new file");
        };
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn first_name_and_rest() {
        let rest = |rest: &str| Some(rest.as_bytes().to_vec());
        for (path, name, after) in [
            ("a", "a", None),
            ("/a", "a", None),
            ("b/a", "b", rest("a")),
            ("../a", "..", rest("a")),
            ("./b//../a", "b", rest("/../a")),
            ("b/a/", "b", rest("a/")),
        ] {
            assert_eq!(first_name(path.as_bytes()).unwrap(), (name.as_bytes().to_vec(), after), "{path}");
        }
        for path in ["/", "a/", "a/.", "..", "."] {
            let error = first_name(path.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::IsADirectory, "{path}");
        }
    }
}
