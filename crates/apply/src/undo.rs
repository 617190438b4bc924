//! Undoing the steps in a journal.

mod begin;
mod chosen;
mod log;
mod metadata;
mod names;
mod order;
mod preview;
mod quarantine;
mod restored;
mod revoked;
mod tree;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::File as StdFile;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use ftk_compare::{End, FileResources, Options, Source, compare};
use ftk_file::{File, FileType, Identity, Inode, Stat, Version, is_trusted};
use ftk_sched::Stop;
use rustix::fs::readlinkat;
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::action::ActionKind;
use crate::copy::{Copied, Expected, copy};
use crate::digest::digest;
use crate::durable::{sync_file_systems, sync_names};
use crate::engine::{RESERVED_DESCRIPTORS, max_batch};
use crate::exposed::ensure_trusted_above;
use crate::history::{JournalError, inode};
use crate::intent::{Intent, To};
use crate::metadata::{Access, Change};
use crate::private::{inside_private, left_inside, remove_private};
use crate::reach::{Held, Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Seen;
use crate::swap::{displace, replace, restore_name};
use crate::temp::{Temp, remove};
use crate::trash::forget;
pub use crate::undo::begin::UndoOptions;
use crate::undo::begin::{Begun, begin};
use crate::undo::log::Log;
use crate::undo::names::{Names, VictimKey};
pub use crate::undo::order::Undo;
use crate::undo::order::in_order;
pub use crate::undo::preview::{Foreseen, preview};
use crate::undo::revoked::{exceeds, safe_metadata, shortfall_of};
use crate::undo::tree::Made;

/// What undo found or did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The file is restored: a separate file with its content and metadata, under its name.
    Restored,
    /// The file is restored with its content, but something is not as it was.
    RestoredExcept(Shortfall),
    /// The file that the step created is removed.
    Removed,
    /// Nothing had to be done: the step was never performed, has already been undone, or needs no undo, as a
    /// reflink.
    AsItWas,
    /// The step has already been undone, but something is not as it was.
    LeftExcept(Shortfall),
}

/// In what a restored file is not as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// It lacks set-user-ID or set-group-ID bits or capabilities that are in the journal and that the file with the
    /// content does not have.
    pub rights: bool,
    /// The permissions, owner or group at its path were changed after the run, or another user could have replaced that file.
    /// It has these permissions, which give nothing that was revoked.
    pub narrower: Option<u32>,
    /// The owner of the file at its path, or of the kept copy, was changed after the run, or another user could have replaced
    /// that file. It has this one, the caller.
    pub owner: Option<u32>,
    /// It lacks its access control list, since the list, owner or group at its path, or of the kept copy, was changed after
    /// the run, or another user could have replaced that file.
    pub access_list: bool,
    /// It lacks its owner or group, and permissions that go with them, or attributes: the caller may not set them.
    pub permission: bool,
    /// It is no longer a hard link of so many names that the run did not handle.
    pub links: u64,
    /// It could not become a hard link of its other names again, and is a file of its own.
    pub apart: bool,
}

impl Undone {
    fn lacks_rights(&self) -> bool {
        matches!(self, Self::RestoredExcept(shortfall) | Self::LeftExcept(shortfall) if shortfall.rights)
    }
}

impl Shortfall {
    fn undone(self) -> Undone {
        if self == Self::default() { Undone::Restored } else { Undone::RestoredExcept(self) }
    }
}

/// Undoes the steps of a journal, the last one first, and calls `report` with the outcome of each. Steps that were
/// refused, or not begun before the run was stopped, are skipped. The journal is the one that
/// [`open_journal_to_undo`](crate::open_journal_to_undo) returned: undo adds records of what it has made and undone.
///
/// Names are not trusted. Each starting point, and the directory of each victim, must still be the one that the journal
/// records, or one that undo has made in its place. A name must still lead to what the step left there. What is copied
/// back must have the recorded digest. Otherwise the step is refused. A file gets the owner, group and permissions that the journal
/// records, or fewer rights, and never those of another file. So undo may be repeated with the same journal, and
/// it also repairs a run that was killed in the middle of a step. Undo changes the owner and permissions only of files
/// and directories that it has made itself, and of those to which the run gave recorded ones.
///
/// A journal of version 1 records neither identities nor digests. Its steps are undone only if no user except the caller and
/// root can change a directory on the path of the victim, and if no content is copied.
///
/// Owner, permissions and attributes are restored as the journal says, so the journal must be one that only
/// the caller or root can have written. No journal can
/// make a file set-user-ID or set-group-ID unless the file with the content already has that bit and the same
/// owner or group, and none can give a file capabilities that the file with the content does not have.
///
/// - A hard link, a symbolic link or a deleted file becomes a separate file again: a copy of the keeper with the owner,
///   permissions, times and attributes that the victim had. Victims that were hard links of one file are so again.
/// - A moved file or chosen entry moves back. The directories that ftk made for it are removed, if they are empty and ftk also
///   made the one that contains them all. A deleted entry does not come back.
/// - A damaged file that was replaced gets its damaged content back, from where the run saved it. A missing
///   file that was created is removed; directories created for it stay.
/// - An entry whose recorded metadata was put back gets that which it had, if it still has what the run gave it. It gets no
///   rights that it lacks. Its content is not compared: a file that was written to has another mtime, and is refused.
///   Directories come last, those below first, so that they keep their old times and the path of each is still that of the run.
/// - A directory that was removed is made again, with its owner, permissions, times and attributes, which are set
///   when everything in it is restored. If that fails, `report` gets the directory a second time. A symbolic link
///   that was removed with its directory is made again.
/// - A reflink needs no undo.
///
/// # Errors
/// If the journal cannot be read or written or is invalid, its working directory cannot be opened or is another one, or
/// names cannot be synced.
pub fn undo(
    journal: StdFile,
    stop: &Stop,
    report: impl FnMut(&Undo, Result<Undone, ActError>),
) -> Result<(), JournalError> {
    undo_with(journal, UndoOptions::default(), stop, report)
}

