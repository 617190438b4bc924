//! Names of two trees that differ only in their Unicode normal form.

use ftk_inventory::{Budget, Candidates, Full, MovedEntries, Unpaired};

use super::WalkedTree;
use super::merge::{Merge, Step, below};
use crate::Side;

/// The entries of the second tree whose paths are spelled differently in the first one.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// `None` if there are none.
    pub(crate) moved: Option<MovedEntries>,
    /// The paths that the walk of the second tree could not read, below the starting point, in the spelling of the first.
    pub(crate) failed: Vec<Vec<u8>>,
}

/// No names are spelled differently.
pub(crate) static NO_NAMES: Names = Names { moved: None, failed: Vec::new() };

impl Names {
    pub(crate) fn is_empty(&self) -> bool {
        self.moved.is_none()
    }

    /// Finds the names. `unpaired` are the entries without a partner, except what is below them.
    pub(crate) fn find(
        unpaired: Unpaired,
        a: &WalkedTree<'_>,
        b: &WalkedTree<'_>,
        budget: &Budget,
    ) -> Result<Self, Full> {
        if unpaired.candidates(budget).is_none() {
            return Ok(Self::default());
        }
        let mut unpaired = Unpaired::new(budget);
        let mut merge = Merge::whole(a, b);
        while let Some(step) = merge.next() {
            note(&step, &mut unpaired)?;
        }
        let Some(mut candidates) = unpaired.candidates(budget) else { return Ok(Self::default()) };
        let mut merge = Merge::whole(a, b);
        while let Some(step) = merge.next() {
            add(&step, &mut candidates)?;
        }
        let spellings = candidates.pair()?;
        if spellings.is_empty() {
            return Ok(Self::default());
        }
        let moved = b.inventory.relocate(&spellings, |path| below(path, b.root), budget)?;
        let mut failed: Vec<_> = b.failed.iter().map(|path| below(path, b.root).to_vec()).collect();
        spellings.align_all(&mut failed, budget)?;
        Ok(Self { moved: Some(moved), failed })
    }
}

/// Notes an entry that only one tree has.
pub(crate) fn note(step: &Step<'_>, unpaired: &mut Unpaired) -> Result<(), Full> {
    match step {
        Step::Only(side, entry) => unpaired.add(*side as usize, &entry.path),
        Step::Both(..) => Ok(()),
    }
}

fn add(step: &Step<'_>, candidates: &mut Candidates) -> Result<(), Full> {
    match step {
        Step::Only(Side::A, entry) => candidates.add([true, false], &entry.path),
        Step::Only(Side::B, entry) => candidates.add([false, true], &entry.path),
        Step::Both(entry, _) => candidates.add([true; 2], &entry.path),
    }
}
