//! A file that is ready to be restored: all its names are checked.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use ftk_file::Stat;
use ftk_sched::Stop;
use rustix::io::Errno;

use crate::action::{ActionKind, Freed};
use crate::durable::sync_names;
use crate::intent::Intent;
use crate::journal::Journal;
use crate::metadata::Metadata;
use crate::own_changes::OwnChanges;
use crate::reach::{Held, Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::restore::{Restored, fail};
use crate::stat::fstat_now;
use crate::swap::{replace, restore_name};
use crate::temp::Temp;

/// A file to restore whose names were checked. Only the first name and the source stay open: a file may have
/// more names than the process may have descriptors.
pub(super) struct Ready {
    /// Its position in the run.
    pub(super) number: usize,
    /// The file that has the content. It is closed when the new file is made.
    pub(super) source: Option<Held>,
    /// Whether the names become links of the source.
    pub(super) links: bool,
    /// The first name, which gets the new file.
    pub(super) place: Place,
    /// The damaged file. `None` if it is missing.
    pub(super) victim: Option<Held>,
    /// The names that were not refused. All but the first get links to the new file.
    pub(super) names: Vec<Name>,
    /// The metadata of the new file.
    pub(super) metadata: Metadata,
    pub(super) lacks_rights: bool,
    /// The new file and its private name, once it is complete and checked.
    pub(super) new: Option<(OwnedFd, Temp)>,
}

/// A name of a file to restore.
pub(super) struct Name {
    /// Its index in the [`Restore`](crate::Restore).
    pub(super) index: usize,
    pub(super) intent: Intent,
}

/// What a run keeps while it gives files their names.
pub(super) struct Naming<'r> {
    pub(super) reach: &'r mut Reach,
    pub(super) own_changes: &'r mut OwnChanges,
    pub(super) journal: &'r mut Journal,
    /// The directories to be synced.
    pub(super) changed: &'r mut Vec<Rc<OwnedFd>>,
}

/// The number of directories that may wait for a sync.
const MAX_UNSYNCED: usize = 4;

/// Checks that a name is free.
pub(super) fn check_free(place: &Place) -> Result<(), Refusal> {
    match place.stat() {
        Err(Errno::NOENT) => Ok(()),
        Ok(_) => Err(Refusal::Changed { side: Side::Target, what: "it exists now" }),
        Err(errno) => Err(Refusal::unreadable(Side::Target, "stat", errno)),
    }
}

impl Ready {
    /// Adds an error to the journal as the outcome of all names.
    pub(super) fn note_failure(&self, error: &ActError, journal: &mut Journal) {
        for name in &self.names {
            journal.note_error(name.intent.step, error);
        }
    }

    /// Removes the new file when it cannot get its name. A failure is not reported: undo of the journal then
    /// removes the file.
    pub(super) fn discard(self) {
        if let Some((_, temp)) = &self.new {
            let _ = temp.discard(ActError::Stopped);
        }
    }

    /// Gives the new file all its names, adds the outcomes to the journal, and the directories to those that are to be synced.
    ///
    /// # Errors
    /// If directories cannot be synced.
    pub(super) fn give_names(
        mut self,
        Naming { reach, own_changes, journal, changed }: &mut Naming<'_>,
        stop: &Stop,
        outcomes: &mut [Option<Result<Restored, ActError>>],
    ) -> Result<(), Errno> {
        let (file, temp) = self.new.take().expect("the new file was made");
        let before = Stat::of(&file).ok();
        let unchanged = if stop.is_raised() { Err(ActError::Stopped) } else { self.recheck(own_changes) };
        let named = match unchanged {
            Ok(()) => self.swap_in(&self.place, self.names[0].intent.kind, temp),
            Err(error) => Err(temp.discard(error)),
        };
        if let Err(error) = named {
            self.note_failure(&error, journal);
            fail(outcomes, error);
            return Ok(());
        }
        changed.push(self.place.dir.clone());
        let mut linked = vec![Ok(())];
        for name in &self.names[1..] {
            linked.push(self.link(&name.intent, &file, reach).map(|dir| changed.push(dir)));
            if changed.len() >= MAX_UNSYNCED {
                sync_names(changed)?;
                changed.clear();
            }
        }
        // The last link changes the ctime and the number of links of the new file.
        let stat = fstat_now(&file).ok();
        if let (true, Some(before), Some(now)) = (self.links, &before, &stat) {
            own_changes.note(before, now);
        }
        // Further names of the damaged file may be kept.
        if let Some(victim) = &self.victim
            && let Ok(now) = fstat_now(&victim.file)
        {
            own_changes.note(&victim.stat, &now);
        }
        let lacks_rights = self.lacks_rights;
        for (name, linked) in self.names.into_iter().zip(linked) {
            match &linked {
                Ok(()) => journal.note_done(name.intent.step, Freed(0)),
                Err(error) => journal.note_error(name.intent.step, error),
            }
            outcomes[name.index] = Some(linked.map(|()| Restored { stat, lacks_rights }));
        }
        Ok(())
    }

    /// Checks right before the first exchange of names that the damaged file has not changed since it was
    /// opened. This run may have linked other names to it.
    fn recheck(&self, own_changes: &OwnChanges) -> Result<(), ActError> {
        let Some(victim) = &self.victim else { return Ok(()) };
        let is_unchanged = own_changes.is_unchanged(&victim.stat.version(), &now(victim)?);
        if is_unchanged { Ok(()) } else { Err(changed().into()) }
    }

    /// Gives the new file a name, and removes the damaged one.
    fn swap_in(&self, place: &Place, kind: ActionKind, temp: Temp) -> Result<(), ActError> {
        let Some(victim) = self.victim.as_ref().filter(|_| kind == ActionKind::Replace) else {
            return restore_name(place, temp.identity, &temp.place).map_err(|error| temp.discard(error));
        };
        // The ctime is not compared: removing another name of the same damaged file changes it.
        replace(place, victim.identity(), temp, || {
            let is_unchanged = victim.stat.version().is_same_except_ctime(&now(victim)?);
            if is_unchanged { Ok(()) } else { Err(changed()) }
        })
    }

    /// Makes another name a hard link of the new file. Returns the directory.
    fn link(&self, intent: &Intent, file: &OwnedFd, reach: &mut Reach) -> Result<Rc<OwnedFd>, ActError> {
        let place = reach.locate(Side::Target, &intent.victim.path, intent.victim.root_len)?;
        let directory = place.directory(Side::Target)?;
        let recorded = intent.proof.as_ref().expect("a new intent has a proof").directory;
        if let Some(difference) = recorded.difference(&directory) {
            return Err(Refusal::OtherDirectory { side: Side::Target, difference }.into());
        }
        let temp = Temp::linked(file, place.sibling(&intent.temp))
            .map_err(|errno| ActError::of_naming("link the restored file", errno))?;
        self.swap_in(&place, intent.kind, temp)?;
        Ok(place.dir)
    }
}

/// Returns the present state of the damaged file.
fn now(victim: &Held) -> Result<Stat, Refusal> {
    fstat_now(&victim.file).map_err(|errno| Refusal::unreadable(Side::Target, "stat", errno))
}

/// Returns the refusal for a damaged file that is written to meanwhile.
fn changed() -> Refusal {
    Refusal::Changed { side: Side::Target, what: "while it was being restored" }
}
