//! Metadata of files: owner, permissions, times, extended attributes.

use std::cell::Cell;
use std::io;
use std::os::fd::AsFd;

use ftk_file::xattr::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
use ftk_file::{Attribute, AttributeReader, FileType, HiddenAccess, Stat, permissions, remove_attribute};
use rustix::fs::{Gid, Timespec, Timestamps, Uid, fchmod, fchown, futimens};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::journal::MAX_RECORD;
use crate::reach::Held;
use crate::refusal::Difference;

/// The bits that let a program run with the rights of the file's owner or group.
pub(crate) const SET_ID: u32 = SET_USER_ID | SET_GROUP_ID;
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

/// What [`Metadata::narrow`] has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// The new permissions.
    pub(crate) mode: Option<u32>,
    /// The new owner.
    pub(crate) owner: Option<u32>,
    /// Whether an access control list was removed.
    pub(crate) acl: bool,
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

    /// Returns a copy of the metadata that gives an entry with the metadata `now` no rights that it lacks.
    ///
    /// A directory keeps the set-ID bits that it has. A file keeps them only if neither its owner nor its permissions nor its
    /// access control list change: it could be written to, and so lose them, right before a new mode gives them back.
    /// Capabilities stay as they are, or go: when the owner or group changes, as the kernel removes them, and if there are
    /// none in this metadata.
    pub(crate) fn without_gained_rights(&self, now: &Self, file_type: FileType) -> Self {
        let mut safe = self.clone();
        let is_same_owner = (now.uid, now.gid) == (self.uid, self.gid);
        safe.mode &= !SET_ID | now.mode;
        let is_same_access =
            is_same_owner && safe.mode == now.mode && acl(&safe.attributes) == acl(&now.attributes);
        if file_type != FileType::Directory && !is_same_access {
            safe.mode &= !SET_ID;
        }
        let is_capability = |(name, _): &&Attribute| name == CAPABILITIES;
        let has_any = safe.attributes.iter().any(|attribute| is_capability(&attribute));
        safe.attributes.retain(|(name, _)| name != CAPABILITIES);
        if has_any && is_same_owner {
            safe.attributes.extend(now.attributes.iter().find(is_capability).cloned());
            safe.attributes.sort();
        }
        safe
    }

    /// Returns whether this is the same metadata, apart from the access time.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        *self == Self { atime_ns: self.atime_ns, ..other.clone() }
    }

    /// Returns whether this has set-ID bits, or a capability, that `other` lacks.
    pub(crate) fn has_rights_beyond(&self, other: &Self) -> bool {
        let is_new =
            |attribute: &&Attribute| attribute.0 == CAPABILITIES && !other.attributes.contains(attribute);
        self.mode & SET_ID & !other.mode != 0 || self.attributes.iter().any(|it| is_new(&it))
    }

    /// Returns whether a step that was to replace `old` by `new` can have left an entry with this metadata, done or not.
    /// `has_time`: whether nothing but the step sets the mtime.
    pub(crate) fn is_between(&self, old: &Self, new: &Self, has_time: bool) -> bool {
        let either = |get: fn(&Self) -> u32| [get(old), get(new)].contains(&get(self));
        let has_mode = |mask| {
            [old.mode, new.mode, old.mode & new.mode].iter().any(|mode| mode & mask == self.mode & mask)
        };
        let is_attribute_known = |it: &Attribute| {
            [old, new].iter().any(|side| side.attributes.contains(it)) || it.0 == CAPABILITIES
        };
        either(|it| it.uid)
            && either(|it| it.gid)
            && has_mode(0o777)
            && has_mode(0o1000)
            && self.mode & SET_ID & !(old.mode | new.mode) == 0
            && (!has_time || [old.mtime_ns, new.mtime_ns].contains(&self.mtime_ns))
            && self.attributes.iter().all(is_attribute_known)
            && old
                .attributes
                .iter()
                .filter(|it| new.attributes.contains(it))
                .all(|it| it.0 == CAPABILITIES || self.attributes.contains(it))
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

    /// Takes away what was revoked after the run, and returns the changes.
    ///
    /// What two owners, groups or access control lists both grant cannot be computed, and the present ones may be the choice of
    /// another user. So the file never gets these. If the owner has changed, or nothing is known, it gets the caller's, and only
    /// the owner gets permissions. If the group has changed, the group gets no permissions, and all others only those that the
    /// present group has. If anything but the permissions has changed, the file gets no list. Without it, the permissions of the
    /// group and of all others could grant more than before, so they are removed as well.
    pub(crate) fn narrow(&mut self, Change { before, now }: &Change) -> Narrowed {
        if now.as_ref() == Some(before) {
            return Narrowed::default();
        }
        let (uid, mut mode) = (self.uid, self.mode);
        let mut is_owner_revoked = true;
        let mut has_other_list = true;
        if let Some(now) = now {
            // The permissions of another owner are not those of this one.
            mode &= if now.uid == self.uid { now.mode } else { now.mode | 0o700 };
            is_owner_revoked = now.uid != before.uid && now.uid != self.uid;
            if now.gid != before.gid && now.gid != self.gid {
                mode &= 0o700 | (now.mode >> 3 & 0o007);
            }
            has_other_list = (before.uid, before.gid, &before.acl) != (now.uid, now.gid, &now.acl);
        }
        if is_owner_revoked {
            self.uid = geteuid().as_raw();
            mode &= 0o700;
        }
        let lost_list = has_other_list && self.attributes.iter().any(is_access_list);
        if has_other_list {
            self.attributes.retain(|attribute| !is_access_list(attribute));
        }
        if lost_list || has_other_list && now.as_ref().is_some_and(|now| !now.acl.is_empty()) {
            mode &= 0o700 | SET_ID;
        }
        let narrowed = Narrowed {
            mode: (mode != self.mode).then_some(mode),
            owner: (self.uid != uid).then_some(self.uid),
            acl: lost_list,
        };
        self.mode = mode;
        narrowed
    }

    /// Returns whether an open file grants what this does not. The owner does not matter if that is the caller.
    pub(crate) fn is_exceeded_by(&self, file: impl AsFd) -> io::Result<bool> {
        let file = file.as_fd();
        let Stat { mode, uid, gid, .. } = Stat::of(file)?;
        let list = acl(&attributes(file)?);
        Ok((uid != self.uid && uid != geteuid().as_raw())
            || mode & !self.mode != 0
            || (gid != self.gid && mode & 0o070 != 0)
            || (!list.is_empty() && list != acl(&self.attributes)))
    }

    /// Returns whether a file lacks an access control list.
    pub(crate) fn has_more_lists(&self, held: &Held) -> io::Result<bool> {
        Ok(self.attributes.iter().any(is_access_list) && !attributes(&held.file)?.iter().any(is_access_list))
    }

    /// Returns whether a file with this `stat` has the same metadata. The access time and attributes are not
    /// compared.
    pub(crate) fn is_of(&self, stat: &Stat) -> bool {
        let other = (stat.mode, stat.uid, stat.gid, stat.mtime_ns);
        (self.mode, self.uid, self.gid, self.mtime_ns) == other
    }
}

