//! Bringing a parity file up to date.
//!
//! New contents get batches of their own, at the end of the stream. Contents that are gone stay where they are, and count as
//! lost. A batch whose recovery blocks they use up is dissolved: what is left of it moves to the new batches. So do batches
//! that are small compared with the new ones, so that there are few.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;

use crate::batch::largest;
use crate::encode::{Failed, Renumbered, Writer};
use crate::head::Head;
use crate::index::Index;
use crate::layout::is_large;
use crate::pages::{self, Kind, PAGE, Section};
use crate::protect::{blocks_of, fits};
use crate::space::Space;
use crate::{Batch, Content, Error, Layout, LeftOut, Parity, Piece, Redundancy, Sources, Target, UNIT};
use crate::{batches, heal, round_up};

/// A batch is dissolved when more than a share of 1 / `WEAR` of its recovery blocks is used up.
const WEAR: u64 = 4;

/// The update of a parity file.
#[derive(Debug)]
pub struct Update<'u> {
    old: &'u Parity,
    /// The contents of the parity file, then the new ones.
    contents: Vec<Content>,
    /// Whether a content is still recorded.
    is_live: Vec<bool>,
    /// The parts of the contents that each batch has.
    parts: Vec<Vec<Piece>>,
    /// The largest number of rows of a group that are lost, by batch.
    worn: Vec<u64>,
    redundancy: Redundancy,
    memory: u64,
}

/// What a parity file will be.
#[derive(Debug)]
pub struct UpdatePlan {
    index: Index,
    /// The positions of its contents among those of the update.
    origins: Vec<usize>,
    /// The number of batches that stay as they are. The others are new.
    kept: usize,
    /// The number of batches that are dissolved.
    pub dissolved: u64,
    /// The number of bytes of contents that are read.
    pub bytes: u64,
    /// The largest share of the recovery blocks of a batch that is used up by contents that are gone, and by damage.
    pub used: f64,
}

/// The result of an update.
#[derive(Debug)]
pub struct Updated {
    /// What was written.
    pub plan: UpdatePlan,
    /// The new contents that are not protected, by their position in the update.
    pub skipped: Vec<(usize, LeftOut)>,
    /// The number of contents that no file has, and that were computed to be encoded again.
    pub computed: u64,
    /// The number of contents that are lost: their batches stay as they are.
    pub lost: u64,
    /// The length of the file in bytes.
    pub len: u64,
}

/// What is not encoded.
#[derive(Default)]
struct Exceptions {
    /// New contents that no file has.
    skipped: BTreeMap<usize, LeftOut>,
    /// Contents that cannot be computed.
    lost: BTreeSet<usize>,
}

impl<'u> Update<'u> {
    /// Reads the recovery blocks of a parity file, and compares its contents with those that are `recorded` now. `memory` is
    /// what the encoder may use, in bytes. The sources of the other methods have the positions of
    /// [`contents`](Self::contents).
    ///
    /// # Errors
    /// If the parity file does not say what redundancy was asked for.
    pub fn new(old: &'u Parity, recorded: Vec<Content>, memory: u64) -> Result<Self, Error> {
        let share = u32::try_from(old.head.redundancy).ok().and_then(Redundancy::new);
        let redundancy = share.ok_or(Error::Invalid("the redundancy"))?;
        let mut contents = old.index.contents.clone();
        let positions: HashMap<_, _> =
            contents.iter().enumerate().map(|(nth, it)| (it.digests.clone(), nth)).collect();
        let mut is_live = vec![false; contents.len()];
        for content in recorded {
            match positions.get(&content.digests) {
                Some(&nth) if contents[nth].size == content.size => is_live[nth] = true,
                _ => {
                    contents.push(content);
                    is_live.push(true);
                }
            }
        }
        let parts = parts(&old.index);
        let worn = (0..parts.len()).map(|nth| worn(old, nth, &parts[nth], &is_live)).collect();
        Ok(Self { old, contents, is_live, parts, worn, redundancy, memory })
    }

