//! Undoing steps that put back recorded metadata.

use ftk_file::FileType;

use crate::entry::Entry;
use crate::exposed::ensure_trusted_above;
use crate::intent::Intent;
use crate::refusal::{ActError, Refusal, Side};
use crate::undo::{Shortfall, Undoing, Undone};

impl Undoing {
    /// Gives an entry the metadata that it had, unless something else has changed it since the run.
    pub(super) fn set_metadata(&mut self, intent: &Intent) -> Result<Undone, ActError> {
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
        let (old, new) = (&intent.metadata, intent.set.as_ref().expect("the intent has the new metadata"));
        let now = entry.metadata(Side::Target)?;
        let is_directory = entry.stat.file_type == FileType::Directory;
        let has_size = is_directory || entry.stat.size == intent.victim.version.size;
        if !has_size || !now.is_between(old, new, !is_directory) {
            return Err(Refusal::Changed { side: Side::Target, what: "since the run" }.into());
        }
        let mut safe = old.without_gained_rights(&now, entry.stat.file_type);
        if is_directory && now.mtime_ns != new.mtime_ns {
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
