//! Globs for whole paths, in every spelling.

use std::path::Path;

use crate::{Glob, PathGlob, PatternError, Roots, normalise_glob, normalise_path};

/// A glob for whole paths as a walk prints them, which users may spell in other ways too.
#[derive(Clone, Debug)]
pub struct SpelledGlob {
    given: Glob,
    normal: Glob,
    below: PathGlob,
}

impl SpelledGlob {
    /// Compiles a glob for paths below these starting points.
    ///
    /// # Errors
    /// If it is no valid glob.
    pub fn new(glob: &[u8], roots: &Roots<'_>) -> Result<Self, PatternError> {
        let (given, normal) = (Glob::new(glob)?, Glob::new(normalise_glob(glob))?);
        Ok(Self { given, normal, below: PathGlob::new(glob, roots)? })
    }

    /// Returns whether the glob is for names: without a slash, except at its end.
    pub fn is_name(&self) -> bool {
        self.below.is_name()
    }

    /// Returns whether it matches a name.
    pub fn is_match_of_name(&self, name: &[u8]) -> bool {
        self.normal.is_match(name)
    }

    /// Returns whether it matches the path of a file below starting point number `root`, which is the first `root_len` bytes
    /// of the path: as it is printed, without what only spells it differently, or below the starting point.
    pub fn is_match(&self, root: usize, path: &[u8], root_len: usize) -> bool {
        self.given.is_match(path)
            || self.normal.is_match(&normalise_path(path))
            || (!self.is_name() && self.is_match_below(root, path, root_len, false))
    }

    /// Returns whether it matches a path below its starting point.
    pub fn is_match_below(&self, root: usize, path: &[u8], root_len: usize, is_directory: bool) -> bool {
        let below = path.get(root_len..).unwrap_or_default();
        let below = &below[below.iter().take_while(|byte| **byte == b'/').count()..];
        self.below.is_match(root, below, is_directory)
    }

    /// Returns whether it matches a directory above a starting point, whose path has no links: its name, or the end of its
    /// path.
    pub fn is_match_above(&self, path: &Path) -> bool {
        if self.is_name() {
            return path.file_name().is_some_and(|name| self.normal.is_match(name.as_encoded_bytes()));
        }
        let path = path.as_os_str().as_encoded_bytes();
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[at + 1..]);
        self.normal.is_match(path) || ends.into_iter().any(|end| self.normal.is_match(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_files_however_their_paths_are_spelled() {
        for (root, path, globs) in [
            (c".", "./keep/a", &["keep/*", "./keep/*", "*/keep/*", "*keep*", "keep/./a", "./keep//a"][..]),
            (c"p", "p/keep/a", &["p/keep/*", "./p/keep/*", "p//keep/*", "keep/*", "*/a"]),
            (c"./p/", "./p/keep/a", &["p/keep/*", "./p/keep/a", "keep/a"]),
        ] {
            let roots = [root.to_owned()];
            for glob in globs {
                let glob = SpelledGlob::new(glob.as_bytes(), &Roots::new(&roots)).unwrap();
                let is_match = |path: &str| glob.is_match(0, path.as_bytes(), root.count_bytes());
                assert!(is_match(path) && !is_match(&path.replace("keep/a", "k/b")), "{path} {glob:?}");
            }
        }
    }

    #[test]
    fn directories_above_a_starting_point_match_by_name_or_path() {
        for (glob, path, expected) in [
            ("*.app", "/home/u/A.app", true),
            ("*.app", "/home/A.app/u", false),
            ("A.app/", "/x/A.app", true),
            ("Apps/*.app", "/home/Apps/A.app", true),
            ("Apps/*.app", "/home/MyApps/A.app", false),
            ("./Apps/A.app/.", "/home/Apps/A.app", true),
            ("/home/A.app", "/home/A.app", true),
            ("/home/A.app", "/mnt/home/A.app", false),
        ] {
            let glob = SpelledGlob::new(glob.as_bytes(), &Roots::none()).unwrap();
            assert_eq!(glob.is_match_above(Path::new(path)), expected, "{glob:?} {path}");
        }
    }
}
