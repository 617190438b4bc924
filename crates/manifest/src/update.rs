//! A new manifest from an old one, reading only files that may have changed.

use std::collections::{BTreeSet, HashMap};
use std::io;

use ftk_file::{Stat, sees_trusted};
use ftk_inventory::{Budget, FileNo, OpenDirs, Opener, Reservation};
use ftk_process::{FileSystems, Progress, Rows, file_systems};
use ftk_select::{Check, Checks};
use ftk_walk::FileType;

use crate::aligned::{Aligned, Spelling};
use crate::appended_links::AppendedLinks;
use crate::contents::Content;
use crate::create::{Made, Maker};
use crate::criteria::{check_of, is_checked};
use crate::damaged_inodes::DamagedInodes;
use crate::entry::key;
use crate::examination::is_dir;
use crate::growing::Grown;
use crate::kept::{Keeps, LineChange, MergeStep, Raw};
use crate::link_groups::LinkGroups;
use crate::reader::NextLine;
use crate::recording::Recording;
use crate::respelled::AlignedEntries;
use crate::shift::RecordedTimes;
use crate::trees::Trees;
use crate::verdict::{finding, is_undecided, note_links};
use crate::walked_tree::{Seen, WalkedTree};
use crate::xattrs::Hider;
use crate::{
    Contents, Criteria, Entry, Error, Examination, Examined, Failed, Field, Finding, Header, Kinship,
    Manifest, Mount, Sample, Shift, Summary, Survey, Verdict, Writer,
};

/// Finds the files that have to be read for a new manifest of a tree, and then writes its entries.
///
/// A file counts as unchanged if its file system (see [`Kinship`]), inode, size, mtime and ctime are as recorded, and
/// both times are older than the run that made the old manifest. A file that was written during that run has a later
/// time. If the manifest or the tree is that of a snapshot, both times must also be [older](crate::Provenance::settled_ns)
/// than the snapshot by an hour.
///
/// Entries that cannot be read keep their old record. So does a file whose content changed while its record lacks
/// the size or mtime that could show an edit, and a file whose content changed while its size and mtime did not:
/// this record is marked as damaged. A new hard link of such a file is recorded with the same content and mark. Every update reads the file again until its old content is
/// restored, it is changed with a new size or mtime, or the damage is accepted.
#[derive(Debug)]
pub struct Update<'u> {
    /// The files to be read, ascending: with [`Rows::with_stats`] and the algorithms of the manifest.
    pub files: Vec<FileNo>,
    /// Files that [`read_growing`](Self::read_growing) reads, and how many bytes of them are recorded.
    growing: Vec<(FileNo, u64)>,
    grown: HashMap<FileNo, io::Result<Grown>>,
    /// The recorded path of a damaged file that the rules ignore, if there is one. Without its record, the damage would be
    /// forgotten.
    pub ignored_damage: Option<Vec<u8>>,
    /// What is compared of each entry.
    checks: &'u Checks,
    /// What the guards check.
    pub survey: Survey,
    /// Paths in `accept` that are not regular files with digests in both the manifest and the tree.
    pub unknown: BTreeSet<Vec<u8>>,
    /// The manifest and the tree, in the spelling of the tree. An append-only update keeps the recorded one.
    aligned: Aligned<'u>,
    file_systems: FileSystems,
    /// Paths of damaged files that are recorded as they are now.
    accept: BTreeSet<Vec<u8>>,
    /// Files to be read whose old records may be out of date without a change of size and times: see
    /// [`Stat::is_recent`].
    recent: Vec<FileNo>,
    times: RecordedTimes,
    /// Whether a file to be read has or had several names.
    has_links: bool,
    /// Whether the new manifest keeps such an old record because the directory of its file could not be
    /// listed.
    keeps_recent: bool,
    append_only: bool,
    kinship: Kinship,
    examination: Option<&'u Examination>,
    /// Whether the old manifest has attributes that only root sees, and whether this process sees them.
    see_trusted: [bool; 2],
}

/// What an update does besides recording what has changed.
#[derive(Clone, Copy, Debug)]
pub struct UpdateOptions<'o> {
    /// Selects files to be read although they count as unchanged.
    pub check: Option<&'o Sample>,
    /// Recorded paths of damaged files that are recorded as they are now.
    pub accept: &'o BTreeSet<Vec<u8>>,
    /// Only adds new entries. Entries that are missing, or differ in what a verification compares, keep their records. These
    /// are passed to the callback of [`write`](Update::write) with their verdicts, and counted in [`Updated::retained`].
    pub append_only: bool,
    /// What is compared of each entry from now on. What it permits is no change to report. What it ignores is no longer
    /// recorded. A file that may grow keeps its record if it does anything else.
    pub checks: &'o Checks,
    /// Whether inode numbers count although the file system is another one.
    pub kinship: Kinship,
    /// The part of the tree that the walk [examined](crate::Examining), if it is not all of it. Other entries keep
    /// their records.
    pub examination: Option<&'o Examination>,
}

