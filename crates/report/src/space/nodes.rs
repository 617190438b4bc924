//! The nodes that are kept while entries pass by.

use std::cmp::Reverse;

use super::Usage;
use super::types::NONE;

/// What a node and everything below it use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) allocated: u128,
    pub(super) apparent: u128,
    pub(super) waste: u128,
    /// Everything but directories.
    pub(super) files: u64,
    pub(super) newest_s: i64,
    /// Content, type and owner of the largest file, whose colour the node has.
    pub(super) largest: Option<(u64, u32, Option<u32>)>,
}

impl Totals {
    pub(super) const NONE: Self =
        Self { allocated: 0, apparent: 0, waste: 0, files: 0, newest_s: i64::MIN, largest: None };

    /// Returns the totals of one entry; `file_type` is absent for a directory.
    pub(super) fn of(usage: &Usage, file_type: Option<u32>) -> Self {
        Self {
            allocated: usage.allocated.into(),
            apparent: usage.apparent.into(),
            waste: usage.waste.into(),
            files: file_type.is_some().into(),
            newest_s: if file_type.is_some() { usage.mtime_s } else { i64::MIN },
            largest: file_type.map(|it| (usage.apparent, it, usage.uid)),
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.allocated += other.allocated;
        self.apparent += other.apparent;
        self.waste += other.waste;
        self.files += other.files;
        self.newest_s = self.newest_s.max(other.newest_s);
        let size = |it: &Self| it.largest.map(|largest| largest.0);
        if size(other) > size(self) {
            self.largest = other.largest;
        }
    }

    /// By what nodes are chosen. A directory has at least the weight of each entry in it, so the nodes that are chosen
    /// always form a tree.
    fn weight(&self) -> u128 {
        self.allocated + self.apparent
    }

    pub(super) fn file_type(&self) -> u32 {
        self.largest.map_or(NONE, |it| it.1)
    }

    pub(super) fn uid(&self) -> Option<u32> {
        self.largest.and_then(|it| it.2)
    }
}

/// A directory or file that is kept.
#[derive(Debug)]
pub(super) struct Node {
    /// The name for display.
    pub(super) name: Box<str>,
    /// The number of its directory, which is smaller than its own; that of the root is its own.
    pub(super) parent: usize,
    pub(super) is_dir: bool,
    /// Whether more may be added below it.
    pub(super) is_open: bool,
    pub(super) totals: Totals,
    /// The entries directly in this directory that are not kept, with everything below them.
    pub(super) rest: Totals,
    /// The number of these entries.
    pub(super) rest_entries: u64,
}

/// Removes all but the `limit` nodes of the greatest weight and those that are open. What a removed node uses is added to
/// the rest of its directory. Returns the new number of each node that is left.
///
/// Of two nodes of equal weight the first is kept, so a directory is never removed before what is in it.
pub(super) fn prune(nodes: &mut Vec<Node>, limit: usize) -> Vec<Option<usize>> {
    let rank = |number: usize, node: &Node| (Reverse(node.totals.weight()), number);
    let closed = nodes.iter().enumerate().filter(|(_, node)| !node.is_open);
    let mut ranks: Vec<_> = closed.map(|(number, node)| rank(number, node)).collect();
    let last = (ranks.len() > limit).then(|| *ranks.select_nth_unstable(limit).1);
    let is_kept: Vec<_> = (nodes.iter().enumerate())
        .map(|(number, node)| node.is_open || last.is_none_or(|last| rank(number, node) < last))
        .collect();
    for number in (0..nodes.len()).filter(|number| !is_kept[*number]) {
        let Node { parent, totals, .. } = nodes[number];
        // The totals of a directory that is removed too already include this node.
        if is_kept[parent] {
            nodes[parent].rest.add(&totals);
            nodes[parent].rest_entries += 1;
        }
    }
    let mut left = 0;
    let numbers: Vec<_> = (is_kept.iter())
        .map(|is_kept| {
            left += usize::from(*is_kept);
            is_kept.then(|| left - 1)
        })
        .collect();
    let mut number = 0;
    nodes.retain_mut(|node| {
        node.parent = numbers[node.parent].unwrap_or(0);
        number += 1;
        is_kept[number - 1]
    });
    numbers
}
