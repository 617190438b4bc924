//! Undoing steps that restored a file: the damaged content returns, and a created file is removed.

use std::os::fd::OwnedFd;

use ftk_file::{Stat, Version};
use ftk_sched::Stop;

use crate::action::ActionKind;
use crate::copy::{Copied, Expected, copy};
use crate::intent::{Intent, Making};
use crate::private::{inside_private, remove_private};
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Seen;
use crate::swap::{delete, replace, restore_name};
use crate::temp::{Temp, remove};
use crate::undo::revoked::{change_of_made, exceeds, safe_metadata};
use crate::undo::{
    Link, Shortfall, Undoing, Undone, begins_with, duplicate, expected_digest, is_recorded_content,
    open_victim, present,
};

impl Undoing {
    /// Undoes a step that replaced a damaged file or created a missing one.
    pub(super) fn restored(&mut self, intent: &Intent, stop: &Stop) -> Result<Undone, ActError> {
        let place = match self.locate(Side::Target, intent) {
            Err(Refusal::Unreadable { source, .. })
                if intent.kind == ActionKind::Create && source.kind() == std::io::ErrorKind::NotFound =>
            {
                return Ok(Undone::AsItWas); // its directory was never created, or is removed
            }
            place => place?,
        };
        let found = present(&place)?;
        let outcome = if let Some(victim) = self.clean_up(intent, &place, found.as_ref(), stop)? {
            self.remember(intent, victim, true);
            Ok(Undone::Restored)
        } else {
            match (intent.kind, found) {
                (ActionKind::Create, None) => Ok(Undone::AsItWas),
                (ActionKind::Create, Some(now)) => remove_created(intent, &place, &now),
                (_, Some(now)) => self.replace_back(intent, &place, &now, stop),
                (_, None) => Err(Refusal::unreadable(Side::Target, "find", rustix::io::Errno::NOENT).into()),
            }
        };
        if !matches!(outcome, Ok(Undone::AsItWas | Undone::LeftExcept(_)) | Err(_)) {
            self.changed.push(place.dir);
        }
        outcome
    }

    /// Removes the private directories that a killed run left next to the directories that it was making. Those that cannot
    /// be reached any more do no harm.
    pub(super) fn clear_private(&mut self, making: &[Making]) {
        for Making { path, root_len, temp } in making {
            if let Ok(place) = self.reach.locate(Side::Target, path, *root_len) {
                _ = remove_private(&place.sibling(temp));
            }
        }
    }

    /// Handles a file that a killed run left under the private name. The damaged file gets its name back, and is returned.
    /// Any other file is a new one that never got its name, or a copy of an earlier undo. It is removed.
    fn clean_up(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
        stop: &Stop,
    ) -> Result<Option<OwnedFd>, ActError> {
        let outside = place.sibling(&intent.temp);
        let aside = inside_private(&outside)?;
        let Some(left) = present(&aside)? else {
            remove_private(&outside)?;
            return Ok(None);
        };
        let is_second_name = found.is_some_and(|now| now.identity() == left.identity());
        if intent.kind == ActionKind::Replace
            && !is_second_name
            && let Some(victim) = open_victim(intent, &aside, stop)?
        {
            match found {
                None => restore_name(place, victim.identity(), &aside)?,
                // The damaged file would give back what was revoked. A copy of the saved content does not.
                Some(now)
                    if is_made(intent, now)
                        && exceeds(intent, &change_of_made(intent, place)?, &victim.file)?
                        && self.is_saved(intent, stop)? =>
                {
                    let removed = remove(&aside, victim.identity());
                    removed
                        .map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
                    remove_private(&outside)?;
                    return Ok(None);
                }
                Some(now) if is_made(intent, now) => {
                    replace(place, now.identity(), Temp::new(aside, victim.identity()), || Ok(()))?;
                }
                Some(_) => return Err(Refusal::Replaced(Side::Target).into()),
            }
            remove_private(&outside)?;
            return Ok(Some(duplicate(&victim)?));
        }
        // A copy of an earlier undo may have the inode number that became free when the victim was removed. Its
        // content distinguishes it from a victim that was rewritten since.
        let is_copy = left.is_regular()
            && (left.identity() != intent.victim.version.identity() || is_second_name || {
                let copied = super::open(Side::Target, aside.clone())?;
                begins_with(&self.saved(intent)?.file, &copied.file, stop)?
            });
        if !is_copy {
            return Err(Refusal::Changed { side: Side::Target, what: "since the run" }.into());
        }
        ensure_other_name(intent, &left)?;
        let removed = remove(&aside, left.identity());
        removed.map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
        remove_private(&outside)?;
        Ok(None)
    }

