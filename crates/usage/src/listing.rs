//! Chooses and sorts the entries that people look at.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use ftk_inventory::{Budget, Full, Reservation};

use crate::{Item, Measure, Sum, Usage};

/// One line of a listing.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What the line is about.
    pub item: Item,
    /// Its sum.
    pub sum: Sum,
    /// Entries in this directory that are not in the listing, if others are.
    pub rest: Option<Rest>,
}

/// Entries of a directory that are not in the listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Their number, without what is below them.
    pub entries: u64,
    /// The bytes that they use, and that the directory itself uses, by the measure of the listing.
    pub bytes: u128,
}

/// A line, which may be copied while the table grows, and its place in the stack of what is not listed yet.
const BYTES_OF_LINE: u64 = 2 * (size_of::<Row>() + size_of::<Item>()) as u64;

/// The chosen entries. Each directory stands before its contents, and the largest first; the first names if they are
/// equally large.
#[derive(Debug)]
pub struct Listing {
    /// The lines.
    pub rows: Vec<Row>,
    /// Starting points that are not in the listing.
    pub rest: Option<Rest>,
}

impl Usage {
    /// Lists the `top` largest entries; all of them for `None`.
    ///
    /// A directory is at least as large as its contents, so the listing contains every directory above its entries.
    /// Directories in which nothing was counted are not listed, starting points excepted. The lines are reserved in
    /// the budget.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn listing(&self, top: Option<usize>, measure: Measure, budget: &Budget) -> Result<Listing, Full> {
        let chosen = top.map(|top| self.largest(top, measure));
        let is_chosen = |item: &Item| chosen.as_ref().is_none_or(|chosen| chosen.contains(item));
        let in_order = |items: &mut Vec<Item>| items.sort_unstable_by_key(|item| self.rank(*item, measure));
        let (mut rows, mut memory) = (Vec::new(), Reservation::new(budget));
        let mut waiting: Vec<_> = self.roots().iter().map(|root| Item::Dir(*root)).collect();
        let roots = waiting.len();
        waiting.retain(is_chosen);
        let hidden_roots = (roots - waiting.len()) as u64;
        let bytes = |item: Item| self.bytes(item, measure);
        let shown: u128 = waiting.iter().copied().map(bytes).sum();
        let all: u128 = self.roots().iter().map(|root| bytes(Item::Dir(*root))).sum();
        in_order(&mut waiting);
        let rest = (hidden_roots > 0).then_some(Rest { entries: hidden_roots, bytes: all - shown });
        waiting.reverse();
        while let Some(item) = waiting.pop() {
            let sum = self.sum_of(item);
            let mut row = Row { item, sum, rest: None };
            if let Item::Dir(dir) = item {
                let mut files_here = sum.files;
                let (mut shown, mut hidden, mut left) = (Vec::new(), 0, bytes(item));
                for child in self.shown_children(dir) {
                    let of_child = self.sum_of(child);
                    if let Item::Dir(_) = child {
                        files_here = files_here.saturating_sub(of_child.files);
                        hidden += u64::from(!is_chosen(&child));
                    } else if is_chosen(&child) {
                        files_here = files_here.saturating_sub(1);
                    }
                    if is_chosen(&child) {
                        left -= bytes(child);
                        shown.push(child);
                    }
                }
                let entries = hidden + files_here;
                if !shown.is_empty() && top.is_some() && entries > 0 {
                    row.rest = Some(Rest { entries, bytes: left });
                }
                in_order(&mut shown);
                waiting.extend(shown.into_iter().rev());
            }
            memory.consume(BYTES_OF_LINE)?;
            rows.push(row);
        }
        Ok(Listing { rows, rest })
    }

    /// Lists the kept entries that are not directories, the largest first; only `top` of them, if that is given.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn files(&self, top: Option<usize>, measure: Measure, budget: &Budget) -> Result<Listing, Full> {
        let mut items: Vec<_> = self.kept_files().collect();
        Reservation::new(budget).consume(BYTES_OF_LINE * items.len() as u64)?;
        items.sort_unstable_by(|a, b| {
            let bytes = |item: &Item| Reverse(self.bytes(*item, measure));
            bytes(a).cmp(&bytes(b)).then_with(|| self.path(*a).cmp(&self.path(*b)))
        });
        items.truncate(top.unwrap_or(usize::MAX));
        let row = |item: Item| Row { item, sum: self.sum_of(item), rest: None };
        Ok(Listing { rows: items.into_iter().map(row).collect(), rest: None })
    }

    /// Returns the largest entries. Opens directories from the largest to the smallest, so it looks at few others.
    fn largest(&self, top: usize, measure: Measure) -> HashSet<Item> {
        // Of equally large entries, those of the directory that was opened first come first.
        let mut heap: BinaryHeap<_> = self
            .roots()
            .iter()
            .map(|root| {
                let root = Item::Dir(*root);
                (self.bytes(root, measure), Reverse((0, self.name(root), root)))
            })
            .collect();
        let mut chosen = HashSet::new();
        while chosen.len() < top
            && let Some((_, Reverse((_, _, item)))) = heap.pop()
        {
            chosen.insert(item);
            if let Item::Dir(dir) = item {
                let child =
                    |child| (self.bytes(child, measure), Reverse((chosen.len(), self.name(child), child)));
                heap.extend(self.shown_children(dir).map(child));
            }
        }
        chosen
    }

    fn shown_children(&self, dir: crate::DirId) -> impl Iterator<Item = Item> {
        self.children(dir).filter(|child| {
            let Sum { files, directories, .. } = self.sum_of(*child);
            files > 0 || directories > 0
        })
    }

    /// The order among entries of one directory.
    fn rank(&self, item: Item, measure: Measure) -> (Reverse<u128>, &[u8], Item) {
        (Reverse(self.bytes(item, measure)), self.name(item), item)
    }
}
