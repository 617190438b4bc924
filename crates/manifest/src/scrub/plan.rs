//! Which files a scrub reads.

use std::collections::HashMap;
use std::ops::ControlFlow;

use ftk_inventory::{Budget, FileNo, Full, Reservation};
use ftk_process::file_systems;
use ftk_walk::FileType;

use super::progress::Done;
use super::queue::{Batch, DAMAGED, Item, Queue, UNKNOWN};
use super::write::Mark;
use crate::aligned::{Aligned, Spelling};
use crate::criteria::{check_of, is_checked};
use crate::shift::RecordedTimes;
use crate::walked_tree::{Seen, WalkedTree};
use crate::{Contents, Entry, Error, Field, Kinship, Manifest, Selector, Shift, Survey};

/// Reads a part of a tree, compares it with the manifest, and records when each file was last verified.
///
/// Only files whose size and mtime are as recorded are read: others were edited, and [`Update`](crate::Update) is to
/// record them. Damaged files come first, then those that were not verified for the longest time. A command takes
/// [batches](Self::next_batch) until its time is over, [judges](Self::judge) each of them, and now and then
/// [writes](Self::write) the manifest.
///
/// Uses 36 bytes and the digests for each recorded file.
#[derive(Debug)]
pub struct Scrub<'s> {
    /// What the guards check.
    pub survey: Survey,
    /// What a scrub leaves to an update.
    pub left: ForUpdate,
    /// A shift of nearly all times. Files whose times it explains are read like the others.
    pub shift: Option<Shift>,
    /// The recorded paths of damaged files that are missing, perhaps because they were renamed.
    pub lost: Vec<Vec<u8>>,
    /// The paths of files that are marked as damaged and have another type, size or time since. They are not read.
    pub edited: Vec<Vec<u8>>,
    /// The number of entries outside the part that is read and counted. Their records stay as they are.
    pub unselected: u64,
    /// The number of files whose content is not compared, as the recorded rules say. They are not read.
    pub unchecked: u64,
    pub(super) manifest: &'s Manifest,
    pub(super) tree: WalkedTree<'s>,
    /// The recorded paths of files whose paths in the tree are spelled differently.
    recorded: HashMap<FileNo, Vec<u8>>,
    pub(super) now_ns: i128,
    pub(super) queue: Queue,
    /// The limit for the bytes of undamaged files.
    pub(super) limit: Option<u64>,
    /// The digests of all recorded files.
    pub(super) digests: Vec<u8>,
    /// What to write to each of these records.
    pub(super) marks: Vec<Mark>,
    /// How many of these records are outside the part that is read, or [unchecked](Self::unchecked).
    pub(super) outside: u64,
    /// When each batch was begun.
    pub(super) begun_ns: Vec<i128>,
    pub(super) done: Done,
}

/// Entries that differ from their records in more than their content. A scrub does not read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForUpdate {
    /// Entries that are not recorded.
    pub new: u64,
    /// Recorded files with digests whose type, size or time differs, also if they changed during the scrub.
    pub changed: u64,
    /// Recorded entries that are missing.
    pub missing: u64,
    /// Entries whose names are in another Unicode normal form. They are read like the others.
    pub respelled: u64,
}

impl<'s> Scrub<'s> {
    /// Goes through the manifest and the tree. The walk must have kept the metadata of all entries. `part`: the entries that
    /// are read and counted; `None`: all. `now_ns`: the start of the run.
    ///
    /// # Errors
    /// When the manifest cannot be read or has an invalid line, or the lists do not fit into the budget.
    ///
    /// # Panics
    /// If the walk has not kept the metadata of regular files.
    pub fn new(
        manifest: &'s Manifest,
        tree: &WalkedTree<'s>,
        part: Option<&Selector>,
        now_ns: i128,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let pass = |aligned: &Aligned<'s>| Self::with_shift(aligned, part, now_ns, budget, None);
        let release = |(_, times, reserved): (Self, RecordedTimes, Reservation)| {
            times.release();
            reserved.release();
        };
        let (aligned, (scrub, times, reserved)) =
            Aligned::new(manifest, tree, Spelling::Manifest, None, budget, pass, release)?;
        // Contents are not known yet, so only a shift of all times by one amount can be found.
        match Shift::find(&times, &aligned, &Contents::none(), budget)? {
            None => Ok(scrub),
            shift => {
                release((scrub, times, reserved));
                Ok(Self::with_shift(&aligned, part, now_ns, budget, shift)?.0)
            }
        }
    }

