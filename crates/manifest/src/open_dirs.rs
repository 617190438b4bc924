//! Directories of a manifest whose entries may still come.

use crate::entry::{ROOT, key};

/// A choice of directories whose entries may still come, in the order of a manifest.
///
/// Other entries may come between a directory and what is below it, so several directories can be pending. The path
/// of each is a prefix of the next.
#[derive(Debug, Default)]
pub(crate) struct OpenDirs(Vec<Vec<u8>>);

impl OpenDirs {
    /// Adds the directory that was read last.
    pub(crate) fn push(&mut self, path: &[u8]) {
        self.0.push(path.to_vec());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the directory that `path` is below, if there is one. Forgets directories that end before `path`; the
    /// next path must not sort before it.
    pub(crate) fn above(&mut self, path: &[u8]) -> Option<&[u8]> {
        // The entries of `a` come before `a0`: the byte after the slash is `0`.
        let is_over = |dir: &Vec<u8>| dir != ROOT && *path > *[dir, &b"0"[..]].concat();
        while self.0.pop_if(|dir| is_over(dir)).is_some() {}
        self.0.last().map(|dir| &**dir).filter(|dir| is_below(dir, path))
    }
}

/// Returns whether `path` is below the directory `dir`.
pub(crate) fn is_below(dir: &[u8], path: &[u8]) -> bool {
    match key(dir) {
        [] => path != ROOT,
        dir => path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(b"/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_between_a_directory_and_what_is_below_it() {
        let mut dirs = OpenDirs::default();
        dirs.push(b"a");
        assert_eq!(dirs.above(b"a-b"), None);
        dirs.push(b"a-b");
        assert_eq!(dirs.above(b"a-b/x"), Some(&b"a-b"[..]));
        assert_eq!(dirs.above(b"a-c"), None);
        assert_eq!(dirs.above(b"a/x/y"), Some(&b"a"[..]));
        assert_eq!(dirs.above(b"ab"), None);
        assert!(dirs.is_empty());
        dirs.push(b".");
        assert_eq!(dirs.above(b"ab"), Some(&b"."[..]));
    }
}
