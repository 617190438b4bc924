//! Putting back recorded metadata of entries that exist.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use ftk_file::{FileType, Stat, Version, is_temp_name, temp_name};
use ftk_sched::Stop;
use rustix::process::{getegid, geteuid, getgroups};

use crate::action::{ActionKind, Freed};
use crate::durable::sync_file_systems;
use crate::entry::Entry;
use crate::intent::{Intent, Proof};
use crate::journal::Journal;
use crate::metadata::{KeeperAccess, Metadata};
use crate::refusal::{ActError, Refusal, Side};
use crate::restore::{RecordedMetadata, Restorer};
use crate::seen::Seen;

/// An entry of any type that gets recorded metadata.
#[derive(Clone, Debug)]
pub struct PutBack {
    /// The entry as the caller saw it. A path that ends with `/.` is that of the starting point itself. Of a directory, only
    /// device and inode number must be the same.
    pub entry: Seen,
    /// The type of the entry.
    pub file_type: FileType,
    /// What the entry gets. Members that are `None` stay as they are.
    pub recorded: RecordedMetadata,
}

/// An entry of a batch that is ready for its step.
struct Ready {
    step: u64,
    entry: Entry,
    old: Metadata,
    new: Metadata,
}

impl Restorer {
    /// Sets the recorded metadata of entries, in this order, and calls `report` with the outcome of each: the entry as it is
    /// then, if it can be queried. The caller names directories after everything in them, since later steps would change their times.
    ///
    /// Each entry is reached by a descriptor, and changed only if it is the one that the caller saw: a file or link with the
    /// same size, mtime and ctime, a directory with the same inode. No entry gets set-user-ID or set-group-ID bits or
    /// capabilities that it lacks, and it keeps those only if their owner or group does not change. A step that fails sets
    /// everything back. A killed one may have set a part: it is completed by a repetition, or undone.
    ///
    /// # Errors
    /// If the journal cannot be written, or a file system cannot be synced. The entries of later batches are then not reported.
    pub fn set_metadata(
        &mut self,
        entries: &[PutBack],
        journal: &mut Journal,
        stop: &Stop,
        mut report: impl FnMut(usize, Result<Option<Version>, ActError>),
    ) -> io::Result<()> {
        let mut number = 0;
        for batch in entries.chunks(self.max_files) {
            let ready: Vec<_> = batch.iter().map(|it| self.ready_metadata(it, journal, stop)).collect();
            if ready.iter().any(|ready| matches!(ready, Ok(Ok(_)))) {
                journal.sync()?;
            }
            let mut changed: Vec<Rc<OwnedFd>> = Vec::new();
            let mut outcomes = Vec::new();
            for ready in ready {
                outcomes.push(ready.and_then(|ready| {
                    let ready = match ready {
                        Ok(ready) => ready,
                        Err(unchanged) => return Ok(Some(unchanged)),
                    };
                    let done = if stop.is_raised() { Err(ActError::Stopped) } else { ready.set() };
                    match &done {
                        Ok(_) => journal.note_done(ready.step, Freed(0)),
                        Err(error) => journal.note_error(ready.step, error),
                    }
                    if let Ok(Some(now)) = &done {
                        self.own_changes.note(&ready.entry.stat, now);
                    }
                    changed.push(ready.entry.place.dir);
                    done.map(|now| now.map(|now| now.version()))
                }));
            }
            // A step that the journal calls done must still be done after a power failure.
            let synced = sync_file_systems(&changed).map_err(io::Error::from);
            for outcome in outcomes {
                report(number, outcome);
                number += 1;
            }
            synced.and_then(|()| journal.write())?;
        }
        Ok(())
    }

