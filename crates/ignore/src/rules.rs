//! Levels of ignore files, from a directory up to the topmost one whose files apply.

use std::ffi::OsStr;
use std::io;
use std::iter::successors;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ftk_walk::{Directory, Entry, Op, WalkError};
use rustix::fs::{AtFlags, CWD, statat};

use crate::file::{IgnoreFile, MAX_STEPS, Match};
use crate::line::MAX_NAME;
use crate::memory::Memory;

/// The ignore files of a directory, with a link to those of the directories above.
///
/// Paths are relative to the topmost directory whose ignore files apply.
#[derive(Debug)]
pub struct IgnoreRules {
    up: Option<Arc<IgnoreRules>>,
    /// The path of the starting point relative to the topmost directory whose ignore files apply, with a
    /// slash after each name.
    above_root: Arc<[u8]>,
    /// Length of this directory's path relative to the topmost one, with a slash after each name.
    skip: usize,
    /// The directory, if it is above the starting point.
    dir: Option<PathBuf>,
    files: Files,
}

#[derive(Debug)]
struct Files {
    ignore: IgnoreFile,
    git: IgnoreFile,
    /// The lines of `.git/info/exclude`, if a repository begins here.
    exclude: IgnoreFile,
    is_repository: bool,
}

impl IgnoreRules {
    /// Returns the rules above a starting point, up to the directory in which its repository begins.
    ///
    /// There are none if the starting point is not in a repository, or is where one begins, or if its canonical path
    /// cannot be determined.
    pub(crate) fn above(root: &Entry<'_>, memory: Option<&Memory>) -> Loaded {
        let mut loaded = Loaded::default();
        let Ok(real) = Path::new(OsStr::from_bytes(root.name())).canonicalize() else { return loaded };
        let begins = real.ancestors().position(|dir| begins_repository(CWD, dir));
        let mut dirs: Vec<_> = real.ancestors().take(begins.map_or(0, |nth| nth + 1)).skip(1).collect();
        dirs.reverse();
        let len_with_slash = |dir: &Path| dir.as_os_str().len() + usize::from(dir.parent().is_some());
        let Some(top) = dirs.first().map(|top| len_with_slash(top)) else { return loaded };
        let above_root: Arc<[u8]> = [&real.as_os_str().as_bytes()[top..], b"/"].concat().into();
        for dir in dirs {
            let (files, failed) = Files::read(CWD, dir, memory);
            let path = dir.as_os_str().as_bytes();
            loaded.errors.extend(failed.map(|(name, error)| failure(path, name, error)));
            let (up, above_root) = (loaded.rules.take(), Arc::clone(&above_root));
            let (skip, dir) = (len_with_slash(dir) - top, Some(dir.into()));
            loaded.rules = Some(Arc::new(Self { up, above_root, skip, dir, files }));
        }
        loaded
    }

    /// Returns the rules that apply in `dir`. `len` is the length of its [path](Self::set_path).
    pub(crate) fn of(
        dir: &Directory<'_>,
        up: Option<&Arc<Self>>,
        len: usize,
        memory: Option<&Memory>,
    ) -> Loaded {
        let (files, failed) = Files::read(dir.as_fd(), Path::new(""), memory);
        let path = || {
            let mut path = Vec::new();
            dir.push_path(&mut path);
            path
        };
        let errors = failed.map(|(name, error)| failure(&path(), name, error));
        let mut loaded = Loaded { errors: errors.collect(), ..Loaded::default() };
        loaded.rules = if files.have_no_effect() {
            up.cloned()
        } else {
            let above_root = up.map_or_else(Arc::default, |up| Arc::clone(&up.above_root));
            Some(Arc::new(Self { up: up.cloned(), above_root, skip: len, dir: None, files }))
        };
        loaded.are_slow = loaded.rules.as_ref().is_some_and(|rules| rules.are_slow(len + MAX_NAME));
        if loaded.are_slow {
            let error =
                io::Error::other("matching its long paths against the ignore files would take too long");
            loaded.errors.push(WalkError::new(Op::Read, path(), error));
        }
        loaded
    }

    /// Sets `path` to that of a directory, with a slash at the end, and returns the length of the part that leads to the
    /// starting point. Without rules `up` for the directory above, the path begins below the starting point.
    ///
    /// `root_len` is the length of the starting point as given, with a slash at the end.
    pub fn set_path(
        up: Option<&Arc<Self>>,
        dir: &Directory<'_>,
        root_len: usize,
        path: &mut Vec<u8>,
    ) -> usize {
        path.clear();
        dir.push_path(path);
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        let above = up.map_or(&b""[..], |up| &up.above_root);
        path.splice(..root_len, above.iter().copied());
        above.len()
    }

