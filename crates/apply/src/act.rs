//! The actions on proven pairs of files.

use ftk_file::{Stat, Symlinks};
use ftk_sched::Stop;
use rustix::fs::{AtFlags, CWD, linkat, symlinkat};

use crate::action::{Freed, OpenAction};
use crate::alias_check::AliasCheck;
use crate::intent::{Intent, To};
use crate::own_changes::OwnChanges;
use crate::prove::Proven;
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::share::{share, shared_bytes};
use crate::swap::{delete, displace, replace};
use crate::sys::path_of;
use crate::temp::Temp;
use crate::trash::{Bins, forget};

/// Performs the action, of which `intent` is in the journal. After an error, the victim has its name and content, unless
/// the error names a file that could not be renamed back.
pub(crate) fn act(
    action: &mut OpenAction,
    proven: &Proven,
    intent: &Intent,
    alias_check: &mut AliasCheck,
    own_changes: &mut OwnChanges,
    stop: &Stop,
) -> Result<Freed, ActError> {
    proven.recheck(own_changes)?;
    let remove_name: &mut dyn FnMut() -> Result<(), ActError> = match action {
        OpenAction::Reflink => return share(proven, stop),
        OpenAction::Hardlink => &mut || hardlink(proven, intent),
        OpenAction::Symlink => &mut || symlink(proven, intent),
        OpenAction::Delete => &mut || remove(proven, intent),
        OpenAction::Move(destination) => {
            &mut || relocate(proven, intent, &destination.place(new_path(intent))?)
        }
        OpenAction::Trash(bins) => &mut || trash(proven, intent, bins),
    };
    let mut kept = std::iter::once(&proven.keeper).chain(&proven.copies);
    let are_two = kept.try_for_each(|kept| alias_check.prove(&proven.victim, kept, &intent.temp));
    let outcome = are_two.and_then(|()| remove_name());
    // This is done even after a failure, which may have changed the ctime of the inodes.
    let last_went = [&proven.victim, &proven.keeper].map(|held| {
        let now = Stat::of(&held.file);
        if let Ok(now) = &now {
            own_changes.note(&held.stat, now);
        }
        now.is_ok_and(|now| now.nlink == 0)
    })[0];
    outcome.map(|()| Freed(if last_went { owned_bytes(&proven.victim) } else { 0 }))
}

fn hardlink(proven: &Proven, intent: &Intent) -> Result<(), ActError> {
    let Proven { victim, keeper, .. } = proven;
    let place = victim.place.sibling(&intent.temp);
    linkat(&keeper.place.dir, &keeper.place.name, &place.dir, &place.name, AtFlags::empty())
        .map_err(|errno| ActError::of_naming("link the keeper", errno))?;
    let temp = Temp::made(place)?;
    // The link leads to whatever had the keeper's name at that moment.
    if temp.identity != keeper.identity() {
        return Err(temp.discard(Refusal::Replaced(Side::Keeper).into()));
    }
    exchange(proven, temp)
}

fn symlink(proven: &Proven, intent: &Intent) -> Result<(), ActError> {
    let target = intent.target.as_deref().expect("the intent of a symbolic link has a target");
    let place = proven.victim.place.sibling(&intent.temp);
    symlinkat(target, &place.dir, &place.name)
        .map_err(|errno| ActError::of_naming("make the link", errno))?;
    exchange(proven, Temp::made(place)?)
}

/// Exchanges the victim for its replacement.
fn exchange(proven: &Proven, temp: Temp) -> Result<(), ActError> {
    let before = match proven.keeper_now() {
        Ok(before) => before,
        Err(refusal) => return Err(temp.discard(refusal.into())),
    };
    replace(&proven.victim.place, proven.victim.identity(), temp, || proven.check(&before))
}

fn remove(proven: &Proven, intent: &Intent) -> Result<(), ActError> {
    let before = proven.keeper_now()?;
    let victim = &proven.victim;
    delete(&victim.place, victim.identity(), &victim.place.sibling(&intent.temp), || proven.check(&before))
}

fn new_path(intent: &Intent) -> &To {
    intent.to.as_ref().expect("the intent of a move has a new path")
}

fn relocate(proven: &Proven, intent: &Intent, to: &Place) -> Result<(), ActError> {
    let before = proven.keeper_now()?;
    let victim = &proven.victim;
    displace(&victim.place, victim.identity(), to, &intent.temp, |_| proven.check(&before))
}

fn trash(proven: &Proven, intent: &Intent, bins: &mut Bins) -> Result<(), ActError> {
    let to = bins.record(&proven.victim.place, new_path(intent))?;
    relocate(proven, intent, &to).inspect_err(|_| forget(intent.kind, &to))
}

/// Returns the target for a symbolic link to a file: an absolute path, so that the link works from
/// everywhere, and without links, which could change later.
pub(crate) fn absolute_path(held: &Held) -> Result<Vec<u8>, ActError> {
    let path = path_of(&held.file)
        .map_err(|errno| ActError::failed("find the absolute path of the keeper", errno))?;
    // If the file has lost its name or is outside the process's root directory, the link text is not a path
    // to it.
    match Stat::at(CWD, &*path, Symlinks::NoFollow) {
        Ok(stat) if stat.identity() == held.identity() => Ok(path),
        Ok(_) => Err(Refusal::Replaced(Side::Keeper).into()),
        Err(errno) => Err(ActError::failed("find the keeper by its absolute path", errno)),
    }
}

/// Returns the bytes on the disk that are freed with the file.
fn owned_bytes(held: &Held) -> u64 {
    /// The unit of `st_blocks` on every file system.
    const BLOCK: u64 = 512;
    (held.stat.blocks * BLOCK).saturating_sub(shared_bytes(&held.file))
}
