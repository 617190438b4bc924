//! Generated trees: the same names and bytes on every machine.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow};

use super::interrupt;

/// Length of each generated file.
pub(crate) const FILE_BYTES: usize = 100;
/// Where the pseudo-random numbers begin. Another seed would make other trees, and records incomparable.
const SEED: u64 = 0x66_74_6b;
/// Extensions and how many of 100 files have them.
const EXTENSIONS: &[(&str, u64)] =
    &[("jpg", 40), ("png", 30), ("txt", 10), ("json", 10), ("py", 5), ("bin", 5)];

/// A kind of tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    layout: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Directories beside each other.
    Flat { dirs: usize, files: usize },
    /// Each directory has `branching` more, down to `depth`; `files` in each, the top too.
    Deep { branching: usize, depth: usize, files: usize },
}

pub(crate) const SMALL: Shape = Shape { name: "small", layout: Layout::Flat { dirs: 100, files: 100 } };
pub(crate) const MEDIUM: Shape = Shape { name: "medium", layout: Layout::Flat { dirs: 100, files: 1_000 } };
pub(crate) const LARGE: Shape = Shape { name: "large", layout: Layout::Flat { dirs: 1_000, files: 1_000 } };
pub(crate) const DEEP: Shape =
    Shape { name: "deep", layout: Layout::Deep { branching: 3, depth: 5, files: 20 } };
pub(crate) const WIDE: Shape = Shape { name: "wide", layout: Layout::Flat { dirs: 2_000, files: 50 } };

/// In words, for records: two trees of one description are the same.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layout {
            Layout::Flat { dirs, files } => write!(f, "{dirs} directories x {files} files"),
            Layout::Deep { branching, depth, files } => {
                write!(f, "{branching} directories in each, {depth} deep, {files} files in each")
            }
        }
    }
}

impl Shape {
    pub(crate) fn files(&self) -> u64 {
        (self.dirs().len() * self.files_a_dir()) as u64
    }

    fn files_a_dir(&self) -> usize {
        match self.layout {
            Layout::Flat { files, .. } | Layout::Deep { files, .. } => files,
        }
    }

    /// Directories that hold files, relative to the top; a parent comes before its children.
    pub(crate) fn dirs(&self) -> Vec<PathBuf> {
        match self.layout {
            Layout::Flat { dirs, .. } => (0..dirs).map(|n| format!("dir_{n:04}").into()).collect(),
            Layout::Deep { branching, depth, .. } => {
                let mut all = vec![PathBuf::new()];
                let mut level = 0..1;
                for _ in 0..depth {
                    for parent in level.clone() {
                        all.extend(
                            (0..branching).map(|n| all[parent].join(format!("dir_{n}"))).collect::<Vec<_>>(),
                        );
                    }
                    level = level.end..all.len();
                }
                all
            }
        }
    }

    /// Paths of the files in directory number `dir`, which is at `path`.
    pub(crate) fn files_in(&self, dir: usize, path: &Path) -> Vec<PathBuf> {
        let first = (dir * self.files_a_dir()) as u64;
        (first..).take(self.files_a_dir()).map(|number| path.join(file_name(number))).collect()
    }

    /// Makes the tree at `top`, which is new, with as many threads as there are CPUs.
    ///
    /// # Errors
    /// Of the file system, or if a signal came; the tree is incomplete then.
    pub(crate) fn make(&self, top: &Path) -> Result<()> {
        let dirs = self.dirs();
        for dir in &dirs {
            fs::create_dir_all(top.join(dir))?;
        }
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(dir) = dirs.get(nth) else { return Ok(()) };
                interrupt::check()?;
                let first = (nth * self.files_a_dir()) as u64;
                for (path, number) in self.files_in(nth, &top.join(dir)).iter().zip(first..) {
                    fs::write(path, contents(number))
                        .with_context(|| format!("cannot write {}", path.display()))?;
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers
                .into_iter()
                .try_for_each(|worker| worker.join().map_err(|_| anyhow!("a thread panicked"))?)
        })
    }
}

fn file_name(number: u64) -> String {
    let mut dice = mix(SEED ^ number) % 100;
    for (extension, share) in EXTENSIONS {
        if dice < *share {
            return format!("file_{number:06}.{extension}");
        }
        dice -= share;
    }
    unreachable!("the shares add up to 100")
}

/// Bytes that no other file has.
fn contents(number: u64) -> Vec<u8> {
    let mut bytes = number.to_le_bytes().to_vec();
    for word in 0.. {
        if bytes.len() >= FILE_BYTES {
            break;
        }
        bytes.extend_from_slice(&mix(SEED ^ (number << 8) ^ word).to_le_bytes());
    }
    bytes.truncate(FILE_BYTES);
    bytes
}

/// The output function of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014), here as a hash of a number.
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_the_files_they_promise() {
        let counts = [SMALL, MEDIUM, LARGE, DEEP, WIDE].map(|shape| shape.files());
        assert_eq!(counts, [10_000, 100_000, 1_000_000, 364 * 20, 100_000]);
    }

    #[test]
    fn the_deep_tree_is_deep() {
        let dirs = DEEP.dirs();
        let depth = |n: usize| dirs.iter().filter(|dir| dir.components().count() == n).count();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(depth), [1, 3, 9, 27, 81, 243, 0]);
        assert_eq!(dirs.iter().collect::<std::collections::HashSet<_>>().len(), dirs.len());
    }

    #[test]
    fn extensions_have_their_shares() {
        for (extension, share) in EXTENSIONS {
            let ending = format!(".{extension}");
            let count = (0..100_000).filter(|&n| file_name(n).ends_with(&ending)).count() as u64;
            assert!((count / 10).abs_diff(share * 100) < 100, "{extension}: {count} of 100,000");
        }
        assert!(file_name(7).starts_with("file_000007."));
    }

    #[test]
    fn no_two_files_are_equal() {
        let all: std::collections::HashSet<_> = (0..10_000).map(contents).collect();
        assert_eq!(all.len(), 10_000);
        assert!(all.iter().all(|bytes| bytes.len() == FILE_BYTES));
    }

    #[test]
    fn names_follow_each_other_from_directory_to_directory() {
        let files = SMALL.files_in(2, Path::new("x"));
        assert_eq!(files.len(), 100);
        assert!(files[0].to_str().unwrap().starts_with("x/file_000200."));
    }
}
