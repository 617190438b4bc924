//! Several workers on two files: they search for mismatches, and count lines.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use ftk_file::Failure;
use ftk_sched::Team;

use crate::files::Tuning;
use crate::kernel::differences;
use crate::options::FileResources;
use crate::outcome::FilePlan;
use crate::pair::{Known, Pair, Part, View};
use crate::search::{BlockClaims, Search};
use crate::sequential::newlines;
use crate::{Mismatch, Side, Way};

/// What every worker works with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) a: Part<'c>,
    pub(crate) b: Part<'c>,
    pub(crate) shortcuts: bool,
    pub(crate) plan: FilePlan,
    pub(crate) tuning: Tuning,
    pub(crate) resources: &'c FileResources<'c>,
}

impl Context<'_> {
    fn claims(&self) -> BlockClaims {
        let FilePlan { block, workers, .. } = self.plan;
        BlockClaims { block: block as u64, max: self.tuning.claim, workers: workers as u64 }
    }

    /// Whether to map a piece.
    fn maps(&self, piece: &Range<u64>) -> bool {
        self.plan.way == Way::Mapped && piece.end - piece.start >= self.tuning.map
    }

    fn is_stopped(&self) -> bool {
        self.resources.stop.is_raised()
    }

    /// Returns the first `capacity` mismatches in `range`, in order. The result is incomplete if the stop
    /// flag is raised.
    pub(crate) fn earliest(
        &self,
        range: Range<u64>,
        capacity: usize,
    ) -> Result<Vec<Mismatch>, (Side, Failure)> {
        let search = Search::new(range, capacity, self.claims());
        let ended = Team::new(self.plan.workers).run(self.resources.stop, |_| {
            let pair = Pair::new(self.a, self.b, self.shortcuts);
            let result = Worker { context: self, search: &search, pair, found: Vec::new() }.run(capacity);
            if result.is_err() {
                search.give_up();
            }
            result
        });
        ended.into_iter().collect::<Result<(), _>>()?;
        Ok(search.into_earliest())
    }

    /// Counts the lines of the first file that end in `range`.
    ///
    /// This runs after the search, when the range is known. Counting during the search would make comparing
    /// equal files a tenth slower.
    pub(crate) fn newlines(&self, range: Range<u64>) -> Result<u64, (Side, Failure)> {
        // This search only hands out claims.
        let search = Search::new(range, 1, self.claims());
        let counts = Team::new(self.plan.workers).run(self.resources.stop, |_| {
            let mut view = View::new(self.a, self.shortcuts);
            let mut count = 0;
            while let Some(claim) = search.claim() {
                let counted = self.newlines_of(&search, &mut view, claim).inspect_err(|_| search.give_up());
                count += counted?;
            }
            Ok(count)
        });
        counts.into_iter().sum()
    }

    fn newlines_of(
        &self,
        search: &Search,
        view: &mut View<'_>,
        claim: Range<u64>,
    ) -> Result<u64, (Side, Failure)> {
        let mut count = 0;
        let mut at = claim.start;
        while at < claim.end && !self.is_stopped() {
            let hole = view.hole(at);
            let end = hole.end.min(claim.end);
            if hole.holds {
                search.skip_to(hole.end);
            } else {
                let piece = at..end;
                let bytes = view.open(&piece, false, self.maps(&piece));
                for block in blocks(piece.clone(), self.plan.block) {
                    count += newlines(view.block(&bytes, &block)?);
                }
                view.close(&bytes, &piece)?;
            }
            at = end;
        }
        Ok(count)
    }
}

/// One worker of a search.
struct Worker<'w> {
    context: &'w Context<'w>,
    search: &'w Search,
    pair: Pair<'w>,
    /// Mismatches of the current block.
    found: Vec<Mismatch>,
}

impl Worker<'_> {
    fn run(&mut self, capacity: usize) -> Result<(), (Side, Failure)> {
        while let Some(claim) = self.search.claim() {
            let mut at = claim.start;
            while at < claim.end && self.is_needed(at) {
                at = match self.pair.at(at) {
                    Known::Equal(end) => {
                        self.search.skip_to(end);
                        end
                    }
                    Known::Nothing { end, a_is_hole, b_is_hole } => {
                        let piece = at..end.min(claim.end);
                        self.piece(&piece, a_is_hole, b_is_hole, capacity)?;
                        piece.end
                    }
                };
                self.context.resources.done.fetch_max(2 * at.min(claim.end), Relaxed);
            }
            if self.context.is_stopped() {
                break;
            }
        }
        Ok(())
    }

    fn is_needed(&self, offset: u64) -> bool {
        self.search.is_needed(offset) && !self.context.is_stopped()
    }

    fn piece(
        &mut self,
        piece: &Range<u64>,
        a_is_hole: bool,
        b_is_hole: bool,
        capacity: usize,
    ) -> Result<(), (Side, Failure)> {
        let is_mapped = self.context.maps(piece);
        let a_bytes = self.pair.a.open(piece, a_is_hole, is_mapped);
        let b_bytes = self.pair.b.open(piece, b_is_hole, is_mapped);
        for block in blocks(piece.clone(), self.context.plan.block) {
            if !self.is_needed(block.start) {
                break;
            }
            let a = self.pair.a.block(&a_bytes, &block)?;
            let b = self.pair.b.block(&b_bytes, &block)?;
            let mismatch = |index| Mismatch { offset: block.start + index as u64, a: a[index], b: b[index] };
            self.found.clear();
            self.found.extend(differences(a, b).take(capacity).map(mismatch));
            if !self.found.is_empty() {
                self.search.insert(&self.found);
            }
        }
        self.pair.a.close(&a_bytes, piece)?;
        self.pair.b.close(&b_bytes, piece)
    }
}

/// Splits a range into blocks.
fn blocks(range: Range<u64>, block: usize) -> impl Iterator<Item = Range<u64>> {
    range.clone().step_by(block).map(move |start| start..range.end.min(start + block as u64))
}
