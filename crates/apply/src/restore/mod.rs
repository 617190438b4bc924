//! Restoring files: a damaged file is replaced with its recorded content, and a missing file is created.

mod directories;
mod put_back;
mod ready;
mod recorded;
mod saved;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::rc::Rc;

use ftk_file::{Birth, Failure, File, FileType, Identity, Stat, Version, temp_name};
use ftk_sched::Stop;

use crate::action::ActionKind;
use crate::copy::{Check, Copied, Expected, copy};
use crate::durable::sync_names;
use crate::engine::{BATCH_BYTES, max_batch};
use crate::exposed::is_exposed;
use crate::intent::{Intent, Made, Proof};
use crate::journal::Journal;
use crate::metadata::{Access, KeeperAccess, Metadata, is_access_list};
use crate::own_changes::OwnChanges;
use crate::reach::{Held, Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::restore::directories::Directories;
use crate::restore::ready::{Name, Naming, Ready};
use crate::restore::saved::SavedFiles;
use crate::seen::Seen;
use crate::stat::fstat_now;
use crate::temp::Temp;

pub use directories::NearestDirectory;
pub use put_back::PutBack;
pub use recorded::RecordedMetadata;

/// Descriptors that are reserved for everything but the files of a batch: starting points, the new file, the
/// directory for damaged content, and what the caller has open.
const RESERVED_DESCRIPTORS: u64 = 20;

/// A file to restore: one content, and one or more names that all become hard links of one file.
#[derive(Clone, Debug)]
pub struct Restore {
    /// The file that has the content.
    pub source: Seen,
    /// Whether the names become hard links of the source itself. Otherwise they get a new file. The source must then have the
    /// recorded metadata except times, and no set-ID bits or capabilities. What a damaged file has is not kept.
    pub links: bool,
    /// The names. If some exist, they must be hard links of one damaged file and come first.
    pub names: Vec<RestoreName>,
    /// The metadata of the new file if no name exists. Otherwise the damaged file determines what is not in
    /// [`changes`](Self::changes).
    pub recorded: RecordedMetadata,
    /// What the new file does not keep of the damaged file's metadata.
    pub changes: RecordedMetadata,
}

/// A name of a file to restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreName {
    /// The path: the starting point joined with the path below it.
    pub path: Vec<u8>,
    /// Length of the starting point in `path`: see [`Seen::root_len`].
    pub root_len: usize,
    /// The damaged file, or one with other content, as it was when the caller read it. `None` if the name must not exist.
    pub damaged: Option<Version>,
    /// The directory nearest to a missing name that exists. `None` if it is the starting point. Directories below it are
    /// made.
    pub directory: Option<NearestDirectory>,
}

/// The result of restoring a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The state of the new file when all its names were restored. `None` if it cannot be queried.
    pub stat: Option<Stat>,
    /// Whether the damaged file had set-user-ID or set-group-ID bits or capabilities, which the new file
    /// lacks.
    pub lacks_rights: bool,
}

/// A function that reads a file and returns whether it has the content to be restored. The number is the
/// position of the [`Restore`] in its run.
pub type HasContent<'c> = &'c mut dyn FnMut(usize, &File) -> Result<bool, Failure>;

/// Restores damaged and missing files from copies, or as hard links of files in the tree.
///
/// The engine makes a new file next to the damaged one, under a private name. It reads the bytes back from
/// the disk, compares them with the copy, and lets the caller check them: the new file gets its name only if
/// the caller accepts exactly these bytes. Before that, it saves the content of the damaged file for
/// [`undo`](crate::undo()), and checks that the damaged file is still the one that the caller read. At every
/// moment the name leads to the old file or to the complete new one.
///
/// The new file keeps the owner, permissions, times and attributes of the damaged one. No new file is
/// set-user-ID or set-group-ID or has capabilities: a user who supplies both the copy and the recorded digest
/// must not get a program with such rights.
#[derive(Debug)]
pub struct Restorer {
    reach: Reach,
    saved: Option<SavedFiles>,
    directories: Directories,
    own_changes: OwnChanges,
    /// The maximal number of files in a batch, limited by the descriptors they need.
    max_files: usize,
}

/// A file of a batch, and the outcomes of its names so far.
struct Item {
    restore: Restore,
    ready: Option<Ready>,
    outcomes: Vec<Option<Result<Restored, ActError>>>,
}

