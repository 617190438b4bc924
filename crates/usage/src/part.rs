//! What one worker counts.

use ftk_file::Seal;
use ftk_inventory::{Budget, Full};

use crate::exclusive::{Exclusive, ExclusiveLink, Exclusives};
use crate::leaves::{Largest, Leaf};
use crate::links::{Link, compact};
use crate::names::{Names, Place};
use crate::{Facts, Keep, Measure};

/// A directory, or a starting point of another type, while it is counted. It may be passed to other workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    pub(crate) place: Place,
    pub(crate) depth: u32,
    /// Whether this is deeper than what is kept. `place` is that of the nearest kept directory above.
    is_folded: bool,
}

/// What a worker counts, and the directories that it finds.
#[derive(Debug)]
pub struct Part {
    worker: usize,
    pub(crate) keep: Keep,
    pub(crate) dirs: Vec<FoundDir>,
    pub(crate) names: Names,
    pub(crate) tallies: Vec<Tally>,
    pub(crate) links: Vec<Link>,
    /// The number of links at which those that need not be kept are removed.
    compact_at: usize,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) largest: Option<Largest>,
    /// The seals of entries by their directories, if they are wanted.
    pub(crate) seals: Option<Vec<(Place, Seal)>>,
    pub(crate) exclusives: Option<Exclusives>,
    pub(crate) unknown: Vec<Unknown>,
    unknown_bytes: usize,
    budget: Budget,
    reserved: u64,
    pub(crate) full: Option<Full>,
}

/// A kept directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundDir {
    pub(crate) parent: Place,
    pub(crate) name: Place,
    pub(crate) depth: u32,
    pub(crate) is_directory: bool,
}

/// Something that could not be examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The path below the starting point; empty or `.` for the starting point itself.
    pub path: Vec<u8>,
    /// Whether it is a directory. If it is not, it may still be one.
    pub is_directory: bool,
}

/// The sum of some entries of a directory. If a number would overflow, the directory gets another tally.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) node: Place,
    pub(crate) apparent: u64,
    pub(crate) allocated: u64,
    pub(crate) files: u32,
    pub(crate) directories: u32,
}

/// Bytes reserved from the budget at a time.
const UNIT: u64 = 64 << 10;
/// Links that are kept without being compared.
const FEW_LINKS: usize = 1 << 16;

impl Part {
    /// Creates an empty part for worker number `worker`, which takes its memory from `budget`.
    pub fn new(worker: usize, keep: &Keep, budget: &Budget) -> Self {
        Self {
            worker,
            keep: *keep,
            dirs: Vec::new(),
            names: Names::default(),
            tallies: Vec::new(),
            links: Vec::new(),
            compact_at: FEW_LINKS,
            leaves: Vec::new(),
            largest: keep.top.filter(|_| keep.files).map(Largest::new),
            seals: None,
            exclusives: None,
            unknown: Vec::new(),
            unknown_bytes: 0,
            budget: budget.clone(),
            reserved: 0,
            full: None,
        }
    }

    /// Adds a starting point.
    pub fn root(&mut self, path: &[u8], is_directory: bool) -> Node {
        self.found(Place::NONE, path, 0, is_directory)
    }

    /// Adds a directory below `parent`. What it uses itself is added by [`add_directory`](Self::add_directory).
    pub fn directory(&mut self, parent: Node, name: &[u8]) -> Node {
        let depth = parent.depth.saturating_add(1);
        if parent.is_folded || !self.keep.reaches(depth) {
            return Node { place: parent.place, depth, is_folded: true };
        }
        self.found(parent.place, name, depth, true)
    }

    fn found(&mut self, parent: Place, name: &[u8], depth: u32, is_directory: bool) -> Node {
        let place = Place::new(self.worker, self.dirs.len());
        let name = Place::new(self.worker, self.names.push(name));
        self.dirs.push(FoundDir { parent, name, depth, is_directory });
        Node { place, depth, is_folded: false }
    }

    /// Counts what a directory itself uses, or a starting point that is not a directory.
    pub fn add_directory(&mut self, node: Node, facts: &Facts, is_directory: bool) {
        if is_directory && self.keep.without_directories {
            return;
        }
        let facts = &self.keep.counted(facts);
        let (files, directories) = if is_directory { (0, 1) } else { (1, 0) };
        match facts.link {
            None => self.tally(node.place, facts, files, directories),
            Some(_) => {
                self.tally(node.place, &Facts::default(), files, directories);
                self.link(node, Place::NONE, facts);
            }
        }
    }

