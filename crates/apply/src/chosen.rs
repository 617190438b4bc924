//! Entries that the user chose in a list. No copy of them has to stay, so nothing is compared: instead, the entry and all that
//! is below it must be exactly as it was shown.
//!
//! The entry is checked, recorded in the journal, renamed, and checked again under the new name, where no program can reach it
//! by its old path. A quarantine ends there. A deletion renames to a private name next to the old one, and then removes what
//! was checked, one directory after the other. Whatever appeared meanwhile makes it end, and what is left gets its name back.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use ftk_file::{FileType, Seal, Sealer, Stat, Symlinks, descend, is_temp_name};
use ftk_sched::Stop;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use crate::action::{ActionKind, Freed};
use crate::durable::sync_names;
use crate::engine::Engine;
use crate::intent::{Intent, Proof};
use crate::journal::Journal;
use crate::metadata::Metadata;
use crate::reach::{DIRECTORY, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::{Seen, Step};
use crate::swap::{discard, displace};
use crate::sys::is_mount_point;
use crate::tree::intent;

/// An entry of any type that the user chose, as it was shown.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The entry.
    pub seen: Seen,
    /// Its type.
    pub file_type: FileType,
    /// The seal of everything below it.
    pub below: Seal,
}

/// A directory at or below a chosen one: its path there, and the seal of its own entries, without their ctimes. These change
/// when another hard link of a file is removed.
type Level = (Vec<u8>, Seal);

impl Engine {
    /// Moves a chosen entry below the directory of [`Action::Move`](crate::Action::Move), which undo reverts, or deletes it
    /// for good with [`Action::Delete`](crate::Action::Delete). Returns the bytes on the disk that this freed.
    ///
    /// The entry is refused unless it and everything below it are as they were shown, by the seal of `sealer`. It is also
    /// refused if something is mounted on it or below it, or if it contains the directory that it is to be moved to.
    ///
    /// # Errors
    /// If the journal cannot be written or names cannot be synced. A step that is not in the journal is never performed. The
    /// inner error says why the entry was refused, or where a deletion ended: what is left of the entry has its name then.
    pub fn run_chosen(
        &mut self,
        chosen: &Chosen,
        sealer: &Sealer,
        journal: &mut Journal,
        stop: &Stop,
    ) -> io::Result<Result<Freed, ActError>> {
        if stop.is_raised() {
            return Ok(Err(ActError::Stopped));
        }
        self.note_destination(journal)?;
        let (place, mut intent) = match self.prepare_chosen(chosen, sealer) {
            Ok(ready) => ready,
            Err(error) => return Ok(Err(error)),
        };
        if let Err(refusal) = journal.intend(&mut intent, self.reach()) {
            return Ok(Err(refusal.into()));
        }
        journal.sync()?;
        let outcome = match stop.is_raised() {
            true => Err(ActError::Stopped),
            false => self.act_on_chosen(chosen, &place, &intent, sealer, stop),
        };
        journal.note(intent.step, &outcome);
        sync_names(&[place.dir])?;
        self.sync_destination()?;
        journal.write()?;
        Ok(outcome)
    }

    /// Checks a chosen entry as far as this is possible without changing anything.
    ///
    /// # Errors
    /// The reason why it would be refused.
    pub fn check_chosen(&mut self, chosen: &Chosen, sealer: &Sealer) -> Result<(), ActError> {
        self.prepare_chosen(chosen, sealer).map(drop)
    }

    fn prepare_chosen(&mut self, chosen: &Chosen, sealer: &Sealer) -> Result<(Place, Intent), ActError> {
        let victim = &chosen.seen;
        let place = self.reach().locate(Side::Victim, &victim.path, victim.root_len)?;
        if is_temp_name(place.name.to_bytes()) {
            return Err(Refusal::TemporaryName(Side::Victim).into());
        }
        let check = Check { chosen, sealer, destination: self.destination_id()?, is_renamed: false };
        let stat = check.entry(&place)?;
        check.levels(&place)?;
        let Stat { mode, uid, gid, mtime_ns, nlink, .. } = stat;
        let metadata = Metadata { mode, uid, gid, atime_ns: mtime_ns, mtime_ns, attributes: Vec::new() };
        let proof = Proof::of_removed(&place, Side::Victim, nlink)?;
        let to = self.new_path(&victim.path);
        let kind = if to.is_some() { ActionKind::MoveEntry } else { ActionKind::DeleteEntry };
        // It has no counterpart.
        let step = Step::new(victim.clone(), victim.clone());
        Ok((place, Intent { to, ..intent(kind, step, metadata, proof) }))
    }

