//! Changes of names. At every moment, the victim's name leads to its old file or to its replacement.

use std::ffi::CStr;
use std::rc::Rc;

use ftk_file::Stat;
use rustix::fs::{AtFlags, linkat, renameat, unlinkat};
use rustix::io::Errno;

use crate::own_directory::{is_private, is_trusted_owner};
use crate::private::make_private;
use crate::reach::Place;
use crate::refusal::{ActError, Refusal, Side};
use crate::sys::{exchange, rename_new};
use crate::temp::{Temp, remove};
use crate::trust::WRITABLE_BY_OTHERS;

/// Replaces and removes the file at `place`, which must be `expected`.
///
/// The two names are exchanged first. The old file then has a private name, so it can be checked without a
/// race: if it is not the expected file, or if `check` fails, the names are exchanged back. On file systems
/// that cannot exchange names, the check comes first and a plain rename follows, which leaves a short window
/// between the two.
pub(crate) fn replace(
    place: &Place,
    expected: (u64, u64),
    temp: Temp,
    check: impl Fn() -> Result<(), Refusal>,
) -> Result<(), ActError> {
    match exchange(place, &temp.place) {
        Ok(()) => {}
        Err(errno) if is_unsupported(errno) => return replace_plainly(place, expected, temp, check),
        Err(errno) => return Err(temp.discard(vanished_or("exchange the names", errno))),
    }
    let outcome = is_still(&temp.place, expected)
        .and_then(|()| check())
        .map_err(ActError::from)
        .and_then(|()| remove(&temp.place, expected).map_err(|e| ActError::failed("remove the old file", e)));
    outcome.map_err(|error| match exchange(place, &temp.place) {
        Ok(()) => temp.discard(error),
        // The name leads to the keeper's content, and the old file still exists.
        Err(_) => error.leaving(temp.name().to_bytes()),
    })
}

fn replace_plainly(
    place: &Place,
    expected: (u64, u64),
    temp: Temp,
    check: impl Fn() -> Result<(), Refusal>,
) -> Result<(), ActError> {
    if let Err(refusal) = is_still(place, expected).and_then(|()| check()) {
        return Err(temp.discard(refusal.into()));
    }
    match renameat(&temp.place.dir, temp.name(), &place.dir, &place.name) {
        Ok(()) => {
            // A rename to another name of the same file does nothing: the temporary name then still exists.
            let _ = remove(&temp.place, temp.identity);
            Ok(())
        }
        Err(errno) => Err(temp.discard(ActError::of_naming("rename the replacement", errno))),
    }
}

/// Removes the name and the file for good.
///
/// The file is first renamed to a private name, for the same reason as in [`replace`]. If there is no space
/// for a new name, as on a full disk, the name is removed directly.
pub(crate) fn delete(
    place: &Place,
    expected: (u64, u64),
    aside: &Place,
    check: impl Fn() -> Result<(), Refusal>,
) -> Result<(), ActError> {
    let failed = |errno| ActError::failed("remove the file", errno);
    let remove_directly = || unlinkat(&place.dir, &place.name, AtFlags::empty()).map_err(failed);
    let remove_renamed = || remove(aside, expected).map_err(failed);
    rename_and_remove(place, expected, aside, check, remove_directly, remove_renamed)
}

/// Removes an empty directory, under a private name for the same reason as in [`delete`].
pub(crate) fn remove_directory(
    place: &Place,
    expected: (u64, u64),
    aside: &Place,
    check: impl Fn() -> Result<(), Refusal>,
) -> Result<(), ActError> {
    let (remove_directly, remove_renamed) = (|| unlink_directory(place), || unlink_directory(aside));
    rename_and_remove(place, expected, aside, check, remove_directly, remove_renamed)
}

