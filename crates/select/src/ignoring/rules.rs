//! Levels of ignore files, from a directory up to the topmost one whose files apply.

use std::ffi::{CStr, OsStr};
use std::io;
use std::iter::successors;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use ftk_walk::{Directory, Op, WalkError};
use rustix::fs::{AtFlags, CWD, statat};

use super::file::Lines;

/// The ignore files of a directory, with a link to those of the directories above.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    up: Option<Arc<IgnoreRules>>,
    /// The path of the starting point relative to the topmost directory whose ignore files apply, with a
    /// slash after each name.
    above_root: Arc<[u8]>,
    /// Length of this directory's path relative to the topmost one, with a slash after each name.
    skip: usize,
    files: Files,
}

#[derive(Debug)]
struct Files {
    ignore: Lines,
    git: Lines,
    /// The lines of `.git/info/exclude`, if a repository begins here.
    exclude: Lines,
    is_repository: bool,
}

impl IgnoreRules {
    /// Returns the rules above the starting point `path`, up to the directory in which its repository begins.
    ///
    /// Returns `None` if the starting point is not in a repository, or is where one begins, or if its
    /// canonical path cannot be determined. The errors are those of ignore files that could not be read.
    pub(crate) fn above(path: &CStr) -> (Option<Arc<Self>>, Vec<WalkError>) {
        let mut errors = Vec::new();
        let Ok(real) = Path::new(OsStr::from_bytes(path.to_bytes())).canonicalize() else {
            return (None, errors);
        };
        let begins = real.ancestors().position(|dir| begins_repository(CWD, dir));
        let mut dirs: Vec<_> = real.ancestors().take(begins.map_or(0, |nth| nth + 1)).skip(1).collect();
        dirs.reverse();
        let len_with_slash = |dir: &Path| dir.as_os_str().len() + usize::from(dir.parent().is_some());
        let Some(top) = dirs.first().map(|top| len_with_slash(top)) else { return (None, errors) };
        let above_root: Arc<[u8]> = [&real.as_os_str().as_bytes()[top..], b"/"].concat().into();
        let mut up = None;
        for dir in dirs {
            let (files, failed) = Files::read(CWD, dir);
            errors.extend(failed.map(|(name, error)| failure(dir.as_os_str().as_bytes(), name, error)));
            let above_root = Arc::clone(&above_root);
            up = Some(Arc::new(Self { up, above_root, skip: len_with_slash(dir) - top, files }));
        }
        (up, errors)
    }

    /// Returns the rules that apply in `dir`, and the errors of ignore files that could not be read.
    ///
    /// `skip` is the length of its path from the topmost directory, with a slash after each name.
    pub(crate) fn of(
        dir: &Directory<'_>,
        up: Option<&Arc<Self>>,
        skip: usize,
    ) -> (Option<Arc<Self>>, Vec<WalkError>) {
        let (files, failed) = Files::read(dir.as_fd(), Path::new(""));
        let errors = failed.map(|(name, error)| {
            let mut path = Vec::new();
            dir.push_path(&mut path);
            failure(&path, name, error)
        });
        let errors = errors.collect();
        if files.have_no_effect() {
            return (up.cloned(), errors);
        }
        let above_root = up.map_or_else(Arc::default, |up| Arc::clone(&up.above_root));
        (Some(Arc::new(Self { up: up.cloned(), above_root, skip, files })), errors)
    }

    /// Returns the path of the starting point relative to the topmost directory whose ignore files apply,
    /// with a slash after each name. It is empty if no ignore files above the starting point apply.
    pub(crate) fn above_root(&self) -> &[u8] {
        &self.above_root
    }

    /// Returns whether an entry is ignored. `path` is relative to the topmost directory whose ignore
    /// files apply.
    pub(crate) fn ignore(&self, path: &[u8], is_dir: bool) -> bool {
        let levels = || successors(Some(self), |level| level.up.as_deref());
        let ignores = |level: &Self, lines: &Lines| lines.ignores(&path[level.skip..], is_dir);
        if let Some(ignored) = levels().find_map(|level| ignores(level, &level.files.ignore)) {
            return ignored;
        }
        for level in levels() {
            let files = &level.files;
            let ignored = ignores(level, &files.git).or_else(|| ignores(level, &files.exclude));
            if ignored.is_some() || files.is_repository {
                return ignored == Some(true);
            }
        }
        false
    }
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
    fn read(at: BorrowedFd<'_>, dir: &Path) -> (Self, impl Iterator<Item = (&'static str, io::Error)>) {
        let mut failed = Vec::new();
        let mut read = |name| {
            let (rules, error) = Lines::read(at, &dir.join(name));
            failed.extend(error.map(|error| (name, error)));
            rules
        };
        let is_repository = begins_repository(at, dir);
        let (ignore, git) = (read(".ignore"), read(".gitignore"));
        let exclude = if is_repository { read(".git/info/exclude") } else { Lines::default() };
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
                ignore: Lines::default(),
                git: Lines::default(),
                exclude: Lines::default(),
                is_repository: false,
            };
            rules = Some(Arc::new(IgnoreRules { up: rules, above_root: Arc::default(), skip: 0, files }));
        }
        assert!(!rules.as_ref().is_some_and(|rules| rules.ignore(b"x", false)));
        drop(rules);
    }
}
