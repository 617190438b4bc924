//! What a record does not know: the paths that could not be read when it was made.

use ftk_inventory::push_normal;

use crate::WalkedTree;
use crate::entry::{ROOT, key, path_of_key, sorted};

/// The files and directories that could not be read or listed. The state of what is at or below them is unknown.
///
/// Paths that differ only in their Unicode normal form count as the same, so that two manifests can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// In the order of a manifest, without duplicates.
    paths: Vec<Vec<u8>>,
    /// The same in NFC, if one of them is not ASCII.
    normal: Vec<Vec<u8>>,
}

impl Failed {
    /// Creates the list of these paths below a root, in any order.
    pub fn new(paths: Vec<Vec<u8>>) -> Self {
        let paths = sorted(paths);
        let normal = match paths.iter().all(|path| path.is_ascii()) {
            true => Vec::new(),
            false => sorted(paths.iter().map(|path| in_nfc(path)).collect()),
        };
        Self { paths, normal }
    }

    /// Returns what a walk could not read.
    pub(crate) fn of(tree: &WalkedTree<'_>) -> Self {
        Self::new(tree.failed.iter().map(|path| tree.relative(path).to_vec()).collect())
    }

    /// Returns what is in any of these lists.
    pub fn union<'f>(all: impl IntoIterator<Item = &'f Self>) -> Self {
        Self::new(all.into_iter().flat_map(|failed| failed.paths.iter().cloned()).collect())
    }

    /// Returns the paths, in the order of a manifest.
    pub fn paths(&self) -> &[Vec<u8>] {
        &self.paths
    }

    /// Returns whether everything could be read.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns whether the state of `path` is unknown, because `path` itself or a directory above it could not be read.
    pub fn covers(&self, path: &[u8]) -> bool {
        !self.is_empty()
            && (covers(&self.paths, path)
                || !self.normal.is_empty() && !path.is_ascii() && covers(&self.normal, &in_nfc(path)))
    }

    /// Returns whether something at, above or below `path`, as it is spelled here, could not be read.
    pub(crate) fn touches(&self, path: &[u8]) -> bool {
        let starts_with = |prefix: &[u8]| {
            let first = self.paths.partition_point(|failed| key(failed) < prefix);
            self.paths.get(first).is_some_and(|failed| key(failed).starts_with(prefix))
        };
        let path = key(path);
        self.covers(path_of_key(path)) || starts_with(&[path, &b"/"[usize::from(path.is_empty())..]].concat())
    }
}

/// Goes through the paths of a list in step with entries.
#[derive(Debug)]
pub(crate) struct FailedInOrder<'f>(&'f [Vec<u8>]);

impl<'f> FailedInOrder<'f> {
    pub(crate) fn new(failed: &'f Failed) -> Self {
        Self(&failed.paths)
    }

    /// Returns the next paths that are not after `path`; all that are left for `None`.
    pub(crate) fn up_to(&mut self, path: Option<&[u8]>) -> &'f [Vec<u8>] {
        let end = path.map_or(self.0.len(), |path| self.0.partition_point(|it| key(it) <= key(path)));
        let (passed, rest) = self.0.split_at(end);
        self.0 = rest;
        passed
    }
}

fn in_nfc(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(path.len());
    push_normal(path, &mut normal);
    normal
}

fn covers(paths: &[Vec<u8>], path: &[u8]) -> bool {
    let has = |path: &[u8]| paths.binary_search_by(|failed| key(failed).cmp(key(path))).is_ok();
    let slashes = || path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    has(ROOT) || has(path) || slashes().any(|(at, _)| has(&path[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(paths: &[&str]) -> Failed {
        Failed::new(paths.iter().map(|path| path.as_bytes().to_vec()).collect())
    }

    #[test]
    fn failures_cover_everything_below_them() {
        let some = failed(&["c", "a/b"]);
        for path in ["a/b", "a/b/c", "a/b/c/d", "c", "c/d", "c/\u{e9}"] {
            assert!(some.covers(path.as_bytes()), "{path}");
        }
        for path in ["a", "a/bc", "a/c", "b", "cd", ".", "\u{e9}"] {
            assert!(!some.covers(path.as_bytes()), "{path}");
        }
        let root = failed(&["."]);
        assert!(root.covers(b".") && root.covers(b"a/b"));
        assert!(!Failed::default().covers(b"a"));
    }

    #[test]
    fn failures_touch_what_is_above_and_below_them() {
        let some = failed(&["a/b/c", "a-b", "d"]);
        for path in [".", "a", "a/b", "a/b/c", "a/b/c/d", "a-b", "d", "d/e"] {
            assert!(some.touches(path.as_bytes()), "{path}");
        }
        for path in ["a/a", "a/bc", "b", "da", "z"] {
            assert!(!some.touches(path.as_bytes()), "{path}");
        }
        assert!(failed(&["."]).touches(b"a") && !Failed::default().touches(b"."));
    }

    #[test]
    fn the_normal_form_does_not_matter() {
        let [composed, decomposed] = ["\u{e9}", "e\u{301}"];
        for (recorded, other) in [(composed, decomposed), (decomposed, composed)] {
            let some = failed(&[recorded, "z"]);
            assert!(some.covers(recorded.as_bytes()) && some.covers(format!("{other}/x").as_bytes()));
            assert!(some.covers(b"z/x") && !some.covers(b"e"));
        }
    }

    #[test]
    fn failures_come_in_the_order_of_entries() {
        let some = failed(&["a/x", "a", "a-b", "."]);
        assert_eq!(some.paths(), [".", "a", "a-b", "a/x"].map(|path| path.as_bytes()));
        let mut next = FailedInOrder::new(&some);
        assert_eq!(next.up_to(Some(b"a")).len(), 2);
        assert!(next.up_to(Some(b"a")).is_empty());
        assert_eq!(next.up_to(Some(b"a/w")), [b"a-b"]);
        assert_eq!(next.up_to(None), [b"a/x"]);
    }
}
