//! Undoing the steps in a journal.

mod restored;
mod tree;

use std::collections::HashMap;
use std::io::BufRead;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use ftk_compare::{End, FileResources, Options, Source, compare};
use ftk_file::{File, FileType, Stat, Version, is_trusted};
use ftk_sched::Stop;
use rustix::fs::{AtFlags, CWD, Mode, linkat, openat, readlinkat};
use rustix::io::Errno;

use crate::action::ActionKind;
use crate::copy::copy;
use crate::durable::sync_names;
use crate::engine::{RESERVED_DESCRIPTORS, max_batch};
use crate::history::{History, JournalError};
use crate::intent::Intent;
use crate::metadata::Metadata;
use crate::reach::{DIRECTORY, Held, Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Seen;
use crate::swap::{displace, replace, restore_name};
use crate::temp::{Temp, remove};
use crate::undo::tree::Made;

/// A step that is being undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undo {
    /// The path of the victim, as it was scanned.
    pub path: Vec<u8>,
    /// The action of the step.
    pub action: ActionKind,
}

/// What undo found or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The file is restored: a separate file with its content and metadata, under its name.
    Restored,
    /// The file is restored, but without set-user-ID or set-group-ID bits or capabilities that are in the
    /// journal and that the file with the content does not have.
    RestoredWithoutRights,
    /// The file that the step created is removed.
    Removed,
    /// Nothing had to be done: the step was never performed, has already been undone, or needs no undo, as a
    /// reflink.
    AsItWas,
}

/// Undoes the steps of a journal, the last one first, and calls `report` with the outcome of each. Steps that
/// were refused, or not begun before the run was stopped, are skipped.
///
/// Everything in the journal is checked: a name must still lead to what the step left there, with the same
/// content. Otherwise the step is refused. So undo may be repeated with the same journal, and it also repairs
/// a run that was killed in the middle of a step.
///
/// Owner, permissions and attributes are restored as the journal says, so the journal must be one that only
/// the caller or root can have written: [`open_journal`](crate::open_journal) checks that. No journal can
/// make a file set-user-ID or set-group-ID unless the file with the content already has that bit and the same
/// owner or group, and none can give a file capabilities that the file with the content does not have.
///
/// - A hard link or symbolic link becomes a separate file again: a copy of the keeper with the owner,
///   permissions, times and attributes that the victim had. Victims that were hard links of one file become
///   hard links of one file again.
/// - A moved file moves back; directories created for it stay.
/// - A damaged file that was replaced gets its damaged content back, from where the run saved it. A missing
///   file that was created is removed; directories created for it stay.
/// - A directory that was removed is made again, with its owner, permissions, times and attributes, which are set
///   when everything in it is restored. If that fails, `report` gets the directory a second time. A symbolic link
///   that was removed with its directory is made again.
/// - A reflink needs no undo. A deletion cannot be undone, and is refused.
///
/// # Errors
/// If the journal cannot be read or is invalid, its working directory cannot be opened, or names cannot be
/// synced.
pub fn undo(
    journal: impl BufRead,
    stop: &Stop,
    mut report: impl FnMut(&Undo, Result<Undone, ActError>),
) -> Result<(), JournalError> {
    let History { cwd, steps, .. } = History::read(journal)?;
    let base = openat(CWD, &cwd, DIRECTORY, Mode::empty());
    let base = base.map_err(|errno| JournalError::WorkingDirectory(cwd, errno.into()))?;
    let mut undoing =
        Undoing { reach: Reach::below(base), copies: copies(&steps), changed: Vec::new(), made: Vec::new() };
    let max_unsynced = max_batch(RESERVED_DESCRIPTORS);
    undoing.remember_untouched(&steps);
    for intent in steps.iter().rev() {
        let outcome = if stop.is_raised() { Err(ActError::Stopped) } else { undoing.step(intent, stop) };
        report(&Undo { path: intent.victim.path.clone(), action: intent.kind }, outcome);
        if undoing.changed.len() >= max_unsynced {
            undoing.sync()?;
        }
    }
    undoing.sync()?;
    undoing.finish_directories(|undo, error| report(undo, Err(error)));
    Ok(())
}

/// The state of an undo.
struct Undoing {
    reach: Reach,
    /// For each victim that had several names: the copy that was made for the first of them, or the victim
    /// itself. `None` until there is one.
    copies: HashMap<(u64, u64), Option<Seen>>,
    /// Directories to sync, which are held open until then.
    changed: Vec<Rc<OwnedFd>>,
    /// The directories that were made again, those above first.
    made: Vec<Made>,
}

