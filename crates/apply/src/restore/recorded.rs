//! The recorded metadata of a file or directory that no longer exists.

use ftk_file::{Attribute, now_ns};
use rustix::process::{getegid, geteuid, getgroups};

use crate::metadata::Metadata;
use crate::reach::Held;

/// The permissions that a record may give: all but set-user-ID and set-group-ID.
const PERMISSIONS: u32 = 0o1777;

/// The permissions of a file whose record has none.
const PRIVATE: u32 = 0o600;

/// The recorded metadata of a missing file or directory. A member that is `None` is not known.
///
/// The owner is restored only if it is the caller or the caller is root. Set-user-ID and set-group-ID bits are
/// never restored.
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
    /// Extended attributes by name. Only those of users and access control lists are restored.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl RecordedMetadata {
    /// Returns the metadata of a new file with the content of `source`.
    pub(super) fn metadata(&self, source: &Held) -> Metadata {
        let (uid, gid) = self.owner();
        Metadata {
            mode: self.permissions().unwrap_or(PRIVATE),
            uid,
            gid,
            atime_ns: now_ns(),
            mtime_ns: self.mtime_ns.unwrap_or(source.stat.mtime_ns),
            attributes: self.safe_attributes(),
        }
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

    /// Returns the attributes that give no rights, sorted by name.
    fn safe_attributes(&self) -> Vec<Attribute> {
        let is_safe =
            |(name, _): &&Attribute| name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_");
        let mut safe: Vec<_> = self.attributes.iter().filter(is_safe).cloned().collect();
        safe.sort();
        safe
    }
}
