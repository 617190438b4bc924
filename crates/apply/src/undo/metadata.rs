//! Undoing steps that put back recorded metadata.

use ftk_file::FileType;
use rustix::process::geteuid;

use crate::entry::Entry;
use crate::exposed::ensure_trusted_above;
use crate::intent::Intent;
use crate::metadata::Metadata;
use crate::refusal::{ActError, Refusal, Side};
use crate::undo::{Shortfall, Undoing, Undone};

impl Undoing {
    /// Notes whether the time of a directory is one that the run or an earlier undo has set, before this undo changes names in
    /// it. A caller who is not root needs the old permissions for that, so they are given first.
    pub(super) fn begin_directory(&mut self, intent: &Intent) {
        let times = [&intent.metadata, new_metadata(intent)].map(|it| it.mtime_ns);
        if let Ok(entry) = self.open_set(intent)
            && times.contains(&entry.stat.mtime_ns)
        {
            self.untouched.insert(intent.step);
            if !geteuid().is_root()
                && let Ok((safe, now)) = old_metadata(intent, &entry)
                && !safe.is_same(&now)
            {
                // If this fails, it is tried again in the step.
                _ = entry.set_access(&safe);
            }
        }
    }

    /// Opens an entry that got recorded metadata.
    pub(super) fn open_set(&mut self, intent: &Intent) -> Result<Entry, ActError> {
        let place = self.locate(Side::Target, intent)?;
        let entry = Entry::open(Side::Target, place)?;
        let identity = entry.identity(Side::Target)?;
        let recorded = intent.proof.as_ref().and_then(|proof| proof.victim).ok_or(Refusal::NoDigest)?;
        if !recorded.is_same_inode(&identity) {
            return Err(Refusal::Replaced(Side::Target).into());
        }
        if recorded.birth_ns.is_none() || identity.birth_ns.is_none() {
            ensure_trusted_above(&entry.place.dir)?;
        }
        Ok(entry)
    }

    /// Gives an entry the metadata that it had, unless something else has changed it since the run.
    pub(super) fn set_metadata(&mut self, intent: &Intent) -> Result<Undone, ActError> {
        let entry = self.open_set(intent)?;
        let old = &intent.metadata;
        let (mut safe, now) = old_metadata(intent, &entry)?;
        let is_directory = entry.stat.file_type == FileType::Directory;
        if is_directory && !self.untouched.contains(&intent.step) {
            safe.mtime_ns = now.mtime_ns; // its entries have changed since
        }
        let shortfall = Shortfall { rights: old.has_rights_beyond(&safe), ..Shortfall::default() };
        if safe.is_same(&now) {
            return Ok(match shortfall.rights {
                true => Undone::LeftExcept(shortfall),
                false => Undone::AsItWas,
            });
        }
        entry.set_access(&safe)?;
        if safe.mtime_ns != now.mtime_ns {
            entry.set_time(safe.mtime_ns)?;
        }
        self.set.push(entry.place.dir);
        Ok(shortfall.undone())
    }
}

/// Returns the metadata that a step gave to an entry.
fn new_metadata(intent: &Intent) -> &Metadata {
    intent.set.as_ref().expect("the intent has the new metadata")
}

/// Returns the metadata that an entry had, without rights that it lacks, and that which it has.
///
/// # Errors
/// If it has anything that neither the run nor an undo has given it.
pub(super) fn old_metadata(intent: &Intent, entry: &Entry) -> Result<(Metadata, Metadata), ActError> {
    let (old, now) = (&intent.metadata, entry.metadata(Side::Target)?);
    let is_directory = entry.stat.file_type == FileType::Directory;
    let has_size = is_directory || entry.stat.size == intent.victim.version.size;
    if !has_size || !now.is_between(old, new_metadata(intent), !is_directory) {
        return Err(Refusal::Changed { side: Side::Target, what: "since the run" }.into());
    }
    Ok((old.without_gained_rights(&now, entry.stat.file_type), now))
}