    fn with_shift(
        aligned: &Aligned<'s>,
        part: Option<&Selector>,
        now_ns: i128,
        budget: &Budget,
        shift: Option<Shift>,
    ) -> Result<(Self, RecordedTimes, Reservation), Error> {
        let &Aligned { manifest, tree, ref failed, .. } = aligned;
        let file_systems = file_systems(tree.inventory);
        let start_ns = manifest.header().start_ns;
        let checks = manifest.header().checks()?;
        let (mut reserved, mut times) = (Reservation::new(budget), RecordedTimes::new(budget));
        let mut items = Vec::new();
        let mut scrub = Self {
            survey: Survey::of(manifest.header()),
            left: ForUpdate::default(),
            shift,
            lost: Vec::new(),
            edited: Vec::new(),
            unselected: 0,
            unchecked: 0,
            manifest,
            tree,
            recorded: HashMap::new(),
            now_ns,
            queue: Queue::default(),
            limit: None,
            digests: Vec::new(),
            marks: Vec::new(),
            outside: 0,
            begun_ns: Vec::new(),
            done: Done::default(),
        };
        aligned.merge(|old, new| {
            let seen = new.map(|new| &new.seen);
            let old = old.map(|old| old.entry());
            let (path, file_type) = match (&old, seen) {
                (_, Some(seen)) => (&*seen.path, seen.file_type),
                (old, None) => {
                    old.map_or((&[][..], FileType::Directory), |old| (old.path, old.stat.file_type))
                }
            };
            let is_selected = part.is_none_or(|part| part.selects(path, file_type));
            scrub.unselected += u64::from(!is_selected);
            let Some(old) = old else {
                scrub.left.new += u64::from(is_selected && !seen.is_some_and(Seen::is_root));
                return Ok(ControlFlow::Continue(()));
            };
            // The walk looks for everything that is not skipped.
            if part.is_none_or(|part| !part.skips(old.path)) {
                scrub.survey.note(&old, seen, failed, &file_systems, Kinship::None);
            }
            if let Some(seen) = seen {
                times.add(&old, seen)?;
            }
            scrub.left.missing += u64::from(is_selected && seen.is_none() && !failed.covers(old.path));
            if old.digests.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            reserved.consume((size_of::<Item>() + size_of::<Mark>() + old.digests.len()) as u64)?;
            let record = u32::try_from(scrub.marks.len()).map_err(|_| Full::Entries)?;
            scrub.digests.extend_from_slice(old.digests);
            scrub.marks.push(Mark::unread(&old));
            let is_unchecked = is_selected && !is_checked(check_of(&checks, &old), Field::Digests, &old);
            scrub.unchecked += u64::from(is_unchecked);
            if !is_selected || is_unchecked {
                scrub.outside += 1;
                return Ok(ControlFlow::Continue(()));
            }
            match seen {
                Some(seen) => match seen.file.filter(|_| is_as_recorded(&old, seen, shift.as_ref())) {
                    Some(file) => {
                        let verified_ns = verified_ns(&old, start_ns, now_ns);
                        let is_timed = old.knows_all(&[Field::Size, Field::Mtime]) && !old.is_unsettled;
                        if seen.own_path.is_some() {
                            let bytes = 2 * size_of::<(FileNo, Vec<u8>)>() + old.path.len();
                            reserved.consume(bytes as u64)?;
                            scrub.recorded.insert(file, old.path.to_vec());
                        }
                        items.push(Item { verified_ns, record, file, size: seen.stat().size, is_timed });
                    }
                    None => {
                        scrub.left.changed += 1;
                        if old.damaged_ns.is_some() {
                            scrub.edited.push(old.path.to_vec());
                        }
                    }
                },
                None if failed.covers(old.path) => scrub.done.unreadable += 1,
                None if old.damaged_ns.is_some() => scrub.lost.push(old.path.to_vec()),
                None => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        scrub.left.respelled = aligned.respelled();
        scrub.queue = Queue::new(items);
        Ok((scrub, times, reserved))
    }

    /// Returns the recorded path of a file that is read.
    pub(super) fn path_of(&self, file: FileNo) -> Vec<u8> {
        self.recorded.get(&file).cloned().unwrap_or_else(|| self.tree.path_of(file))
    }

    /// Returns the bytes of all files that can be read, except damaged ones.
    pub fn bytes(&self) -> u64 {
        let intact = self.queue.items.iter().filter(|item| !item.is_damaged());
        intact.fold(0, |sum, item| sum.saturating_add(item.size))
    }

    /// Limits the bytes that are read: the last file may exceed the limit, and at least one file is read. Damaged
    /// files are read in addition.
    pub fn limit(&mut self, bytes: u64) {
        self.limit = Some(self.limit.map_or(bytes, |limit| limit.min(bytes)));
    }

    /// Returns how many files are read within the limit, if all of them can be read.
    pub fn planned(&self) -> u64 {
        self.queue.within(self.limit.map(|limit| limit.max(1)))
    }

    /// Returns the next files to be read, with a [weight](Batch::weight) of at most `weight`, but at least one file.
    /// `None` if everything was read, or enough.
    pub fn next_batch(&mut self, weight: u64) -> Option<Batch> {
        // Files that cannot be read do not count, or they would use up the limit of every run.
        let is_first = self.done.files == 0;
        let left = self.limit.map(|limit| limit.saturating_sub(self.done.bytes).max(u64::from(is_first)));
        self.queue.next_batch(weight, left)
    }
}

/// Returns whether a file has the recorded type, size and mtime, as far as they are recorded, apart from a shift of all
/// times.
fn is_as_recorded(old: &Entry<'_>, seen: &Seen, shift: Option<&Shift>) -> bool {
    let now = seen.stat();
    let (old_ns, now_ns) = (old.stat.mtime_ns, now.mtime_ns);
    let is_same_time = || {
        !old.knows(Field::Mtime)
            || old_ns == now_ns
            || shift.is_some_and(|shift| shift.explains(old_ns, now_ns))
    };
    now.is_regular() && old.size().is_none_or(|size| size == now.size) && is_same_time()
}

/// Returns when a file was last verified, or [`UNKNOWN`]. A time after this run is an error of a clock and means nothing.
fn verified_ns(old: &Entry<'_>, start_ns: i128, now_ns: i128) -> i64 {
    if old.damaged_ns.is_some() {
        return DAMAGED;
    }
    let verified_ns = old.read_ns(start_ns).and_then(|ns| i64::try_from(ns).ok());
    verified_ns.filter(|ns| i128::from(*ns) <= now_ns && *ns > UNKNOWN).unwrap_or(UNKNOWN)
}
