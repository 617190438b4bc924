//! Levels of ignore files, from a directory up to where they begin to count.

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

/// The ignore files of a directory, and through it of those above.
#[derive(Debug)]
pub(crate) struct IgnoreRules {
    up: Option<Arc<IgnoreRules>>,
    /// The way from the topmost directory of all to the root of the walk, with a slash behind each name.
    above_root: Arc<[u8]>,
    /// Bytes before the names of the directory's entries in their paths from the topmost directory.
    skip: usize,
    files: Files,
}

#[derive(Debug)]
struct Files {
    ignore: Lines,
    git: Lines,
    /// What the repository says that begins here.
    exclude: Lines,
    is_repository: bool,
}

impl IgnoreRules {
    /// The rules above the walk's root `path`: those between it and the beginning of the repository it lies in.
    /// None if it lies in none, begins one, or cannot be looked at from above.
    pub(crate) fn above(path: &CStr) -> (Option<Arc<Self>>, Vec<WalkError>) {
        let mut errors = Vec::new();
        let Ok(real) = Path::new(OsStr::from_bytes(path.to_bytes())).canonicalize() else {
            return (None, errors);
        };
        let begins = real.ancestors().position(|dir| begins_repository(CWD, dir));
        let mut dirs: Vec<_> = real.ancestors().take(begins.map_or(0, |nth| nth + 1)).skip(1).collect();
        dirs.reverse();
        let behind = |dir: &Path| dir.as_os_str().len() + usize::from(dir.parent().is_some());
        let Some(top) = dirs.first().map(|top| behind(top)) else { return (None, errors) };
        let above_root: Arc<[u8]> = [&real.as_os_str().as_bytes()[top..], b"/"].concat().into();
        let mut up = None;
        for dir in dirs {
            let (files, failed) = Files::read(CWD, dir);
            errors.extend(failed.map(|(name, error)| failure(dir.as_os_str().as_bytes(), name, error)));
            let above_root = Arc::clone(&above_root);
            up = Some(Arc::new(Self { up, above_root, skip: behind(dir) - top, files }));
        }
        (up, errors)
    }

    /// The rules in `dir`. `skip` is the length of its path from the topmost directory, a slash behind each name.
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
        if files.say_nothing() {
            return (up.cloned(), errors);
        }
        let above_root = up.map_or_else(Arc::default, |up| Arc::clone(&up.above_root));
        (Some(Arc::new(Self { up: up.cloned(), above_root, skip, files })), errors)
    }

    /// The way from the topmost directory whose files count to the root of the walk.
    pub(crate) fn above_root(&self) -> &[u8] {
        &self.above_root
    }

    /// Whether an entry is ignored; `path` begins at the topmost directory.
    pub(crate) fn ignore(&self, path: &[u8], is_dir: bool) -> bool {
        let levels = || successors(Some(self), |level| level.up.as_deref());
        let verdict = |level: &Self, by: &Lines| by.verdict(&path[level.skip..], is_dir);
        if let Some(ignored) = levels().find_map(|level| verdict(level, &level.files.ignore)) {
            return ignored;
        }
        for level in levels() {
            let files = &level.files;
            let ignored = verdict(level, &files.git).or_else(|| verdict(level, &files.exclude));
            if ignored.is_some() || files.is_repository {
                return ignored == Some(true);
            }
        }
        false
    }
}

/// A chain is taken apart link by link: dropping it recursively would overflow the stack.
impl Drop for IgnoreRules {
    fn drop(&mut self) {
        let mut up = self.up.take();
        while let Some(rules) = up {
            up = Arc::into_inner(rules).and_then(|mut rules| rules.up.take());
        }
    }
}

impl Files {
    /// Those in the directory `dir`, seen from `at`, and which of them could not be read as a whole.
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

    fn say_nothing(&self) -> bool {
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
