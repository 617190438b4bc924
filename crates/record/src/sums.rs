//! Whole checksum lists in memory.

use std::fmt;

use crate::quote;

/// The digests of a list, in the order they were read. `A` identifies an algorithm.
#[derive(Clone, Debug)]
pub struct Sums<A> {
    /// The path and the digest of every entry.
    bytes: Vec<u8>,
    entries: Vec<Entry<A>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<A> {
    path: usize,
    digest: usize,
    digest_len: u8,
    algorithm: A,
}

impl<A> Default for Sums<A> {
    fn default() -> Self {
        Self { bytes: Vec::new(), entries: Vec::new() }
    }
}

impl<A: Copy + Ord> Sums<A> {
    /// Appends the digest by `algorithm` of the file at `path`.
    ///
    /// # Panics
    /// If the digest has more than 255 bytes.
    pub fn push(&mut self, algorithm: A, digest: &[u8], path: &[u8]) {
        let digest_len = u8::try_from(digest.len()).expect("at most 255 bytes");
        let at = self.bytes.len();
        self.bytes.extend_from_slice(path);
        self.bytes.extend_from_slice(digest);
        self.entries.push(Entry { path: at, digest: at + path.len(), digest_len, algorithm });
    }

    /// Returns the number of digests.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no digests.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the memory use in bytes.
    pub fn size_bytes(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<Entry<A>>()
    }

    /// Sorts the digests by path, which is fast if they are already sorted, and removes duplicates.
    ///
    /// # Errors
    /// When a path has two different digests by the same algorithm.
    pub fn sorted(mut self) -> Result<SortedSums<A>, Conflict<A>> {
        let Self { bytes, entries } = &mut self;
        entries.sort_by(|a, b| a.path(bytes).cmp(b.path(bytes)).then(a.algorithm.cmp(&b.algorithm)));
        let mut conflict = None;
        entries.dedup_by(|b, a| {
            let is_again = a.algorithm == b.algorithm && a.path(bytes) == b.path(bytes);
            if is_again && a.digest(bytes) != b.digest(bytes) && conflict.is_none() {
                conflict = Some(Conflict { path: a.path(bytes).to_vec(), algorithm: a.algorithm });
            }
            is_again
        });
        conflict.map_or(Ok(SortedSums(self)), Err)
    }
}

impl<A> Entry<A> {
    fn path<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.path..self.digest]
    }

    fn digest<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.digest..][..usize::from(self.digest_len)]
    }
}

/// A path that has two different digests by the same algorithm in one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict<A> {
    /// The path.
    pub path: Vec<u8>,
    /// The algorithm.
    pub algorithm: A,
}

impl<A: fmt::Display> fmt::Display for Conflict<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has two different {} digests", quote(&self.path), self.algorithm)
    }
}

impl<A: fmt::Debug + fmt::Display> std::error::Error for Conflict<A> {}

/// The digests of a list, sorted by path and algorithm, without duplicates.
#[derive(Clone, Debug)]
pub struct SortedSums<A>(Sums<A>);

impl<A: Copy + Ord> SortedSums<A> {
    /// Returns the algorithms that occur, ascending.
    pub fn algorithms(&self) -> Vec<A> {
        let mut algorithms = Vec::new();
        for entry in &self.0.entries {
            if let Err(at) = algorithms.binary_search(&entry.algorithm) {
                algorithms.insert(at, entry.algorithm);
            }
        }
        algorithms
    }

    /// Returns the files of the list, in the byte order of their paths.
    pub fn files(&self) -> impl Iterator<Item = SumsOfFile<'_, A>> {
        let bytes = &*self.0.bytes;
        let entries = self.0.entries.chunk_by(|a, b| a.path(bytes) == b.path(bytes));
        entries.map(move |entries| SumsOfFile { bytes, entries })
    }

    /// Returns the file with this path.
    pub fn find(&self, path: &[u8]) -> Option<SumsOfFile<'_, A>> {
        let Sums { bytes, entries } = &self.0;
        let first = entries.partition_point(|entry| entry.path(bytes) < path);
        let entries = entries[first..].chunk_by(|a, b| a.path(bytes) == b.path(bytes)).next()?;
        Some(SumsOfFile { bytes, entries }).filter(|file| file.path() == path)
    }
}

/// A file of a list: all entries with its path, at least one.
#[derive(Clone, Copy, Debug)]
pub struct SumsOfFile<'l, A> {
    bytes: &'l [u8],
    entries: &'l [Entry<A>],
}

impl<'l, A: Copy + Ord> SumsOfFile<'l, A> {
    /// Returns the path.
    pub fn path(&self) -> &'l [u8] {
        self.entries[0].path(self.bytes)
    }

    /// Returns all digests, sorted by algorithm.
    pub fn all(self) -> impl Iterator<Item = (A, &'l [u8])> {
        self.entries.iter().map(move |entry| (entry.algorithm, entry.digest(self.bytes)))
    }

    /// Returns its digests by these algorithms.
    pub(crate) fn digests(self, of: &[A]) -> impl Iterator<Item = (A, &'l [u8])> {
        let entries = self.entries.iter().filter(|entry| of.binary_search(&entry.algorithm).is_ok());
        entries.map(move |entry| (entry.algorithm, entry.digest(self.bytes)))
    }

    /// Returns whether all digests by common algorithms are equal; `None` if there is no common algorithm.
    pub(crate) fn is_same(self, other: Self) -> Option<bool> {
        let pairs = self.entries.iter().filter_map(|a| {
            let b = other.entries.iter().find(|b| b.algorithm == a.algorithm)?;
            Some(a.digest(self.bytes) == b.digest(other.bytes))
        });
        pairs.reduce(|all, same| all && same)
    }
}
