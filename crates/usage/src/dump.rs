//! Writes a whole tree in the JSON of ncdu.

use std::collections::HashSet;
use std::io;
use std::ops::Range;

use ftk_inventory::{Budget, Full};
use ftk_record::{NcduMissing, NcduObject, write_ncdu_object, write_ncdu_start};
use ftk_walk::{Directory, Entry, Fields, FileType, Metadata, Step, Visitor, WalkError};

use crate::names::Place;

/// The visitor that writes the objects of the entries that one worker of a walk is shown, each directory for itself.
#[derive(Debug)]
pub struct Dump {
    worker: usize,
    dirs: Vec<DumpedDir>,
    /// The objects of the contents of directories, and of directories.
    text: Vec<u8>,
    /// The text of each directory that was listed.
    bodies: Vec<(Place, Range<usize>)>,
    /// The entries of the current directory: their names and the objects in `text`.
    current: Vec<(Vec<u8>, Range<usize>)>,
    body_start: usize,
    dev: u64,
    root_dev: u64,
    shown: Option<Metadata>,
    /// What could not be examined or listed.
    pub errors: Vec<WalkError>,
    budget: Budget,
    reserved: u64,
    full: Option<Full>,
}

#[derive(Debug)]
struct DumpedDir {
    parent: Place,
    name: Vec<u8>,
    metadata: Option<Metadata>,
    parent_dev: Option<u64>,
    root_dev: u64,
}

/// Bytes reserved from the budget at a time.
const UNIT: u64 = 1 << 20;

impl Dump {
    /// Creates a visitor for worker number `worker`, which takes its memory from `budget`.
    pub fn new(worker: usize, budget: &Budget) -> Self {
        Self {
            worker,
            dirs: Vec::new(),
            text: Vec::new(),
            bodies: Vec::new(),
            current: Vec::new(),
            body_start: 0,
            dev: 0,
            root_dev: 0,
            shown: None,
            errors: Vec::new(),
            budget: budget.clone(),
            reserved: 0,
            full: None,
        }
    }

    fn reserve(&mut self) {
        let bytes = self.text.capacity() + self.dirs.capacity() * (size_of::<DumpedDir>() * 2 + 64);
        while bytes as u64 > self.reserved && self.full.is_none() {
            match self.budget.reserve(UNIT) {
                Ok(()) => self.reserved += UNIT,
                Err(full) => self.full = Some(full),
            }
        }
    }

    fn show_root(&mut self, root: &mut Entry<'_>) -> Step {
        match root.metadata() {
            Ok(metadata) => {
                self.root_dev = metadata.dev;
                self.shown = Some(*metadata);
            }
            Err(error) => self.errors.push(error),
        }
        Step::Descend
    }
}

/// Appends the object of an entry. `parent_dev` is the device of the directory that contains it.
fn push(
    out: &mut Vec<u8>,
    name: &[u8],
    metadata: &Metadata,
    parent_dev: Option<u64>,
    missing: Option<NcduMissing>,
) {
    let is_directory = metadata.file_type == FileType::Directory;
    write_ncdu_object(
        out,
        &NcduObject {
            name,
            apparent_bytes: Some(metadata.size),
            allocated_bytes: Some(metadata.blocks.saturating_mul(512)),
            dev: (parent_dev != Some(metadata.dev)).then_some(metadata.dev),
            link: (!is_directory && metadata.nlink > 1).then_some((metadata.ino, metadata.nlink)),
            is_special: !is_directory && metadata.file_type != FileType::Regular,
            missing,
            ..NcduObject::default()
        },
    );
}

impl Visitor for Dump {
    type Dir = Place;

    fn descend(&mut self, from: Option<&Place>, entry: &mut Entry<'_>) -> Place {
        let place = Place::new(self.worker, self.dirs.len());
        self.dirs.push(DumpedDir {
            parent: from.copied().unwrap_or(Place::NONE),
            name: entry.name().to_vec(),
            metadata: self.shown.take(),
            parent_dev: from.map(|_| self.dev),
            root_dev: self.root_dev,
        });
        place
    }

    fn enter(&mut self, _place: &Place, dir: &Directory<'_>) -> Step {
        (self.dev, self.root_dev) = (dir.dev(), dir.root_dev());
        self.body_start = self.text.len();
        Step::Descend
    }

    fn entry(&mut self, place: Option<&Place>, entry: &mut Entry<'_>) -> Step {
        if place.is_none() {
            return self.show_root(entry);
        }
        self.shown = None;
        match entry.metadata().copied() {
            Ok(metadata) if metadata.file_type == FileType::Directory => self.shown = Some(metadata),
            Ok(metadata) => {
                let start = self.text.len();
                push(&mut self.text, entry.name(), &metadata, Some(self.dev), None);
                self.current.push((entry.name().to_vec(), start..self.text.len()));
            }
            Err(error) => {
                // A directory has an object of its own when the walk enters it.
                if entry.file_type() != FileType::Directory {
                    let (name, missing) = (entry.name(), Some(NcduMissing::Unreadable));
                    let start = self.text.len();
                    write_ncdu_object(&mut self.text, &NcduObject { name, missing, ..NcduObject::default() });
                    self.current.push((name.to_vec(), start..self.text.len()));
                }
                self.errors.push(error);
            }
        }
        if self.full.is_some() { Step::Stop } else { Step::Descend }
    }