impl Restorer {
    /// Creates an engine. `save_in` is a directory for the content of damaged files, which is created when it
    /// is needed; without it, undo cannot restore that content. `directories` has the recorded metadata of
    /// directories, by their path: missing ones are created. Relative paths start from the working directory.
    pub fn new(save_in: Option<&Path>, directories: BTreeMap<Vec<u8>, RecordedMetadata>) -> Self {
        Self {
            reach: Reach::new(),
            saved: save_in.map(SavedFiles::new),
            directories: Directories::new(directories),
            own_changes: OwnChanges::default(),
            max_files: max_batch(RESERVED_DESCRIPTORS),
        }
    }

    /// Expects that the starting point with this path is this directory.
    #[must_use]
    pub fn expecting(mut self, path: &[u8], identity: Identity) -> Self {
        self.reach.expect_start(path, identity);
        self
    }

    /// Returns the version of a file that was seen before the run, as the steps so far have left it. Names that they have added or
    /// removed change its ctime.
    pub fn current(&self, seen: Version) -> Version {
        self.own_changes.current(seen)
    }

    /// Restores the files in order, and calls `report` with the outcome for each name, by its index. An error
    /// of a file ends only the work on that file.
    ///
    /// Raising `stop` ends the run between two files. Files that are not restored then are reported as
    /// [`ActError::Stopped`].
    ///
    /// # Errors
    /// If the journal cannot be written, or names cannot be synced. The remaining files are then not
    /// reported.
    ///
    /// # Panics
    /// If a `Restore` has no names.
    pub fn run(
        &mut self,
        restores: impl IntoIterator<Item = Restore>,
        journal: &mut Journal,
        stop: &Stop,
        has_content: HasContent<'_>,
        mut report: impl FnMut(&Restore, usize, Result<Restored, ActError>),
    ) -> io::Result<()> {
        let mut restores = restores.into_iter().enumerate();
        let mut outcome = Ok(());
        loop {
            let mut batch = match self.prepare(&mut restores, journal, stop) {
                Ok(batch) if batch.is_empty() => break,
                Ok(batch) => batch,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            };
            outcome = self.perform(&mut batch, journal, stop, has_content);
            for Item { restore, outcomes, .. } in batch {
                for (nth, outcome) in outcomes.into_iter().enumerate() {
                    report(&restore, nth, outcome.unwrap_or(Err(ActError::Stopped)));
                }
            }
            if outcome.is_err() {
                break;
            }
        }
        outcome
    }

    /// Sets the recorded metadata of the directories that were made. Must be called when all their files are restored.
    ///
    /// # Errors
    /// If it cannot be set.
    pub fn finish_directories(&mut self) -> io::Result<()> {
        self.directories.finish(&mut self.reach)
    }

    /// Opens and checks the files of the next batch, makes their missing directories, and adds their intents to the
    /// journal.
    fn prepare(
        &mut self,
        restores: &mut impl Iterator<Item = (usize, Restore)>,
        journal: &mut Journal,
        stop: &Stop,
    ) -> io::Result<Vec<Item>> {
        let mut next = Vec::new();
        let mut bytes = 0_u64;
        while next.len() < self.max_files && bytes < BATCH_BYTES {
            let Some((number, restore)) = restores.next() else { break };
            bytes = bytes.saturating_add(restore.source.version.size);
            next.push((number, restore));
        }
        let missing = next.iter().flat_map(|(_, restore)| &restore.names).filter(|it| it.damaged.is_none());
        if !stop.is_raised() && self.directories.plan(&mut self.reach, missing, journal) {
            journal.sync()?;
        }
        let mut batch = Vec::new();
        for (number, restore) in next {
            let mut outcomes: Vec<_> = restore.names.iter().map(|_| None).collect();
            let ready = if stop.is_raised() {
                None
            } else {
                self.make_ready(number, &restore, journal, &mut outcomes)
            };
            batch.push(Item { restore, ready, outcomes });
        }
        Ok(batch)
    }