    /// Returns device and inode number of the directory that entries are moved to.
    fn destination_id(&self) -> Result<Option<(u64, u64)>, ActError> {
        let Some(destination) = self.destination() else { return Ok(None) };
        let identity = destination.identity();
        let identity = identity.map_err(|error| ActError::failed("identify the directory", error))?;
        Ok(Some((identity.dev, identity.ino)))
    }

    fn act_on_chosen(
        &mut self,
        chosen: &Chosen,
        place: &Place,
        intent: &Intent,
        sealer: &Sealer,
        stop: &Stop,
    ) -> Result<Freed, ActError> {
        let check = Check { chosen, sealer, destination: self.destination_id()?, is_renamed: true };
        let expected = chosen.seen.version.identity();
        if let (Some(to), Some(destination)) = (&intent.to, self.destination()) {
            let to = destination.place(to)?;
            displace(place, expected, &to, &intent.temp, |moved| {
                check.entry(moved)?;
                check.levels(moved).map(drop)
            })?;
            return Ok(Freed(0));
        }
        let (mut freed, mut files) = (0, 0);
        discard(place, expected, &intent.temp, |renamed| {
            check.entry(renamed)?;
            let levels = check.levels(renamed)?;
            let removed = check.remove(renamed, &levels, (&mut freed, &mut files), stop);
            removed.map_err(|error| if files == 0 { error } else { deleted_in_part(&error, files) })
        })?;
        Ok(Freed(freed))
    }
}

/// Compares a chosen entry with what was shown.
struct Check<'c> {
    chosen: &'c Chosen,
    sealer: &'c Sealer,
    /// The directory that entries are moved to, which cannot be moved into itself.
    destination: Option<(u64, u64)>,
    /// Whether the entry has another name than when it was shown. That changes its ctime.
    is_renamed: bool,
}

impl Check<'_> {
    /// Checks the entry itself.
    fn entry(&self, place: &Place) -> Result<Stat, Refusal> {
        let stat = place.stat().map_err(|errno| Refusal::unreadable(Side::Victim, "find", errno))?;
        let seen = &self.chosen.seen.version;
        if stat.identity() != seen.identity() || stat.file_type != self.chosen.file_type {
            return Err(Refusal::Replaced(Side::Victim));
        }
        let is_same = match (self.is_renamed, stat.file_type) {
            (false, _) => *seen == stat.version(),
            // A file system may note in a directory where it is. Its entries are checked by their seals.
            (true, FileType::Directory) => true,
            (true, _) => seen.is_same_except_ctime(&stat),
        };
        is_same.then_some(stat).ok_or(CHANGED)
    }

    /// Checks everything below the entry, and returns the directories, those above first.
    fn levels(&self, place: &Place) -> Result<Vec<Level>, Refusal> {
        if self.chosen.file_type != FileType::Directory {
            return Ok(Vec::new());
        }
        let top = open(place)?;
        self.ensure_no_mount(place)?;
        let device = Stat::of(&top).map_err(unreadable("stat"))?.dev;
        let (mut all, mut levels, mut waiting) = (Seal::default(), Vec::new(), vec![Vec::new()]);
        while let Some(below) = waiting.pop() {
            let dir = descend_to(&top, &below)?;
            let stat = Stat::of(&dir).map_err(unreadable("stat"))?;
            if stat.dev != device {
                return Err(Refusal::Mounted);
            }
            if Some(stat.identity()) == self.destination {
                return Err(Refusal::IsDestination);
            }
            let (mut own, id) = (Seal::default(), stat.identity());
            let dir = Place { dir: dir.into(), name: CString::default() };
            each_entry(&dir, |entry, stat| {
                let name = entry.name.to_bytes();
                if is_temp_name(name) {
                    return Err(Refusal::TemporaryName(Side::Victim));
                }
                all += self.sealer.entry(id, name, stat);
                own += self.without_ctime(id, name, stat);
                if stat.file_type == FileType::Directory {
                    self.ensure_no_mount(entry)?;
                    waiting.push(join(&below, name));
                }
                Ok(())
            })?;
            levels.push((below, own));
        }
        if all == self.chosen.below { Ok(levels) } else { Err(CHANGED) }
    }

    fn without_ctime(&self, dir: (u64, u64), name: &[u8], stat: &Stat) -> Seal {
        self.sealer.entry(dir, name, &Stat { ctime_ns: 0, ..*stat })
    }

    /// Removes the entry and everything below it. `levels` are the directories that were checked. Each is compared once more,
    /// then its files are removed, and in the end the directories: `rmdir` spares one in which something appeared.
    fn remove(
        &self,
        place: &Place,
        levels: &[Level],
        (freed, removed): (&mut u64, &mut u64),
        stop: &Stop,
    ) -> Result<(), ActError> {
        let failed = |errno| ActError::failed("delete an entry", errno);
        if self.chosen.file_type != FileType::Directory {
            let stat = self.entry(place)?;
            unlinkat(&place.dir, &place.name, AtFlags::empty()).map_err(failed)?;
            *freed += blocks_of(&stat);
            return Ok(());
        }
        let top = open(place)?;
        for (below, checked) in levels {
            if stop.is_raised() {
                return Err(ActError::Stopped);
            }
            let dir = Place { dir: descend_to(&top, below)?.into(), name: CString::default() };
            let id = stat_id(&dir)?;
            let (mut own, mut files) = (Seal::default(), Vec::new());
            each_entry(&dir, |entry, stat| {
                own += self.without_ctime(id, entry.name.to_bytes(), stat);
                if stat.file_type != FileType::Directory {
                    files.push((entry.name.clone(), *stat));
                }
                Ok(())
            })?;
            if own != *checked {
                return Err(CHANGED.into());
            }
            for (name, stat) in files {
                let entry = dir.sibling(&name);
                let now = Stat::at(&entry.dir, &name, Symlinks::NoFollow).map_err(unreadable("stat"))?;
                if !stat.version().is_same_except_ctime(&now) {
                    return Err(CHANGED.into());
                }
                unlinkat(&entry.dir, &name, AtFlags::empty()).map_err(failed)?;
                *freed += blocks_of(&now);
                *removed += 1;
            }
        }
        let remove_directory = |dir: &OwnedFd, name: &CString| {
            unlinkat(dir, name, AtFlags::REMOVEDIR).map_err(|errno| match errno {
                Errno::NOTEMPTY | Errno::EXIST => Refusal::NotEmpty.into(),
                errno => failed(errno),
            })
        };
        for (below, _) in levels.iter().skip(1).rev() {
            let (above, name) = match below.iter().rposition(|&byte| byte == b'/') {
                Some(at) => (&below[..at], &below[at + 1..]),
                None => (&b""[..], &below[..]),
            };
            let name = CString::new(name).expect("a name of an entry has no NUL");
            remove_directory(&descend_to(&top, above)?, &name)?;
        }
        remove_directory(&place.dir, &place.name)
    }

    fn ensure_no_mount(&self, place: &Place) -> Result<(), Refusal> {
        match is_mount_point(&place.dir, &place.name) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Refusal::Mounted),
            Err(errno) => Err(Refusal::unreadable(Side::Victim, "look for mounts on", errno)),
        }
    }
}

