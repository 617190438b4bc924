//! Which journals `undo` accepts.
//!
//! A journal determines the owner, permissions and attributes that a file gets, so anyone who can write one
//! can make the caller change files. Only the caller and root may be able to.
//!
//! The owner of a file does not say who wrote it: for a moment, a copy that ftk makes has the caller as its owner and content
//! of another user. In a directory of that user, it could get the name of the journal. So no other user may be able to
//! replace files in the directory of the journal.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use ftk_file::{FileType, Stat, Symlinks};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat, readlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::exposed::first_replaceable;
use crate::history::JournalError;
use crate::reach::DIRECTORY;
use crate::sys::path_of;

/// Permissions that let users other than the owner write.
pub(crate) const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Opens a journal for [`summarize`](crate::summarize): a regular file of the caller or root that no other user may
/// write to.
///
/// The checks use the descriptor, not the path. If the last component of the path is a symbolic link, it is
/// refused.
///
/// # Errors
/// If the journal cannot be opened, or another user could have written it.
pub fn open_journal(path: &Path) -> Result<File, JournalError> {
    open_checked(CWD, path)
}

/// Opens a journal for [`undo`](crate::undo()), with the same checks as [`open_trusted_journal`]. Undo records in it what it
/// has made and undone, so no other process may be using it. The journal of root, and one on a read-only file system, need
/// not be writable: then nothing is recorded, and undo makes no directories.
///
/// # Errors
/// If the journal cannot be opened, another user could have written it or put it there, or it is being used.
pub fn open_journal_to_undo(path: &Path) -> Result<File, JournalError> {
    let (dir, name, readable) = open_in_safe_directory(path)?;
    let file = match open(&dir, name, OFlags::RDWR | OFlags::APPEND) {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => readable,
        file => file.map_err(|errno| JournalError::Write(errno.into()))?.into(),
    };
    check(&file)?;
    lock(&file)?;
    Ok(file)
}

/// Opens a journal to read what another undo relies on, with the checks of [`open_journal`]. In addition, no other user may be
/// able to replace files in its directory, or a directory above, or to change where a symbolic link of the path leads.
///
/// # Errors
/// If the journal cannot be opened, or another user could have written it or put it there.
pub fn open_trusted_journal(path: &Path) -> Result<File, JournalError> {
    open_in_safe_directory(path).map(|(_, _, file)| file)
}

/// Checks that no other user can replace files in a directory, or change where its path leads. If it does not exist, this
/// counts for the nearest one above it that does.
///
/// # Errors
/// If a directory cannot be examined, or another user can do that.
pub fn ensure_safe_directory(path: &Path) -> Result<(), JournalError> {
    let mut existing = path;
    loop {
        match (open_directory(existing), existing.parent()) {
            (Err(JournalError::Read(error)), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
                existing = parent;
            }
            (dir, _) => return refuse_replaceable(&dir?),
        }
    }
}

/// Opens a journal to read, and its directory, with the checks of [`open_trusted_journal`].
fn open_in_safe_directory(path: &Path) -> Result<(Rc<OwnedFd>, &Path, File), JournalError> {
    let name = path.file_name().ok_or(JournalError::NotRegular)?.as_ref();
    let dir = open_directory(path.parent().unwrap_or(Path::new("")))?;
    let file = open_checked(&dir, name)?;
    refuse_replaceable(&dir)?;
    Ok((dir, name, file))
}

/// The number of links that Linux follows before it returns `ELOOP`.
const MAX_LINKS: usize = 40;

/// Opens a directory by its path, name by name.
///
/// The directories above it are not always those of the path: the path may lead through symbolic links, or through directories
/// that `..` leaves. So no other user may be able to replace the entries of a directory that holds such a link or directory.
fn open_directory(path: &Path) -> Result<Rc<OwnedFd>, JournalError> {
    let mut rest = path.to_owned();
    let start = if path.has_root() { "/" } else { "." };
    let mut dir = Rc::new(openat(CWD, start, DIRECTORY, Mode::empty()).map_err(unread)?);
    let mut links = 0;
    loop {
        let mut components = rest.components();
        let Some(first) = components.next() else { return Ok(dir) };
        let after = components.as_path().to_owned();
        let link = match first {
            Component::Normal(name) => {
                if after.starts_with("..") {
                    refuse_replaceable(&dir)?;
                }
                link_at(&dir, name)?
            }
            _ => None,
        };
        rest = match link {
            Some(_) if links == MAX_LINKS => return Err(unread(Errno::LOOP)),
            Some(text) => {
                links += 1;
                text.join(after)
            }
            None => {
                let flags = DIRECTORY | OFlags::NOFOLLOW;
                dir = openat(&dir, first.as_os_str(), flags, Mode::empty()).map_err(unread)?.into();
                after
            }
        };
    }
}

