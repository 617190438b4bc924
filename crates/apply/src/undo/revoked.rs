//! Which access was revoked after the run, and what a restored file may grant.

use std::io::ErrorKind;
use std::os::fd::AsFd;

use ftk_file::Stat;
use rustix::process::geteuid;

use crate::action::ActionKind;
use crate::exposed::{is_exposed, is_trusted_path};
use crate::intent::Intent;
use crate::metadata::{Access, Change, Metadata, Narrowed};
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Seen;
use crate::stat::birth_of;
use crate::undo::{Shortfall, Undoing, identify, open, present};

impl Undoing {
    /// Finds out what was revoked after the run: from the file at the path for a hard link, or else from the keeper.
    pub(super) fn change(&mut self, intent: &Intent, place: &Place) -> Result<Change, ActError> {
        let Some(proof) = &intent.proof else {
            let before = Access::in_metadata(&intent.metadata);
            return Ok(Change { now: Some(before.clone()), before });
        };
        let before = proof.keeper_access.with(proof.keeper_mode, &intent.metadata);
        let Seen { path, root_len, .. } = &intent.keeper;
        let place = match intent.kind {
            ActionKind::Hardlink => place.clone(),
            _ => match self.reach.locate(Side::Keeper, path, *root_len) {
                Ok(place) => place,
                Err(Refusal::Unreadable { side, op, source }) if source.kind() != ErrorKind::NotFound => {
                    return Err(Refusal::Unreadable { side, op, source }.into());
                }
                // It is gone. Nothing was revoked if no other user can have removed it.
                Err(_) => {
                    let now = is_trusted_path(self.reach.base(), path)?.then(|| before.clone());
                    return Ok(Change { before, now });
                }
            },
        };
        let held = present(&place)?.filter(Stat::is_regular).map(|_| open(Side::Keeper, place.clone()));
        let held = held.transpose()?;
        let is_keeper = held.as_ref().map_or(Ok(false), |held| self.is_keeper(intent, held))?;
        let now = match held {
            _ if !is_keeper && is_exposed(&place.dir)? => None,
            Some(held) => Some(access(Side::Keeper, &held)?),
            None => Some(before.clone()),
        };
        Ok(Change { before, now })
    }

    /// Returns whether an open file is the keeper of the run, or the one that an undo has made in its place. Its number alone
    /// does not tell: another user could have made a new file with the same one.
    fn is_keeper(&self, intent: &Intent, held: &Held) -> Result<bool, Refusal> {
        let keeper = &intent.keeper.version;
        let birth_ns = intent.proof.as_ref().and_then(|proof| proof.keeper_birth_ns);
        let unidentified = |errno| Refusal::unreadable(Side::Keeper, "identify", errno);
        if held.stat.version() == *keeper
            || held.identity() == keeper.identity()
                && birth_ns.is_some()
                && birth_ns == birth_of(&held.file).map_err(unidentified)?
        {
            return Ok(true);
        }
        let identity = identify(held)?;
        let replacements = self.replacements.get(&keeper.identity()).into_iter().flatten();
        Ok(identity.birth_ns.is_some() && replacements.into_iter().any(|made| made.is_same(&identity)))
    }
}

/// Finds out what was revoked from the new file after the run. An earlier ftk did not record what the file granted when it got
/// its name: then that is what the damaged file granted.
pub(super) fn change_of_made(intent: &Intent, place: &Place) -> Result<Change, ActError> {
    let made = intent.made.as_ref();
    let access_of_made = made.and_then(|made| made.access.clone());
    let before = access_of_made.unwrap_or_else(|| Access::in_metadata(&intent.metadata.without_rights()));
    let held = open(Side::Target, place.clone())?;
    let birth_ns = birth_of(&held.file);
    let birth_ns = birth_ns.map_err(|errno| Refusal::unreadable(Side::Target, "identify", errno))?;
    let is_known =
        birth_ns.is_some() && birth_ns == made.and_then(|made| made.birth_ns) || !is_exposed(&place.dir)?;
    let now = is_known.then(|| access(Side::Target, &held)).transpose()?;
    Ok(Change { before, now })
}

/// Returns which owner and permissions a file lacks that an undo has made, or to which another name is linked.
pub(super) fn shortfall_of(intent: &Intent, now: &Stat) -> Shortfall {
    let Metadata { uid, gid, .. } = intent.metadata;
    let is_root = geteuid().is_root();
    Shortfall {
        narrower: intent.metadata.is_narrowed(now).then_some(now.mode),
        owner: (is_root && now.uid != uid).then_some(now.uid),
        permission: !is_root && (now.uid, now.gid) != (uid, gid),
        ..Shortfall::default()
    }
}

/// Returns whether access was revoked after the run that an open file grants.
pub(super) fn exceeds(intent: &Intent, change: &Change, file: impl AsFd) -> Result<bool, ActError> {
    let mut allowed = intent.metadata.clone();
    let is_changed = allowed.narrow(change) != Narrowed::default();
    let exceeds = is_changed.then(|| allowed.is_exceeded_by(file)).transpose();
    let exceeds =
        exceeds.map_err(|error| ActError::failed("read the attributes of the other name", error))?;
    Ok(exceeds == Some(true))
}

/// Returns the present access to an open file.
pub(super) fn access(side: Side, held: &Held) -> Result<Access, Refusal> {
    Access::of(held).map_err(|error| Refusal::unreadable(side, "read the attributes of", error))
}

/// Returns the metadata to restore if the content comes from `source`, and in what it falls short.
pub(super) fn safe_metadata(
    intent: &Intent,
    source: &Held,
    change: &Change,
) -> Result<(Metadata, Shortfall), ActError> {
    let safe = intent.metadata.without_new_rights(source);
    let mut safe =
        safe.map_err(|error| Refusal::unreadable(Side::Keeper, "read the attributes of", error))?;
    let rights = safe != intent.metadata;
    let Narrowed { mode: narrower, owner, acl: access_list } = safe.narrow(change);
    Ok((safe, Shortfall { rights, narrower, owner, access_list, ..Shortfall::default() }))
}
