//! Which directories grew and shrank between two tables.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::{AddAssign, Range, SubAssign};

use ftk_inventory::{Budget, Full, Reservation};

use crate::usage::push_name;
use crate::{Item, Measure, Sum, Unknown, Usage};

/// By how much a sum grew. Negative numbers: by how much it shrank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The sizes in bytes.
    pub apparent: i128,
    /// The allocated bytes.
    pub allocated: i128,
    /// The number of entries that are not directories.
    pub files: i64,
}

impl Change {
    fn between(old: Sum, new: Sum) -> Self {
        Self {
            // A table has fewer than 2^32 directories, and no file system has 2^63 files of 2^64 bytes.
            apparent: new.apparent.wrapping_sub(old.apparent).cast_signed(),
            allocated: new.allocated.wrapping_sub(old.allocated).cast_signed(),
            files: new.files.wrapping_sub(old.files).cast_signed(),
        }
    }

    /// Returns the bytes by one of the two measures.
    pub fn bytes(&self, measure: Measure) -> i128 {
        match measure {
            Measure::Allocated => self.allocated,
            Measure::Apparent => self.apparent,
        }
    }
}

impl AddAssign for Change {
    fn add_assign(&mut self, other: Self) {
        self.apparent += other.apparent;
        self.allocated += other.allocated;
        self.files += other.files;
    }
}

impl SubAssign for Change {
    fn sub_assign(&mut self, other: Self) {
        self.apparent -= other.apparent;
        self.allocated -= other.allocated;
        self.files -= other.files;
    }
}

/// Which entries are shown, and in which order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// The measure that decides what has changed, and by how much.
    pub measure: Measure,
    /// The depth of the deepest entries that are shown. `None`: no limit.
    pub depth: Option<u32>,
    /// Show only this many of them. `None`: all.
    pub top: Option<usize>,
}

/// Which of the two tables have an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Only the new one.
    Added,
    /// Only the old one.
    Removed,
    /// Both.
    Kept,
}

/// An entry that changed.
#[derive(Clone, Copy, Debug)]
pub struct ChangedRow {
    node: u32,
    /// The depth: `0` for the starting point.
    pub depth: u32,
    /// Which of the tables have the entry.
    pub state: State,
    /// Whether it is a directory; in the new table, if that has it.
    pub is_directory: bool,
    /// By how much it changed, without what is unknown. `None` if the whole entry is unknown.
    pub change: Option<Change>,
    /// The number of paths at or below this one that are unknown in one of the tables.
    pub unknown: u64,
    /// The number of changed entries of this directory that are not shown, and their change, if others are shown.
    pub rest: Option<(u64, Change)>,
}

/// The difference of two tables with one starting point each, whose entries are compared by their paths below it.
///
/// What is [`Unknown`] in one table counts in neither: a directory that could not be read did not shrink. If a file is
/// unknown and neither table has it by name, no file directly in its directory counts.
///
/// An inode with several links counts in each table where it counts there, so a change is the difference of two sums.
#[derive(Debug)]
pub struct Difference<'u> {
    sides: [&'u Usage; 2],
    shown: Shown,
    /// Each directory stands before its entries, which are next to each other and sorted by name.
    nodes: Vec<Node>,
    memory: Reservation,
}

/// An entry of one or both tables.
#[derive(Debug)]
struct Node {
    items: [Option<Item>; 2],
    parent: u32,
    depth: u32,
    entries: Range<u32>,
    change: Change,
    unknown: u64,
    is_unknown: bool,
    /// Whether the entry is shown, because it or something in it changed.
    is_changed: bool,
    /// The largest change of this entry and of those below it that may be shown.
    peak: u128,
}

