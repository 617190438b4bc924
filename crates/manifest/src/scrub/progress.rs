//! What a scrub has done, and how long a full round takes.

use super::plan::Scrub;
use super::queue::{Item, UNKNOWN};
use super::write::Mark;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    /// Files that have the recorded content.
    pub(super) verified: u64,
    /// Their bytes.
    pub(super) verified_bytes: u64,
    /// Those of them that were not marked as damaged.
    pub(super) files: u64,
    /// The bytes of these.
    pub(super) bytes: u64,
    /// Files that are damaged.
    pub(super) damaged: u64,
    /// Files with other content, perhaps damaged: their records lack the size or the time.
    pub(super) undecided: u64,
    /// Files that could not be read.
    pub(super) unreadable: u64,
    /// Files not marked as damaged that were opened, whatever came of it.
    pub(super) tried: u64,
}

impl Done {
    /// Counts a file that has the recorded content.
    pub(super) fn verified(&mut self, item: &Item) {
        self.verified += 1;
        self.verified_bytes += item.size;
        if !item.is_damaged() {
            self.files += 1;
            self.bytes += item.size;
        }
    }
}

/// The results of a scrub, and the state of the whole tree after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// Files that this run read and that have the recorded content.
    pub verified: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that this run read and that are damaged.
    pub damaged: u64,
    /// Files that this run read and that are perhaps damaged: their content differs, and their records lack the size
    /// or time that could show an edit.
    pub undecided: u64,
    /// Recorded files that could not be read.
    pub unreadable: u64,
    /// All selected files with recorded digests, also those that are missing or have another size or time.
    pub recorded: u64,
    /// Whether this run has read none of the recorded files, because they have another size or time or are missing.
    pub is_nothing: bool,
    /// Files with their recorded size and time, except damaged, undecided and unreadable ones.
    pub files: u64,
    /// Those of them that were not read since they were recorded.
    pub never: u64,
    /// When the longest unverified of them was verified, or recorded. `None` if there are none, or a record has no
    /// plausible time.
    pub oldest_ns: Option<i128>,
    /// How long it takes to read all of them at the present pace. `None` if this run read all of them, or nothing.
    pub round_ns: Option<u128>,
}

impl Scrub<'_> {
    /// Returns whether this run has opened a file that was not known to be damaged.
    pub fn has_advanced(&self) -> bool {
        self.done.tried > 0
    }

    /// Returns whether a recorded file with digests belongs to the part that is read.
    pub fn selects_files(&self) -> bool {
        self.marks.len() as u64 > self.outside
    }

    /// Returns the results so far. `now_ns`: the present time.
    pub fn scrubbed(&self, now_ns: i128) -> Scrubbed {
        let done = &self.done;
        let recorded = self.marks.len() as u64 - self.outside;
        let mut scrubbed = Scrubbed {
            verified: done.verified,
            bytes: done.verified_bytes,
            damaged: done.damaged,
            undecided: done.undecided,
            unreadable: done.unreadable,
            recorded,
            is_nothing: recorded > 0 && done.verified + done.damaged + done.undecided + done.unreadable == 0,
            ..Scrubbed::default()
        };
        let first_ns = self.queue.items.iter().find(|item| !item.is_damaged()).map(|item| item.verified_ns);
        let (mut total, mut later, mut oldest_ns, mut is_partial) = (0_u128, 0_u128, i64::MAX, false);
        for item in &self.queue.items {
            let mark = self.marks[item.record as usize];
            let batch = mark.batch();
            if [Mark::DAMAGED, Mark::FAILED, Mark::CHANGED].contains(&mark)
                || item.is_damaged() && batch.is_none()
            {
                continue;
            }
            is_partial |= batch.is_none();
            let verified_ns = batch.map_or(item.verified_ns, |batch| clamp(self.begun_ns[batch]));
            scrubbed.files += 1;
            scrubbed.never += u64::from(mark.was_never_read());
            oldest_ns = oldest_ns.min(verified_ns);
            total += u128::from(item.size);
            later += first_ns.map_or(0, |first_ns| if verified_ns > first_ns { item.size.into() } else { 0 });
        }
        scrubbed.oldest_ns = (scrubbed.files > 0 && oldest_ns > UNKNOWN).then(|| oldest_ns.into());
        // All files were verified before the first one of this run was due again. Since then, `later` bytes were
        // verified, by this run and the runs before it.
        if let Some(first_ns) = first_ns.filter(|ns| is_partial && later > 0 && *ns > UNKNOWN) {
            let elapsed_ns = u128::try_from(now_ns - i128::from(first_ns)).unwrap_or_default();
            scrubbed.round_ns = Some(elapsed_ns.saturating_mul(total) / later);
        }
        scrubbed
    }
}

fn clamp(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
