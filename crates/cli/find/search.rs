//! Runs a search and combines the results of its workers.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use ftk_inventory::{Budget, Collect, Inventory, Keep};
use ftk_select::{Selection, Skipped};
use ftk_walk::{Follow, Step, Walker};

use super::from::Records;
use super::group::{GroupBy, Groups};
use super::lister::{Lister, Sink};
use super::order::Order;
use super::render::Render;
use super::sorted::{Unsorted, sort};
use super::top::Top;
use crate::console::{Console, Outcome};
use crate::globals::Globals;
use crate::races::{Races, say_vanished};
use crate::rules::{AllowUnusedArg, Rules};
use crate::scan::{Walked, none_of, say_skipped, too_large, walk, walk_error, walker};

/// A search: starting points, selection and limit.
pub(super) struct Search<'s> {
    pub(super) roots: &'s [CString],
    /// The manifests whose entries are listed; `None`: those of the trees at the roots.
    pub(super) records: Option<&'s Records>,
    pub(super) follow: Follow,
    pub(super) selection: &'s Selection,
    pub(super) globals: &'s Globals,
    pub(super) console: &'s Console,
    pub(super) races: Races<'s>,
    /// For commands that are run: no entry is accepted if a rule that protects files matched nothing.
    pub(super) needs_used_rules: Option<AllowUnusedArg>,
    /// The maximal number of entries. If sorted, the first ones in that order.
    pub(super) limit: Option<Limit>,
}

/// The result of a walk.
pub(super) struct Tally {
    pub(super) found: u64,
    pub(super) outcome: Outcome,
    pub(super) rules: Rules,
}

