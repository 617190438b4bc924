//! Contents of many files, compact: to find the same content again under another path.

use std::cmp::Ordering;

use ftk_inventory::{Budget, Full};

use crate::Error;

/// Bytes drawn from a budget at once.
const UNIT: u64 = 64 << 10;

/// What files contain, by their digests and size, in the order they were added. Takes as many bytes a file as its
/// digests and 8, and while they are looked up 16 more.
#[derive(Debug)]
pub(crate) struct Keys {
    width: usize,
    bytes: Vec<u8>,
    reserved: Reservation,
}

/// The prefix of a key, and its number.
type Ranked = (u64, u32);

impl Keys {
    /// No contents; each will have digests of `digests_len` bytes.
    pub(crate) fn new(digests_len: usize, budget: &Budget) -> Self {
        Self { width: digests_len + 8, bytes: Vec::new(), reserved: Reservation::new(budget) }
    }

    /// Adds a content: the same digests in the same order as always, and its size.
    pub(crate) fn push<'d>(
        &mut self,
        digests: impl IntoIterator<Item = &'d [u8]>,
        size: u64,
    ) -> Result<(), Error> {
        if self.len() == u32::MAX as usize {
            return Err(Full::Entries.into());
        }
        self.reserved.consume((self.width + size_of::<Ranked>()) as u64)?;
        digests.into_iter().for_each(|digest| self.bytes.extend_from_slice(digest));
        self.bytes.extend_from_slice(&size.to_be_bytes());
        debug_assert!(self.bytes.len().is_multiple_of(self.width), "all keys are of one length");
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// The sizes, ascending and each once.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let size = |key: &[u8]| u64::from_be_bytes(key[self.width - 8..].try_into().expect("8 bytes"));
        let mut sizes: Vec<_> = self.bytes.chunks(self.width).map(size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// The contents in their own order, those that are the same in the order they were added.
    pub(crate) fn ranked(&self) -> Vec<Ranked> {
        let mut ranked: Vec<_> =
            self.bytes.chunks(self.width).zip(0..).map(|(key, nth)| (prefix(key), nth)).collect();
        ranked.sort_unstable_by(|a, b| self.cmp(*a, self, *b).then(a.1.cmp(&b.1)));
        ranked
    }

    /// Whether a content is there; `ranked` are its own.
    pub(crate) fn has(&self, ranked: &[Ranked], key: &[u8]) -> bool {
        let cmp = |it: &Ranked| it.0.cmp(&prefix(key)).then_with(|| self.key(it.1).cmp(key));
        ranked.binary_search_by(cmp).is_ok()
    }

    fn key(&self, nth: u32) -> &[u8] {
        &self.bytes[nth as usize * self.width..][..self.width]
    }

    fn cmp(&self, a: Ranked, other: &Self, b: Ranked) -> Ordering {
        // The prefix nearly always decides and lies near.
        a.0.cmp(&b.0).then_with(|| self.key(a.1).cmp(other.key(b.1)))
    }
}

/// Which of `new` each of `old` has become: the same content, the first for the first, and each once.
pub(crate) fn pair(old: &Keys, new: &Keys) -> Vec<Option<u32>> {
    let mut pairs = vec![None; old.len()];
    if old.len() == 0 || new.len() == 0 {
        return pairs;
    }
    let ranked = new.ranked();
    let mut rest = &ranked[..];
    for it in old.ranked() {
        while let Some((first, behind)) = rest.split_first() {
            match old.cmp(it, new, *first) {
                Ordering::Less => break,
                Ordering::Equal => pairs[it.1 as usize] = Some(first.1),
                Ordering::Greater => {}
            }
            rest = behind;
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

/// What was drawn from a budget and not spent yet.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Budget,
    left: u64,
}

impl Reservation {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self { budget: budget.clone(), left: 0 }
    }

    /// # Errors
    /// When the budget does not allow for it.
    pub(crate) fn consume(&mut self, bytes: u64) -> Result<(), Full> {
        if self.left < bytes {
            let reserve = bytes.max(UNIT);
            self.budget.reserve(reserve)?;
            self.left += reserve;
        }
        self.left -= bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(contents: &[(u8, u64)]) -> Keys {
        let mut keys = Keys::new(9, &Budget::new(1 << 20));
        for (digest, size) in contents {
            // They begin alike, so that the prefix alone does not decide.
            keys.push([&[7; 8][..], &[*digest]], *size).unwrap();
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
        fn a_content_is_found_if_it_is_there(contents in prop::collection::vec((0..4_u8, 0..2_u64), 0..6)) {
            let keys = keys(&contents);
            let ranked = keys.ranked();
            for content in (0..4).flat_map(|digest| [(digest, 0_u64), (digest, 1)]) {
                let mut key = vec![7; 8];
                key.push(content.0);
                key.extend_from_slice(&content.1.to_be_bytes());
                prop_assert_eq!(keys.has(&ranked, &key), contents.contains(&content));
            }
        }
    }

    #[test]
    fn no_more_is_kept_than_the_budget_allows() {
        let mut keys = Keys::new(32, &Budget::new(2 * UNIT));
        let filled = (0..).find(|_| keys.push([&[1; 32][..]], 1).is_err()).unwrap();
        assert_eq!(filled as u64, 2 * (UNIT / 56));
        assert_eq!(keys.len(), filled);
    }

    #[test]
    fn sizes_are_there_once() {
        assert_eq!(keys(&[(1, 5), (2, 5), (3, 1)]).sizes(), [1, 5]);
    }
}
