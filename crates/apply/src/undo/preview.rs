//! What undo would do: the checks of an undo that changes nothing.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;

use ftk_file::Stat;
use ftk_sched::Stop;
use rustix::fs::{Access, AtFlags, accessat};
use rustix::io::Errno;

use crate::action::ActionKind;
use crate::history::JournalError;
use crate::intent::Intent;
use crate::private::left_inside;
use crate::reach::Place;
use crate::refusal::{ActError, Refusal, Side};
use crate::undo::begin::{Begun, UndoOptions, begin};
use crate::undo::metadata::old_metadata;
use crate::undo::names::VictimKey;
use crate::undo::order::{Undo, in_order};
use crate::undo::restored::{ensure_created, ensure_other_name, is_made};
use crate::undo::tree::{changed, is_link, stat_of};
use crate::undo::{Undoing, expected_digest, is_recorded_content, is_set_directory, present};

/// What undo would do with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreseen {
    /// It would restore the file, link or directory, provided that the content it comes from is unchanged.
    Restore,
    /// It would remove the file that the step created.
    Remove,
    /// There is nothing to undo.
    Nothing,
}

/// Calls `report` with what [`undo_with`](crate::undo_with) would do with each step that is not undone, in its order.
/// Nothing is changed.
///
/// The checks are those of the undo, except that a file with the recorded size and times is not read. What a killed run
/// or undo has left under a private name is not examined: undo decides about it.
///
/// # Errors
/// If the journal cannot be read or is invalid, its working directory cannot be opened or is another one, or the memory
/// does not suffice.
pub fn preview(
    journal: File,
    options: UndoOptions,
    stop: &Stop,
    mut report: impl FnMut(&Undo, Result<Foreseen, ActError>),
) -> Result<(), JournalError> {
    let Begun { mut undoing, steps, undone, .. } = begin(journal, options)?;
    let mut coming = HashSet::new();
    for intent in in_order(&steps) {
        if undone.contains_key(&intent.step) && !undoing.has_other_names(intent) {
            continue;
        }
        let foreseen = match stop.is_raised() {
            true => Err(ActError::Stopped),
            false => undoing.foresee(intent, &coming, stop),
        };
        if intent.kind == ActionKind::RemoveDirectory && matches!(foreseen, Ok(Foreseen::Restore)) {
            coming.insert(&*intent.victim.path);
        }
        report(&Undo::of(intent), foreseen);
    }
    Ok(())
}

