//! Gives the paths of one tree the spelling of another.

use crate::{Budget, Full, OpenDirs, Reservation};

/// The names of a tree that another tree spells in another normal form.
#[derive(Debug, Default)]
pub struct Spellings {
    /// Sorted by path.
    pub(super) seeds: Vec<Seed>,
}

/// An entry whose name is spelled differently.
#[derive(Debug)]
pub(super) struct Seed {
    /// Its path.
    pub(super) path: Vec<u8>,
    /// Its name in the other tree.
    pub(super) name: Vec<u8>,
    /// Whether both trees have an entry at the path, and not only entries below it.
    pub(super) is_entry: bool,
}

impl Seed {
    /// What it costs besides path and name: the lists are sorted, and grow.
    pub(super) const BYTES: usize = 2 * size_of::<Self>();
}

/// The path of an entry in the spelling of the other tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligned<'a> {
    /// The path.
    pub path: &'a [u8],
    /// Whether the name of the entry itself differs. If a directory above it has no entry of its own, this is also true
    /// if the name of that directory differs.
    pub is_respelled: bool,
}

impl Spellings {
    /// Returns whether no name differs.
    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// Starts to align paths. They must be passed in path order.
    pub fn aligner(&self, budget: &Budget) -> Aligner<'_> {
        Aligner {
            seeds: &self.seeds,
            open: OpenDirs::default(),
            path: Vec::new(),
            reserved: Reservation::new(budget),
        }
    }

    /// Aligns paths in any order, such as those that could not be read.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn align_all(&self, paths: &mut [Vec<u8>], budget: &Budget) -> Result<(), Full> {
        paths.sort_unstable();
        let mut aligner = self.aligner(budget);
        for path in paths {
            if let Some(aligned) = aligner.align(path)? {
                *path = aligned.path.to_vec();
            }
        }
        Ok(())
    }
}

/// Gives the paths of a tree the spelling of another tree.
#[derive(Debug)]
pub struct Aligner<'s> {
    /// The names that the paths have not reached yet.
    seeds: &'s [Seed],
    open: OpenDirs<Above>,
    path: Vec<u8>,
    reserved: Reservation,
}

/// A directory with another spelling.
#[derive(Debug)]
struct Above {
    /// Its path in the other spelling.
    path: Vec<u8>,
    /// Whether what is below it counts as respelled, because it has no entry itself.
    is_implicit: bool,
}

impl Aligner<'_> {
    /// Returns a path in the other spelling; `None` if it is the same.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn align(&mut self, path: &[u8]) -> Result<Option<Aligned<'_>>, Full> {
        let mut is_own = false;
        while let Some((seed, rest)) = self.seeds.split_first()
            && *seed.path <= *path
        {
            self.seeds = rest;
            is_own = seed.path == path;
            self.open.go_to(&seed.path);
            let dir = seed.path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
            let (mut aligned, is_implicit) = match self.open.above(&seed.path) {
                // The rest, up to `dir`, is the same in both trees.
                Some((at, below)) => {
                    let Above { path, is_implicit } = &self.open[at];
                    let same = &seed.path[seed.path.len() - below.len()..dir];
                    ([path, &b"/"[..], same].concat(), *is_implicit)
                }
                None => (seed.path[..dir].to_vec(), false),
            };
            aligned.extend_from_slice(&seed.name);
            let bytes = aligned.len() + seed.path.len();
            let above = Above { path: aligned, is_implicit: is_implicit || !seed.is_entry };
            self.open.push_within(&mut self.reserved, bytes, &seed.path, above)?;
        }
        self.path.clear();
        if is_own {
            let above = &self.open[self.open.len() - 1];
            self.path.extend_from_slice(&above.path);
            return Ok(Some(Aligned { path: &self.path, is_respelled: true }));
        }
        self.open.go_to(path);
        let Some((at, below)) = self.open.above(path) else { return Ok(None) };
        let above = &self.open[at];
        self.path.extend_from_slice(&above.path);
        self.path.push(b'/');
        self.path.extend_from_slice(below);
        Ok(Some(Aligned { path: &self.path, is_respelled: above.is_implicit }))
    }
}
