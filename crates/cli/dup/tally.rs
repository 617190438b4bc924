//! Counts how much is duplicated, and how much of it pruning would free.

use std::collections::{BTreeMap, BTreeSet};

use ftk_dedup::report::Group;
use ftk_dedup::{Member, Totals};
use ftk_record::write_record;
use indicatif::DecimalBytes;

use crate::stats::Stats;

/// Totals of all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Paths; hard links count separately.
    pub(super) files: u64,
    pub(super) groups: u64,
    /// Sizes of all files but one of each group. Hard links count as one file, and blocks on the disk do not
    /// matter.
    pub(super) waste: u64,
    /// Bytes that are stored once although several paths have them: sizes of further hard links, and shared
    /// blocks.
    pub(super) shared: u64,
    /// Bytes on the disk that pruning to one file per group would free. A file that has hard links outside
    /// its group frees nothing. `None` if the blocks are not known.
    pub(super) free: Option<u64>,
    /// The number of groups of directories. `waste` and `free` include the bytes of their files.
    pub(super) directory_groups: Option<u64>,
}

impl From<Totals> for Tally {
    fn from(totals: Totals) -> Self {
        let Totals { files, groups, wasted, shared, .. } = totals;
        Self { files, groups, waste: wasted, shared, ..Self::default() }
    }
}

impl Tally {
    /// Adds a group. `synthetic`: devices whose `st_size` values are synthetic, such as procfs. `shared`
    /// returns the bytes of a file that other files share on the disk.
    pub(super) fn add(
        &mut self,
        group: &Group,
        synthetic: &BTreeSet<u64>,
        mut shared: impl FnMut(&Member) -> u64,
    ) {
        let mut files = BTreeMap::new();
        for member in &group.members {
            let file = files.entry(member.version.identity());
            let (names, ..) = file.or_insert_with(|| (0, member, shared(member)));
            *names += 1;
        }
        let names = group.members.len();
        self.files += names as u64;
        self.groups += 1;
        let is_synthetic = group.members.first().is_some_and(|first| synthetic.contains(&first.version.dev));
        let size = if is_synthetic { 0 } else { group.size };
        self.waste += size.saturating_mul(files.len() as u64 - 1);
        let all_shared = files.values().map(|&(.., shared)| shared);
        // Shared blocks are stored once, so one of the files that share them does not count.
        let extents = all_shared.clone().sum::<u64>() - all_shared.max().unwrap_or_default();
        self.shared += size.saturating_mul((names - files.len()) as u64) + extents;
        // One file is kept. This assumes the one that would free the least.
        let frees = files.values().map(|&(names, file, shared)| {
            if names < file.nlink { 0 } else { file.blocks.saturating_mul(512).saturating_sub(shared) }
        });
        let least = frees.clone().min().unwrap_or_default();
        self.free = Some(self.free.unwrap_or_default() + frees.sum::<u64>() - least);
    }

    /// Adds groups of directories. What they free is known only by the sizes of their files.
    #[must_use]
    pub(super) fn with_directories(self, groups: usize, wasted: u64) -> Self {
        Self {
            waste: self.waste.saturating_add(wasted),
            free: self.free.map(|free| free.saturating_add(wasted)),
            directory_groups: Some(groups as u64),
            ..self
        }
    }

    /// Returns `pruning would free 38.90 GB`. If the blocks are not known, this is an estimate by the sizes.
    pub(super) fn text(&self) -> String {
        let directory_groups = self.directory_groups.unwrap_or_default();
        match (self.groups + directory_groups, self.free) {
            (0, _) => "no duplicates".into(),
            (_, Some(free)) if directory_groups > 0 => {
                format!("pruning would free about {}", DecimalBytes(free))
            }
            (_, Some(0)) => "pruning would free nothing".into(),
            (_, Some(free)) => format!("pruning would free {}", DecimalBytes(free)),
            (_, None) => format!("pruning would free about {}", DecimalBytes(self.waste)),
        }
    }

    /// Records the totals as results of the run, under the names that they have in the JSON output.
    pub(super) fn record(&self, stats: &Stats) {
        stats.result("files", self.files);
        stats.result("groups", self.groups);
        stats.result("waste_bytes", self.waste);
        stats.result("shared_bytes", self.shared);
        self.free.into_iter().for_each(|free| stats.result("free_bytes", free));
    }

    /// Appends the totals as one JSON object.
    pub(super) fn push_json(&self, out: &mut Vec<u8>) {
        let Self { files, groups, waste, shared, free, directory_groups } = self;
        let free = free.unwrap_or_default();
        write_record(out, |record| {
            record
                .member("files", files)
                .member("groups", groups)
                .member("waste_bytes", waste)
                .member("free_bytes", free)
                .member("shared_bytes", shared);
            if let Some(groups) = directory_groups {
                record.member("directory_groups", groups);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::Version;
    use ftk_hash::Digest;

    use super::*;

    fn member(ino: u64, nlink: u64, blocks: u64) -> Member {
        Member {
            root: 0,
            path: Vec::new(),
            version: Version { dev: 1, ino, size: 1000, ..Version::default() },
            blocks,
            nlink,
            via_link: false,
        }
    }

    fn tally(members: Vec<Member>) -> Tally {
        let mut tally = Tally::default();
        tally.add(
            &Group { size: 1000, digest: Digest::from_bytes(&[0; 16]), members },
            &BTreeSet::from([7]),
            |_| 0,
        );
        tally
    }

    #[test]
    fn synthetic_sizes_do_not_count_as_waste() {
        let synthetic = |ino| {
            let member = member(ino, 1, 0);
            Member { version: Version { dev: 7, ..member.version }, ..member }
        };
        let tally = tally(vec![synthetic(1), synthetic(2)]);
        assert_eq!((tally.groups, tally.waste, tally.shared, tally.free), (1, 0, 0, Some(0)));
    }

    #[test]
    fn hard_links_are_shared_and_not_freed() {
        let tally = tally(vec![member(1, 1, 8), member(2, 2, 8), member(2, 2, 8)]);
        let expected =
            Tally { files: 3, groups: 1, waste: 1000, shared: 1000, free: Some(4096), ..Tally::default() };
        assert_eq!(tally, expected);
        assert_eq!(tally.text(), "pruning would free 4.10 kB");
    }

    #[test]
    fn a_file_with_names_elsewhere_frees_nothing() {
        assert_eq!(tally(vec![member(1, 2, 8), member(2, 1, 8)]).free, Some(4096));
        let tally = tally(vec![member(1, 2, 8), member(2, 2, 8)]);
        assert_eq!(tally.free, Some(0));
        assert_eq!(tally.text(), "pruning would free nothing");
    }

    #[test]
    fn unknown_blocks_make_the_total_an_estimate() {
        assert_eq!(Tally::default().text(), "no duplicates");
        let tally = Tally { files: 2, groups: 1, waste: 1000, ..Tally::default() };
        assert_eq!(tally.text(), "pruning would free about 1.00 kB");
    }
}
