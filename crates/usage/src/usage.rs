//! The finished table: directories with their sums, and how they contain each other.

use std::cmp::Ordering;

use ftk_file::Seal;
use ftk_inventory::Full;

use crate::leaves::{Largest, Leaf};
use crate::links::{Link, first_links};
use crate::names::{Names, Place};
use crate::part::Tally;
use crate::{Exclusive, Facts, Measure, Part, Sum, Unknown};

/// The space that trees use, by directory.
#[derive(Debug)]
pub struct Usage {
    dirs: Vec<Dir>,
    roots: Vec<DirId>,
    /// Kept entries other than directories, sorted by directory and then by name.
    files: Vec<FileOf>,
    /// The names that each worker found, and after them those of the largest files.
    names: Vec<Names>,
    /// The number of the first directory of each worker.
    starts: Vec<u32>,
    /// The seals of everything below each directory, if they were wanted.
    seals: Option<Vec<Seal>>,
    pub(crate) unknown: Vec<Unknown>,
    /// For each directory; empty if nothing was counted so.
    exclusives: Vec<Exclusive>,
}

/// A directory of a [`Usage`], or a starting point of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirId(u32);

impl DirId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that has a name in a [`Usage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A directory, or a starting point of another type.
    Dir(DirId),
    /// An entry that is not a directory. The number is valid for this [`Usage`].
    File(u32),
}

#[derive(Debug)]
struct Dir {
    sum: Sum,
    name: Place,
    /// `NONE` for a starting point.
    parent: u32,
    /// The directories in it are linked in a list.
    first_child: u32,
    next: u32,
    depth: u32,
    is_directory: bool,
}

#[derive(Debug)]
struct FileOf {
    dir: DirId,
    name: Place,
    apparent: u64,
    allocated: u64,
}

/// Refers to no directory.
const NONE: u32 = u32::MAX;

/// The memory that a directory needs here.
pub(crate) const BYTES_PER_DIR: usize = size_of::<Dir>() + size_of::<u32>();

impl Usage {
    /// Adds something that is not known although the walk did not fail.
    pub fn add_unknown(&mut self, unknown: Unknown) {
        self.unknown.push(unknown);
    }

    /// Joins the parts of all workers.
    ///
    /// An inode with several links counts for the link whose path is first: for the first starting point in the byte order
    /// of their paths with a slash at the end, and in it for the first path in byte order.
    ///
    /// # Errors
    /// If a part exceeded its budget, or if there are too many directories.
    pub fn merge(mut parts: Vec<Part>) -> Result<Self, Full> {
        if let Some(full) = parts.iter().find_map(|part| part.full) {
            return Err(full);
        }
        let total: usize = parts.iter().map(|part| part.dirs.len()).sum();
        if u32::try_from(total).is_err() || total == NONE as usize {
            return Err(Full::Directories);
        }
        let mut starts = Vec::with_capacity(parts.len());
        let mut start = 0;
        for part in &parts {
            starts.push(start);
            start += part.dirs.len() as u32;
        }
        let names = parts.iter_mut().map(|part| std::mem::take(&mut part.names)).collect();
        let dirs = Vec::with_capacity(total);
        let unknown = parts.iter_mut().flat_map(|part| std::mem::take(&mut part.unknown)).collect();
        let exclusives: Vec<_> = parts.iter_mut().filter_map(|part| part.exclusives.take()).collect();
        let (roots, files) = (Vec::new(), Vec::new());
        let exclusive_of_dirs = Vec::new();
        let mut usage =
            Self { dirs, roots, files, names, starts, seals: None, unknown, exclusives: exclusive_of_dirs };
        for part in &mut parts {
            usage.add_dirs(part);
        }
        for part in &mut parts {
            std::mem::take(&mut part.tallies).iter().for_each(|tally| usage.add_tally(tally));
        }
        usage.add_seals(&mut parts);
        usage.add_links_and_files(parts);
        if !exclusives.is_empty() {
            usage.exclusives = usage.exclusive_of_dirs(exclusives);
        }
        usage.add_up();
        Ok(usage)
    }

    fn add_dirs(&mut self, part: &mut Part) {
        for found in std::mem::take(&mut part.dirs) {
            let parent = if found.parent == Place::NONE { NONE } else { self.id(found.parent).0 };
            if parent == NONE {
                self.roots.push(DirId(self.dirs.len() as u32));
            }
            self.dirs.push(Dir {
                sum: Sum::default(),
                name: found.name,
                parent,
                first_child: NONE,
                next: NONE,
                depth: found.depth,
                is_directory: found.is_directory,
            });
        }
    }

    fn add_tally(&mut self, tally: &Tally) {
        let id = self.id(tally.node);
        self.dirs[id.0 as usize].sum += Sum {
            apparent: tally.apparent.into(),
            allocated: tally.allocated.into(),
            files: tally.files.into(),
            directories: tally.directories.into(),
        };
    }

    fn add_seals(&mut self, parts: &mut [Part]) {
        for (place, seal) in parts.iter_mut().filter_map(|part| part.seals.take()).flatten() {
            let id = self.id(place).0 as usize;
            let seals = self.seals.get_or_insert_with(|| vec![Seal::default(); self.dirs.len()]);
            seals[id] += seal;
        }
    }

    fn add_links_and_files(&mut self, mut parts: Vec<Part>) {
        let mut links = Vec::new();
        for part in &mut parts {
            // Most trees have few links. The first list is usually moved, not copied.
            let found = std::mem::take(&mut part.links);
            if links.is_empty() { links = found } else { links.extend(found) }
        }
        let links = first_links(links, self);
        for link in &links {
            let id = self.id(link.node);
            let sum = &mut self.dirs[id.0 as usize].sum;
            sum.apparent += u128::from(link.apparent);
            sum.allocated += u128::from(link.allocated);
        }
        let Some(keep) = parts.first().map(|part| part.keep).filter(|keep| keep.files) else { return };
        let is_file = |link: &&Link| link.name != Place::NONE;
        if keep.top.is_none() {
            let leaf = |link: &Link| Leaf {
                node: link.node,
                name: link.name,
                apparent: link.apparent,
                allocated: link.allocated,
            };
            let mut leaves: Vec<_> = links.iter().filter(is_file).map(leaf).collect();
            parts.iter_mut().for_each(|part| leaves.append(&mut part.leaves));
            for leaf in leaves {
                let (dir, apparent, allocated) = (self.id(leaf.node), leaf.apparent, leaf.allocated);
                self.files.push(FileOf { dir, name: leaf.name, apparent, allocated });
            }
        } else {
            let mut largest = Largest::new(keep.top.unwrap_or_default());
            parts.into_iter().filter_map(|part| part.largest).for_each(|part| largest.append(part));
            for link in links.iter().filter(is_file) {
                let facts = Facts { apparent: link.apparent, allocated: link.allocated, link: None };
                let size = match keep.measure {
                    Measure::Allocated => link.allocated,
                    Measure::Apparent => link.apparent,
                };
                largest.offer(size, link.node, &facts, || {
                    let mut path = self.path(Item::Dir(self.id(link.node)));
                    push_name(&mut path, self.name_at(link.name));
                    path
                });
            }
            let mut names = Names::default();
            let number = self.names.len();
            for (node, path, Facts { apparent, allocated, .. }) in largest.into_entries() {
                let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                let name = Place::new(number, names.push(name));
                self.files.push(FileOf { dir: self.id(node), name, apparent, allocated });
            }
            self.names.push(names);
        }
        let mut files = std::mem::take(&mut self.files);
        files.sort_unstable_by(|a, b| {
            a.dir.cmp(&b.dir).then_with(|| self.name_at(a.name).cmp(self.name_at(b.name)))
        });
        self.files = files;
    }

    /// Adds the sum of each directory to those above it, the deepest first, and links the directories in each other.
    fn add_up(&mut self) {
        let mut order: Vec<u32> = (0..self.dirs.len() as u32).collect();
        order.sort_unstable_by_key(|id| std::cmp::Reverse(self.dirs[*id as usize].depth));
        for id in order {
            let Dir { sum, parent, .. } = self.dirs[id as usize];
            if parent != NONE {
                self.dirs[id as usize].next = self.dirs[parent as usize].first_child;
                self.dirs[parent as usize].first_child = id;
                self.dirs[parent as usize].sum += sum;
                if let Some(seals) = &mut self.seals {
                    let seal = seals[id as usize];
                    seals[parent as usize] += seal;
                }
                if let Some(exclusive) = self.exclusives.get(id as usize).copied() {
                    self.exclusives[parent as usize] += exclusive;
                }
            }
        }
    }

    pub(crate) fn id(&self, place: Place) -> DirId {
        DirId(self.starts[place.worker()] + place.position() as u32)
    }

    fn name_at(&self, place: Place) -> &[u8] {
        if place == Place::NONE { b"" } else { self.names[place.worker()].get(place.position()) }
    }

    pub(crate) fn depth_of(&self, dir: DirId) -> u32 {
        self.dirs[dir.index()].depth
    }

    pub(crate) fn parent(&self, dir: DirId) -> Option<DirId> {
        let parent = self.dirs[dir.index()].parent;
        (parent != NONE).then_some(DirId(parent))
    }

    /// Returns the space of a directory that no other file shares, with everything below it; `None` if it was not counted.
    pub fn exclusive(&self, item: Item) -> Option<Exclusive> {
        match item {
            Item::Dir(dir) => self.exclusives.get(dir.index()).copied(),
            Item::File(_) => None,
        }
    }

    /// Returns the bytes by which items are ranked: those that no other file shares, if they were counted.
    pub fn bytes(&self, item: Item, measure: Measure) -> u128 {
        self.exclusive(item).map_or_else(|| self.sum_of(item).bytes(measure), |exclusive| exclusive.bytes)
    }

    /// Returns the starting points, in the order in which they were given.
    pub fn roots(&self) -> &[DirId] {
        &self.roots
    }

    /// Returns the number of kept directories.
    pub fn directories(&self) -> usize {
        self.dirs.len()
    }

    /// Returns the sum over a directory and everything below it.
    pub fn sum(&self, dir: DirId) -> Sum {
        self.dirs[dir.0 as usize].sum
    }

    /// Returns the seal of all entries below a directory, if [`Count::sealing`](crate::Count::sealing) asked for it.
    pub fn seal(&self, dir: DirId) -> Seal {
        self.seals.as_ref().map_or_else(Seal::default, |seals| seals[dir.0 as usize])
    }

    /// Returns the sum over all starting points.
    pub fn total(&self) -> Sum {
        self.roots.iter().fold(Sum::default(), |mut total, root| {
            total += self.sum(*root);
            total
        })
    }

    /// Returns the bytes over all starting points, as [`bytes`](Self::bytes) of each.
    pub fn total_bytes(&self, measure: Measure) -> u128 {
        self.roots.iter().map(|root| self.bytes(Item::Dir(*root), measure)).sum()
    }

    /// Returns the space that no other file shares over all starting points; `None` if it was not counted.
    pub fn total_exclusive(&self) -> Option<Exclusive> {
        let exclusives = self.roots.iter().map(|root| self.exclusive(Item::Dir(*root)));
        exclusives.reduce(|a, b| {
            let mut sum = a?;
            sum += b?;
            Some(sum)
        })?
    }

    /// Returns the sum over an item.
    pub fn sum_of(&self, item: Item) -> Sum {
        match item {
            Item::Dir(dir) => self.sum(dir),
            Item::File(file) => {
                let file = &self.files[file as usize];
                let (apparent, allocated) = (file.apparent.into(), file.allocated.into());
                Sum { apparent, allocated, files: 1, directories: 0 }
            }
        }
    }

    /// Returns the depth: `0` for a starting point.
    pub fn depth(&self, item: Item) -> u32 {
        match item {
            Item::Dir(dir) => self.dirs[dir.0 as usize].depth,
            Item::File(file) => self.depth(Item::Dir(self.files[file as usize].dir)) + 1,
        }
    }

    /// Returns whether an item is a directory.
    pub fn is_directory(&self, item: Item) -> bool {
        matches!(item, Item::Dir(dir) if self.dirs[dir.0 as usize].is_directory)
    }

    /// Returns the name without its directory; for a starting point the path as given.
    pub fn name(&self, item: Item) -> &[u8] {
        self.name_at(match item {
            Item::Dir(dir) => self.dirs[dir.0 as usize].name,
            Item::File(file) => self.files[file as usize].name,
        })
    }

    /// Returns the path: the starting point as given, joined with the names below it.
    pub fn path(&self, item: Item) -> Vec<u8> {
        let mut names = vec![self.name(item)];
        let mut above = match item {
            Item::Dir(dir) => self.dirs[dir.0 as usize].parent,
            Item::File(file) => self.files[file as usize].dir.0,
        };
        while above != NONE {
            names.push(self.name(Item::Dir(DirId(above))));
            above = self.dirs[above as usize].parent;
        }
        let mut path = names.pop().unwrap_or_default().to_vec();
        names.iter().rev().for_each(|name| push_name(&mut path, name));
        path
    }

    /// Returns the kept entries directly in a directory, in no particular order.
    pub fn children(&self, dir: DirId) -> impl Iterator<Item = Item> {
        let first = self.dirs[dir.0 as usize].first_child;
        let valid = |id: u32| (id != NONE).then_some(DirId(id));
        let dirs = std::iter::successors(valid(first), move |dir| valid(self.dirs[dir.0 as usize].next))
            .map(Item::Dir);
        let start = self.files.partition_point(|file| file.dir < dir);
        let files = self.files[start..].iter().take_while(move |file| file.dir == dir);
        dirs.chain(files.zip(start as u32..).map(|(_, file)| Item::File(file)))
    }

    /// Returns all kept entries that are not directories.
    pub(crate) fn kept_files(&self) -> impl Iterator<Item = Item> {
        (0..self.files.len() as u32).map(Item::File)
    }

    /// Compares the paths of two links of one inode.
    pub(crate) fn cmp_links(&self, a: &Link, b: &Link) -> Ordering {
        let (mut at, mut bt) = (self.id(a.node).0, self.id(b.node).0);
        // The parts of the paths below the directories that are compared.
        let (mut a_part, mut b_part) = (Below::File(a.name), Below::File(b.name));
        let up = |at: &mut u32, part: &mut Below| {
            *part = Below::Dir(*at);
            *at = self.dirs[*at as usize].parent;
        };
        while at != bt {
            let depth = |at: u32| if at == NONE { 0 } else { u64::from(self.dirs[at as usize].depth) + 1 };
            match depth(at).cmp(&depth(bt)) {
                Ordering::Greater => up(&mut at, &mut a_part),
                Ordering::Less => up(&mut bt, &mut b_part),
                Ordering::Equal => {
                    up(&mut at, &mut a_part);
                    up(&mut bt, &mut b_part);
                }
            }
        }
        let bytes = |part: Below| match part {
            Below::File(name) => (self.name_at(name), None),
            Below::Dir(dir) => (self.name(Item::Dir(DirId(dir))), Some(b'/')),
        };
        let ((a_name, a_end), (b_name, b_end)) = (bytes(a_part), bytes(b_part));
        a_name.iter().copied().chain(a_end).cmp(b_name.iter().copied().chain(b_end))
    }
}

/// The part of a path directly below the directory that two paths share.
#[derive(Clone, Copy)]
enum Below {
    File(Place),
    Dir(u32),
}

/// Appends a name to the path of its directory.
pub(crate) fn push_name(path: &mut Vec<u8>, name: &[u8]) {
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}