    /// Returns the contents of the parity file, then the new ones.
    pub fn contents(&self) -> &[Content] {
        &self.contents
    }

    /// Returns the numbers of contents that are new, and that are gone.
    pub fn changes(&self) -> (u64, u64) {
        let gone = self.is_live.iter().filter(|is_live| !*is_live).count();
        ((self.contents.len() - self.known()) as u64, gone as u64)
    }

    /// Returns the number of contents that the parity file has.
    fn known(&self) -> usize {
        self.old.index.contents.len()
    }

    /// Makes a plan, for files that all have their contents.
    ///
    /// # Errors
    /// If the checksums of all blocks do not fit into the memory.
    pub fn plan(&self, sources: &mut dyn Sources) -> Result<UpdatePlan, Error> {
        self.plan_without(&self.added(sources), &Exceptions::default())
    }

    /// Returns whether the file stays as it is if the plan is carried out with the manifest that it has: nothing else is new,
    /// and no copy of the head, the index or the manifest is damaged. Both copies are read.
    pub fn is_current(&self, plan: &UpdatePlan) -> bool {
        let Parity { head, heads, index, .. } = self.old;
        let is_whole = heads.len() == head.places().len() && self.old.len() == head.len;
        is_whole && plan.index == *index && self.old.damaged_pages().is_ok_and(|damaged| damaged == 0)
    }

    /// Returns how many bytes the file becomes longer, with a manifest of this length, if the plan is carried out.
    pub fn growth(&self, plan: &mut UpdatePlan, manifest: u64) -> u64 {
        self.place(plan, manifest).len.saturating_sub(self.old.len())
    }

    /// Returns the parts of the new contents.
    fn added(&self, sources: &mut dyn Sources) -> Vec<Piece> {
        let known = self.known();
        let sizes: Vec<_> = self.contents[known..].iter().map(|content| content.size).collect();
        let layout = Layout::new(self.old.head.block, &sizes, |nth| sources.data(known + nth, sizes[nth]));
        layout.pieces.into_iter().map(|piece| Piece { content: known + piece.content, ..piece }).collect()
    }

    fn plan_without(&self, added: &[Piece], exceptions: &Exceptions) -> Result<UpdatePlan, Error> {
        let Index { algorithms, batches: old, layout, .. } = &self.old.index;
        let block = layout.block;
        let is_wanted = |nth: usize| self.is_live[nth] && !exceptions.skipped.contains_key(&nth);
        let added: Vec<_> =
            added.iter().filter(|piece| is_wanted(piece.content)).map(|it| (*it, None)).collect();
        let may_go = |nth: usize| !self.parts[nth].iter().any(|it| exceptions.lost.contains(&it.content));
        let mut is_kept: Vec<bool> =
            (0..old.len()).map(|nth| !may_go(nth) || WEAR * self.worn[nth] <= old[nth].recovery).collect();
        let (full, _) = largest(block, self.redundancy, self.memory);
        let (fresh, blocks) = loop {
            let gone = (0..old.len()).filter(|nth| !is_kept[*nth]);
            let moved = gone.flat_map(|nth| &self.parts[nth]).filter(|piece| is_wanted(piece.content));
            let all = moved.map(|piece| (*piece, Some(piece.place))).chain(added.iter().copied()).collect();
            let (fresh, blocks) = self.arrange(all);
            let small = (0..old.len()).filter(|&nth| {
                let len = old[nth].blocks;
                is_kept[nth] && may_go(nth) && len <= 2 * blocks && 2 * len <= full
            });
            let small: Vec<_> = small.collect();
            if small.is_empty() {
                break (fresh, blocks);
            }
            small.into_iter().for_each(|nth| is_kept[nth] = false);
        };
        let mut index = Index {
            algorithms: algorithms.clone(),
            batches: Vec::new(),
            contents: Vec::new(),
            layout: Layout { pieces: Vec::new(), blocks: 0, block },
            data_sums: Vec::new(),
            recovery_sums: Vec::new(),
        };
        let mut used = 0.0;
        let kept = (0..old.len()).filter(|nth| is_kept[*nth]);
        for (nth, batch) in kept.map(|nth| (nth, old[nth])) {
            self.keep(nth, &mut index);
            used = f64::max(used, self.worn[nth] as f64 / batch.recovery as f64);
        }
        let kept = index.batches.len();
        self.add(&fresh, blocks, &mut index)?;
        let pieces = &mut index.layout.pieces;
        // Parts that were separated only by the end of a batch.
        pieces.dedup_by(|next, piece| {
            let is_next = (piece.content, piece.offset + piece.len) == (next.content, next.offset)
                && piece.range().end == next.place;
            piece.len += if is_next { next.len } else { 0 };
            is_next
        });
        let gone = (0..old.len()).filter(|nth| !is_kept[*nth]).flat_map(|nth| &self.parts[nth]);
        let cut: HashSet<_> = gone.map(|piece| piece.content).filter(|nth| !self.is_live[*nth]).collect();
        let sizes = self.cut(pieces, &cut);
        let placed: HashSet<_> = pieces.iter().map(|piece| piece.content).collect();
        let has_place = |nth: &usize| placed.contains(nth) || is_wanted(*nth);
        let origins: Vec<_> = (0..self.contents.len()).filter(has_place).collect();
        let positions: HashMap<_, _> =
            origins.iter().enumerate().map(|(nth, origin)| (*origin, nth)).collect();
        pieces.iter_mut().for_each(|piece| piece.content = positions[&piece.content]);
        let content = |nth: &usize| match (&self.contents[*nth], sizes.get(nth)) {
            (content, None) => content.clone(),
            (content, Some(&size)) => Content { size, digests: vec![0; content.digests.len()] },
        };
        index.contents = origins.iter().map(content).collect();
        let bytes = fresh.iter().map(|(piece, _)| piece.len).sum();
        Ok(UpdatePlan { index, origins, kept, dissolved: (old.len() - kept) as u64, bytes, used })
    }

