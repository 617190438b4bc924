//! Groups in the order in which they are reported.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use ftk_inventory::{FileNo, Inventory, Opener, is_pseudo};

use crate::found::Equal;
use crate::links::Links;
use crate::names::{Name, Names};

/// Groups of identical files, sorted by wasted space (largest first), then by first path.
#[derive(Debug)]
pub struct Groups {
    records: Vec<Record>,
    /// The names of all files. The names of one cluster are next to each other.
    files: Vec<FileNo>,
    /// Where each cluster ends in `files`.
    ends: Vec<u32>,
    digests: Vec<u8>,
    width: usize,
}

#[derive(Clone, Debug)]
struct Record {
    size: u64,
    is_synthetic: bool,
    clusters: Range<u32>,
    /// The index of the digest.
    digest: u32,
    /// The rank of the group's first name.
    rank: u32,
}

/// Two or more identical files. Each has one or more names.
#[derive(Clone, Copy, Debug)]
pub struct Group<'g> {
    /// The size of each file, in bytes.
    pub size: u64,
    is_synthetic: bool,
    /// The digest of each file.
    pub digest: &'g [u8],
    files: &'g [FileNo],
    /// Where the clusters end in the list of all files. `start` is the index of the group's first file in
    /// that list.
    ends: &'g [u32],
    start: u32,
}

/// Totals of all groups. Byte totals are at most `u64::MAX`, which the sizes of sparse files can exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of names in all groups.
    pub files: u64,
    /// The number of groups.
    pub groups: u64,
    /// The number of files in all groups, with hard links counted once.
    pub clusters: u64,
    /// Wasted bytes: the sizes of all files except one in each group, with hard links counted once.
    pub wasted: u64,
    /// Bytes saved by hard links: the space that these names would need as separate files.
    pub shared: u64,
}

impl Groups {
    pub(crate) fn new(inventory: &Inventory, links: &Links, equal: Equal) -> Self {
        let mut names = Names::new(inventory, links, &equal);
        let (mut opener, mut devices) = (Opener::new(inventory), BTreeMap::new());
        let (mut records, mut files, mut ends) = (Vec::with_capacity(equal.len()), Vec::new(), Vec::new());
        for ((digest, set), names) in (0..).zip(equal.iter()).zip(names.of_sets()) {
            names.sort_unstable();
            // Names with the same inode are one file, even if the walk did not see them as hard links. For
            // example, a directory may be mounted twice.
            let mut clusters: Vec<_> = names.chunk_by(|a, b| a.identity == b.identity).collect();
            if clusters.len() < 2 {
                continue;
            }
            clusters.sort_unstable_by_key(|names| names[0].rank);
            let (start, rank) = (ends.len() as u32, clusters[0][0].rank);
            for cluster in clusters {
                files.extend(cluster.iter().map(|name| FileNo(name.file)));
                ends.push(files.len() as u32);
            }
            let Name { identity: (dev, _), file, .. } = names[0];
            let mut open = |file| opener.open_file(inventory.dir_of(file), file);
            let is_synthetic = *devices.entry(dev).or_insert_with(|| open(FileNo(file)).is_ok_and(is_pseudo));
            let clusters = start..ends.len() as u32;
            records.push(Record { size: set.size, is_synthetic, clusters, digest, rank });
        }
        let Equal { digests, width, .. } = equal;
        let mut groups = Self { records: Vec::new(), files, ends, digests, width };
        records.sort_unstable_by_key(|record| (Reverse(groups.group(record).wasted()), record.rank));
        groups.records = records;
        groups
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are no duplicates.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the groups in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Group<'_>> {
        self.records.iter().map(|record| self.group(record))
    }

    /// Replaces the clusters of each group with those that `map` returns, and removes groups with fewer than two.
    pub(crate) fn map(self, mut map: impl FnMut(&[&[FileNo]]) -> Vec<Vec<FileNo>>) -> Self {
        let (mut records, mut files, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for record in &self.records {
            let clusters: Vec<_> = self.group(record).clusters().collect();
            let clusters = map(&clusters);
            if clusters.len() < 2 {
                continue;
            }
            let start = ends.len() as u32;
            for names in clusters {
                files.extend(names);
                ends.push(files.len() as u32);
            }
            records.push(Record { clusters: start..ends.len() as u32, ..record.clone() });
        }
        let mut groups = Self { records: Vec::new(), files, ends, ..self };
        records.sort_unstable_by_key(|record| (Reverse(groups.group(record).wasted()), record.rank));
        groups.records = records;
        groups
    }

    /// Returns the totals of all groups.
    pub fn totals(&self) -> Totals {
        self.iter().fold(Totals::default(), |sum, group| Totals {
            files: sum.files + group.files.len() as u64,
            groups: sum.groups + 1,
            clusters: sum.clusters + group.ends.len() as u64,
            wasted: sum.wasted.saturating_add(group.wasted()),
            shared: sum.shared.saturating_add(group.shared()),
        })
    }

    fn group(&self, record: &Record) -> Group<'_> {
        let Range { start, end } = record.clusters;
        let ends = &self.ends[start as usize..end as usize];
        let start = start.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        Group {
            size: record.size,
            is_synthetic: record.is_synthetic,
            digest: &self.digests[record.digest as usize * self.width..][..self.width],
            files: &self.files[start as usize..*ends.last().expect("a group has clusters") as usize],
            ends,
            start,
        }
    }
}

impl<'g> Group<'g> {
    /// Returns the names of each file. Names are sorted by path, and files by their first path.
    pub fn clusters(&self) -> impl ExactSizeIterator<Item = &'g [FileNo]> + use<'g> {
        let Self { files, ends, start, .. } = *self;
        (0..ends.len()).map(move |nth| {
            let from = nth.checked_sub(1).map_or(start, |before| ends[before]);
            &files[(from - start) as usize..(ends[nth] - start) as usize]
        })
    }

    /// Returns all names, cluster by cluster.
    pub fn files(&self) -> &'g [FileNo] {
        self.files
    }

    /// Whether a file has several names in the group.
    pub fn has_hard_links(&self) -> bool {
        self.files.len() > self.ends.len()
    }

    /// Whether the kernel reports a synthetic size, as in procfs. Such files take no disk space.
    pub fn is_synthetic(&self) -> bool {
        self.is_synthetic
    }

    /// Returns the bytes of all files except one; 0 if the size is synthetic.
    pub fn wasted(&self) -> u64 {
        self.stored().saturating_mul(self.ends.len() as u64 - 1)
    }

    /// Returns the bytes saved by hard links: the space that these names would need as separate files.
    pub fn shared(&self) -> u64 {
        self.stored().saturating_mul((self.files.len() - self.ends.len()) as u64)
    }

    /// Returns the stored size of each file in bytes; 0 if the size is synthetic.
    fn stored(&self) -> u64 {
        if self.is_synthetic { 0 } else { self.size }
    }
}
