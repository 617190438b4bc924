//! A skewed tree, as the number of entries in each directory.

use crate::bench::shape::{GAMMA, mix};

/// A tree to generate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// About how many entries it has when it is planned.
    pub(crate) entries: u64,
    /// The directories at its top.
    pub(crate) projects: u64,
    /// The entries of one directory without subdirectories.
    pub(crate) flat: u32,
    /// The levels of a chain of directories.
    pub(crate) depth: u16,
    pub(crate) seed: u64,
}

impl Shape {
    pub(crate) const BILLION: Self =
        Self { entries: 1_000_000_000, projects: 300, flat: 15_000_000, depth: 1_000, seed: 20 };
}

/// A directory: its own entries without those below its subdirectories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dir {
    /// 0 for the root.
    pub(crate) depth: u16,
    /// Its entries in the manifest from which the plan was made.
    pub(crate) planned: u32,
    /// Its entries now.
    pub(crate) now: u32,
}

/// The directories of a tree in the order of a manifest, each before those below it.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) dirs: Vec<Dir>,
}

/// Random numbers (SplitMix64), which are the same on every machine.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        let next = mix(self.0);
        self.0 = self.0.wrapping_add(GAMMA);
        next
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a weight of 1 or more. One weight in a thousand is a thousand times the least, as file counts of
    /// directories are distributed.
    fn weight(&mut self) -> u64 {
        (1 << 20) / (1 + self.below(1 << 10))
    }
}

/// A subtree to generate.
struct Part {
    depth: u16,
    entries: u64,
    /// Whether it has grown since it was planned.
    has_grown: bool,
    kind: Kind,
}

enum Kind {
    Usual,
    Flat,
    Chain(u16),
}

/// The directories with fewer entries have no subdirectories.
const LEAF: u64 = 1500;

impl Tree {
    /// Generates the tree: projects of very different sizes, one flat directory and one chain. In one project of 15, a
    /// third of the entries are new since the plan.
    pub(crate) fn generate(shape: &Shape) -> Self {
        let mut random = Random::new(shape.seed);
        let mut tree = Self { dirs: Vec::new() };
        tree.push(0, shape.projects + 2, false);
        let rest = shape.entries.saturating_sub(u64::from(shape.flat) + shape.projects);
        let mut parts = vec![
            Part { depth: 1, entries: shape.flat.into(), has_grown: false, kind: Kind::Flat },
            Part { depth: 1, entries: rest / 100, has_grown: false, kind: Kind::Chain(shape.depth) },
        ];
        for entries in split(rest - rest / 100, shape.projects, &mut random) {
            let has_grown = random.below(15) == 0;
            parts.push(Part { depth: 1, entries, has_grown, kind: Kind::Usual });
        }
        // Not always at the end.
        for nth in 0..2 {
            let other = random.below(parts.len() as u64) as usize;
            parts.swap(nth, other);
        }
        while let Some(Part { depth, entries, has_grown, kind }) = parts.pop() {
            let usual = |entries, parts: &mut Vec<Part>| {
                parts.push(Part { depth: depth + 1, entries, has_grown, kind: Kind::Usual });
            };
            match kind {
                Kind::Flat => tree.push(depth, entries, has_grown),
                Kind::Chain(levels) => {
                    let own = entries / u64::from(levels.max(1)) / 2;
                    tree.push(depth, own + 2, has_grown);
                    if levels > 1 {
                        let below = entries.saturating_sub(2 * own);
                        let kind = Kind::Chain(levels - 1);
                        parts.push(Part { depth: depth + 1, entries: below, has_grown, kind });
                        usual(own, &mut parts);
                    }
                }
                Kind::Usual if entries < LEAF => tree.push(depth, entries, has_grown),
                Kind::Usual => {
                    let (dirs, files) = (2 + random.below(30), random.below(LEAF / 2));
                    tree.push(depth, dirs + files, has_grown);
                    for part in split(entries.saturating_sub(dirs + files), dirs, &mut random) {
                        usual(part, &mut parts);
                    }
                }
            }
        }
        tree
    }

    fn push(&mut self, depth: u16, entries: u64, has_grown: bool) {
        let planned = u32::try_from(entries).expect("a directory of fewer than 2^32 entries");
        let now = if has_grown { planned + planned / 2 } else { planned };
        self.dirs.push(Dir { depth, planned, now });
    }

    /// Returns the number of entries now.
    pub(crate) fn entries(&self) -> u64 {
        self.dirs.iter().map(|dir| u64::from(dir.now)).sum()
    }

    /// Returns the number of entries when the plan was made.
    pub(crate) fn planned(&self) -> u64 {
        self.dirs.iter().map(|dir| u64::from(dir.planned)).sum()
    }

    /// Returns the share of the largest subtree below the root.
    pub(crate) fn largest_share(&self) -> f64 {
        let (mut largest, mut entries) = (0, 0);
        for dir in &self.dirs[1..] {
            entries = if dir.depth == 1 { 0 } else { entries } + u64::from(dir.now);
            largest = largest.max(entries);
        }
        largest as f64 / self.entries() as f64
    }
}

/// Divides a number into parts of very different sizes.
fn split(total: u64, parts: u64, random: &mut Random) -> Vec<u64> {
    let weights: Vec<_> = (0..parts).map(|_| random.weight()).collect();
    let sum: u64 = weights.iter().sum();
    weights.iter().map(|weight| (u128::from(total) * u128::from(*weight) / u128::from(sum)) as u64).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const SMALL: Shape =
        Shape { entries: 1_000_000, projects: 20, flat: 50_000, depth: 100, seed: 1 };

    #[test]
    fn a_tree_has_the_entries_of_its_shape() {
        let tree = Tree::generate(&SMALL);
        let planned = tree.planned() as f64;
        assert!((0.9..1.1).contains(&(planned / 1e6)), "{planned}");
        assert!(tree.entries() >= tree.planned());
        assert_eq!(tree.dirs.iter().map(|dir| dir.planned).max(), Some(50_000));
        assert_eq!(tree.dirs.iter().map(|dir| dir.depth).max(), Some(100));
        // The root is the first, and a subtree begins no more than one level below the directory before it.
        assert_eq!(tree.dirs.iter().filter(|dir| dir.depth == 0).count(), 1);
        assert!(tree.dirs.windows(2).all(|pair| pair[1].depth <= pair[0].depth + 1));
        assert!(tree.largest_share() > 0.1, "some subtree is hot");
    }

    #[test]
    fn a_tree_depends_only_on_its_seed() {
        let trees = [1, 1, 2].map(|seed| Tree::generate(&Shape { seed, ..SMALL }).dirs);
        assert!(trees[0] == trees[1] && trees[1] != trees[2]);
    }
}
