//! Groups in the order in which they are reported.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ftk_inventory::{FileNo, Inventory, Opener, is_pseudo};

use crate::found::Equal;
use crate::links::Links;
use crate::names::{Name, Names};
use crate::open::open;

/// Groups of identical files: the largest waste first, then by the first path.
#[derive(Debug)]
pub struct Groups {
    records: Vec<Record>,
    /// The names of all files, those of a cluster beside each other.
    files: Vec<FileNo>,
    /// Where each cluster ends in them.
    ends: Vec<u32>,
    digests: Vec<u8>,
    width: usize,
    synthetic: BTreeSet<u64>,
}

#[derive(Clone, Debug)]
struct Record {
    size: u64,
    is_synthetic: bool,
    clusters: Range<u32>,
    /// Number of the digest.
    digest: u32,
    /// The rank of its first name.
    rank: u32,
}

/// Files of the same content: at least two, each with one name or more.
#[derive(Clone, Copy, Debug)]
pub struct Group<'g> {
    /// The size of each in bytes.
    pub size: u64,
    /// Whether the kernel makes that size up: then they take no space.
    is_synthetic: bool,
    /// The digest of each.
    pub digest: &'g [u8],
    files: &'g [FileNo],
    /// Where the clusters end, counted from `start` before the first file.
    ends: &'g [u32],
    start: u32,
}

/// What all groups come to. Where sizes of sparse files add up to more than can be counted, the largest number
/// stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Names in all groups.
    pub files: u64,
    /// Groups.
    pub groups: u64,
    /// Files in all groups, whatever the number of their names.
    pub clusters: u64,
    /// Bytes of all files but one in each group.
    pub wasted: u64,
    /// Bytes that further names would take if they were files of their own.
    pub shared: u64,
}

impl Groups {
    pub(crate) fn new(inventory: &Inventory, links: &Links, equal: Equal) -> Self {
        let mut names = Names::new(inventory, links, &equal);
        let (mut opener, mut devices) = (Opener::new(inventory), BTreeMap::new());
        let (mut records, mut files, mut ends) = (Vec::with_capacity(equal.len()), Vec::new(), Vec::new());
        for ((digest, set), names) in (0..).zip(equal.iter()).zip(names.of_sets()) {
            names.sort_unstable();
            // Also what has not been counted as a link is one file if it is one inode: a directory may be
            // mounted twice.
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
            let is_synthetic = *devices
                .entry(dev)
                .or_insert_with(|| open(inventory, &mut opener, FileNo(file)).is_ok_and(is_pseudo));
            let clusters = start..ends.len() as u32;
            records.push(Record { size: set.size, is_synthetic, clusters, digest, rank });
        }
        let Equal { digests, width, .. } = equal;
        let synthetic = devices.into_iter().filter(|(_, is)| *is).map(|(dev, _)| dev).collect();
        let mut groups = Self { records: Vec::new(), files, ends, digests, width, synthetic };
        records.sort_unstable_by_key(|record| (Reverse(groups.group(record).wasted()), record.rank));
        groups.records = records;
        groups
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing is there twice.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// In their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Group<'_>> {
        self.records.iter().map(|record| self.group(record))
    }

    /// The devices, among those of the groups, whose files have sizes that the kernel makes up.
    pub fn synthetic(&self) -> &BTreeSet<u64> {
        &self.synthetic
    }

    /// The sums over all groups.
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
    /// The names of each file, by path; the files by their first paths.
    pub fn clusters(&self) -> impl ExactSizeIterator<Item = &'g [FileNo]> + use<'g> {
        let Self { files, ends, start, .. } = *self;
        (0..ends.len()).map(move |nth| {
            let from = nth.checked_sub(1).map_or(start, |before| ends[before]);
            &files[(from - start) as usize..(ends[nth] - start) as usize]
        })
    }

    /// All names, cluster by cluster.
    pub fn files(&self) -> &'g [FileNo] {
        self.files
    }

    /// Bytes of all files but one; none where the kernel makes sizes up.
    pub fn wasted(&self) -> u64 {
        self.stored().saturating_mul(self.ends.len() as u64 - 1)
    }

    /// Bytes that further names would take if they were files of their own.
    pub fn shared(&self) -> u64 {
        self.stored().saturating_mul((self.files.len() - self.ends.len()) as u64)
    }

    /// The bytes of each as far as they are stored anywhere.
    fn stored(&self) -> u64 {
        if self.is_synthetic { 0 } else { self.size }
    }
}