/// Renames an entry to `aside` and calls `remove_renamed`. Calls `remove_directly` instead if the disk has no space for
/// the new name.
fn rename_and_remove(
    place: &Place,
    expected: (u64, u64),
    aside: &Place,
    check: impl Fn() -> Result<(), Refusal>,
    remove_directly: impl FnOnce() -> Result<(), ActError>,
    remove_renamed: impl FnOnce() -> Result<(), ActError>,
) -> Result<(), ActError> {
    match rename_checked(place, expected, aside, &check, rename_to_free) {
        Err(error) if is_disk_full(&error) => {
            is_still(place, expected)?;
            check()?;
            remove_directly()
        }
        Err(error) => Err(error),
        Ok(()) => remove_renamed().map_err(|error| put_back(place, aside, error)),
    }
}

fn unlink_directory(place: &Place) -> Result<(), ActError> {
    unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR).map_err(|errno| match errno {
        Errno::NOTEMPTY | Errno::EXIST => Refusal::NotEmpty.into(),
        errno => ActError::failed("remove the directory", errno),
    })
}

/// Renames the file, possibly to another directory. Fails if the new name exists, even if another program
/// creates it at the same time.
///
/// If users who cannot change names in the new directory can do so in the old one, one of them could give the old name to an
/// own file, and take the old name away before that file is renamed back. So the file is renamed to a private directory
/// first, next to the new name, and checked there. It has its new name in that directory, so that undo finds it. `temp` is
/// the name of the private directory. What cannot be renamed back stays in it.
pub(crate) fn displace(
    place: &Place,
    expected: (u64, u64),
    to: &Place,
    temp: &CStr,
    check: impl Fn(&Place) -> Result<(), Refusal>,
) -> Result<(), ActError> {
    let around = |place: &Place| {
        Stat::of(&place.dir).map_err(|errno| ActError::failed("examine the directory", errno))
    };
    if !is_changed_by_strangers(&around(place)?, &around(to)?) {
        return rename_checked(place, expected, to, || check(to), rename_new);
    }
    let aside = to.sibling(temp);
    let private = make_private(&aside, "make a private directory")?;
    let inside = Place { dir: Rc::new(private), name: to.name.clone() };
    let moved = rename_checked(place, expected, &inside, || check(&inside), rename_to_free)
        .and_then(|()| rename_new(&inside, to).map_err(|errno| put_back(place, &inside, not_renamed(errno))));
    let cleared = clear_private(&aside);
    moved.map_err(|error| error.left_inside(temp.to_bytes()))?;
    cleared.map_err(|error| put_back(place, to, error))
}

/// Removes an entry for good by `remove`, which gets its place under a private name. If that fails, what is left gets its
/// name back.
///
/// The private name is in the same directory, which needs no space on a full disk. If other users can change names there, it
/// is in a private directory.
pub(crate) fn discard(
    place: &Place,
    expected: (u64, u64),
    temp: &CStr,
    remove: impl FnOnce(&Place) -> Result<(), ActError>,
) -> Result<(), ActError> {
    let aside = place.sibling(temp);
    let around = Stat::of(&place.dir).map_err(|errno| ActError::failed("examine the directory", errno))?;
    if is_private(&around) {
        rename_checked(place, expected, &aside, || Ok(()), rename_to_free)?;
        return remove(&aside).map_err(|error| put_back(place, &aside, error));
    }
    let private = make_private(&aside, "make a private directory")?;
    let inside = Place { dir: Rc::new(private), name: place.name.clone() };
    let removed = rename_checked(place, expected, &inside, || Ok(()), rename_to_free)
        .and_then(|()| remove(&inside).map_err(|error| put_back(place, &inside, error)));
    let cleared = clear_private(&aside);
    removed.map_err(|error| error.left_inside(temp.to_bytes()))?;
    cleared
}

/// Removes a private directory, unless something is left in it, or another user has renamed it.
fn clear_private(aside: &Place) -> Result<(), ActError> {
    match unlinkat(&aside.dir, &aside.name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(()),
        Err(errno) => {
            Err(ActError::failed("remove the private directory", errno).leaving(aside.name.to_bytes()))
        }
    }
}

/// Returns whether a user can change names in the directory `from` who owns neither it nor `to`, and is not trusted.
fn is_changed_by_strangers(from: &Stat, to: &Stat) -> bool {
    !(is_trusted_owner(from.uid) || from.uid == to.uid) || from.mode & WRITABLE_BY_OTHERS != 0
}