/// Returns a map with the value `None` for each victim that occurs in several steps, because it had several
/// names.
fn copies(steps: &[Intent]) -> HashMap<(u64, u64), Option<Seen>> {
    let mut names = HashMap::new();
    for intent in steps {
        *names.entry(intent.victim.version.identity()).or_insert(0_usize) += 1;
    }
    names.into_iter().filter(|(_, n)| *n > 1).map(|(victim, _)| (victim, None)).collect()
}

/// Returns whether this is a regular file with the size and mtime that were seen.
fn is_like(seen: &Version, stat: &Stat) -> bool {
    stat.is_regular() && (stat.size, stat.mtime_ns) == (seen.size, seen.mtime_ns)
}

/// Returns whether the file under the private name is the empty one that
/// [`AliasCheck`](crate::alias_check::AliasCheck) creates while the victim has its name.
fn is_alias_check_file(intent: &Intent, found: Option<&Stat>, left: &Stat) -> bool {
    let is_empty = left.is_regular() && left.size == 0;
    let victim = intent.victim.version.identity();
    is_empty && left.identity() != victim && found.is_some_and(|now| now.identity() == victim)
}

impl Undoing {
    fn step(&mut self, intent: &Intent, stop: &Stop) -> Result<Undone, ActError> {
        if intent.kind == ActionKind::Reflink {
            return Ok(Undone::AsItWas);
        }
        match intent.kind {
            ActionKind::RemoveLink => return self.removed_link(intent),
            ActionKind::RemoveDirectory => return self.removed_directory(intent),
            kind if kind.makes_a_file() => return self.restored(intent, stop),
            _ => {}
        }
        let place = self.reach.locate(Side::Victim, &intent.victim.path, intent.victim.root_len)?;
        let found = present(&place)?;
        let outcome = if self.repair(intent, &place, found.as_ref(), stop)? {
            self.remember(intent, &place);
            Ok(Undone::Restored)
        } else {
            let victim = &intent.victim.version;
            match (intent.kind, found) {
                (_, Some(now)) if victim.is_same_except_ctime(&now) => Ok(Undone::AsItWas),
                (_, Some(now)) if victim.identity() == now.identity() => {
                    Err(Refusal::Changed { side: Side::Victim, what: "since the run" }.into())
                }
                (ActionKind::Move, now) => self.move_back(intent, &place, now.as_ref()),
                (ActionKind::Delete, _) => Err(Refusal::NotUndoable.into()),
                (_, Some(now)) => self.separate(intent, &place, &now, stop),
                (_, None) => Err(Refusal::unreadable(Side::Victim, "find", Errno::NOENT).into()),
            }
        };
        if let Ok(Undone::Restored | Undone::RestoredWithoutRights) = outcome {
            self.changed.push(place.dir);
        }
        outcome
    }

    /// Handles a file that a killed run left under the private name in the victim's directory, and returns
    /// whether that restored the victim.
    ///
    /// If it is the victim itself, it gets its name back. The file is removed if it is an unused replacement,
    /// the empty file of a check that two directories are distinct, or a copy of the keeper from an earlier
    /// undo.
    fn repair(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
        stop: &Stop,
    ) -> Result<bool, ActError> {
        let aside = place.sibling(&intent.temp);
        let Some(left) = present(&aside)? else { return Ok(false) };
        // Device numbers change with a new mount, and FUSE file systems invent inode numbers. If the victim's
        // name is missing, a file under the private name that looks like the victim is the victim.
        let is_victim = intent.victim.version.is_same_except_ctime(&left)
            || (found.is_none() && is_like(&intent.victim.version, &left));
        if !is_victim {
            let is_removable = is_alias_check_file(intent, found, &left)
                || self.is_unused_replacement(intent, &aside, &left)?
                || self.is_copy(intent, place, found, &left, stop)?;
            if is_removable {
                let removed = remove(&aside, left.identity());
                removed.map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
            } else if left.identity() == intent.victim.version.identity() {
                return Err(Refusal::Changed { side: Side::Victim, what: "since the run" }.into());
            }
            return Ok(false);
        }
        match found {
            None => restore_name(place, left.identity(), &aside)?,
            Some(now) if self.is_replacement(intent, place, now)? => {
                let old = Temp { identity: left.identity(), place: aside };
                replace(place, now.identity(), old, || Ok(()))?;
            }
            Some(_) => return Err(Refusal::Replaced(Side::Victim).into()),
        }
        Ok(true)
    }

    /// Returns whether the file under the private name is a replacement that can be removed: a symbolic link,
    /// or one of several hard links of the keeper on a file system where inode numbers identify a file.
    /// Deletions and moves have no replacement.
    fn is_unused_replacement(&self, intent: &Intent, aside: &Place, left: &Stat) -> Result<bool, ActError> {
        let is_unused = match intent.kind {
            ActionKind::Symlink => true,
            ActionKind::Hardlink => left.nlink > 1 && is_trusted(&aside.dir),
            _ => false,
        };
        Ok(is_unused && self.is_replacement(intent, aside, left)?)
    }

