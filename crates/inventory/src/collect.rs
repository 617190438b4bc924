//! The visitor that fills one worker's part of the table.

use ftk_walk::{Directory, Entry, FileType, Step, Visitor, WalkError};

use crate::shard::{Found, ROOT, Shard};
use crate::{Budget, Full, Refused, Skipped};

/// What goes into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Regular files only.
    Files,
    /// Every entry, directories and roots included.
    All,
}

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
    pub(crate) full: Option<Full>,
    keep: Keep,
    budget: Option<Budget>,
    /// Bytes drawn from it.
    drawn: u64,
    /// Device and inode of the directory being listed.
    identity: (u64, u64),
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
            full,
            keep,
            budget: None,
            drawn: 0,
            identity: (0, 0),
        }
    }

    /// The same part, whose table takes no more than the budget allows; what does not fit ends the walk.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        Self { budget: Some(budget.clone()), ..self }
    }

    fn add(&mut self, entry: &Entry<'_>) -> Step {
        let (file_type, via_link) = (entry.file_type(), entry.via_link());
        let added =
            self.draw().and_then(|()| self.shard.add(entry.name_c(), entry.ino(), file_type, via_link));
        self.step(added)
    }

    /// Draws on the budget when the table has outgrown what was drawn before.
    fn draw(&mut self) -> Result<(), Full> {
        if let Some(budget) = &self.budget
            && self.shard.bytes() > self.drawn
        {
            budget.draw(Budget::UNIT)?;
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

impl Visitor for Collect {
    type Dir = DirTag;

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        match (self.keep, root.file_type()) {
            (Keep::All, _) | (Keep::Files, FileType::Regular) => self.add(root),
            (Keep::Files, FileType::Directory) => Step::Descend,
            (Keep::Files, file_type) => {
                self.refused.push(Refused { path: root.name().to_vec(), file_type });
                Step::Next
            }
        }
    }

    fn descend(&mut self, from: Option<&DirTag>, entry: &Entry<'_>) -> DirTag {
        let up = if from.is_some() { self.shard.current() } else { ROOT };
        match self.draw().and_then(|()| self.shard.names.push(entry.name_c())) {
            Ok(name) => DirTag { found: Some(Found { shard: self.worker, up, name }) },
            Err(full) => {
                self.full = Some(full);
                DirTag { found: None }
            }
        }
    }

    fn enter(&mut self, tag: &DirTag, dir: &Directory<'_>) -> Step {
        self.identity = (dir.dev(), dir.ino());
        let ended = self.shard.finish_arguments(self.worker);
        match tag.found {
            Some(_) => self.step(ended),
            None => Step::Stop,
        }
    }

    fn entry(&mut self, _tag: &DirTag, entry: &mut Entry<'_>) -> Step {
        match (self.keep, entry.file_type()) {
            (Keep::All, _) | (Keep::Files, FileType::Regular) => self.add(entry),
            (Keep::Files, FileType::Directory) => self.step(Ok(())),
            (Keep::Files, file_type) => {
                self.skipped.count(file_type);
                Step::Next
            }
        }
    }

    fn leave(&mut self, tag: &DirTag) {
        if let Some(found) = tag.found {
            let (dev, ino) = self.identity;
            let ended = self.shard.finish(found, dev, ino);
            self.step(ended);
        }
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Next
    }
}