/// Gives a file with a private name its old name back.
///
/// If another file has the name right after, it stays there: another program may have put it there in this moment, and a file
/// with a private name is removed by undo.
pub(crate) fn restore_name(place: &Place, expected: (u64, u64), aside: &Place) -> Result<(), ActError> {
    rename_to_free(aside, place).map_err(not_renamed)?;
    is_still(place, expected).map_err(|refusal| match refusal {
        Refusal::Replaced(_) => refusal.into(),
        refusal => put_back(aside, place, refusal.into()),
    })
}

fn rename_checked(
    place: &Place,
    expected: (u64, u64),
    to: &Place,
    check: impl Fn() -> Result<(), Refusal>,
    rename: fn(&Place, &Place) -> Result<(), Errno>,
) -> Result<(), ActError> {
    rename(place, to).map_err(not_renamed)?;
    is_still(to, expected).and_then(|()| check()).map_err(|refusal| put_back(place, to, refusal.into()))
}

fn not_renamed(errno: Errno) -> ActError {
    match errno {
        Errno::EXIST => Refusal::NameExists.into(),
        Errno::XDEV => Refusal::OtherFileSystem.into(),
        errno if is_unsupported(errno) => Refusal::Unsupported.into(),
        errno => vanished_or("rename the file", errno),
    }
}

/// Renames to a free name: a private one, or one that the file had until a moment ago. On file systems that
/// cannot refuse to overwrite (NFS, many FUSE file systems), there is a short window between the check of the
/// name and the rename.
pub(crate) fn rename_to_free(from: &Place, to: &Place) -> Result<(), Errno> {
    match rename_new(from, to) {
        Err(errno) if is_unsupported(errno) => match to.stat() {
            Err(Errno::NOENT) => renameat(&from.dir, &from.name, &to.dir, &to.name),
            Err(errno) => Err(errno),
            Ok(_) => Err(Errno::EXIST),
        },
        renamed => renamed,
    }
}

/// Gives a file its old name back, through a link if the rename fails.
pub(crate) fn return_name(place: &Place, from: &Place) -> Result<(), Errno> {
    rename_to_free(from, place).or_else(|errno| {
        linkat(&from.dir, &from.name, &place.dir, &place.name, AtFlags::empty()).map_err(|_| errno)?;
        unlinkat(&from.dir, &from.name, AtFlags::empty())
    })
}

/// Renames a displaced file back, and returns the error.
fn put_back(place: &Place, from: &Place, error: ActError) -> ActError {
    match return_name(place, from) {
        Ok(()) => error,
        Err(_) => error.leaving(from.name.to_bytes()),
    }
}

/// Returns whether a rename failed because there is no space for the private name. The victim's name may then
/// be removed directly.
fn is_disk_full(error: &ActError) -> bool {
    match error {
        ActError::Failed { source, left: None, .. } => {
            matches!(Errno::from_io_error(source), Some(Errno::NOSPC | Errno::DQUOT))
        }
        _ => false,
    }
}

/// Checks that the expected file has the name.
pub(crate) fn is_still(place: &Place, expected: (u64, u64)) -> Result<(), Refusal> {
    match place.stat() {
        Ok(stat) if stat.identity() == expected => Ok(()),
        Ok(_) => Err(Refusal::Replaced(Side::Victim)),
        Err(errno) => Err(Refusal::unreadable(Side::Victim, "stat", errno)),
    }
}

