//! The visitor that collects the entries of a walk in one worker's part of the table.

use std::ffi::CString;
use std::io;

use ftk_file::Symlinks;
use ftk_walk::{Directory, Entry, Fields, FileType, Metadata, Op, Repeat, Step, Visitor, WalkError};
use rustix::fs::readlinkat;

use crate::names::Name;
use crate::shard::{Found, Id, ROOT, Shard};
use crate::{Budget, Full, Keep, Refused, Skipped};

/// One worker's part of the table. If it is full, the walk ends, and [`Inventory::merge`] returns the error.
///
/// [`Inventory::merge`]: crate::Inventory::merge
#[derive(Debug)]
pub struct Collect {
    /// The errors of the walk, in no particular order.
    pub errors: Vec<WalkError>,
    pub(crate) worker: u16,
    pub(crate) shard: Shard,
    pub(crate) skipped: Skipped,
    pub(crate) refused: Vec<Refused>,
    pub(crate) repeated: Vec<[Vec<u8>; 2]>,
    pub(crate) full: Option<Full>,
    pub(crate) keep: Keep,
    budget: Option<Budget>,
    /// Bytes reserved from the budget.
    reserved: u64,
    /// The identity of the directory being listed.
    id: Id,
    /// Whether the table lacks an entry of that directory.
    is_partial: bool,
}

/// The tag of a queued directory.
#[derive(Debug, Default)]
pub struct DirTag {
    /// `None` if the table was full.
    found: Option<Found>,
}

impl Collect {
    /// Makes an empty part for worker number `worker` of the walk.
    pub fn new(worker: usize, keep: Keep) -> Self {
        let (worker, full) = match u16::try_from(worker) {
            Ok(worker) => (worker, None),
            Err(_) => (u16::MAX, Some(Full::Workers)),
        };
        Self {
            errors: Vec::new(),
            worker,
            shard: Shard::default(),
            skipped: Skipped::default(),
            refused: Vec::new(),
            repeated: Vec::new(),
            full,
            keep,
            budget: None,
            reserved: 0,
            id: Id::default(),
            is_partial: false,
        }
    }

    /// Limits the memory of the part. The walk ends when the budget is used up.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        Self { budget: Some(budget.clone()), ..self }
    }

    /// Adds a starting point, or refuses one whose type is not kept.
    fn add_root(&mut self, root: &mut Entry<'_>) -> Step {
        match root.file_type() {
            file_type if self.keep.matches_start(file_type) => self.add(root),
            FileType::Directory => Step::Descend,
            file_type => {
                self.refused.push(Refused { path: root.name().to_vec(), file_type });
                Step::Next
            }
        }
    }

    fn add(&mut self, entry: &mut Entry<'_>) -> Step {
        if let Err(full) = self.reserve() {
            return self.step(Err(full));
        }
        if self.keep.needs_stat() {
            return self.add_with_root(entry);
        }
        let added = self.shard.add(entry.name_c(), entry.ino(), entry.file_type(), symlinks(entry));
        self.step(added.map(drop))
    }

    /// Adds an entry with its metadata, if that is kept, and for a starting point its number.
    fn add_with_root(&mut self, entry: &mut Entry<'_>) -> Step {
        let added = if self.keep.needs_stat_for(entry.file_type()) {
            self.add_with_stat(entry)
        } else {
            self.shard.add(entry.name_c(), entry.ino(), entry.file_type(), symlinks(entry)).map(Some)
        };
        if let Ok(Some(name)) = added
            && entry.depth() == 0
        {
            // There is not enough memory for more starting points than a `u32` can count.
            self.shard.columns.add_starting_point(name.offset, entry.root() as u32);
        }
        match added {
            Ok(None) => Step::Next,
            added => self.step(added.map(drop)),
        }
    }

    /// Adds an entry with its metadata. Returns `None` if that fails, or if `stat` reports a type that is not
    /// kept.
    fn add_with_stat(&mut self, entry: &mut Entry<'_>) -> Result<Option<Name>, Full> {
        let (metadata, target) = match stat(entry, self.keep) {
            Ok(stat) => stat,
            Err(error) => {
                self.errors.push(error);
                self.is_partial = true;
                return Ok(None);
            }
        };
        let (name, symlinks) = (entry.name_c(), symlinks(entry));
        let added = if !self.keep.matches(metadata.file_type) {
            self.skipped.count(metadata.file_type);
            return Ok(None);
        } else if self.keep.has_sizes_in_columns() {
            match content(&metadata, target) {
                None => self.shard.add_sized(name, symlinks, &metadata, self.keep == Keep::Times),
                Some(content) => self.shard.add_with_content(name, &content, symlinks, &metadata),
            }
        } else if self.keep.needs_stat_for(metadata.file_type) {
            self.shard.add_recorded(name, content(&metadata, target).as_deref(), symlinks, &metadata)
        } else {
            self.shard.add(name, metadata.ino, metadata.file_type, symlinks)
        };
        added.map(Some)
    }

    /// Reserves more memory if the table is larger than what was reserved before.
    fn reserve(&mut self) -> Result<(), Full> {
        if let Some(budget) = &self.budget
            && self.shard.bytes() > self.reserved
        {
            budget.reserve(Budget::UNIT)?;
            self.reserved += Budget::UNIT;
        }
        Ok(())
    }

    /// Returns `Descend`, or `Stop` if the table is full.
    fn step(&mut self, done: Result<(), Full>) -> Step {
        self.full = self.full.or(done.err());
        if self.full.is_some() { Step::Stop } else { Step::Descend }
    }
}

