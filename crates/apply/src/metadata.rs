//! Metadata of files: owner, permissions, times, extended attributes.

use std::io;
use std::os::fd::AsFd;

use ftk_file::{Attribute, AttributeReader, Stat, remove_attribute};
use rustix::fs::{
    Gid, Mode, Timespec, Timestamps, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fsetxattr,
    futimens,
};
use rustix::io::Errno;

use crate::reach::Held;
use crate::refusal::Difference;

/// The bits that let a program run with the rights of the file's owner or group.
const SET_ID: u32 = SET_USER_ID | SET_GROUP_ID;
const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;

/// Everything that [`restore`] sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) atime_ns: i128,
    pub(crate) mtime_ns: i128,
    /// The extended attributes, sorted by name.
    pub(crate) attributes: Vec<Attribute>,
}

impl Metadata {
    /// Reads all metadata of a file.
    pub(crate) fn of(held: &Held) -> io::Result<Self> {
        Ok(Self { attributes: attributes(&held.file)?, ..Self::of_stat(held) })
    }

    /// Converts the metadata in a `stat` result, without attributes.
    pub(crate) fn of_stat(held: &Held) -> Self {
        let stat = &held.stat;
        Self {
            mode: stat.mode,
            uid: stat.uid,
            gid: stat.gid,
            atime_ns: held.file.atime_ns(),
            mtime_ns: stat.mtime_ns,
            attributes: Vec::new(),
        }
    }

    /// Returns a copy of the metadata that gives a file with the content of `source` only rights that
    /// `source` has already.
    ///
    /// Removes set-user-ID and set-group-ID bits unless `source` has them and the same owner or group, and
    /// capabilities unless `source` has the same ones. An undo reads this metadata from a journal, and
    /// without this check a journal could give such rights to a program of an attacker.
    pub(crate) fn without_new_rights(&self, source: &Held) -> io::Result<Self> {
        let mut granted = source.stat.mode;
        if source.stat.uid != self.uid {
            granted &= !SET_USER_ID;
        }
        if source.stat.gid != self.gid {
            granted &= !SET_GROUP_ID;
        }
        let mut safe = self.clone();
        safe.mode &= !SET_ID | granted;
        if safe.attributes.iter().any(|(name, _)| name == CAPABILITIES) {
            let theirs = attributes(&source.file)?;
            safe.attributes.retain(|attribute| attribute.0 != CAPABILITIES || theirs.contains(attribute));
        }
        Ok(safe)
    }

    /// Returns a copy of the metadata that gives a file no rights: without set-user-ID and set-group-ID bits
    /// and capabilities.
    pub(crate) fn without_rights(&self) -> Self {
        let mut safe = self.clone();
        safe.mode &= !SET_ID;
        safe.attributes.retain(|(name, _)| name != CAPABILITIES);
        safe
    }

    /// Returns whether this has set-user-ID or set-group-ID bits or capabilities that a file lacks.
    pub(crate) fn has_more_rights(&self, held: &Held) -> io::Result<bool> {
        if self.mode & SET_ID & !held.stat.mode != 0 {
            return Ok(true);
        }
        match self.attributes.iter().find(|(name, _)| name == CAPABILITIES) {
            Some(ours) => Ok(!attributes(&held.file)?.contains(ours)),
            None => Ok(false),
        }
    }

    /// Returns whether a file with this `stat` lacks other permissions.
    pub(crate) fn is_narrowed(&self, stat: &Stat) -> bool {
        self.mode & !SET_ID & !stat.mode != 0
    }

    /// Returns whether a file with this `stat` has the same metadata. The access time and attributes are not
    /// compared.
    pub(crate) fn is_of(&self, stat: &Stat) -> bool {
        let other = (stat.mode, stat.uid, stat.gid, stat.mtime_ns);
        (self.mode, self.uid, self.gid, self.mtime_ns) == other
    }
}

/// The attribute that holds a program's capabilities.
const CAPABILITIES: &[u8] = b"security.capability";

/// Returns the first metadata that would change if the victim's name led to the keeper. Most differences are
/// found with one `stat`.
pub(crate) fn difference(victim: &Held, keeper: &Held) -> io::Result<Option<Difference>> {
    let (v, k) = (&victim.stat, &keeper.stat);
    if v.uid != k.uid {
        return Ok(Some(Difference::Owner { victim: v.uid, keeper: k.uid }));
    }
    if v.gid != k.gid {
        return Ok(Some(Difference::Group { victim: v.gid, keeper: k.gid }));
    }
    if v.mode != k.mode {
        return Ok(Some(mode_difference(victim, keeper)));
    }
    let (ours, theirs) = (attributes(&victim.file)?, attributes(&keeper.file)?);
    Ok(differing(&ours, &theirs).map(|name| Difference::Attribute(name.to_vec())))
}