/// Returns whether the file system or the kernel does not support this kind of rename.
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Converts an error about a name that existed a moment ago.
fn vanished_or(op: &'static str, errno: Errno) -> ActError {
    match errno {
        Errno::NOENT => Refusal::unreadable(Side::Victim, "find", errno).into(),
        errno => ActError::failed(op, errno),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use rustix::fs::{CWD, Mode, openat};

    use super::*;
    use crate::private::left_inside;
    use crate::reach::DIRECTORY;

    fn place(dir: &Path, name: &str) -> Place {
        let fd = openat(CWD, dir, DIRECTORY, Mode::empty()).unwrap();
        Place { dir: Rc::new(fd), name: std::ffi::CString::new(name).unwrap() }
    }

    fn id(place: &Place) -> (u64, u64) {
        place.stat().unwrap().identity()
    }

    const ASIDE: &CStr = c".ftk-0123456789abcdef";

    type Replace = fn(&Place, (u64, u64), Temp, fn() -> Result<(), Refusal>) -> Result<(), ActError>;

    /// With and without an exchange of names.
    const WAYS: [Replace; 2] = [replace, replace_plainly];

    /// Creates a directory with a victim and a replacement.
    fn pair() -> (tempfile::TempDir, Place, Place) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("v"), "old").unwrap();
        fs::write(dir.path().join("temp"), "new").unwrap();
        let places = (place(dir.path(), "v"), place(dir.path(), "temp"));
        (dir, places.0, places.1)
    }

    fn names(dir: &tempfile::TempDir) -> Vec<(String, Vec<u8>)> {
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_replacement_gets_the_name() {
        for way in WAYS {
            let (dir, victim, temp) = pair();
            way(&victim, id(&victim), Temp::made(temp).unwrap(), || Ok(())).unwrap();
            assert_eq!(names(&dir), [("v".to_owned(), b"new".to_vec())]);
        }
    }

    #[test]
    fn a_hard_link_as_replacement_leaves_no_private_name() {
        for way in WAYS {
            let (dir, victim, temp) = pair();
            fs::remove_file(dir.path().join("temp")).unwrap();
            fs::hard_link(dir.path().join("v"), dir.path().join("temp")).unwrap();
            way(&victim, id(&victim), Temp::made(temp).unwrap(), || Ok(())).unwrap();
            assert_eq!(names(&dir), [("v".to_owned(), b"old".to_vec())]);
        }
    }

    #[test]
    fn another_file_with_the_name_keeps_it() {
        let checks: [fn() -> Result<(), Refusal>; 2] = [|| Ok(()), || Err(Refusal::SameFile)];
        for way in WAYS {
            for (check, is_other) in [(checks[0], true), (checks[1], false)] {
                let (dir, victim, temp) = pair();
                let expected = if is_other { (1, 1) } else { id(&victim) };
                let error = way(&victim, expected, Temp::made(temp).unwrap(), check).unwrap_err();
                assert!(matches!(
                    (is_other, error),
                    (true, ActError::Refused(Refusal::Replaced(Side::Victim)))
                        | (false, ActError::Refused(Refusal::SameFile))
                ));
                assert_eq!(names(&dir), [("v".to_owned(), b"old".to_vec())]);
            }
        }
        let (dir, victim, temp) = pair();
        fs::remove_file(dir.path().join("temp")).unwrap();
        displace(&victim, (1, 1), &temp, ASIDE, |_| Ok(())).unwrap_err();
        displace(&victim, id(&victim), &temp, ASIDE, |_| Err(Refusal::SameFile)).unwrap_err();
        delete(&victim, (1, 1), &temp, || Ok(())).unwrap_err();
        delete(&victim, id(&victim), &temp, || Err(Refusal::SameFile)).unwrap_err();
        assert_eq!(names(&dir), [("v".to_owned(), b"old".to_vec())]);
    }

    #[test]
    fn another_file_that_has_a_restored_name_right_after_keeps_it() {
        let (dir, victim, temp) = pair();
        fs::remove_file(dir.path().join("v")).unwrap();
        let error = restore_name(&victim, (1, 1), &temp).unwrap_err();
        assert!(matches!(error, ActError::Refused(Refusal::Replaced(Side::Victim))), "{error}");
        assert_eq!(names(&dir).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["v"]);
    }

    #[test]
    fn a_new_file_under_the_name_of_a_displaced_victim_stays() {
        let (dir, victim, temp) = pair();
        fs::remove_file(dir.path().join("temp")).unwrap();
        let error = displace(&victim, id(&victim), &temp, ASIDE, |_| {
            fs::write(dir.path().join("v"), "theirs").unwrap();
            Err(Refusal::SameFile)
        });
        assert!(error.unwrap_err().to_string().contains("temp"), "the private name is reported");
        let both = [("temp".to_owned(), b"old".to_vec()), ("v".to_owned(), b"theirs".to_vec())];
        assert_eq!(names(&dir), both);
    }

    /// All users can change names in the old directory, and only the caller in the new one.
    #[test]
    fn a_file_that_strangers_can_exchange_is_checked_before_it_has_its_new_name() {
        let (old, victim, _) = pair();
        fs::remove_file(old.path().join("temp")).unwrap();
        fs::set_permissions(old.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let new = tempfile::tempdir().unwrap();
        let to = place(new.path(), "v");
        let entries = |dir: &tempfile::TempDir| {
            fs::read_dir(dir.path())
                .unwrap()
                .map(|it| it.unwrap().file_name().into_string().unwrap())
                .collect::<Vec<_>>()
        };
        let is_hidden = |moved: &Place| {
            assert_eq!((entries(&old).len(), entries(&new)), (0, vec![ASIDE.to_str().unwrap().to_owned()]));
            assert_eq!(id(moved), id(&left_inside(&to.sibling(ASIDE), c"v").unwrap().unwrap()));
            Ok(())
        };
        // What is not the victim, or must stay, gets its old name back.
        displace(&victim, (1, 1), &to, ASIDE, is_hidden).unwrap_err();
        displace(&victim, id(&victim), &to, ASIDE, |_| Err(Refusal::SameFile)).unwrap_err();
        assert_eq!((names(&old), entries(&new).len()), (vec![("v".to_owned(), b"old".to_vec())], 0));
        fs::write(new.path().join("v"), "other").unwrap();
        let taken = displace(&victim, id(&victim), &to, ASIDE, |_| Ok(())).unwrap_err();
        assert!(matches!(taken, ActError::Refused(Refusal::NameExists)), "{taken}");
        assert_eq!(
            (entries(&old), names(&new)),
            (vec!["v".to_owned()], vec![("v".to_owned(), b"other".to_vec())])
        );
        fs::remove_file(new.path().join("v")).unwrap();
        // Its old name is taken meanwhile.
        let error = displace(&victim, id(&victim), &to, ASIDE, |_| {
            fs::write(old.path().join("v"), "third").unwrap();
            Err(Refusal::Replaced(Side::Victim))
        });
        assert!(error.unwrap_err().to_string().contains(".ftk-0123456789abcdef/v is left"));
        assert_eq!(entries(&new), [ASIDE.to_str().unwrap()]);
        let left = new.path().join(ASIDE.to_str().unwrap());
        assert_eq!(fs::read(left.join("v")).unwrap(), b"old");
        fs::rename(left.join("v"), old.path().join("v")).unwrap();
        fs::remove_dir(left).unwrap();
        displace(&victim, id(&victim), &to, ASIDE, is_hidden).unwrap();
        assert_eq!((entries(&old).len(), names(&new)), (0, vec![("v".to_owned(), b"old".to_vec())]));
    }

    #[test]
    fn strangers_are_those_who_cannot_change_the_new_directory() {
        let stat = |uid, mode| Stat { uid, mode, ..Stat::of(std::io::stdin()).unwrap() };
        let me = rustix::process::geteuid().as_raw();
        let (to, theirs) = (stat(me, 0o755), stat(77, 0o755));
        for (from, to, expected) in [
            (stat(me, 0o700), &to, false),
            (stat(0, 0o755), &to, false),
            (stat(77, 0o755), &to, true),
            (stat(77, 0o755), &theirs, false),
            (stat(78, 0o755), &theirs, true),
            (stat(77, 0o775), &theirs, true),
            (stat(me, 0o1777), &to, true),
        ] {
            assert_eq!(is_changed_by_strangers(&from, to), expected, "{} {:o}", from.uid, from.mode);
        }
    }
}