/// Returns the text of a symbolic link, or `None` if the name is not one.
///
/// # Errors
/// If the entry cannot be examined, or another user can change where the link leads.
fn link_at(dir: &Rc<OwnedFd>, name: &OsStr) -> Result<Option<PathBuf>, JournalError> {
    let link = Stat::at(dir, name, Symlinks::NoFollow).map_err(unread)?;
    if link.file_type != FileType::Symlink {
        return Ok(None);
    }
    refuse_replaceable(dir)?;
    // In a directory with the sticky bit, all users can make links, and perhaps further names of the links of others.
    let may_be_planted = link.nlink > 1 && Stat::of(dir).map_err(unread)?.mode & WRITABLE_BY_OTHERS != 0;
    if may_be_planted || ![0, geteuid().as_raw()].contains(&link.uid) {
        let mut directory = path_of(dir).map_err(unread)?;
        directory.push(b'/');
        directory.extend_from_slice(name.as_bytes());
        return Err(JournalError::Exposed { directory, mode: link.mode, owner: link.uid });
    }
    let text = readlinkat(dir, name, Vec::new()).map_err(unread)?;
    Ok(Some(OsString::from_vec(text.into_bytes()).into()))
}

/// Refuses a directory in which another user can replace files, and one that is below such a directory.
fn refuse_replaceable(dir: &Rc<OwnedFd>) -> Result<(), JournalError> {
    let exposed = first_replaceable(dir).map_err(|refusal| JournalError::Read(io::Error::other(refusal)))?;
    exposed.map_or(Ok(()), |(directory, Stat { mode, uid: owner, .. })| {
        Err(JournalError::Exposed { directory, mode, owner })
    })
}

fn unread(errno: Errno) -> JournalError {
    JournalError::Read(errno.into())
}

/// Reserves a journal for this process until it is closed, if the file system supports that. Waits for a moment: a
/// process that is being started still has the descriptors of the one that starts it.
pub(crate) fn lock(journal: impl AsFd) -> Result<(), JournalError> {
    const TRIES: u32 = 50;
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..TRIES {
        match flock(&journal, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => thread::sleep(PAUSE),
            _ => return Ok(()),
        }
    }
    Err(JournalError::Busy)
}

fn open_checked(dir: impl AsFd, path: &Path) -> Result<File, JournalError> {
    let file = open(dir, path, OFlags::RDONLY).map_err(|errno| match errno {
        Errno::LOOP => JournalError::SymbolicLink,
        errno => JournalError::Read(errno.into()),
    })?;
    check(&file)?;
    Ok(file.into())
}

fn open(dir: impl AsFd, path: &Path, access: OFlags) -> Result<OwnedFd, Errno> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    openat(dir, path, flags, Mode::empty())
}

