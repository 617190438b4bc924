//! Prints groups of files in any format, and adds up what they waste.

use std::collections::HashSet;

use ftk_dedup::prune::Gain;
use ftk_dedup::report::Writer;
use ftk_dedup::{FileSpace, GroupTally, Member, RecordedMember, Tally};
use ftk_hash::Digest;

use crate::console::{Console, Outcome};
use crate::dup::options::ReportFormat;
use crate::dup::report::{csv, text};
use crate::human;
use crate::list::List;

/// A name of a group.
#[derive(Debug)]
pub(in crate::dup) struct Name {
    /// The number of its file in the group, in order of appearance.
    pub(in crate::dup) cluster: u64,
    pub(in crate::dup) member: Found,
}

/// What `ftk dup prune` does with a name by its default rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dup) enum Fate {
    Kept,
    Removed,
}

/// What is known about a name.
#[derive(Debug)]
pub(in crate::dup) enum Found {
    /// It was found in a tree.
    Here(Member),
    /// A manifest has it.
    Recorded(RecordedMember),
}

impl Name {
    pub(super) fn path(&self) -> &[u8] {
        match &self.member {
            Found::Here(member) => &member.path,
            Found::Recorded(member) => &member.path,
        }
    }

    /// Returns the space of its file. It counts this name only.
    fn space(&self) -> FileSpace {
        match &self.member {
            Found::Here(member) => {
                let shared = member.shared.iter().map(|it| it.len).sum();
                FileSpace { allocated: Some((member.allocated(), member.nlink)), shared, names: 1 }
            }
            Found::Recorded(member) => {
                FileSpace { allocated: member.allocated.zip(member.nlink), shared: 0, names: 1 }
            }
        }
    }
}

/// Prints groups one after the other, each name by name.
pub(in crate::dup) struct GroupPrinter<'p, 'o> {
    pub(in crate::dup) list: &'p mut List<'o>,
    format: ReportFormat,
    json: Option<Writer>,
    /// What ends a path in the format of fdupes.
    end: u8,
    /// Whether control characters are escaped.
    is_shown: bool,
    is_coloured: bool,
    manifests: &'p [Vec<u8>],
    tally: Tally,
    current: Option<Current>,
}

/// The group that is printed now.
struct Current {
    size: u64,
    digest: Digest,
    tally: GroupTally,
    /// The number of the next file.
    next: u64,
    /// The names that the rules remove, if that is known.
    removed: Option<HashSet<Vec<u8>>>,
    /// All names so far, if the format shows how many there are before it lists them.
    names: Vec<Name>,
}

impl<'p, 'o> GroupPrinter<'p, 'o> {
    /// `json` writes the records of a report. `null`: paths end with NUL, like fdupes. `manifests` are those that were
    /// searched, if no tree was.
    pub(in crate::dup) fn new(
        list: &'p mut List<'o>,
        format: ReportFormat,
        json: Option<Writer>,
        null: bool,
        manifests: &'p [Vec<u8>],
    ) -> Self {
        let (end, is_shown, is_coloured) =
            (text::end_of_path(null), !null && list.is_shown(), list.is_coloured());
        let (tally, current) = (Tally::default(), None);
        Self { list, format, json, end, is_shown, is_coloured, manifests, tally, current }
    }

    /// Whether the format shows which names the rules remove.
    pub(in crate::dup) fn shows_fates(&self) -> bool {
        self.format == ReportFormat::Csv
    }

    /// Begins a group of files with this size and digest. `removed`: the names that the rules remove, if the format
    /// shows them and they are known.
    pub(in crate::dup) fn begin(
        &mut self,
        size: u64,
        digest: Digest,
        tally: GroupTally,
        removed: Option<HashSet<Vec<u8>>>,
    ) {
        self.json.iter_mut().for_each(|json| json.begin_group(size, &digest));
        self.current = Some(Current { size, digest, tally, next: 0, removed, names: Vec::new() });
    }

    /// Prints a name of the current group.
    pub(in crate::dup) fn name(&mut self, name: Name) {
        let Self { list, json, manifests, .. } = self;
        let (end, is_shown) = (self.end, self.is_shown);
        let Some(current) = &mut self.current else { return };
        let is_new = name.cluster == current.next;
        current.next += u64::from(is_new);
        current.tally.add(name.cluster, name.space());
        match self.format {
            ReportFormat::Screen => current.names.push(name),
            ReportFormat::Csv => {
                let (number, Current { size, digest, removed, .. }) = (self.tally.groups + 1, current);
                let fate = |removed: &HashSet<Vec<u8>>| match removed.contains(name.path()) {
                    true => Fate::Removed,
                    false => Fate::Kept,
                };
                let (group, fate) = ((number, *size, &*digest), removed.as_ref().map(fate));
                list.line(|out| csv::push_row(out, group, &name, fate, manifests, is_shown));
            }
            ReportFormat::Json => list.line(|out| {
                json.iter_mut().for_each(|json| match &name.member {
                    Found::Here(member) => json.member(member, name.cluster, out),
                    Found::Recorded(member) => json.recorded_member(member, name.cluster, out),
                });
            }),
            ReportFormat::Fdupes if is_new => {
                list.line(|out| text::push_path(out, name.path(), end, is_shown));
            }
            ReportFormat::Fdupes | ReportFormat::Summary => {}
        }
    }

    /// Ends the current group, if there is one. `gain` is what the rules free in it, if that is known.
    pub(in crate::dup) fn end(&mut self, gain: Option<Gain>) {
        let Some(Current { size, names, tally, .. }) = self.current.take() else { return };
        let (list, manifests, is_coloured) = (&mut *self.list, self.manifests, self.is_coloured);
        match self.format {
            ReportFormat::Screen => {
                list.line(|out| text::push_group(out, size, &names, manifests, is_coloured))
            }
            ReportFormat::Json => list.line(|out| self.json.iter_mut().for_each(|json| json.end_group(out))),
            ReportFormat::Fdupes => list.line(|out| out.push(self.end)),
            ReportFormat::Csv | ReportFormat::Summary => {}
        }
        self.tally.add(tally, gain);
    }

    /// Ends the list, and returns the totals of all groups, and an error if names are missing in the list.
    pub(in crate::dup) fn finish(self, console: &Console) -> (Tally, Outcome) {
        let outcome = self.json.map_or(Outcome::Success, |json| end_report(json, self.list, console));
        (self.tally, outcome)
    }
}

/// Ends a report, and says how many names it omits.
pub(super) fn end_report(json: Writer, list: &mut List<'_>, console: &Console) -> Outcome {
    let left_out = json.left_out();
    list.line(|out| json.finish(out));
    if left_out > 0 {
        let names = human::count(left_out, "name");
        console.error(format_args!("the report omits {names}: the path is too long for a line of it"));
    }
    Outcome::error_if(left_out > 0)
}
