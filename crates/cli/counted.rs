//! Counts the entries of a walk, for progress.

use std::sync::atomic::{AtomicU64, Ordering};

use ftk_walk::{Directory, Entry, Repeat, Step, Visitor, WalkError};

use crate::asked;

/// A visitor that counts entries and passes them on. All workers add to one counter.
pub(crate) struct Counted<'c, V> {
    visitor: V,
    /// Entries of the current directory, not yet added to `all`.
    entries: u64,
    all: &'c AtomicU64,
    /// Called with the number of entries when SIGUSR1 requests it.
    answer: &'c (dyn Fn(u64) + Sync),
}

impl<'c, V> Counted<'c, V> {
    pub(crate) fn new(visitor: V, all: &'c AtomicU64, answer: &'c (dyn Fn(u64) + Sync)) -> Self {
        Self { visitor, entries: 0, all, answer }
    }

    pub(crate) fn into_inner(self) -> V {
        self.visitor
    }
}

impl<V: Visitor> Visitor for Counted<'_, V> {
    type Dir = V::Dir;

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        self.all.fetch_add(1, Ordering::Relaxed);
        self.visitor.root(root)
    }

    fn descend(&mut self, from: Option<&V::Dir>, entry: &Entry<'_>) -> V::Dir {
        self.visitor.descend(from, entry)
    }

    fn enter(&mut self, tag: &V::Dir, dir: &Directory<'_>) -> Step {
        self.visitor.enter(tag, dir)
    }

    fn entry(&mut self, tag: &V::Dir, entry: &mut Entry<'_>) -> Step {
        self.entries += 1;
        if asked::take() {
            (self.answer)(self.all.load(Ordering::Relaxed) + self.entries);
        }
        self.visitor.entry(tag, entry)
    }

    fn leave(&mut self, tag: &V::Dir) {
        self.all.fetch_add(std::mem::take(&mut self.entries), Ordering::Relaxed);
        self.visitor.leave(tag);
    }

    fn covered(&mut self) {
        self.visitor.covered();
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.visitor.again(repeat);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.visitor.error(error)
    }
}