    /// Makes what is left of contents that are gone and were cut contents of their own, which have no file. Returns their
    /// sizes.
    fn cut(&self, pieces: &mut [Piece], cut: &HashSet<usize>) -> HashMap<usize, u64> {
        let mut sizes = HashMap::new();
        for piece in pieces.iter_mut().filter(|piece| cut.contains(&piece.content)) {
            let size = self.contents[piece.content].size;
            if is_large(size, self.old.head.block) {
                sizes.insert(piece.content, size);
            } else {
                let size = sizes.entry(piece.content).or_insert(0);
                (piece.offset, piece.len) = (*size, round_up(piece.len, UNIT));
                *size += piece.len;
            }
        }
        sizes
    }

    /// Gives parts places in new blocks, which count from 0. Each has its place in the old stream, too, if it has one.
    fn arrange(&self, mut all: Vec<(Piece, Option<u64>)>) -> (Vec<(Piece, Option<u64>)>, u64) {
        let block = self.old.head.block;
        let is_large = |piece: &Piece| is_large(self.contents[piece.content].size, block);
        all.sort_unstable_by_key(|(piece, _)| (is_large(piece), piece.content, piece.offset));
        let mut end = 0;
        for (piece, _) in &mut all {
            piece.place = round_up(end, if is_large(piece) { block } else { UNIT });
            end = piece.place.saturating_add(piece.len);
        }
        (all, end.div_ceil(block))
    }

    /// Adds a batch of the old file to the index.
    fn keep(&self, nth: usize, index: &mut Index) {
        let old = &self.old.index;
        let batch = old.batches[nth];
        let (first, block) = (index.layout.blocks, old.layout.block);
        let (from, to) = (batch.first * block, first * block);
        let pieces = self.parts[nth].iter().map(|piece| Piece { place: piece.place - from + to, ..*piece });
        index.layout.pieces.extend(pieces);
        index.layout.blocks += batch.blocks;
        let range = batch.first as usize..batch.range().end as usize;
        index.data_sums.extend(&old.data_sums[range]);
        let earlier = index.recovery_sums.len() as u64;
        let start = batch.earlier as usize;
        index.recovery_sums.extend(&old.recovery_sums[start..start + batch.recovery_blocks() as usize]);
        index.batches.push(Batch { first, earlier, ..batch });
    }

