//! Which journals `undo` accepts.
//!
//! A journal determines the owner, permissions and attributes that a file gets, so anyone who can write one
//! can make the caller change files. Only the caller and root may be able to.
//!
//! The owner of a file does not say who wrote it: for a moment, a copy that ftk makes has the caller as its owner and content
//! of another user. In a directory of that user, it could get the name of the journal. So no other user may be able to
//! replace files in the directory of the journal.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use ftk_file::Stat;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::exposed::first_replaceable;
use crate::history::JournalError;
use crate::reach::DIRECTORY;

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

/// Opens a journal for [`undo`](crate::undo()), with the same checks as [`open_journal`]. In addition, no other user may be
/// able to replace files in its directory, or a directory above. Undo records in it what it has made and undone, so no other
/// process may be using it. The journal of root, and one on a read-only file system, need not be writable: then nothing is
/// recorded, and undo makes no directories.
///
/// # Errors
/// If the journal cannot be opened, another user could have written it or put it there, or it is being used.
pub fn open_journal_to_undo(path: &Path) -> Result<File, JournalError> {
    let name = path.file_name().ok_or(JournalError::NotRegular)?.as_ref();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let dir = openat(CWD, parent, DIRECTORY, Mode::empty());
    let dir = Rc::new(dir.map_err(|errno| JournalError::Read(errno.into()))?);
    let readable = open_checked(&dir, name)?;
    let exposed = first_replaceable(&dir).map_err(|refusal| JournalError::Read(io::Error::other(refusal)))?;
    if let Some((directory, Stat { mode, uid: owner, .. })) = exposed {
        return Err(JournalError::Exposed { directory, mode, owner });
    }
    let file = match open(&dir, name, OFlags::RDWR | OFlags::APPEND) {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => readable,
        file => file.map_err(|errno| JournalError::Write(errno.into()))?.into(),
    };
    check(&file)?;
    lock(&file)?;
    Ok(file)
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