/// Returns the error of a deletion that ended when it had deleted some files.
fn deleted_in_part(error: &ActError, files: u64) -> ActError {
    let why = format!("{error}; {files} of its files are deleted, and the rest is left");
    ActError::failed("delete all of it", io::Error::other(why))
}

const CHANGED: Refusal =
    Refusal::Changed { side: Side::Victim, what: "since it was shown, itself or something below it" };

fn unreadable(op: &'static str) -> impl Fn(Errno) -> Refusal {
    move |errno| Refusal::unreadable(Side::Victim, op, errno)
}

fn open(place: &Place) -> Result<OwnedFd, Refusal> {
    openat(&place.dir, &place.name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()).map_err(unreadable("open"))
}

/// Opens a directory at a path below another one.
fn descend_to(top: &OwnedFd, below: &[u8]) -> Result<OwnedFd, Refusal> {
    let failed = |error| Refusal::unreadable(Side::Victim, "open a directory of", error);
    if below.is_empty() {
        return top.try_clone().map_err(failed);
    }
    let names = below.split(|&byte| byte == b'/');
    descend(top.as_fd(), names, Symlinks::NoFollow, &mut Vec::new()).map_err(failed)
}

fn stat_id(dir: &Place) -> Result<(u64, u64), Refusal> {
    Ok(Stat::of(&dir.dir).map_err(unreadable("stat"))?.identity())
}

/// Calls `each` with every entry of the directory of a place, and its `stat`.
fn each_entry(
    dir: &Place,
    mut each: impl FnMut(&Place, &Stat) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = openat(&dir.dir, ".", flags, Mode::empty()).and_then(Dir::new);
    for entry in listed.map_err(unreadable("list"))? {
        let entry = entry.map_err(unreadable("list"))?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        let place = dir.sibling(entry.file_name());
        let stat = Stat::at(&place.dir, &place.name, Symlinks::NoFollow).map_err(unreadable("stat"))?;
        each(&place, &stat)?;
    }
    Ok(())
}

fn join(above: &[u8], name: &[u8]) -> Vec<u8> {
    if above.is_empty() { name.to_vec() } else { [above, b"/", name].concat() }
}

/// Returns the bytes on the disk that are freed with this name.
fn blocks_of(stat: &Stat) -> u64 {
    if stat.nlink == 1 { stat.blocks.saturating_mul(512) } else { 0 }
}
