//! The pairs of files that must be opened, and the result for each.

use ftk_file::Failure;
use ftk_inventory::FileNo;

use super::attributes::Differences;
use super::difference::What;
use super::links::Links;
use super::names::Names;
use crate::Side;

/// The pairs of files that must be opened, in path order, and the result for each.
#[derive(Debug)]
pub struct PairTable {
    pub(crate) pairs: Vec<Pair>,
    /// The number of differences that are not differences of these pairs.
    pub(crate) others: u64,
    /// Pairs of FIFOs or sockets.
    pub(crate) by_type: u64,
    /// The hard links, if metadata is compared.
    pub(crate) links: Option<Links>,
    /// The extended attributes that differ, if metadata is compared.
    pub(crate) attributes: Differences,
    /// Names that differ only in their normal form.
    pub(crate) names: Names,
    /// The failures, in the order of their pairs.
    pub(crate) reasons: Vec<Failed>,
}

/// Two files with the same path.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) a: FileNo,
    pub(crate) b: FileNo,
    pub(crate) state: PairState,
}

/// The result for a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairState {
    /// Not compared yet. The value is the larger of the two sizes, or 0 if they are not known yet.
    Pending(u64),
    /// All bytes were compared and are equal.
    Equal,
    /// The content differs from this offset on.
    Differs(u64),
    /// The files have these different sizes.
    Sizes(u64, u64),
    /// Both paths are the same file.
    OneFile,
    Failed,
}

impl PairState {
    pub(crate) const UNKNOWN: Self = Self::Pending(0);
}

/// A pair that could not be compared.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The index of the pair in the table.
    pub(crate) pair: usize,
    pub(crate) side: Side,
    pub(crate) failure: Failure,
}

impl PairTable {
    pub(crate) fn new(
        pairs: Vec<Pair>,
        others: u64,
        by_type: u64,
        links: Option<Links>,
        attributes: Differences,
        names: Names,
    ) -> Self {
        Self { pairs, others, by_type, links, attributes, names, reasons: Vec::new() }
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// Returns the number of pairs whose content was compared. Pairs of different size, and pairs that are
    /// one file, are not read.
    pub fn read(&self) -> u64 {
        let is_read = |pair: &&Pair| matches!(pair.state, PairState::Equal | PairState::Differs(_));
        self.pairs.iter().filter(is_read).count() as u64
    }

    /// Returns the number of pairs of FIFOs or of sockets. Nothing but their type can be compared.
    pub fn by_type(&self) -> u64 {
        self.by_type
    }

    /// Returns the number of pairs that could not be compared.
    pub fn failed(&self) -> u64 {
        self.reasons.len() as u64
    }

    /// Returns the number of differences. Pairs that were not compared count as differences.
    pub(crate) fn differences(&self) -> u64 {
        let is_equal = |pair: &&Pair| matches!(pair.state, PairState::Equal | PairState::OneFile);
        self.others + self.pairs() - self.pairs.iter().filter(is_equal).count() as u64
    }

    /// Returns the difference of each pair; `None` if its files are equal.
    pub(crate) fn found(&self) -> impl Iterator<Item = Option<What<'_>>> {
        let mut reasons = self.reasons.iter();
        self.pairs.iter().map(move |pair| match pair.state {
            PairState::Equal | PairState::OneFile => None,
            PairState::Differs(first) => Some(What::Content { first }),
            PairState::Sizes(a, b) => Some(What::Size(a, b)),
            PairState::Failed => {
                let failed = reasons.next().expect("every failure has a reason");
                Some(What::Failed(failed.side, &failed.failure))
            }
            PairState::Pending(_) => Some(What::Pending),
        })
    }
}

impl Pair {
    pub(crate) fn new(a: FileNo, b: FileNo) -> Self {
        Self { a, b, state: PairState::UNKNOWN }
    }

    /// Returns the pair's size if it is still pending; 0 if the size is not known yet.
    pub(crate) fn pending(&self) -> Option<u64> {
        match self.state {
            PairState::Pending(size) => Some(size),
            _ => None,
        }
    }

    /// Whether the pair is still pending and not known to be larger than `max` bytes.
    pub(crate) fn is_pending(&self, max: u64) -> bool {
        self.pending().is_some_and(|size| size <= max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_takes_32_bytes() {
        assert_eq!(size_of::<Pair>(), 32);
    }
}
