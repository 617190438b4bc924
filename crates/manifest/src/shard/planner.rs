//! Makes plans from trees and manifests, in one pass and with little memory.

use std::fs::File;

use ftk_hash::{Algorithm, Platform};
use ftk_sched::Constants;
use ftk_walk::FileType;

use crate::entry::{ROOT, key};
use crate::merge::Side as _;
use crate::parse::Owned;
use crate::shard::{Balance, PathRange, Plan, PlannedShard, Root, Shard};
use crate::{EntryError, Error, Header, Manifest, Mount, WalkedTree, canonical};

/// A cut is placed at one of the places that are remembered: at least this many for each shard, so that a shard
/// deviates from the mean by less than 1/128 of it, besides the size of single files.
const PLACES_PER_SHARD: usize = 256;

/// The times of finding, examining and recording an entry, in percent of that of reading a small file.
///
/// Measured as the processor time of `ftk manifest create --threads 1` for 20,000 entries of a kind (ext4, cached): 3.1 µs
/// for a file with `--no-content`, 5.1 µs for a link, 12.8 µs for an empty directory; reading a file of one byte added
/// 5.3 µs.
const FILE_PERCENT: u64 = 60;
const LINK_PERCENT: u64 = 95;
const DIR_PERCENT: u64 = 240;

/// The predicted time for one worker to record entries whose files are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// For each regular file, in picoseconds.
    file: u64,
    dir: u64,
    /// For each entry of another type.
    link: u64,
    /// For each byte of a regular file.
    byte: u64,
}

impl Cost {
    /// Creates the costs on a machine with these constants. Without algorithms, no file is read.
    pub fn new(constants: &Constants, algorithms: &[Algorithm], platform: Platform) -> Self {
        const PICOS: f64 = 1e12;
        let percent = |percent: u64| constants.file_ns * 10 * percent;
        let (file, dir, link) = (percent(FILE_PERCENT), percent(DIR_PERCENT), percent(LINK_PERCENT));
        if algorithms.is_empty() {
            return Self { file, dir, link, byte: 0 };
        }
        let digest = |algorithm: &Algorithm| {
            let kernel = format!("{}/{}", algorithm.name(), algorithm.kernel_name(platform));
            let speed = constants.digest_bytes_per_s.get(&kernel);
            PICOS / speed.map_or(1e9, |speed| *speed as f64)
        };
        let memory = PICOS / constants.memory_one_bytes_per_s as f64;
        let byte = memory + algorithms.iter().map(digest).sum::<f64>();
        Self { file: file + percent(100), dir, link, byte: byte as u64 }
    }
}

/// Divides the entries of a tree into shards.
#[derive(Debug)]
pub struct Planner {
    shards: u32,
    by: Balance,
    cost: Cost,
    /// The sums of all entries so far.
    total: Sums,
    /// Places between entries, ascending, at least `step` apart by weight.
    places: Vec<CutPlace>,
    step: u128,
    mounts: Vec<Mount>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    weight: u128,
    entries: u64,
    bytes: u64,
}

/// A place where a shard may start.
#[derive(Debug)]
struct CutPlace {
    /// The path of the first entry after it.
    path: Vec<u8>,
    /// The sums of all entries before it.
    before: Sums,
}

impl Planner {
    /// Creates a planner for this number of shards.
    ///
    /// # Panics
    /// If `shards` is 0 or more than [`Shard::MOST`].
    pub fn new(shards: u32, by: Balance, cost: Cost) -> Self {
        assert!((1..=Shard::MOST).contains(&shards), "{shards} shards");
        let (places, mounts) = (Vec::new(), Vec::new());
        Self { shards, by, cost, total: Sums::default(), places, step: 0, mounts }
    }

    /// Adds all entries of a tree. It must have been walked with the metadata of regular files, unless the shards are
    /// balanced by entries.
    ///
    /// # Errors
    /// None at present.
    pub fn add_tree(&mut self, tree: &WalkedTree<'_>) -> Result<(), Error> {
        let mut walk = tree.walk();
        while walk.advance()? {
            let seen = &walk.seen;
            self.add(&seen.path, seen.file_type, seen.metadata.map_or(0, |stat| stat.size));
        }
        self.mounts = tree.mounts();
        Ok(())
    }

    /// Adds all entries of a manifest.
    ///
    /// # Errors
    /// If it cannot be read, or has an invalid line.
    pub fn add_manifest(&mut self, manifest: &Manifest) -> Result<(), Error> {
        let mut entries = manifest.entries()?;
        while let Some(entry) = entries.next()? {
            self.add(entry.path, entry.stat.file_type, entry.size().unwrap_or(0));
        }
        self.mounts.clone_from(&manifest.header().mounts);
        Ok(())
    }

