//! Compact storage of many files' contents, to find a content again under another path.

use std::cmp::Ordering;

use ftk_inventory::{Budget, Full, Reservation};

use crate::Error;
use crate::moves::Evidence;

/// The contents of files: their digests and sizes, in the order they were added.
///
/// A file uses 8 bytes and its digests, and 16 bytes more while contents are looked up. A small file that may have moved uses
/// 64 bytes more.
#[derive(Debug)]
pub(crate) struct Keys {
    width: usize,
    bytes: Vec<u8>,
    /// The files whose content does not show that they moved, ascending.
    small: Vec<(u32, Evidence)>,
    reserved: Reservation,
}

/// Stands for a size that is not known, in keys. No file is as large.
const UNKNOWN: u64 = u64::MAX;

/// The prefix of a key, and its index.
type Ranked = (u64, u32);

impl Keys {
    /// Creates an empty list whose keys have digests of `digests_len` bytes.
    pub(crate) fn new(digests_len: usize, budget: &Budget) -> Self {
        Self {
            width: digests_len + 8,
            bytes: Vec::new(),
            small: Vec::new(),
            reserved: Reservation::new(budget),
        }
    }

    /// Adds a content: its digests, always by the same algorithms in the same order, and its size if it is known.
    pub(crate) fn push<'d>(
        &mut self,
        digests: impl IntoIterator<Item = &'d [u8]>,
        size: Option<u64>,
    ) -> Result<(), Error> {
        if self.len() == u32::MAX as usize {
            return Err(Full::Entries.into());
        }
        self.reserved.consume((self.width + size_of::<Ranked>()) as u64)?;
        digests.into_iter().for_each(|digest| self.bytes.extend_from_slice(digest));
        self.bytes.extend_from_slice(&size.unwrap_or(UNKNOWN).to_be_bytes());
        debug_assert!(self.bytes.len().is_multiple_of(self.width), "all keys are of one length");
        Ok(())
    }

    /// Adds a file that may have moved.
    pub(crate) fn push_file<'d>(
        &mut self,
        digests: impl IntoIterator<Item = &'d [u8]>,
        size: Option<u64>,
        evidence: Evidence,
    ) -> Result<(), Error> {
        if evidence != Evidence::Content {
            self.reserved.consume(size_of::<(u32, Evidence)>() as u64)?;
            self.small.push((self.len() as u32, evidence));
        }
        self.push(digests, size)
    }

    /// Returns the memory to the budget.
    pub(crate) fn release(self) {
        self.reserved.release();
    }

    /// Returns whether a file moves only as the same inode.
    pub(crate) fn needs_inodes(&self) -> bool {
        self.small.iter().any(|(_, evidence)| *evidence != Evidence::Missing)
    }

    fn evidence(&self, nth: u32) -> Evidence {
        let at = self.small.binary_search_by_key(&nth, |it| it.0);
        at.map_or(Evidence::Content, |at| self.small[at].1)
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Returns the distinct sizes, ascending; `None` if some size is not known.
    pub(crate) fn sizes(&self) -> Option<Vec<u64>> {
        let mut sizes: Vec<_> = self.bytes.chunks(self.width).map(size_of_key).collect();
        sizes.sort_unstable();
        sizes.dedup();
        (sizes.last() != Some(&UNKNOWN)).then_some(sizes)
    }

    /// Returns all contents sorted by key, then by evidence; equal ones stay in the order they were added.
    pub(crate) fn ranked(&self) -> Vec<Ranked> {
        let mut ranked: Vec<_> =
            self.bytes.chunks(self.width).zip(0..).map(|(key, nth)| (prefix(key), nth)).collect();
        ranked.sort_unstable_by(|a, b| {
            let evidence = || self.evidence(a.1).cmp(&self.evidence(b.1));
            self.cmp(*a, self, *b).then_with(evidence).then(a.1.cmp(&b.1))
        });
        ranked
    }

    /// Returns whether a content is in the list: `digests`, concatenated, and the size if it is known. `ranked` must be
    /// the result of [`ranked`](Self::ranked). `digests` becomes a key, with the size at its end.
    pub(crate) fn has(&self, ranked: &[Ranked], digests: &mut Vec<u8>, size: Option<u64>) -> bool {
        let len = digests.len();
        let mut find = |size: u64| {
            digests.truncate(len);
            digests.extend_from_slice(&size.to_be_bytes());
            ranked.binary_search_by(|it| it.0.cmp(&prefix(digests)).then_with(|| self.key(it.1).cmp(digests)))
        };
        match size {
            Some(size) => find(size).is_ok() || find(UNKNOWN).is_ok(),
            // The first content with these digests, whatever its size.
            None => {
                let at = find(0).unwrap_or_else(|at| at);
                ranked.get(at).is_some_and(|it| self.key(it.1)[..len] == digests[..len])
            }
        }
    }

    fn key(&self, nth: u32) -> &[u8] {
        &self.bytes[nth as usize * self.width..][..self.width]
    }

    fn cmp(&self, a: Ranked, other: &Self, b: Ranked) -> Ordering {
        // The prefix decides nearly every comparison without access to the keys.
        a.0.cmp(&b.0).then_with(|| self.key(a.1).cmp(other.key(b.1)))
    }

    /// Compares two contents, and what shows that they are one file. A size that is not known equals every size.
    fn match_up(&self, a: Ranked, other: &Self, b: Ranked) -> Ordering {
        let evidence = [self.evidence(a.1), other.evidence(b.1)];
        let (a, b) = (self.key(a.1), other.key(b.1));
        let is_unknown = size_of_key(a) == UNKNOWN || size_of_key(b) == UNKNOWN;
        let len = if is_unknown { self.width - 8 } else { self.width };
        a[..len].cmp(&b[..len]).then_with(|| match evidence {
            // Neither can be the other.
            [Evidence::Missing, Evidence::Missing] => Ordering::Less,
            [a, b] => a.cmp(&b),
        })
    }
}

