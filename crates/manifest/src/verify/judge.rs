//! Verdicts of a verification.

use std::io;
use std::ops::ControlFlow;

use ftk_file::{Stat, sees_trusted};
use ftk_inventory::{FileNo, Opener};
use ftk_process::{FileSystems, Rows, file_systems};
use ftk_walk::FileType;

use super::plan::{Batch, VerifyPlan};
use crate::contents::Content;
use crate::diff::each_unknown;
use crate::failed::FailedInOrder;
use crate::growing::Grown;
use crate::keys::{Keys, pair};
use crate::merge::Side as _;
use crate::moves::Evidence;
use crate::verdict::{compares_links, finding, is_same_time, note_links};
use crate::walked_tree::Seen;
use crate::whole_seconds::Archives;
use crate::xattrs::{Hider, XattrReader};
use crate::{Contents, Entry, Error, Field, Finding, Shift, Summary, Verdict, Xattr};

/// The callback for findings. It can end the verification.
type Each<'e> = &'e mut dyn FnMut(&Finding<'_>) -> ControlFlow<()>;

impl VerifyPlan<'_> {
    /// Passes the verdicts of a batch to `each` in path order, and counts them.
    ///
    /// All batches together give one verdict for everything in the manifest and the tree. `rows` are the
    /// results of the batch's files, with the algorithms of the manifest and [with stats](Rows::with_stats).
    ///
    /// # Errors
    /// When the manifest cannot be read or has changed meanwhile, or when a file of the batch was never
    /// processed.
    ///
    /// # Panics
    /// If the rows belong to other files or have no stats.
    pub fn verify(&self, batch: &Batch, rows: &Rows, each: Each<'_>) -> Result<Summary, Error> {
        let contents = Contents::read(Some(&batch.files), rows);
        let moves = if batch.has_moves { self.moves(&contents)? } else { Moves::default() };
        let shift = self.shift(batch, &contents)?;
        let mut summary = Summary::default();
        summary.shift = shift.filter(|_| self.criteria.compares(Field::Mtime));
        summary.split_links = self.split_links(batch, &contents)?;
        let inventory = self.aligned.tree.inventory;
        let needs_xattrs = self.aligned.manifest.header().xattrs && self.criteria.compares(Field::Xattrs);
        let mut judge = Judge {
            plan: self,
            batch,
            contents,
            moves,
            opener: Opener::new(inventory),
            xattrs: needs_xattrs.then(|| XattrReader::new(inventory, contents)),
            hider: Hider::new([self.aligned.manifest.header().trusted_xattrs, sees_trusted()]),
            missing_seen: 0,
            candidates_seen: 0,
            digests: Vec::new(),
            changed: Vec::new(),
            shift,
            summary,
            pending: 0,
            each,
        };
        let recorded = &self.aligned.manifest.header().failed;
        let selects = |path: &[u8]| {
            let part = self.criteria.part.as_ref();
            part.is_none_or(|part| part.selects(path, FileType::Directory))
        };
        let (mut failed, mut is_over) = (FailedInOrder::new(recorded), false);
        self.aligned.merge(|old, new| {
            let path = old.as_ref().map(|old| old.path()).or(new.as_ref().map(|new| new.path()));
            let path = path.unwrap_or_default();
            let is_unknown = old.is_some() != new.is_some() && recorded.covers(path);
            // The entry itself may have this verdict.
            let others = failed
                .up_to(Some(path))
                .iter()
                .filter(|failed| !(is_unknown && **failed == path) && selects(failed));
            let has_ended = judge.failed(others).is_break();
            let flow = match (old, new) {
                _ if has_ended => ControlFlow::Break(()),
                (Some(old), Some(new)) => judge.both(&old.entry(), &new.seen)?,
                (Some(old), None) => judge.only_old(&old.entry(), is_unknown),
                (None, Some(new)) => judge.only_new(&new.seen, is_unknown),
                (None, None) => ControlFlow::Continue(()),
            };
            is_over = flow.is_break();
            Ok(flow)
        })?;
        if !is_over {
            let _ = judge.failed(failed.up_to(None).iter().filter(|failed| selects(failed)));
        }
        if judge.batch.is_first {
            judge.summary.unselected = self.aligned.unselected();
        }
        if judge.pending > 0 { Err(Error::Unprocessed(judge.pending)) } else { Ok(judge.summary) }
    }

    /// Finds the new files that are missing files at a new path.
    fn moves(&self, contents: &Contents<'_>) -> Result<Moves, Error> {
        let file_systems = match self.missing.needs_inodes() && !self.candidates.is_empty() {
            true => file_systems(self.aligned.tree.inventory),
            false => FileSystems::default(),
        };
        let mut found = Keys::new(self.aligned.manifest.header().digests_len(), self.budget);
        let (mut files, mut digests) = (Vec::new(), Vec::new());
        for &file in &self.candidates {
            if let Content::Read(row, stat) = contents.of(file) {
                contents.digests(row, &mut digests);
                found.push_file([&*digests], Some(stat.size), Evidence::present(&stat, &file_systems))?;
                files.push(file);
            }
        }
        let to: Vec<_> =
            pair(&self.missing, &found).into_iter().map(|nth| nth.map(|nth| files[nth as usize])).collect();
        let mut moved_to: Vec<_> = to.iter().copied().flatten().collect();
        moved_to.sort_unstable();
        Ok(Moves { to, moved_to })
    }
}

