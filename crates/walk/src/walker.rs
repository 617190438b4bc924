//! The walk itself.

use std::ffi::CString;

use crate::Visitor;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// None.
    #[default]
    Never,
    /// Those given as starting points.
    Roots,
    /// All; a link back to a directory on its own path is an error and not entered.
    Always,
}

/// A walk to be started.
#[derive(Clone, Debug)]
pub struct Walker {
    roots: Vec<CString>,
    threads: usize,
    follow: Follow,
}

impl Walker {
    /// A walk over these starting points: files, directories, anything with a name.
    pub fn new(roots: impl IntoIterator<Item = CString>) -> Self {
        Self { roots: roots.into_iter().collect(), threads: 0, follow: Follow::Never }
    }
    /// How many workers at most, the calling thread included. `0`, the default: one a logical CPU.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
    /// Which symbolic links are followed. Default: none.
    #[must_use]
    pub fn follow(self, follow: Follow) -> Self {
        Self { follow, ..self }
    }
    /// Walks, and hands every worker's visitor back.
    ///
    /// # Panics
    /// With the payload of the first visitor that panicked, after all workers have ended.
    pub fn run<V: Visitor>(self, make: impl FnMut(usize) -> V) -> Vec<V> {
        let _ = (self.roots, self.threads, self.follow, make);
        todo!()
    }
}
