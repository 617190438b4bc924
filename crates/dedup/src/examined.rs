//! Groups whose members were examined again after the search.

use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign as _;

use ftk_hash::Digest;
use ftk_inventory::{DirNo, FileNo, Inventory};
use ftk_process::Failed;

use crate::prune::Protection;
use crate::{Groups, Piece, Survey, SurveyOptions, Surveyed, report};

/// A part of a group, with the current metadata of its members.
#[derive(Debug)]
pub struct Part<'s> {
    /// The group.
    pub group: crate::Group<'s>,
    /// Whether the group begins with this part.
    pub is_first: bool,
    /// Whether the group ends with this part.
    pub is_last: bool,
    /// Members in path order. Their files are numbered in order of appearance.
    pub names: Vec<Surveyed>,
}

/// Is called with members that have changed.
type ReportFailed<'s> = Box<dyn FnMut(&[Failed]) + 's>;

/// Returns whether a file is inside a directory that stays as a whole.
type IsInKept<'s> = Box<dyn Fn(DirNo, FileNo) -> bool + 's>;

/// An iterator over the parts of groups. Most groups are one part; a part has at most a few ten thousand members.
///
/// A member that has changed since the walk is reported and omitted. A group that has only one file left is omitted.
/// Members inside directories that stay as a whole are marked.
pub struct Examined<'s> {
    inventory: &'s Inventory,
    survey: Survey<'s>,
    is_in_kept: IsInKept<'s>,
    report: ReportFailed<'s>,
    has_failed: bool,
    /// The numbers of the files of the current group that have appeared.
    numbers: HashMap<u32, u32>,
    /// The number of the next file of the current group, if no file of it has several names.
    next: u32,
    is_begun: bool,
}

impl fmt::Debug for Examined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Examined").field("survey", &self.survey).finish_non_exhaustive()
    }
}

impl<'s> Examined<'s> {
    /// Examines groups. `is_in_kept` returns whether a file is inside a directory that stays as a whole; `report` is called
    /// with members that have changed.
    pub fn new(
        inventory: &'s Inventory,
        groups: &'s Groups,
        options: SurveyOptions<'s>,
        is_in_kept: impl Fn(DirNo, FileNo) -> bool + 's,
        report: impl FnMut(&[Failed]) + 's,
    ) -> Self {
        let survey = Survey::new(inventory, groups, options);
        let (report, is_in_kept, has_failed) = (Box::new(report), Box::new(is_in_kept), false);
        Self {
            inventory,
            survey,
            is_in_kept,
            report,
            has_failed,
            numbers: HashMap::new(),
            next: 0,
            is_begun: false,
        }
    }

    /// Returns whether a member has changed so far.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Reports the failed names of a piece, and numbers the files of the others.
    fn check(&mut self, piece: &mut Piece<'_>) {
        if !piece.failed.is_empty() {
            (self.report)(&piece.failed);
            self.has_failed = true;
        }
        for name in &mut piece.names {
            if (self.is_in_kept)(self.inventory.dir_of(name.file), name.file) {
                name.member.standing.protect(Protection::InKept);
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
    pub fn groups(&mut self) -> impl Iterator<Item = report::Group> {
        let mut members = Vec::new();
        self.filter_map(move |part| {
            members.extend(part.names.into_iter().map(|name| name.member));
            part.is_last.then(|| report::Group {
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