    /// Opens and checks an entry, and adds its intent to the journal. The inner `Err` is an entry that has everything that it may
    /// get.
    fn ready_metadata(
        &mut self,
        PutBack { entry: seen, file_type, recorded }: &PutBack,
        journal: &mut Journal,
        stop: &Stop,
    ) -> Result<Result<Ready, Version>, ActError> {
        if stop.is_raised() {
            return Err(ActError::Stopped);
        }
        let place = self.reach.locate_entry(Side::Target, &seen.path, seen.root_len)?;
        if is_temp_name(place.name.to_bytes()) {
            return Err(Refusal::TemporaryName(Side::Target).into());
        }
        let entry = Entry::open(Side::Target, place)?;
        let is_directory = *file_type == FileType::Directory;
        let version = entry.stat.version();
        if entry.stat.file_type != *file_type || version.identity() != seen.version.identity() {
            return Err(Refusal::Replaced(Side::Target).into());
        }
        if !is_directory && !self.own_changes.is_unchanged(&seen.version, &entry.stat) {
            return Err(Refusal::Changed { side: Side::Target, what: "since it was read" }.into());
        }
        let now = entry.metadata(Side::Target)?;
        let (mut old, mut version) = (now.clone(), version);
        if is_directory {
            // The run has changed names in it. It keeps the time before that, which undo brings back too.
            version.mtime_ns = seen.version.mtime_ns;
            old.mtime_ns = version.mtime_ns;
        }
        let new = recorded.over(&old, *file_type);
        if new.is_same(&now) {
            return Ok(Err(version));
        }
        ensure_permitted(&old, &new)?;
        let identity = entry.identity(Side::Target)?;
        let proof = Proof {
            directory: entry.place.directory(Side::Target)?,
            victim: Some(identity),
            nlink: entry.stat.nlink,
            keeper_mode: 0,
            keeper_access: KeeperAccess::default(),
            keeper_birth_ns: None,
            digest: None,
            copies: None,
        };
        let victim = Seen { path: seen.path.clone(), root_len: seen.root_len, version };
        let mut intent = Intent {
            step: 0, // numbered when it is added to the journal
            kind: ActionKind::SetMetadata,
            temp: temp_name(),
            keeper: victim.clone(),
            victim,
            metadata: old.clone(),
            target: None,
            to: None,
            saved: None,
            made: None,
            set: Some(new.clone()),
            proof: Some(proof),
        };
        journal.intend(&mut intent, &self.reach)?;
        Ok(Ok(Ready { step: intent.step, entry, old, new }))
    }
}

impl Ready {
    /// Sets the new metadata, or leaves the old one. Returns the entry as it is then, if it can be queried.
    fn set(&self) -> Result<Option<Stat>, ActError> {
        self.recheck(|now| now.version() == self.entry.stat.version())?;
        let set = self.entry.set_access(&self.new).and_then(|()| {
            // A write since the check must keep its new time: with the recorded one, it would look like damage.
            self.recheck(|now| (now.size, now.mtime_ns) == (self.entry.stat.size, self.entry.stat.mtime_ns))?;
            if self.new.mtime_ns == self.entry.stat.mtime_ns {
                return Ok(());
            }
            self.entry.set_time(self.new.mtime_ns)
        });
        set.map(|()| self.entry.now(Side::Target).ok()).map_err(|error| {
            match self.entry.set_access(&self.old) {
                Ok(()) => error,
                Err(_) => match error {
                    ActError::Failed { source, .. } => ActError::failed(
                        "restore all of the metadata, nor set it back (undo tries again)",
                        source,
                    ),
                    error => error,
                },
            }
        })
    }

    fn recheck(&self, is_same: impl FnOnce(&Stat) -> bool) -> Result<(), ActError> {
        // Files that are restored in a directory change it.
        if self.entry.stat.file_type == FileType::Directory || is_same(&self.entry.now(Side::Target)?) {
            return Ok(());
        }
        Err(Refusal::Changed { side: Side::Target, what: "while its metadata was being restored" }.into())
    }
}

/// Checks that the caller may set this metadata, as far as that is known before it is tried.
fn ensure_permitted(old: &Metadata, new: &Metadata) -> Result<(), Refusal> {
    let (euid, egid) = (geteuid(), getegid().as_raw());
    if euid.is_root() {
        return Ok(());
    }
    if old.uid != new.uid {
        return Err(Refusal::OnlyRoot { what: "owner", id: new.uid });
    }
    if old.uid != euid.as_raw() {
        return Err(Refusal::NotOwner(old.uid));
    }
    let is_member = || getgroups().is_ok_and(|groups| groups.iter().any(|it| it.as_raw() == new.gid));
    if old.gid != new.gid && new.gid != egid && !is_member() {
        return Err(Refusal::OnlyRoot { what: "group", id: new.gid });
    }
    Ok(())
}
