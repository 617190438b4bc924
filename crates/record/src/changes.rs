//! Differences between two checksum lists.

use std::cmp::Ordering;

use crate::sums::{SortedSums, SumsOfFile};

/// A difference between two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'l> {
    /// Only the new list has this path.
    Added(&'l [u8]),
    /// Only the old list has this path.
    Removed(&'l [u8]),
    /// Both lists have this path, with different content.
    Modified(&'l [u8]),
    /// The content of a removed path, found at an added path.
    Moved {
        /// The old path.
        old: &'l [u8],
        /// The new path.
        new: &'l [u8],
    },
    /// Both lists have this path, but with no algorithm in common, so that the contents cannot be compared.
    Unknown(&'l [u8]),
}

impl<'l> Change<'l> {
    /// Returns the path; for a moved file, the old one. No two changes in a list of [`changes()`] have the
    /// same path.
    pub fn path(&self) -> &'l [u8] {
        match *self {
            Self::Added(path) | Self::Removed(path) | Self::Modified(path) | Self::Unknown(path) => path,
            Self::Moved { old, .. } => old,
        }
    }
}

/// Returns the files that differ between two lists, sorted by path, and the number of files that are the
/// same.
///
/// The content of a path is the same if all digests that both lists have for it are equal. A removed file has
/// moved if all its digests by the algorithms that occur in both lists are equal to those of an added file, and
/// `identifies_file` is true for at least one of them. If several removed files and several added files have the same content, they are paired in
/// path order.
pub fn changes<'l, A: Copy + Ord>(
    old: &'l SortedSums<A>,
    new: &'l SortedSums<A>,
    identifies_file: impl Fn(A, &[u8]) -> bool,
) -> (Vec<Change<'l>>, u64) {
    let (mut changes, mut same) = (Vec::new(), 0);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    merge(
        old.files(),
        new.files(),
        |old, new| old.path().cmp(new.path()),
        |old, new| match (old, new) {
            (Some(old), None) => removed.push(old),
            (None, Some(new)) => added.push(new),
            (Some(old), Some(new)) => match old.is_same(new) {
                Some(true) => same += 1,
                Some(false) => changes.push(Change::Modified(old.path())),
                None => changes.push(Change::Unknown(old.path())),
            },
            (None, None) => {}
        },
    );
    let mut common = old.algorithms();
    let theirs = new.algorithms();
    common.retain(|algorithm| theirs.binary_search(algorithm).is_ok());
    let mut by_content = |files: Vec<SumsOfFile<'l, A>>, otherwise: fn(&'l [u8]) -> Change<'l>| {
        let (files, others): (Vec<_>, Vec<_>) = files
            .into_iter()
            .partition(|file| file.digests(&common).any(|(it, digest)| identifies_file(it, digest)));
        changes.extend(others.iter().map(|file| otherwise(file.path())));
        let mut contents: Vec<_> = files.into_iter().map(|file| Content::new(file, &common)).collect();
        // The sort is stable, so that files with equal content stay in path order.
        contents.sort_by(Content::cmp);
        contents
    };
    let removed = by_content(removed, Change::Removed);
    let added = by_content(added, Change::Added);
    merge(removed.into_iter(), added.into_iter(), Content::cmp, |old, new| {
        changes.extend(match (old, new) {
            (Some(old), Some(new)) => Some(Change::Moved { old: old.file.path(), new: new.file.path() }),
            (Some(old), None) => Some(Change::Removed(old.file.path())),
            (None, new) => new.map(|new| Change::Added(new.file.path())),
        });
    });
    changes.sort_unstable_by_key(Change::path);
    (changes, same)
}

/// A file that is sorted by its content.
#[derive(Clone, Copy)]
struct Content<'l, 'c, A> {
    /// The first bytes of its first digest. They decide nearly every comparison without access to the
    /// digests.
    key: u64,
    file: SumsOfFile<'l, A>,
    common: &'c [A],
}

impl<'l, 'c, A: Copy + Ord> Content<'l, 'c, A> {
    fn new(file: SumsOfFile<'l, A>, common: &'c [A]) -> Self {
        let mut key = [0; 8];
        let first = file.digests(common).next().map_or(&[][..], |(_, digest)| digest);
        key.iter_mut().zip(first).for_each(|(key, byte)| *key = *byte);
        Self { key: u64::from_be_bytes(key), file, common }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let digests = |it: &Self| it.file.digests(it.common);
        self.key.cmp(&other.key).then_with(|| digests(self).cmp(digests(other)))
    }
}

