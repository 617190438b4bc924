//! The files that have to be opened, two by two.

use ftk_inventory::FileNo;
use ftk_read::Failure;

use super::difference::What;
use crate::Side;

/// The pairs that have to be opened, by path, and what is known of them.
#[derive(Debug)]
pub struct PairTable {
    pub(crate) pairs: Vec<Pair>,
    /// How many differences there are beside those of pairs.
    pub(crate) others: u64,
    /// Why the failed ones failed, in their order.
    pub(crate) reasons: Vec<Failed>,
}

/// Two files of one name.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) a: FileNo,
    pub(crate) b: FileNo,
    pub(crate) verdict: PairState,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairState {
    /// Nothing yet; the larger of the sizes, or 0 as long as nobody has asked.
    Pending(u64),
    /// All bytes were compared.
    Equal,
    /// From this byte on.
    Differs(u64),
    /// In their sizes, which are these.
    Sizes(u64, u64),
    /// Both are one file.
    OneFile,
    Failed,
}

impl PairState {
    pub(crate) const UNKNOWN: Self = Self::Pending(0);
}

/// A pair that could not be compared.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Its place in the plan.
    pub(crate) pair: usize,
    pub(crate) side: Side,
    pub(crate) failure: Failure,
}

impl PairTable {
    pub(crate) fn new(pairs: Vec<Pair>, others: u64) -> Self {
        Self { pairs, others, reasons: Vec::new() }
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// How many of them were read, and not told apart, or to be one file, before.
    pub fn read(&self) -> u64 {
        let is_read = |pair: &&Pair| matches!(pair.verdict, PairState::Equal | PairState::Differs(_));
        self.pairs.iter().filter(is_read).count() as u64
    }

    /// How many of them could not be compared.
    pub fn failed(&self) -> u64 {
        self.reasons.len() as u64
    }

    /// How many differences there are, pairs that were not compared included.
    pub(crate) fn differences(&self) -> u64 {
        let is_equal = |pair: &&Pair| matches!(pair.verdict, PairState::Equal | PairState::OneFile);
        self.others + self.pairs() - self.pairs.iter().filter(is_equal).count() as u64
    }

    /// What was found of each pair; `None`: its files are equal.
    pub(crate) fn found(&self) -> impl Iterator<Item = Option<What<'_>>> {
        let mut reasons = self.reasons.iter();
        self.pairs.iter().map(move |pair| match pair.verdict {
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
        Self { a, b, verdict: PairState::UNKNOWN }
    }

    /// Its size, or 0 where that is not known yet, if it still has to be compared.
    pub(crate) fn pending(&self) -> Option<u64> {
        match self.verdict {
            PairState::Pending(size) => Some(size),
            _ => None,
        }
    }

    /// Whether it still has to be compared and, as far as is known, has at most so many bytes.
    pub(crate) fn is_pending(&self, most: u64) -> bool {
        self.pending().is_some_and(|size| size <= most)
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