    fn leave(&mut self, place: &Place) {
        self.current.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let start = self.text.len();
        for (_, object) in self.current.drain(..) {
            self.text.extend_from_slice(b",\n");
            self.text.extend_from_within(object);
        }
        // The sorted copy replaces the objects.
        let len = self.text.len() - start;
        self.text.copy_within(start.., self.body_start);
        self.text.truncate(self.body_start + len);
        self.bodies.push((*place, self.body_start..self.body_start + len));
        self.reserve();
    }

    fn reads(&self) -> Fields {
        Fields::BASIC
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}

/// Returns the first error of exceeding the budget.
///
/// # Errors
/// [`Full`] if the tree needs more memory than the budget allows.
pub fn check_dump(parts: &[Dump]) -> Result<(), Full> {
    parts.iter().find_map(|part| part.full).map_or(Ok(()), Err)
}

/// Writes the tree that the workers found. Subdirectories come after the other entries of a directory. Both are sorted by
/// name. Directories in `failed` are marked: they could not be read.
///
/// The walk must have one starting point, a directory. `root` is its name in the output, `seconds` the time of the walk,
/// and `filter` the first option that selected the entries. `sink` receives one or more lines at a time.
///
/// # Errors
/// The errors of `sink`.
pub fn write_dump(
    parts: &[Dump],
    failed: &HashSet<&[u8]>,
    root: &[u8],
    seconds: u64,
    filter: Option<&str>,
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut starts = vec![0];
    for part in parts {
        starts.push(starts[starts.len() - 1] + part.dirs.len());
    }
    let index = |place: Place| starts[place.worker()] + place.position();
    let dirs: Vec<_> = parts.iter().flat_map(|part| &part.dirs).collect();
    let mut bodies = vec![None; dirs.len()];
    for part in parts {
        for (place, range) in &part.bodies {
            bodies[index(*place)] = Some(&part.text[range.clone()]);
        }
    }
    let mut children = vec![Vec::new(); dirs.len()];
    let mut roots = Vec::new();
    for (number, dir) in dirs.iter().enumerate() {
        let siblings = if dir.parent == Place::NONE { &mut roots } else { &mut children[index(dir.parent)] };
        siblings.push(number);
    }
    let path = |number: usize| {
        let mut names = vec![&*dirs[number].name];
        let mut above = dirs[number].parent;
        while above != Place::NONE {
            names.push(&dirs[index(above)].name);
            above = dirs[index(above)].parent;
        }
        let mut path = names.pop().unwrap_or_default().to_vec();
        for name in names.into_iter().rev() {
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        path
    };
    let missing = |number: usize| {
        let dir = dirs[number];
        if failed.contains(&*path(number)) {
            Some(NcduMissing::Unreadable)
        } else {
            let is_elsewhere = dir.metadata.is_some_and(|metadata| metadata.dev != dir.root_dev);
            (bodies[number].is_none() && is_elsewhere).then_some(NcduMissing::OtherFileSystem)
        }
    };

    let mut line = Vec::new();
    write_ncdu_start(&mut line, seconds, filter);
    /// A step of writing: a directory, or the end of one.
    enum Next {
        Dir(usize),
        End,
    }
    let mut waiting: Vec<_> = roots.into_iter().map(Next::Dir).collect();
    let mut is_root = true;
    while let Some(next) = waiting.pop() {
        let Next::Dir(number) = next else {
            line.push(b']');
            continue;
        };
        let dir = dirs[number];
        let name = if is_root { root } else { &dir.name };
        let missing = if bodies[number].is_none() || !failed.is_empty() { missing(number) } else { None };
        let is_elsewhere = missing == Some(NcduMissing::OtherFileSystem);
        line.extend_from_slice(match (is_root, is_elsewhere) {
            (true, _) => b"[",
            (false, true) => b",\n",
            (false, false) => b",\n[",
        });
        match &dir.metadata {
            Some(_) if is_elsewhere => {
                write_ncdu_object(&mut line, &NcduObject { name, missing, ..NcduObject::default() });
            }
            Some(metadata) => push(&mut line, name, metadata, dir.parent_dev, missing),
            None => write_ncdu_object(&mut line, &NcduObject { name, missing, ..NcduObject::default() }),
        }
        is_root = false;
        if is_elsewhere {
            continue;
        }
        line.extend_from_slice(bodies[number].unwrap_or_default());
        sink(&line)?;
        line.clear();
        waiting.push(Next::End);
        let mut below = std::mem::take(&mut children[number]);
        below.sort_unstable_by(|a, b| dirs[*b].name.cmp(&dirs[*a].name));
        waiting.extend(below.into_iter().map(Next::Dir));
    }
    line.extend_from_slice(b"]\n");
    sink(&line)
}
