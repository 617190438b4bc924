//! Proof that two names lead to different files, where device and inode numbers cannot show it.
//!
//! A FUSE, network or overlay file system shows files of another file system with its own device number, and
//! often with invented inode numbers. A file and its alias then look like two files with the same content,
//! but deleting one deletes both. Even afterwards the kernel's caches hide this: they still have entries for
//! the removed name.
//!
//! So before a name is removed, the engine changes names on the victim's side and looks for the effect on the
//! keeper's side. All of these checks must show two files:
//!
//! 1. Once per pair of directories: a new name in the victim's directory appears neither in a fresh listing
//!    of the keeper's directory nor in a lookup there.
//! 2. Once per victim: it is renamed to a private name. That name is not found in the keeper's directory, and
//!    the keeper is still found by a `statx` that bypasses the attribute cache, in a fresh listing, and by
//!    opening it again and reading from it. Then the victim gets its name back.
//!
//! No single check is sufficient. The kernel's overlayfs still opens and stats a file that was removed from
//! the layer below, and only a listing shows the removal. FUSE mounts may answer a listing from a cache, and
//! only a lookup of a new name reaches the server.

use std::collections::HashSet;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use ftk_file::xattr::fgetxattr;
use ftk_file::{Failure, PATH_MAX, Stat, is_trusted};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, fstatfs, openat, unlinkat};
use rustix::io::Errno;

use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::swap::{is_still, rename_to_free, return_name};

/// Bytes that are read from the reopened keeper.
const BLOCK: usize = 4096;

/// A check that pairs of files are distinct. It remembers the pairs of directories that are proven to be
/// distinct.
#[derive(Debug, Default)]
pub(crate) struct AliasCheck {
    directories: HashSet<[(u64, u64); 2]>,
}

impl AliasCheck {
    /// Proves that the victim is not the keeper under another name. The keeper may also be a further copy.
    ///
    /// `temp` is a free name in the victim's directory that is recorded in the journal. Both checks that the
    /// module describes use it. Afterwards the victim has its name again, unless the error names a file that
    /// could not be renamed back.
    pub(crate) fn prove(&mut self, victim: &Held, keeper: &Held, temp: &CStr) -> Result<(), ActError> {
        let is_keeper_trusted = is_trusted(&keeper.file);
        if is_keeper_trusted && is_trusted(&victim.file) && victim.stat.dev == keeper.stat.dev {
            return Ok(()); // two inode numbers of one file system
        }
        if is_overlay(keeper) && victim.stat.dev != keeper.stat.dev {
            return Err(Refusal::InLayers.into());
        }
        if has_branches(victim) {
            return Err(Refusal::InBranches.into());
        }
        let directory = |place: &Place| {
            Stat::of(&place.dir)
                .map(|stat| stat.identity())
                .map_err(|errno| Refusal::unproven("stat a directory", errno))
        };
        let directories = [directory(&victim.place)?, directory(&keeper.place)?];
        let is_one_directory = directories[0] == directories[1];
        let aside = victim.place.sibling(temp);
        if !is_one_directory && !self.directories.contains(&directories) {
            directories_are_two(&aside, &keeper.place)?;
            self.directories.insert(directories);
        }
        rename_to_free(&victim.place, &aside)
            .map_err(|errno| Refusal::unproven("rename the victim", errno))?;
        let outcome = is_still(&aside, victim.identity()).and_then(|()| {
            // A union of directories may now show the file of another branch, which may be the keeper.
            if is_found(&victim.place)? {
                return Err(Refusal::Unproven { op: "rename the victim", source: Errno::EXIST.into() });
            }
            if !is_one_directory && is_found(&keeper.place.sibling(temp))? {
                return Err(Refusal::SameFile);
            }
            if !is_keeper_trusted && !is_listed(&keeper.place)? {
                return Err(Refusal::SameFile);
            }
            keeper_opens(victim, keeper)
        });
        let Err(errno) = return_name(&victim.place, &aside) else { return outcome.map_err(ActError::from) };
        // A union of directories may by now show another file under the victim's name. If the renamed file is
        // the keeper, it gets its name back in its own directory.
        let renamed = keeper.place.sibling(temp);
        if is_still(&renamed, keeper.identity()).is_ok() && return_name(&keeper.place, &renamed).is_ok() {
            return Err(Refusal::SameFile.into());
        }
        Err(ActError::failed("give the victim its name back", errno).leaving(temp.to_bytes()))
    }
}

/// Returns whether a file is on the kernel's overlayfs. With `metacopy=on`, its content may be that of
/// another file in a lower layer, which cannot be detected.
fn is_overlay(held: &Held) -> bool {
    const OVERLAYFS_SUPER_MAGIC: u32 = 0x794C_7630; // linux/magic.h
    fstatfs(&held.file).is_ok_and(|fs| fs.f_type as u32 == OVERLAYFS_SUPER_MAGIC)
}

/// Returns whether several branches of a mergerfs have a file of this name. mergerfs shows the first of them,
/// and on removal removes all of them, even if their contents differ. The attribute lists their paths,
/// separated by NULs.
fn has_branches(held: &Held) -> bool {
    // Several paths exceed the buffer or are separated by a NUL.
    let mut paths = [0; 2 * PATH_MAX];
    match fgetxattr(&held.file, "user.mergerfs.allpaths", &mut paths) {
        Ok(len) => paths[..len].strip_suffix(b"\0").unwrap_or(&paths[..len]).contains(&0),
        Err(errno) => errno == Errno::RANGE,
    }
}

