//! The files that have to be read, two by two.

use ftk_inventory::FileNo;
use ftk_read::Failure;

use super::difference::What;
use crate::Side;

/// The pairs that have to be read, by path, and what is known of them.
#[derive(Debug)]
pub struct Plan {
    pub(crate) pairs: Vec<Pair>,
    /// Why the failed ones failed, in their order.
    pub(crate) reasons: Vec<Failed>,
}

/// Two files of one name.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) a: FileNo,
    pub(crate) b: FileNo,
    /// The larger of their sizes, as the walks saw them; mostly there is only one.
    pub(crate) size: u64,
    pub(crate) verdict: Verdict,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pending,
    Equal,
    /// From this byte on.
    Differs(u64),
    Failed,
}

/// A pair that could not be compared.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Its place in the plan.
    pub(crate) pair: usize,
    pub(crate) side: Side,
    pub(crate) failure: Failure,
}

impl Plan {
    pub(crate) fn new(pairs: Vec<Pair>) -> Self {
        Self { pairs, reasons: Vec::new() }
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// How many of them could not be compared.
    pub fn failed(&self) -> u64 {
        self.reasons.len() as u64
    }

    /// What was found of each pair; `None`: its files are equal.
    pub(crate) fn found(&self) -> impl Iterator<Item = Option<What<'_>>> {
        let mut reasons = self.reasons.iter();
        self.pairs.iter().map(move |pair| match pair.verdict {
            Verdict::Equal => None,
            Verdict::Differs(first) => Some(What::Content { first }),
            Verdict::Failed => {
                let failed = reasons.next().expect("every failure has a reason");
                Some(What::Failed(failed.side, &failed.failure))
            }
            Verdict::Pending => Some(What::Pending),
        })
    }
}

impl Pair {
    pub(crate) fn new(a: FileNo, b: FileNo, size: u64) -> Self {
        Self { a, b, size, verdict: Verdict::Pending }
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.verdict == Verdict::Pending
    }

    /// Whether it is shared by all workers instead of being read by one of them.
    pub(crate) fn is_large(&self) -> bool {
        self.size > LARGE
    }
}

/// A pair of larger files is compared by all workers together. One worker takes some 10 ms for a pair of this size, in
/// memory: the most that the others may have to wait for it.
const LARGE: u64 = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_takes_32_bytes() {
        assert_eq!(size_of::<Pair>(), 32);
    }
}