    /// Adds the new batches to the index. They survive as much as the largest of the old ones.
    fn add(&self, fresh: &[(Piece, Option<u64>)], blocks: u64, index: &mut Index) -> Result<(), Error> {
        let old = &self.old.index;
        let (first, block) = (index.layout.blocks, old.layout.block);
        let strongest = old.batches.iter().max_by_key(|batch| batch.blocks);
        let (rows, burst) = strongest.map_or((0, 0), |batch| (batch.recovery, batch.burst()));
        let lost = burst.min(largest(block, self.redundancy, self.memory).1);
        let lost = lost.max(blocks_of(self.old.head.lost_file, block));
        let mut redundancy = self.redundancy;
        let all = loop {
            let all = batches(blocks, block, redundancy, self.memory);
            if all.iter().all(|batch| batch.survives(lost) && batch.recovery >= rows.min(batch.rows(0))) {
                break all;
            }
            redundancy = redundancy.next().ok_or(Error::NoPlan)?;
        };
        let earlier = index.recovery_sums.len() as u64;
        let recovery: u64 = all.iter().map(Batch::recovery_blocks).sum();
        let moved =
            |batch: Batch| Batch { first: first + batch.first, earlier: earlier + batch.earlier, ..batch };
        index.batches.extend(all.into_iter().map(moved));
        index.recovery_sums.resize((earlier + recovery) as usize, 0);
        index.layout.blocks += blocks;
        index.data_sums.resize(index.layout.blocks as usize, 0);
        for &(piece, place) in fresh {
            let piece = Piece { place: piece.place + first * block, ..piece };
            index.layout.pieces.push(piece);
            // The blocks of a large content are copied, and keep their checksums.
            if let Some(place) = place.filter(|_| is_large(self.contents[piece.content].size, block)) {
                let (from, to) = ((place / block) as usize, (piece.place / block) as usize);
                let count = piece.len.div_ceil(block) as usize;
                index.data_sums[to..to + count].copy_from_slice(&old.data_sums[from..from + count]);
            }
        }
        if fits(index.layout.blocks, self.memory) { Ok(()) } else { Err(Error::TooLarge) }
    }