/// The attribute that holds a program's capabilities.
pub(crate) const CAPABILITIES: &[u8] = b"security.capability";

/// The attribute that holds the access control list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Who may do what with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// The access control list, as the attribute holds it. Empty if there is none.
    pub(crate) acl: Vec<u8>,
}

impl Access {
    /// Reads who may do what with an open file.
    pub(crate) fn of(held: &Held) -> io::Result<Self> {
        Self::at(&held.stat, &held.file)
    }

    /// Reads who may do what with an open file, of which `stat` is the state.
    pub(crate) fn at(stat: &Stat, file: impl AsFd) -> io::Result<Self> {
        let &Stat { mode, uid, gid, .. } = stat;
        Ok(Self { mode, uid, gid, acl: acl(&attributes(file)?) })
    }

    /// Returns what `metadata` grants.
    pub(crate) fn in_metadata(metadata: &Metadata) -> Self {
        let &Metadata { mode, uid, gid, .. } = metadata;
        Self { mode, uid, gid, acl: acl(&metadata.attributes) }
    }
}

/// What the file granted that shows which access was revoked after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// After the run.
    pub(crate) before: Access,
    /// When undo restores the victim. `None` if that is not known.
    pub(crate) now: Option<Access>,
}

/// The owner, group and access control list of a keeper, as far as they differ from those of the victim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeeperAccess {
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) acl: Option<Vec<u8>>,
}

impl KeeperAccess {
    /// Compares an open keeper with the metadata of the victim.
    pub(crate) fn of(keeper: &Held, victim: &Metadata) -> io::Result<Self> {
        let (keeper, victim) = (Access::of(keeper)?, Access::in_metadata(victim));
        Ok(Self {
            uid: (keeper.uid != victim.uid).then_some(keeper.uid),
            gid: (keeper.gid != victim.gid).then_some(keeper.gid),
            acl: (keeper.acl != victim.acl).then_some(keeper.acl),
        })
    }

