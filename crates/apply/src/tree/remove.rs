//! Removes symbolic links and empty directories that have a counterpart.

use crate::destination::Destination;
use crate::emptied::has_entry;
use crate::intent::Intent;
use crate::reach::{Place, Reach};
use crate::refusal::{ActError, Refusal, Side};
use crate::swap::{delete, displace, remove_directory};
use crate::tree::listing::read_link;

/// Removes or moves the symbolic link of an intent, if it and its counterpart are unchanged. Returns its place.
pub(super) fn remove_link(
    reach: &mut Reach,
    intent: &Intent,
    destination: Option<&Destination>,
) -> Result<Place, ActError> {
    let places = Places::find(reach, intent)?;
    let target = intent.target.as_deref().expect("the intent of a link has its target");
    let check_victim = |place: &Place| match read_link(Side::Victim, place)? == target {
        true => Ok(()),
        false => Err(Refusal::Changed { side: Side::Victim, what: "since the directory was listed" }),
    };
    check_victim(&places.victim)?;
    // The keeper must still have its link when the victim's has another name: else both are one.
    let check = || match read_link(Side::Keeper, &places.keeper)? == target {
        true => Ok(()),
        false => Err(Refusal::LinkDiffers),
    };
    check()?;
    let expected = intent.victim.version.identity();
    match (&intent.to, destination) {
        (Some(to), Some(destination)) => {
            let to = destination.place(to)?;
            displace(&places.victim, expected, &to, &intent.temp, |moved| {
                check_victim(moved)?;
                check()
            })?;
        }
        _ => delete(&places.victim, expected, &places.victim.sibling(&intent.temp), check)?,
    }
    Ok(places.victim)
}

/// Removes the directory of an intent, which must be empty. Returns its place.
pub(super) fn remove_empty_directory(reach: &mut Reach, intent: &Intent) -> Result<Place, ActError> {
    let places = Places::find(reach, intent)?;
    let keeper = intent.keeper.version.identity();
    let check = || match places.keeper.stat() {
        Ok(stat) if stat.identity() == keeper => Ok(()),
        Ok(_) => Err(Refusal::Replaced(Side::Keeper)),
        Err(errno) => Err(Refusal::unreadable(Side::Keeper, "find", errno)),
    };
    check()?;
    is_empty(&places.victim)?;
    let aside = places.victim.sibling(&intent.temp);
    remove_directory(&places.victim, intent.victim.version.identity(), &aside, check)?;
    Ok(places.victim)
}

/// Removes the directory of an intent, which the run has emptied and which has no counterpart. Returns its place.
pub(super) fn remove_emptied_directory(reach: &mut Reach, intent: &Intent) -> Result<Place, ActError> {
    let victim = &intent.victim;
    let place = reach.locate(Side::Victim, &victim.path, victim.root_len)?;
    is_empty(&place)?;
    remove_directory(&place, victim.version.identity(), &place.sibling(&intent.temp), || Ok(()))?;
    Ok(place)
}

/// Checks that a directory is empty, so that one that is not need not be renamed.
fn is_empty(place: &Place) -> Result<(), ActError> {
    match has_entry(place, |_| true) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Refusal::NotEmpty.into()),
        Err(errno) => Err(Refusal::unreadable(Side::Victim, "list", errno).into()),
    }
}

/// The places of victim and keeper.
struct Places {
    victim: Place,
    keeper: Place,
}

impl Places {
    fn find(reach: &mut Reach, intent: &Intent) -> Result<Self, Refusal> {
        let Intent { victim, keeper, .. } = intent;
        Ok(Self {
            victim: reach.locate(Side::Victim, &victim.path, victim.root_len)?,
            keeper: reach.locate(Side::Keeper, &keeper.path, keeper.root_len)?,
        })
    }
}