    /// Writes the new state of the parity file. What the old one has is overwritten only when the new one is complete, so
    /// that the file is always of use. `spool` is an empty file for contents that are computed, and `manifest` is kept as it
    /// is. `progress` is called with the number of bytes of contents that were read.
    ///
    /// A new content that no file has is skipped, and never encoded. If one that the file protects cannot be read, and must be
    /// encoded again, it is computed. If that fails, its batches stay as they are.
    ///
    /// # Errors
    /// If the file cannot be written, or if the computer makes mistakes. The old state is then still valid.
    pub fn write(
        &self,
        sources: &mut dyn Sources,
        target: &dyn Target,
        manifest: &[u8],
        spool: fs::File,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Updated, Error> {
        self.settle(target)?;
        let added = self.added(sources);
        let mut spooled = Spooled { sources, file: spool, starts: BTreeMap::new(), end: 0 };
        let mut exceptions = Exceptions::default();
        loop {
            let mut plan = self.plan_without(&added, &exceptions)?;
            let head = self.place(&mut plan, manifest.len() as u64);
            let next = plan.kept_blocks();
            let mut writer = Writer { file: target, index: plan.index, next, encoder: None };
            let mut renumbered = Renumbered { sources: &mut spooled, kept: &plan.origins };
            let is_known = |nth: usize| plan.origins[nth] < self.known();
            let failed = writer.encode(&mut renumbered, &is_known, progress)?;
            plan.index = writer.index;
            if failed.is_empty() {
                finish(target, &head, &plan.index, manifest)?;
                let (computed, lost) = (spooled.starts.len(), exceptions.lost.len());
                let skipped = exceptions.skipped.into_iter().collect();
                let (computed, lost) = ((computed - lost) as u64, lost as u64);
                return Ok(Updated { plan, skipped, computed, lost, len: head.len });
            }
            let failed = failed.into_iter().map(|it| Failed { content: plan.origins[it.content], ..it });
            self.except(failed.collect(), &mut spooled, &mut exceptions)?;
        }
    }

    /// Decides what becomes of contents that no file has.
    fn except(
        &self,
        failed: Vec<Failed>,
        spooled: &mut Spooled<'_>,
        exceptions: &mut Exceptions,
    ) -> Result<(), Error> {
        let mut wanted = BTreeMap::new();
        for Failed { content, why, lost } in failed {
            if content >= self.known() {
                exceptions.skipped.insert(content, why);
            } else if spooled.starts.contains_key(&content) {
                // What was computed is wrong.
                exceptions.lost.insert(content);
            } else {
                spooled.starts.insert(content, spooled.end);
                spooled.end += self.contents[content].size;
                wanted.insert(content, lost);
            }
        }
        let positions: Vec<_> = wanted.keys().copied().collect();
        let (file, starts) = (&spooled.file, &spooled.starts);
        let mut write = |content: usize, offset: u64, bytes: &[u8]| {
            // Only what no file has, so that the spool is small.
            let end = offset + bytes.len() as u64;
            for range in wanted[&content].iter().filter(|it| it.start < end && offset < it.end) {
                let (from, to) = (range.start.max(offset), range.end.min(end));
                let part = &bytes[(from - offset) as usize..(to - offset) as usize];
                FileExt::write_all_at(file, part, starts[&content] + from)?;
            }
            Ok(())
        };
        let outcomes = heal(self.old, &positions, spooled.sources, self.memory, Some(&mut write))?;
        let lost = positions.iter().zip(outcomes).filter(|(_, outcome)| outcome.lost > 0);
        exceptions.lost.extend(lost.map(|(position, _)| *position));
        Ok(())
    }

    /// Replaces damaged and older copies of the head, so that the newest state is not lost with the others.
    fn settle(&self, target: &dyn Target) -> Result<(), Error> {
        for place in self.old.head.places() {
            if !self.old.heads.contains(&place) {
                target.write_all_at(&self.old.head.encode(), place)?;
                target.sync()?;
            }
        }
        Ok(())
    }

    /// Gives the new batches and the sections places that the old state does not use. Returns the head.
    fn place(&self, plan: &mut UpdatePlan, manifest: u64) -> Head {
        let old = &self.old.head;
        let mut space = Space::new(old, &self.old.index.batches);
        let index = plan.index.encode().len() as u64;
        let [manifest_len, index_len] = [manifest, index].map(pages::pages_len);
        let first = [space.first(manifest_len), space.first(index_len)];
        for batch in &mut plan.index.batches[plan.kept..] {
            batch.offset = space.first(batch.recovery_blocks() * old.block);
        }
        let second = [space.last(manifest_len), space.last(index_len)];
        let section = |len, nth: usize| Section { len, copies: [first[nth], second[nth]] };
        Head {
            generation: old.generation.saturating_add(1),
            // If nothing is appended, the last copy of the head is replaced where it is.
            len: if space.end() == old.len { old.len } else { space.end() + PAGE },
            manifest: section(manifest, 0),
            index: section(index, 1),
            ..*old
        }
    }
}

impl UpdatePlan {
    /// Returns the batches. The offsets of new ones count from 0.
    pub fn batches(&self) -> &[Batch] {
        &self.index.batches
    }

    /// Returns the number of new blocks, data and recovery.
    pub fn new_blocks(&self) -> (u64, u64) {
        let fresh = &self.index.batches[self.kept..];
        (fresh.iter().map(|it| it.blocks).sum(), fresh.iter().map(Batch::recovery_blocks).sum())
    }

    /// Returns the number of contents.
    pub fn contents(&self) -> u64 {
        self.index.contents.len() as u64
    }

