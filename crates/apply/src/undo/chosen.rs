//! Undoing steps that moved an entry which the user had chosen, and what a killed deletion has left.

use ftk_file::Stat;

use crate::action::ActionKind;
use crate::intent::Intent;
use crate::private::{left_inside, remove_private};
use crate::reach::Place;
use crate::refusal::{ActError, Refusal, Side};
use crate::swap::{displace, restore_name};
use crate::undo::tree::{changed, stat_of};
use crate::undo::{Undoing, Undone, present};

impl Undoing {
    /// Moves a chosen entry back. A directory comes back with what is in it now. A deletion cannot be undone, but what a killed
    /// one has left gets its name again.
    pub(super) fn chosen(&mut self, intent: &Intent) -> Result<Undone, ActError> {
        let place = self.locate(Side::Victim, intent)?;
        let is_entry = |now: &Stat, at: &Place| intent.is_victim(now, || at.identity(Side::Victim));
        let found = present(&place)?;
        if let Some(now) = &found
            && is_entry(now, &place)?
        {
            self.clear_moved(intent);
            return Ok(Undone::AsItWas);
        }
        // A killed deletion or undo has renamed it next to its old name, or into a private directory there.
        let aside = place.sibling(&intent.temp);
        let left = match present(&aside)? {
            Some(now) if is_entry(&now, &aside)? => Some(aside.clone()),
            _ => left_inside(&aside, &place.name)?,
        };
        if let Some(left) = left {
            let now = stat_of(&left)?;
            let stays = |refusal: Refusal| {
                ActError::from(refusal).leaving(place.name.to_bytes()).left_inside(aside.name.to_bytes())
            };
            if !is_entry(&now, &left)? {
                return Err(stays(changed()));
            }
            if found.is_some() {
                return Err(stays(Refusal::NameExists));
            }
            restore_name(&place, now.identity(), &left)?;
            remove_private(&aside)?;
            self.changed.push(place.dir);
            return Ok(Undone::Restored);
        }
        if intent.kind == ActionKind::DeleteEntry {
            return Err(Refusal::Gone.into());
        }
        let mut moved = self.locate_moved(intent)?;
        // A run was killed before the entry got its new name.
        if let Some(inside) = left_inside(&moved.sibling(&intent.temp), &moved.name)?
            && is_entry(&stat_of(&inside)?, &inside)?
        {
            moved = inside;
        }
        let stat = stat_of(&moved)?;
        if !is_entry(&stat, &moved)? {
            return Err(changed().into());
        }
        if found.is_some() {
            return Err(Refusal::NameExists.into());
        }
        displace(&moved, stat.identity(), &place, &intent.temp, |now| {
            is_entry(&stat_of(now)?, now)?.then_some(()).ok_or_else(changed)
        })?;
        self.clear_moved(intent);
        self.changed.push(place.dir);
        Ok(Undone::Restored)
    }
}