impl Search<'_> {
    /// Walks with one sink per worker.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub(super) fn walk<'l>(&'l self, mut sink: impl FnMut() -> Sink<'l>) -> anyhow::Result<Tally> {
        let lister = || Lister::new(sink(), self.limit.as_ref(), self);
        self.walk_with(&self.budget(), lister, |sink| match sink {
            Sink::Paths { mut lines, .. } | Sink::Lines { mut lines, .. } => {
                lines.flush();
            }
            Sink::Count | Sink::Sort(_) | Sink::Top(_) | Sink::Group(_) | Sink::Commands(_) => {}
        })
    }

    /// Walks, keeps the records of all entries, or of the first ones if there is a limit, and then passes their paths
    /// and records to `accept`, sorted, until it returns `false`.
    pub(super) fn walk_sorted<'l>(
        &'l self,
        order: Order,
        mut render: impl FnMut() -> Render<'l>,
        mut accept: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> anyhow::Result<Outcome> {
        if let Some(most) = self.limit.as_ref().map(Limit::left) {
            let (mut parts, most) = (Vec::new(), usize::try_from(most).unwrap_or(usize::MAX));
            let mut sink = || Sink::Top(Top::new(render(), order, most));
            let tally = self.walk_with(
                &self.budget(),
                || Lister::new(sink(), None, self),
                |sink| {
                    if let Sink::Top(part) = sink {
                        parts.push(part);
                    }
                },
            )?;
            self.ensure_used(&tally.rules)?;
            for first in Top::merge(parts, most) {
                if !accept(&first.path, &first.record) {
                    break;
                }
            }
            return Ok(tally.outcome);
        }
        let budget = self.budget();
        let mut parts = Vec::new();
        let mut sink = || Sink::Sort(Unsorted::new(render(), order, budget.clone()));
        let tally = self.walk_with(
            &budget,
            || Lister::new(sink(), None, self),
            |sink| {
                if let Sink::Sort(part) = sink {
                    parts.push(part);
                }
            },
        )?;
        self.ensure_used(&tally.rules)?;
        for (path, record) in sort(&parts, order).with_context(|| too_large(&budget))? {
            if !accept(path, record) {
                break;
            }
        }
        Ok(tally.outcome)
    }

    /// Lists all paths, and then passes them to `accept`, sorted by path, until it returns `false`. Keeps only names,
    /// which needs much less memory than keeping records.
    pub(super) fn scan_sorted(&self, mut accept: impl FnMut(&[u8]) -> bool) -> anyhow::Result<Outcome> {
        let (budget, console) = (self.budget(), self.console);
        let collect = |worker| Collect::new(worker, Keep::All).within(&budget);
        let walked = walk(self.walker(), self.selection, &budget, console.progress, console, collect);
        let Walked { visitors, skipped, rules, .. } = walked;
        let mut inventory = Inventory::merge(visitors).with_context(|| too_large(&budget))?;
        let (vanished, errors) = self.races.separate(inventory.take_errors());
        errors.iter().for_each(|error| walk_error(error, console));
        say_skipped(skipped, Default::default(), console);
        say_vanished(vanished, console);
        rules.say(console);
        self.ensure_used(&rules)?;
        let mut order = inventory.in_path_order();
        let mut is_empty = true;
        while let Some(item) = order.next() {
            is_empty = false;
            if !accept(item.path) {
                break;
            }
        }
        if is_empty {
            self.say_filtered(skipped);
        }
        Ok(if errors.is_empty() { Outcome::Success } else { Outcome::Error })
    }

    /// Walks, and returns the groups of all workers.
    ///
    /// # Errors
    /// If a record cannot be read.
    pub(super) fn walk_groups(&self, by: GroupBy) -> anyhow::Result<(Vec<Groups>, Tally)> {
        let mut parts = Vec::new();
        let lister = || Lister::new(Sink::Group(Groups::new(by)), None, self);
        let tally = self.walk_with(&self.budget(), lister, |sink| {
            if let Sink::Group(part) = sink {
                parts.push(part);
            }
        })?;
        Ok((parts, tally))
    }

    fn walk_with<'l>(
        &self,
        budget: &Budget,
        mut lister: impl FnMut() -> Lister<'l>,
        mut done: impl FnMut(Sink<'l>),
    ) -> anyhow::Result<Tally> {
        let progress = self.console.progress.during_output();
        let walked = match self.records {
            Some(records) => records.walk(self.roots, self.selection, lister(), self.console)?,
            None => walk(self.walker(), self.selection, budget, progress, self.console, |_| lister()),
        };
        let Walked { visitors, skipped, rules, .. } = walked;
        let mut tally = Tally { found: 0, outcome: Outcome::Success, rules };
        let mut vanished = Vec::new();
        for lister in visitors {
            tally.found += lister.found;
            tally.outcome = tally.outcome.max(lister.outcome);
            vanished.extend(lister.vanished);
            done(lister.sink);
        }
        say_skipped(skipped, Default::default(), self.console);
        say_vanished(vanished, self.console);
        tally.rules.say(self.console);
        if tally.found == 0 {
            self.say_filtered(skipped);
        }
        Ok(tally)
    }

    /// Whether all entries must be listed before the first one is accepted, because a rule may turn out to be unused.
    pub(super) fn lists_first(&self) -> bool {
        let protects = || self.selection.rules().iter().any(|rule| rule.protects);
        self.needs_used_rules.is_some_and(|allowed| !allowed.allow_unused_rules) && protects()
    }

    fn ensure_used(&self, rules: &Rules) -> anyhow::Result<()> {
        let Some(allowed) = self.needs_used_rules else { return Ok(()) };
        rules.ensure_used(allowed)?;
        rules.warn_partly_used(self.console);
        Ok(())
    }

    /// Prints a line in the summary if the filters match nothing.
    fn say_filtered(&self, skipped: Skipped) {
        if let Some(none) = none_of(skipped) {
            self.console.summary(none);
        }
    }

    fn walker(&self) -> Walker {
        walker(self.roots, self.follow, self.globals)
    }

    fn budget(&self) -> Budget {
        Budget::new(self.globals.memory())
    }
}

/// The number of entries that may still be found (`--max-results`), shared by all workers.
#[derive(Debug)]
pub(super) struct Limit(AtomicU64);

impl Limit {
    pub(super) fn new(most: u64) -> Self {
        Self(AtomicU64::new(most))
    }

    /// Returns the number of entries that may still be found.
    fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one entry. Returns how to go on after it, or `None` if the limit had been reached before.
    /// Without a limit, every entry counts.
    pub(super) fn claim(limit: Option<&Self>) -> Option<Step> {
        limit.map_or(Some(Step::Descend), Self::claim_one)
    }

    fn claim_one(&self) -> Option<Step> {
        // Relaxed: the number does not guard any other data.
        let before =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(if before == 1 { Step::Stop } else { Step::Descend })
    }
}
