//! Counts what rules decide. A rule without effect often has a typing error.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::{GroupDecision, KeepRules, MemberDecision};

/// Which of the rules of a run decided something.
#[derive(Debug, Default)]
pub struct RuleUse {
    decided: RefCell<BTreeSet<usize>>,
    kept_one: RefCell<BTreeSet<usize>>,
    /// Whether any file was to be removed, or stays because of a rule.
    has_decided: Cell<bool>,
}

impl RuleUse {
    /// Counts what decided in a group.
    pub(super) fn note(&self, group: &GroupDecision) {
        self.decided.borrow_mut().extend(&group.decided);
        self.kept_one.borrow_mut().extend(&group.kept_one);
        let is_removed = |decision: &MemberDecision| matches!(decision, MemberDecision::Goes { .. });
        self.has_decided.set(
            self.has_decided.get() || !group.kept_one.is_empty() || group.decisions.iter().any(is_removed),
        );
    }

    /// Returns the indices into [`KeepRules::keep`] and [`KeepRules::one_per`] of the rules that decided nothing. If there
    /// was nothing to decide, returns none.
    pub fn undecided(&self, rules: &KeepRules) -> (Vec<usize>, Vec<usize>) {
        if !self.has_decided.get() {
            return (Vec::new(), Vec::new());
        }
        let unused = |len: usize, used: &RefCell<BTreeSet<usize>>| {
            (0..len).filter(|nth| !used.borrow().contains(nth)).collect()
        };
        (unused(rules.keep.len(), &self.decided), unused(rules.one_per.len(), &self.kept_one))
    }
}
