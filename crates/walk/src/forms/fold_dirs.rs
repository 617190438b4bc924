//! A walk that sums up each directory with everything below it.

use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{Number, path_order, post_order};
use crate::{Directory, Entry, FileType, Filter, Step, Visitor, WalkError, Walker};

/// A directory that is entered, or another starting point.
struct Dir<S> {
    number: Number,
    parent: Option<Number>,
    path: PathBuf,
    own: S,
}

/// The state of a directory, and of a starting point the path.
struct Shown<S> {
    own: S,
    starting_point: Option<PathBuf>,
}

/// What one worker has found and summed up.
struct Sums<'f, S, F, M> {
    next: &'f AtomicUsize,
    each: &'f F,
    merge: &'f M,
    dirs: Vec<Dir<S>>,
    /// Sums of directories without those below them.
    sums: Vec<(Number, S)>,
    current: S,
    /// The directory or starting point that was shown last, until it is known whether it is entered.
    shown: Option<Shown<S>>,
    errors: Vec<WalkError>,
}

impl<S, F, M: Fn(&mut S, &S)> Sums<'_, S, F, M> {
    fn add(&mut self, parent: Option<Number>, path: PathBuf, own: S) -> Number {
        let number = self.next.fetch_add(1, Relaxed);
        self.dirs.push(Dir { number, parent, path, own });
        number
    }

    /// Adds what was shown last and is not entered: a starting point for itself, a directory to the one that contains it.
    fn settle(&mut self) {
        match self.shown.take() {
            Some(Shown { own, starting_point: Some(path) }) => drop(self.add(None, path, own)),
            Some(Shown { own, starting_point: None }) => (self.merge)(&mut self.current, &own),
            None => {}
        }
    }
}

impl<S, F, M> Visitor for Sums<'_, S, F, M>
where
    S: Default + Send,
    F: Fn(&mut S, &mut Entry<'_>) -> Result<Step, WalkError> + Sync,
    M: Fn(&mut S, &S) + Sync,
{
    type Dir = Number;

    fn entry(&mut self, dir: Option<&Number>, entry: &mut Entry<'_>) -> Step {
        self.settle();
        let step = if dir.is_none() || entry.file_type() == FileType::Directory {
            let starting_point = dir.is_none().then(|| entry.path());
            let shown = self.shown.insert(Shown { own: S::default(), starting_point });
            (self.each)(&mut shown.own, entry)
        } else {
            (self.each)(&mut self.current, entry)
        };
        step.unwrap_or_else(|error| self.error(error))
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.errors.push(error);
        Step::Descend
    }

    fn shares_directories(&self) -> bool {
        true
    }

    fn descend(&mut self, parent: Option<&Number>, entry: &mut Entry<'_>) -> Number {
        let own = self.shown.take().map(|shown| shown.own).unwrap_or_default();
        self.add(parent.copied(), entry.path(), own)
    }

    fn enter(&mut self, _: &Number, _: &Directory<'_>) -> Step {
        self.settle();
        self.current = S::default();
        Step::Descend
    }

    fn leave(&mut self, number: &Number) {
        self.settle();
        self.sums.push((*number, mem::take(&mut self.current)));
    }
}

impl<W: Filter> Walker<W> {
    /// Walks, and returns for each directory a state that includes everything below it, and all errors.
    ///
    /// `each` is called for every entry with the state of the directory that contains it; for a directory that is entered
    /// and for a starting point, with its own state. `merge` adds the state of a directory to the one above it. The
    /// result is in path order, but a directory comes after those below it. A starting point that is not a directory has
    /// a state too. A starting point below another one counts only there.
    ///
    /// # Panics
    /// If a closure panics, as [`run`](Self::run) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use ftk_walk::{Step, Walker};
    ///
    /// let (counts, errors) = Walker::new(["."]).fold_dirs(
    ///     |entries, _| {
    ///         *entries += 1;
    ///         Ok(Step::Descend)
    ///     },
    ///     |entries, below| *entries += below,
    /// );
    /// assert!(errors.is_empty());
    /// let of = |path| counts.iter().find(|dir| dir.0.as_os_str() == path).map(|dir| dir.1);
    /// assert!(of(".") > of("./src") && of("./src") > Some(10));
    /// ```
    pub fn fold_dirs<S, F, M>(self, each: F, merge: M) -> (Vec<(PathBuf, S)>, Vec<WalkError>)
    where
        S: Default + Send,
        F: Fn(&mut S, &mut Entry<'_>) -> Result<Step, WalkError> + Sync,
        M: Fn(&mut S, &S) + Sync,
    {
        let next = AtomicUsize::new(0);
        let mut parts = self.run(|_| Sums {
            next: &next,
            each: &each,
            merge: &merge,
            dirs: Vec::new(),
            sums: Vec::new(),
            current: S::default(),
            shown: None,
            errors: Vec::new(),
        });
        parts.iter_mut().for_each(Sums::settle);
        let (mut dirs, mut errors) = (Vec::with_capacity(next.load(Relaxed)), Vec::new());
        for part in &mut parts {
            dirs.append(&mut part.dirs);
            errors.append(&mut part.errors);
        }
        dirs.sort_unstable_by_key(|dir| dir.number);
        for (number, sum) in parts.into_iter().flat_map(|part| part.sums) {
            merge(&mut dirs[number].own, &sum);
        }
        // A directory has a larger number than the one that contains it.
        for number in (0..dirs.len()).rev() {
            let (above, below) = dirs.split_at_mut(number);
            if let Some(parent) = below[0].parent {
                merge(&mut above[parent].own, &below[0].own);
            }
        }
        dirs.sort_unstable_by(|a, b| {
            post_order(a.path.as_os_str().as_bytes(), b.path.as_os_str().as_bytes())
        });
        errors.sort_by(|a, b| path_order(&a.path, &b.path));
        (dirs.into_iter().map(|dir| (dir.path, dir.own)).collect(), errors)
    }
}
