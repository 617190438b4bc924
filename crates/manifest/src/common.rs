//! The digests that two manifests have in common.

use std::ops::Range;

use ftk_hash::Algorithm;

use crate::{Error, Header};

/// The positions, in the entries of two manifests, of the digests of their common algorithms.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// For each common algorithm: the byte range of its digest in the digests of an entry, in the first and
    /// in the second manifest.
    ranges: Vec<(Range<usize>, Range<usize>)>,
    identifies_content: bool,
}

impl Common {
    /// Finds the common algorithms of two manifests.
    ///
    /// # Errors
    /// [`Error::NoCommonAlgorithm`] when both manifests have digests but share no algorithm.
    pub(crate) fn of(old: &Header, new: &Header) -> Result<Self, Error> {
        let both = |algorithm: &Algorithm| {
            Some((range(&old.algorithms, *algorithm)?, range(&new.algorithms, *algorithm)?))
        };
        let ranges: Vec<_> = old.algorithms.iter().filter_map(both).collect();
        if ranges.is_empty() && !old.algorithms.is_empty() && !new.algorithms.is_empty() {
            return Err(Error::NoCommonAlgorithm {
                old: old.algorithms.clone(),
                new: new.algorithms.clone(),
            });
        }
        let identifies_content = old
            .algorithms
            .iter()
            .any(|algorithm| algorithm.identifies_content() && new.algorithms.contains(algorithm));
        Ok(Self { ranges, identifies_content })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns whether files with equal common digests have the same content. A CRC alone does not show this.
    pub(crate) fn identifies_content(&self) -> bool {
        self.identifies_content
    }

    /// Returns the total length of the common digests in bytes.
    pub(crate) fn len(&self) -> usize {
        self.ranges.iter().map(|(range, _)| range.len()).sum()
    }

    /// Returns the common digests of a file of the first manifest.
    pub(crate) fn in_old<'d>(&self, digests: &'d [u8]) -> impl Iterator<Item = &'d [u8]> {
        self.ranges.iter().map(|(range, _)| &digests[range.clone()])
    }

    /// Returns the common digests of a file of the second manifest.
    pub(crate) fn in_new<'d>(&self, digests: &'d [u8]) -> impl Iterator<Item = &'d [u8]> {
        self.ranges.iter().map(|(_, range)| &digests[range.clone()])
    }

    /// Returns whether the common digests are equal.
    pub(crate) fn is_same(&self, old: &[u8], new: &[u8]) -> bool {
        self.in_old(old).eq(self.in_new(new))
    }
}

/// Returns the byte range of the digest by `algorithm` in the concatenated digests of `algorithms`.
pub(crate) fn range(algorithms: &[Algorithm], algorithm: Algorithm) -> Option<Range<usize>> {
    let at = algorithms.iter().position(|it| *it == algorithm)?;
    let start = algorithms[..at].iter().map(|it| it.digest_len()).sum();
    Some(start..start + algorithm.digest_len())
}
