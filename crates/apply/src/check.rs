//! A check of a step for a plan. It changes nothing and reads no content.

use crate::action::{Action, ActionKind, ActionOptions};
use crate::copies::find;
use crate::own_changes::OwnChanges;
use crate::probe::{Obstacle, probe};
use crate::prove::compare_all_but_content;
use crate::reach::Reach;
use crate::refusal::{ActError, Refusal, Side};
use crate::seen::Step;
use crate::share::shares_all;

/// The result of the check of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The engine would try the step and refuse it only if the contents differ.
    Fine,
    /// There is nothing to do: the files already share their blocks.
    Done,
}

/// Checks whether a step would be refused for any reason except the content. Changes nothing.
///
/// # Errors
/// Returns the reason for which the step would be refused.
pub fn check(
    reach: &mut Reach,
    action: &Action,
    options: ActionOptions,
    step: &Step,
) -> Result<Check, Refusal> {
    let kind = action.kind();
    let victim = reach.hold(Side::Victim, &step.victim, &OwnChanges::default())?;
    let keeper = reach.hold(Side::Keeper, &step.keeper, &OwnChanges::default())?;
    compare_all_but_content(&victim, &keeper, kind, options)?;
    if let Some(copies) = &step.copies {
        let found = find(reach, &OwnChanges::default(), copies, [&victim, &keeper], |copy| {
            let is_possible = copy.stat.size == victim.stat.size;
            is_possible.then_some(()).ok_or(Refusal::ContentDiffers.into())
        });
        found.map_err(|error| match error {
            ActError::Refused(refusal) => refusal,
            error => unreachable!("nothing is read: {error}"),
        })?;
    }
    if matches!(action, Action::Move(_))
        && let Err(Obstacle::OtherFileSystem) = probe(reach, action, step)
    {
        return Err(Refusal::OtherFileSystem);
    }
    let is_done = kind == ActionKind::Reflink && shares_all(&victim.file, &keeper.file);
    Ok(if is_done { Check::Done } else { Check::Fine })
}
