//! Compares which entries of two trees are hard links of each other.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::{Budget, Full, Reservation};

/// The first name of each file with several names. `K` identifies a file. Uses memory for its identity and a path.
#[derive(Debug)]
pub struct LinkNames<K> {
    first: HashMap<K, Box<[u8]>>,
    reserved: Reservation,
}

impl<K: Eq + Hash> LinkNames<K> {
    /// Creates a table without files.
    pub fn new(budget: &Budget) -> Self {
        Self { first: HashMap::new(), reserved: Reservation::new(budget) }
    }

    /// Returns the path with which the file was first passed to [`first`](Self::first); the given one if it never was.
    fn known<'l>(&'l self, path: &'l [u8], file: Option<K>) -> &'l [u8] {
        file.and_then(|file| self.first.get(&file)).map_or(path, |first| first)
    }

    /// Returns the path with which the file was first passed: the given one if it is new. `None` is a file without other
    /// names.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn first<'l>(&'l mut self, path: &'l [u8], file: Option<K>) -> Result<&'l [u8], Full> {
        let Some(file) = file else { return Ok(path) };
        if !self.first.contains_key(&file) {
            self.reserved.consume((2 * size_of::<(K, Box<[u8]>)>() + path.len()) as u64)?;
        }
        Ok(self.first.entry(file).or_insert_with(|| path.into()))
    }
}

/// Compares the hard links of two trees path by path.
///
/// Only paths that both trees have are compared. So a removed or added name of a file changes nothing for its other names,
/// and inode numbers and link counts do not matter. `A` and `B` identify a file in its tree.
#[derive(Debug)]
pub struct LinkPairs<A, B> {
    a: LinkNames<A>,
    b: LinkNames<B>,
}

impl<A: Eq + Hash, B: Eq + Hash> LinkPairs<A, B> {
    /// Creates a comparison without paths.
    pub fn new(budget: &Budget) -> Self {
        Self { a: LinkNames::new(budget), b: LinkNames::new(budget) }
    }

    /// Adds a path that both trees have. `a` and `b` identify its file; `None` if it has no other names.
    ///
    /// Returns the first path of its file in each tree, among those that were added, if they differ. The trees have the same
    /// links between the added paths if they never differ, whatever the order.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add<'l>(
        &'l mut self,
        path: &'l [u8],
        a: Option<A>,
        b: Option<B>,
    ) -> Result<Option<[&'l [u8]; 2]>, Full> {
        let first = [self.a.first(path, a)?, self.b.first(path, b)?];
        Ok((first[0] != first[1]).then_some(first))
    }

    /// Returns what [`add`](Self::add) returned for a path that was added in path order.
    pub fn find<'l>(&'l self, path: &'l [u8], a: Option<A>, b: Option<B>) -> Option<[&'l [u8]; 2]> {
        let first = [self.a.known(path, a), self.b.known(path, b)];
        (first[0] != first[1]).then_some(first)
    }
}

/// Finds out whether a copy has no hard links at all, as after a copy by a program that does not know them.
#[derive(Debug)]
pub struct LinkSplits<A, B> {
    /// How many names of each file with several names were added.
    files: HashMap<A, u64>,
    copies: HashSet<B>,
    is_linked: bool,
    reserved: Reservation,
}

impl<A: Eq + Hash, B: Eq + Hash> LinkSplits<A, B> {
    /// Creates a survey without paths.
    pub fn new(budget: &Budget) -> Self {
        let reserved = Reservation::new(budget);
        Self { files: HashMap::new(), copies: HashSet::new(), is_linked: false, reserved }
    }

    /// Adds a path that both the tree and its copy have, as in [`LinkPairs::add`].
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(&mut self, file: Option<A>, copy: Option<B>) -> Result<(), Full> {
        if let Some(file) = file {
            if !self.files.contains_key(&file) {
                self.reserved.consume(2 * size_of::<(A, u64)>() as u64)?;
            }
            *self.files.entry(file).or_default() += 1;
        }
        if let Some(copy) = copy {
            self.reserved.consume(2 * size_of::<B>() as u64)?;
            self.is_linked |= !self.copies.insert(copy);
        }
        Ok(())
    }

    /// Returns how many files of the tree have several of the added names, if no two of these names are links of one file in
    /// the copy. `None` if there is no such file, or if the copy has links.
    pub fn separate(&self) -> Option<u64> {
        let groups = self.files.values().filter(|names| **names > 1).count() as u64;
        (groups > 0 && !self.is_linked).then_some(groups)
    }
}