    /// Adds all entries of a manifest to the planner that `begin` makes for its algorithms. Returns the planner, the
    /// header, and the recorded root.
    ///
    /// # Errors
    /// If the file is not a whole manifest, or an entry is out of order.
    pub fn of_manifest(
        file: File,
        begin: impl Fn(&[Algorithm]) -> Self,
    ) -> Result<(Self, Header, Root), Error> {
        let mut owned = Owned::new();
        let mut planner = None;
        let mut last: Option<Vec<u8>> = None;
        let manifest = Manifest::scan(file, |header, number, line| {
            let is_first = last.is_none();
            let (path, file_type, size) = match canonical::head(line).filter(|_| !is_first) {
                Some(head) => head,
                None => {
                    owned.read(line, header).map_err(|what| Error::Line { number, what })?;
                    let entry = owned.entry();
                    (entry.path, entry.stat.file_type, entry.size().unwrap_or(0))
                }
            };
            let last = last.get_or_insert_default();
            if !is_first && key(last) >= key(path) {
                return Err(Error::Line { number, what: EntryError::Order(path.to_vec()) });
            }
            last.clear();
            last.extend_from_slice(path);
            planner.get_or_insert_with(|| begin(&header.algorithms)).add(path, file_type, size);
            Ok(())
        })?;
        let header = manifest.whole()?.header().clone();
        let mut planner = planner.unwrap_or_else(|| begin(&header.algorithms));
        planner.mounts.clone_from(&header.mounts);
        let root = Root::of(&header);
        Ok((planner, header, root))
    }

    /// Adds the next entry.
    fn add(&mut self, path: &[u8], file_type: FileType, size: u64) {
        let is_file = file_type == FileType::Regular;
        let bytes = if is_file { size } else { 0 };
        // The root belongs to the first shard.
        let since = self.total.weight - self.places.last().map_or(0, |place| place.before.weight);
        if path != ROOT && (since >= self.step || self.places.is_empty()) {
            self.places.push(CutPlace { path: path.to_vec(), before: self.total });
            if self.places.len() >= 2 * PLACES_PER_SHARD * self.shards as usize {
                self.thin_out();
            }
        }
        let weight = match self.by {
            Balance::Entries => 1,
            // So that entries without bytes are divided too.
            Balance::Bytes => u128::from(bytes.max(1)),
            Balance::Cost => {
                let entry = match file_type {
                    FileType::Regular => self.cost.file,
                    FileType::Directory => self.cost.dir,
                    // Any future type is not read either.
                    _ => self.cost.link,
                };
                u128::from(entry) + u128::from(self.cost.byte) * u128::from(bytes)
            }
        };
        let total = &mut self.total;
        total.weight += weight;
        total.entries += 1;
        total.bytes = total.bytes.saturating_add(bytes); // a manifest may contain any size
    }

    /// Forgets places, so that enough remain for each shard.
    fn thin_out(&mut self) {
        let most = (PLACES_PER_SHARD * self.shards as usize) as u128;
        self.step = (self.total.weight / most).max(self.step * 2).max(1);
        let (step, mut last) = (self.step, None);
        self.places.retain(|place| {
            let is_kept = last.is_none_or(|last| place.before.weight - last >= step);
            if is_kept {
                last = Some(place.before.weight);
            }
            is_kept
        });
    }

    /// Returns the plan of a tree with this root whose entries were selected by these options.
    pub fn finish(self, root: Root, options: Vec<Vec<u8>>) -> Plan {
        let Self { shards, by, total, mut places, mounts, .. } = self;
        if places.is_empty() {
            // An empty tree may get entries. Any path divides them.
            places.push(CutPlace { path: b"a".to_vec(), before: total });
        }
        let cut = |nth: u32| {
            let target = total.weight * u128::from(nth) / u128::from(shards);
            let after = places.partition_point(|place| place.before.weight < target).min(places.len() - 1);
            let distance = |at: usize| places[at].before.weight.abs_diff(target);
            let is_nearer = after > 0 && distance(after - 1) <= distance(after);
            &places[if is_nearer { after - 1 } else { after }]
        };
        let mut start = (None, Sums::default());
        let shards = (1..=shards).map(|nth| {
            let cut = (nth < shards).then(|| cut(nth));
            let (from, first) = start;
            let (to, end) = (cut.map(|place| &*place.path), cut.map_or(total, |place| place.before));
            start = (to, end);
            PlannedShard {
                range: PathRange::new(from, to),
                entries: end.entries - first.entries,
                bytes: end.bytes - first.bytes,
            }
        });
        Plan { root, mounts, options, by, shards: shards.collect() }
    }
}