/// Does the same as [`undo`], with other options.
///
/// # Errors
/// As for [`undo`], and if the memory does not suffice.
pub fn undo_with(
    journal: StdFile,
    options: UndoOptions,
    stop: &Stop,
    mut report: impl FnMut(&Undo, Result<Undone, ActError>),
) -> Result<(), JournalError> {
    let Begun { mut undoing, steps, starts, undone: known, making } = begin(journal, options)?;
    let max_unsynced = max_batch(RESERVED_DESCRIPTORS + MAX_HELD as u64);
    let (mut has_failed, mut kept) = (false, BTreeSet::new());
    steps.iter().rev().filter(|it| is_set_directory(it)).for_each(|intent| undoing.begin_directory(intent));
    for intent in in_order(&steps) {
        let outcome = if stop.is_raised() {
            Err(ActError::Stopped)
        } else if let Some(&lacks_rights) = known.get(&intent.step)
            && !undoing.has_other_names(intent)
        {
            Ok(if lacks_rights { undoing.what_it_lacks(intent) } else { Undone::AsItWas })
        } else {
            undoing.step(intent, stop)
        };
        has_failed |= outcome.is_err();
        if let Ok(undone) = &outcome
            && !undoing.is_unfinished(intent.step)
            // The next undo changes names in it once more.
            && !(has_failed && is_set_directory(intent))
        {
            undoing.undone.push((intent.step, undone.lacks_rights()));
        }
        if outcome.is_err()
            && let Some(to) = &intent.to
        {
            kept.insert(to.path[..to.root_len].to_vec());
        }
        report(&Undo::of(intent), outcome);
        if undoing.changed.len() + undoing.set.len() >= max_unsynced {
            undoing.sync(&known)?;
        }
    }
    undoing.sync(&known)?;
    undoing.clear_private(&making);
    undoing.clear_destinations(&steps, &starts, &kept);
    let finished = undoing.finish_directories(|undo, error| {
        has_failed = true;
        report(undo, Err(error));
    });
    // A directory to which an entry is still to be restored is finished again by the next undo.
    if !has_failed {
        undoing.undone.extend(finished.into_iter().map(|step| (step, false)));
    }
    undoing.sync(&known)
}

/// The number of restored files that stay open for links to them. The names of a file usually follow each other.
const MAX_HELD: usize = 4;

/// The state of an undo.
struct Undoing {
    reach: Reach,
    /// The lists of copies from which deleted files can be restored, by their numbers.
    copies: BTreeMap<u64, Vec<To>>,
    /// What is known about the names of each victim.
    names: HashMap<VictimKey, Names>,
    /// The files that undos have made, also those of later runs, by the device and inode numbers of the old ones.
    replacements: HashMap<(u64, u64), Vec<Identity>>,
    /// Restored files to which further names are linked, by their victims. They stay open, so no other file can get their inode
    /// numbers.
    held: VecDeque<(VictimKey, OwnedFd)>,
    /// The directories that an undo has made in place of a removed one, by the inode of the removed one.
    replaced: HashMap<Inode, Identity>,
    /// The same directories by the number of the step that removed the old one.
    remade: BTreeMap<u64, Identity>,
    /// Directories to sync, which are held open until then.
    changed: Vec<Rc<OwnedFd>>,
    /// Directories of entries that got other metadata. Their file systems are synced.
    set: Vec<Rc<OwnedFd>>,
    /// The directories that were made again and are not finished, those above first.
    made: Vec<Made>,
    /// The steps that have set the metadata of directories whose times nothing else has changed before this undo.
    untouched: HashSet<u64>,
    log: Log,
    /// Files that were made, which is recorded after the next sync, and the steps that removed the old ones.
    new: Vec<(u64, Identity)>,
    /// Steps that are undone, which is recorded after the next sync, and whether the file lacks rights.
    undone: Vec<(u64, bool)>,
}

