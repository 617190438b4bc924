//! A look at a step that changes nothing and reads no content: for a plan.

use crate::action::{ActionKind, ActionOptions};
use crate::ours::Ours;
use crate::prove::compare_all_but_content;
use crate::reach::Reach;
use crate::refusal::{Refusal, Side};
use crate::seen::{Seen, Step};
use crate::share::{shared_bytes, shares_all};

/// What a look at a step says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It would be tried, and refused only if the contents differ.
    Fine {
        /// Bytes of the victim that other files share now, so that they would not be freed; 0 where nobody knows.
        shared: u64,
    },
    /// Nothing is left to do: the files share their blocks already.
    Done,
}

/// Looks whether a step would be refused for anything but the content. Writes nothing.
///
/// # Errors
/// The reason why it would be.
pub fn check(
    reach: &mut Reach,
    kind: ActionKind,
    rules: ActionOptions,
    step: &Step,
) -> Result<Check, Refusal> {
    let victim = reach.hold(Side::Victim, &step.victim, &Ours::default())?;
    let keeper = reach.hold(Side::Keeper, &step.keeper, &Ours::default())?;
    compare_all_but_content(&victim, &keeper, kind, rules)?;
    let is_done = kind == ActionKind::Reflink && shares_all(&victim.file, &keeper.file);
    Ok(if is_done { Check::Done } else { Check::Fine { shared: shared_bytes(&victim.file) } })
}

/// Bytes of a file that other files share on the disk; 0 where nobody knows, or the file is not as it was seen.
pub fn shared(reach: &mut Reach, seen: &Seen) -> u64 {
    reach.hold(Side::Victim, seen, &Ours::default()).map_or(0, |held| shared_bytes(&held.file))
}
