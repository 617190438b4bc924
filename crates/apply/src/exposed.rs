//! Whether another user could change what a path leads to.
//!
//! A symbolic link gives the users of one file the content of another. So the other file must be one that only trusted
//! users can change or replace: root, the caller and, if root is the caller, the owner of the file that is replaced.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::rc::Rc;

use ftk_file::{HiddenAccess, Stat};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::reach::{DIRECTORY, Held};
use crate::refusal::{Refusal, Side};
use crate::sys::path_of;
use crate::trust::WRITABLE_BY_OTHERS;

/// In such a directory, only the owner of an entry or of the directory can remove or rename the entry.
const STICKY: u32 = 0o1000;

/// Checks that only trusted users can change or replace the keeper: they own the file and all directories above it, and
/// no other user may write to these. A directory with the sticky bit may be writable.
///
/// An access control list that grants more than the mode shows does so in the bits of the group, so a file that its
/// group may write to is refused, whatever its members.
pub(crate) fn ensure_only_trusted_change(keeper: &Held, owner_of_victim: u32) -> Result<(), Refusal> {
    let caller = geteuid();
    let is_trusted =
        |uid: u32| uid == 0 || uid == caller.as_raw() || (caller.is_root() && uid == owner_of_victim);
    let is_safe = |stat: &Stat, permitted: u32| {
        is_trusted(stat.uid) && (stat.mode & WRITABLE_BY_OTHERS == 0 || stat.mode & permitted != 0)
    };
    if !is_safe(&keeper.stat, 0) {
        return Err(Refusal::Exposed { directory: None, mode: keeper.stat.mode, owner: keeper.stat.uid });
    }
    match first_unsafe(Side::Keeper, &keeper.place.dir, |stat| is_safe(stat, STICKY))? {
        None => Ok(()),
        Some((path, Stat { mode, uid: owner, .. })) => {
            Err(Refusal::Exposed { directory: Some(path), mode, owner })
        }
    }
}

/// Checks that only root and the caller own a directory and all directories above it, and that no other user may write to
/// these. A directory with the sticky bit may be writable.
pub(crate) fn ensure_trusted_above(dir: &Rc<OwnedFd>) -> Result<(), Refusal> {
    let caller = geteuid().as_raw();
    let is_safe = |stat: &Stat| {
        (stat.uid == 0 || stat.uid == caller)
            && (stat.mode & WRITABLE_BY_OTHERS == 0 || stat.mode & STICKY != 0)
    };
    match first_unsafe(Side::Victim, dir, is_safe)? {
        None => Ok(()),
        Some((directory, Stat { mode, uid: owner, .. })) => {
            Err(Refusal::ExposedPath { directory, mode, owner })
        }
    }
}

/// Returns whether another user could change what is in a directory, or exchange it for another one.
pub(crate) fn is_exposed(dir: &Rc<OwnedFd>) -> Result<bool, Refusal> {
    match ensure_trusted_above(dir) {
        Ok(()) => Ok(false),
        Err(Refusal::ExposedPath { .. }) => Ok(true),
        Err(refusal) => Err(refusal),
    }
}

/// Returns whether only root and the caller can change what a path leads to, of which the last parts may be missing. A path with
/// symbolic links is not trusted.
pub(crate) fn is_trusted_path(base: BorrowedFd<'_>, path: &[u8]) -> Result<bool, Refusal> {
    let open = |dir: BorrowedFd<'_>, name: &[u8]| {
        openat(dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map(Rc::new)
    };
    let start: &[u8] = if path.starts_with(b"/") { b"/" } else { b"." };
    let Ok(mut dir) = open(base, start) else { return Ok(false) };
    for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
        match open(dir.as_fd(), name) {
            Ok(below) => dir = below,
            Err(Errno::NOENT) => break,
            Err(_) => return Ok(false),
        }
    }
    Ok(!is_exposed(&dir)?)
}

/// Returns the first directory in which another user could replace files, with its path: this one, or one above it.
///
/// In a directory of an ordinary caller, members of its group may: the caller has let them in.
pub(crate) fn first_replaceable(dir: &Rc<OwnedFd>) -> Result<Option<(Vec<u8>, Stat)>, Refusal> {
    let caller = geteuid();
    let is_safe = |stat: &Stat| {
        let is_own = stat.uid == caller.as_raw();
        let writers = if is_own && !caller.is_root() { 0o002 } else { WRITABLE_BY_OTHERS };
        (is_own || stat.uid == 0) && (stat.mode & writers == 0 || stat.mode & STICKY != 0)
    };
    first_unsafe(Side::Victim, dir, is_safe)
}