    /// Returns whether the file under the private name is a complete or partial copy made by an earlier undo.
    /// While the victim's name leads to the keeper, no other kind of file has that name.
    ///
    /// The copy may have the inode number that became free when the victim was removed. Its content
    /// distinguishes it from a victim that was rewritten since, whose bytes differ from the keeper's.
    fn is_copy(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
        left: &Stat,
        stop: &Stop,
    ) -> Result<bool, ActError> {
        let Some(now) = found else { return Ok(false) };
        let is_file = left.is_regular();
        let makes_copies = matches!(intent.kind, ActionKind::Hardlink | ActionKind::Symlink);
        if !is_file || !makes_copies || !self.is_replacement(intent, place, now)? {
            return Ok(false);
        }
        if left.identity() != intent.victim.version.identity() {
            return Ok(true);
        }
        let copied = open(Side::Victim, place.sibling(&intent.temp))?;
        let keeper = self.keeper(intent, place)?;
        begins_with(&keeper.file, &copied.file, stop)
    }

    /// Returns whether the name leads to what the step put there.
    fn is_replacement(&self, intent: &Intent, place: &Place, now: &Stat) -> Result<bool, ActError> {
        match &intent.target {
            None => Ok(now.identity() == intent.keeper.version.identity()),
            Some(_) if now.file_type != FileType::Symlink => Ok(false),
            Some(target) => {
                let link = readlinkat(&place.dir, &place.name, Vec::new()).map_err(|errno| {
                    Refusal::unreadable(Side::Victim, "read the symbolic link in place of", errno)
                })?;
                Ok(link.to_bytes() == target)
            }
        }
    }

    /// Replaces a link that the step has made with a separate file.
    fn separate(
        &mut self,
        intent: &Intent,
        place: &Place,
        now: &Stat,
        stop: &Stop,
    ) -> Result<Undone, ActError> {
        if !self.is_replacement(intent, place, now)? {
            let keeper = self.reach.open(Side::Keeper, &intent.keeper)?;
            return self.is_undone(intent, place, now, &keeper, stop);
        }
        let source = self.keeper(intent, place)?;
        let metadata = safe_metadata(intent, &source)?;
        self.restore(intent, place, now.identity(), &source, &metadata, stop)?;
        self.remember(intent, place);
        Ok(if metadata == intent.metadata { Undone::Restored } else { Undone::RestoredWithoutRights })
    }

    /// Opens the file with the victim's content. For a hard link, that is the file at the victim's own name.
    fn keeper(&mut self, intent: &Intent, place: &Place) -> Result<Held, ActError> {
        match intent.kind {
            ActionKind::Hardlink => open(Side::Victim, place.clone()),
            _ => Ok(self.reach.open(Side::Keeper, &intent.keeper)?),
        }
    }

    /// Replaces the file at `place` with a copy of `source`, or with a hard link to an earlier copy.
    fn restore(
        &mut self,
        intent: &Intent,
        place: &Place,
        now: (u64, u64),
        source: &Held,
        metadata: &Metadata,
        stop: &Stop,
    ) -> Result<(), ActError> {
        // A hard link is known to be the same file. A symbolic link may lead to a copy, which is equally
        // good.
        let is_unchanged = |now: &Stat| is_like(&intent.keeper.version, now);
        if !is_unchanged(&source.stat) {
            return Err(Refusal::Changed { side: Side::Keeper, what: "since the run" }.into());
        }
        // If this undo is killed, the next one recognises the file by this name.
        let aside = place.sibling(&intent.temp);
        let temp = match self.link_copy(intent, &aside)? {
            Some(temp) => temp,
            None => copy(source, aside, metadata, stop)?,
        };
        replace(place, now, temp, || {
            let now = Stat::of(&source.file);
            let now = now.map_err(|errno| Refusal::unreadable(Side::Keeper, "stat", errno))?;
            let changed = Refusal::Changed { side: Side::Keeper, what: "while being copied" };
            is_unchanged(&now).then_some(()).ok_or(changed)
        })
    }

    /// Creates a hard link at `aside` to the copy that was made for an earlier name of the same victim.
    /// Returns `None` if there is no such copy or it cannot be linked.
    fn link_copy(&mut self, intent: &Intent, aside: &Place) -> Result<Option<Temp>, ActError> {
        let Some(Some(copy)) = self.copies.get(&intent.victim.version.identity()) else { return Ok(None) };
        let Ok(from) = self.reach.locate(Side::Victim, &copy.path, copy.root_len) else { return Ok(None) };
        if linkat(&from.dir, &from.name, &aside.dir, &aside.name, AtFlags::empty()).is_err() {
            return Ok(None); // then it gets a separate copy
        }
        let temp = Temp::made(aside.clone())?;
        if temp.identity != copy.version.identity() {
            return Err(temp.discard(Refusal::Replaced(Side::Victim).into()));
        }
        Ok(Some(temp))
    }

