//! Differences between two manifests, found without reading the files they list.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use ftk_inventory::{Budget, Full, LinkPairs, LinkSplits, Reservation, Unpaired};
use ftk_walk::FileType;

use crate::common::Common;
use crate::entry::{LinkGroup, key};
use crate::failed::FailedInOrder;
use crate::keys::{Keys, pair};
use crate::moves::Evidence;
use crate::pairs::{Pass, merge_manifests};
use crate::respelled::Respelled;
use crate::shift::TimeSample;
use crate::verdict::{compares_links, is_same_time, note_links};
use crate::xattrs::Hider;
use crate::{Criteria, Entry, Error, Failed, Field, Finding, Manifest, Selector, Shift, Summary, Verdict};

/// Compares two manifests and passes each difference to `each`, in path order.
///
/// Entries only in `old` are [`Verdict::Missing`], entries only in `new` are [`Verdict::New`]. Contents are compared by
/// the common algorithms; if one manifest has no digests at all, by size.
///
/// Each path that one of the manifests [could not read](crate::Header::failed) is [`Verdict::Unknown`], and so is what only
/// one of them has below it.
///
/// If everything that is compared is covered by tree digests, the entries below two directories with equal ones are
/// not read.
///
/// Hard links are compared between the paths that both have. If no recorded links are left, they are counted once in
/// [`Summary::split_links`].
///
/// Names that differ only in their Unicode normal form are pairs, and so is what is below them. If there are any, the
/// manifests are read three more times, and the lines of `new` at and below these names are copied to a temporary file.
///
/// Entries that are the same in both use no memory, except a path for each file with several names. A file only in `old`
/// uses 32 bytes and its common digests. A file only in `new` uses 33 bytes, its common digests and its path. Either uses 64
/// bytes more if its content is too small to show that it moved.
///
/// # Errors
/// When a manifest cannot be read or has an invalid line, when both have digests but no algorithm in common,
/// or when the files that only one of them has do not fit into the budget.
pub fn diff(
    old: &Manifest,
    new: &Manifest,
    criteria: &Criteria,
    budget: &Budget,
    each: &mut dyn FnMut(&Finding<'_>) -> ControlFlow<()>,
) -> Result<Summary, Error> {
    let common = match criteria.compares(Field::Digests) {
        true => Common::of(old.header(), new.header())?,
        false => Common::default(),
    };
    let is_compared = !common.is_empty();
    let unknown = &Failed::union([&old.header().failed, &new.header().failed]);
    let trees = Some(&common).filter(|_| common.identifies_content() && criteria.is_covered_by_trees());
    let has_links = criteria.compares(Field::LinkGroup);
    let part = criteria.part.as_ref();
    let selects = |path: &[u8]| part.is_none_or(|part| part.selects(path, FileType::Directory));
    let first = |respelled: Option<&Respelled>| {
        let mut first = First::new(has_links, budget);
        match common.identifies_content() {
            true => first.find_moves((old, new), unknown, &common, trees, respelled, part, budget)?,
            false => first.survey((old, new), respelled, part)?,
        }
        Ok::<_, Error>(first)
    };
    let (mut found, mut respelled) = (first(None)?, None);
    if let Some(candidates) = std::mem::replace(&mut found.unpaired, Unpaired::new(budget)).candidates(budget)
    {
        respelled = Respelled::find((old, new), candidates, budget)?;
        if respelled.is_some() {
            found.moves.release();
            found.times.into_inner().sample.release();
            found = first(respelled.as_ref())?;
        }
    }
    let respelled = respelled.as_ref();
    let First { moves, times, links, .. } = found;
    let shift =
        times.into_inner().shift((old, new), respelled, &common, trees.is_none(), criteria, budget)?;
    let mut links = links.filter(|links| links.has_any);
    let (mut changed, mut summary) = (Vec::new(), Summary::default());
    summary.split_links = links.as_ref().and_then(|links| links.splits.separate()).unwrap_or(0);
    let (mut missing, mut added) = (0, 0);
    let (mut same, mut same_unread) = (0, 0);
    let mut hider = match criteria.compares(Field::Xattrs) {
        true => Hider::new([old.header().trusted_xattrs, new.header().trusted_xattrs]),
        false => Hider::default(),
    };
    let pass = if common.identifies_content() { Pass::Again } else { Pass::First };
    let count_same = |entries, entry: Option<&Entry<'_>>| {
        same += entries;
        same_unread += u64::from(entry.is_some_and(|entry| entry.stat.is_regular()));
    };
    let (mut failed, is_over) = (FailedInOrder::new(unknown), Cell::new(false));
    let each: &mut dyn FnMut(&Finding<'_>) -> ControlFlow<()> = &mut |finding| {
        let flow = each(finding);
        is_over.set(flow.is_break());
        flow
    };
    summary.unselected = merge_manifests(
        (old, new),
        pass,
        trees,
        respelled,
        part,
        links.is_some(),
        count_same,
        |old, new, spelled| {
            let path = old.or(new).map_or(&[][..], |entry| entry.path);
            let is_unknown = old.is_some() != new.is_some() && unknown.covers(path);
            for failed in failed.up_to(Some(path)) {
                // The entry itself has this verdict.
                if !(is_unknown && failed == path)
                    && selects(failed)
                    && each_unknown(failed, &mut summary, each).is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
            changed.clear();
            let (mut old, mut new) = (old, new);
            let (mut new_path, mut is_unread) = (None, false);
            let verdict = match (&mut old, &mut new) {
                (Some(old), Some(new)) => {
                    if old.xattrs.is_some() && new.xattrs.is_some() {
                        summary.hidden_xattrs += u64::from(hider.hide([old, new]));
                    }
                    let is_pair = old.stat.is_regular() && new.stat.is_regular();
                    let is_same = (is_pair && is_compared).then(|| common.is_same(old.digests, new.digests));
                    let is_same = is_same.and_then(|is_same| criteria.is_same(old, new, is_same));
                    criteria.changed(old, new, is_same, &mut changed);
                    if is_same_time(old, new, shift.as_ref()) {
                        changed.retain(|field| *field != Field::Mtime);
                    }
                    if let Some(Links { pairs, .. }) = links.as_mut().filter(|_| summary.split_links == 0)
                        && compares_links(old, new.stat.file_type)
                        && criteria.compares_of(old, Field::LinkGroup)
                        && let (Some(a), Some(b)) = (old.links(), new.links())
                        && let Some(first) = pairs.add(old.path, a.map(Into::into), b.map(Into::into))?
                    {
                        note_links(&mut changed, [old, new], first);
                    }
                    is_unread = is_pair && is_same.is_none();
                    let (verdict, untimed) = criteria.judge(Verdict::of(old, new, &changed, shift.as_ref()));
                    summary.untimed += untimed;
                    verdict
                }
                _ if is_unknown => Verdict::Unknown,
                (Some(old), None) => {
                    if old.stat.is_regular() {
                        new_path = moves.path_of(missing);
                        missing += 1;
                    }
                    if new_path.is_some() { Verdict::Moved } else { Verdict::Missing }
                }
                (None, Some(new)) => {
                    if new.stat.is_regular() {
                        added += 1;
                        if moves.is_moved(added - 1) {
                            return Ok(ControlFlow::Continue(()));
                        }
                    }
                    Verdict::New
                }
                (None, None) => return Ok(ControlFlow::Continue(())),
            };
            let entry = old.or(new).expect("an entry of one of them");
            let finding = Finding {
                new_path,
                file_type: entry.stat.file_type,
                old,
                new,
                changed: &changed,
                ..Finding::new(verdict, entry.path)
            };
            let finding = match spelled {
                Some(it) if old.is_some() => finding.spelled(Some(it.own_path), it.is_respelled, criteria),
                Some(it) => Finding { path: it.own_path, ..finding },
                None => finding,
            };
            summary.note(&finding, shift.as_ref());
            if finding.verdict == Verdict::Ok {
                summary.unread += u64::from(is_unread);
                return Ok(ControlFlow::Continue(()));
            }
            Ok(each(&finding))
        },
    )?;
    let rest = if is_over.get() { &[] } else { failed.up_to(None) };
    let mut rest = rest.iter().filter(|failed| selects(failed));
    let _ = rest.try_for_each(|failed| each_unknown(failed, &mut summary, each));
    summary.add_same(same, same_unread);
    summary.shift = shift.filter(|_| criteria.compares(Field::Mtime));
    Ok(summary)
}

/// Passes on that nothing is known of a path.
pub(crate) fn each_unknown(
    path: &[u8],
    summary: &mut Summary,
    each: &mut dyn FnMut(&Finding<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    summary.add(Verdict::Unknown);
    each(&Finding::new(Verdict::Unknown, path))
}

/// What the first pass finds.
struct First {
    moves: Moves,
    times: RefCell<Times>,
    /// Absent if links are not compared.
    links: Option<Links>,
    unpaired: Unpaired,
}

impl First {
    fn new(has_links: bool, budget: &Budget) -> Self {
        Self {
            moves: Moves::default(),
            times: RefCell::new(Times::new(budget)),
            links: has_links.then(|| Links::new(budget)),
            unpaired: Unpaired::new(budget),
        }
    }

    /// Notes two entries before any are compared.
    fn note(&mut self, old: Option<Entry<'_>>, new: Option<Entry<'_>>) -> Result<(), Error> {
        match (old, new) {
            (Some(old), None) => self.unpaired.add(0, key(old.path))?,
            (None, Some(new)) => self.unpaired.add(1, key(new.path))?,
            _ => {}
        }
        self.links.as_mut().map_or(Ok(()), |links| links.survey(old, new))
    }

    /// Goes through manifests whose contents are not compared.
    fn survey(
        &mut self,
        manifests: (&Manifest, &Manifest),
        respelled: Option<&Respelled>,
        part: Option<&Selector>,
    ) -> Result<(), Error> {
        let links = self.links.is_some();
        merge_manifests(
            manifests,
            Pass::First,
            None,
            respelled,
            part,
            links,
            |_, _| (),
            |old, new, _| {
                self.note(old, new)?;
                Ok(ControlFlow::Continue(()))
            },
        )
        .map(drop)
    }

    /// Goes through manifests whose contents identify files.
    #[expect(clippy::too_many_arguments, reason = "what both passes share")]
    fn find_moves(
        &mut self,
        manifests: (&Manifest, &Manifest),
        unknown: &Failed,
        common: &Common,
        trees: Option<&Common>,
        respelled: Option<&Respelled>,
        part: Option<&Selector>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let (mut missing, mut added) = (Keys::new(common.len(), budget), Keys::new(common.len(), budget));
        let mut reserved = Reservation::new(budget);
        let times = std::mem::replace(&mut self.times, RefCell::new(Times::new(budget)));
        let (links, mut added_same) = (self.links.is_some(), Ok(()));
        merge_manifests(
            manifests,
            Pass::First,
            trees,
            respelled,
            part,
            links,
            |_, same| {
                let add = |entry: &Entry<'_>| times.borrow_mut().add(entry, entry, common);
                added_same = added_same.and_then(|()| same.map_or(Ok(()), add));
            },
            |old, new, spelled| {
                self.note(old, new)?;
                let is_regular = |entry: &Entry<'_>| entry.stat.is_regular() && !unknown.covers(entry.path);
                match (old, new) {
                    (Some(old), None) if is_regular(&old) => {
                        let evidence = Evidence::recorded(&old);
                        missing.push_file(common.in_old(old.digests), old.size(), evidence)?;
                    }
                    (None, Some(new)) if is_regular(&new) => {
                        let path = spelled.map_or(new.path, |spelled| spelled.own_path);
                        reserved.consume((path.len() + size_of::<u64>()) as u64)?;
                        self.moves.paths.extend_from_slice(path);
                        self.moves.ends.push(self.moves.paths.len() as u64);
                        let evidence = Evidence::recorded(&new);
                        added.push_file(common.in_new(new.digests), new.size(), evidence)?;
                    }
                    (Some(old), Some(new)) => times.borrow_mut().add(&old, &new, common)?,
                    _ => {}
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        added_same?;
        self.times = times;
        let moves = &mut self.moves;
        moves.to = pair(&missing, &added);
        moves.is_moved = vec![false; added.len()];
        moves.to.iter().flatten().for_each(|&nth| moves.is_moved[nth as usize] = true);
        moves.reserved = Some(reserved);
        missing.release();
        added.release();
        Ok(())
    }
}

/// What the first pass finds out about times.
#[derive(Debug)]
struct Times {
    sample: TimeSample,
    /// Whether the times of a file differ.
    differ: bool,
    /// Whether the times and the content of a file differ.
    are_doubtful: bool,
}

impl Times {
    fn new(budget: &Budget) -> Self {
        Self { sample: TimeSample::new(budget), differ: false, are_doubtful: false }
    }

    fn add(&mut self, old: &Entry<'_>, new: &Entry<'_>, common: &Common) -> Result<(), Full> {
        if self.sample.add(old, new)? {
            self.differ = true;
            self.are_doubtful |= !common.is_same(old.digests, new.digests);
        }
        Ok(())
    }

    /// Finds out whether the times have shifted, if that matters. `is_whole`: whether the first pass has read all entries.
    fn shift(
        self,
        (old, new): (&Manifest, &Manifest),
        respelled: Option<&Respelled>,
        common: &Common,
        is_whole: bool,
        criteria: &Criteria,
        budget: &Budget,
    ) -> Result<Option<Shift>, Error> {
        let is_timed = criteria.compares(Field::Mtime);
        let was_read = common.identifies_content();
        let matters = if was_read { is_timed && self.differ || self.are_doubtful } else { is_timed };
        if !matters {
            return Ok(None);
        }
        let sample = Some(self.sample).filter(|_| was_read && is_whole);
        Shift::between(old, new, respelled, common, sample, budget)
    }
}

/// The hard links of two manifests.
struct Links {
    pairs: LinkPairs<LinkGroup, LinkGroup>,
    splits: LinkSplits<LinkGroup, LinkGroup>,
    /// Whether an entry of both manifests has a link group in one of them.
    has_any: bool,
}

impl Links {
    fn new(budget: &Budget) -> Self {
        Self { pairs: LinkPairs::new(budget), splits: LinkSplits::new(budget), has_any: false }
    }

    /// Looks at two entries before any are compared.
    fn survey(&mut self, old: Option<Entry<'_>>, new: Option<Entry<'_>>) -> Result<(), Error> {
        let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
        let is_compared = compares_links(&old, new.stat.file_type);
        if let (Some(old), Some(new)) = (old.links(), new.links())
            && is_compared
        {
            self.has_any |= old.is_some() || new.is_some();
            self.splits.add(old.map(Into::into), new.map(Into::into))?;
        }
        Ok(())
    }
}

/// Where the regular files that only the old manifest has are in the new one.
///
/// Indexes count the regular files that only the old manifest has, or only the new one, in path order.
#[derive(Debug, Default)]
struct Moves {
    to: Vec<Option<u32>>,
    is_moved: Vec<bool>,
    /// The concatenated paths of the files that only the new manifest has.
    paths: Vec<u8>,
    /// Where each path ends in `paths`.
    ends: Vec<u64>,
    reserved: Option<Reservation>,
}

impl Moves {
    /// Returns the memory to the budget.
    fn release(self) {
        self.reserved.into_iter().for_each(Reservation::release);
    }

    /// Returns the new path of the `nth` removed file, if it was moved.
    fn path_of(&self, nth: usize) -> Option<&[u8]> {
        let to = (*self.to.get(nth)?)? as usize;
        let start = if to == 0 { 0 } else { self.ends[to - 1] };
        Some(&self.paths[start as usize..self.ends[to] as usize])
    }

    /// Returns whether the `nth` added file was moved from another path.
    fn is_moved(&self, nth: usize) -> bool {
        self.is_moved.get(nth).is_some_and(|is_moved| *is_moved)
    }
}
