//! A look at a step that changes nothing and reads no content: for a plan.

use crate::action::{ActionKind, Rules};
use crate::ours::Ours;
use crate::prove::compare_all_but_content;
use crate::reach::Reach;
use crate::refusal::{Refusal, Side};
use crate::seen::Step;
use crate::share::shares_all;

/// What a look at a step says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It would be tried, and refused only if the contents differ.
    Fine,
    /// Nothing is left to do: the files share their blocks already.
    Done,
}

/// Looks whether a step would be refused for anything but the content. Writes nothing.
///
/// # Errors
/// The reason why it would be.
pub fn check(reach: &mut Reach, kind: ActionKind, rules: Rules, step: &Step) -> Result<Check, Refusal> {
    let victim = reach.hold(Side::Victim, &step.victim, &Ours::default())?;
    let keeper = reach.hold(Side::Keeper, &step.keeper, &Ours::default())?;
    compare_all_but_content(&victim, &keeper, kind, rules)?;
    let is_done = kind == ActionKind::Reflink && shares_all(&victim.file, &keeper.file);
    Ok(if is_done { Check::Done } else { Check::Fine })
}