/// Statistics of a new manifest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// The number of entries.
    pub entries: u64,
    /// How many of them keep an old record, in whole or in part, because the entry could not be read.
    pub kept: u64,
    /// How many of them keep the old record of a damaged file.
    pub corrupted: u64,
    /// How many of them keep an old record because other content shows neither an edit nor damage: the record
    /// lacks the size or the time, or it is marked as damaged and only the time has changed since.
    pub undecided: u64,
    /// How many of them keep the old record of a file that may only grow, because it has become shorter, or its recorded
    /// bytes have changed.
    pub rewritten: u64,
    /// How many entries of the tree are missing from the manifest, because something about them could not be
    /// read.
    pub failed: u64,
    /// How many of them keep the old record of an entry that is missing or has changed, in an
    /// [append-only](UpdateOptions::append_only) update.
    pub retained: u64,
    /// How many of them keep their old record because they were not [examined](UpdateOptions::examination).
    pub not_examined: u64,
    /// A shift of nearly all times. Files whose content changed under it are corrupted.
    pub shift: Option<Shift>,
    /// How many entries are recorded as they are now, by what changed. An entry that keeps its old record is
    /// [`Ok`](Verdict::Ok). Hard links are not compared.
    pub recorded: Summary,
}

impl<'u> Update<'u> {
    /// Goes through the old manifest and the tree. The walk must have kept the metadata of all entries.
    ///
    /// # Errors
    /// When the manifest cannot be read or has an invalid line, or the list of files does not fit into the
    /// budget.
    ///
    /// # Panics
    /// If the walk has not kept the metadata of regular files.
    pub fn new(
        old: &'u Manifest,
        tree: &WalkedTree<'u>,
        options: &UpdateOptions<'u>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let file_systems = file_systems(tree.inventory);
        let spelling = if options.append_only { Spelling::Manifest } else { Spelling::Tree };
        let pass = |aligned: &Aligned<'_>| Lists::new(aligned, options, &file_systems, budget);
        let (aligned, lists) = Aligned::new(old, tree, spelling, None, budget, pass, Lists::release)?;
        let Lists { survey, files, growing, ignored_damage, recent, times, unknown, has_links, .. } = lists;
        let (keeps_recent, misses_recent) = (lists.keeps_recent, lists.misses_recent);
        Ok(Self {
            files,
            growing,
            grown: HashMap::new(),
            ignored_damage,
            checks: options.checks,
            survey,
            unknown,
            accept: aligned.recorded(options.accept, budget)?,
            aligned,
            file_systems,
            recent,
            times,
            has_links,
            keeps_recent: keeps_recent || options.append_only && misses_recent,
            append_only: options.append_only,
            kinship: options.kinship,
            examination: options.examination,
            see_trusted: [old.header().trusted_xattrs, sees_trusted()],
        })
    }

    /// Returns whether this process records the attributes that only root sees.
    pub fn sees_trusted(&self) -> bool {
        self.see_trusted[1]
    }

    /// Returns the number of names that the old manifest spells in another normal form.
    pub fn respelled(&self) -> u64 {
        self.aligned.respelled()
    }

    /// Reads the files that may grow, together with what was added to them. To be called before
    /// [`set_times`](Self::set_times). Those that fail are passed to `on_error`, and count too.
    ///
    /// # Errors
    /// When their digests do not fit into the budget.
    pub fn read_growing(
        &mut self,
        budget: &Budget,
        on_error: &mut dyn FnMut(&[u8], &io::Error),
    ) -> Result<Progress, Error> {
        let mut done = Progress { files: self.growing.len() as u64, ..Progress::default() };
        let (inventory, header) = (self.aligned.tree.inventory, self.aligned.manifest.header());
        let (mut opener, mut reserved) = (Opener::new(inventory), Reservation::new(budget));
        for &(file, recorded) in &self.growing {
            reserved
                .consume((2 * size_of::<(FileNo, io::Result<Grown>)>() + 2 * header.digests_len()) as u64)?;
            let at = (inventory.dir_of(file), file);
            let grown = Grown::read(&mut opener, at, recorded, &header.algorithms, true);
            match &grown {
                Ok(grown) => done.bytes += grown.stat.size,
                Err(error) => on_error(&self.aligned.tree.path_of(file), error),
            }
            self.grown.insert(file, grown);
        }
        Ok(done)
    }

    /// Sets the times in the header of the new manifest that decide for which files its records vouch, given the rows of
    /// the files that were read.
    ///
    /// Usually, the header keeps that of the present snapshot, and gets `start_ns`, the [start](crate::start_ns) of this run.
    /// It gets the old ones if the new manifest keeps the old record of a file that may have been written after the old run
    /// read it, or after the old snapshot was made: newer times would make such a file look unchanged.
    pub fn set_times(&self, rows: &Rows, start_ns: i128, header: &mut Header) {
        let contents = self.contents(rows);
        let is_kept = |file: &FileNo| {
            contents.of(*file) == Content::Failed || matches!(self.grown.get(file), Some(Err(_)))
        };
        header.start_ns = start_ns;
        if self.keeps_recent || self.recent.iter().any(is_kept) {
            let old = self.aligned.manifest;
            let settled_ns = &mut header.provenance.settled_ns;
            header.start_ns = old.header().start_ns;
            *settled_ns = old.settled_ns().into_iter().chain(*settled_ns).min();
        }
    }

