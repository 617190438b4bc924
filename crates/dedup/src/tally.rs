//! Counts how much is duplicated, and how much of it pruning would free.

use std::collections::HashMap;

use crate::Totals;
use crate::prune::Gain;

/// Totals of all groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Paths; hard links count separately.
    pub files: u64,
    /// Groups of files.
    pub groups: u64,
    /// All files but one of each group. Hard links count as one file.
    pub surplus: u64,
    /// Sizes of all files but one of each group. Hard links count as one file, and blocks on the disk do not
    /// matter.
    pub waste: u64,
    /// Bytes that are stored once although several paths have them: sizes of further hard links, and shared
    /// blocks.
    pub shared: u64,
    /// Bytes on the disk that a deletion of all surplus copies would free, at most. A file that has hard links outside its
    /// group frees nothing. `None` if the blocks are not known.
    pub free: Option<u64>,
    /// Whether it may be less.
    pub is_upper_bound: bool,
    /// The number of groups of directories. `waste` and `free` include the bytes of their files.
    pub directory_groups: Option<u64>,
}

impl From<Totals> for Tally {
    fn from(totals: Totals) -> Self {
        let Totals { files, groups, clusters, wasted, shared } = totals;
        let surplus = clusters - groups;
        Self { files, groups, surplus, waste: wasted, shared, ..Self::default() }
    }
}

impl Tally {
    /// Adds a group. `gain` is what the rules free in it. If it is not known, the total is an upper bound.
    pub fn add(&mut self, group: GroupTally, gain: Option<Gain>) {
        let GroupTally { size, names, mut n_files, mut space, linked, .. } = group;
        for file in linked.into_values() {
            n_files += 1;
            space.add(file);
        }
        self.files += names;
        self.groups += 1;
        let surplus = n_files.saturating_sub(1);
        self.surplus += surplus;
        self.waste = self.waste.saturating_add(size.saturating_mul(surplus));
        // Shared blocks are stored once, so one of the files that share them does not count.
        let extents = space.shared - space.most_shared;
        self.shared =
            self.shared.saturating_add(size.saturating_mul(names - n_files)).saturating_add(extents);
        let gain = match gain {
            Some(gain) => Some((gain.most(), gain.possible > 0)),
            // One file is kept at least. This assumes the one that would free the least.
            None => space.is_known.then(|| {
                let most = space.frees - space.least_freed.unwrap_or_default();
                (most, most > 0)
            }),
        };
        self.is_upper_bound |= gain.is_some_and(|(_, is_upper_bound)| is_upper_bound);
        self.free = match (self.free, gain.map(|(frees, _)| frees)) {
            (free, Some(frees)) if self.groups == 1 || free.is_some() => {
                Some(free.unwrap_or_default() + frees)
            }
            _ => None,
        };
    }

    /// Returns `free`, which is 0 if there are no groups.
    pub fn freed_bytes(&self) -> Option<u64> {
        let has_groups = self.groups + self.directory_groups.unwrap_or_default() > 0;
        if has_groups { self.free } else { Some(0) }
    }

    /// Adds groups of directories. What they free is known only by the sizes of their files.
    #[must_use]
    pub fn with_directories(self, groups: usize, wasted: u64) -> Self {
        Self {
            waste: self.waste.saturating_add(wasted),
            free: self.freed_bytes().map(|free| free.saturating_add(wasted)),
            directory_groups: Some(groups as u64),
            ..self
        }
    }
}

/// Totals of the members of one group, which are added one by one.
#[derive(Clone, Debug)]
pub struct GroupTally {
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
pub struct FileSpace {
    /// Bytes on the disk and the number of hard links, if they are known.
    pub allocated: Option<(u64, u64)>,
    /// Bytes that other files share.
    pub shared: u64,
    /// Names in the group that are counted here.
    pub names: u64,
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
    pub fn new(size: u64, has_hard_links: bool) -> Self {
        let space = Space { is_known: true, shared: 0, most_shared: 0, frees: 0, least_freed: None };
        Self { size, names: 0, n_files: 0, space, has_hard_links, linked: HashMap::new() }
    }

    /// Adds a member. `file` is the number of its file in the group, and `space` the space of the file.
    pub fn add(&mut self, file: u64, space: FileSpace) {
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
        tally.add(group, None);
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
        assert_eq!((tally.files, tally.groups, tally.waste, tally.shared), (3, 1, 1000, 1000));
        assert_eq!((tally.free, tally.is_upper_bound), (Some(4096), true));
    }

    #[test]
    fn a_file_with_names_elsewhere_frees_nothing() {
        let one = tally(&[(1, 2, 8), (2, 1, 8)]);
        assert_eq!((one.free, one.is_upper_bound), (Some(4096), true), "the other one may be kept");
        let none = tally(&[(1, 2, 8), (2, 2, 8)]);
        assert_eq!((none.free, none.is_upper_bound), (Some(0), false));
    }

    #[test]
    fn a_total_without_a_plan_of_every_group_is_an_upper_bound() {
        let group = || {
            let mut group = GroupTally::new(1000, false);
            let space = FileSpace { allocated: Some((4096, 1)), shared: 0, names: 1 };
            (0..3).for_each(|file| group.add(file, space));
            group
        };
        let planned = Some(Gain { certain: 8192, ..Gain::default() });
        let mut tally = Tally::default();
        for (gain, expected) in [(planned, (8192, false)), (None, (16384, true)), (planned, (24576, true))] {
            tally.add(group(), gain);
            assert_eq!((tally.free.unwrap(), tally.is_upper_bound), expected);
        }
    }

    #[test]
    fn names_of_a_mount_that_is_seen_twice_are_one_file() {
        let tally = tally(&[(1, 1, 8), (2, 1, 8), (2, 1, 8), (1, 1, 8)]);
        assert_eq!((tally.files, tally.waste, tally.shared, tally.free), (4, 1000, 2000, Some(4096)));
    }

    #[test]
    fn groups_of_directories_free_something_too() {
        let empty = Tally::default();
        assert_eq!((empty.freed_bytes(), empty.with_directories(0, 0).freed_bytes()), (Some(0), Some(0)));
        assert_eq!(empty.with_directories(1, 500).freed_bytes(), Some(500));
        let files = Tally { groups: 1, free: Some(4096), ..empty };
        assert_eq!(files.with_directories(1, 500).freed_bytes(), Some(4596));
        let unknown = Tally { free: None, ..files };
        assert_eq!((unknown.freed_bytes(), unknown.with_directories(1, 500).freed_bytes()), (None, None));
    }

    #[test]
    fn extents_that_files_share_are_stored_once() {
        let mut group = GroupTally::new(8192, false);
        for file in 0..3 {
            group.add(file, FileSpace { allocated: Some((8192, 1)), shared: 4096, names: 1 });
        }
        let mut tally = Tally::default();
        tally.add(group.clone(), None);
        assert_eq!((tally.waste, tally.shared, tally.free), (16384, 8192, Some(8192)));
        tally.add(group, Some(Gain { certain: 4096, possible: 1000, is_held: false }));
        assert_eq!((tally.waste, tally.shared, tally.free), (32768, 16384, Some(8192 + 5096)));
        assert!(tally.is_upper_bound);
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
            tally.add(group, None);
        }
        assert_eq!((tally.groups, tally.waste, tally.free), (3, 3000, None));
    }
}
