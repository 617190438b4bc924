//! A file that is ready to be restored: all its names are checked.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use ftk_sched::Stop;
use rustix::fs::{AtFlags, linkat};
use rustix::io::Errno;

use crate::action::Freed;
use crate::intent::Intent;
use crate::journal::Journal;
use crate::metadata::Metadata;
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::restore::{Restored, fail};
use crate::stat::fstat_now;
use crate::swap::{replace, restore_name};
use crate::temp::Temp;

/// A file to restore whose names and source are open.
pub(super) struct Ready {
    /// Its position in the run.
    pub(super) number: usize,
    pub(super) source: Held,
    /// The names that were not refused. The first gets the new file, the others links to it.
    pub(super) names: Vec<Name>,
    /// The metadata of the new file.
    pub(super) metadata: Metadata,
    pub(super) lacks_rights: bool,
    /// The new file, once it is complete and checked.
    pub(super) temp: Option<Temp>,
}

/// A name of a file to restore.
pub(super) struct Name {
    /// Its index in the [`Restore`](crate::Restore).
    pub(super) index: usize,
    pub(super) place: Place,
    /// The damaged file. `None` if the name is free.
    pub(super) victim: Option<Held>,
    pub(super) intent: Intent,
}

/// Checks that a name is free.
pub(super) fn check_free(place: &Place) -> Result<(), Refusal> {
    match place.stat() {
        Err(Errno::NOENT) => Ok(()),
        Ok(_) => Err(Refusal::Changed { side: Side::Target, what: "it exists now" }),
        Err(errno) => Err(Refusal::unreadable(Side::Target, "stat", errno)),
    }
}

impl Ready {
    /// Returns the damaged file, if any name has one, and the step of the first such name.
    pub(super) fn victim(&self) -> Option<(u64, &Held)> {
        self.names.iter().find_map(|name| Some((name.intent.step, name.victim.as_ref()?)))
    }

    /// Adds an error to the journal as the outcome of all names.
    pub(super) fn note_failure(&self, error: &ActError, journal: &mut Journal) {
        for name in &self.names {
            journal.note_error(name.intent.step, error);
        }
    }

    /// Removes the new file when it cannot get its name. A failure is not reported: undo of the journal then
    /// removes the file.
    pub(super) fn discard(self) {
        if let Some(temp) = &self.temp {
            let _ = temp.discard(ActError::Stopped);
        }
    }

    /// Gives the new file all its names, adds the outcomes to the journal, and the directories to `changed`.
    pub(super) fn give_names(
        mut self,
        stop: &Stop,
        outcomes: &mut [Option<Result<Restored, ActError>>],
        changed: &mut Vec<Rc<OwnedFd>>,
        journal: &mut Journal,
    ) {
        let temp = self.temp.take().expect("the new file was made");
        let made = temp.identity;
        let unchanged = if stop.is_raised() { Err(ActError::Stopped) } else { self.recheck() };
        let first = &self.names[0];
        let named = match unchanged {
            Ok(()) => first.swap_in(temp),
            Err(error) => Err(temp.discard(error)),
        };
        if let Err(error) = named {
            self.note_failure(&error, journal);
            return fail(outcomes, error);
        }
        let first_place = first.place.clone();
        let mut links = Vec::new();
        for name in &self.names[1..] {
            links.push(name.link(&first_place, made));
        }
        changed.extend(self.names.iter().map(|name| name.place.dir.clone()));
        // The last link changes the ctime and the number of links of the new file.
        let stat = first_place.stat().ok().filter(|stat| stat.identity() == made);
        let lacks_rights = self.lacks_rights;
        for (name, linked) in self.names.into_iter().zip(std::iter::once(Ok(())).chain(links)) {
            match &linked {
                Ok(()) => journal.note_done(name.intent.step, Freed(0)),
                Err(error) => journal.note_error(name.intent.step, error),
            }
            outcomes[name.index] = Some(linked.map(|()| Restored { stat, lacks_rights }));
        }
    }

    /// Checks right before the first exchange of names that no damaged file has changed since it was opened.
    fn recheck(&self) -> Result<(), ActError> {
        for victim in self.names.iter().filter_map(|name| name.victim.as_ref()) {
            let now = fstat_now(&victim.file);
            let now = now.map_err(|errno| Refusal::unreadable(Side::Target, "stat", errno))?;
            if now.version() != victim.stat.version() {
                return Err(
                    Refusal::Changed { side: Side::Target, what: "while it was being restored" }.into()
                );
            }
        }
        Ok(())
    }
}

impl Name {
    /// Gives the new file this name, and removes the damaged one.
    fn swap_in(&self, temp: Temp) -> Result<(), ActError> {
        let Some(victim) = &self.victim else {
            return restore_name(&self.place, temp.identity, &temp.place)
                .map_err(|error| temp.discard(error));
        };
        // The ctime is not compared: removing another name of the same damaged file changes it.
        replace(&self.place, victim.identity(), temp, || {
            let now = fstat_now(&victim.file);
            let now = now.map_err(|errno| Refusal::unreadable(Side::Target, "stat", errno))?;
            let changed = Refusal::Changed { side: Side::Target, what: "while it was being restored" };
            if victim.stat.version().is_same_except_ctime(&now) { Ok(()) } else { Err(changed) }
        })
    }

    /// Makes this name a hard link of the new file, which has its first name.
    fn link(&self, first: &Place, made: (u64, u64)) -> Result<(), ActError> {
        let aside = self.place.sibling(&self.intent.temp);
        linkat(&first.dir, &first.name, &aside.dir, &aside.name, AtFlags::empty())
            .map_err(|errno| ActError::of_naming("link the restored file", errno))?;
        let temp = Temp::made(aside)?;
        // The link leads to whatever had the first name at that moment.
        if temp.identity != made {
            return Err(temp.discard(Refusal::Replaced(Side::Target).into()));
        }
        self.swap_in(temp)
    }
}
