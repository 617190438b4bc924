//! What a walk skips, and what it reads of each entry before it shows the entry.

use std::fmt;
use std::sync::Arc;

use crate::{Entry, Fields, Filter, Walker};

/// The limits of a walk. By default there are none.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) max_depth: u32,
    pub(crate) same_file_system: bool,
    pub(crate) prefetch: Fields,
    pub(crate) filter: Option<Predicate>,
}

/// A predicate for entries.
#[derive(Clone)]
pub(crate) struct Predicate(Arc<dyn Fn(&mut Entry<'_>) -> bool + Send + Sync>);

impl Predicate {
    pub(crate) fn accepts(&self, entry: &mut Entry<'_>) -> bool {
        (self.0)(entry)
    }
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: u32::MAX, same_file_system: false, prefetch: Fields::NONE, filter: None }
    }
}

impl Limits {
    /// Returns whether every entry must be examined before it is shown.
    pub(crate) fn examines_entries(&self) -> bool {
        self.filter.is_some() || !self.prefetch.is_empty()
    }
}

/// Limits hold for every form of the walk, [`run`](Walker::run) included.
impl<F: Filter> Walker<F> {
    /// Sets the depth of the deepest entries that are shown. `0` shows only the starting points, `1` also what is directly
    /// in them. Directories at this depth are shown and not opened. There is no limit by default.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.limits.max_depth = depth;
        self
    }

    /// Sets whether directories on another file system than their starting point are not entered. They are shown. The
    /// default is `false`.
    #[must_use]
    pub fn same_file_system(mut self, yes: bool) -> Self {
        self.limits.same_file_system = yes;
        self
    }

    /// Reads these fields of the metadata of every entry before it is shown, by one system call.
    ///
    /// They are read before filters see the entry, also for entries that those skip.
    ///
    /// An entry whose metadata cannot be read is reported as an error and not shown. A [`DirEntry`](crate::DirEntry) has
    /// metadata only with this option. The default is no field.
    #[must_use]
    pub fn prefetch(mut self, fields: Fields) -> Self {
        self.limits.prefetch = fields;
        self
    }

    /// Shows only entries for which `filter` returns `true`. A directory for which it returns `false` is skipped with
    /// everything below it.
    ///
    /// `filter` is not called for starting points: what was asked for by its path is always walked. It is called on the
    /// worker that lists the directory, after [`prefetch`](Self::prefetch). A second
    /// predicate replaces the first. Filters that need more than the entry itself are for [`filter_with`](Walker::filter_with).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::os::unix::ffi::OsStrExt;
    /// use ftk_walk::Walker;
    ///
    /// let walker = Walker::new(["."]).filter_entry(|entry| !entry.file_name().as_bytes().starts_with(b"."));
    /// let (entries, errors) = walker.max_depth(1).collect_sorted();
    /// assert!(errors.is_empty());
    /// assert!(entries.iter().any(|entry| entry.file_name() == "src"));
    /// assert!(!entries.iter().any(|entry| entry.file_name() == ".git"));
    /// ```
    #[must_use]
    pub fn filter_entry(mut self, filter: impl Fn(&mut Entry<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.limits.filter = Some(Predicate(Arc::new(filter)));
        self
    }
}