    /// Returns the line that decides whether an entry is ignored, if a line matches.
    pub fn find(&self, path: &[u8], is_dir: bool) -> Option<Decisive<'_>> {
        let levels = || successors(Some(self), |level| level.up.as_deref());
        if let Some(decisive) =
            levels().find_map(|level| level.find_in(&level.files.ignore, ".ignore", path, is_dir))
        {
            return Some(decisive);
        }
        for level in levels() {
            let files = &level.files;
            let decisive = level
                .find_in(&files.git, ".gitignore", path, is_dir)
                .or_else(|| level.find_in(&files.exclude, ".git/info/exclude", path, is_dir));
            if decisive.is_some() || files.is_repository {
                return decisive;
            }
        }
        None
    }

    /// Returns the last line of one file of this level that matches.
    fn find_in<'r>(
        &'r self,
        lines: &'r IgnoreFile,
        file: &'static str,
        path: &[u8],
        is_dir: bool,
    ) -> Option<Decisive<'r>> {
        let line = lines.find_bytes(&path[self.skip..], is_dir)?;
        Some(Decisive { dir: &self.dir, skip: self.skip, file, line })
    }

    /// Returns whether an entry is ignored.
    pub fn ignores(&self, path: &[u8], is_dir: bool) -> bool {
        self.find(path, is_dir).is_some_and(|decisive| decisive.line.ignores)
    }

    /// Returns whether matching entries with paths of this length against one of the files would take too long.
    fn are_slow(&self, path_len: usize) -> bool {
        successors(Some(self), |level| level.up.as_deref()).any(|level| {
            let Files { ignore, git, exclude, .. } = &level.files;
            [ignore, git, exclude].iter().any(|lines| lines.steps(path_len - level.skip) > MAX_STEPS)
        })
    }
}

/// The rules that were loaded for a directory.
#[derive(Debug, Default)]
pub struct Loaded {
    /// `None` if no ignore file applies.
    pub rules: Option<Arc<IgnoreRules>>,
    /// The errors of ignore files that could not be read, and another one if `are_slow`.
    pub errors: Vec<WalkError>,
    /// Whether matching the entries of the directory would take too long, so that it should not be listed.
    pub are_slow: bool,
}

/// The line that decides whether an entry is ignored.
#[derive(Debug)]
pub struct Decisive<'r> {
    /// The directory of the file, if it is above the starting point.
    pub dir: &'r Option<PathBuf>,
    /// The length of the directory's path, with a slash at the end.
    pub skip: usize,
    /// The file in that directory.
    pub file: &'static str,
    /// The line in that file.
    pub line: Match<'r>,
}

/// Drops the chain of levels in a loop. Recursion would overflow the stack in deep trees.
impl Drop for IgnoreRules {
    fn drop(&mut self) {
        let mut up = self.up.take();
        while let Some(rules) = up {
            up = Arc::into_inner(rules).and_then(|mut rules| rules.up.take());
        }
    }
}

impl Files {
    /// Reads the files in the directory `dir`, relative to `at`. Returns the names and errors of those that
    /// failed too.
    fn read(
        at: BorrowedFd<'_>,
        dir: &Path,
        memory: Option<&Memory>,
    ) -> (Self, impl Iterator<Item = (&'static str, io::Error)>) {
        let mut failed = Vec::new();
        let mut read = |name| {
            let (rules, error) = IgnoreFile::read(at, &dir.join(name), memory);
            failed.extend(error.map(|error| (name, error)));
            rules
        };
        let is_repository = begins_repository(at, dir);
        let (ignore, git) = (read(".ignore"), read(".gitignore"));
        let exclude = if is_repository { read(".git/info/exclude") } else { IgnoreFile::default() };
        (Self { ignore, git, exclude, is_repository }, failed.into_iter())
    }

    fn have_no_effect(&self) -> bool {
        self.ignore.is_empty() && self.git.is_empty() && self.exclude.is_empty() && !self.is_repository
    }
}

fn begins_repository(at: BorrowedFd<'_>, dir: &Path) -> bool {
    statat(at, dir.join(".git"), AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

fn failure(dir: &[u8], name: &str, error: io::Error) -> WalkError {
    let slash: &[u8] = if dir.ends_with(b"/") { b"" } else { b"/" };
    WalkError::new(Op::Read, [dir, slash, name.as_bytes()].concat(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_chain_is_dropped_without_recursion() {
        let mut rules = None;
        for _ in 0..100_000 {
            let files = Files {
                ignore: IgnoreFile::default(),
                git: IgnoreFile::default(),
                exclude: IgnoreFile::default(),
                is_repository: false,
            };
            let above_root = Arc::default();
            rules = Some(Arc::new(IgnoreRules { up: rules, above_root, skip: 0, dir: None, files }));
        }
        assert!(!rules.as_ref().is_some_and(|rules| rules.ignores(b"x", false)));
        drop(rules);
    }
}