    /// Opens and checks the files of a restore. Names that are refused get an outcome; the others get an
    /// intent.
    fn make_ready(
        &mut self,
        number: usize,
        restore: &Restore,
        journal: &mut Journal,
        outcomes: &mut [Option<Result<Restored, ActError>>],
    ) -> Option<Ready> {
        let held = self.reach.hold(Side::Source, &restore.source, &self.own_changes);
        let source = match held.and_then(|source| refuse_other_metadata(restore, &source).map(|()| source)) {
            Ok(source) => source,
            Err(refusal) => {
                fail(outcomes, refusal.into());
                return None;
            }
        };
        // All damaged names lead to one file, so if it was planted under one of them, it is left under all.
        let is_planted = restore.names.len() > 1
            && restore.names.iter().filter(|name| name.damaged.is_some()).any(|name| {
                let opened = self.open_name(name, None);
                opened.is_ok_and(|(_, damaged)| refuse_planted(restore, damaged.as_ref()).is_err())
            });
        let mut first: Option<(Place, Option<Held>)> = None;
        let mut accepted = Vec::new();
        for (index, name) in restore.names.iter().enumerate() {
            let victim = first.as_ref().and_then(|(_, victim)| victim.as_ref());
            let opened = self.open_name(name, victim).and_then(|opened| {
                refuse_planted(restore, opened.1.as_ref())?;
                if is_planted && opened.1.is_some() { Err(Refusal::OtherName.into()) } else { Ok(opened) }
            });
            match opened {
                Ok(opened) => {
                    accepted.push((index, name));
                    first.get_or_insert(opened);
                }
                Err(error) => outcomes[index] = Some(Err(error)),
            }
        }
        let (place, victim) = first?;
        let old = match victim.as_ref().map(Metadata::of).transpose() {
            Ok(old) => old,
            Err(error) => {
                fail(outcomes, Refusal::unreadable(Side::Target, "read the attributes of", error).into());
                return None;
            }
        };
        let metadata = match &old {
            _ if restore.links => Metadata::of_stat(&source),
            Some(old) => restore.changes.over(&old.without_rights(), FileType::Regular),
            None => restore.recorded.metadata(&source, restore.changes.attributes.is_some()),
        };
        let lacks_rights = old.as_ref().is_some_and(|old| *old != old.without_rights());
        let mut saved = None;
        let mut names = Vec::new();
        for (index, name) in accepted {
            let proof = match self.proof(name, victim.as_ref()) {
                Ok(proof) => proof,
                // The new file would be made at the place of this name, and get another one.
                Err(refusal) if names.is_empty() => {
                    fail(outcomes, refusal.into());
                    return None;
                }
                Err(refusal) => {
                    outcomes[index] = Some(Err(refusal.into()));
                    continue;
                }
            };
            let step = journal.next();
            let kind = if name.damaged.is_some() { ActionKind::Replace } else { ActionKind::Create };
            if name.damaged.is_some() && saved.is_none() {
                saved = self.saved.as_ref().map(|saved| saved.place_of(step));
            }
            let version = name.damaged.unwrap_or_default();
            let mut intent = Intent {
                step,
                kind,
                temp: temp_name(),
                victim: Seen { path: name.path.clone(), root_len: name.root_len, version },
                metadata: old.clone().unwrap_or_else(|| metadata.clone()),
                keeper: restore.source.clone(),
                target: None,
                to: None,
                saved: saved.clone().filter(|_| name.damaged.is_some()),
                made: None,
                set: None,
                proof: Some(proof),
            };
            if let Err(refusal) = journal.intend(&mut intent, &self.reach) {
                let error = ActError::from(refusal);
                names.iter().for_each(|name: &Name| journal.note_error(name.intent.step, &error));
                outcomes[index] = Some(Err(error));
                fail(outcomes, Refusal::OtherName.into());
                return None;
            }
            names.push(Name { index, intent });
        }
        if names.is_empty() {
            return None;
        }
        let (source, links) = (Some(source), restore.links);
        Some(Ready { number, source, links, place, victim, names, metadata, lacks_rights, new: None })
    }

    /// Identifies the directory of a name, and the damaged file.
    fn proof(&mut self, name: &RestoreName, victim: Option<&Held>) -> Result<Proof, Refusal> {
        let place = self.reach.locate(Side::Target, &name.path, name.root_len)?;
        let unidentified = |error| Refusal::unreadable(Side::Target, "identify", error);
        let victim = victim.filter(|_| name.damaged.is_some());
        Ok(Proof {
            directory: place.directory(Side::Target)?,
            victim: victim.map(|victim| Identity::of(&victim.file)).transpose().map_err(unidentified)?,
            nlink: victim.map_or(0, |victim| victim.stat.nlink),
            keeper_mode: 0,
            keeper_access: KeeperAccess::default(),
            keeper_birth_ns: None,
            digest: None,
            copies: None,
        })
    }

