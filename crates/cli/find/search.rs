//! One search: the walk, its workers, and what they found put together.

use std::ffi::CString;

use anyhow::Context as _;
use ftk_inventory::{Budget, Keep};
use ftk_select::{Filtered, Selection, Skipped};
use ftk_walk::Follow;

use super::lister::{Lister, Sink};
use super::sorted::{Unsorted, sort};
use crate::args::Globals;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::scan::{TOO_LARGE, say_skipped, scan, walker};
use crate::stdout::Lines;

/// What is searched, and for what.
pub(super) struct Search<'s> {
    pub(super) roots: Vec<CString>,
    pub(super) follow: Follow,
    pub(super) selection: &'s Selection,
    pub(super) globals: &'s Globals,
    pub(super) console: &'s Console,
    /// How many of the sorted entries are wanted.
    pub(super) most: Option<u64>,
}

/// How a search ended.
pub(super) struct Tally {
    pub(super) found: u64,
    pub(super) outcome: Outcome,
}

impl Search<'_> {
    /// Walks with a lister for each worker, and says what was left out.
    pub(super) fn walk<'l>(&self, mut lister: impl FnMut() -> Lister<'l>) -> Tally {
        self.walk_into(&mut lister, |sink| {
            if let Sink::Lines(mut lines) = sink {
                lines.flush();
            }
        })
    }

    /// Walks with listers that keep their records, and writes those by path.
    pub(super) fn walk_sorted<'l>(
        &self,
        mut lister: impl FnMut(Sink<'l>) -> Lister<'l>,
        lines: &mut Lines<'_>,
    ) -> anyhow::Result<Tally> {
        let budget = self.budget();
        let mut parts = Vec::new();
        let mut tally = self.walk_into(&mut || lister(Sink::Sort(Unsorted::new(budget.clone()))), |sink| {
            if let Sink::Sort(part) = sink {
                parts.push(part);
            }
        });
        tally.found = 0;
        for record in sort(&parts).context(TOO_LARGE)?.take(self.most()) {
            if !lines.line(|line| line.extend_from_slice(record)) {
                break;
            }
            tally.found += 1;
        }
        lines.flush();
        Ok(tally)
    }

    /// Lists all paths in order before the first is handed to `take`, which says whether it wants more. Keeps
    /// names only, a fraction of what records take.
    pub(super) fn scan_sorted(&self, mut take: impl FnMut(&[u8]) -> bool) -> anyhow::Result<Tally> {
        let walker = walker(self.roots.clone(), self.follow, self.globals);
        let scan = scan(walker, self.selection, Keep::All, &self.budget(), self.console)?;
        let mut order = scan.inventory.in_path_order();
        let mut found = 0;
        while let Some(item) = order.next()
            && found < self.most()
            && take(item.path)
        {
            found += 1;
        }
        Ok(Tally { found: found as u64, outcome: scan.outcome })
    }

    fn walk_into<'l>(
        &self,
        lister: &mut impl FnMut() -> Lister<'l>,
        mut done: impl FnMut(Sink<'l>),
    ) -> Tally {
        let walker = walker(self.roots.clone(), self.follow, self.globals);
        let mut tally = Tally { found: 0, outcome: Outcome::Success };
        let mut skipped = Skipped::default();
        for part in walker.run(|_| Filtered::new(self.selection, lister())) {
            let (lister, left_out) = part.into_parts();
            tally.found += lister.found;
            tally.outcome = tally.outcome.max(lister.outcome);
            skipped += left_out;
            done(lister.sink);
        }
        say_skipped(skipped, Default::default(), self.console);
        tally
    }

    fn budget(&self) -> Budget {
        Budget::new(self.globals.memory())
    }

    fn most(&self) -> usize {
        self.most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
    }
}
