//! The visitor that skips ignored entries.

use std::sync::{Arc, OnceLock};

use ftk_walk::{Directory, Entry, Fields, FileType, Repeat, Step, Visitor, WalkError};

use crate::{IgnoreFiles, IgnoreRules, Loaded};

/// The visitor that [`IgnoreFiles`] wraps around another one, which then does not see ignored entries.
#[derive(Debug)]
pub struct Unignored<V> {
    files: IgnoreFiles,
    inner: V,
    /// The rules that apply in the directory being listed.
    rules: Option<Arc<IgnoreRules>>,
    /// Its path, as the rules need it.
    path: Vec<u8>,
}

/// The value of a directory: that of the inner visitor, and the rules.
#[derive(Debug, Default)]
pub struct Tag<D> {
    inner: D,
    /// The length of the starting point with a slash at the end.
    root_len: usize,
    /// The rules of the directory above, or for a starting point the rules above it.
    up: Option<Arc<IgnoreRules>>,
    /// The rules of the directory. They are loaded once, also if several workers share its entries.
    own: OnceLock<Own>,
}

#[derive(Debug)]
struct Own {
    rules: Option<Arc<IgnoreRules>>,
    are_slow: bool,
}

impl<V: Visitor> Unignored<V> {
    pub(crate) fn new(files: IgnoreFiles, inner: V) -> Self {
        Self { files, inner, rules: None, path: Vec::new() }
    }

    pub(crate) fn into_inner(self) -> V {
        self.inner
    }

    fn ignores(&mut self, entry: &Entry<'_>) -> bool {
        let Some(rules) = &self.rules else { return false };
        let dir_len = self.path.len();
        self.path.extend_from_slice(entry.name());
        let ignores = rules.ignores(&self.path, entry.file_type() == FileType::Directory);
        self.path.truncate(dir_len);
        ignores
    }

    /// Reports errors. Returns whether the walk stops.
    fn report(&mut self, errors: Vec<WalkError>) -> bool {
        errors.into_iter().any(|error| self.inner.error(error) == Step::Stop)
    }
}

impl<V: Visitor> Visitor for Unignored<V> {
    type Dir = Tag<V::Dir>;

    fn entry(&mut self, tag: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Step {
        let Some(tag) = tag else {
            if entry.file_type() == FileType::Directory {
                let Loaded { rules, errors, .. } = self.files.above(entry);
                self.rules = rules;
                if self.report(errors) {
                    return Step::Stop;
                }
            }
            return self.inner.entry(None, entry);
        };
        if self.ignores(entry) {
            self.inner.filtered(&tag.inner);
            return Step::Next;
        }
        self.inner.entry(Some(&tag.inner), entry)
    }

    fn descend(&mut self, parent: Option<&Self::Dir>, entry: &mut Entry<'_>) -> Self::Dir {
        let (root_len, up) = match parent {
            Some(parent) => (parent.root_len, self.rules.clone()),
            None => {
                let slash = usize::from(!entry.name().ends_with(b"/"));
                (entry.name().len() + slash, self.rules.take())
            }
        };
        let inner = self.inner.descend(parent.map(|parent| &parent.inner), entry);
        Tag { inner, root_len, up, own: OnceLock::new() }
    }

    fn enter(&mut self, tag: &Self::Dir, dir: &Directory<'_>) -> Step {
        IgnoreRules::set_path(tag.up.as_ref(), dir, tag.root_len, &mut self.path);
        let mut failed = Vec::new();
        let own = tag.own.get_or_init(|| {
            let Loaded { rules, errors, are_slow } = self.files.of(dir, tag.up.as_ref(), self.path.len());
            failed = errors;
            Own { rules, are_slow }
        });
        self.rules.clone_from(&own.rules);
        match self.report(failed) {
            true => Step::Stop,
            false if own.are_slow => Step::Next,
            false => self.inner.enter(&tag.inner, dir),
        }
    }

    fn leave(&mut self, tag: &Self::Dir) {
        self.inner.leave(&tag.inner);
    }

    fn error(&mut self, error: WalkError) -> Step {
        self.inner.error(error)
    }

    fn shares_directories(&self) -> bool {
        self.inner.shares_directories()
    }

    fn again(&mut self, repeat: &Repeat<'_>) {
        self.inner.again(repeat);
    }

    fn covered(&mut self, path: &[u8]) {
        self.inner.covered(path);
    }

    fn reads(&self) -> Fields {
        self.inner.reads()
    }
}