    /// Replaces the new file with the damaged content.
    fn replace_back(
        &mut self,
        intent: &Intent,
        place: &Place,
        now: &Stat,
        stop: &Stop,
    ) -> Result<Undone, ActError> {
        if intent.is_victim(now, || place.identity(Side::Target))? {
            return Ok(Undone::AsItWas);
        }
        if !is_made(intent, now) {
            // A copy of an earlier undo may have the inode number that became free when the victim was removed.
            return self.is_undone(intent, place, now, stop);
        }
        ensure_other_name(intent, now)?;
        let saved = self.saved(intent)?;
        let change = change_of_made(intent, place)?;
        let (metadata, shortfall) = safe_metadata(intent, &saved, &change)?;
        // If this undo is killed, the next one recognises the file by this name.
        let aside = place.sibling(&intent.temp);
        let links = self.links_lost(intent);
        let (file, temp, shortfall) = match self.link_copy(intent, &aside, &change, stop)? {
            Link::Made(file, temp, shortfall) => (file, temp, shortfall),
            link => {
                let mut shortfall = Shortfall { apart: matches!(link, Link::Impossible), ..shortfall };
                let expected = expected_digest(intent)?;
                let copied = copy(&saved, aside, &metadata, Expected::Digest(&expected), stop);
                let Copied { file, temp, is_complete, .. } =
                    copied.map_err(|error| error.with_source(Side::Saved))?;
                shortfall.permission = !is_complete;
                if let Err(error) = self.note_made(intent, &file, &shortfall) {
                    return Err(temp.discard(error));
                }
                (file, temp, shortfall)
            }
        };
        replace(place, now.identity(), temp, || Ok(()))?;
        self.remember(intent, file, false);
        Ok(Shortfall { links, ..shortfall }.undone())
    }

    /// Returns whether the damaged content is saved.
    fn is_saved(&mut self, intent: &Intent, stop: &Stop) -> Result<bool, ActError> {
        let saved = self.saved(intent).ok();
        saved.map_or(Ok(false), |saved| is_recorded_content(intent, &saved, stop))
    }

    /// Opens the saved content of the damaged file.
    pub(super) fn saved(&mut self, intent: &Intent) -> Result<Held, ActError> {
        let saved = intent.saved.as_ref().ok_or(Refusal::NotSaved)?;
        let seen = Seen { path: saved.path.clone(), root_len: saved.root_len, version: Version::default() };
        let held = self.reach.open(Side::Saved, &seen)?;
        if held.stat.size != intent.victim.version.size {
            return Err(Refusal::Changed { side: Side::Saved, what: "its size" }.into());
        }
        Ok(held)
    }
}

/// Removes a file that the step created, unless it has changed since.
fn remove_created(intent: &Intent, place: &Place, now: &Stat) -> Result<Undone, ActError> {
    ensure_created(intent, now)?;
    delete(place, now.identity(), &place.sibling(&intent.temp), || {
        match place.sibling(&intent.temp).stat() {
            Ok(now) if !is_made(intent, &now) => {
                Err(Refusal::Changed { side: Side::Target, what: "since the run" })
            }
            _ => Ok(()),
        }
    })?;
    Ok(Undone::Removed)
}

/// Refuses to remove a file that the step did not create, or that has changed since.
pub(super) fn ensure_created(intent: &Intent, now: &Stat) -> Result<(), Refusal> {
    // Without a record of the file, the step was never performed.
    if intent.made.as_ref().is_none_or(|made| made.version.identity() != now.identity()) {
        return Err(Refusal::Replaced(Side::Target));
    }
    if !is_made(intent, now) {
        return Err(Refusal::Changed { side: Side::Target, what: "since the run" });
    }
    ensure_other_name(intent, now)
}

/// Refuses to remove a name that is a link of a file of the tree, if that file has lost its other names since the run.
pub(super) fn ensure_other_name(intent: &Intent, now: &Stat) -> Result<(), Refusal> {
    let is_linked = now.identity() == intent.keeper.version.identity();
    match is_linked && now.nlink == 1 {
        true => Err(Refusal::Changed { side: Side::Target, what: "it has no other name any more" }),
        false => Ok(()),
    }
}

/// Returns whether this is the file that the step made, with the same content.
pub(super) fn is_made(intent: &Intent, now: &Stat) -> bool {
    let made = intent.made.as_ref();
    made.is_some_and(|made| now.is_regular() && made.version.is_same_except_ctime(now))
}
