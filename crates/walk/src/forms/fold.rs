//! A walk with one closure.

use crate::{Entry, Filter, Step, Visitor, WalkError, Walker};

/// One worker's state, and the closure that all workers call.
struct Fold<'f, S, F> {
    state: S,
    each: &'f F,
}

impl<S, F> Visitor for Fold<'_, S, F>
where
    S: Send,
    F: Fn(&mut S, Result<&mut Entry<'_>, WalkError>) -> Step + Sync,
{
    type Dir = ();

    fn entry(&mut self, _: Option<&()>, entry: &mut Entry<'_>) -> Step {
        (self.each)(&mut self.state, Ok(entry))
    }

    fn error(&mut self, error: WalkError) -> Step {
        (self.each)(&mut self.state, Err(error))
    }

    fn shares_directories(&self) -> bool {
        true
    }
}

impl<W: Filter> Walker<W> {
    /// Walks, calls `each` for every entry and every error with the state of its worker, and returns the states.
    ///
    /// `new` makes the state of a worker. Entries are starting points and everything below them; the closure decides for
    /// each whether it is entered. After an error the walk continues unless the closure returns [`Step::Stop`].
    ///
    /// # Panics
    /// If a closure panics, as [`run`](Self::run) does.
    ///
    /// # Examples
    ///
    /// The size of all regular files, and the number of errors:
    ///
    /// ```
    /// use ftk_walk::{FileType, Step, Walker};
    ///
    /// let parts = Walker::new(["src", "missing"]).fold(|| (0, 0), |(bytes, errors), entry| {
    ///     match entry.and_then(|entry| entry.metadata()) {
    ///         Ok(metadata) if metadata.file_type == FileType::Regular => *bytes += metadata.size,
    ///         Ok(_) => {}
    ///         Err(error) => {
    ///             eprintln!("{error:#}");
    ///             *errors += 1;
    ///         }
    ///     }
    ///     Step::Descend
    /// });
    /// assert!(parts.iter().map(|part| part.0).sum::<u64>() > 0);
    /// assert_eq!(parts.iter().map(|part| part.1).sum::<u32>(), 1);
    /// ```
    pub fn fold<S, F>(self, mut new: impl FnMut() -> S, each: F) -> Vec<S>
    where
        S: Send,
        F: Fn(&mut S, Result<&mut Entry<'_>, WalkError>) -> Step + Sync,
    {
        let folds = self.run(|_| Fold { state: new(), each: &each });
        folds.into_iter().map(|fold| fold.state).collect()
    }
}
