//! Counts what rules decide, so that a rule without effect is reported. It often has a typing error.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use ftk_dedup::{GroupDecision, MemberDecision};

use crate::console::Console;

/// The rules of a run, and which of them decided something.
#[derive(Debug)]
pub(super) struct RuleUse {
    keep: Vec<String>,
    one_per: Vec<String>,
    decided: RefCell<BTreeSet<usize>>,
    kept_one: RefCell<BTreeSet<usize>>,
    /// Whether any file was to be removed, or stays because of a rule.
    has_decided: Cell<bool>,
}

impl RuleUse {
    /// Creates a count for rules that are shown as these options.
    pub(super) fn new(keep: impl Iterator<Item = String>, one_per: impl Iterator<Item = String>) -> Self {
        let (decided, kept_one, has_decided) = Default::default();
        Self { keep: keep.collect(), one_per: one_per.collect(), decided, kept_one, has_decided }
    }

    /// Counts what decided in a group.
    pub(super) fn note(&self, group: &GroupDecision) {
        self.decided.borrow_mut().extend(&group.decided);
        self.kept_one.borrow_mut().extend(&group.kept_one);
        let is_removed = |decision: &MemberDecision| matches!(decision, MemberDecision::Goes { .. });
        self.has_decided.set(
            self.has_decided.get() || !group.kept_one.is_empty() || group.decisions.iter().any(is_removed),
        );
    }

    /// Prints the rules that decided nothing. If there was nothing to decide, prints none.
    pub(super) fn say(&self, console: &Console) {
        if !self.has_decided.get() {
            return;
        }
        let unused = |rules: &[String], used: &BTreeSet<usize>| {
            let unused = rules.iter().enumerate().filter(|(nth, _)| !used.contains(nth));
            unused.for_each(|(_, rule)| console.summary(format_args!("{rule} decided nothing")));
        };
        unused(&self.keep, &self.decided.borrow());
        unused(&self.one_per, &self.kept_one.borrow());
    }
}