/// Proves that a name created in the victim's directory does not appear in the keeper's directory.
fn directories_are_two(mark: &Place, keeper: &Place) -> Result<(), ActError> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(&mark.dir, &mark.name, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| Refusal::unproven("create a file in the directory of the victim", errno))?;
    let seen = keeper.sibling(&mark.name);
    let is_seen = is_found(&seen).and_then(|is_found| Ok(is_found || is_listed(&seen)?));
    let removed = unlinkat(&mark.dir, &mark.name, AtFlags::empty());
    removed
        .map_err(|errno| ActError::failed("remove a temporary file", errno).leaving(mark.name.to_bytes()))?;
    if is_seen? { Err(Refusal::SameFile.into()) } else { Ok(()) }
}

/// Returns whether a lookup finds the name.
fn is_found(place: &Place) -> Result<bool, Refusal> {
    match place.stat() {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(Refusal::unproven("look up a name in the directory of the keeper", errno)),
    }
}

/// Returns whether a fresh listing of the directory contains the name.
fn is_listed(place: &Place) -> Result<bool, Refusal> {
    let failed = |errno| Refusal::unproven("list the directory of the keeper", errno);
    for entry in Dir::new(reopened(&place.dir).map_err(failed)?).map_err(failed)? {
        if entry.map_err(failed)?.file_name() == place.name.as_c_str() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn reopened(directory: &OwnedFd) -> Result<OwnedFd, Errno> {
    openat(directory.as_fd(), ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Proves that the keeper's name still leads to the keeper, and that a new descriptor reads the same first
/// [`BLOCK`] bytes.
fn keeper_opens(victim: &Held, keeper: &Held) -> Result<(), Refusal> {
    let gone_or = |op, errno| match errno {
        Errno::NOENT => Refusal::SameFile,
        errno => Refusal::unproven(op, errno),
    };
    let named = keeper.place.stat().map_err(|errno| gone_or("stat the keeper", errno))?;
    let again = Held::open(keeper.place.clone()).map_err(|failure| match failure {
        Failure::Io { source, .. } => {
            gone_or("open the keeper again", Errno::from_io_error(&source).unwrap_or(Errno::IO))
        }
        failure => Refusal::of_failure(Side::Keeper, failure),
    })?;
    if [named.identity(), again.identity()] != [keeper.identity(); 2] {
        return Err(Refusal::Replaced(Side::Keeper));
    }
    let mut blocks = [[0; BLOCK]; 2];
    let mut read = |held: &Held, nth: usize| {
        let read = held.file.read_at(&mut blocks[nth], 0);
        read.map_err(|source| Refusal::Unproven { op: "read from the keeper", source })
    };
    let (ours, theirs) = (read(victim, 0)?, read(&again, 1)?);
    let len = ours.min(theirs);
    if blocks[0][..len] != blocks[1][..len] || (len == 0 && keeper.stat.size > 0) {
        return Err(Refusal::Changed { side: Side::Keeper, what: "when the victim was renamed" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::path::Path;
    use std::rc::Rc;

    use rustix::fs::CWD;

    use super::*;
    use crate::reach::DIRECTORY;

    fn place(dir: &Path, name: &str) -> Place {
        let fd = openat(CWD, dir, DIRECTORY, Mode::empty()).unwrap();
        Place { dir: Rc::new(fd), name: CString::new(name).unwrap() }
    }

    fn held(dir: &Path, name: &str) -> Held {
        Held::open(place(dir, name)).unwrap()
    }

    /// Creates two directories with a file in each.
    fn two_directories() -> (tempfile::TempDir, [std::path::PathBuf; 2]) {
        let temp = tempfile::tempdir().unwrap();
        let dirs = ["a", "b"].map(|name| temp.path().join(name));
        for dir in &dirs {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join("x"), "content").unwrap();
        }
        (temp, dirs)
    }

    #[test]
    fn a_new_name_appears_only_in_its_own_directory() {
        let (_temp, [a, b]) = two_directories();
        directories_are_two(&place(&a, "mark"), &place(&b, "x")).unwrap();
        let alias = directories_are_two(&place(&a, "mark"), &place(&a, "x")).unwrap_err();
        assert!(matches!(alias, ActError::Refused(Refusal::SameFile)), "{alias:?}");
        assert!(!a.join("mark").exists());
        let existing = directories_are_two(&place(&a, "x"), &place(&b, "x")).unwrap_err();
        assert!(matches!(existing, ActError::Refused(Refusal::Unproven { .. })), "{existing:?}");
        assert!(a.join("x").exists());
    }

    #[test]
    fn a_keeper_without_its_name_or_content_is_detected() {
        let (_temp, [a, b]) = two_directories();
        let (victim, keeper) = (held(&a, "x"), held(&b, "x"));
        assert!(is_listed(&keeper.place).unwrap());
        keeper_opens(&victim, &keeper).unwrap();
        fs::write(b.join("x"), "CONTENT").unwrap();
        let changed = keeper_opens(&victim, &keeper).unwrap_err();
        assert!(matches!(changed, Refusal::Changed { side: Side::Keeper, .. }), "{changed:?}");
        fs::rename(a.join("x"), b.join("x")).unwrap();
        let replaced = keeper_opens(&victim, &keeper).unwrap_err();
        assert!(matches!(replaced, Refusal::Replaced(Side::Keeper)), "{replaced:?}");
        fs::remove_file(b.join("x")).unwrap();
        assert!(!is_listed(&keeper.place).unwrap());
        assert!(!is_found(&keeper.place).unwrap());
        let removed = keeper_opens(&victim, &keeper).unwrap_err();
        assert!(matches!(removed, Refusal::SameFile), "{removed:?}");
    }
}