/// Returns whether a step has put back the recorded metadata of a directory.
fn is_set_directory(intent: &Intent) -> bool {
    let victim = intent.proof.as_ref().and_then(|proof| proof.victim);
    intent.kind == ActionKind::SetMetadata && victim.is_some_and(|it| it.file_type == FileType::Directory)
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
            ActionKind::SetMetadata => return self.set_metadata(intent),
            ActionKind::MoveEntry | ActionKind::DeleteEntry => return self.chosen(intent),
            kind if kind.makes_a_file() => return self.restored(intent, stop),
            _ => {}
        }
        let place = self.locate(Side::Victim, intent)?;
        let found = present(&place)?;
        let outcome =
            if let Some((victim, is_original)) = self.repair(intent, &place, found.as_ref(), stop)? {
                let links = if is_original { 0 } else { self.links_lost(intent) };
                self.clear_moved(intent);
                self.remember(intent, victim, is_original);
                Ok(Shortfall { links, ..Shortfall::default() }.undone())
            } else {
                match (intent.kind, found) {
                    (_, Some(now)) if intent.is_victim(&now, || place.identity(Side::Victim))? => {
                        self.clear_moved(intent);
                        self.remember_victim(intent, &place);
                        Ok(Undone::AsItWas)
                    }
                    (kind, now) if kind.moves() => self.move_back(intent, &place, now.as_ref(), stop),
                    (ActionKind::Delete, None) => self.undelete(intent, &place, stop),
                    (ActionKind::Delete, Some(now)) => self.is_undone(intent, &place, &now, stop),
                    (_, Some(now)) => self.separate(intent, &place, &now, stop),
                    (_, None) => Err(Refusal::unreadable(Side::Victim, "find", Errno::NOENT).into()),
                }
            };
        if let Ok(Undone::Restored | Undone::RestoredExcept(_)) = outcome {
            self.changed.push(place.dir);
        }
        outcome
    }

    /// Opens the directory of the victim, which must be the one that the journal records, or one that undo has made in its
    /// place. For a journal without identities, no other user may be able to change the path.
    fn locate(&mut self, side: Side, intent: &Intent) -> Result<Place, Refusal> {
        let Seen { path, root_len, .. } = &intent.victim;
        let place = self.reach.locate_entry(side, path, *root_len)?;
        let Some(proof) = &intent.proof else {
            return match ensure_trusted_above(&place.dir) {
                Ok(()) => Ok(place),
                Err(refusal) => Err(Refusal::OldJournal(Box::new(refusal))),
            };
        };
        let now = place.directory(side)?;
        let difference = match self.replaced.get(&inode(&proof.directory)) {
            // Its owner changes when it is finished. Until then and without a time of birth, it may be another directory with
            // the same inode number.
            Some(made) if made.is_same_inode(&now) => {
                let is_given_back = now.uid == proof.directory.uid && now.uid != geteuid().as_raw();
                if made.birth_ns.is_none() && !is_given_back {
                    ensure_trusted_above(&place.dir)?;
                }
                None
            }
            _ => self.reach.difference(&proof.directory, &now),
        };
        match difference {
            None => Ok(place),
            Some(difference) => Err(Refusal::OtherDirectory { side, difference }),
        }
    }

    /// Opens the directory that the victim was moved to.
    fn locate_moved(&mut self, intent: &Intent) -> Result<Place, Refusal> {
        let to = intent.to.as_ref().expect("the intent of a move has a new path");
        let moved = self.reach.locate(Side::Victim, &to.path, to.root_len)?;
        if intent.proof.is_none() {
            ensure_trusted_above(&moved.dir).map_err(|refusal| Refusal::OldJournal(Box::new(refusal)))?;
        }
        Ok(moved)
    }

    /// Removes what a killed run has left where it moved the victim: an empty private directory, and a record of the trash.
    fn clear_moved(&mut self, intent: &Intent) {
        if intent.to.is_some()
            && let Ok(moved) = self.locate_moved(intent)
        {
            _ = remove_private(&moved.sibling(&intent.temp));
            forget(intent.kind, &moved);
        }
    }

    /// Returns whether the victim had several names, and one of them is still to be restored.
    fn has_other_names(&self, intent: &Intent) -> bool {
        let names = self.names.get(&VictimKey::of(intent));
        names.is_some_and(|names| names.handled > 1 && names.left > 0)
    }

    /// Handles a file that a killed run left under the private name in the victim's directory. If that restored the victim,
    /// returns it, and whether it has the recorded device and inode number: otherwise it may be a copy of an earlier undo.
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
    ) -> Result<Option<(OwnedFd, bool)>, ActError> {
        let outside = place.sibling(&intent.temp);
        if intent.kind.moves()
            && let Some(inside) = left_inside(&outside, &place.name)?
        {
            return self.release(intent, place, found, &outside, inside, stop);
        }
        let aside = inside_private(&outside)?;
        let Some(left) = present(&aside)? else {
            remove_private(&outside)?;
            return Ok(None);
        };
        let may_differ = found.is_none() && !(intent.proof.is_some() && is_trusted(&aside.dir));
        let mut victim = open_victim(intent, &aside, stop)?;
        let has_numbers = victim.is_some();
        if victim.is_none() && may_differ {
            victim = self.open_alike(intent, &aside, stop)?;
        }
        let Some(victim) = victim else {
            let is_removable = is_alias_check_file(intent, found, &left)
                || self.is_unused_replacement(intent, &aside, &left)?
                || self.is_copy(intent, place, &aside, found, &left, stop)?;
            if is_removable {
                let removed = remove(&aside, left.identity());
                removed.map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
                remove_private(&outside)?;
            } else if left.identity() == intent.victim.version.identity() {
                return Err(Refusal::Changed { side: Side::Victim, what: "since the run" }.into());
            }
            return Ok(None);
        };
        if self.is_place_ready(intent, place, found)? {
            let change = self.change(intent, place)?;
            // The victim would give back what was revoked. A copy does not.
            if exceeds(intent, &change, &victim.file)? && self.has_source(intent, place, stop)? {
                let removed = remove(&aside, victim.identity());
                removed.map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
                remove_private(&outside)?;
                return Ok(None);
            }
        }
        match found {
            None => restore_name(place, victim.identity(), &aside)?,
            Some(now) if self.is_replacement(intent, place, now)? => {
                replace(place, now.identity(), Temp::new(aside, victim.identity()), || Ok(()))?;
            }
            Some(_) => return Err(Refusal::Replaced(Side::Victim).into()),
        }
        remove_private(&outside)?;
        Ok(Some((duplicate(&victim)?, has_numbers)))
    }

    /// Returns whether the name leads to what a complete step has left there, so that the victim can be restored from another
    /// file.
    fn is_place_ready(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
    ) -> Result<bool, ActError> {
        match (intent.kind, found) {
            (ActionKind::Delete, found) => Ok(found.is_none()),
            (ActionKind::Hardlink | ActionKind::Symlink, Some(now)) => {
                self.is_replacement(intent, place, now)
            }
            _ => Ok(false),
        }
    }

    /// Gives the victim its name that a killed undo has [moved back](crate::swap::displace) into the private directory only.
    /// What else is in there stays: another user had put it in place of the moved file.
    fn release(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
        outside: &Place,
        inside: Place,
        stop: &Stop,
    ) -> Result<Option<(OwnedFd, bool)>, ActError> {
        if found.is_some_and(|now| now.identity() == intent.victim.version.identity()) {
            return Ok(None);
        }
        let stays =
            |error: ActError| error.leaving(place.name.to_bytes()).left_inside(outside.name.to_bytes());
        let victim = open_victim(intent, &inside, stop)?.ok_or_else(|| stays(changed_victim()))?;
        if found.is_some() {
            return Err(stays(Refusal::NameExists.into()));
        }
        restore_name(place, victim.identity(), &inside)?;
        remove_private(outside)?;
        Ok(Some((duplicate(&victim)?, true)))
    }

    /// Opens the file under the private name if it looks like the victim in everything but its device and inode number, which
    /// file systems that invent them may have changed.
    ///
    /// Another user could have put it there. Where one can change the path, it is not the victim, and it is removed as a copy
    /// only if the content is elsewhere as well.
    fn open_alike(&mut self, intent: &Intent, aside: &Place, stop: &Stop) -> Result<Option<Held>, ActError> {
        if !present(aside)?.is_some_and(|now| now.is_regular()) {
            return Ok(None);
        }
        let held = open(Side::Victim, aside.clone())?;
        let is_alike = is_like(&intent.victim.version, &held.stat) && intent.metadata.is_of(&held.stat);
        if !is_alike || !is_recorded_content(intent, &held, stop)? {
            return Ok(None);
        }
        let Err(refusal) = ensure_trusted_above(&aside.dir) else { return Ok(Some(held)) };
        match intent.kind {
            kind if kind.moves() => Ok(None), // it stays, and the moved file is looked for
            ActionKind::Delete if self.has_source(intent, aside, stop)? => Ok(None),
            _ => Err(refusal.into()),
        }
    }

    /// Returns whether the victim can be restored from the keeper or, if it was deleted, from another copy.
    fn has_source(&mut self, intent: &Intent, place: &Place, stop: &Stop) -> Result<bool, ActError> {
        let keeper = self.keeper(intent, place).ok();
        let others = self.other_sources(intent);
        let others = others.into_iter().map(|seen| self.reach.open(Side::Copy, &seen).ok());
        for held in std::iter::once(keeper).chain(others).flatten() {
            if held.stat.size == intent.victim.version.size && is_recorded_content(intent, &held, stop)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the files besides the keeper from which a deleted file can be restored.
    fn other_sources(&self, intent: &Intent) -> Vec<Seen> {
        let list = intent.proof.as_ref().and_then(|proof| proof.copies);
        let others = list.and_then(|list| self.copies.get(&list)).into_iter().flatten();
        let others = others.filter(|other| other.path != intent.keeper.path);
        let seen = |To { path, root_len }| Seen { path, root_len, version: Version::default() };
        others.cloned().map(seen).collect()
    }

    /// Returns whether the file under the private name is a replacement that can be removed: a symbolic link,
    /// or one of several hard links of the keeper on a file system where inode numbers identify a file.
    /// Deletions and moves have no replacement.
    fn is_unused_replacement(
        &mut self,
        intent: &Intent,
        aside: &Place,
        left: &Stat,
    ) -> Result<bool, ActError> {
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
    /// Its bytes are the first ones of the keeper. So it is neither a victim that was rewritten since, even if the copy got the
    /// inode number of the victim, nor a file that another program put there.
    fn is_copy(
        &mut self,
        intent: &Intent,
        place: &Place,
        aside: &Place,
        found: Option<&Stat>,
        left: &Stat,
        stop: &Stop,
    ) -> Result<bool, ActError> {
        if !left.is_regular() || intent.proof.is_none() {
            return Ok(false);
        }
        if !self.is_place_ready(intent, place, found)? {
            return Ok(false);
        }
        let copied = open(Side::Victim, aside.clone())?;
        let keeper = self.keeper(intent, place)?;
        begins_with(&keeper.file, &copied.file, stop)
    }

    /// Returns whether the name leads to what the step put there. If the undo of a later run has restored the keeper, that is
    /// a link to the restored one.
    fn is_replacement(&mut self, intent: &Intent, place: &Place, now: &Stat) -> Result<bool, ActError> {
        match &intent.target {
            None if now.identity() == intent.keeper.version.identity() => Ok(true),
            None => {
                let Seen { path, root_len, .. } = &intent.keeper;
                let keeper = self.reach.locate(Side::Keeper, path, *root_len);
                let keeper = keeper.ok().and_then(|keeper| keeper.stat().ok());
                Ok(now.is_regular() && keeper.is_some_and(|keeper| keeper.identity() == now.identity()))
            }
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
            return self.is_undone(intent, place, now, stop);
        }
        let source = self.keeper(intent, place)?;
        let change = self.change(intent, place)?;
        let (file, temp, shortfall) = self.copy_back(intent, place, &source, &change, stop)?;
        replace(place, now.identity(), temp, || {
            let now = Stat::of(&source.file);
            let now = now.map_err(|errno| Refusal::unreadable(Side::Keeper, "stat", errno))?;
            let changed = Refusal::Changed { side: Side::Keeper, what: "while being copied" };
            source.stat.version().is_same_except_ctime(&now).then_some(()).ok_or(changed)
        })?;
        self.remember(intent, file, false);
        Ok(shortfall.undone())
    }

    /// Copies the content of a deleted file back: from the keeper or, if that has changed, from any other copy.
    fn undelete(&mut self, intent: &Intent, place: &Place, stop: &Stop) -> Result<Undone, ActError> {
        let mut change = Change { before: Access::in_metadata(&intent.metadata), now: None };
        let mut copied = self.change(intent, place).and_then(|known| {
            change = known;
            let source = self.keeper(intent, place)?;
            self.copy_back(intent, place, &source, &change, stop)
        });
        for other in self.other_sources(intent) {
            let Err(ActError::Refused(_)) = copied else { break };
            let source = self.reach.open(Side::Copy, &other).map_err(ActError::from);
            let other = source.and_then(|source| self.copy_back(intent, place, &source, &change, stop));
            if !matches!(other, Err(ActError::Refused(_))) {
                copied = other;
            }
        }
        let (file, temp, shortfall) = copied?;
        restore_name(place, temp.identity, &temp.place).map_err(|error| temp.discard(error))?;
        self.remember(intent, file, false);
        Ok(shortfall.undone())
    }

    /// Opens the file with the victim's content. For a hard link, that is the file at the victim's own name.
    fn keeper(&mut self, intent: &Intent, place: &Place) -> Result<Held, ActError> {
        match intent.kind {
            ActionKind::Hardlink => open(Side::Victim, place.clone()),
            _ => Ok(self.reach.open(Side::Keeper, &intent.keeper)?),
        }
    }

    /// Returns whether an undo has made this file for a name of the victim.
    fn has_made(&self, victim: &VictimKey, identity: &Identity) -> bool {
        self.names.get(victim).is_some_and(|names| names.made.iter().any(|made| made.is_same(identity)))
    }

    /// Notes a file that is complete and is about to get its name. It is in the journal before if the next undo could not
    /// recognise it by its metadata, or may link other names to it.
    fn note_made(&mut self, intent: &Intent, file: &OwnedFd, shortfall: &Shortfall) -> Result<(), ActError> {
        let failed = |error| ActError::failed("record the restored file in the journal", error);
        let identity = Identity::of(file).map_err(failed)?;
        let names = self.names.entry(VictimKey::of(intent)).or_default();
        names.made.push(identity);
        self.replacements.entry(intent.victim.version.identity()).or_default().push(identity);
        if self.log.is_writable() && (names.handled > 1 || shortfall.owner.is_some() || shortfall.permission)
        {
            return self.log.remade(intent.step, &identity).map_err(failed);
        }
        self.new.push((intent.step, identity));
        Ok(())
    }

    /// Makes a copy of `source`, or a hard link to an earlier copy, under the private name of the step. Returns a descriptor of
    /// the file as well.
    ///
    /// The copy gets the victim's metadata only if it has the recorded digest. If another file has the name of the keeper by
    /// now, its content is not given away.
    fn copy_back(
        &mut self,
        intent: &Intent,
        place: &Place,
        source: &Held,
        change: &Change,
        stop: &Stop,
    ) -> Result<(OwnedFd, Temp, Shortfall), ActError> {
        // If this undo is killed, the next one recognises the file by this name.
        let aside = place.sibling(&intent.temp);
        let links = self.links_lost(intent);
        let apart = match self.link_copy(intent, &aside, change, stop)? {
            Link::Made(file, temp, shortfall) => return Ok((file, temp, Shortfall { links, ..shortfall })),
            Link::NoFile => false,
            Link::Impossible => true,
        };
        let expected = expected_digest(intent)?;
        if source.stat.size != intent.victim.version.size {
            return Err(Refusal::Changed { side: Side::Keeper, what: "its size" }.into());
        }
        let (metadata, mut shortfall) = safe_metadata(intent, source, change)?;
        (shortfall.links, shortfall.apart) = (links, apart);
        let expected = Expected::Digest(&expected);
        let Copied { file, temp, is_complete, .. } = copy(source, aside, &metadata, expected, stop)?;
        shortfall.permission = !is_complete;
        match self.note_made(intent, &file, &shortfall) {
            Ok(()) => Ok((file, temp, shortfall)),
            Err(error) => Err(temp.discard(error)),
        }
    }

    /// Returns how many names the victim had that undo does not join with it again.
    fn links_lost(&self, intent: &Intent) -> u64 {
        match self.names.get(&VictimKey::of(intent)) {
            Some(names) if !names.is_original => names.all.saturating_sub(names.handled),
            _ => 0,
        }
    }

    /// Creates a hard link at `aside` to the copy that was made for an earlier name of the same victim, or to the victim
    /// itself. Nothing is linked to a file that grants what was revoked at this name.
    fn link_copy(
        &mut self,
        intent: &Intent,
        aside: &Place,
        change: &Change,
        stop: &Stop,
    ) -> Result<Link, ActError> {
        let victim = VictimKey::of(intent);
        let names = self.names.get(&victim);
        let Some((path, identity)) = names.and_then(|names| names.copy.clone()) else {
            let has_other = names.is_some_and(|names| names.has_other);
            return Ok(if has_other { Link::Impossible } else { Link::NoFile });
        };
        let file = match self.held.iter().position(|(held, _)| *held == victim) {
            Some(nth) => self.held.remove(nth).expect("it was found").1,
            None => {
                let Ok(place) = self.reach.locate(Side::Victim, &path.path, path.root_len) else {
                    return Ok(Link::Impossible);
                };
                match open_copy(intent, place, &identity, stop)? {
                    Some(file) => file,
                    None => return Ok(Link::NoFile),
                }
            }
        };
        if exceeds(intent, change, &file)? {
            return Ok(Link::Impossible);
        }
        let now = Stat::of(&file).map_err(|errno| ActError::failed("stat the other name", errno))?;
        match Temp::linked(&file, aside.clone()) {
            Ok(temp) => Ok(Link::Made(file, temp, shortfall_of(intent, &now))),
            Err(Errno::NOENT) if Stat::of(&file).is_ok_and(|now| now.nlink == 0) => Ok(Link::NoFile),
            Err(
                Errno::XDEV | Errno::MLINK | Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOENT,
            ) => Ok(Link::Impossible),
            Err(errno) => Err(ActError::failed("join the file with its other name", errno)),
        }
    }

    /// Records each victim of several steps that still has one of its names, because a step failed or its run
    /// was killed, or that an earlier undo has restored. The undo then links its other names to it again.
    fn remember_present(&mut self, steps: &[Intent]) {
        for intent in steps {
            if self.has_other_names(intent)
                && let Ok(place) = self.locate(Side::Victim, intent)
                && let Ok(now) = place.stat()
                && let Ok(identity) = place.identity(Side::Victim)
            {
                let victim = VictimKey::of(intent);
                if intent.is_victim(&now, || Ok(identity)).unwrap_or(false) {
                    self.remember_victim(intent, &place);
                } else if self.has_made(&victim, &identity)
                    && let Some(names) = self.names.get_mut(&victim).filter(|names| !names.is_original)
                {
                    names.copy = Some((path_of(intent), identity));
                }
            }
        }
    }

    /// Records that the victim has one of its names, if it had several. It is opened only if another one is linked to it.
    fn remember_victim(&mut self, intent: &Intent, place: &Place) {
        if let Some(names) = self.names.get_mut(&VictimKey::of(intent))
            && names.handled > 1
            && let recorded = intent.proof.as_ref().and_then(|proof| proof.victim)
            && let Ok(identity) = recorded.map_or_else(|| place.identity(Side::Victim), Ok)
        {
            names.is_original = true;
            names.copy = Some((path_of(intent), identity));
        }
    }

    /// Records the restored file, if the victim had several names.
    fn remember(&mut self, intent: &Intent, file: OwnedFd, is_original: bool) {
        let victim = VictimKey::of(intent);
        if let Some(names) = self.names.get_mut(&victim)
            && names.handled > 1
            && let Ok(identity) = Identity::of(&file)
        {
            names.is_original |= is_original;
            names.copy = Some((path_of(intent), identity));
            self.held.retain(|(held, _)| *held != victim);
            if self.held.len() == MAX_HELD {
                self.held.pop_front();
            }
            self.held.push_back((victim, file));
        }
    }

    /// Checks whether the step has already been undone: then the name leads to a file that an undo has made, or to a separate
    /// file with the victim's visible metadata. It has the victim's content. No other name is linked to a file that is recognised
    /// only by its metadata: another user could have made it.
    fn is_undone(
        &mut self,
        intent: &Intent,
        place: &Place,
        now: &Stat,
        stop: &Stop,
    ) -> Result<Undone, ActError> {
        let victim = VictimKey::of(intent);
        let is_alike = |now: &Stat, is_made: bool| {
            let has_metadata = intent.metadata.is_of(&Stat { mode: intent.metadata.mode, ..*now })
                && now.mode & !intent.metadata.mode == 0;
            now.is_regular() && now.size == intent.victim.version.size && (is_made || has_metadata)
        };
        if !is_alike(now, self.has_made(&victim, &place.identity(Side::Victim)?)) {
            let is_victim = intent.victim.version.identity() == now.identity();
            return Err(if is_victim { changed_victim() } else { Refusal::Replaced(Side::Victim).into() });
        }
        expected_digest(intent)?;
        let held = open(Side::Victim, place.clone())?;
        let identity = identify(&held)?;
        let is_made = self.has_made(&victim, &identity);
        if !is_alike(&held.stat, is_made) || !is_recorded_content(intent, &held, stop)? {
            return Err(Refusal::Replaced(Side::Victim).into());
        }
        let access_list = intent.metadata.has_more_lists(&held);
        let access_list = access_list
            .map_err(|error| Refusal::unreadable(Side::Victim, "read the attributes of", error))?;
        let shortfall = Shortfall {
            rights: lacks_rights(intent, &held)?,
            access_list,
            links: self.links_lost(intent),
            apart: self.is_apart(intent, &identity),
            ..shortfall_of(intent, &held.stat)
        };
        if is_made {
            self.remember(intent, duplicate(&held)?, false);
        } else if let Some(names) = self.names.get_mut(&victim) {
            names.has_other = true;
        }
        Ok(if shortfall == Shortfall::default() { Undone::AsItWas } else { Undone::LeftExcept(shortfall) })
    }

    /// Returns whether another name of the victim leads to another file.
    fn is_apart(&self, intent: &Intent, identity: &Identity) -> bool {
        let names = self.names.get(&VictimKey::of(intent));
        names.and_then(|names| names.copy.as_ref()).is_some_and(|(_, other)| !other.is_same(identity))
    }

    /// Returns what a file still lacks that an earlier undo has restored without rights.
    fn what_it_lacks(&mut self, intent: &Intent) -> Undone {
        let held = self.locate(Side::Victim, intent).ok().and_then(|place| Held::open(place).ok());
        let is_restored = |held: &Held| is_like(&intent.victim.version, &held.stat);
        match held.filter(is_restored).map(|held| lacks_rights(intent, &held)) {
            Some(Ok(true)) => Undone::LeftExcept(Shortfall { rights: true, ..Shortfall::default() }),
            _ => Undone::AsItWas,
        }
    }

    fn move_back(
        &mut self,
        intent: &Intent,
        place: &Place,
        found: Option<&Stat>,
        stop: &Stop,
    ) -> Result<Undone, ActError> {
        if found.is_some_and(|now| now.identity() == intent.victim.version.identity()) {
            return Err(changed_victim());
        }
        let mut moved = self.locate_moved(intent)?;
        // A run was killed before the file got its new name.
        if let Some(inside) = left_inside(&moved.sibling(&intent.temp), &moved.name)?
            && open_victim(intent, &inside, stop)?.is_some()
        {
            moved = inside;
        }
        let stat = moved.stat().map_err(|errno| Refusal::unreadable(Side::Victim, "find", errno))?;
        if found.is_some() && intent.is_victim(&stat, || moved.identity(Side::Victim))? {
            return Err(Refusal::NameExists.into());
        }
        let Some(victim) = open_victim(intent, &moved, stop)? else { return Err(changed_victim()) };
        displace(&moved, victim.identity(), place, &intent.temp, |_| Ok(()))?;
        self.clear_moved(intent);
        Ok(Undone::Restored)
    }

    /// Waits until the restored names are on the disk, and then records which steps are undone.
    fn sync(&mut self, known: &BTreeMap<u64, bool>) -> Result<(), JournalError> {
        sync_names(&self.changed).map_err(|errno| JournalError::Sync(errno.into()))?;
        self.changed.clear();
        sync_file_systems(&self.set).map_err(|errno| JournalError::Sync(errno.into()))?;
        self.set.clear();
        let made = std::mem::take(&mut self.new).into_iter();
        let new = std::mem::take(&mut self.undone).into_iter().filter(|(step, _)| !known.contains_key(step));
        self.log.undone(made, new).map_err(JournalError::Write)
    }
}

/// What came of the attempt to make a name a hard link of an earlier one.
enum Link {
    /// The file, its private name, and in what the file is not as the victim was.
    Made(OwnedFd, Temp, Shortfall),
    /// There is no earlier name, or it is gone.
    NoFile,
    /// The file system or the kernel does not join the two names, or the other file may not get this one.
    Impossible,
}

/// Opens a file to link other names to it. By its name it is recognised by its identity and its content: another user
/// could have exchanged it. Returns `None` if its name is free.
fn open_copy(
    intent: &Intent,
    place: Place,
    identity: &Identity,
    stop: &Stop,
) -> Result<Option<OwnedFd>, ActError> {
    if present(&place)?.is_none() {
        return Ok(None);
    }
    let held = open(Side::Victim, place)?;
    if !identity.is_same(&identify(&held)?) || !is_recorded_content(intent, &held, stop)? {
        return Err(Refusal::Replaced(Side::Victim).into());
    }
    Ok(Some(duplicate(&held)?))
}

/// Returns the path of the victim.
fn path_of(Intent { victim: Seen { path, root_len, .. }, .. }: &Intent) -> To {
    To { path: path.clone(), root_len: *root_len }
}

/// Returns another descriptor of an open file.
fn duplicate(held: &Held) -> Result<OwnedFd, ActError> {
    held.file.as_fd().try_clone_to_owned().map_err(|error| ActError::failed("open the file", error))
}

/// Opens the file at a place if it is the victim itself, unchanged. While it is open, no other file can get its inode
/// number.
fn open_victim(intent: &Intent, place: &Place, stop: &Stop) -> Result<Option<Held>, ActError> {
    if !present(place)?.is_some_and(|now| is_like(&intent.victim.version, &now)) {
        return Ok(None);
    }
    let held = open(Side::Victim, place.clone())?;
    let is_victim = intent.is_victim(&held.stat, || identify(&held))?;
    Ok((is_victim && is_recorded_content(intent, &held, stop)?).then_some(held))
}

/// Returns whether a file lacks set-ID bits or capabilities that the victim had.
fn lacks_rights(intent: &Intent, held: &Held) -> Result<bool, Refusal> {
    let lacks = intent.metadata.has_more_rights(held);
    lacks.map_err(|error| Refusal::unreadable(Side::Victim, "read the attributes of", error))
}

/// Returns the identity of an open file.
fn identify(held: &Held) -> Result<Identity, Refusal> {
    let identity = Identity::of(&held.file);
    identity.map_err(|error| Refusal::unreadable(Side::Victim, "identify", error))
}

/// Returns whether an open file has the recorded content. Without a recorded digest, it has.
fn is_recorded_content(intent: &Intent, held: &Held, stop: &Stop) -> Result<bool, ActError> {
    let Ok(expected) = expected_digest(intent) else { return Ok(true) };
    match digest(&held.file, stop) {
        Ok(Some(found)) => Ok(found == expected),
        Ok(None) => Err(ActError::Stopped),
        Err(failure) => Err(Refusal::of_failure(Side::Victim, failure).into()),
    }
}

/// Returns the digest that the content must have.
fn expected_digest(intent: &Intent) -> Result<blake3::Hash, Refusal> {
    intent.proof.as_ref().and_then(|proof| proof.digest).ok_or(Refusal::NoDigest)
}

fn changed_victim() -> ActError {
    Refusal::Changed { side: Side::Victim, what: "since the run" }.into()
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
