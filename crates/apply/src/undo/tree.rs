//! Undoing steps that removed a symbolic link or a directory.

use ftk_file::{FileType, Stat};
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Timestamps, Uid, chownat, mkdirat, openat, symlinkat, utimensat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::action::ActionKind;
use crate::intent::Intent;
use crate::metadata::{Metadata, restore, timespec};
use crate::reach::{DIRECTORY, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Seen;
use crate::swap::{rename_to_free, restore_name};
use crate::temp::{Temp, remove};
use crate::tree::read_link;
use crate::undo::{Undo, Undoing, Undone, present};

/// The permissions of a directory until everything in it is restored.
const PRIVATE: u32 = 0o700;

/// A directory that was created again, or that an interrupted undo had created.
pub(super) struct Made {
    victim: Seen,
    identity: (u64, u64),
    metadata: Metadata,
}

impl Undoing {
    /// Undoes a step that removed or moved a symbolic link.
    pub(super) fn removed_link(&mut self, intent: &Intent) -> Result<Undone, ActError> {
        let place = self.reach.locate(Side::Victim, &intent.victim.path, intent.victim.root_len)?;
        let target = intent.target.as_deref().expect("the intent of a link has its target");
        let is_the_link = |stat: &Stat, place: &Place| {
            Ok::<_, Refusal>(stat.file_type == FileType::Symlink && read_link(Side::Victim, place)? == target)
        };
        let found = present(&place)?;
        let aside = place.sibling(&intent.temp);
        if let Some(left) = present(&aside)?
            && is_the_link(&left, &aside)?
        {
            if found.is_none() {
                restore_name(&place, left.identity(), &aside)?;
                self.changed.push(place.dir);
                return Ok(Undone::Restored);
            }
            // An earlier undo was killed while it made the link.
            let removed = remove(&aside, left.identity());
            removed.map_err(|errno| ActError::failed("remove a file that a killed run left", errno))?;
        }
        match found {
            Some(now) if is_the_link(&now, &place)? => return Ok(Undone::AsItWas),
            Some(_) if intent.to.is_some() => return Err(Refusal::NameExists.into()),
            Some(_) => return Err(Refusal::Replaced(Side::Victim).into()),
            None if intent.to.is_some() => return self.move_link_back(intent, place, is_the_link),
            None => {}
        }
        symlinkat(target, &aside.dir, &aside.name)
            .map_err(|errno| ActError::of_naming("make the link", errno))?;
        let temp = Temp::made(aside)?;
        let set = set_link_metadata(&temp.place, &intent.metadata);
        set.map_err(|errno| {
            temp.discard(ActError::failed("restore the owner and times of the link", errno))
        })?;
        rename_to_free(&temp.place, &place)
            .map_err(|errno| temp.discard(ActError::failed("rename the link", errno)))?;
        self.changed.push(place.dir);
        Ok(Undone::Restored)
    }

    fn move_link_back(
        &mut self,
        intent: &Intent,
        place: Place,
        is_the_link: impl Fn(&Stat, &Place) -> Result<bool, Refusal>,
    ) -> Result<Undone, ActError> {
        let to = intent.to.as_ref().expect("the link was moved");
        let moved = self.reach.locate(Side::Victim, &to.path, to.root_len)?;
        let stat = moved.stat().map_err(|errno| Refusal::unreadable(Side::Victim, "find", errno))?;
        if !is_the_link(&stat, &moved)? {
            return Err(Refusal::Changed { side: Side::Victim, what: "since the run" }.into());
        }
        crate::swap::displace(&moved, stat.identity(), &place, || Ok(()))?;
        self.changed.push(place.dir);
        Ok(Undone::Restored)
    }

    /// Undoes a step that removed a directory. Its metadata is set by [`finish_directories`](Self::finish_directories),
    /// when its entries are restored.
    pub(super) fn removed_directory(&mut self, intent: &Intent) -> Result<Undone, ActError> {
        let place = self.reach.locate(Side::Victim, &intent.victim.path, intent.victim.root_len)?;
        let aside = place.sibling(&intent.temp);
        let victim = intent.victim.version.identity();
        if let Some(left) = present(&aside)?
            && left.file_type == FileType::Directory
            && left.identity() == victim
        {
            restore_name(&place, victim, &aside)?;
            self.changed.push(place.dir);
            return Ok(Undone::Restored);
        }
        match present(&place)? {
            None => {
                mkdirat(&place.dir, &place.name, Mode::from_raw_mode(PRIVATE))
                    .map_err(|errno| ActError::failed("make the directory", errno))?;
            }
            Some(now) if now.file_type != FileType::Directory => {
                return Err(Refusal::Replaced(Side::Victim).into());
            }
            Some(now) if now.identity() == victim || intent.metadata.is_of(&now) => {
                return Ok(Undone::AsItWas);
            }
            Some(now) if is_unfinished(&now) => {}
            Some(_) => return Ok(Undone::AsItWas),
        }
        let made = place.stat().map_err(|errno| ActError::failed("stat the new directory", errno))?;
        if !is_unfinished(&made) {
            return Err(Refusal::Replaced(Side::Victim).into());
        }
        self.changed.push(place.dir);
        let (victim, metadata) = (intent.victim.clone(), intent.metadata.clone());
        self.made.push(Made { victim, identity: made.identity(), metadata });
        Ok(Undone::Restored)
    }

    /// Sets the metadata of all directories that were made, the innermost ones first.
    pub(super) fn finish_directories(&mut self, mut failed: impl FnMut(&Undo, ActError)) {
        for made in std::mem::take(&mut self.made).into_iter().rev() {
            if let Err(error) = self.finish(&made) {
                failed(&Undo { path: made.victim.path, action: ActionKind::RemoveDirectory }, error);
            }
        }
    }

    fn finish(&mut self, made: &Made) -> Result<(), ActError> {
        let place = self.reach.locate(Side::Victim, &made.victim.path, made.victim.root_len)?;
        let flags = (DIRECTORY - OFlags::PATH) | OFlags::NOFOLLOW;
        let failed = |errno| ActError::failed("open the new directory", errno);
        let dir = openat(&place.dir, &place.name, flags, Mode::empty()).map_err(failed)?;
        if Stat::of(&dir).map_err(failed)?.identity() != made.identity {
            return Err(Refusal::Replaced(Side::Victim).into());
        }
        restore(&dir, &made.metadata).map_err(|(what, errno)| ActError::failed(what, errno))
    }
}

/// Returns whether this may be a directory that an undo has made and not finished.
fn is_unfinished(stat: &Stat) -> bool {
    stat.file_type == FileType::Directory && stat.mode & 0o777 == PRIVATE && stat.uid == geteuid().as_raw()
}

fn set_link_metadata(place: &Place, metadata: &Metadata) -> Result<(), Errno> {
    let &Metadata { uid, gid, atime_ns, mtime_ns, .. } = metadata;
    let stat = place.stat()?;
    if (stat.uid, stat.gid) != (uid, gid) {
        let (uid, gid) = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
        chownat(&place.dir, &place.name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    let times = Timestamps { last_access: timespec(atime_ns), last_modification: timespec(mtime_ns) };
    utimensat(&place.dir, &place.name, &times, AtFlags::SYMLINK_NOFOLLOW)
}
