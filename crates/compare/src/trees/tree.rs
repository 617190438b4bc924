//! The two trees, gone through side by side.

use std::cell::Cell;

use ftk_inventory::{Budget, Full, Inventory};

use super::classify::{Relation, TreeCriteria, classify};
use super::difference::{Difference, Differing, What};
use super::merge::{Entry, Merge, Step};
use super::pairs::{Pair, PairTable};
use super::run::{self, Report, TreeResources};

/// What a walk of one tree found.
#[derive(Clone, Copy, Debug)]
pub struct WalkedTree<'t> {
    /// Its entries: all of them, with what [`TreeCriteria::keep`] says is to be known of each.
    pub inventory: &'t Inventory,
    /// The one starting point, as the walk was given it.
    pub root: &'t [u8],
    /// Paths of what the walk could not look at. Nothing is claimed of what is missing there and below.
    pub failed: &'t [Vec<u8>],
}

/// Two trees and what counts as a difference.
#[derive(Clone, Copy, Debug)]
pub struct Trees<'t> {
    /// The first.
    pub a: WalkedTree<'t>,
    /// The second.
    pub b: WalkedTree<'t>,
    /// What counts.
    pub rules: TreeCriteria,
}

impl Trees<'_> {
    /// The files that have to be opened: those of one name on both sides, less those which the tables tell apart. No
    /// file is touched.
    ///
    /// # Errors
    /// When the list of them might not fit into the budget.
    ///
    /// # Panics
    /// When an inventory lacks entries or what is to be known of them.
    pub fn plan(&self, budget: &Budget) -> Result<PairTable, Full> {
        if !self.rules.quick {
            let most = self.a.inventory.files().min(self.b.inventory.files());
            budget.reserve(u64::from(most) * size_of::<Pair>() as u64)?;
        }
        let file = |entry: &Entry| entry.file.expect("only regular files are opened");
        let (mut pairs, mut others) = (Vec::new(), 0);
        let mut merge = Merge::new(&self.a, &self.b);
        while let Some(step) = merge.next() {
            let Step::Both(a, b) = step else {
                others += 1;
                continue;
            };
            let relation = classify(a, b, self.rules);
            match relation {
                Relation::Unread => pairs.push(Pair::new(file(a), file(b))),
                Relation::Same => {}
                _ => others += 1,
            }
            others += u64::from(!Differing::between(a, b, relation, self.rules).fields().is_empty());
        }
        Ok(PairTable::new(pairs, others))
    }

    /// Compares the pairs of the plan: those of usual size by several workers side by side, each by one of them, and
    /// then the large ones, largest first, each by all of them. What they find is in the plan.
    ///
    /// # Panics
    /// When a worker panics, after all have ended.
    pub fn compare(&self, plan: &mut PairTable, env: &TreeResources<'_>) -> Report {
        run::compare(self, plan, env)
    }

    /// Hands every difference to `each`, by path, and those of one path one after the other.
    ///
    /// A directory that is on one side only is one difference, whatever it holds. A pair that was not compared is
    /// [`What::Pending`], never equal.
    ///
    /// # Panics
    /// When the plan is one of other trees or rules.
    pub fn differences(&self, plan: &PairTable, mut each: impl FnMut(Difference<'_>)) {
        let mut found = plan.found();
        let mut merge = Merge::new(&self.a, &self.b);
        // Behind the last one there is nothing to be looked for.
        let left = Cell::new(plan.differences());
        let mut each = |difference: Difference<'_>| {
            left.set(left.get() - 1);
            each(difference);
        };
        while left.get() > 0
            && let Some(step) = merge.next()
        {
            let (a, b) = match step {
                Step::Only(side, entry) => {
                    each(Difference { path: &entry.path, what: What::Only(side, entry.file_type) });
                    continue;
                }
                Step::Both(a, b) => (a, b),
            };
            let path = &a.path;
            let relation = classify(a, b, self.rules);
            let what = match relation {
                Relation::Same => None,
                Relation::Type => Some(What::Type(a.file_type, b.file_type)),
                Relation::Size(a, b) => Some(What::Size(a, b)),
                Relation::Target => Some(What::Target(&a.target, &b.target)),
                Relation::Device => Some(What::Device(a.metadata().rdev, b.metadata().rdev)),
                Relation::Unread => found.next().expect("the plan is that of these trees"),
            };
            if let Some(what) = what {
                each(Difference { path, what });
            }
            let differing = Differing::between(a, b, relation, self.rules);
            let fields = differing.fields();
            if !fields.is_empty() {
                let what = What::Metadata { fields, a: a.metadata(), b: b.metadata() };
                each(Difference { path, what });
            }
        }
    }
}
