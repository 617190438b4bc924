//! Trees of small files.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::random_bytes;

/// A tree that is removed when it is dropped.
pub struct Tree {
    top: TempDir,
    /// The number of regular files.
    pub files: usize,
    /// The number of directories, without the top.
    pub dirs: usize,
}

impl Tree {
    /// Creates `branches` directories in every directory less than `depth` deep, and `files` files of `bytes`
    /// bytes in every directory.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn new(branches: usize, depth: usize, files: usize, bytes: usize) -> io::Result<Self> {
        let mut tree = Self { top: tempfile::tempdir()?, files: 0, dirs: 0 };
        let top = tree.path().to_owned();
        tree.fill(&top, branches, depth, files, &random_bytes(bytes))?;
        Ok(tree)
    }

    /// Returns the path of the top.
    pub fn path(&self) -> &Path {
        self.top.path()
    }

    fn fill(
        &mut self,
        dir: &Path,
        branches: usize,
        depth: usize,
        files: usize,
        content: &[u8],
    ) -> io::Result<()> {
        for nth in 0..files {
            fs::write(dir.join(format!("file_{nth:06}.txt")), content)?;
            self.files += 1;
        }
        for nth in 0..if depth == 0 { 0 } else { branches } {
            let below = dir.join(format!("dir_{nth:04}"));
            fs::create_dir(&below)?;
            self.dirs += 1;
            self.fill(&below, branches, depth - 1, files, content)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_the_requested_shape() {
        let tree = Tree::new(2, 3, 5, 7).unwrap();
        assert_eq!((tree.dirs, tree.files), (2 + 4 + 8, 15 * 5));
        assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 2 + 5);
        assert_eq!(fs::read(tree.path().join("dir_0001/dir_0000/file_000004.txt")).unwrap().len(), 7);
    }
}