    /// Returns the access to a keeper with these permissions.
    pub(crate) fn with(&self, mode: u32, victim: &Metadata) -> Access {
        let victim = Access::in_metadata(victim);
        Access {
            mode,
            uid: self.uid.unwrap_or(victim.uid),
            gid: self.gid.unwrap_or(victim.gid),
            acl: self.acl.clone().unwrap_or(victim.acl),
        }
    }
}

fn acl(attributes: &[Attribute]) -> Vec<u8> {
    let list = attributes.iter().find(|(name, _)| name == ACCESS_LIST);
    list.map(|(_, value)| value.clone()).unwrap_or_default()
}

/// Returns whether an attribute is a list of access rights: of POSIX, of NFS or of another kind.
pub(crate) fn is_access_list((name, _): &Attribute) -> bool {
    name.starts_with(b"system.")
}

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

/// Returns all extended attributes that the caller may list, sorted by name. It is an error if they need more memory than
/// the record of a step may: on some file systems, a file may have any number of them. So it is if there is an access control
/// list that no attribute shows: it could not be compared or restored.
pub(crate) fn attributes(file: impl AsFd) -> io::Result<Vec<Attribute>> {
    if HiddenAccess::of(&file)? != HiddenAccess::None {
        return Err(io::Error::other("it has an access control list that ftk cannot restore"));
    }
    let list = |names: &mut [u8]| flistxattr(&file, names);
    let total = Cell::new(0);
    let get = |name: &[u8], value: &mut [u8]| {
        let len = fgetxattr(&file, name, value)?;
        total.set(total.get() + len);
        if total.get() > MAX_RECORD { Err(Errno::TOOBIG) } else { Ok(len) }
    };
    AttributeReader::default().read(list, get).map_err(|errno| match errno {
        Errno::TOOBIG => io::Error::other("they are larger than 1 MiB"),
        errno => errno.into(),
    })
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
    set_attributes(file, &metadata.attributes).map_err(|errno| ("restore extended attributes", errno))?;
    // The permissions are set after the access control list, which changes the bits of the group.
    fchmod(file, permissions(metadata.mode)).map_err(|errno| ("restore the permissions", errno))?;
    set_times(file, metadata.atime_ns, metadata.mtime_ns).map_err(|errno| ("restore the times", errno))
}

/// Gives an open file or directory these extended attributes and no others.
pub(crate) fn set_attributes(file: impl AsFd, all: &[Attribute]) -> Result<(), Errno> {
    let file = file.as_fd();
    let theirs = attributes(file).map_err(|error| errno_of(&error))?;
    for (name, _) in theirs.iter().filter(|(name, _)| !all.iter().any(|(n, _)| n == name)) {
        remove_attribute(file, name)?;
    }
    for (name, value) in all.iter().filter(|attribute| !theirs.contains(attribute)) {
        fsetxattr(file, &name[..], value, XattrFlags::empty())?;
    }
    Ok(())
}

