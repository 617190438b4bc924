//! Trees of extreme shapes. Their files are short holes, which use an inode and no block.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::bench::interrupt;
use crate::bench::shape::{chain, in_parallel};

/// A tree to make, measure and remove.
pub(super) struct Extreme {
    pub(super) name: &'static str,
    layout: Layout,
}

enum Layout {
    /// Directories with the same number of files each, whose names have at least `name_bytes` bytes.
    Flat { dirs: u64, files: u64, name_bytes: usize },
    /// Directories with the same number of files each. Three in ten files are copies of another one.
    Copies { dirs: u64, files: u64 },
    /// A chain of nested directories, with a file every `every` levels.
    Chain { depth: u64, every: u64 },
}

const fn flat(name: &'static str, dirs: u64, files: u64, name_bytes: usize) -> Extreme {
    Extreme { name, layout: Layout::Flat { dirs, files, name_bytes } }
}

pub(super) const ALL: &[Extreme] = &[
    flat("empty directory", 1, 0, 0),
    flat("one file", 1, 1, 0),
    flat("60 roots", 60, 10, 0),
    flat("names of 255 bytes", 100, 1_000, 255),
    Extreme { name: "10,000 levels", layout: Layout::Chain { depth: 10_000, every: 100 } },
    flat("one directory of a million", 1, 1_000_000, 0),
    flat("ten million files", 10_000, 1_000, 0),
    Extreme { name: "ten million files with copies", layout: Layout::Copies { dirs: 10_000, files: 1_000 } },
];

/// Small variants for `--quick`.
pub(super) const QUICK: &[Extreme] = &[
    flat("empty directory", 1, 0, 0),
    flat("60 roots", 60, 10, 0),
    flat("names of 255 bytes", 10, 100, 255),
    Extreme { name: "60 levels", layout: Layout::Chain { depth: 60, every: 10 } },
    flat("two thousand files", 100, 20, 0),
    Extreme { name: "two thousand files with copies", layout: Layout::Copies { dirs: 100, files: 20 } },
];

impl Extreme {
    pub(super) fn files(&self) -> u64 {
        match self.layout {
            Layout::Flat { dirs, files, .. } | Layout::Copies { dirs, files } => dirs * files,
            Layout::Chain { depth, every } => depth / every,
        }
    }

    /// Returns the number of files and directories, including starting points.
    pub(super) fn entries(&self) -> u64 {
        match self.layout {
            Layout::Flat { dirs, files, .. } => dirs + dirs * files + u64::from(!self.has_many_roots()),
            Layout::Copies { dirs, files } => 1 + dirs + dirs * files,
            Layout::Chain { depth, every } => 1 + depth + depth / every,
        }
    }

    /// Whether all files of one size are identical.
    pub(super) fn is_all_copies(&self) -> bool {
        !matches!(self.layout, Layout::Copies { .. })
    }

    /// Whether each directory is a starting point.
    fn has_many_roots(&self) -> bool {
        matches!(self.layout, Layout::Flat { dirs: 2..=60, .. })
    }

    /// Returns an upper bound of the bytes that tables need for a file name.
    pub(super) fn name_bytes(&self) -> u64 {
        match self.layout {
            Layout::Flat { files, name_bytes, .. } => name(files.max(1) * 10_000, name_bytes).len() as u64,
            Layout::Copies { files, .. } => name(files * 10_000, 0).len() as u64,
            Layout::Chain { .. } => 1,
        }
    }

    /// Returns the starting points of a tree made at `top`.
    pub(super) fn roots(&self, top: &Path) -> Vec<PathBuf> {
        match self.layout {
            Layout::Flat { dirs, .. } if self.has_many_roots() => {
                (0..dirs).map(|nth| dir(top, nth)).collect()
            }
            _ => vec![top.to_owned()],
        }
    }

    /// Makes the tree in the new directory `top`.
    pub(super) fn make(&self, top: &Path) -> Result<()> {
        fs::create_dir_all(top)?;
        match self.layout {
            Layout::Flat { dirs, files, name_bytes } => flat_tree(top, dirs, files, name_bytes),
            Layout::Copies { dirs, files } => tree_with_copies(top, dirs, files),
            Layout::Chain { depth, every } => chain(top, depth, every, size),
        }
    }
}

fn dir(top: &Path, nth: u64) -> PathBuf {
    top.join(format!("dir_{nth:04}"))
}

fn name(number: u64, bytes: usize) -> String {
    format!("{number:0bytes$}")
}

/// Returns the size of a file, from 1 to 64, so that many files have the same size.
fn size(number: u64) -> u64 {
    1 + number % 64
}

fn flat_tree(top: &Path, dirs: u64, files: u64, name_bytes: usize) -> Result<()> {
    in_each_dir(top, dirs, files, |dir, number| {
        Ok(File::create(dir.join(name(number, name_bytes)))?.set_len(size(number))?)
    })
}

fn tree_with_copies(top: &Path, dirs: u64, files: u64) -> Result<()> {
    in_each_dir(top, dirs, files, |dir, number| {
        // The first three of ten files have the content of the fourth.
        let content = if number % 10 < 3 { number - number % 10 + 3 } else { number };
        let mut bytes = format!("content {content} ").into_bytes();
        bytes.resize(bytes.len() + (content % 150) as usize, b'x');
        Ok(fs::write(dir.join(name(number, 0)), bytes)?)
    })
}

/// Makes the directories, and calls `make` for each file of each: with the directory, and the number of the file among
/// all files.
fn in_each_dir(
    top: &Path,
    dirs: u64,
    files: u64,
    make: impl Fn(&Path, u64) -> Result<()> + Sync,
) -> Result<()> {
    in_parallel(dirs as usize, |nth| {
        let nth = nth as u64;
        let dir = dir(top, nth);
        fs::create_dir(&dir)?;
        for number in nth * files..(nth + 1) * files {
            interrupt::check()?;
            make(&dir, number)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::bench::scratch::remove;

    #[test]
    fn trees_have_the_stated_number_of_entries() {
        let parent = tempfile::tempdir().unwrap();
        for tree in QUICK {
            let top = parent.path().join(tree.name);
            tree.make(&top).unwrap();
            let roots = tree.roots(&top);
            let find = |more: &[&str]| {
                let output = Command::new("find").args(&roots).args(more).output().unwrap();
                output.stdout.split(|&byte| byte == b'\n').count() as u64 - 1
            };
            assert_eq!(find(&[]), tree.entries(), "{}", tree.name);
            assert_eq!(find(&["-type", "f"]), tree.files(), "{}", tree.name);
        }
        remove(parent.path()).unwrap();
        assert!(!parent.path().exists());
    }
}
