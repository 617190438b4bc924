//! Removing the directories that ftk made for moved files, when undo has emptied them.

use std::collections::BTreeSet;

use crate::action::ActionKind;
use crate::destination::{is_marked, remove_destination, remove_empty};
use crate::intent::Intent;
use crate::refusal::Side;
use crate::undo::Undoing;

impl Undoing {
    /// Removes the directories that the steps have moved files to, those that are empty, if ftk made the destination. A
    /// directory that the user had made before stays, with everything in it. So do those in `kept`: a file that was
    /// moved there is missing, and may be put back.
    ///
    /// `starts`: the starting points of the journal. If the run was killed before its first step, the destination is
    /// only known from there.
    pub(super) fn clear_destinations(
        &mut self,
        steps: &[Intent],
        starts: &[Vec<u8>],
        kept: &BTreeSet<Vec<u8>>,
    ) {
        let (mut destinations, mut inside) = (BTreeSet::new(), BTreeSet::new());
        if steps.is_empty() {
            destinations.extend(starts.iter().map(Vec::as_slice));
        }
        for intent in steps.iter().filter(|it| matches!(it.kind, ActionKind::Move | ActionKind::MoveEntry)) {
            let Some(to) = &intent.to else { continue };
            destinations.insert(&to.path[..to.root_len]);
            let ends = (to.root_len + 1..to.path.len()).filter(|at| to.path[*at] == b'/');
            inside.extend(ends.map(|end| (&to.path[..end], to.root_len)));
        }
        let mut open = Vec::new();
        for path in destinations.into_iter().filter(|path| !kept.contains(*path)) {
            let own = [path, b"/."].concat();
            if let Ok(place) = self.reach.locate_entry(Side::New, &own, path.len())
                && is_marked(&place.dir)
            {
                open.push((path, place));
            }
        }
        // Those below come first.
        for (path, root_len) in inside.into_iter().rev() {
            if open.iter().any(|(destination, _)| *destination == &path[..root_len])
                && let Ok(place) = self.reach.locate(Side::New, path, root_len)
            {
                _ = remove_empty(&place);
            }
        }
        for (path, place) in open {
            _ = remove_destination(&place.dir, path);
        }
    }
}