/// Returns the difference if the keeper is set-user-ID or set-group-ID and the victim is not.
pub(crate) fn gained_rights(victim: &Held, keeper: &Held) -> Option<Difference> {
    let gained = keeper.stat.mode & !victim.stat.mode & SET_ID;
    (gained != 0).then(|| mode_difference(victim, keeper))
}

fn mode_difference(victim: &Held, keeper: &Held) -> Difference {
    Difference::Mode { victim: victim.stat.mode, keeper: keeper.stat.mode }
}

/// Returns the first name that only one of two sorted lists has, or that has different values.
fn differing<'a>(a: &'a [Attribute], b: &'a [Attribute]) -> Option<&'a [u8]> {
    let only = |list: &'a [Attribute], other: &[Attribute]| {
        list.iter().find(|attribute| other.binary_search(attribute).is_err()).map(|(name, _)| &name[..])
    };
    only(a, b).into_iter().chain(only(b, a)).min()
}

/// Returns all extended attributes that the caller may list, sorted by name.
pub(crate) fn attributes(file: impl AsFd) -> io::Result<Vec<Attribute>> {
    let list = |names: &mut [u8]| flistxattr(&file, names);
    Ok(AttributeReader::default().read(list, |name, value| fgetxattr(&file, name, value))?)
}

/// Sets everything in `metadata` on `file`, which was just created. An error names what could not be set.
pub(crate) fn restore(file: impl AsFd, metadata: &Metadata) -> Result<(), (&'static str, Errno)> {
    let file = file.as_fd();
    let now = Stat::of(file).map_err(|errno| ("stat the copy", errno))?;
    if (now.uid, now.gid) != (metadata.uid, metadata.gid) {
        let (uid, gid) = (Uid::from_raw(metadata.uid), Gid::from_raw(metadata.gid));
        fchown(file, Some(uid), Some(gid)).map_err(|errno| ("restore the owner", errno))?;
    }
    // Attributes are set after the owner, since a change of the owner removes capabilities.
    let theirs = attributes(file).map_err(|error| ("list attributes of the copy", errno_of(&error)))?;
    for (name, _) in theirs.iter().filter(|(name, _)| !metadata.attributes.iter().any(|(n, _)| n == name)) {
        remove_attribute(file, name).map_err(|errno| ("restore extended attributes", errno))?;
    }
    for (name, value) in metadata.attributes.iter().filter(|attribute| !theirs.contains(attribute)) {
        let set = fsetxattr(file, &name[..], value, XattrFlags::empty());
        set.map_err(|errno| ("restore extended attributes", errno))?;
    }
    // The permissions are set after the access control list, which changes the bits of the group.
    fchmod(file, Mode::from_raw_mode(metadata.mode)).map_err(|errno| ("restore the permissions", errno))?;
    set_times(file, metadata.atime_ns, metadata.mtime_ns).map_err(|errno| ("restore the times", errno))
}

/// Sets the times of an open file or directory, in nanoseconds since the Unix epoch.
pub(crate) fn set_times(file: impl AsFd, atime_ns: i128, mtime_ns: i128) -> Result<(), Errno> {
    let times = Timestamps { last_access: timespec(atime_ns), last_modification: timespec(mtime_ns) };
    futimens(file, &times)
}

/// Converts nanoseconds since the Unix epoch.
pub(crate) fn timespec(ns: i128) -> Timespec {
    const SECOND: i128 = 1_000_000_000;
    Timespec { tv_sec: ns.div_euclid(SECOND) as _, tv_nsec: ns.rem_euclid(SECOND) as _ }
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_differ_by_name_or_value() {
        let list = |list: &[(&str, &str)]| -> Vec<Attribute> {
            list.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
        };
        let both = list(&[("a", "1"), ("b", "2")]);
        for (other, name) in [
            (list(&[("a", "1"), ("b", "2")]), None),
            (list(&[("a", "1")]), Some("b")),
            (list(&[("a", "1"), ("b", "3")]), Some("b")),
            (list(&[("a", "0"), ("b", "3")]), Some("a")),
            (list(&[("a", "1"), ("b", "2"), ("c", "")]), Some("c")),
            (list(&[]), Some("a")),
        ] {
            let name = name.map(str::as_bytes);
            assert_eq!(differing(&both, &other), name);
            assert_eq!(differing(&other, &both), name);
        }
    }

    #[test]
    fn times_before_the_epoch_are_restored() {
        for ns in [0, 1, -1, 1_999_999_999, -1_000_000_001] {
            let spec = timespec(ns);
            assert!((0..1_000_000_000).contains(&i128::from(spec.tv_nsec)));
            assert_eq!(i128::from(spec.tv_sec) * 1_000_000_000 + i128::from(spec.tv_nsec), ns);
        }
    }
}
