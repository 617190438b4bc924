//! The recorded metadata of an entry.

use ftk_file::{Attribute, FileType, TRUSTED, now_ns};
use rustix::process::{getegid, geteuid, getgroups};

use crate::metadata::{CAPABILITIES, Metadata};
use crate::reach::Held;

/// The permissions that a record may give: all but set-user-ID and set-group-ID.
const PERMISSIONS: u32 = 0o1777;

/// Bits that are not permissions.
const UNKNOWN: u32 = !0o7777;

/// The permissions of a file whose record has none.
const PRIVATE: u32 = 0o600;

/// The recorded metadata of an entry. A member that is `None` is not known.
///
/// The owner of a missing file or directory is restored only if it is the caller or the caller is root. It never gets
/// set-user-ID and set-group-ID bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedMetadata {
    /// The permission bits.
    pub mode: Option<u32>,
    /// The owner.
    pub uid: Option<u32>,
    /// The group.
    pub gid: Option<u32>,
    /// The time of the last change to the content, in nanoseconds since the Unix epoch.
    pub mtime_ns: Option<i128>,
    /// Extended attributes by name. A missing file gets only those of users and access control lists, unless
    /// [`changes`](crate::Restore::changes) has attributes.
    pub attributes: Option<Vec<Attribute>>,
    /// Whether the attributes that only root sees stay as they are. Those of the record are then ignored.
    pub keeps_trusted: bool,
}

impl RecordedMetadata {
    /// Returns the metadata of a new file with the content of `source`. `with_all`: it gets all recorded attributes except
    /// capabilities.
    pub(super) fn metadata(&self, source: &Held, with_all: bool) -> Metadata {
        let (uid, gid) = self.owner();
        Metadata {
            mode: self.permissions().unwrap_or(PRIVATE),
            uid,
            gid,
            atime_ns: now_ns(),
            mtime_ns: self.mtime_ns.unwrap_or(source.stat.mtime_ns),
            attributes: self.safe_attributes(with_all),
        }
        .without_rights()
    }

    /// Returns `now`, the metadata of an entry, with everything that is known in its place, except rights that the entry
    /// lacks: see [`Metadata::without_gained_rights`].
    pub(super) fn over(&self, now: &Metadata, file_type: FileType) -> Metadata {
        let mut new = now.clone();
        new.uid = self.uid.unwrap_or(now.uid);
        new.gid = self.gid.unwrap_or(now.gid);
        new.mtime_ns = self.mtime_ns.unwrap_or(now.mtime_ns);
        // The permissions of symbolic links have no meaning, and cannot be set.
        if let Some(mode) = self.mode.filter(|_| file_type != FileType::Symlink) {
            new.mode = mode & !UNKNOWN;
        }
        if let Some(attributes) = &self.attributes {
            let stays = |(name, _): &&Attribute| self.keeps_trusted && name.starts_with(TRUSTED);
            new.attributes = now.attributes.iter().filter(stays).cloned().collect();
            let is_set = |(name, _): &&Attribute| !self.keeps_trusted || !name.starts_with(TRUSTED);
            new.attributes.extend(attributes.iter().filter(is_set).cloned());
            new.attributes.sort();
        }
        new.without_gained_rights(now, file_type)
    }

    /// Returns the recorded permissions without set-user-ID and set-group-ID.
    pub(super) fn permissions(&self) -> Option<u32> {
        self.mode.map(|mode| mode & PERMISSIONS)
    }

    /// Returns owner and group as far as the caller may and should restore them.
    pub(super) fn owner(&self) -> (u32, u32) {
        let (euid, egid) = (geteuid(), getegid().as_raw());
        let uid = self.uid.unwrap_or(euid.as_raw());
        let gid = self.gid.unwrap_or(egid);
        if euid.is_root() {
            return (uid, gid);
        }
        let is_member = || getgroups().is_ok_and(|groups| groups.iter().any(|it| it.as_raw() == gid));
        let has_group = uid == euid.as_raw() && (gid == egid || is_member());
        (euid.as_raw(), if has_group { gid } else { egid })
    }

    /// Returns the attributes of users and access control lists, or all of them but capabilities, sorted by name.
    pub(super) fn safe_attributes(&self, with_all: bool) -> Vec<Attribute> {
        let is_safe = |(name, _): &&Attribute| {
            let is_of_users = name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_");
            let is_other = name != CAPABILITIES && !(self.keeps_trusted && name.starts_with(TRUSTED));
            is_of_users || with_all && is_other
        };
        let mut safe: Vec<_> = self.attributes.iter().flatten().filter(is_safe).cloned().collect();
        safe.sort();
        safe
    }
}