/// Checks that the caller may change names in the directory of a place, as far as permissions and the mount tell.
fn ensure_writable(place: &Place) -> Result<(), ActError> {
    let access = accessat(&place.dir, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
    access.map_err(|errno| ActError::failed("write to its directory", errno))
}

impl Undoing {
    /// `coming`: the directories that would be made again before this step.
    fn foresee(
        &mut self,
        intent: &Intent,
        coming: &HashSet<&[u8]>,
        stop: &Stop,
    ) -> Result<Foreseen, ActError> {
        let side = match intent.kind {
            ActionKind::Reflink => return Ok(Foreseen::Nothing),
            ActionKind::SetMetadata => return self.foresee_metadata(intent),
            kind if kind.makes_a_file() => Side::Target,
            _ => Side::Victim,
        };
        let path = &intent.victim.path;
        let parent = path.iter().rposition(|&byte| byte == b'/').map_or(&b""[..], |at| &path[..at]);
        if coming.contains(parent) {
            return self.foresee_free(intent, None, stop);
        }
        let place = match self.locate(side, intent) {
            // Its directory was never created, or is removed.
            Err(Refusal::Unreadable { source, .. })
                if intent.kind == ActionKind::Create && source.kind() == ErrorKind::NotFound =>
            {
                return Ok(Foreseen::Nothing);
            }
            place => place?,
        };
        let foreseen = match present(&place)? {
            _ if present(&place.sibling(&intent.temp))?.is_some() => Foreseen::Restore,
            Some(now) => self.foresee_taken(intent, &place, &now, stop)?,
            None => self.foresee_free(intent, Some(&place), stop)?,
        };
        if foreseen != Foreseen::Nothing {
            ensure_writable(&place)?;
        }
        Ok(foreseen)
    }

    /// Foresees a step whose name is free. `place`: `None` if the directory is still to be made.
    fn foresee_free(
        &mut self,
        intent: &Intent,
        place: Option<&Place>,
        stop: &Stop,
    ) -> Result<Foreseen, ActError> {
        match intent.kind {
            ActionKind::Create => return Ok(Foreseen::Nothing),
            ActionKind::Delete => self.ensure_source(intent, place, stop)?,
            ActionKind::DeleteEntry => return Err(Refusal::Gone.into()),
            _ if intent.to.is_some() => self.ensure_moved(intent)?,
            ActionKind::RemoveDirectory | ActionKind::RemoveLink => {}
            _ => return Err(Refusal::unreadable(Side::Victim, "find", Errno::NOENT).into()),
        }
        Ok(Foreseen::Restore)
    }

    /// Foresees a step whose name is in use.
    fn foresee_taken(
        &mut self,
        intent: &Intent,
        place: &Place,
        now: &Stat,
        stop: &Stop,
    ) -> Result<Foreseen, ActError> {
        let is_as_it_was = match intent.kind {
            ActionKind::Create => false,
            ActionKind::RemoveLink => is_link(intent, now, place)?,
            _ => intent.is_victim(now, || place.identity(Side::Victim))?,
        };
        if is_as_it_was {
            return Ok(Foreseen::Nothing);
        }
        match intent.kind {
            ActionKind::Create => {
                ensure_created(intent, now)?;
                return Ok(Foreseen::Remove);
            }
            ActionKind::Replace if is_made(intent, now) => {
                ensure_other_name(intent, now)?;
                self.saved(intent)?;
            }
            ActionKind::Hardlink | ActionKind::Symlink if self.is_replacement(intent, place, now)? => {
                self.ensure_source(intent, Some(place), stop)?;
            }
            ActionKind::RemoveDirectory => match self.remade.get(&intent.step) {
                Some(made) if made.is_same_inode(&place.identity(Side::Victim)?) => {}
                _ => return Err(Refusal::Replaced(Side::Victim).into()),
            },
            ActionKind::DeleteEntry => return Err(Refusal::Gone.into()),
            _ if intent.to.is_some() => {
                self.ensure_moved(intent)?;
                return Err(Refusal::NameExists.into());
            }
            ActionKind::RemoveLink => return Err(Refusal::Replaced(Side::Victim).into()),
            _ => {
                self.is_undone(intent, place, now, stop)?;
                return Ok(Foreseen::Nothing);
            }
        }
        Ok(Foreseen::Restore)
    }

    fn foresee_metadata(&mut self, intent: &Intent) -> Result<Foreseen, ActError> {
        let entry = self.open_set(intent)?;
        let (mut safe, now) = old_metadata(intent, &entry)?;
        if is_set_directory(intent) {
            safe.mtime_ns = now.mtime_ns; // alone, it is not worth a line
        }
        Ok(if safe.is_same(&now) { Foreseen::Nothing } else { Foreseen::Restore })
    }

    /// Checks that a moved entry is where the run left it, unchanged.
    fn ensure_moved(&mut self, intent: &Intent) -> Result<(), ActError> {
        let moved = self.locate_moved(intent)?;
        if left_inside(&moved.sibling(&intent.temp), &moved.name)?.is_some() {
            return Ok(());
        }
        let now = stat_of(&moved)?;
        let is_moved = match intent.kind {
            ActionKind::RemoveLink => is_link(intent, &now, &moved)?,
            _ => intent.is_victim(&now, || moved.identity(Side::Victim))?,
        };
        is_moved.then_some(()).ok_or_else(changed)?;
        ensure_writable(&moved)
    }

    /// Checks that the content can be copied from the keeper or, for a deleted file, from another copy.
    fn ensure_source(&mut self, intent: &Intent, place: Option<&Place>, stop: &Stop) -> Result<(), ActError> {
        if self.names.get(&VictimKey::of(intent)).is_some_and(|names| names.copy.is_some()) {
            return Ok(()); // it becomes a hard link of another name
        }
        expected_digest(intent)?;
        let refused = match self.ensure_keeper(intent, place, stop) {
            Err(ActError::Refused(refusal)) if intent.kind == ActionKind::Delete => refusal,
            ensured => return ensured,
        };
        for other in self.other_sources(intent) {
            if let Ok(held) = self.reach.open(Side::Copy, &other)
                && held.stat.size == intent.victim.version.size
                && is_recorded_content(intent, &held, stop)?
            {
                return Ok(());
            }
        }
        Err(refused.into())
    }

    /// Checks that the keeper still has the content. It is read only if its times are not those of the run.
    fn ensure_keeper(&mut self, intent: &Intent, place: Option<&Place>, stop: &Stop) -> Result<(), ActError> {
        let held = match place {
            Some(place) => self.keeper(intent, place)?,
            None => self.reach.open(Side::Keeper, &intent.keeper)?,
        };
        if held.stat.size != intent.victim.version.size {
            return Err(Refusal::Changed { side: Side::Keeper, what: "its size" }.into());
        }
        let is_unchanged = intent.keeper.version.is_same_except_ctime(&held.stat);
        if is_unchanged || is_recorded_content(intent, &held, stop)? {
            return Ok(());
        }
        Err(Refusal::Changed { side: Side::Keeper, what: "its content" }.into())
    }
}