impl<'u> Difference<'u> {
    /// Compares two tables, which keep directories of all depths.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn between(old: &'u Usage, new: &'u Usage, shown: Shown, budget: &Budget) -> Result<Self, Full> {
        let memory = Reservation::new(budget);
        let mut difference = Self { sides: [old, new], shown, nodes: Vec::new(), memory };
        let root = |usage: &Usage| usage.roots().first().map(|root| Item::Dir(*root));
        difference.push([root(old), root(new)], 0, 0)?;
        let mut next = 0;
        while next < difference.nodes.len() {
            difference.push_entries(next)?;
            next += 1;
        }
        difference.add_up();
        Ok(difference)
    }

    fn push(&mut self, items: [Option<Item>; 2], parent: u32, depth: u32) -> Result<(), Full> {
        // The table has an old copy while it grows.
        self.memory.consume(2 * size_of::<Node>() as u64)?;
        if self.nodes.len() >= u32::MAX as usize {
            return Err(Full::Directories);
        }
        let [old, new] = [0, 1].map(|side| self.sum(side, items[side]));
        self.nodes.push(Node {
            items,
            parent,
            depth,
            entries: 0..0,
            change: Change::between(old, new),
            unknown: 0,
            is_unknown: false,
            is_changed: false,
            peak: 0,
        });
        Ok(())
    }

    fn sum(&self, side: usize, item: Option<Item>) -> Sum {
        item.map_or_else(Sum::default, |item| self.sides[side].sum_of(item))
    }

    /// Adds the entries of a directory. Those with equal names are one.
    fn push_entries(&mut self, at: usize) -> Result<(), Full> {
        let Node { items, depth, .. } = self.nodes[at];
        let sides = self.sides;
        let sorted = |side: usize| {
            let dir = items[side].and_then(|item| if let Item::Dir(dir) = item { Some(dir) } else { None });
            let mut entries: Vec<_> = dir.into_iter().flat_map(|dir| sides[side].children(dir)).collect();
            entries.sort_unstable_by_key(|item| (sides[side].name(*item), *item));
            entries.into_iter().peekable()
        };
        let (mut old, mut new) = (sorted(0), sorted(1));
        let start = self.nodes.len() as u32;
        loop {
            let names = (old.peek().map(|it| sides[0].name(*it)), new.peek().map(|it| sides[1].name(*it)));
            let (has_old, has_new) = match names {
                (None, None) => break,
                (Some(a), Some(b)) => (a <= b, b <= a),
                (a, b) => (a.is_some(), b.is_some()),
            };
            let pair = [old.next_if(|_| has_old), new.next_if(|_| has_new)];
            self.push(pair, at as u32, depth + 1)?;
        }
        self.nodes[at].entries = start..self.nodes.len() as u32;
        Ok(())
    }

    /// Replaces the change of each entry by that of what is known in it.
    fn add_up(&mut self) {
        // First each has its own change, without its entries. These are still whole: they come later.
        for at in 1..self.nodes.len() {
            let Node { change, parent, .. } = self.nodes[at];
            self.nodes[parent as usize].change -= change;
        }
        let sides = self.sides;
        for unknown in sides.iter().flat_map(|side| &side.unknown) {
            self.note(unknown);
        }
        for at in (0..self.nodes.len()).rev() {
            let Shown { measure, depth, .. } = self.shown;
            let node = &mut self.nodes[at];
            if depth.is_none_or(|deepest| node.depth <= deepest) {
                let bytes = node.change.bytes(measure);
                node.is_changed |= bytes != 0 || node.change.files != 0 || node.unknown > 0;
                node.peak = node.peak.max(bytes.unsigned_abs());
            }
            let Node { change, unknown, is_changed, peak, parent, .. } = *node;
            let parent = &mut self.nodes[parent as usize];
            if at > 0 && !parent.is_unknown {
                parent.change += change;
                parent.unknown += unknown;
                parent.is_changed |= is_changed;
                parent.peak = parent.peak.max(peak);
            }
        }
    }

    /// Marks what is unknown. Its change is 0.
    fn note(&mut self, unknown: &Unknown) {
        let mut at = 0;
        let mut names = unknown.path.split(|byte| *byte == b'/').filter(|it| !matches!(*it, b"" | b"."));
        let is_whole = loop {
            let Some(name) = names.next() else { break true };
            let entries = self.nodes[at].entries.clone();
            let found = self.nodes[entries.start as usize..entries.end as usize]
                .binary_search_by(|node| self.name_of(node).cmp(name));
            match found {
                Ok(nth) => at = entries.start as usize + nth,
                // A directory that neither table has counts in neither.
                Err(_) if unknown.is_directory => return,
                Err(_) => break false,
            }
        };
        let node = &mut self.nodes[at];
        node.change = Change::default();
        node.unknown += 1;
        node.is_unknown |= is_whole;
    }

    fn name_of(&self, node: &Node) -> &'u [u8] {
        let name = |side: usize| Some(self.sides[side].name(node.items[side]?));
        name(1).or_else(|| name(0)).unwrap_or_default()
    }

    /// Returns the entries that changed. Each directory stands before its entries, and of these the one with the largest
    /// change first, whether it grew or shrank. Directories in which something changed are listed too.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn rows(&self, budget: &Budget) -> Result<Vec<ChangedRow>, Full> {
        let chosen = self.shown.top.map(|top| self.largest(top));
        let is_chosen = |at: &u32| chosen.as_ref().is_none_or(|chosen| chosen.contains(at));
        let mut memory = Reservation::new(budget);
        let (mut rows, mut waiting) = (Vec::new(), Vec::new());
        waiting.extend(self.changed(0..1).filter(is_chosen));
        while let Some(at) = waiting.pop() {
            memory.consume(2 * (size_of::<ChangedRow>() + size_of::<u32>()) as u64)?;
            let node = &self.nodes[at as usize];
            let (mut listed, mut rest) = (Vec::new(), (0, Change::default()));
            for entry in self.entries(node) {
                if is_chosen(&entry) {
                    listed.push(entry);
                } else {
                    rest.0 += 1;
                    rest.1 += self.nodes[entry as usize].change;
                }
            }
            listed.sort_unstable_by_key(|entry| self.rank(*entry));
            rows.push(ChangedRow {
                node: at,
                depth: node.depth,
                state: match node.items {
                    [_, None] => State::Removed,
                    [None, _] => State::Added,
                    [Some(_), Some(_)] => State::Kept,
                },
                is_directory: match node.items {
                    [_, Some(item)] => self.sides[1].is_directory(item),
                    [old, None] => old.is_none_or(|item| self.sides[0].is_directory(item)),
                },
                change: (!node.is_unknown).then_some(node.change),
                unknown: node.unknown,
                rest: Some(rest).filter(|(entries, _)| *entries > 0 && !listed.is_empty()),
            });
            waiting.extend(listed.into_iter().rev());
        }
        Ok(rows)
    }

    /// Returns the entries of a directory that may be shown.
    fn entries(&self, node: &Node) -> impl Iterator<Item = u32> + '_ {
        let is_whole = !node.is_unknown && self.shown.depth.is_none_or(|deepest| node.depth < deepest);
        self.changed(if is_whole { node.entries.clone() } else { 0..0 })
    }

    fn changed(&self, nodes: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        nodes.filter(|at| self.nodes[*at as usize].is_changed)
    }

    /// The order among entries of one directory: the largest change first.
    fn rank(&self, at: u32) -> impl Ord {
        let Node { change, .. } = &self.nodes[at as usize];
        let bytes = change.bytes(self.shown.measure).unsigned_abs();
        (Reverse(bytes), Reverse(change.files.unsigned_abs()), at)
    }

    /// Returns the entries with the largest changes, and the directories that lead to them.
    fn largest(&self, top: usize) -> HashSet<u32> {
        let key = |at: u32| (self.nodes[at as usize].peak, Reverse(at));
        let mut heap: BinaryHeap<_> = self.changed(0..1).map(key).collect();
        let mut chosen = HashSet::new();
        while chosen.len() < top
            && let Some((_, Reverse(at))) = heap.pop()
        {
            chosen.insert(at);
            heap.extend(self.entries(&self.nodes[at as usize]).map(key));
        }
        chosen
    }

    /// Returns the number of paths that are unknown in one of the tables.
    pub fn unknown(&self) -> u64 {
        self.nodes[0].unknown
    }

    /// Returns whether nothing changed, as far as it is known.
    pub fn is_empty(&self) -> bool {
        !self.nodes[0].is_changed
    }

    /// Returns the name without its directory; for the starting point the path in the new table.
    pub fn name(&self, row: &ChangedRow) -> &'u [u8] {
        self.name_of(&self.nodes[row.node as usize])
    }

    /// Returns the path: the starting point of the new table, joined with the names below it.
    pub fn path(&self, row: &ChangedRow) -> Vec<u8> {
        let mut path = self.name_of(&self.nodes[0]).to_vec();
        if row.depth > 0 {
            push_name(&mut path, &self.path_below(row));
        }
        path
    }

    /// Returns the path below the starting point; `.` for this itself.
    pub fn path_below(&self, row: &ChangedRow) -> Vec<u8> {
        let (mut names, mut at) = (Vec::new(), row.node);
        while at > 0 {
            names.push(self.name_of(&self.nodes[at as usize]));
            at = self.nodes[at as usize].parent;
        }
        names.reverse();
        if names.is_empty() { b".".to_vec() } else { names.join(&b'/') }
    }
}