    /// Opens a damaged file, or checks that a name is free and creates its missing directories. `victim`: the
    /// damaged file under its first name, if that is open already.
    fn open_name(
        &mut self,
        name: &RestoreName,
        victim: Option<&Held>,
    ) -> Result<(Place, Option<Held>), ActError> {
        let Some(version) = name.damaged else {
            let place = self.directories.place(&mut self.reach, name)?;
            ready::check_free(&place)?;
            return Ok((place, None));
        };
        let seen = Seen { path: name.path.clone(), root_len: name.root_len, version };
        let held = self.reach.hold(Side::Target, &seen, &self.own_changes)?;
        // All names must lead to one file.
        if victim.is_some_and(|victim| victim.identity() != held.identity()) {
            return Err(Refusal::Replaced(Side::Target).into());
        }
        Ok((held.place.clone(), Some(held)))
    }

    /// Restores the files of a batch.
    fn perform(
        &mut self,
        batch: &mut [Item],
        journal: &mut Journal,
        stop: &Stop,
        has_content: HasContent<'_>,
    ) -> io::Result<()> {
        if batch.iter().any(|item| item.ready.is_some()) {
            journal.sync()?;
        }
        for item in batch.iter_mut() {
            let Some(ready) = &mut item.ready else { continue };
            match self.make(ready, journal, stop, has_content) {
                Ok((made, saved)) => {
                    ready.names.iter().for_each(|name| journal.made(name.intent.step, &made, saved.as_ref()))
                }
                Err(error) => {
                    ready.note_failure(&error, journal);
                    fail(&mut item.outcomes, error);
                    item.ready = None;
                }
            }
        }
        let saved = self.saved.as_ref().map_or(Ok(()), SavedFiles::sync);
        if let Err(error) = saved.and_then(|()| journal.sync()) {
            for ready in batch.iter_mut().filter_map(|item| item.ready.take()) {
                ready.discard();
            }
            return Err(error);
        }
        let mut changed: Vec<Rc<OwnedFd>> = Vec::new();
        let mut named = Ok(());
        for item in batch.iter_mut() {
            match item.ready.take() {
                Some(ready) if named.is_ok() => {
                    let mut run = Naming {
                        reach: &mut self.reach,
                        own_changes: &mut self.own_changes,
                        journal: &mut *journal,
                        changed: &mut changed,
                    };
                    named = ready.give_names(&mut run, stop, &mut item.outcomes);
                }
                Some(ready) => ready.discard(),
                None => {}
            }
        }
        named?;
        // Syncs the names before the outcomes are written: a step that the journal calls done must still be
        // done after a power failure.
        sync_names(&changed)?;
        journal.write()
    }

    /// Makes and checks the new file under the private name of the first name, and saves the damaged content.
    /// Returns the state of the new file, and the digest of the saved content.
    fn make(
        &mut self,
        ready: &mut Ready,
        journal: &mut Journal,
        stop: &Stop,
        has_content: HasContent<'_>,
    ) -> Result<(Made, Option<blake3::Hash>), ActError> {
        let number = ready.number;
        let mut check = |file: &File| match has_content(number, file) {
            Ok(true) => Ok(()),
            Ok(false) if stop.is_raised() => Err(ActError::Stopped),
            Ok(false) => Err(Refusal::WrongContent.into()),
            Err(failure) => Err(Refusal::of_failure(Side::Source, failure).into()),
        };
        let first = &ready.names[0].intent;
        let aside = ready.place.sibling(&first.temp);
        // Closes the source: its descriptor is needed for the new file.
        let source = ready.source.take().expect("a file is made once");
        let (temp, file) = match ready.links {
            true => {
                // An earlier step may have linked it too.
                drop(source);
                let source = self.reach.hold(Side::Source, &first.keeper, &self.own_changes)?;
                let (temp, file) = link(&source, aside, &mut check)?;
                if let Ok(now) = fstat_now(&file) {
                    self.own_changes.note(&source.stat, &now);
                }
                (temp, file)
            }
            false => {
                let expected = Expected::Checked(&mut check);
                let copied = copy(&source, aside, &ready.metadata, expected, stop);
                let Copied { temp, file, .. } = copied.map_err(|error| error.with_source(Side::Source))?;
                (temp, file)
            }
        };
        let made = match made_of(&file) {
            Ok(made) => made,
            Err(error) => return Err(temp.discard(error)),
        };
        let mut digest = None;
        if let (Some(saved), Some(victim)) = (&mut self.saved, &mut ready.victim) {
            // Since it was opened, another name of the batch may have become a link of it.
            let seen = victim.stat.version();
            let is_linked = |now: &Stat| now.version() != seen && self.own_changes.is_unchanged(&seen, now);
            if fstat_now(&victim.file).is_ok_and(|now| is_linked(&now)) {
                match self.reach.hold(Side::Target, &first.victim, &self.own_changes) {
                    Ok(held) => *victim = held,
                    Err(refusal) => return Err(temp.discard(refusal.into())),
                }
            }
            match saved.save(victim, first.step, journal, stop) {
                Ok(saved) => digest = Some(saved),
                Err(error) => return Err(temp.discard(error)),
            }
        }
        ready.new = Some((file, temp));
        Ok((made, digest))
    }
}

