//! The directories around the current entry of a manifest, for formats that need them before their contents.
//!
//! Manifests are sorted by whole paths, so other entries may stand between a directory and its contents: `a`, `a-b`,
//! `a/x`. And a manifest with a selection may lack a directory whose contents it has.

use ftk_inventory::{Budget, Full, Reservation};

/// A directory whose contents may still follow. All of them are prefixes of one path.
#[derive(Debug)]
pub(super) struct OpenDir<T> {
    len: usize,
    pub(super) data: T,
}

/// The directories whose contents may still follow, the innermost last. The root is not among them.
#[derive(Debug)]
pub(super) struct OpenDirs<T> {
    /// The path of the innermost one; the paths of the others are prefixes of it.
    path: Vec<u8>,
    dirs: Vec<OpenDir<T>>,
    memory: Reservation,
}

/// The memory for a directory besides its place in the list: its own line while that is not written.
const LINE: usize = 128;

impl<T> OpenDirs<T> {
    pub(super) fn new(budget: &Budget) -> Self {
        Self { path: Vec::new(), dirs: Vec::new(), memory: Reservation::new(budget) }
    }

    /// Removes the innermost directory if no contents of it can follow, given that `path` is the next entry.
    pub(super) fn pop_before(&mut self, path: &[u8]) -> Option<T> {
        let len = self.dirs.last()?.len;
        // Entries that sort before `dir/` and after `dir` begin with `dir` and a byte below `/`.
        let may_follow = path.get(len).is_some_and(|next| *next <= b'/') && path[..len] == self.path[..len];
        if may_follow { None } else { self.pop() }
    }

    /// Removes the innermost directory.
    pub(super) fn pop(&mut self) -> Option<T> {
        let popped = self.dirs.pop()?;
        self.path.truncate(self.dirs.last().map_or(0, |last| last.len));
        Some(popped.data)
    }

    /// Returns the first directory of `path` that is not here, after [`pop_before`](Self::pop_before) has removed
    /// all that it removes for `path`.
    pub(super) fn missing<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        let known = self.dirs.iter().rev().map(|dir| dir.len).find(|len| path[*len] == b'/');
        let start = known.map_or(0, |len| len + 1);
        let at = memchr::memchr(b'/', &path[start..])?;
        Some(&path[..start + at])
    }

    /// Adds a directory, after [`pop_before`](Self::pop_before) has removed all that it removes for `path`. Its own
    /// directories must be here.
    ///
    /// # Errors
    /// When the budget is used up.
    pub(super) fn push(&mut self, path: &[u8], data: T) -> Result<(), Full> {
        debug_assert!(path.starts_with(&self.path), "the innermost directory may still get contents");
        // Copying the whole path for each of its directories would take quadratic time.
        self.path.extend_from_slice(&path[self.path.len()..]);
        self.dirs.push(OpenDir { len: path.len(), data });
        // A list that grows is in memory twice.
        self.memory.reach((self.dirs.len() * (3 * size_of::<OpenDir<T>>() + LINE)) as u64)
    }

    /// Returns the directories that contain `path`, the outermost first.
    pub(super) fn around(&mut self, path: &[u8]) -> impl Iterator<Item = &mut T> {
        self.dirs.iter_mut().filter(|dir| path.get(dir.len) == Some(&b'/')).map(|dir| &mut dir.data)
    }
}

/// Returns the last name of a path.
pub(super) fn name_of(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_directories_count_towards_the_budget() {
        let path = b"a/".repeat(10_000);
        let push_all = |memory: u64| {
            let mut dirs = OpenDirs::new(&Budget::new(memory));
            while let Some(dir) = dirs.missing(&path) {
                dirs.push(dir, ())?;
            }
            Ok(())
        };
        assert_eq!(push_all(4 << 20), Ok(()));
        assert_eq!(push_all(1 << 20), Err(Full::Memory));
    }
}
