//! Undoing steps that removed a symbolic link or a directory.

use std::os::fd::OwnedFd;

use ftk_file::{FileType, Identity, Stat};
use rustix::fs::{Mode, openat};
use rustix::process::geteuid;

use crate::engine::{RESERVED_DESCRIPTORS, max_batch};
use crate::exposed::ensure_trusted_above;
use crate::history::{inode, removed};
use crate::intent::Intent;
use crate::metadata::{Metadata, restore};
use crate::private::{Unnamed, left_inside, may_be_ours, remove_private};
use crate::reach::{Place, READABLE};
use crate::refusal::{ActError, Refusal, Side};
use crate::swap::{displace, restore_name};
use crate::temp::remove;
use crate::tree::read_link;
use crate::undo::{Undo, Undoing, Undone, present};

/// The part of the steps of a batch for which as many new directories are held open. No other directory can get their inode
/// numbers.
const PART_HELD: usize = 4;

/// A directory that was created again, or that an interrupted undo had created.
pub(super) struct Made {
    intent: Intent,
    identity: Identity,
    /// The directory, if it is held open.
    fd: Option<OwnedFd>,
}

impl Undoing {
    /// Undoes a step that removed or moved a symbolic link.
    pub(super) fn removed_link(&mut self, intent: &Intent) -> Result<Undone, ActError> {
        let place = self.locate(Side::Victim, intent)?;
        let is_the_link = |stat: &Stat, place: &Place| is_link(intent, stat, place);
        let found = present(&place)?;
        let aside = place.sibling(&intent.temp);
        if let Some(inside) = left_inside(&aside, &place.name)? {
            // A killed undo has not given the link its name, or another user had put something else in its place.
            let stays = |refusal: Refusal| {
                ActError::from(refusal).leaving(place.name.to_bytes()).left_inside(aside.name.to_bytes())
            };
            return match &found {
                Some(now) if is_the_link(now, &place)? => Ok(Undone::AsItWas),
                Some(_) => Err(stays(Refusal::NameExists)),
                None if !is_the_link(&stat_of(&inside)?, &inside)? => Err(stays(changed())),
                None => {
                    restore_name(&place, stat_of(&inside)?.identity(), &inside)?;
                    remove_private(&aside)?;
                    self.changed.push(place.dir);
                    Ok(Undone::Restored)
                }
            };
        }
        if let Some(left) = present(&aside)?
            && is_the_link(&left, &aside)?
        {
            if found.is_none() {
                restore_name(&place, left.identity(), &aside)?;
                self.changed.push(place.dir);
                return Ok(Undone::Restored);
            }
            // An earlier version of undo was killed while it made the link.
            let removed = remove(&aside, left.identity());
            removed.map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
        }
        remove_private(&aside)?;
        match found {
            Some(now) if is_the_link(&now, &place)? => {
                self.clear_moved(intent);
                return Ok(Undone::AsItWas);
            }
            Some(_) if intent.to.is_some() => return Err(Refusal::NameExists.into()),
            Some(_) => return Err(Refusal::Replaced(Side::Victim).into()),
            None if intent.to.is_some() => return self.move_link_back(intent, place, is_the_link),
            None => {}
        }
        Unnamed::link(aside, target_of(intent), &intent.metadata)?.give_name(&place)?;
        self.changed.push(place.dir);
        Ok(Undone::Restored)
    }

    fn move_link_back(
        &mut self,
        intent: &Intent,
        place: Place,
        is_the_link: impl Fn(&Stat, &Place) -> Result<bool, Refusal>,
    ) -> Result<Undone, ActError> {
        let mut moved = self.locate_moved(intent)?;
        // A run was killed before the link got its new name.
        if let Some(inside) = left_inside(&moved.sibling(&intent.temp), &moved.name)?
            && is_the_link(&stat_of(&inside)?, &inside)?
        {
            moved = inside;
        }
        let stat = stat_of(&moved)?;
        if !is_the_link(&stat, &moved)? {
            return Err(changed().into());
        }
        displace(&moved, stat.identity(), &place, &intent.temp, |now| {
            is_the_link(&stat_of(now)?, now)?.then_some(()).ok_or_else(changed)
        })?;
        self.clear_moved(intent);
        self.changed.push(place.dir);
        Ok(Undone::Restored)
    }