/// Gives a file a further, private name, if its content passes the check.
fn link(source: &Held, aside: Place, check: Check<'_>) -> Result<(Temp, OwnedFd), ActError> {
    check(&source.file)?;
    let now = fstat_now(&source.file).map_err(|errno| Refusal::unreadable(Side::Source, "stat", errno))?;
    // A link to it that was made meanwhile changes its ctime.
    if !source.stat.version().is_same_except_ctime(&now) {
        return Err(Refusal::Changed { side: Side::Source, what: "while it was read" }.into());
    }
    let file = source.file.as_fd().try_clone_to_owned();
    let file = file.map_err(|error| ActError::failed("open the file to be linked", error))?;
    let temp = Temp::linked(&file, aside);
    Ok((temp.map_err(|errno| ActError::of_naming("link the other name", errno))?, file))
}

/// Refuses to link names to a file that has other metadata than recorded, or gives rights: the names would get these.
fn refuse_other_metadata(restore: &Restore, source: &Held) -> Result<(), Refusal> {
    if !restore.links {
        return Ok(());
    }
    let now = Metadata::of(source)
        .map_err(|error| Refusal::unreadable(Side::Source, "read the attributes of", error))?;
    let recorded = restore.recorded.over(&now, FileType::Regular);
    let recorded = Metadata { mtime_ns: now.mtime_ns, ..recorded };
    match now == now.without_rights() && recorded.is_same(&now) {
        true => Ok(()),
        false => Err(Refusal::OtherMetadata),
    }
}

/// Describes a new file.
fn made_of(file: &OwnedFd) -> Result<Made, ActError> {
    let stat = Stat::of_with(file, Birth::Requested);
    let stat = stat.map_err(|errno| ActError::failed("stat the copy", errno))?;
    let access = Access::at(&stat, file);
    let access = access.map_err(|error| ActError::failed("read the attributes of the copy", error))?;
    Ok(Made { version: stat.version(), birth_ns: stat.birth_ns, access: Some(access) })
}

/// Refuses a damaged file that another user may have put there and whose owner, permissions or access list let others than
/// recorded read the content: the new file gets these, as far as they are not restored too.
fn refuse_planted(restore: &Restore, damaged: Option<&Held>) -> Result<(), Refusal> {
    let Some(held) = damaged else { return Ok(()) };
    let (Restore { recorded, changes, .. }, stat) = (restore, &held.stat);
    let other_owner = recorded.uid.filter(|it| *it != stat.uid);
    let mode = changes.mode.unwrap_or(stat.mode);
    let has_other_group = recorded.gid.is_some_and(|gid| gid != changes.gid.unwrap_or(stat.gid));
    let grants_more = recorded.mode.is_some_and(|recorded| mode & 0o777 & !recorded != 0)
        || has_other_group && mode & 0o070 != 0
        || changes.attributes.is_none() && has_other_list(recorded, held)?;
    if (other_owner.is_none() && !grants_more) || !is_exposed(&held.place.dir)? {
        return Ok(());
    }
    Err(match other_owner {
        Some(recorded) => Refusal::OtherOwner { owner: stat.uid, recorded },
        None => Refusal::GrantsMore,
    })
}

/// Returns whether a file has an access control list that is not recorded.
fn has_other_list(recorded: &RecordedMetadata, held: &Held) -> Result<bool, Refusal> {
    let metadata = Metadata::of(held)
        .map_err(|error| Refusal::unreadable(Side::Target, "read the attributes of", error))?;
    let mut lists = metadata.attributes.iter().filter(|it| is_access_list(it));
    Ok(lists.any(|list| !recorded.attributes.as_ref().is_some_and(|recorded| recorded.contains(list))))
}

/// Gives the first open name this error. The others report that another name failed.
fn fail(outcomes: &mut [Option<Result<Restored, ActError>>], error: ActError) {
    let mut error = Some(error);
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
        *outcome = Some(Err(error.take().unwrap_or_else(|| Refusal::OtherName.into())));
    }
}