/// Returns the first directory that is not safe, with its path: this one, or one above it.
fn first_unsafe(
    side: Side,
    dir: &Rc<OwnedFd>,
    is_safe: impl Fn(&Stat) -> bool,
) -> Result<Option<(Vec<u8>, Stat)>, Refusal> {
    let unreadable = |errno: Errno| Refusal::unreadable(side, "examine the directories above", errno);
    let mut dir: Rc<OwnedFd> = dir.clone();
    let mut stat = Stat::of(&dir).map_err(unreadable)?;
    loop {
        if !is_safe(&stat) || HiddenAccess::of(&dir).map_err(unreadable)? == HiddenAccess::Granted {
            return Ok(Some((path_of(&dir).map_err(unreadable)?, stat)));
        }
        let above = openat(&dir, "..", DIRECTORY, Mode::empty()).map_err(unreadable)?;
        let of_above = Stat::of(&above).map_err(unreadable)?;
        if of_above.identity() == stat.identity() {
            return Ok(None);
        }
        (dir, stat) = (above.into(), of_above);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::path::Path;

    use super::*;
    use crate::reach::Reach;
    use crate::seen::Seen;

    /// A user without any rights.
    const UNPRIVILEGED: u32 = 65534;

    fn check(path: &Path, owner_of_victim: u32) -> Result<(), Refusal> {
        let path = path.as_os_str().as_bytes().to_vec();
        let seen = Seen { root_len: path.len(), path, version: ftk_file::Version::default() };
        ensure_only_trusted_change(&Reach::new().open(Side::Keeper, &seen).unwrap(), owner_of_victim)
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn modes_of_the_file_and_of_every_directory_above_decide() {
        let temp = tempfile::tempdir().unwrap();
        let (above, dir) = (temp.path().join("above"), temp.path().join("above/dir"));
        fs::create_dir_all(&dir).unwrap();
        let file = dir.join("file");
        fs::write(&file, "").unwrap();
        let caller = geteuid().as_raw();
        for (path, fine, exposed) in [
            (&file, &[0o600, 0o644, 0o755, 0o444][..], &[0o664, 0o646, 0o666, 0o620, 0o1666][..]),
            (&dir, &[0o700, 0o755, 0o1777, 0o1775, 0o2755], &[0o775, 0o757, 0o777, 0o2775]),
            (&above, &[0o700, 0o755, 0o1777], &[0o775, 0o777]),
        ] {
            for (mode, is_fine) in
                fine.iter().map(|mode| (mode, true)).chain(exposed.iter().map(|it| (it, false)))
            {
                for path in [&file, &dir, &above] {
                    set_mode(path, 0o755);
                }
                set_mode(path, *mode);
                let checked = check(&file, caller);
                assert_eq!(checked.is_ok(), is_fine, "{} {mode:o}", path.display());
                if let Err(Refusal::Exposed { directory, mode: found, owner }) = checked {
                    let expected = (*path != file).then(|| path.as_os_str().as_bytes().to_vec());
                    assert_eq!((directory, found, owner), (expected, *mode, caller));
                }
            }
        }
    }

    #[test]
    fn owners_are_root_the_caller_and_for_root_the_owner_of_the_victim() {
        if !geteuid().is_root() {
            return; // only root can change owners
        }
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("dir");
        fs::create_dir(&dir).unwrap();
        let file = dir.join("file");
        fs::write(&file, "").unwrap();
        for (path, other) in [(&file, &dir), (&dir, &file)] {
            chown(path, Some(UNPRIVILEGED), None).unwrap();
            chown(other, Some(0), None).unwrap();
            check(&file, UNPRIVILEGED).unwrap();
            for owner_of_victim in [0, UNPRIVILEGED - 1] {
                let refused = check(&file, owner_of_victim).unwrap_err();
                assert!(matches!(refused, Refusal::Exposed { owner: UNPRIVILEGED, .. }), "{refused}");
            }
        }
    }
}
