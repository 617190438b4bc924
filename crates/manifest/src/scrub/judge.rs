//! Compares what was read with the records.

use std::ops::Range;

use ftk_process::{Rows, State};

use super::plan::Scrub;
use super::queue::{Batch, Item};
use super::write::Mark;
use crate::{Contents, Entry, Error, Field, Finding, Verdict};

/// The result for a file.
enum Judged {
    Intact,
    Damaged,
    /// The file was edited since the walk.
    Changed,
    /// The content differs, and the record has no size or time that could show an edit.
    Undecided,
}

impl Scrub<'_> {
    /// Passes the recorded damaged files that are missing to `each`. Their records stay, since the files may have been
    /// renamed. Those that were changed since are passed with [`Verdict::Modified`].
    pub fn say_lost(&self, each: &mut dyn FnMut(&Finding<'_>)) {
        self.lost.iter().for_each(|path| each(&Finding::new(Verdict::Missing, path)));
        self.edited.iter().for_each(|path| each(&Finding::new(Verdict::Modified, path)));
    }

    /// Judges the files of a batch, and passes damaged and unreadable ones to `each`, and with [`Verdict::Modified`] those
    /// with other content whose records lack the size or time that could show an edit. `rows` are the results of the
    /// batch's files, with the algorithms of the manifest and [with stats](Rows::with_stats). `begun_ns` is a time
    /// before the first of them was opened.
    ///
    /// # Errors
    /// When a file of the batch was never processed.
    ///
    /// # Panics
    /// If the rows belong to other files or have no stats.
    pub fn judge(
        &mut self,
        batch: &Batch,
        rows: &Rows,
        begun_ns: i128,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> Result<(), Error> {
        let contents = Contents::read(Some(&batch.files), rows);
        let (mut digests, mut pending) = (Vec::new(), 0);
        let nth = self.begun_ns.len();
        self.begun_ns.push(begun_ns);
        for (row, item) in (0..).zip(&batch.items) {
            self.done.tried += u64::from(!item.is_damaged());
            match rows.state(row) {
                State::Ok => {}
                State::Pending | State::Deferred => {
                    pending += 1;
                    continue;
                }
                State::Failed | State::Changed => {
                    self.done.unreadable += 1;
                    self.marks[item.record as usize] = Mark::FAILED;
                    let path = self.path_of(item.file);
                    each(&Finding { file: Some(item.file), ..Finding::new(Verdict::Unreadable, &path) });
                    continue;
                }
            }
            contents.digests(row, &mut digests);
            let judged = self.judged(item, rows, row, &digests);
            let mark = &mut self.marks[item.record as usize];
            match judged {
                Judged::Intact => {
                    *mark = Mark::verified(nth);
                    self.done.verified(item);
                }
                Judged::Changed => {
                    *mark = Mark::CHANGED;
                    self.left.changed += 1;
                    if item.is_damaged() {
                        let path = self.path_of(item.file);
                        each(&Finding::new(Verdict::Modified, &path));
                        self.edited.push(path);
                    }
                }
                Judged::Undecided | Judged::Damaged => {
                    let verdict = if item.is_timed {
                        *mark = Mark::DAMAGED;
                        self.done.damaged += 1;
                        Verdict::Corrupted
                    } else {
                        *mark = Mark::CHANGED;
                        self.done.undecided += 1;
                        Verdict::Modified
                    };
                    let stat = rows.stat(row).expect("the row is Ok");
                    let path = self.path_of(item.file);
                    let entry = |digests| Entry { digests, ..Entry::new(&path, stat) };
                    each(&Finding {
                        old: Some(entry(&self.digests[self.digests_of(item)])),
                        new: Some(entry(&digests)),
                        changed: &[Field::Digests],
                        ..Finding::new(verdict, &path)
                    });
                }
            }
        }
        if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(()) }
    }

    fn judged(&self, item: &Item, rows: &Rows, row: u32, digests: &[u8]) -> Judged {
        let (inventory, stat) = (self.tree.inventory, rows.stat(row).expect("the row is Ok"));
        let walked = inventory.walked(inventory.dir_of(item.file), item.file);
        let is_same = |walked: &_| {
            let ftk_file::Stat { size, mtime_ns, .. } = *walked;
            (size, mtime_ns) == (stat.size, stat.mtime_ns)
        };
        match () {
            () if !walked.as_ref().is_some_and(is_same) => Judged::Changed,
            () if &self.digests[self.digests_of(item)] == digests => Judged::Intact,
            () if !item.is_timed => Judged::Undecided,
            () => Judged::Damaged,
        }
    }

    /// Returns where the recorded digests of a file are.
    fn digests_of(&self, item: &Item) -> Range<usize> {
        let len = self.manifest.header().digests_len();
        let start = item.record as usize * len;
        start..start + len
    }
}
