//! Missing directories of restored files.

use std::collections::BTreeMap;
use std::io;

use ftk_file::Stat;
use rustix::fs::{Gid, Mode, OFlags, Uid, fchmod, fchown, fsync, mkdirat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::durable::sync_names;
use crate::metadata::set_times;
use crate::reach::{DIRECTORY, Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::restore::recorded::RecordedMetadata;

/// The permissions of a directory whose record has none.
const PRIVATE: u32 = 0o700;

/// Creates missing directories with their recorded metadata.
#[derive(Debug)]
pub(super) struct Directories {
    recorded: BTreeMap<Vec<u8>, RecordedMetadata>,
    /// The directories that were created, those above first.
    made: Vec<Made>,
}

/// A directory that was created. While files are restored in it, the caller may write to it.
#[derive(Debug)]
struct Made {
    path: Vec<u8>,
    root_len: usize,
    identity: (u64, u64),
}

impl Directories {
    pub(super) fn new(recorded: BTreeMap<Vec<u8>, RecordedMetadata>) -> Self {
        Self { recorded, made: Vec::new() }
    }

    /// Opens the directory of a path, and creates missing directories below the starting point. No symbolic
    /// link below the starting point is followed.
    pub(super) fn place(
        &mut self,
        reach: &mut Reach,
        path: &[u8],
        root_len: usize,
    ) -> Result<Place, ActError> {
        match reach.locate(Side::Target, path, root_len) {
            Err(Refusal::Unreadable { source, .. })
                if Errno::from_io_error(&source) == Some(Errno::NOENT) => {}
            located => return Ok(located?),
        }
        let ends = path.iter().enumerate().skip(root_len + 1).filter(|(_, byte)| **byte == b'/');
        for (end, _) in ends {
            self.make(reach, &path[..end], root_len)?;
        }
        Ok(reach.locate(Side::Target, path, root_len)?)
    }

    /// Creates a directory unless it exists.
    fn make(&mut self, reach: &mut Reach, path: &[u8], root_len: usize) -> Result<(), ActError> {
        let place = reach.locate(Side::Target, path, root_len)?;
        match mkdirat(&place.dir, &place.name, Mode::RWXU) {
            Err(Errno::EXIST) => return Ok(()),
            made => made.map_err(|errno| ActError::failed("make the directory", errno))?,
        }
        let failed = |errno| ActError::failed("set the owner and permissions of the directory", errno);
        let (dir, stat) = open(&place).map_err(failed)?;
        // Another program may have put its own directory here since.
        if stat.uid != geteuid().as_raw() || stat.mode & 0o777 != PRIVATE {
            return Err(Refusal::Replaced(Side::Target).into());
        }
        let default = RecordedMetadata::default();
        let recorded = self.recorded.get(path).unwrap_or(&default);
        let (uid, gid) = recorded.owner();
        fchown(&dir, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))).map_err(failed)?;
        let mode = recorded.permissions().unwrap_or(PRIVATE) | PRIVATE;
        fchmod(&dir, Mode::from_raw_mode(mode)).map_err(failed)?;
        self.made.push(Made { path: path.to_vec(), root_len, identity: stat.identity() });
        Ok(())
    }

    /// Sets the recorded permissions and times of all created directories, when all files are restored.
    pub(super) fn finish(&mut self, reach: &mut Reach) -> io::Result<()> {
        let mut outcome = Ok(());
        // Those below come first: a directory may become inaccessible.
        for made in std::mem::take(&mut self.made).into_iter().rev() {
            outcome = outcome.and(self.finish_one(reach, &made));
        }
        outcome
    }

    fn finish_one(&self, reach: &mut Reach, made: &Made) -> io::Result<()> {
        let place = reach.locate(Side::Target, &made.path, made.root_len).map_err(io::Error::other)?;
        let (dir, stat) = open(&place)?;
        if stat.identity() != made.identity {
            return Ok(()); // it was renamed or replaced, and is no longer ours
        }
        if let Some(recorded) = self.recorded.get(&made.path) {
            if let Some(mode) = recorded.permissions() {
                fchmod(&dir, Mode::from_raw_mode(mode))?;
            }
            if let Some(mtime_ns) = recorded.mtime_ns {
                set_times(&dir, mtime_ns, mtime_ns)?;
            }
        }
        fsync(&dir)?;
        Ok(sync_names(&[place.dir])?)
    }
}

/// Opens a directory for a change of its metadata, which a descriptor for look-ups does not permit.
fn open(place: &Place) -> Result<(std::os::fd::OwnedFd, Stat), Errno> {
    let flags = (DIRECTORY - OFlags::PATH) | OFlags::NOFOLLOW;
    let dir = openat(&place.dir, &place.name, flags, Mode::empty())?;
    let stat = Stat::of(&dir)?;
    Ok((dir, stat))
}