fn size_of_key(key: &[u8]) -> u64 {
    u64::from_be_bytes(*key.last_chunk().expect("a key ends with eight bytes of size"))
}

/// For each file of `old`, returns the index of the file of `new` to which it moved, if there is one. Equal contents are
/// paired in the order they were added, and each file of `new` is used at most once.
pub(crate) fn pair(old: &Keys, new: &Keys) -> Vec<Option<u32>> {
    let mut pairs = vec![None; old.len()];
    if old.len() == 0 || new.len() == 0 {
        return pairs;
    }
    let ranked = new.ranked();
    let mut rest = &ranked[..];
    for it in old.ranked() {
        while let Some((first, after)) = rest.split_first() {
            match old.match_up(it, new, *first) {
                Ordering::Less => break,
                Ordering::Equal => pairs[it.1 as usize] = Some(first.1),
                Ordering::Greater => {}
            }
            rest = after;
            if pairs[it.1 as usize].is_some() {
                break;
            }
        }
    }
    pairs
}

fn prefix(key: &[u8]) -> u64 {
    u64::from_be_bytes(*key.first_chunk().expect("a key ends with eight bytes of size"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(contents: &[(u8, u64)]) -> Keys {
        let mut keys = Keys::new(9, &Budget::new(1 << 20));
        for (digest, size) in contents {
            // All keys have the same prefix, so that the prefix alone does not decide.
            keys.push([&[7; 8][..], &[*digest]], (*size < 9).then_some(*size)).unwrap();
        }
        keys
    }

    proptest! {
        #[test]
        fn contents_are_paired_in_their_order(
            old in prop::collection::vec((0..3_u8, 0..2_u64), 0..12),
            new in prop::collection::vec((0..3_u8, 0..2_u64), 0..12),
        ) {
            let mut left: Vec<_> = new.iter().map(Some).collect();
            let expected: Vec<_> = old.iter().map(|content| {
                let at = left.iter().position(|it| *it == Some(content))?;
                left[at] = None;
                Some(at as u32)
            }).collect();
            prop_assert_eq!(pair(&keys(&old), &keys(&new)), expected);
        }

        #[test]
        fn has_finds_exactly_the_added_contents(contents in prop::collection::vec((0..4_u8, 0..2_u64), 0..6)) {
            let keys = keys(&contents);
            let ranked = keys.ranked();
            for content in (0..4).flat_map(|digest| [(digest, 0_u64), (digest, 1)]) {
                let mut digests = vec![7; 8];
                digests.push(content.0);
                let has = keys.has(&ranked, &mut digests, Some(content.1));
                prop_assert_eq!(has, contents.contains(&content));
            }
        }

        /// A size of 9 stands for one that is not known. Contents with the same digests have the same size.
        #[test]
        fn unknown_sizes_equal_every_size(
            old in prop::collection::vec((0..4_u8, prop::bool::ANY), 0..8),
            new in prop::collection::vec((0..4_u8, prop::bool::ANY), 0..8),
        ) {
            let contents = |of: &[(u8, bool)]| -> Vec<_> {
                of.iter().map(|(digest, is_known)| (*digest, if *is_known { u64::from(*digest) } else { 9 })).collect()
            };
            let [old, new] = [contents(&old), contents(&new)];
            let pairs = pair(&keys(&old), &keys(&new));
            for digest in 0..4 {
                let count = |of: &[(u8, u64)]| of.iter().filter(|it| it.0 == digest).count();
                let paired = old.iter().zip(&pairs).filter(|(it, to)| it.0 == digest && to.is_some()).count();
                prop_assert_eq!(paired, count(&old).min(count(&new)));
                let keys = keys(&new);
                for size in [None, Some(u64::from(digest))] {
                    let mut digests = vec![7; 8];
                    digests.push(digest);
                    prop_assert_eq!(keys.has(&keys.ranked(), &mut digests, size), count(&new) > 0);
                }
            }
        }
    }

    #[test]
    fn memory_use_stays_within_the_budget() {
        const UNIT: u64 = 64 << 10; // reserved at once
        let mut keys = Keys::new(32, &Budget::new(2 * UNIT));
        let filled = (0..).find(|_| keys.push([&[1; 32][..]], Some(1)).is_err()).unwrap();
        assert_eq!(filled as u64, 2 * (UNIT / 56));
        assert_eq!(keys.len(), filled);
    }

    #[test]
    fn sizes_are_distinct() {
        assert_eq!(keys(&[(1, 5), (2, 5), (3, 1)]).sizes(), Some(vec![1, 5]));
        assert_eq!(keys(&[(1, 5), (2, 9), (3, 1)]).sizes(), None);
    }
}
