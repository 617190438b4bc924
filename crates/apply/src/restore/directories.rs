//! Missing directories of restored files.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use ftk_file::{FileType, Identity, Stat, permissions, temp_name};
use rustix::fs::{Gid, Mode, Uid, fchmod, fchown, openat};
use rustix::io::Errno;

use crate::durable::sync_names;
use crate::exposed::ensure_trusted_above;
use crate::intent::Making;
use crate::journal::Journal;
use crate::metadata::{is_access_list, set_attributes, set_times};
use crate::private::Unnamed;
use crate::reach::{Place, READABLE, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::restore::RestoreName;
use crate::restore::recorded::RecordedMetadata;
use crate::sys::sync;

/// The permissions of a directory whose record has none, and of all while files are restored in them.
const PRIVATE: u32 = 0o700;

/// The directory nearest to a missing name that exists, as the caller saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearestDirectory {
    /// How many bytes of the path are the path of the directory.
    pub len: usize,
    /// Which directory it is.
    pub identity: Identity,
}

/// Creates missing directories with their recorded metadata.
///
/// A file is restored only in a directory that the caller of the engine saw, or that this made below one. Another
/// directory that has the name meanwhile is refused.
#[derive(Debug)]
pub(super) struct Directories {
    recorded: BTreeMap<Vec<u8>, RecordedMetadata>,
    /// The private names of directories that are to be made, by their paths.
    planned: BTreeMap<Vec<u8>, CString>,
    /// The directories that were made, by their paths.
    made: BTreeMap<Vec<u8>, Made>,
}

/// A directory that was made. While files are restored in it, the caller may write to it.
#[derive(Debug)]
struct Made {
    root_len: usize,
    identity: Identity,
    /// Its state once its metadata is set.
    is_finished: bool,
}

impl Directories {
    pub(super) fn new(recorded: BTreeMap<Vec<u8>, RecordedMetadata>) -> Self {
        Self { recorded, planned: BTreeMap::new(), made: BTreeMap::new() }
    }

    /// Adds the directories that are missing above these names to the journal. Returns whether there are any: then it must be
    /// synced before they are made.
    pub(super) fn plan<'n>(
        &mut self,
        reach: &mut Reach,
        names: impl Iterator<Item = &'n RestoreName>,
        journal: &mut Journal,
    ) -> bool {
        let before = self.planned.len();
        for name in names {
            for path in missing_above(name) {
                if !self.planned.contains_key(path) {
                    let making = Making { path: path.to_vec(), root_len: name.root_len, temp: temp_name() };
                    // Opens the starting point, whose identity goes to the journal.
                    _ = reach.locate(Side::Target, path, name.root_len);
                    journal.making(&making, reach);
                    self.planned.insert(making.path, making.temp);
                }
            }
        }
        self.planned.len() > before
    }

    /// Opens the directory of a missing name, and makes those that are missing above it.
    pub(super) fn place(&mut self, reach: &mut Reach, name: &RestoreName) -> Result<Place, ActError> {
        let mut expected = name.directory.map(|nearest| nearest.identity);
        for path in missing_above(name) {
            if !self.made.contains_key(path) {
                let place = open_in(reach, path, name.root_len, expected)?;
                self.make(path, name.root_len, &place)?;
            }
            expected = Some(self.made[path].identity);
        }
        open_in(reach, &name.path, name.root_len, expected)
    }

    /// Makes a directory. Until its files are restored, it is private.
    fn make(&mut self, path: &[u8], root_len: usize, place: &Place) -> Result<(), ActError> {
        match place.stat() {
            Err(Errno::NOENT) => {}
            Err(errno) => {
                return Err(Refusal::unreadable(Side::Target, "open the directory of", errno).into());
            }
            Ok(found) => return Err(not_ours(found.file_type).into()),
        }
        let aside = place.sibling(&self.planned[path]);
        let new = Unnamed::directory(aside)?;
        let identity = *new.identity();
        // Without a time of birth, a directory that another user puts in its place can have the same inode number.
        if identity.birth_ns.is_none()
            && let Err(refusal) = ensure_trusted_above(&place.dir)
        {
            return Err(new.discard(refusal.into()));
        }
        let dir = match new.give_name(place) {
            Err(ActError::Refused(Refusal::NameExists)) => return Err(Refusal::Replaced(Side::Target).into()),
            dir => dir?,
        };
        let failed = |errno| ActError::failed("set the owner and permissions of the directory", errno);
        self.made.insert(path.to_vec(), Made { root_len, identity, is_finished: false });
        let default = RecordedMetadata::default();
        let recorded = self.recorded.get(path).unwrap_or(&default);
        let (uid, gid) = recorded.owner();
        fchown(&dir, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).map_err(failed)?;
        let mode = recorded.permissions().unwrap_or(PRIVATE) | PRIVATE;
        fchmod(&dir, permissions(mode)).map_err(failed)
    }

    /// Sets the recorded permissions and times of all directories that were made, when all files are restored.
    pub(super) fn finish(&mut self, reach: &mut Reach) -> io::Result<()> {
        let mut outcome = Ok(());
        // Those below come first: a directory may become inaccessible.
        for (path, made) in self.made.iter_mut().rev().filter(|(_, made)| !made.is_finished) {
            outcome = outcome.and(finish(reach, path, made, self.recorded.get(path)));
        }
        outcome
    }
}

