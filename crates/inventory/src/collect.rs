//! The visitor that fills one worker's part of the table.

use std::ffi::CString;
use std::io;

use ftk_walk::{Directory, Entry, FileType, Metadata, Op, Repeat, Step, Visitor, WalkError};
use rustix::fs::readlinkat;

use crate::names::Name;
use crate::shard::{Found, Id, ROOT, Shard};
use crate::{Budget, Full, Keep, Refused, Skipped};

/// One worker's part of the table. What does not fit ends the walk, and [`Inventory::merge`] says so.
///
/// [`Inventory::merge`]: crate::Inventory::merge
#[derive(Debug)]
pub struct Collect {
    /// What the walk could not open, list or stat, in no particular order.
    pub errors: Vec<WalkError>,
    pub(crate) worker: u16,
    pub(crate) shard: Shard,
    pub(crate) skipped: Skipped,
    pub(crate) refused: Vec<Refused>,
    pub(crate) repeated: Vec<[Vec<u8>; 2]>,
    pub(crate) full: Option<Full>,
    pub(crate) keep: Keep,
    budget: Option<Budget>,
    /// Bytes drawn from it.
    drawn: u64,
    /// The directory being listed.
    id: Id,
}

/// A directory that waits to be listed; `None` when its name did not fit.
#[derive(Debug)]
pub struct DirTag {
    found: Option<Found>,
}

impl Collect {
    /// An empty part for worker `worker` (its number in the walk).
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
            drawn: 0,
            id: Id::default(),
        }
    }

    /// The same part, whose table takes no more than the budget allows; what does not fit ends the walk.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        Self { budget: Some(budget.clone()), ..self }
    }

    fn add(&mut self, entry: &mut Entry<'_>) -> Step {
        if let Err(full) = self.reserve() {
            return self.step(Err(full));
        }
        if self.keep.asks() {
            return self.add_known(entry);
        }
        let added = self.shard.add(entry.name_c(), entry.ino(), entry.file_type(), entry.via_link());
        self.step(added.map(drop))
    }

    /// Adds an entry with all that is to be known of it, unless it turns out that it is not to be kept.
    fn add_known(&mut self, entry: &mut Entry<'_>) -> Step {
        let added = if self.keep.asks_about(entry.file_type()) {
            self.ask(entry)
        } else {
            self.shard.add(entry.name_c(), entry.ino(), entry.file_type(), entry.via_link()).map(Some)
        };
        if let Ok(Some(name)) = added
            && entry.depth() == 0
        {
            // There is no memory for more of them than this counts.
            self.shard.columns.argument(name.offset, entry.root() as u32);
        }
        match added {
            Ok(None) => Step::Next,
            added => self.step(added.map(drop)),
        }
    }

    /// Adds an entry with what `stat` says of it, unless that is an error, or that it is nothing to be kept.
    fn ask(&mut self, entry: &mut Entry<'_>) -> Result<Option<Name>, Full> {
        let (metadata, target) = match look(entry) {
            Ok(looked) => looked,
            Err(error) => {
                self.errors.push(error);
                return Ok(None);
            }
        };
        let (name, via_link) = (entry.name_c(), entry.via_link());
        let added = if !self.keep.matches(metadata.file_type) {
            self.skipped.count(metadata.file_type);
            return Ok(None);
        } else if self.keep == Keep::Sizes {
            self.shard.add_sized(name, via_link, &metadata)
        } else if self.keep.asks_about(metadata.file_type) {
            self.shard.add_recorded(name, target.as_deref(), via_link, &metadata)
        } else {
            self.shard.add(name, metadata.ino, metadata.file_type, via_link)
        };
        added.map(Some)
    }

    /// Draws on the budget when the table has outgrown what was drawn before.
    fn reserve(&mut self) -> Result<(), Full> {
        if let Some(budget) = &self.budget
            && self.shard.bytes() > self.drawn
        {
            budget.reserve(Budget::UNIT)?;
            self.drawn += Budget::UNIT;
        }
        Ok(())
    }

    /// Goes on unless something did not fit, now or before.
    fn step(&mut self, done: Result<(), Full>) -> Step {
        self.full = self.full.or(done.err());
        if self.full.is_some() { Step::Stop } else { Step::Descend }
    }
}

/// What `stat` says of an entry, and where it leads if it is a link that is not followed.
///
/// What it is may be another thing than what its directory lists, since a device can be mounted over a file. But
/// only a directory that is listed as one is walked.
fn look(entry: &mut Entry<'_>) -> Result<(Metadata, Option<CString>), WalkError> {
    let failure = |entry: &Entry<'_>, op, source| {
        let mut path = Vec::new();
        entry.push_path(&mut path);
        WalkError::new(op, path, source)
    };
    let is_dir = |file_type| file_type == FileType::Directory;
    let metadata = *entry.metadata()?;
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

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        match root.file_type() {
            file_type if self.keep.matches(file_type) => self.add(root),
            FileType::Directory => Step::Descend,
            file_type => {
                self.refused.push(Refused { path: root.name().to_vec(), file_type });
                Step::Next
            }
        }
    }

    fn descend(&mut self, from: Option<&DirTag>, entry: &Entry<'_>) -> DirTag {
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
        self.id = Id { dev: dir.dev(), ino: dir.ino(), root: dir.root() as u32 };
        let ended = self.shard.finish_arguments(self.worker);
        match tag.found {
            Some(_) => self.step(ended),
            None => Step::Stop,
        }
    }

    fn entry(&mut self, _tag: &DirTag, entry: &mut Entry<'_>) -> Step {
        match entry.file_type() {
            file_type if self.keep.matches(file_type) => self.add(entry),
            FileType::Directory => self.step(Ok(())),
            file_type => {
                self.skipped.count(file_type);
                Step::Next
            }
        }
    }

    fn leave(&mut self, tag: &DirTag) {
        if let Some(found) = tag.found {
            let ended = self.shard.finish(found, self.id);
            self.step(ended);
        }
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        let mut paths = [Vec::new(), Vec::new()];
        repeat.push_path(&mut paths[0]);
        repeat.push_first_path(&mut paths[1]);
        self.repeated.push(paths);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}