    /// Returns the number of contents that are encoded.
    pub fn encoded(&self) -> u64 {
        let start = self.kept_blocks() * self.index.layout.block;
        let all = self.index.layout.pieces.iter().filter(|piece| piece.place >= start);
        all.map(|piece| piece.content).collect::<HashSet<_>>().len() as u64
    }

    /// Returns the number of blocks of the batches that stay.
    fn kept_blocks(&self) -> u64 {
        self.index.batches[..self.kept].iter().map(|batch| batch.blocks).sum()
    }
}

/// Writes the sections, and then the head.
fn finish(target: &dyn Target, head: &Head, index: &Index, manifest: &[u8]) -> Result<(), Error> {
    pages::write(target, &head.salt(), Kind::Manifest, &head.manifest, manifest)?;
    pages::write(target, &head.salt(), Kind::Index, &head.index, &index.encode())?;
    target.set_len(head.len)?;
    target.sync()?;
    let [first, second, last] = head.places();
    for place in [last, second, first] {
        target.write_all_at(&head.encode(), place)?;
        target.sync()?;
    }
    Ok(())
}

/// Divides the pieces among the batches.
fn parts(index: &Index) -> Vec<Vec<Piece>> {
    let block = index.layout.block;
    let of = |batch: &Batch| {
        let range = batch.first * block..batch.range().end * block;
        let first = index.layout.pieces.partition_point(|piece| piece.range().end <= range.start);
        index.layout.pieces[first..].iter().map_while(|piece| piece.within(&range)).collect()
    };
    index.batches.iter().map(of).collect()
}

/// Returns the largest number of rows of a group of a batch that are lost in one column, because their content is gone or
/// the recovery block is damaged.
fn worn(old: &Parity, nth: usize, parts: &[Piece], is_live: &[bool]) -> u64 {
    let (index, batch) = (&old.index, &old.index.batches[nth]);
    let block = index.layout.block;
    // Where columns begin and end to be lost, by group.
    let mut changes: BTreeMap<u64, Vec<(u64, i64)>> = BTreeMap::new();
    for piece in parts.iter().filter(|piece| !is_live[piece.content]) {
        for nth in piece.place / block..piece.range().end.div_ceil(block) {
            let Some(part) = piece.within(&index.layout.range_of(nth)) else { continue };
            let start = part.place - nth * block;
            let own = changes.entry((nth - batch.first) % batch.groups).or_default();
            own.extend([(start, 1), (round_up(start + part.len, UNIT), -1)]);
        }
    }
    let damaged = old.damaged(nth).into_iter().enumerate();
    let of_group = damaged.map(|(group, damaged)| {
        let mut own = changes.remove(&(group as u64)).unwrap_or_default();
        own.sort_unstable();
        let mut now = 0;
        let most = own.iter().map(|(_, change)| (now += change, now).1).max().unwrap_or(0);
        damaged + most as u64
    });
    of_group.max().unwrap_or(0)
}

/// The files that may have contents, and what was computed.
struct Spooled<'s> {
    sources: &'s mut dyn Sources,
    file: fs::File,
    /// Where the computed contents begin in the file, by their positions.
    starts: BTreeMap<usize, u64>,
    end: u64,
}

impl Sources for Spooled<'_> {
    fn candidates(&mut self, content: usize) -> usize {
        self.sources.candidates(content) + usize::from(self.starts.contains_key(&content))
    }

    fn read(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self.computed(content, candidate) {
            // A hole at the end: it was not computed.
            Some(start) => self.file.read_exact_at(buf, start + offset),
            None => self.sources.read(content, candidate, offset, buf),
        }
    }

    fn part(&mut self, content: usize, candidate: usize, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self.computed(content, candidate) {
            Some(_) => self.read(content, candidate, offset, buf),
            None => self.sources.part(content, candidate, offset, buf),
        }
    }
}

impl Spooled<'_> {
    /// Returns where a content begins in the file, if this candidate is what was computed of it.
    fn computed(&mut self, content: usize, candidate: usize) -> Option<u64> {
        let start = *self.starts.get(&content)?;
        (candidate == self.sources.candidates(content)).then_some(start)
    }
}