    /// Counts an entry of `node` that is not a directory. `path` is called only if the path must be kept.
    pub fn add_file(&mut self, node: Node, name: &[u8], facts: &Facts, path: impl FnOnce() -> Vec<u8>) {
        let facts = &self.keep.counted(facts);
        let is_kept = self.keep.files && !node.is_folded && self.keep.reaches(node.depth + 1);
        if facts.link.is_some() {
            self.tally(node.place, &Facts::default(), 1, 0);
            // Where nothing below a directory is kept, its links need no order among themselves.
            let is_named = !node.is_folded && self.keep.reaches(node.depth + 1);
            let name = if is_named { Place::new(self.worker, self.names.push(name)) } else { Place::NONE };
            return self.link(node, name, facts);
        }
        self.tally(node.place, facts, 1, 0);
        if !is_kept {
            return;
        }
        match &mut self.largest {
            Some(largest) => {
                let size = match self.keep.measure {
                    Measure::Allocated => facts.allocated,
                    Measure::Apparent => facts.apparent,
                };
                largest.offer(size, node.place, facts, path);
            }
            None => {
                let name = Place::new(self.worker, self.names.push(name));
                let Facts { apparent, allocated, .. } = *facts;
                self.leaves.push(Leaf { node: node.place, name, apparent, allocated });
            }
        }
    }

    /// Counts the bytes of a regular file in `node` that no other file shares; `None` if they are not known. `links`: the number
    /// of its hard links, and its device and inode numbers.
    pub fn add_exclusive(&mut self, node: Node, bytes: Option<u64>, (links, inode): (u64, (u64, u64))) {
        let exclusives = self.exclusives.get_or_insert_default();
        match links {
            0..=1 => exclusives.add(node.place, Exclusive::of(bytes)),
            _ => exclusives.links.push(ExclusiveLink { inode, links, node: node.place, bytes }),
        }
    }

    /// Notes something that could not be examined. A [`Difference`](crate::Difference) does not count what is there.
    pub fn add_unknown(&mut self, unknown: Unknown) {
        self.unknown_bytes += unknown.path.len() + 2 * size_of::<Unknown>();
        self.unknown.push(unknown);
    }

    fn tally(&mut self, node: Place, facts: &Facts, files: u32, directories: u32) {
        if let Some(last) = self.tallies.last_mut().filter(|last| last.node == node)
            && let Some(apparent) = last.apparent.checked_add(facts.apparent)
            && let Some(allocated) = last.allocated.checked_add(facts.allocated)
            && let Some(files) = last.files.checked_add(files)
            && let Some(directories) = last.directories.checked_add(directories)
        {
            *last = Tally { node, apparent, allocated, files, directories };
            return;
        }
        let Facts { apparent, allocated, .. } = *facts;
        self.tallies.push(Tally { node, apparent, allocated, files, directories });
    }

    /// Adds the seal of an entry of `node`.
    pub(crate) fn seal(&mut self, node: Node, seal: Seal) {
        let Some(seals) = &mut self.seals else { return };
        match seals.last_mut().filter(|(last, _)| *last == node.place) {
            Some((_, sum)) => *sum += seal,
            None => seals.push((node.place, seal)),
        }
    }

    fn link(&mut self, node: Node, name: Place, facts: &Facts) {
        let Some((dev, ino)) = facts.link else { return };
        let (apparent, allocated) = (facts.apparent, facts.allocated);
        self.links.push(Link { dev, ino, node: node.place, name, apparent, allocated });
        if self.links.len() >= self.compact_at {
            compact(&mut self.links);
            self.compact_at = (self.links.len() * 2).max(FEW_LINKS);
        }
    }

    /// Reserves memory for what was added, now and then. Returns `false` if it exceeds the budget;
    /// [`Usage::merge`](crate::Usage::merge) then returns the error.
    pub fn reserve(&mut self) -> bool {
        // Merging needs a second table of the directories, and a list of their order.
        let per_dir = size_of::<FoundDir>() + crate::usage::BYTES_PER_DIR;
        let bytes = self.dirs.len() * per_dir
            + self.names.bytes()
            + self.tallies.capacity() * size_of::<Tally>()
            + self.links.capacity() * size_of::<Link>() * 2
            + self.leaves.capacity() * size_of::<Leaf>() * 2
            + self.seals.as_ref().map_or(0, |it| it.capacity() * size_of::<(Place, Seal)>() * 2)
            + self.exclusives.as_ref().map_or(0, Exclusives::bytes)
            + self.unknown_bytes;
        while bytes as u64 > self.reserved && self.full.is_none() {
            match self.budget.reserve(UNIT) {
                Ok(()) => self.reserved += UNIT,
                Err(full) => self.full = Some(full),
            }
        }
        self.full.is_none()
    }
}