/// Returns what a table with [`Keep::Tree`] or [`Keep::Stats`] keeps of an entry that is not a regular file: the target of a
/// link, or the number of a device. `None` for a regular file.
fn content(metadata: &Metadata, target: Option<CString>) -> Option<CString> {
    match metadata.file_type {
        FileType::Regular => None,
        FileType::Block | FileType::Char => {
            Some(CString::new(metadata.rdev.to_string()).expect("digits contain no NUL"))
        }
        // Any future type has neither, until this is changed.
        _ => Some(target.unwrap_or_default()),
    }
}

/// Returns how to open an entry again.
fn symlinks(entry: &Entry<'_>) -> Symlinks {
    Symlinks::follow_if(entry.via_link())
}

/// Returns the metadata of an entry, and the target if it is a link that is not followed. The metadata has the
/// time of birth if it is kept.
///
/// `stat` may report a different type from the listing, because a device can be mounted over a file. But the
/// walk only enters entries listed as directories, so a difference there is an error.
fn stat(entry: &mut Entry<'_>, keep: Keep) -> Result<(Metadata, Option<CString>), WalkError> {
    let failure = |entry: &Entry<'_>, op, source| {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        WalkError::new(op, path, source)
    };
    let is_dir = |file_type| file_type == FileType::Directory;
    let metadata = *match keep {
        Keep::Stats { .. } => entry.metadata_with_birth()?,
        _ => entry.metadata()?,
    };
    if is_dir(metadata.file_type) != is_dir(entry.file_type()) {
        return Err(failure(entry, Op::Stat, io::Error::other("it was replaced while the tree was walked")));
    }
    let target = match metadata.file_type {
        FileType::Symlink => Some(
            readlinkat(&*entry, entry.name_c(), Vec::new())
                .map_err(|errno| failure(entry, Op::Read, errno.into()))?,
        ),
        _ => None,
    };
    Ok((metadata, target))
}

impl Visitor for Collect {
    type Dir = DirTag;

    fn descend(&mut self, from: Option<&DirTag>, entry: &mut Entry<'_>) -> DirTag {
        let up = if from.is_some() { self.shard.current() } else { ROOT };
        match self.reserve().and_then(|()| self.shard.names.push(entry.name_c())) {
            Ok(name) => DirTag { found: Some(Found { shard: self.worker, up, name }) },
            Err(full) => {
                self.full = Some(full);
                DirTag { found: None }
            }
        }
    }

    fn enter(&mut self, tag: &DirTag, dir: &Directory<'_>) -> Step {
        self.is_partial = false;
        self.id = Id { dev: dir.dev(), ino: dir.ino(), root: dir.root() as u32 };
        let ended = self.shard.finish_starting_points(self.worker);
        match tag.found {
            Some(_) => self.step(ended),
            None => Step::Stop,
        }
    }

    fn entry(&mut self, tag: Option<&DirTag>, entry: &mut Entry<'_>) -> Step {
        if tag.is_none() {
            return self.add_root(entry);
        }
        match entry.file_type() {
            file_type if self.keep.matches(file_type) => self.add(entry),
            FileType::Directory => self.step(Ok(())),
            file_type => {
                self.skipped.count(file_type);
                Step::Next
            }
        }
    }

    fn reads(&self) -> Fields {
        match self.keep {
            Keep::Files | Keep::All => Fields::NONE,
            Keep::Sizes | Keep::Times | Keep::Tree => Fields::BASIC,
            Keep::Stats { .. } => Fields::BASIC | Fields::BIRTH,
        }
    }

    fn leave(&mut self, tag: &DirTag) {
        if self.is_partial {
            self.shard.mark_partial();
        }
        if let Some(found) = tag.found {
            let ended = self.shard.finish(found, self.id);
            self.step(ended);
        }
    }

    fn filtered(&mut self, _tag: &DirTag) {
        self.is_partial = true;
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        let mut paths = [Vec::new(), Vec::new()];
        repeat.push_path(&mut paths[0]);
        repeat.push_first_path(&mut paths[1]);
        self.repeated.push(paths);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        self.is_partial = true;
        Step::Next
    }
}
