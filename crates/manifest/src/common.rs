//! The digests that two manifests have in common.

use std::ops::Range;

use ftk_hash::Algorithm;

use crate::{Error, Header};

/// Where the digests of the algorithms that two manifests share lie in their entries.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// In the entries of the first and of the second, by algorithm.
    ranges: Vec<(Range<usize>, Range<usize>)>,
}

impl Common {
    /// # Errors
    /// When both have digests and none is by the same algorithm.
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
        Ok(Self { ranges })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes of the digests in common.
    pub(crate) fn len(&self) -> usize {
        self.ranges.iter().map(|(range, _)| range.len()).sum()
    }

    /// The digests in common, of a file of the first.
    pub(crate) fn in_old<'d>(&self, digests: &'d [u8]) -> impl Iterator<Item = &'d [u8]> {
        self.ranges.iter().map(|(range, _)| &digests[range.clone()])
    }

    /// The digests in common, of a file of the second.
    pub(crate) fn in_new<'d>(&self, digests: &'d [u8]) -> impl Iterator<Item = &'d [u8]> {
        self.ranges.iter().map(|(_, range)| &digests[range.clone()])
    }

    /// Whether the digests in common are the same.
    pub(crate) fn is_same(&self, old: &[u8], new: &[u8]) -> bool {
        self.in_old(old).eq(self.in_new(new))
    }
}

/// Where the digest by `algorithm` lies among those of `algorithms`, one behind the other.
pub(crate) fn range(algorithms: &[Algorithm], algorithm: Algorithm) -> Option<Range<usize>> {
    let at = algorithms.iter().position(|it| *it == algorithm)?;
    let start = algorithms[..at].iter().map(|it| it.digest_len()).sum();
    Some(start..start + algorithm.digest_len())
}
