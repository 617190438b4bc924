//! Entries of any type, opened only for look-ups: their metadata is read and set through the descriptor.
//!
//! The descriptor can lead to a symbolic link. The module `sys` has the calls that accept it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use ftk_file::xattr::NO_ATTRIBUTE;
use ftk_file::{FileType, Identity, Stat};
use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};

use crate::metadata::{Metadata, SET_ID, is_access_list, timespec};
use crate::reach::Place;
use crate::refusal::{ActError, Refusal, Side};
use crate::stat::fstat_now;
use crate::sys::{attributes, open_entry, remove_attribute, set_attribute, set_mode, set_owner, set_times};

/// An entry that was opened only for look-ups.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    fd: OwnedFd,
    /// The state of the entry when it was opened.
    pub(crate) stat: Stat,
}

impl Entry {
    /// Opens the entry at a place. A symbolic link is not followed.
    pub(crate) fn open(side: Side, place: Place) -> Result<Self, Refusal> {
        let fd = open_entry(&place.dir, &place.name);
        let fd = fd.map_err(|errno| Refusal::unreadable(side, "open", errno))?;
        let stat = fstat_now(&fd).map_err(|errno| Refusal::unreadable(side, "stat", errno))?;
        Ok(Self { place, fd, stat })
    }

    /// Returns the present state.
    pub(crate) fn now(&self, side: Side) -> Result<Stat, Refusal> {
        fstat_now(&self.fd).map_err(|errno| Refusal::unreadable(side, "stat", errno))
    }

    pub(crate) fn identity(&self, side: Side) -> Result<Identity, Refusal> {
        Identity::of(&self.fd).map_err(|error| Refusal::unreadable(side, "identify", error))
    }

    /// Reads all present metadata. The access time is unknown: nothing sets it.
    pub(crate) fn metadata(&self, side: Side) -> Result<Metadata, Refusal> {
        let Stat { mode, uid, gid, mtime_ns, .. } = self.now(side)?;
        let attributes = attributes(self.fd.as_fd());
        let attributes =
            attributes.map_err(|error| Refusal::unreadable(side, "read the attributes of", error))?;
        Ok(Metadata { mode, uid, gid, atime_ns: mtime_ns, mtime_ns, attributes })
    }

    /// Sets owner, attributes and permissions. `new` must have no rights that the entry lacks.
    ///
    /// Before the owner changes, the entry gets only the permissions that both the old and the new ones grant, and only those of
    /// the owner if there is an access list: the new group gets nothing that only the old one was given.
    pub(crate) fn set_access(&self, new: &Metadata) -> Result<(), ActError> {
        let has_mode = self.stat.file_type != FileType::Symlink;
        let now = self.now(Side::Target)?;
        if (now.uid, now.gid) != (new.uid, new.gid) {
            // With an access list, the permissions of the group are its mask.
            let theirs = attributes(self.fd.as_fd())
                .map_err(|error| Refusal::unreadable(Side::Target, "read the attributes of", error))?;
            let has_list = theirs.iter().chain(&new.attributes).any(is_access_list);
            let both = now.mode & new.mode & if has_list { 0o7700 } else { 0o7777 };
            if has_mode && both & !SET_ID != now.mode & !SET_ID {
                self.set_mode(both)?;
            }
            set_owner(self.fd.as_fd(), new.uid, new.gid)
                .map_err(|errno| ActError::failed("restore the owner", errno))?;
        }
        // A change of the owner removes capabilities, and the access control list changes the permissions of the group.
        self.set_attributes(new).map_err(|error| ActError::failed("restore extended attributes", error))?;
        if has_mode && self.now(Side::Target)?.mode != new.mode {
            self.set_mode(new.mode)?;
        }
        Ok(())
    }

    /// Sets the permissions. A file gets no set-ID bits: it may have lost them a moment ago, when it was written to.
    fn set_mode(&self, mode: u32) -> Result<(), ActError> {
        let is_directory = self.stat.file_type == FileType::Directory;
        let mode = if is_directory { mode } else { mode & !SET_ID };
        set_mode(self.fd.as_fd(), mode).map_err(|errno| ActError::failed("restore the permissions", errno))
    }

    fn set_attributes(&self, new: &Metadata) -> io::Result<()> {
        let entry = self.fd.as_fd();
        let theirs = attributes(entry)?;
        for (name, _) in theirs.iter().filter(|(name, _)| !new.attributes.iter().any(|(n, _)| n == name)) {
            match remove_attribute(entry, name) {
                Ok(()) | Err(NO_ATTRIBUTE) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        for (name, value) in new.attributes.iter().filter(|attribute| !theirs.contains(attribute)) {
            set_attribute(entry, name, value)?;
        }
        Ok(())
    }

    /// Sets the mtime.
    pub(crate) fn set_time(&self, mtime_ns: i128) -> Result<(), ActError> {
        let unchanged = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access: unchanged, last_modification: timespec(mtime_ns) };
        set_times(self.fd.as_fd(), &times).map_err(|errno| ActError::failed("restore the times", errno))
    }
}