/// Merges two ascending sequences: equal items are passed to `each` in pairs.
fn merge<T>(
    left: impl Iterator<Item = T>,
    right: impl Iterator<Item = T>,
    cmp: impl Fn(&T, &T) -> Ordering,
    mut each: impl FnMut(Option<T>, Option<T>),
) {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => cmp(a, b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        each(if order.is_le() { left.next() } else { None }, if order.is_ge() { right.next() } else { None });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::{Conflict, Sums};

    type Line = (u8, u8, u8);

    /// Lists with few distinct paths, algorithms and digests, so that equal ones are common; in any order.
    fn list() -> impl Strategy<Value = Vec<Line>> {
        let lines = prop::collection::btree_map((0..12_u8, 0..3_u8), 0..4_u8, 0..16);
        lines.prop_map(|map| map.into_iter().map(|((path, a), d)| (path, a, d)).collect()).prop_shuffle()
    }

    fn sums(lines: &[Line]) -> Result<SortedSums<u8>, Conflict<u8>> {
        let mut sums = Sums::default();
        for (path, algorithm, digest) in lines {
            // All digests have the same length and the same first bytes, so that the key alone does not
            // decide.
            sums.push(*algorithm, &[0, 0, 0, 0, 0, 0, 0, 0, 0, *digest], &[b'a' + *path]);
        }
        sums.sorted()
    }

    /// Returns the digest of each path and algorithm, or `None` if one has two.
    fn table(lines: &[Line]) -> Option<BTreeMap<u8, BTreeMap<u8, u8>>> {
        let mut table = BTreeMap::<u8, BTreeMap<u8, u8>>::new();
        for &(path, algorithm, digest) in lines {
            let before = table.entry(b'a' + path).or_default().insert(algorithm, digest);
            if before.is_some_and(|before| before != digest) {
                return None;
            }
        }
        Some(table)
    }

    /// A simple version of [`changes`] that handles one path at a time.
    fn naive(
        old: &BTreeMap<u8, BTreeMap<u8, u8>>,
        new: &BTreeMap<u8, BTreeMap<u8, u8>>,
    ) -> Vec<(u8, String)> {
        let all = |table: &BTreeMap<u8, BTreeMap<u8, u8>>| -> BTreeSet<u8> {
            table.values().flat_map(|digests| digests.keys().copied()).collect()
        };
        let common = &all(old) & &all(new);
        let content = |digests: &BTreeMap<u8, u8>| -> BTreeMap<u8, u8> {
            digests
                .iter()
                .filter(|(algorithm, _)| common.contains(algorithm))
                .map(|(&a, &d)| (a, d))
                .collect()
        };
        let mut found: Vec<u8> = new.keys().filter(|path| !old.contains_key(path)).copied().collect();
        let mut out = Vec::new();
        for (&path, digests) in old {
            let what = match new.get(&path) {
                Some(theirs) => {
                    let both: Vec<_> =
                        digests.iter().filter_map(|(a, d)| Some((d, theirs.get(a)?))).collect();
                    match () {
                        () if both.is_empty() => "unknown".to_owned(),
                        () if both.iter().all(|(a, b)| a == b) => continue,
                        () => "modified".to_owned(),
                    }
                }
                None => {
                    let content_of = content(digests);
                    let at = found.iter().position(|path| content(&new[path]) == content_of);
                    match at.filter(|_| content_of.keys().any(|algorithm| *algorithm != 2)) {
                        Some(at) => format!("moved to {}", found.remove(at)),
                        None => "removed".to_owned(),
                    }
                }
            };
            out.push((path, what));
        }
        out.extend(found.into_iter().map(|path| (path, "added".to_owned())));
        out.sort();
        out
    }

    proptest! {
        #[test]
        fn two_digests_of_a_path_are_a_conflict(
            lines in prop::collection::vec((0..4_u8, 0..2_u8, 0..2_u8), 0..8),
        ) {
            prop_assert_eq!(sums(&lines).is_ok(), table(&lines).is_some());
        }

        #[test]
        fn changes_match_a_naive_comparison(old in list(), new in list()) {
            let (old_table, new_table) = (table(&old).unwrap(), table(&new).unwrap());
            let (old, new) = (sums(&old).unwrap(), sums(&new).unwrap());
            let (changes, same) = changes(&old, &new, |algorithm, _| algorithm != 2);
            let said: Vec<_> = changes.iter().map(|change| (change.path()[0], match change {
                Change::Added(_) => "added".to_owned(),
                Change::Removed(_) => "removed".to_owned(),
                Change::Modified(_) => "modified".to_owned(),
                Change::Moved { new, .. } => format!("moved to {}", new[0]),
                Change::Unknown(_) => "unknown".to_owned(),
            })).collect();
            prop_assert_eq!(said, naive(&old_table, &new_table));
            let both = old_table.keys().filter(|path| new_table.contains_key(path)).count() as u64;
            let changed = |change: &&Change<'_>| matches!(change, Change::Modified(_) | Change::Unknown(_));
            prop_assert_eq!(same, both - changes.iter().filter(changed).count() as u64);
        }
    }

    #[test]
    fn a_conflict_names_path_and_algorithm() {
        let conflict = sums(&[(2, 0, 1), (1, 0, 1), (1, 1, 1), (1, 1, 2), (2, 0, 2)]).unwrap_err();
        assert_eq!(conflict, Conflict { path: b"b".to_vec(), algorithm: 1 });
        assert_eq!(conflict.to_string(), "'b' has two different 1 digests");
    }
}
