//! The visitor that passes the entries of one worker to their destination.

use std::sync::mpsc::SyncSender;

use ftk_walk::{Directory, Entry, Fields, Op, Step, Visitor, WalkError};

use super::group::Groups;
use super::render::Render;
use super::search::{Limit, Search};
use super::sorted::Unsorted;
use super::top::Top;
use crate::console::Outcome;
use crate::scan::walk_error;
use crate::stdout::Lines;

/// The destination of entries.
pub(super) enum Sink<'l> {
    /// Entries are only counted.
    Count,
    /// Standard output: the bytes of each path, and a terminator.
    Paths { lines: Lines<'l>, end: u8 },
    /// Standard output, in another format.
    Lines { lines: Lines<'l>, render: Render<'l> },
    /// Records are kept, to be sorted after the walk.
    Sort(Unsorted<'l>),
    /// The records of the first entries in an order are kept.
    Top(Top<'l>),
    /// Entries are counted by group.
    Group(Groups),
    /// The queue of the workers that run commands.
    Commands(SyncSender<Vec<u8>>),
}

/// One worker's share of the search.
pub(super) struct Lister<'l> {
    pub(super) sink: Sink<'l>,
    pub(super) found: u64,
    /// Entries that vanished during the run.
    pub(super) vanished: Vec<Vec<u8>>,
    pub(super) outcome: Outcome,
    limit: Option<&'l Limit>,
    search: &'l Search<'l>,
    /// The path of the current directory with a slash at its end; empty for starting points.
    dir: Vec<u8>,
}

impl<'l> Lister<'l> {
    pub(super) fn new(sink: Sink<'l>, limit: Option<&'l Limit>, search: &'l Search<'l>) -> Self {
        let (vanished, dir) = (Vec::new(), Vec::new());
        Self { sink, found: 0, vanished, outcome: Outcome::Success, limit, search, dir }
    }

    fn list(&mut self, entry: &mut Entry<'_>) -> Step {
        if entry.record().is_some_and(|record| record.is_implied) {
            return Step::Descend;
        }
        let (dir, limit) = (&self.dir, self.limit);
        let step = match &mut self.sink {
            Sink::Count => Limit::claim(limit),
            Sink::Paths { lines, end } => Limit::claim(limit).filter(|_| lines.path(dir, entry.name(), *end)),
            Sink::Lines { lines, render } => {
                let line = lines.begin();
                let start = line.len();
                if let Err(error) = render.push(line, dir, entry) {
                    line.truncate(start);
                    return self.skip(error);
                }
                let step = Limit::claim(limit);
                if step.is_none() {
                    line.truncate(start);
                }
                step.filter(|_| lines.end())
            }
            Sink::Sort(unsorted) => match unsorted.add(dir, entry) {
                Ok(step) => Some(step),
                Err(error) => return self.skip(error),
            },
            Sink::Top(top) => match top.add(dir, entry) {
                Ok(()) => Some(Step::Descend),
                Err(error) => return self.skip(error),
            },
            Sink::Group(groups) => match groups.add(dir, entry) {
                Ok(()) => Some(Step::Descend),
                Err(error) => return self.skip(error),
            },
            Sink::Commands(queue) => {
                let path = || [dir, entry.name()].concat();
                Limit::claim(limit).filter(|_| queue.send(path()).is_ok())
            }
        };
        self.found += u64::from(step.is_some());
        step.unwrap_or(Step::Stop)
    }

    /// Reports an entry that has no record. Descends nevertheless, since it may be a directory.
    fn skip(&mut self, error: WalkError) -> Step {
        match self.error(error) {
            Step::Stop => Step::Stop,
            _ => Step::Descend,
        }
    }
}

impl Visitor for Lister<'_> {
    type Dir = ();

    fn enter(&mut self, _tag: &(), dir: &Directory<'_>) -> Step {
        self.dir.clear();
        dir.push_path(&mut self.dir);
        if !self.dir.ends_with(b"/") {
            self.dir.push(b'/');
        }
        Step::Descend
    }

    fn entry(&mut self, _tag: Option<&()>, entry: &mut Entry<'_>) -> Step {
        self.list(entry)
    }

    fn reads(&self) -> Fields {
        match &self.sink {
            // A record may lack fields, and those that are printed cost nothing.
            _ if self.search.records.is_some() => Fields::NONE,
            Sink::Lines { render, .. } => render.reads(),
            Sink::Sort(unsorted) => unsorted.reads(),
            Sink::Top(top) => top.reads(),
            Sink::Group(_) => Fields::BASIC,
            Sink::Count | Sink::Paths { .. } | Sink::Commands(_) => Fields::NONE,
        }
    }

    fn leave(&mut self, _tag: &()) {
        if let Sink::Paths { lines, .. } | Sink::Lines { lines, .. } = &mut self.sink {
            // The result is not needed: if the reader has gone, the next line fails too.
            lines.flush_if_waiting();
        }
    }

    fn error(&mut self, error: WalkError) -> Step {
        if self.search.races.accept(&error) {
            self.vanished.push(error.path);
        } else {
            walk_error(&error, self.search.console);
            self.outcome = Outcome::Error;
            // What a record lacks of one entry, it lacks of most.
            if self.search.records.is_some() && error.op == Op::Stat {
                return Step::Stop;
            }
        }
        Step::Next
    }
}
