//! The order in which steps are undone.

use crate::action::ActionKind;
use crate::intent::Intent;
use crate::undo::is_set_directory;

/// A step that is being undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undo {
    /// The path of the victim, as it was scanned.
    pub path: Vec<u8>,
    /// The action of the step.
    pub action: ActionKind,
    /// Where the run has moved the victim to, if it did.
    pub moved_to: Option<Vec<u8>>,
}

impl Undo {
    pub(super) fn of(intent: &Intent) -> Self {
        let is_moved = matches!(intent.kind, ActionKind::Move | ActionKind::MoveEntry);
        let moved_to = intent.to.as_ref().filter(|_| is_moved).map(|to| to.path.clone());
        Self { path: intent.victim.path.clone(), action: intent.kind, moved_to }
    }
}

/// Returns the steps in the order in which they are undone.
///
/// The run has set directories last, those below first. In this order, no step changes a time that is brought back, and none
/// is below a directory that is another user's again.
pub(super) fn in_order(steps: &[Intent]) -> impl Iterator<Item = &Intent> {
    let others = steps.iter().rev().filter(|intent| !is_set_directory(intent));
    others.chain(steps.iter().filter(|intent| is_set_directory(intent)))
}
