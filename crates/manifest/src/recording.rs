//! What a new manifest records that the old one does not.

use ftk_file::sees_trusted;
use ftk_inventory::Budget;
use ftk_select::Checks;

use crate::keys::{Keys, pair};
use crate::moves::Evidence;
use crate::verdict::{finding, is_same_time};
use crate::walked_tree::Seen;
use crate::xattrs::Hider;
use crate::{Criteria, Entry, Field, Finding, Header, Shift, Summary, Verdict};

/// Compares the entries of a new manifest with those of the old one, while it is written.
pub(crate) struct Recording<'r> {
    summary: Summary,
    each: &'r mut dyn FnMut(&Finding<'_>),
    criteria: Criteria,
    hider: Hider,
    changed: Vec<Field>,
    /// The contents of files that only one of them has, to count those that moved. `None` if there is too little memory.
    contents: Option<[Keys; 2]>,
}

impl<'r> Recording<'r> {
    /// `checks`: what is compared of each entry.
    pub(crate) fn new(
        old: &Header,
        checks: &Checks,
        budget: &Budget,
        each: &'r mut dyn FnMut(&Finding<'_>),
    ) -> Self {
        let len = old.digests_len();
        Self {
            summary: Summary::default(),
            each,
            criteria: Criteria { checks: checks.clone(), ..Criteria::default() },
            hider: Hider::new([old.trusted_xattrs, sees_trusted()]),
            changed: Vec::new(),
            contents: (len > 0).then(|| [Keys::new(len, budget), Keys::new(len, budget)]),
        }
    }

    /// Notes the entry that is written in place of the old one. One that keeps its old record is no change. `is_accepted`:
    /// whether it may be one that was not allowed to change so.
    pub(crate) fn note(
        &mut self,
        old: Option<&Entry<'_>>,
        new: Option<&Entry<'_>>,
        seen: Option<&Seen>,
        shift: Option<&Shift>,
        is_accepted: bool,
    ) {
        let (mut before, mut now) = (old.copied(), new.copied());
        self.changed.clear();
        let verdict = match (&mut before, &mut now) {
            (Some(old), Some(new)) => {
                self.hider.hide([old, new]);
                let is_pair = old.stat.is_regular() && new.stat.is_regular();
                let is_same = is_pair.then(|| old.digests == new.digests);
                let is_same = match is_accepted {
                    true => is_same,
                    false => is_same.and_then(|is_same| self.criteria.is_same(old, new, is_same)),
                };
                self.criteria.changed(old, new, is_same, &mut self.changed);
                if is_same_time(old, new, shift) {
                    self.changed.retain(|field| *field != Field::Mtime);
                }
                match Verdict::of(old, new, &self.changed, shift) {
                    // Accepted.
                    Verdict::Corrupted => Verdict::Modified,
                    verdict => verdict,
                }
            }
            (Some(old), None) => {
                self.keep(0, old);
                Verdict::Missing
            }
            (None, Some(new)) => {
                self.keep(1, new);
                Verdict::New
            }
            (None, None) => return,
        };
        let Some(entry) = before.or(now) else { return };
        let found = Finding { old: before, new: now, changed: &self.changed, ..finding(verdict, &entry) };
        let spelled = seen.filter(|seen| seen.is_respelled && before.is_some());
        let own_path = spelled.and_then(|seen| seen.own_path.as_deref());
        let found = found.spelled(own_path, spelled.is_some(), &self.criteria);
        self.summary.note(&found, shift);
        if found.verdict != Verdict::Ok {
            (self.each)(&found);
        }
    }

    /// Keeps the content of a file that only one side has.
    fn keep(&mut self, side: usize, entry: &Entry<'_>) {
        if let Some(contents) = &mut self.contents
            && entry.stat.is_regular()
        {
            let evidence = Evidence::recorded(entry);
            if contents[side].push_file([entry.digests], entry.size(), evidence).is_err() {
                self.contents.take().into_iter().flatten().for_each(Keys::release);
            }
        }
    }

    /// Returns the number of entries by their verdicts. A moved file counts once.
    pub(crate) fn finish(self) -> Summary {
        let mut summary = self.summary;
        if let Some([missing, added]) = self.contents {
            summary.join_moved(pair(&missing, &added).iter().flatten().count() as u64);
            missing.release();
            added.release();
        }
        summary
    }
}