    /// Writes the entries, after the files were read into `rows`. The header gets the mount points of the tree, and everything
    /// that could not be read. Corrupted files, and entries whose extended
    /// attributes cannot be read, are passed to `each`; so are [undecided](Updated::undecided) files, and those
    /// that lose their mark because their type or size changed, with [`Verdict::Modified`]. Changes that are recorded are
    /// passed to `recorded`.
    ///
    /// # Errors
    /// When the old manifest cannot be read or has changed meanwhile, when the new one cannot be written,
    /// or when a file was never processed.
    pub fn write<S: FnMut(&[u8]) -> io::Result<()>>(
        &self,
        rows: &Rows,
        now_ns: i128,
        writer: &mut Writer<S>,
        budget: &Budget,
        each: &mut dyn FnMut(&Finding<'_>),
        recorded: &mut dyn FnMut(&Finding<'_>),
    ) -> Result<Updated, Error> {
        let xattrs = self.aligned.manifest.header().xattrs;
        let contents = self.contents(rows);
        // A part of a tree does not show whether nearly all times have shifted.
        let shift = match self.examination {
            None => Shift::find(&self.times, &self.aligned, &contents, budget)?,
            Some(_) => None,
        };
        let damaged = self.damaged_inodes(&contents, shift.as_ref(), now_ns, budget)?;
        let wanted = [xattrs, writer.header().shard.is_none()];
        let mut maker =
            Maker::new(&self.aligned.tree, &self.file_systems, contents, wanted, Some(now_ns), budget);
        let mut trees = Trees::new(writer.header());
        let (mut links, mut unread) = (AppendedLinks::new(budget), Vec::new());
        // The header, which comes first, says what could not be read, and whether all records are those of the tree.
        if trees.is_needed() || xattrs || self.append_only || writer.header().provenance.subvolume.is_some() {
            let updated = self.make(
                &mut maker,
                &damaged,
                &mut links,
                (shift, now_ns, budget),
                Raw::SkipBelow,
                &mut |_| (),
                None,
                &mut |made| {
                    match made {
                        New::Entry(entry, _, Keeps::In, _) if is_dir(entry.stat.file_type) => {
                            trees.assume(entry);
                        }
                        New::Entry(_, _, Keeps::Below, _) | New::Line(..) => {}
                        New::Entry(entry, is_whole, ..) => trees.add(entry, is_whole),
                        New::Unreadable(path) => {
                            trees.omit(path);
                            // The other paths are below a directory that could not be listed.
                            if !self.aligned.failed.covers(path) {
                                unread.push(path.to_vec());
                            }
                        }
                    }
                    Ok(())
                },
            )?;
            trees.finish();
            trees.say_incomplete(&self.aligned.failed, writer.header_mut());
            maker.make_again();
            if updated.retained + updated.rewritten + updated.undecided > 0 {
                writer.header_mut().provenance.subvolume = None;
            }
        }
        let partial = self.examination.filter(|it| !it.is_complete());
        let header = writer.header_mut();
        header.failed = Failed::union([&self.aligned.failed, &Failed::new(unread)]);
        header.provenance.subvolume.take_if(|_| !header.failed.is_empty() || partial.is_some());
        let old = self.aligned.manifest.header();
        let full_ns = old.provenance.examined.map_or(old.start_ns, |examined| examined.full_ns);
        header.provenance.examined = partial.map(|_| Examined { full_ns });
        let mounts = &self.aligned.manifest.header().mounts;
        let is_known = |path: &[u8]| {
            let is_examined = self.examination.is_none_or(|it| it.covers(path));
            is_examined && !self.aligned.failed.covers(path)
        };
        let kept = mounts.iter().filter(|mount| !is_known(mount.path())).cloned();
        header.mounts = Mount::sorted([self.aligned.tree.mounts(), kept.collect()].concat());
        let failed = header.failed.clone();
        let mut recording = Recording::new(self.aligned.manifest.header(), self.checks, budget, recorded);
        let common = (shift, now_ns, budget);
        let mut change = LineChange::new(self.kinship, &self.file_systems, old.start_ns);
        let updated = self.make(
            &mut maker,
            &damaged,
            &mut links,
            common,
            Raw::Copy,
            each,
            Some(&mut recording),
            &mut |made| {
                match made {
                    New::Entry(entry, _, keeps, old) => {
                        let entry = if keeps == Keeps::Below { *entry } else { trees.with_tree(*entry) };
                        match old.and_then(|old| old.written_line().filter(|_| old.entry() == entry)) {
                            Some(line) => Ok(writer.copy_line(entry.path, line)?),
                            None => Ok(writer.trusted_entry(&entry)?),
                        }
                    }
                    New::Line(line, keeps) => {
                        if line.is_dir() && keeps == Keeps::In {
                            trees.pass_known();
                        }
                        Ok(writer.copy_line(line.path, change.apply(line.line))?)
                    }
                    // The header says that everything else could be read.
                    New::Unreadable(path) if !failed.covers(path) => Err(io::Error::other(UNREAD).into()),
                    New::Unreadable(_) => Ok(()),
                }
            },
        )?;
        Ok(Updated { recorded: recording.finish(), ..updated })
    }

    /// Makes the entries of the new manifest and passes them to `sink`. Adds the hard links to `links` in an append-only update,
    /// which needs them from a former pass.
    #[expect(clippy::too_many_arguments, reason = "what both passes share, and three callbacks")]
    fn make(
        &self,
        maker: &mut Maker<'_>,
        damaged: &DamagedInodes,
        links: &mut AppendedLinks,
        (shift, now_ns, budget): (Option<Shift>, i128, &Budget),
        raw: Raw,
        each: &mut dyn FnMut(&Finding<'_>),
        mut recording: Option<&mut Recording<'_>>,
        sink: &mut dyn FnMut(New<'_>) -> Result<(), Error>,
    ) -> Result<Updated, Error> {
        let start_ns = self.aligned.manifest.header().start_ns;
        let (mut updated, mut pending) = (Updated { shift, ..Updated::default() }, 0);
        // Directories of which the walk saw nothing: what is below them keeps its records, and they their tree digests.
        let mut kept_dirs = OpenDirs::default();
        let mut groups = LinkGroups::new(damaged, budget);
        // Paths that were no directories. What is below them now is not recorded: their old records stay.
        let mut replaced = OpenDirs::default();
        // What could not be read is noted entry by entry.
        let raw = if self.aligned.failed.is_empty() { raw } else { Raw::Parse };
        self.aligned.merge_kept(self.examination, raw, &mut |step| {
            let (record, new, keeps) = match step {
                MergeStep::Entries(old, new, keeps) => {
                    (old.map(|old| &*old), new.map(|new| &new.seen), keeps)
                }
                MergeStep::Skipped(count) => {
                    updated.keep_unexamined(count);
                    return Ok(());
                }
                MergeStep::Line(line, keeps) => {
                    updated.keep_unexamined(1);
                    return sink(New::Line(line, keeps));
                }
            };
            let old = record.map(|old| verified_since(old.entry(), start_ns));
            let path = old.map_or_else(|| new.map_or(&[][..], |seen| &seen.path), |old| old.path);
            if replaced.go_to(key(path)).is_some() && old.is_none() {
                return Ok(());
            }
            let (mut is_whole, mut is_read) = (new.is_some_and(|seen| seen.is_whole), true);
            let is_unexamined = keeps != Keeps::No;
            if let Some(old) = old.filter(|_| self.append_only) {
                links.record(&old)?;
                match (old.stat.file_type, new.map_or(old.stat.file_type, |seen| seen.file_type)) {
                    (a, b) if a == b => {}
                    (_, FileType::Directory) => replaced.push(key(old.path), ()),
                    (FileType::Directory, _) => is_whole = !old.tree.is_empty(),
                    _ => {}
                }
            }
            let made = new.map(|seen| maker.make(seen, old.as_ref())).transpose()?;
            let grown = new.and_then(|seen| self.grown.get(&seen.file?));
            let made = match (grown, made) {
                (Some(Err(_)), Some(_)) => Some(Made::Unread),
                (Some(Ok(grown)), Some(Made::Entry(entry))) => Some(Made::Entry(grown.entry(entry, now_ns))),
                (Some(Ok(grown)), Some(Made::WithoutXattrs(entry, error))) => {
                    Some(Made::WithoutXattrs(grown.entry(entry, now_ns), error))
                }
                (_, made) => made,
            };
            let grown = grown.and_then(|grown| grown.as_ref().ok());
            let is_seen = matches!(made, Some(Made::Entry(_) | Made::WithoutXattrs(..)));
            let entry = match made {
                None => match old {
                    Some(old) if self.aligned.failed.covers(old.path) => {
                        updated.kept += 1;
                        if kept_dirs.go_to(key(old.path)).is_none() {
                            sink(New::Unreadable(old.path))?;
                        }
                        if old.stat.file_type == FileType::Directory {
                            kept_dirs.push(key(old.path), ());
                        }
                        // Everything below it keeps its old record too.
                        is_whole = !old.tree.is_empty();
                        Some(old)
                    }
                    Some(old) if is_unexamined => {
                        updated.not_examined += 1;
                        is_whole = !old.tree.is_empty();
                        Some(self.kinship.present(old, &self.file_systems))
                    }
                    // The file may have been renamed. Without this record, its damage would be recorded under
                    // the new name as correct.
                    Some(old) if old.damaged_ns.is_some() && !self.accept.contains(old.path) => {
                        updated.corrupted += 1;
                        each(&finding(Verdict::Corrupted, &old));
                        Some(old)
                    }
                    Some(old) if self.append_only => {
                        updated.retained += 1;
                        each(&finding(Verdict::Missing, &old));
                        // Everything below it keeps its old record too.
                        is_whole = !old.tree.is_empty();
                        Some(old)
                    }
                    _ => None,
                },
                Some(Made::Entry(entry))
                    if self.retains(&old, (&entry, new, grown), links, &mut updated, now_ns, each)? =>
                {
                    old
                }
                Some(Made::Unread) => {
                    is_read = false;
                    if let Some(stat) = new.and_then(|seen| seen.metadata) {
                        links.exclude(&stat)?;
                    }
                    let old = old.filter(|old| self.append_only || old.stat.is_regular());
                    updated.keep(old.is_some());
                    old
                }
                Some(Made::Pending) => {
                    pending += 1;
                    None
                }
                Some(Made::Entry(entry)) => {
                    let entry = if self.append_only { links.link(old.as_ref(), entry) } else { entry };
                    Some(self.judge(old, entry, grown, damaged, now_ns, &mut updated, each))
                }
                Some(Made::WithoutXattrs(entry, error)) => {
                    is_read = false;
                    each(&Finding { error: Some(&error), ..finding(Verdict::Unreadable, &entry) });
                    links.exclude(&entry.stat)?;
                    let is_kept =
                        |old: &Entry<'_>| self.append_only || old.stat.file_type == entry.stat.file_type;
                    let old = old.filter(is_kept);
                    updated.keep(old.is_some());
                    let entry = Entry { xattrs: old.and_then(|old| old.xattrs), ..entry };
                    match self.append_only {
                        true => old,
                        false => old
                            .is_some()
                            .then(|| self.judge(old, entry, grown, damaged, now_ns, &mut updated, each)),
                    }
                }
            };
            if let Some(seen) = new.filter(|_| !is_read) {
                sink(New::Unreadable(&seen.path))?;
            }
            if let Some(recording) = recording.as_mut().filter(|_| is_read && !is_unexamined) {
                let is_accepted = entry.is_some_and(|entry| self.accept.contains(entry.path));
                recording.note(old.as_ref(), entry.as_ref(), new, updated.shift.as_ref(), is_accepted);
            }
            // An append-only update has decided about the links of its entries already.
            let group = match &entry {
                Some(entry) if !self.append_only => {
                    groups.of(entry, old.as_ref(), new.filter(|_| is_seen).map(Seen::stat).as_ref())?
                }
                _ => None,
            };
            if let Some(entry) = entry {
                let link_group = if self.append_only { entry.link_group } else { group.as_deref() };
                let entry = Entry { link_group, ..entry };
                sink(New::Entry(&entry, is_whole, keeps, record))?;
                updated.entries += 1;
            }
            Ok(())
        })?;
        if pending > 0 { Err(Error::Unprocessed(pending)) } else { Ok(updated) }
    }

    /// Returns whether an append-only update keeps the old record, because the entry is not as recorded.
    fn retains(
        &self,
        old: &Option<Entry<'_>>,
        (entry, seen, grown): (&Entry<'_>, Option<&Seen>, Option<&Grown>),
        links: &mut AppendedLinks,
        updated: &mut Updated,
        now_ns: i128,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> Result<bool, Error> {
        let Some(old) = old.as_ref().filter(|_| self.append_only) else { return Ok(false) };
        let shift = updated.shift.as_ref();
        links.add(old, &entry.stat)?;
        if self.was_incomplete(old, entry, shift) {
            return Ok(false);
        }
        if self.kept(old, entry, shift, now_ns).is_some() {
            links.keep(old, &entry.stat)?;
            return Ok(false);
        }
        let (mut before, mut now, mut changed) = (*old, *entry, Vec::new());
        let mut hider = Hider::new(self.see_trusted);
        hider.hide([&mut before, &mut now]);
        let is_pair = old.stat.is_regular() && entry.stat.is_regular();
        let is_same = match grown {
            Some(grown) => Some(grown.violation(old.digests).is_none()),
            None => is_pair.then(|| old.digests == entry.digests),
        };
        let criteria = Criteria { checks: self.checks.clone(), ..Criteria::default() };
        // Times that have shifted keep their records, too.
        criteria.changed(&before, &now, is_same, &mut changed);
        if criteria.compares_of(old, Field::LinkGroup)
            && let Some(first) = links.find(old, &entry.stat)
        {
            note_links(&mut changed, [&mut before, &mut now], first);
        }
        let spelled = seen.filter(|seen| seen.is_respelled);
        let is_retained = !changed.is_empty() || spelled.is_some();
        if is_retained {
            updated.retained += 1;
            let verdict = Verdict::of(old, entry, &changed, shift);
            let finding = Finding { new: Some(now), changed: &changed, ..finding(verdict, &before) };
            let own_path = spelled.and_then(|seen| seen.own_path.as_deref());
            each(&finding.spelled(own_path, spelled.is_some(), &criteria));
            links.keep(old, &entry.stat)?;
        }
        Ok(is_retained)
    }

    /// Returns the record to write: the old one, if the file is or may be corrupted, or may only grow and has done something
    /// else, and that is not accepted. `grown`: what was read of a file that may grow.
    #[expect(clippy::too_many_arguments, reason = "an entry, what is known of it, and where to tell")]
    fn judge<'e>(
        &self,
        old: Option<Entry<'e>>,
        entry: Entry<'e>,
        grown: Option<&Grown>,
        damaged: &'e DamagedInodes,
        now_ns: i128,
        updated: &mut Updated,
        each: &mut dyn FnMut(&Finding<'_>),
    ) -> Entry<'e> {
        if self.accept.contains(entry.path) {
            return entry;
        }
        let Some(old) = old else { return damaged.apply(entry) };
        if self.was_incomplete(&old, &entry, updated.shift.as_ref()) {
            each(&Finding {
                new: Some(entry),
                changed: &[Field::Digests],
                ..finding(Verdict::Modified, &old)
            });
            return entry;
        }
        let Some((verdict, kept)) = self.kept(&old, &entry, updated.shift.as_ref(), now_ns) else {
            if let Some(changed) = grown.and_then(|grown| grown.violation(old.digests)) {
                updated.rewritten += 1;
                each(&Finding { new: Some(entry), changed, ..finding(Verdict::Modified, &old) });
                return Entry { link_group: entry.link_group, ..old };
            }
            if old.digests == entry.digests {
                return entry;
            }
            if old.damaged_ns.is_some() {
                each(&Finding {
                    new: Some(entry),
                    changed: &[Field::Size],
                    ..finding(Verdict::Modified, &old)
                });
            }
            return damaged.apply(entry);
        };
        *(if verdict == Verdict::Corrupted { &mut updated.corrupted } else { &mut updated.undecided }) += 1;
        each(&Finding { new: Some(entry), changed: &[Field::Digests], ..finding(verdict, &old) });
        if self.append_only {
            return kept;
        }
        // With the old time, the next run would take the damage for an edit if the times have shifted.
        let is_corrupted = verdict == Verdict::Corrupted;
        let mtime_ns = if is_corrupted { entry.stat.mtime_ns } else { old.stat.mtime_ns };
        // The path is in the tree, so its present links are known.
        Entry { stat: Stat { mtime_ns, ..kept.stat }, link_group: entry.link_group, ..kept }
    }

    /// Returns whether the content of a file differs, and nothing else, because it was [incomplete](Entry::is_unsettled) in a
    /// snapshot.
    fn was_incomplete(&self, old: &Entry<'_>, new: &Entry<'_>, shift: Option<&Shift>) -> bool {
        old.is_unsettled && old.size() == Some(new.stat.size) && is_undecided(old, new, shift)
    }

    /// Returns the record that a file keeps because its content is, or may be, damaged, and the verdict on it. If the content
    /// is not compared, only a file that is known to be damaged does.
    fn kept<'e>(
        &self,
        old: &Entry<'e>,
        new: &Entry<'_>,
        shift: Option<&Shift>,
        now_ns: i128,
    ) -> Option<(Verdict, Entry<'e>)> {
        is_checked(check_of(self.checks, old), Field::Digests, old)
            .then(|| kept(old, new, shift, now_ns))
            .flatten()
    }

    /// Finds the files that keep their records although they were read: new names of them get the same content.
    fn damaged_inodes(
        &self,
        contents: &Contents<'_>,
        shift: Option<&Shift>,
        now_ns: i128,
        budget: &Budget,
    ) -> Result<DamagedInodes, Error> {
        let (mut damaged, mut reserved) = (DamagedInodes::default(), Reservation::new(budget));
        if !self.has_links {
            return Ok(damaged);
        }
        let (start_ns, mut digests) = (self.aligned.manifest.header().start_ns, Vec::new());
        self.aligned.merge_kept(self.examination, Raw::Skip, &mut |step| {
            if let MergeStep::Entries(Some(old), Some(new), _) = step
                && let Some(file) = new.seen.file
                && let Content::Read(row, stat) = contents.of(file)
                && let old = verified_since(old.entry(), start_ns)
                && !self.accept.contains(old.path)
            {
                contents.digests(row, &mut digests);
                let entry = Entry { digests: &digests, ..Entry::new(old.path, stat) };
                if let Some((_, kept)) = self.kept(&old, &entry, shift, now_ns) {
                    damaged.add(&kept, &stat, &mut reserved)?;
                }
            }
            Ok(())
        })?;
        Ok(damaged)
    }

    fn contents<'c>(&'c self, rows: &'c Rows) -> Contents<'c> {
        Contents::read(Some(&self.files), rows)
    }
}

/// What a pass over a manifest and a tree finds.
struct Lists {
    survey: Survey,
    files: Vec<FileNo>,
    growing: Vec<(FileNo, u64)>,
    ignored_damage: Option<Vec<u8>>,
    recent: Vec<FileNo>,
    times: RecordedTimes,
    /// Paths to accept that were not found.
    unknown: BTreeSet<Vec<u8>>,
    has_links: bool,
    keeps_recent: bool,
    /// Whether a file is missing whose old record may be out of date without a change of size and times.
    misses_recent: bool,
    reserved: Reservation,
}

impl Lists {
    /// Goes through both.
    fn new(
        aligned: &Aligned<'_>,
        options: &UpdateOptions<'_>,
        file_systems: &FileSystems,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let header = aligned.manifest.header();
        let (reads, start_ns) = (!header.algorithms.is_empty(), header.start_ns);
        let mut lists = Self {
            survey: Survey::of(header),
            files: Vec::new(),
            growing: Vec::new(),
            ignored_damage: None,
            recent: Vec::new(),
            times: RecordedTimes::new(budget),
            unknown: aligned.recorded(options.accept, budget)?,
            has_links: false,
            keeps_recent: false,
            misses_recent: false,
            reserved: Reservation::new(budget),
        };
        aligned.merge_kept(options.examination, Raw::Skip, &mut |step| {
            let (old, new) = match step {
                MergeStep::Entries(old, new, Keeps::No) => (old, new),
                MergeStep::Entries(..) | MergeStep::Line(..) => {
                    lists.survey.recorded += 1;
                    return Ok(());
                }
                MergeStep::Skipped(count) => {
                    lists.survey.recorded += count;
                    return Ok(());
                }
            };
            let (old, new) = (old.map(|old| old.entry()), new.map(|new| &new.seen));
            let is_ignored = |old: &&Entry<'_>| {
                new.is_none() && options.checks.of(key(old.path), old.stat.file_type) == Check::Ignore
            };
            if let Some(old) = old.as_ref().filter(is_ignored) {
                let is_damaged = old.damaged_ns.is_some() && !options.accept.contains(old.path);
                lists.ignored_damage = lists.ignored_damage.take().or(is_damaged.then(|| old.path.to_vec()));
            } else if let Some(old) = &old {
                lists.survey.note(old, new, &aligned.failed, file_systems, options.kinship);
            }
            let Some(seen) = new else {
                if let Some(old) = old {
                    let is_recent = old.stat.is_regular() && old.is_recent(start_ns);
                    lists.misses_recent |= is_recent;
                    if aligned.failed.covers(old.path) {
                        lists.keeps_recent |= is_recent;
                    } else if old.damaged_ns.is_some() {
                        lists.unknown.remove(old.path);
                    }
                }
                return Ok(());
            };
            let old = old.filter(|old| old.stat.is_regular());
            if let Some(old) = &old {
                lists.times.add(old, seen)?;
            }
            let has_to_read = |old: Entry<'_>| {
                let is_accepted = lists.unknown.remove(old.path);
                is_accepted
                    || old.damaged_ns.is_some()
                    || !is_unchanged(&old, &seen.stat(), start_ns, file_systems, options.kinship)
                    || options.check.is_some_and(|check| check.matches(old.path))
            };
            let is_accepted = old.is_some_and(|old| options.accept.contains(old.path));
            if let Some(file) = seen.file.filter(|_| reads)
                && old.is_none_or(has_to_read)
            {
                lists.reserved.consume(size_of::<(FileNo, u64)>() as u64)?;
                // A damaged one too: if it grew, its recorded part shows whether it still is.
                let may_grow =
                    |old: &Entry<'_>| check_of(options.checks, old) == Check::Growing && old.size().is_some();
                match old.filter(|old| may_grow(old) && !is_accepted) {
                    Some(old) => lists.growing.push((file, old.stat.size)),
                    None => lists.files.push(file),
                }
                lists.has_links |= seen.metadata.is_some_and(|stat| stat.nlink > 1)
                    || old.is_some_and(|old| old.link_group.is_some());
                if old.is_some_and(|old| old.is_recent(start_ns)) {
                    lists.reserved.consume(size_of::<FileNo>() as u64)?;
                    lists.recent.push(file);
                }
            }
            Ok(())
        })?;
        lists.files.sort_unstable();
        Ok(lists)
    }

    /// Returns the memory to the budget.
    fn release(self) {
        self.times.release();
        self.reserved.release();
    }
}

/// Why a run fails if an entry cannot be read a second time.
const UNREAD: &str = "the extended attributes of an entry became unreadable";

/// A step in the making of a manifest.
enum New<'n> {
    /// An entry to write, for a directory whether the walk found all its entries, whether it keeps its old record because it
    /// was not examined, and the old record.
    Entry(&'n Entry<'n>, bool, Keeps, Option<&'n AlignedEntries<'n>>),
    /// A record that is kept because it was not examined.
    Line(NextLine<'n>, Keeps),
    /// The path of something that could not be read. An entry follows if it keeps an old record.
    Unreadable(&'n [u8]),
}

impl Updated {
    /// Counts records that are kept because they were not examined.
    fn keep_unexamined(&mut self, count: u64) {
        self.entries += count;
        self.not_examined += count;
    }

    /// Counts an entry that could not be read.
    fn keep(&mut self, has_record: bool) {
        *(if has_record { &mut self.kept } else { &mut self.failed }) += 1;
    }
}

/// Returns a record with the time at which its content was last verified: if the record has none, the start of
/// the old run. The new manifest has a later start, so the record must say it itself.
fn verified_since(old: Entry<'_>, start_ns: i128) -> Entry<'_> {
    let verified_ns = old.read_ns(start_ns).filter(|_| !old.digests.is_empty());
    Entry { verified_ns, ..old }
}

/// Returns the record that a file keeps because its content is, or may be, damaged, and the verdict on it.
fn kept<'e>(
    old: &Entry<'e>,
    new: &Entry<'_>,
    shift: Option<&Shift>,
    now_ns: i128,
) -> Option<(Verdict, Entry<'e>)> {
    if is_undecided(old, new, shift) {
        return Some((Verdict::Modified, *old));
    }
    let damaged_ns = old.damaged_ns.or(Some(now_ns));
    is_corrupted(old, new, shift).then_some((Verdict::Corrupted, Entry { damaged_ns, ..*old }))
}

/// Returns whether the content of a file differs although size and mtime are the same, apart from a shift of all
/// times. The ctime does not matter.
fn is_corrupted(old: &Entry<'_>, new: &Entry<'_>, shift: Option<&Shift>) -> bool {
    let changed: &[_] = if old.digests == new.digests { &[] } else { &[Field::Digests] };
    Verdict::of(old, new, changed, shift) == Verdict::Corrupted
}

/// Returns whether a file cannot have been written since it was read for a manifest whose run began at
/// `start_ns`.
fn is_unchanged(
    old: &Entry<'_>,
    new: &Stat,
    start_ns: i128,
    file_systems: &FileSystems,
    kinship: Kinship,
) -> bool {
    let same_dev = Stat { dev: new.dev, ..old.stat };
    old.stat.file_type == new.file_type
        && same_dev.is_same_content(new)
        && old.knows_all(&[Field::Ino, Field::Size, Field::Mtime, Field::Ctime])
        && kinship.connects(old, new.dev, file_systems)
        && !old.is_recent(start_ns)
}

#[cfg(test)]
mod tests {
    use ftk_file::FsId;

    use super::*;

    fn is_unchanged(old: &Entry<'_>, new: &Stat) -> bool {
        super::is_unchanged(old, new, START, &FileSystems::default(), Kinship::None)
    }

    #[test]
    fn inode_numbers_count_within_a_file_system_or_a_history() {
        let [recorded, present, other] = [1, 2, 3].map(|byte| FsId::from_bytes([byte; 16]));
        let stat = stat(1, 1);
        let old = Entry::new(b"a", stat);
        let systems = |fs| FileSystems::default().and(stat.dev, fs);
        let history = Kinship::History { fs: recorded, dev: stat.dev };
        let elsewhere = Kinship::History { fs: recorded, dev: 9 };
        for (kinship, then, now, is) in [
            (Kinship::None, None, None, true),
            (Kinship::None, Some(recorded), Some(recorded), true),
            (Kinship::None, Some(recorded), Some(present), false),
            // The device number is the same, which vouches for nothing.
            (Kinship::None, Some(recorded), None, false),
            (Kinship::None, None, Some(present), true),
            (history, Some(recorded), Some(present), true),
            (history, Some(other), Some(present), false),
            (elsewhere, Some(recorded), Some(present), false),
            (elsewhere, Some(present), Some(present), true),
            (Kinship::SnapshotOf, Some(recorded), Some(present), true),
            (Kinship::SnapshotOf, Some(recorded), None, true),
        ] {
            let old = Entry { fs: then, ..old };
            let is_unchanged = super::is_unchanged(&old, &stat, START, &systems(now), kinship);
            assert_eq!(is_unchanged, is, "{kinship:?} {then:?} {now:?}");
            let changed = Stat { ctime_ns: 2, ..stat };
            assert!(!super::is_unchanged(&old, &changed, START, &systems(now), kinship));
        }
    }

    const START: i128 = 1_763_713_800_500_000_000;

    fn stat(mtime_ns: i128, ctime_ns: i128) -> Stat {
        Stat { size: 3, mtime_ns, ctime_ns, dev: 4, ino: 5, nlink: 1, ..Stat::EMPTY }
    }

    #[test]
    fn only_files_older_than_the_run_with_the_same_stat_are_unchanged() {
        let old = stat(START - 30_000_000, START - 30_000_001);
        assert!(is_unchanged(&Entry::new(b"a", old), &old));
        for (mtime_ns, ctime_ns) in [
            (START, START - 30_000_000),
            (START - 30_000_000, START),
            (START - 10_000_000, START - 10_000_000),
            // Stamps of whole seconds may be as coarse as two seconds (FAT), so a write after the run began
            // could have the same stamp.
            (START - 1_500_000_000, START - 1_500_000_000),
            (START - 1_500_000_000, START + 1),
        ] {
            let recent = stat(mtime_ns, ctime_ns);
            assert!(!is_unchanged(&Entry::new(b"a", recent), &recent), "{recent:?}");
        }
        let whole = stat(START - 2_500_000_000, START - 2_500_000_000);
        assert!(is_unchanged(&Entry::new(b"a", whole), &whole));
        let stat = stat(START / 2, START / 2 + 1);
        let old = Entry::new(b"a", stat);
        for new in [
            Stat { size: 4, ..stat },
            Stat { mtime_ns: 1, ..stat },
            Stat { ctime_ns: stat.ctime_ns + 1, ..stat },
            Stat { dev: 9, ..stat },
            Stat { ino: 9, ..stat },
            Stat { file_type: FileType::Fifo, ..stat },
        ] {
            assert!(!is_unchanged(&old, &new), "{new:?}");
        }
        // An unchanged ctime is sufficient: other fields are ignored.
        assert!(is_unchanged(&old, &Stat { nlink: 2, ..stat }));
        for field in [Field::Dev, Field::Ino, Field::Size, Field::Mtime, Field::Ctime] {
            let mut old = old;
            old.absent.insert(field);
            assert!(!is_unchanged(&old, &stat), "{field} is not recorded");
        }
    }
}
