//! Groups whose members were examined again after the search.

use std::collections::HashMap;
use std::ops::AddAssign as _;

use ftk_dedup::report::Group;
use ftk_dedup::{Fate, Fates, Piece, Survey, Surveyed};
use ftk_hash::Digest;
use ftk_inventory::Inventory;

use crate::console::{Console, Outcome, say_failed};

/// A part of a group, with the current metadata of its members.
#[derive(Debug)]
pub(super) struct Part<'s> {
    pub(super) group: ftk_dedup::Group<'s>,
    /// Whether the group begins with this part.
    pub(super) is_first: bool,
    /// Whether the group ends with this part.
    pub(super) is_last: bool,
    /// Members in path order. Their files are numbered in order of appearance.
    pub(super) names: Vec<Surveyed>,
}

/// The directories that stay as a whole.
#[derive(Debug)]
pub(super) struct Kept<'s> {
    pub(super) fates: &'s Fates,
    /// The number of starting points.
    pub(super) n_roots: usize,
}

/// An iterator over the parts of groups. Most groups are one part; a part has at most a few ten thousand members.
///
/// A member that has changed since the walk is reported and omitted, and makes the outcome an error. A group that
/// has only one file left is omitted.
pub(super) struct Examined<'s> {
    inventory: &'s Inventory,
    survey: Survey<'s>,
    /// Members inside these get the number of their starting point plus the number of all starting points.
    kept: Option<Kept<'s>>,
    console: &'s Console,
    outcome: Outcome,
    /// The numbers of the files of the current group that have appeared.
    numbers: HashMap<u32, u32>,
    /// The number of the next file of the current group, if no file of it has several names.
    next: u32,
    is_begun: bool,
}

impl<'s> Examined<'s> {
    pub(super) fn new(
        inventory: &'s Inventory,
        survey: Survey<'s>,
        kept: Option<Kept<'s>>,
        console: &'s Console,
    ) -> Self {
        let (numbers, next) = (HashMap::new(), 0);
        Self { inventory, survey, kept, console, outcome: Outcome::Success, numbers, next, is_begun: false }
    }

    /// The outcome so far.
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Reports the failed names of a piece, and numbers the files of the others.
    fn check(&mut self, piece: &mut Piece<'_>) {
        if !piece.failed.is_empty() {
            say_failed(self.inventory, &piece.failed, "omitted from its group", self.console);
            self.outcome = Outcome::Error;
        }
        for name in &mut piece.names {
            if let Some(Kept { fates, n_roots }) = &self.kept
                && fates.of(self.inventory.dir_of(name.file)) == Fate::Kept
            {
                name.member.root += n_roots;
            }
            let next = self.next;
            name.cluster = match piece.group.has_hard_links() {
                true => *self.numbers.entry(name.cluster).or_insert(next),
                false => next,
            };
            if name.cluster == next {
                self.next.add_assign(1);
            }
        }
    }

    /// Returns whole groups, which must fit into memory.
    pub(super) fn groups(&mut self) -> impl Iterator<Item = Group> {
        let mut members = Vec::new();
        self.filter_map(move |part| {
            members.extend(part.names.into_iter().map(|name| name.member));
            part.is_last.then(|| Group {
                size: part.group.size,
                digest: Digest::from_bytes(part.group.digest),
                members: std::mem::take(&mut members),
            })
        })
    }
}

impl<'s> Iterator for Examined<'s> {
    type Item = Part<'s>;

    fn next(&mut self) -> Option<Part<'s>> {
        // Names of the current group, before it has a second file.
        let mut held = Vec::new();
        loop {
            let mut piece = self.survey.next()?;
            if piece.is_first {
                (self.numbers, self.next, self.is_begun) = (HashMap::new(), 0, false);
            }
            self.check(&mut piece);
            let Piece { group, is_last, mut names, .. } = piece;
            held.append(&mut names);
            // The names of one file may fill several pieces, but a second file makes it a group.
            if self.next >= 2 {
                let is_first = !std::mem::replace(&mut self.is_begun, true);
                return Some(Part { group, is_first, is_last, names: held });
            }
            if is_last {
                held.clear();
            }
        }
    }
}