/// The new paths of moved files.
#[derive(Debug, Default)]
struct Moves {
    /// For each missing regular file, in path order, the new file with its content, if there is one.
    to: Vec<Option<FileNo>>,
    /// The files in `to`, ascending.
    moved_to: Vec<FileNo>,
}

/// The state of a pass over the manifest and the tree.
struct Judge<'j> {
    plan: &'j VerifyPlan<'j>,
    batch: &'j Batch,
    contents: Contents<'j>,
    moves: Moves,
    opener: Opener<'j>,
    xattrs: Option<XattrReader<'j>>,
    hider: Hider,
    /// The number of missing regular files that the pass has reached.
    missing_seen: usize,
    /// The number of candidates that the pass has reached.
    candidates_seen: usize,
    digests: Vec<u8>,
    changed: Vec<Field>,
    shift: Option<Shift>,
    summary: Summary,
    pending: u64,
    each: Each<'j>,
}

/// What is known of an entry that is in the manifest and in the tree.
enum Standing {
    Known {
        stat: Stat,
        is_read: bool,
    },
    NotYet,
    /// The error, if it was not reported yet.
    Unreadable(Option<io::Error>),
}

impl Judge<'_> {
    fn both(&mut self, old: &Entry<'_>, seen: &Seen) -> Result<ControlFlow<()>, Error> {
        let standing = match self.stand(old, seen) {
            Ok(standing) => standing,
            Err(error) => return Ok(self.unreadable(old, Some(seen), Some(&error), &[])),
        };
        let (stat, is_read) = match standing {
            Standing::Known { stat, is_read } => (stat, is_read),
            Standing::NotYet => return Ok(ControlFlow::Continue(())),
            Standing::Unreadable(error) => {
                return Ok(self.unreadable(old, Some(seen), error.as_ref(), &[Field::Digests]));
            }
        };
        let mut stat = stat;
        let archives = Archives::recorded(self.plan.aligned.manifest.header());
        [_, stat.mtime_ns] = archives.compared([old.stat.mtime_ns, stat.mtime_ns]);
        let xattrs = self.xattrs.as_mut().map(|reader| reader.read(seen)).transpose();
        let xattrs: Option<&[Xattr]> = match xattrs {
            Ok(xattrs) => xattrs,
            Err(error) => {
                let changed: &[_] = &[Field::Xattrs];
                let finding = Finding { error: Some(&error), changed, ..finding(Verdict::Unreadable, old) };
                let finding =
                    finding.spelled(seen.own_path.as_deref(), seen.is_respelled, self.plan.criteria);
                self.summary.note(&finding, None);
                return Ok((self.each)(&finding));
            }
        };
        let digests: &[u8] = if is_read { &self.digests } else { &[] };
        let new = Entry { target: seen.target(), digests, xattrs, ..Entry::new(&seen.path, stat) };
        let (mut old, mut new) = (*old, new);
        if new.xattrs.is_some() {
            self.summary.hidden_xattrs += u64::from(self.hider.hide([&mut old, &mut new]));
        }
        let is_same = is_read.then(|| old.digests == digests);
        self.plan.criteria.changed(&old, &new, is_same, &mut self.changed);
        let mut links = self.plan.links.borrow_mut();
        let is_compared = self.plan.criteria.compares_of(&old, Field::LinkGroup)
            && compares_links(&old, seen.file_type)
            && self.summary.split_links == 0;
        if let Some(group) = old.links().filter(|_| is_compared)
            && let Some(first) = links.add(old.path, group.map(Into::into), stat.linked_identity())?
        {
            note_links(&mut self.changed, [&mut old, &mut new], first);
        }
        let shift = self.shift.as_ref();
        if is_same_time(&old, &new, shift) {
            self.changed.retain(|field| *field != Field::Mtime);
        }
        let verdict = Verdict::of(&old, &new, &self.changed, shift);
        let (verdict, untimed) = self.plan.criteria.judge(verdict);
        self.summary.untimed += untimed;
        let finding = Finding { new: Some(new), changed: &self.changed, ..finding(verdict, &old) };
        let finding = finding.spelled(seen.own_path.as_deref(), seen.is_respelled, self.plan.criteria);
        self.summary.note(&finding, shift);
        if !old.digests.is_empty() && !is_read && finding.verdict == Verdict::Ok {
            self.summary.unread += 1;
        }
        Ok((self.each)(&finding))
    }

    /// Finds out what is known of an entry that is in the manifest and in the tree. If its content was read,
    /// stores its digests in `self.digests`.
    fn stand(&mut self, old: &Entry<'_>, seen: &Seen) -> io::Result<Standing> {
        let plan = self.plan;
        if let Some(file) = seen.file.filter(|_| plan.reads && old.stat.is_regular())
            && plan.criteria.reads(old)
        {
            return Ok(match self.contents.of(file) {
                Content::Read(row, stat) => {
                    self.contents.digests(row, &mut self.digests);
                    Standing::Known { stat, is_read: true }
                }
                Content::Failed => Standing::Unreadable(None),
                Content::Pending => {
                    self.pending += 1;
                    Standing::NotYet
                }
                // The file belongs to another batch.
                Content::Unread => Standing::NotYet,
            });
        }
        if !self.batch.is_first {
            return Ok(Standing::NotYet);
        }
        if let Some(file) = seen.file.filter(|_| plan.reads && old.stat.is_regular())
            && plan.criteria.reads_start(old)
        {
            let (file, algorithms) = ((seen.dir, file), &plan.aligned.manifest.header().algorithms);
            self.summary.growing += 1;
            return Ok(match Grown::read(&mut self.opener, file, old.stat.size, algorithms, false) {
                Ok(Grown { stat, start, .. }) => {
                    let is_read = start.is_some();
                    self.summary.growing_bytes += if is_read { old.stat.size } else { 0 };
                    self.digests = start.unwrap_or_default();
                    Standing::Known { stat, is_read }
                }
                Err(error) => Standing::Unreadable(Some(error)),
            });
        }
        let stat = match seen.metadata {
            Some(stat) => stat,
            None => self.opener.stat_entry(seen.dir, &*seen.name, seen.symlinks())?,
        };
        Ok(Standing::Known { stat, is_read: false })
    }

    /// Passes on that the manifest does not know these paths.
    fn failed<'f>(&mut self, mut paths: impl Iterator<Item = &'f Vec<u8>>) -> ControlFlow<()> {
        match self.batch.is_first {
            true => paths.try_for_each(|path| each_unknown(path, &mut self.summary, self.each)),
            false => ControlFlow::Continue(()),
        }
    }

    fn only_old(&mut self, old: &Entry<'_>, is_unknown: bool) -> ControlFlow<()> {
        let is_covered = self.plan.aligned.failed.covers(old.path);
        let is_file = self.plan.reads && old.stat.is_regular() && !is_covered && !is_unknown;
        self.missing_seen += usize::from(is_file);
        if !(if is_file { self.batch.has_moves } else { self.batch.is_first }) {
            return ControlFlow::Continue(());
        }
        if is_covered {
            return self.unreadable(old, None, None, &[]);
        }
        let moved = if is_file { self.moves.to.get(self.missing_seen - 1).copied().flatten() } else { None };
        let path = moved.map(|file| self.plan.aligned.tree.path_of(file));
        let verdict = match moved {
            _ if is_unknown => Verdict::Unknown,
            Some(_) => Verdict::Moved,
            None => Verdict::Missing,
        };
        self.summary.add(verdict);
        (self.each)(&Finding { new_path: path.as_deref(), ..finding(verdict, old) })
    }

    fn only_new(&mut self, seen: &Seen, is_unknown: bool) -> ControlFlow<()> {
        let is_candidate =
            seen.file.is_some() && self.plan.candidates.get(self.candidates_seen).copied() == seen.file;
        self.candidates_seen += usize::from(is_candidate);
        let is_moved = |file: FileNo| self.moves.moved_to.binary_search(&file).is_ok();
        if !(if is_candidate { self.batch.has_moves } else { self.batch.is_first })
            || seen.file.is_some_and(is_moved)
        {
            return ControlFlow::Continue(());
        }
        let stat = seen.metadata;
        let entry = |stat| Entry { target: seen.target(), ..Entry::new(&seen.path, stat) };
        let verdict = if is_unknown { Verdict::Unknown } else { Verdict::New };
        self.summary.add(verdict);
        (self.each)(&Finding {
            file_type: seen.file_type,
            new: stat.map(entry),
            ..Finding::new(verdict, seen.own_path.as_ref().unwrap_or(&seen.path))
        })
    }

    fn unreadable(
        &mut self,
        old: &Entry<'_>,
        seen: Option<&Seen>,
        error: Option<&io::Error>,
        what: &[Field],
    ) -> ControlFlow<()> {
        // An error other than in reading the content was not reported yet.
        let file = seen.filter(|_| error.is_none()).and_then(|seen| seen.file);
        let changed = if error.is_some() { what } else { &[] };
        let mut finding = Finding { file, error, changed, ..finding(Verdict::Unreadable, old) };
        if let Some(seen) = seen {
            finding = finding.spelled(seen.own_path.as_deref(), seen.is_respelled, self.plan.criteria);
        }
        self.summary.note(&finding, None);
        (self.each)(&finding)
    }
}
