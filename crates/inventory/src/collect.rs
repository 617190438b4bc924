//! The visitor that fills one worker's part of the table.

use ftk_walk::{Directory, Entry, Step, Visitor, WalkError};

/// What goes into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Regular files only.
    Files,
    /// Every entry, directories and roots included.
    All,
}

/// One worker's part of the table.
#[derive(Debug)]
pub struct Collect {
    /// What the walk could not open, list or stat, in no particular order.
    pub errors: Vec<WalkError>,
}

/// A directory that waits to be listed.
#[derive(Debug)]
pub struct DirTag {
    _todo: (),
}

impl Collect {
    /// An empty part for worker `worker` (its number in the walk).
    pub fn new(worker: usize, keep: Keep) -> Self {
        let _ = (worker, keep);
        todo!()
    }
}

impl Visitor for Collect {
    type Dir = DirTag;
    fn descend(&mut self, _from: Option<&DirTag>, _entry: &Entry<'_>) -> DirTag {
        todo!()
    }
    fn enter(&mut self, _tag: &DirTag, _dir: &Directory<'_>) -> Step {
        todo!()
    }
    fn entry(&mut self, _tag: &DirTag, _entry: &mut Entry<'_>) -> Step {
        todo!()
    }
    fn error(&mut self, _error: WalkError) -> Step {
        todo!()
    }
}