    /// Records each victim of several steps that still has one of its names, because a step failed or its run
    /// was killed. The undo then links its other names to it again.
    fn remember_untouched(&mut self, steps: &[Intent]) {
        for intent in steps {
            let Seen { path, root_len, .. } = &intent.victim;
            if self.copies.contains_key(&intent.victim.version.identity())
                && let Ok(place) = self.reach.locate(Side::Victim, path, *root_len)
                && place.stat().is_ok_and(|now| intent.victim.version.is_same_except_ctime(&now))
            {
                self.remember(intent, &place);
            }
        }
    }

    /// Records the restored file at `place`, if the victim had several names.
    fn remember(&mut self, intent: &Intent, place: &Place) {
        if let Some(copy) = self.copies.get_mut(&intent.victim.version.identity())
            && let Ok(stat) = place.stat()
        {
            *copy = Some(Seen { version: stat.version(), ..intent.victim.clone() });
        }
    }

    /// Checks whether the step has already been undone: then the name leads to a separate file with the
    /// victim's visible metadata and the content of `source`.
    fn is_undone(
        &mut self,
        intent: &Intent,
        place: &Place,
        now: &Stat,
        source: &Held,
        stop: &Stop,
    ) -> Result<Undone, ActError> {
        let replaced = Refusal::Replaced(Side::Victim);
        if now.size != intent.victim.version.size {
            return Err(replaced.into());
        }
        if !safe_metadata(intent, source)?.is_of(now) {
            return Err(replaced.into());
        }
        let copied = open(Side::Victim, place.clone())?;
        let same = ftk_compare::same_content(&copied.file, &source.file, stop);
        if !same.is_ok_and(|same| same) {
            return Err(replaced.into());
        }
        self.remember(intent, place);
        Ok(Undone::AsItWas)
    }

    fn move_back(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
    ) -> Result<Undone, ActError> {
        let to = intent.to.as_ref().expect("the intent of a move has a new path");
        let moved = self.reach.locate(Side::Victim, &to.path, to.root_len)?;
        let stat = moved.stat().map_err(|errno| Refusal::unreadable(Side::Victim, "find", errno))?;
        if !intent.victim.version.is_same_except_ctime(&stat) {
            return Err(Refusal::Changed { side: Side::Victim, what: "since the run" }.into());
        }
        if found.is_some() {
            return Err(Refusal::NameExists.into());
        }
        displace(&moved, intent.victim.version.identity(), place, || Ok(()))?;
        Ok(Undone::Restored)
    }

    fn sync(&mut self) -> Result<(), JournalError> {
        sync_names(&self.changed).map_err(|errno| JournalError::Sync(errno.into()))?;
        self.changed.clear();
        Ok(())
    }
}

/// Returns the metadata to restore if the content comes from `source`.
fn safe_metadata(intent: &Intent, source: &Held) -> Result<Metadata, ActError> {
    let safe = intent.metadata.without_new_rights(source);
    safe.map_err(|error| Refusal::unreadable(Side::Keeper, "read the attributes of", error).into())
}

/// Returns whether `whole` begins with all bytes of `part`.
fn begins_with(whole: &File, part: &File, stop: &Stop) -> Result<bool, ActError> {
    let options = Options { max_mismatches: 1, ..Options::default() };
    let resources = FileResources { workers: 1, memory: 0, stop, done: &AtomicU64::new(0) };
    let (whole, part) = (Source::File(whole), Source::File(part));
    let outcome = compare(whole, part, &options, &resources, &mut |_| ControlFlow::Break(()));
    let outcome = outcome.map_err(|(side, failure)| {
        Refusal::of_failure(if side == ftk_compare::Side::A { Side::Keeper } else { Side::Victim }, failure)
    })?;
    match outcome.end {
        End::Together | End::Shorter { side: ftk_compare::Side::B, .. } => Ok(outcome.first.is_none()),
        End::Stopped => Err(ActError::Stopped),
        _ => Ok(false),
    }
}

/// Returns the `stat` of the file, or `None` if the name is free.
fn present(place: &Place) -> Result<Option<Stat>, ActError> {
    match place.stat() {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(Refusal::unreadable(Side::Victim, "stat", errno).into()),
    }
}

fn open(side: Side, place: Place) -> Result<Held, ActError> {
    Held::open(place).map_err(|failure| Refusal::of_failure(side, failure).into())
}