/// Returns the refusal for an entry that has the name of a missing directory.
fn not_ours(file_type: FileType) -> Refusal {
    match file_type {
        FileType::Symlink => Refusal::Link(Side::Target),
        FileType::Directory => Refusal::Replaced(Side::Target),
        // Any future type is no directory either.
        _ => Refusal::unreadable(Side::Target, "open the directory of", Errno::NOTDIR),
    }
}

/// Returns the paths of the directories that are missing above a name, the outermost first.
fn missing_above(name: &RestoreName) -> impl Iterator<Item = &[u8]> {
    let start = name.directory.map_or(name.root_len, |nearest| nearest.len) + 1;
    let slashes = name.path.iter().enumerate().skip(start).filter(|(_, byte)| **byte == b'/');
    slashes.map(|(end, _)| &name.path[..end])
}

/// Opens the directory of a path, which must be the expected one.
fn open_in(
    reach: &mut Reach,
    path: &[u8],
    root_len: usize,
    expected: Option<Identity>,
) -> Result<Place, ActError> {
    let place = reach.locate(Side::Target, path, root_len)?;
    let found = place.directory(Side::Target)?;
    match expected {
        Some(expected) if !expected.is_same_inode(&found) => Err(Refusal::Replaced(Side::Target).into()),
        _ => Ok(place),
    }
}

fn finish(
    reach: &mut Reach,
    path: &[u8],
    made: &mut Made,
    recorded: Option<&RecordedMetadata>,
) -> io::Result<()> {
    let place = reach.locate(Side::Target, path, made.root_len).map_err(io::Error::other)?;
    let dir = open(&place)?;
    if !made.identity.is_same_inode(&Identity::of(&dir)?) {
        return Ok(()); // it was renamed or replaced, and is no longer ours
    }
    if let Some(recorded) = recorded {
        if recorded.attributes.is_some() {
            let (now, mut all) = (Stat::of(&dir)?, recorded.safe_attributes(true));
            // For another owner or group, a list would hold for other users.
            if recorded.uid.is_some_and(|uid| uid != now.uid)
                || recorded.gid.is_some_and(|gid| gid != now.gid)
            {
                all.retain(|attribute| !is_access_list(attribute));
            }
            set_attributes(&dir, &all)?;
        }
        if let Some(mode) = recorded.permissions() {
            fchmod(&dir, permissions(mode))?;
        }
        if let Some(mtime_ns) = recorded.mtime_ns {
            set_times(&dir, mtime_ns, mtime_ns)?;
        }
    }
    made.is_finished = true;
    sync(&dir)?;
    Ok(sync_names(&[place.dir])?)
}

/// Opens a directory for a change of its metadata, which a descriptor for look-ups does not permit.
fn open(place: &Place) -> Result<OwnedFd, Errno> {
    openat(&place.dir, &place.name, READABLE, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_directories_begin_below_the_nearest_one() {
        let identity = Identity::of(std::fs::File::open(".").unwrap()).unwrap();
        for (path, root_len, nearest, expected) in [
            ("t/a/b/x", 1, None, &["t/a", "t/a/b"][..]),
            ("t/a/b/x", 1, Some(1), &["t/a", "t/a/b"]),
            ("t/a/b/x", 1, Some(3), &["t/a/b"]),
            ("t/a/b/x", 1, Some(5), &[]),
            ("t/x", 1, None, &[]),
            ("t/a/x", 2, Some(2), &["t/a"]),
            ("/a/b/x", 1, Some(1), &["/a", "/a/b"]),
            ("./a/x", 1, Some(1), &["./a"]),
        ] {
            let directory = nearest.map(|len| NearestDirectory { len, identity });
            let name = RestoreName { path: path.into(), root_len, damaged: None, directory };
            let missing: Vec<_> = missing_above(&name).collect();
            let expected: Vec<_> = expected.iter().map(|path| path.as_bytes()).collect();
            assert_eq!(missing, expected, "{path} {nearest:?}");
        }
    }
}