/// Finds out which paths that two trees have are witnesses of a change of both trees, such as a shift of all times.
///
/// A witness is a pair of a file in the first tree and a file in the second one. So the names of a file that has them in both
/// trees are one witness, and each name is one if a copy has made it a separate file. If only one file is known, it counts
/// alone. Uses memory for each pair of which a file has several names.
#[derive(Debug)]
pub struct Witnesses<A, B> {
    seen: HashSet<Witness<A, B>>,
    reserved: Reservation,
}

/// The known files of a pair, and whether their contents differ.
type Witness<A, B> = (Option<A>, Option<B>, bool);

impl<A: Eq + Hash, B: Eq + Hash> Witnesses<A, B> {
    /// Creates a set without witnesses.
    pub fn new(budget: &Budget) -> Self {
        Self { seen: HashSet::new(), reserved: Reservation::new(budget) }
    }

    /// Adds a path that both trees have, and returns whether it is a new witness. `a` and `b` identify its file in each tree:
    /// `None` if that is not known, `Some(None)` if the file has no other names.
    ///
    /// `is_same`: whether the contents are the same, if that is known. A path whose contents differ does not stand for the
    /// other names.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn add(
        &mut self,
        a: Option<Option<A>>,
        b: Option<Option<B>>,
        is_same: Option<bool>,
    ) -> Result<bool, Full> {
        let is_alone = matches!(a, Some(None)) || matches!(b, Some(None)) || a.is_none() && b.is_none();
        let is_new = is_alone || self.seen.insert((a.flatten(), b.flatten(), is_same == Some(false)));
        if is_new && !is_alone {
            self.reserved.consume(2 * size_of::<Witness<A, B>>() as u64)?;
        }
        Ok(is_new)
    }

    /// Returns the memory to the budget.
    pub fn release(self) {
        self.reserved.release();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATHS: [&[u8]; 7] = [b"a", b"b", b"c", b"d", b"e", b"f", b"g"];

    proptest! {
        /// Two trees have the same links if and only if the same pairs of paths are links of one file.
        #[test]
        fn links_are_the_same_if_all_pairs_are(
            a in prop::collection::vec(prop::option::of(0..3_u8), 7),
            b in prop::collection::vec(prop::option::of(0..3_u8), 7),
            order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let is_pair = |of: &[Option<u8>], i: usize, j: usize| of[i].is_some() && of[i] == of[j];
            let pairs = || (0..7).flat_map(|i| (0..i).map(move |j| (i, j)));
            let same = pairs().all(|(i, j)| is_pair(&a, i, j) == is_pair(&b, i, j));
            let budget = Budget::new(1 << 24);
            let (mut links, mut splits) = (LinkPairs::new(&budget), LinkSplits::new(&budget));
            let mut found = true;
            for nth in order {
                found &= links.add(PATHS[nth], a[nth], b[nth]).unwrap().is_none();
                splits.add(a[nth], b[nth]).unwrap();
            }
            prop_assert_eq!(found, same);
            let groups = (0..3).filter(|file| a.iter().filter(|it| **it == Some(*file)).count() > 1).count();
            let is_split = !pairs().any(|(i, j)| is_pair(&b, i, j));
            prop_assert_eq!(splits.separate(), (groups > 0 && is_split).then_some(groups as u64));
        }

        /// Two paths are one witness if they lead to the same files, as far as these are known, and their contents are the same
        /// or not in both cases.
        #[test]
        fn a_witness_is_a_pair_of_files(
            paths in prop::collection::vec(
                [prop::option::of(prop::option::of(0..3_u8)), prop::option::of(prop::option::of(0..3_u8))],
                0..30,
            ),
            same in prop::collection::vec(prop::option::of(any::<bool>()), 30),
        ) {
            let budget = Budget::new(1 << 24);
            let mut witnesses = Witnesses::new(&budget);
            let is_linked = |nth: usize| paths[nth].iter().all(|file| *file != Some(None)) && paths[nth] != [None, None];
            let differ = |nth: usize| same[nth] == Some(false);
            for (nth, [a, b]) in paths.iter().enumerate() {
                let is_seen = |i: &usize| is_linked(*i) && paths[*i] == paths[nth] && differ(*i) == differ(nth);
                prop_assert_eq!(witnesses.add(*a, *b, same[nth]).unwrap(), !(0..nth).any(|i| is_seen(&i)));
            }
        }
    }
}
