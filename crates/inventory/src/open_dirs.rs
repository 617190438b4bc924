//! Directories whose entries may still come, while the entries of a tree come in the order of their paths.

use std::ops::{Index, IndexMut};

use crate::{Full, Reservation};

/// Directories whose entries may still come, with a value for each.
///
/// Paths are sorted as a whole, so other entries may stand between a directory and its contents: `a`, `a-b`, `a/x`. The
/// path of each open directory is a prefix of the next one. A selection may lack a directory whose contents it has, so not
/// all directories of a path need to be here. The path of the root is empty.
#[derive(Debug)]
pub struct OpenDirs<T> {
    /// The path of the directory that was pushed or popped last. It begins with the paths of all that are open.
    path: Vec<u8>,
    dirs: Vec<OpenDir<T>>,
}

#[derive(Debug)]
struct OpenDir<T> {
    /// The length of its path.
    len: usize,
    value: T,
}

impl<T> Default for OpenDirs<T> {
    fn default() -> Self {
        Self { path: Vec::new(), dirs: Vec::new() }
    }
}

impl<T> OpenDirs<T> {
    /// The memory for a directory besides its path: a list that grows is in memory twice.
    pub const BYTES: usize = 3 * size_of::<OpenDir<T>>();

    /// Returns the number of open directories.
    pub fn len(&self) -> usize {
        self.dirs.len()
    }

    /// Returns whether no directory is open.
    pub fn is_empty(&self) -> bool {
        self.dirs.is_empty()
    }

    /// Returns the path of the directory that was pushed or popped last.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Removes the innermost directory if no entry of it can follow, given that `path` is the next entry.
    pub fn pop_before(&mut self, path: &[u8]) -> Option<T> {
        let len = self.dirs.last()?.len;
        // Entries that sort before `dir/` and after `dir` begin with `dir` and a byte below `/`.
        let may_follow =
            len == 0 || path.get(len).is_some_and(|next| *next <= b'/') && path[..len] == self.path[..len];
        if may_follow { None } else { self.pop() }
    }

    /// Removes the innermost directory.
    pub fn pop(&mut self) -> Option<T> {
        let popped = self.dirs.pop()?;
        self.path.truncate(popped.len);
        Some(popped.value)
    }

    /// Removes all directories of which no entry can follow, given that `path` is the next entry. Returns the path of the
    /// innermost directory that contains `path`.
    pub fn go_to(&mut self, path: &[u8]) -> Option<&[u8]> {
        while self.pop_before(path).is_some() {}
        self.above(path).map(|(at, _)| &self.path[..self.dirs[at].len])
    }

    /// Removes all directories below `dir`, which is open. Returns the number of those that are left; `dir` is the last.
    pub fn reopen(&mut self, dir: &[u8]) -> usize {
        while self.dirs.pop_if(|open| open.len > dir.len()).is_some() {}
        self.dirs.len()
    }

    /// Returns the index of the innermost directory that contains `path`, and the part of `path` below it, after
    /// [`pop_before`](Self::pop_before) has removed all that it removes for `path`.
    pub fn above<'p>(&self, path: &'p [u8]) -> Option<(usize, &'p [u8])> {
        let at = self.dirs.iter().rposition(|dir| dir.contains(path))?;
        Some((at, &path[self.dirs[at].start()..]))
    }

    /// Returns the value of the directory with index `at`, and the part of [`path`](Self::path) below it.
    pub fn with_below(&mut self, at: usize) -> (&mut T, &[u8]) {
        let dir = &mut self.dirs[at];
        let start = dir.start();
        (&mut dir.value, &self.path[start..])
    }

    /// Returns the first directory of `path` that is not here, after [`pop_before`](Self::pop_before) has removed
    /// all that it removes for `path`.
    pub fn missing<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        let below = self.above(path).map_or(path, |(_, below)| below);
        let end = below.iter().position(|byte| *byte == b'/')?;
        Some(&path[..path.len() - below.len() + end])
    }

    /// Adds a directory, after [`pop_before`](Self::pop_before) has removed all that it removes for `path`.
    pub fn push(&mut self, path: &[u8], value: T) {
        self.path.truncate(self.dirs.last().map_or(0, |last| last.len));
        debug_assert!(path.starts_with(&self.path), "the innermost directory may still get entries");
        // Copying the whole path for each of its directories would take quadratic time.
        self.path.extend_from_slice(&path[self.path.len()..]);
        self.dirs.push(OpenDir { len: path.len(), value });
    }

    /// Like [`push`](Self::push), with memory for `bytes` more in each directory.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn push_within(
        &mut self,
        memory: &mut Reservation,
        bytes: usize,
        path: &[u8],
        value: T,
    ) -> Result<(), Full> {
        self.push(path, value);
        memory.reach((self.dirs.len() * (Self::BYTES + bytes)) as u64)
    }

    /// Returns the values of the directories that contain `path`, the outermost first.
    pub fn around(&mut self, path: &[u8]) -> impl Iterator<Item = &mut T> {
        self.dirs.iter_mut().filter(|dir| dir.contains(path)).map(|dir| &mut dir.value)
    }

    /// Returns all values, the outermost first.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.dirs.iter_mut().map(|dir| &mut dir.value)
    }
}

impl<T> Index<usize> for OpenDirs<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.dirs[at].value
    }
}

impl<T> IndexMut<usize> for OpenDirs<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.dirs[at].value
    }
}

impl<T> OpenDir<T> {
    /// Whether the directory contains `path`, which begins with its path.
    fn contains(&self, path: &[u8]) -> bool {
        if self.len == 0 { !path.is_empty() } else { path.get(self.len) == Some(&b'/') }
    }

    /// Returns where the names of its entries start in their paths.
    fn start(&self) -> usize {
        if self.len == 0 { 0 } else { self.len + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;

    #[test]
    fn entries_between_a_directory_and_what_is_below_it() {
        let mut dirs = OpenDirs::default();
        dirs.push(b"a", ());
        assert_eq!(dirs.go_to(b"a-b"), None);
        dirs.push(b"a-b", ());
        assert_eq!(dirs.go_to(b"a-b/x"), Some(&b"a-b"[..]));
        assert_eq!(dirs.go_to(b"a-c"), None);
        assert_eq!(dirs.go_to(b"a/b"), Some(&b"a"[..]));
        dirs.push(b"a/b", ());
        assert_eq!(dirs.go_to(b"a/b-c"), Some(&b"a"[..]), "a/b is still open");
        assert_eq!(dirs.go_to(b"a/c/d/x"), Some(&b"a"[..]));
        assert_eq!(dirs.missing(b"a/c/d/x"), Some(&b"a/c"[..]));
        assert_eq!(dirs.missing(b"a/c"), None);
        assert_eq!(dirs.go_to(b"ab"), None);
        assert!(dirs.is_empty());
        dirs.push(b"", ());
        assert_eq!(dirs.go_to(b"ab"), Some(&b""[..]));
    }

    #[test]
    fn open_directories_count_towards_the_budget() {
        let path = b"a/".repeat(10_000);
        let push_all = |memory: u64| {
            let (mut dirs, mut memory) = (OpenDirs::default(), Reservation::new(&Budget::new(memory)));
            while let Some(dir) = dirs.missing(&path) {
                dirs.push_within(&mut memory, 128, dir, ())?;
            }
            Ok(())
        };
        assert_eq!(push_all(4 << 20), Ok(()));
        assert_eq!(push_all(1 << 20), Err(Full::Memory));
    }
}
