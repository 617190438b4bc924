//! Directories that ftk makes for content it keeps: for moved files, and for the content of damaged ones.

use std::os::fd::OwnedFd;

use ftk_file::{Stat, permissions, temp_name};
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::private::Unnamed;
use crate::reach::{DIRECTORY, Place};
use crate::refusal::{ActError, Refusal};
use crate::trust::WRITABLE_BY_OTHERS;

/// Makes and opens a directory. Returns `None` if the name is not free.
///
/// In a directory where other users can change names, they could exchange the new one before it is opened. So there it is
/// made as [`Unnamed`], and has mode 0700 whatever `mode` is.
pub(crate) fn make_directory(place: &Place, mode: u32) -> Result<Option<OwnedFd>, ActError> {
    let around = Stat::of(&place.dir).map_err(|errno| ActError::failed("examine the directory", errno))?;
    if !is_private(&around) {
        return match Unnamed::directory(place.sibling(&temp_name()))?.give_name(place) {
            Err(ActError::Refused(Refusal::NameExists)) => Ok(None),
            made => made.map(Some),
        };
    }
    match mkdirat(&place.dir, &place.name, permissions(mode)) {
        Ok(()) => {}
        Err(Errno::EXIST) => return Ok(None),
        Err(errno) => return Err(ActError::of_naming("make the directory", errno)),
    }
    let made = openat(&place.dir, &place.name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
    made.map(Some).map_err(|errno| ActError::failed("open the new directory", errno))
}

/// Returns whether only the caller and root can change names in a directory.
pub(crate) fn is_private(dir: &Stat) -> bool {
    is_trusted_owner(dir.uid) && dir.mode & WRITABLE_BY_OTHERS == 0
}

/// Returns whether this is the caller or root.
pub(crate) fn is_trusted_owner(uid: u32) -> bool {
    [0, geteuid().as_raw()].contains(&uid)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::rc::Rc;

    use rustix::fs::CWD;

    use super::*;

    #[test]
    fn a_directory_where_others_may_write_gets_private_ones() {
        let temp = tempfile::tempdir().unwrap();
        for (around, expected) in [(0o700, 0o755), (0o755, 0o755), (0o775, 0o700), (0o1777, 0o700)] {
            fs::set_permissions(temp.path(), Permissions::from_mode(around)).unwrap();
            let dir = Rc::new(openat(CWD, temp.path(), DIRECTORY, Mode::empty()).unwrap());
            let place = Place { dir, name: c"new".to_owned() };
            let made = make_directory(&place, 0o755).unwrap().unwrap();
            let found = fs::metadata(temp.path().join("new")).unwrap();
            assert_eq!(Stat::of(&made).unwrap().ino, found.ino());
            // The umask of the tests may remove more.
            assert_eq!(found.mode() & 0o777 & !expected, 0, "{around:o}");
            assert!(make_directory(&place, 0o755).unwrap().is_none(), "the name is not free");
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
            fs::remove_dir(temp.path().join("new")).unwrap();
        }
    }
}
