//! Counts how much is duplicated, and how much of it pruning would free.

use std::collections::HashMap;

use ftk_dedup::Totals;
use ftk_record::write_record;
use indicatif::DecimalBytes;

use crate::rules::Rules;
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
    /// Returns the number of groups.
    pub(super) fn groups(&self) -> u64 {
        self.groups
    }

    /// Adds a group.
    pub(super) fn add(&mut self, group: GroupTally) {
        let GroupTally { size, names, mut n_files, mut space, linked, .. } = group;
        for file in linked.into_values() {
            n_files += 1;
            space.add(file);
        }
        self.files += names;
        self.groups += 1;
        self.waste = self.waste.saturating_add(size.saturating_mul(n_files.saturating_sub(1)));
        // Shared blocks are stored once, so one of the files that share them does not count.
        let extents = space.shared - space.most_shared;
        self.shared =
            self.shared.saturating_add(size.saturating_mul(names - n_files)).saturating_add(extents);
        // One file is kept. This assumes the one that would free the least.
        let frees = space.is_known.then(|| space.frees - space.least_freed.unwrap_or_default());
        self.free = match (self.free, frees) {
            (free, Some(frees)) if self.groups == 1 || free.is_some() => {
                Some(free.unwrap_or_default() + frees)
            }
            _ => None,
        };
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

    /// Appends the totals as one JSON object. `rules` are those of the walk.
    pub(super) fn push_json(&self, out: &mut Vec<u8>, rules: &Rules) {
        let Self { files, groups, waste, shared, free, directory_groups } = self;
        // `null` if the space of some files is unknown.
        let free = if *groups == 0 { &Some(0) } else { free };
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
            rules.write(record);
        });
    }
}

/// Totals of the members of one group, which are added one by one.
#[derive(Clone, Debug)]
pub(super) struct GroupTally {
    /// The size of each file on the disk; 0 if the kernel made it up.
    size: u64,
    names: u64,
    /// Files that are counted in `space`.
    n_files: u64,
    space: Space,
    /// Whether a file may have several names in the group.
    has_hard_links: bool,
    /// If so: all files, by their number in the group.
    linked: HashMap<u64, FileSpace>,
}

/// The space of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileSpace {
    /// Bytes on the disk and the number of hard links, if they are known.
    pub(super) allocated: Option<(u64, u64)>,
    /// Bytes that other files share.
    pub(super) shared: u64,
    /// Names in the group that are counted here.
    pub(super) names: u64,
}

/// The space of several files.
#[derive(Clone, Debug)]
struct Space {
    is_known: bool,
    shared: u64,
    most_shared: u64,
    frees: u64,
    least_freed: Option<u64>,
}

impl Space {
    fn add(&mut self, file: FileSpace) {
        self.shared = self.shared.saturating_add(file.shared);
        self.most_shared = self.most_shared.max(file.shared);
        let Some((allocated, nlink)) = file.allocated else {
            self.is_known = false;
            return;
        };
        let frees = if file.names < nlink { 0 } else { allocated.saturating_sub(file.shared) };
        self.frees = self.frees.saturating_add(frees);
        self.least_freed = Some(self.least_freed.map_or(frees, |least| least.min(frees)));
    }
}

impl GroupTally {
    /// Begins a group of files of this size. `has_hard_links`: a file may have several names in it.
    pub(super) fn new(size: u64, has_hard_links: bool) -> Self {
        let space = Space { is_known: true, shared: 0, most_shared: 0, frees: 0, least_freed: None };
        Self { size, names: 0, n_files: 0, space, has_hard_links, linked: HashMap::new() }
    }

    /// Adds a member. `file` is the number of its file in the group, and `space` the space of the file.
    pub(super) fn add(&mut self, file: u64, space: FileSpace) {
        self.names += 1;
        if self.has_hard_links {
            let known = self.linked.entry(file).or_insert(FileSpace { names: 0, ..space });
            known.names += space.names;
        } else {
            self.n_files += 1;
            self.space.add(space);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member: the number of its file, the number of hard links, and the blocks of its file.
    type Member = (u64, u64, u64);

    fn group_tally(size: u64, members: &[Member]) -> Tally {
        let mut group = GroupTally::new(size, true);
        for &(file, nlink, blocks) in members {
            group.add(file, FileSpace { allocated: Some((blocks * 512, nlink)), shared: 0, names: 1 });
        }
        let mut tally = Tally::default();
        tally.add(group);
        tally
    }

    fn tally(members: &[Member]) -> Tally {
        group_tally(1000, members)
    }

    #[test]
    fn synthetic_sizes_do_not_count_as_waste() {
        let tally = group_tally(0, &[(1, 1, 0), (2, 1, 0)]);
        assert_eq!((tally.groups, tally.waste, tally.shared, tally.free), (1, 0, 0, Some(0)));
    }

    #[test]
    fn hard_links_are_shared_and_not_freed() {
        let tally = tally(&[(1, 1, 8), (2, 2, 8), (2, 2, 8)]);
        let expected =
            Tally { files: 3, groups: 1, waste: 1000, shared: 1000, free: Some(4096), ..Tally::default() };
        assert_eq!(tally, expected);
        assert_eq!(tally.text(), "pruning would free 4.10 kB");
    }

    #[test]
    fn a_file_with_names_elsewhere_frees_nothing() {
        assert_eq!(tally(&[(1, 2, 8), (2, 1, 8)]).free, Some(4096));
        let tally = tally(&[(1, 2, 8), (2, 2, 8)]);
        assert_eq!(tally.free, Some(0));
        assert_eq!(tally.text(), "pruning would free nothing");
    }

    #[test]
    fn names_of_a_mount_that_is_seen_twice_are_one_file() {
        let tally = tally(&[(1, 1, 8), (2, 1, 8), (2, 1, 8), (1, 1, 8)]);
        assert_eq!((tally.files, tally.waste, tally.shared, tally.free), (4, 1000, 2000, Some(4096)));
    }

    #[test]
    fn extents_that_files_share_are_stored_once() {
        let mut group = GroupTally::new(8192, false);
        for file in 0..3 {
            group.add(file, FileSpace { allocated: Some((8192, 1)), shared: 4096, names: 1 });
        }
        let mut tally = Tally::default();
        tally.add(group);
        assert_eq!((tally.waste, tally.shared, tally.free), (16384, 8192, Some(8192)));
    }

    #[test]
    fn one_unknown_size_on_the_disk_makes_the_whole_total_unknown() {
        let unknown = FileSpace { allocated: None, shared: 0, names: 1 };
        let mut tally = Tally::default();
        for spaces in [[Some((4096, 1)); 2], [None, Some((4096, 1))], [Some((4096, 1)); 2]] {
            let mut group = GroupTally::new(1000, false);
            spaces
                .iter()
                .zip(0..)
                .for_each(|(&allocated, file)| group.add(file, FileSpace { allocated, ..unknown }));
            tally.add(group);
        }
        assert_eq!((tally.groups, tally.waste, tally.free), (3, 3000, None));
    }

    #[test]
    fn unknown_blocks_make_the_total_an_estimate() {
        assert_eq!(Tally::default().text(), "no duplicates");
        let tally = Tally { files: 2, groups: 1, waste: 1000, ..Tally::default() };
        assert_eq!(tally.text(), "pruning would free about 1.00 kB");
    }
}