/// Sets what the caller may set of `metadata` on `file`, which was just created. Returns whether that is everything.
///
/// Only root can give a file to another user or to a group of others, or give it capabilities. In a user namespace, root cannot
/// give it to a user whom the namespace does not have. Without its owner or group, the
/// file gets no access control list, and only the permissions of the owner: the others would hold for other users.
pub(crate) fn restore_permitted(file: impl AsFd, metadata: &Metadata) -> Result<bool, (&'static str, Errno)> {
    let file = file.as_fd();
    match restore(file, metadata) {
        Err((_, Errno::PERM | Errno::INVAL)) => {}
        restored => return restored.map(|()| true),
    }
    let mut permitted = metadata.clone();
    // The owner first: if that fails, the group may still be one of the caller's.
    _ = fchown(file, Some(Uid::from_raw(metadata.uid)), None);
    _ = fchown(file, None, Some(Gid::from_raw(metadata.gid)));
    let Stat { uid, gid, .. } = Stat::of(file).map_err(|errno| ("stat the copy", errno))?;
    if (uid, gid) != (metadata.uid, metadata.gid) {
        (permitted.uid, permitted.gid) = (uid, gid);
        permitted.mode &= 0o700;
        permitted.attributes.retain(|attribute| !is_access_list(attribute));
    }
    let may_set = |(name, value): &Attribute| {
        !matches!(fsetxattr(file, &name[..], value, XattrFlags::empty()), Err(Errno::PERM | Errno::INVAL))
    };
    permitted.attributes.retain(may_set);
    restore(file, &permitted).map(|()| false)
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

    fn of(mode: u32, uid: u32, attributes: &[(&[u8], &str)]) -> Metadata {
        let attributes = attributes.iter().map(|(name, value)| (name.to_vec(), value.as_bytes().to_vec()));
        let attributes = attributes.collect();
        Metadata { mode, uid, gid: 1, atime_ns: 0, mtime_ns: 0, attributes }
    }

    #[test]
    fn recorded_metadata_gives_no_rights() {
        const FILE: FileType = FileType::Regular;
        const DIRECTORY: FileType = FileType::Directory;
        for (file_type, recorded, now, given) in [
            (FILE, (0o4755, 0), (0o755, 0), 0o755),
            (FILE, (0o4755, 0), (0o4755, 0), 0o4755),
            (FILE, (0o4755, 0), (0o4777, 0), 0o755),
            (FILE, (0o4755, 0), (0o4755, 7), 0o755),
            (FILE, (0o4755, 0), (0o6755, 0), 0o755),
            (FILE, (0o755, 0), (0o6755, 0), 0o755),
            (DIRECTORY, (0o2755, 0), (0o755, 0), 0o755),
            (DIRECTORY, (0o2755, 0), (0o2777, 7), 0o2755),
            (DIRECTORY, (0o755, 0), (0o2755, 0), 0o755),
        ] {
            let [recorded, now] = [recorded, now].map(|(mode, uid)| of(mode, uid, &[]));
            let given = Metadata { mode: given, ..recorded.clone() };
            assert_eq!(recorded.without_gained_rights(&now, file_type), given, "{recorded:?} {now:?}");
            assert_eq!(
                recorded.has_rights_beyond(&given),
                recorded.mode & SET_ID & !given.mode != 0,
                "{recorded:?}"
            );
        }
        // Capabilities stay or go.
        let (raw, admin, none): (&[_], &[_], &[_]) =
            (&[(CAPABILITIES, "raw")], &[(CAPABILITIES, "admin")], &[]);
        for (recorded, now, uid, given) in [
            (raw, none, 0, none),
            (raw, raw, 0, raw),
            (raw, admin, 0, admin),
            (none, raw, 0, none),
            (raw, raw, 7, none),
        ] {
            let (recorded, now) = (of(0o755, 0, recorded), of(0o700, uid, now));
            assert_eq!(
                recorded.without_gained_rights(&now, FILE),
                of(0o755, 0, given),
                "{recorded:?} {now:?}"
            );
        }
        // A file with another access control list could be rewritten while that is set.
        let [recorded, now] = [&[(ACCESS_LIST, "list")][..], &[]].map(|list| of(0o4755, 0, list));
        assert_eq!(recorded.without_gained_rights(&now, FILE).mode, 0o755);
    }

    #[test]
    fn only_what_a_step_can_have_left_is_between() {
        let (old, new) = (of(0o604, 7, &[(b"user.a", "old")]), of(0o640, 0, &[(b"user.a", "new")]));
        for (mode, uid, value, time, is_expected) in [
            (0o604, 7, Some("old"), 0, true),
            (0o640, 0, Some("new"), 0, true),
            (0o600, 7, Some("old"), 0, true),
            (0o600, 0, None, 0, true),
            (0o640, 0, Some("else"), 0, false),
            (0o400, 0, Some("new"), 0, false),
            (0o644, 0, Some("new"), 0, false),
            (0o4640, 0, Some("new"), 0, false),
            (0o640, 12, Some("new"), 0, false),
            (0o640, 0, Some("new"), 5, false),
        ] {
            let attribute = value.map(|value| (&b"user.a"[..], value));
            let mut now = of(mode, uid, attribute.as_slice());
            now.mtime_ns = time;
            assert_eq!(now.is_between(&old, &new, true), is_expected, "{now:?}");
        }
        let now = Metadata { mtime_ns: 5, ..new.clone() };
        assert!(now.is_between(&old, &new, false));
        // An attribute that both have cannot be gone.
        let both = of(0o640, 0, &[(b"user.a", "old")]);
        assert!(!of(0o640, 0, &[]).is_between(&old, &both, true));
    }

    #[test]
    fn what_was_revoked_is_not_given_back() {
        let list = |list: &str| match list {
            "" => Vec::new(),
            list => vec![(ACCESS_LIST.to_vec(), list.as_bytes().to_vec())],
        };
        /// Permissions, owner, group and access control list.
        type Rights<'l> = (u32, u32, u32, &'l str);
        /// The caller.
        const ME: u32 = u32::MAX;
        let metadata = |(mode, uid, gid, acl): Rights<'_>| Metadata {
            mode,
            uid: if uid == ME { geteuid().as_raw() } else { uid },
            gid,
            atime_ns: 0,
            mtime_ns: 0,
            attributes: [list(acl), vec![(b"user.a".to_vec(), Vec::new())]].concat(),
        };
        let assert_narrowed = |victim: Rights, before, now: Option<Rights>, expected: Rights| {
            let access = |it: Rights| Access::in_metadata(&metadata(it));
            let mut restored = metadata(victim);
            let narrowed = restored.narrow(&Change { before: access(before), now: now.map(access) });
            assert_eq!(restored, metadata(expected), "{victim:?} {before:?} {now:?}");
            let changed = Narrowed {
                mode: (victim.0 != expected.0).then_some(expected.0),
                owner: (victim.1 != expected.1).then_some(metadata(expected).uid),
                acl: victim.3 != expected.3,
            };
            assert_eq!(narrowed, changed, "{victim:?} {before:?} {now:?}");
        };
        for (victim, before, now, expected) in [
            // Nothing has changed: other owners and lists of the kept file do not matter.
            ((0o644, 1, 2, "l"), (0o600, 3, 4, ""), (0o600, 3, 4, ""), (0o644, 1, 2, "l")),
            // Only the permissions have changed.
            ((0o644, 1, 2, "l"), (0o644, 1, 2, "l"), (0o600, 1, 2, "l"), (0o600, 1, 2, "l")),
            ((0o640, 1, 2, ""), (0o644, 1, 2, ""), (0o666, 1, 2, ""), (0o640, 1, 2, "")),
            ((0o755, 1, 2, ""), (0o755, 7, 2, ""), (0o000, 7, 2, ""), (0o700, 1, 2, "")),
            // The owner has changed: the present one may be an attacker.
            ((0o640, 1, 2, ""), (0o640, 1, 2, ""), (0o640, 7, 2, ""), (0o600, ME, 2, "")),
            ((0o755, ME, 2, ""), (0o755, ME, 2, ""), (0o755, 7, 2, ""), (0o700, ME, 2, "")),
            ((0o4755, 1, 2, ""), (0o4755, 1, 2, ""), (0o4755, 7, 7, ""), (0o700, ME, 2, "")),
            ((0o640, 1, 2, "l"), (0o640, 1, 2, "l"), (0o640, 7, 7, "l"), (0o600, ME, 2, "")),
            ((0o640, 1, 2, ""), (0o640, 7, 2, ""), (0o644, 1, 2, ""), (0o640, 1, 2, "")),
            // The group has changed. Its owner chose the present one.
            ((0o664, 1, 2, ""), (0o664, 7, 7, ""), (0o664, 7, 9, ""), (0o604, 1, 2, "")),
            ((0o6775, 1, 2, ""), (0o775, 1, 2, ""), (0o6775, 1, 7, ""), (0o705, 1, 2, "")),
            ((0o664, 1, 2, ""), (0o664, 1, 2, ""), (0o604, 1, 7, ""), (0o600, 1, 2, "")),
            ((0o664, 1, 2, ""), (0o664, 1, 7, ""), (0o664, 1, 2, ""), (0o664, 1, 2, "")),
            // The list has changed.
            ((0o644, 1, 2, "l"), (0o644, 1, 2, "l"), (0o644, 1, 2, ""), (0o600, 1, 2, "")),
            ((0o644, 1, 2, "l"), (0o644, 1, 2, "l"), (0o644, 1, 2, "m"), (0o600, 1, 2, "")),
            ((0o644, 1, 2, ""), (0o644, 1, 2, ""), (0o664, 1, 2, "m"), (0o600, 1, 2, "")),
            ((0o640, 1, 2, ""), (0o640, 1, 2, "l"), (0o640, 1, 2, ""), (0o640, 1, 2, "")),
            ((0o4755, 1, 2, ""), (0o4755, 1, 2, "l"), (0o4755, 1, 2, ""), (0o4755, 1, 2, "")),
        ] {
            assert_narrowed(victim, before, Some(now), expected);
        }
        // Nothing is known.
        for (victim, expected) in [
            ((0o6755, 1, 2, "l"), (0o700, ME, 2, "")),
            ((0o640, ME, 2, ""), (0o600, ME, 2, "")),
            ((0o600, ME, 2, ""), (0o600, ME, 2, "")),
        ] {
            assert_narrowed(victim, victim, None, expected);
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
