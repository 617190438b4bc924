//! Which rules have matched an entry.

use crate::Selection;
use crate::spelling::split;

/// A rule of a selection whose use is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The long option.
    pub option: &'static str,
    /// The value as it was given.
    pub value: Vec<u8>,
    /// Whether the rule skips entries, which protects them from what a command does with the others.
    pub protects: bool,
    /// Whether it names a starting point. If that is a directory, it is never skipped.
    pub names_root: bool,
    /// How many patterns it has, if it is a list of patterns. One that matches is enough for the rule.
    pub lines: Option<usize>,
}

impl Rule {
    /// Whether the value has a comma outside of brackets and braces, as if it were a list.
    pub fn is_like_a_list(&self) -> bool {
        split(&self.value, b',').len() > 1
    }
}

/// The rules of a selection that have matched an entry. The rules are numbered in the order of [`Selection::rules`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    rules: Vec<bool>,
    /// The lines of each rule that is a list of patterns.
    lines: Vec<Vec<bool>>,
    /// Lines that have matched nothing so far.
    unused_lines: usize,
    /// Rules that skip entries, of those that have matched nothing so far.
    unused_skipping: usize,
    /// Rules that select entries, of those that have matched nothing so far.
    unused_selecting: usize,
    n_skipping: usize,
    is_partial: bool,
}

impl Used {
    /// Nothing has matched.
    pub(crate) fn new(selection: &Selection) -> Self {
        let n_skipping = selection.rules.iter().take_while(|rule| rule.protects).count();
        Self {
            rules: vec![false; selection.rules.len()],
            lines: selection.rules.iter().map(|rule| vec![false; rule.lines.unwrap_or(0)]).collect(),
            unused_lines: selection.rules.iter().filter_map(|rule| rule.lines).sum(),
            unused_skipping: n_skipping,
            unused_selecting: selection.rules.len() - n_skipping,
            n_skipping,
            is_partial: false,
        }
    }

    /// Whether a rule has matched an entry.
    pub fn is_used(&self, rule: usize) -> bool {
        self.rules[rule]
    }

    /// Returns which lines of a rule have matched an entry. Only a list of patterns has lines.
    pub fn lines(&self, rule: usize) -> &[bool] {
        &self.lines[rule]
    }

    /// Whether a visitor stopped the walk, so that rules may match entries that were not seen.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Adds what another worker has seen, or another walk with the same selection.
    ///
    /// # Panics
    /// If the selections have different numbers of rules.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.rules.len(), other.rules.len(), "the rules are those of one selection");
        for (rule, _) in other.rules.iter().enumerate().filter(|(_, is_used)| **is_used) {
            self.mark(rule);
        }
        for (rule, lines) in other.lines.iter().enumerate() {
            let used = lines.iter().enumerate().filter(|(_, is_used)| **is_used);
            used.for_each(|(line, _)| self.mark_line(rule, line));
        }
        self.is_partial |= other.is_partial;
    }

    /// Notes that a rule has matched an entry.
    pub(crate) fn mark(&mut self, rule: usize) {
        if !std::mem::replace(&mut self.rules[rule], true) {
            let unused =
                if rule < self.n_skipping { &mut self.unused_skipping } else { &mut self.unused_selecting };
            *unused -= 1;
        }
    }

    /// Notes that a line of a rule has matched an entry, and so the rule.
    pub(crate) fn mark_line(&mut self, rule: usize, line: usize) {
        if !std::mem::replace(&mut self.lines[rule][line], true) {
            self.unused_lines -= 1;
            self.mark(rule);
        }
    }

    /// Notes that a visitor stopped the walk.
    pub(crate) fn stop(&mut self) {
        self.is_partial = true;
    }

    pub(crate) fn has_unused_skipping(&self) -> bool {
        self.unused_skipping > 0 || self.unused_lines > 0
    }

    pub(crate) fn has_unused_lines(&self) -> bool {
        self.unused_lines > 0
    }

    pub(crate) fn has_unused_selecting(&self) -> bool {
        self.unused_selecting > 0
    }
}