    /// Undoes a step that removed a directory. Its metadata is set by [`finish_directories`](Self::finish_directories),
    /// when its entries are restored.
    pub(super) fn removed_directory(&mut self, intent: &Intent) -> Result<Undone, ActError> {
        let place = self.locate(Side::Victim, intent)?;
        let aside = place.sibling(&intent.temp);
        let victim = intent.victim.version.identity();
        if let Some(left) = present(&aside)?
            && intent.is_victim(&left, || aside.identity(Side::Victim))?
            && (!may_be_ours(&left) || has_birth(intent, &aside)?)
        {
            restore_name(&place, victim, &aside)?;
            self.changed.push(place.dir);
            return Ok(Undone::Restored);
        }
        remove_private(&aside)?;
        let (identity, fd) = match present(&place)? {
            None => {
                let made = Unnamed::directory(aside)?;
                let identity = *made.identity();
                if let Err(error) = self.log.remade(intent.step, &identity) {
                    return Err(
                        made.discard(ActError::failed("record the new directory in the journal", error))
                    );
                }
                self.remade.insert(intent.step, identity);
                if let Some(removed) = removed(intent) {
                    self.replaced.insert(inode(&removed), identity);
                    self.reach.expect_remade(&removed, &identity);
                }
                (identity, Some(made.give_name(&place)?))
            }
            Some(now) if now.file_type != FileType::Directory => {
                return Err(Refusal::Replaced(Side::Victim).into());
            }
            // Only an identity tells that an undo has made it. It may have the inode number of the removed one.
            Some(now) => match self.remade.get(&intent.step) {
                Some(remade) if remade.is_same_inode(&place.identity(Side::Victim)?) => {
                    // It is not finished again in a directory that has been given back to its owner.
                    if remade.birth_ns.is_none()
                        && let Err(refusal) = ensure_trusted_above(&place.dir)
                    {
                        return if is_finished(intent, &now) {
                            Ok(Undone::AsItWas)
                        } else {
                            Err(refusal.into())
                        };
                    }
                    (*remade, None)
                }
                _ if intent.is_victim(&now, || place.identity(Side::Victim))? => return Ok(Undone::AsItWas),
                _ => return Err(Refusal::Replaced(Side::Victim).into()),
            },
        };
        self.changed.push(place.dir);
        let fd = fd.filter(|_| self.made.len() < max_batch(RESERVED_DESCRIPTORS) / PART_HELD);
        self.made.push(Made { intent: intent.clone(), identity, fd });
        Ok(Undone::Restored)
    }

    /// Returns whether a step removed a directory that is made again and not finished.
    pub(super) fn is_unfinished(&self, step: u64) -> bool {
        self.made.last().is_some_and(|made| made.intent.step == step)
    }

    /// Sets the metadata of all directories that were made, the innermost ones first. Returns the steps that removed them.
    pub(super) fn finish_directories(&mut self, mut failed: impl FnMut(&Undo, ActError)) -> Vec<u64> {
        let mut finished = Vec::new();
        for made in std::mem::take(&mut self.made).into_iter().rev() {
            match self.finish(&made) {
                Ok(()) => finished.push(made.intent.step),
                Err(error) => {
                    failed(&Undo::of(&made.intent), error);
                }
            }
        }
        finished
    }

    fn finish(&mut self, made: &Made) -> Result<(), ActError> {
        let set = |dir: &OwnedFd, metadata: &Metadata| {
            restore(dir, metadata).map_err(|(what, errno)| ActError::failed(what, errno))
        };
        if let Some(dir) = &made.fd {
            return set(dir, &made.intent.metadata);
        }
        let place = self.locate(Side::Victim, &made.intent)?;
        let failed = |errno| ActError::failed("open the new directory", errno);
        let dir = openat(&place.dir, &place.name, READABLE, Mode::empty()).map_err(failed)?;
        let now =
            Identity::of(&dir).map_err(|error| ActError::failed("identify the new directory", error))?;
        if !made.identity.is_same_inode(&now) {
            return Err(Refusal::Replaced(Side::Victim).into());
        }
        // Without a time of birth, it may be another directory with the same inode number.
        if made.identity.birth_ns.is_none() {
            ensure_trusted_above(&place.dir)?;
        }
        set(&dir, &made.intent.metadata)
    }
}

/// Returns where the removed link leads.
fn target_of(intent: &Intent) -> &[u8] {
    intent.target.as_deref().expect("the intent of a link has its target")
}

/// Returns whether the entry at a place is the removed link, or one like it.
pub(super) fn is_link(intent: &Intent, stat: &Stat, place: &Place) -> Result<bool, Refusal> {
    let is_alike = stat.file_type == FileType::Symlink && stat.uid == intent.metadata.uid;
    Ok(is_alike && read_link(Side::Victim, place)? == target_of(intent))
}

pub(super) fn stat_of(place: &Place) -> Result<Stat, Refusal> {
    place.stat().map_err(|errno| Refusal::unreadable(Side::Victim, "find", errno))
}

pub(super) fn changed() -> Refusal {
    Refusal::Changed { side: Side::Victim, what: "since the run" }
}

/// Returns whether a new directory has its owner and permissions, which only root can give to another user, or also its
/// mtime.
fn is_finished(intent: &Intent, now: &Stat) -> bool {
    let Metadata { mode, uid, gid, mtime_ns, .. } = intent.metadata;
    (now.mode, now.uid, now.gid) == (mode, uid, gid)
        && (uid != geteuid().as_raw() || now.mtime_ns == mtime_ns)
}

/// Returns whether times of birth tell the victim from a private directory that has its inode number. Otherwise such a
/// directory is removed and made again: the victim was empty.
fn has_birth(intent: &Intent, aside: &Place) -> Result<bool, Refusal> {
    let recorded = intent.proof.as_ref().and_then(|proof| proof.victim);
    let has_recorded = recorded.is_some_and(|recorded| recorded.birth_ns.is_some());
    Ok(has_recorded && aside.identity(Side::Victim)?.birth_ns.is_some())
}
