//! Filters that keep state for workers and directories.

use crate::Visitor;

/// A filter for [`Walker::filter_with`](crate::Walker::filter_with): it wraps the visitor of each worker in another visitor,
/// which shows it only some of the entries.
///
/// Starting points were asked for by their paths, so a filter should show all of them. For a predicate of the entry alone,
/// [`filter_entry`](crate::Walker::filter_entry) is simpler.
///
/// # Examples
///
/// A filter that shows at most three entries of each directory:
///
/// ```
/// use ftk_walk::{Directory, Entry, Filter, Step, Visitor, WalkError, Walker};
///
/// struct First3;
///
/// struct Few<V> {
///     shown: u32,
///     inner: V,
/// }
///
/// impl Filter for First3 {
///     type Visitor<V: Visitor> = Few<V>;
///     fn wrap<V: Visitor>(&self, inner: V) -> Few<V> {
///         Few { shown: 0, inner }
///     }
///     fn unwrap<V: Visitor>(wrapped: Few<V>) -> V {
///         wrapped.inner
///     }
/// }
///
/// impl<V: Visitor> Visitor for Few<V> {
///     type Dir = V::Dir;
///     fn enter(&mut self, dir: &V::Dir, opened: &Directory<'_>) -> Step {
///         self.shown = 0;
///         self.inner.enter(dir, opened)
///     }
///     fn entry(&mut self, dir: Option<&V::Dir>, entry: &mut Entry<'_>) -> Step {
///         self.shown += u32::from(dir.is_some());
///         if self.shown > 3 { Step::Next } else { self.inner.entry(dir, entry) }
///     }
///     // The other calls are passed on.
///     fn descend(&mut self, parent: Option<&V::Dir>, entry: &mut Entry<'_>) -> V::Dir {
///         self.inner.descend(parent, entry)
///     }
///     fn leave(&mut self, dir: &V::Dir) {
///         self.inner.leave(dir);
///     }
///     fn error(&mut self, error: WalkError) -> Step {
///         self.inner.error(error)
///     }
/// }
///
/// let (entries, errors) = Walker::new(["src"]).filter_with(First3).max_depth(1).collect_sorted();
/// assert_eq!((entries.len(), errors.len()), (4, 0));
/// ```
pub trait Filter {
    /// The visitor that filters for the visitor `V`. It passes on every call except those for the entries that it skips.
    type Visitor<V: Visitor>: Visitor;

    /// Wraps the visitor of a worker.
    fn wrap<V: Visitor>(&self, visitor: V) -> Self::Visitor<V>;

    /// Returns the visitor that was wrapped, at the end of the walk.
    fn unwrap<V: Visitor>(wrapped: Self::Visitor<V>) -> V;
}

/// No filter: visitors are not wrapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfiltered;

impl Filter for Unfiltered {
    type Visitor<V: Visitor> = V;

    fn wrap<V: Visitor>(&self, visitor: V) -> V {
        visitor
    }

    fn unwrap<V: Visitor>(wrapped: V) -> V {
        wrapped
    }
}