fn check(file: impl AsFd) -> Result<(), JournalError> {
    let stat = Stat::of(file).map_err(|errno| JournalError::Read(errno.into()))?;
    if !stat.is_regular() {
        return Err(JournalError::NotRegular);
    }
    if ![0, geteuid().as_raw()].contains(&stat.uid) {
        return Err(JournalError::Owner(stat.uid));
    }
    if stat.mode & WRITABLE_BY_OTHERS != 0 {
        return Err(JournalError::Writable(stat.mode));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn journals_of_other_users_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("journal");
        fs::write(&path, "").unwrap();
        let with_mode = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            open_journal(&path)
        };
        for mode in [0o600, 0o644, 0o755, 0o400] {
            with_mode(mode).unwrap();
        }
        for mode in [0o620, 0o602, 0o666] {
            assert!(matches!(with_mode(mode), Err(JournalError::Writable(found)) if found == mode));
        }
        with_mode(0o600).unwrap();
        if geteuid().is_root() {
            chown(&path, Some(65534), None).unwrap();
            assert!(matches!(open_journal(&path), Err(JournalError::Owner(65534))));
        }
    }

    /// A copy that undo made for another user could have been renamed to the journal.
    #[test]
    fn journals_in_directories_that_other_users_can_change_are_not_undone() {
        let temp = tempfile::tempdir().unwrap();
        let (above, dir) = (temp.path().join("above"), temp.path().join("above/dir"));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("journal");
        fs::write(&path, "").unwrap();
        let is_root = geteuid().is_root();
        for changed in [&dir, &above] {
            for (mode, is_fine) in [
                (0o700, true),
                (0o755, true),
                (0o1777, true),
                (0o775, !is_root),
                (0o757, false),
                (0o777, false),
            ] {
                fs::set_permissions(changed, fs::Permissions::from_mode(mode)).unwrap();
                match open_journal_to_undo(&path) {
                    Err(JournalError::Exposed { mode: found, .. }) => assert!(!is_fine && found == mode),
                    opened => assert!(is_fine && opened.is_ok(), "{mode:o}: {opened:?}"),
                }
                open_journal(&path).unwrap();
            }
            fs::set_permissions(changed, fs::Permissions::from_mode(0o755)).unwrap();
            if is_root {
                chown(changed, Some(65534), None).unwrap();
                let opened = open_journal_to_undo(&path);
                assert!(matches!(opened, Err(JournalError::Exposed { owner: 65534, .. })), "{opened:?}");
                chown(changed, Some(0), None).unwrap();
            }
        }
    }

    /// A link is followed only where no other user can make it lead elsewhere. `..` leads out of the directory that the link
    /// leads to.
    #[test]
    fn links_on_the_way_to_a_journal_are_followed_only_where_no_other_user_can_change_them() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path);
        fs::create_dir_all(at("safe/dir/sub")).unwrap();
        fs::create_dir_all(at("home/plain")).unwrap();
        fs::write(at("safe/dir/journal"), "").unwrap();
        symlink("../safe/dir", at("home/relative")).unwrap();
        symlink(at("safe/dir"), at("home/absolute")).unwrap();
        symlink("relative", at("home/twice")).unwrap();
        symlink("../safe/dir/sub", at("home/sub")).unwrap();
        symlink("home", at("above")).unwrap();
        symlink("loop", at("home/loop")).unwrap();
        let paths = [
            "home/relative",
            "home/absolute",
            "home/twice/.",
            "home/sub/..",
            "above/relative",
            "home/plain/../../safe/dir",
        ];
        let paths = paths.map(|path| at(path).join("journal"));
        let is_root = geteuid().is_root();
        for (mode, owner, is_fine) in
            [(0o755, 0, true), (0o757, 0, false), (0o1777, 0, true), (0o755, 65534, false), (0o700, 0, true)]
        {
            if owner != 0 && !is_root {
                continue;
            }
            fs::set_permissions(at("home"), fs::Permissions::from_mode(mode)).unwrap();
            if is_root {
                chown(at("home"), Some(owner), None).unwrap();
            }
            for path in &paths {
                for opened in [open_journal_to_undo(path), open_trusted_journal(path)] {
                    match opened {
                        Err(JournalError::Exposed { mode: found, .. }) => assert!(!is_fine && found == mode),
                        opened => {
                            assert!(is_fine && opened.is_ok(), "{} {mode:o}: {opened:?}", path.display())
                        }
                    }
                }
                for below in ["", "new", "new/deep"] {
                    let checked = ensure_safe_directory(&path.parent().unwrap().join(below));
                    assert_eq!(checked.is_ok(), is_fine, "{} {mode:o} {below}", path.display());
                }
            }
        }
        let looped = open_journal_to_undo(&at("home/loop/journal"));
        assert!(
            matches!(looped, Err(JournalError::Read(error)) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()))
        );
        // All users can make links in a directory with the sticky bit.
        fs::set_permissions(at("home"), fs::Permissions::from_mode(0o1777)).unwrap();
        if is_root {
            std::os::unix::fs::lchown(at("home/relative"), Some(65534), None).unwrap();
            let opened = open_journal_to_undo(&paths[0]);
            assert!(matches!(opened, Err(JournalError::Exposed { owner: 65534, .. })), "{opened:?}");
        }
        fs::hard_link(at("home/absolute"), at("home/other")).unwrap();
        assert!(matches!(open_journal_to_undo(&paths[1]), Err(JournalError::Exposed { .. })));
    }

    #[test]
    fn a_journal_is_used_by_one_process() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("journal");
        fs::write(&path, "").unwrap();
        let first = open_journal_to_undo(&path).unwrap();
        assert!(matches!(open_journal_to_undo(&path), Err(JournalError::Busy)));
        open_journal(&path).unwrap();
        drop(first);
        open_journal_to_undo(&path).unwrap();
    }

    #[test]
    fn only_regular_journals_are_opened() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("journal");
        fs::write(&path, "").unwrap();
        let link = temp.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(matches!(open_journal(&link), Err(JournalError::SymbolicLink)));
        assert!(matches!(open_journal(temp.path()), Err(JournalError::NotRegular)));
        let fifo = temp.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(matches!(open_journal(&fifo), Err(JournalError::NotRegular)));
        assert!(matches!(open_journal(&temp.path().join("none")), Err(JournalError::Read(_))));
    }
}
