//! The visitor that takes the entries that one worker finds.

use std::sync::mpsc::SyncSender;

use ftk_walk::{Directory, Entry, Step, Visitor, WalkError};

use super::limit::Limit;
use super::render::{Failure, Render};
use super::sorted::Unsorted;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::scan::walk_error;
use crate::stdout::Lines;

/// Where the records of entries go.
pub(super) enum Sink<'l> {
    /// Nowhere: entries are only counted.
    Count,
    Lines(Lines<'l>),
    /// Kept until all are there.
    Sort(Unsorted),
    /// To those who run commands.
    Commands(SyncSender<Vec<u8>>),
}

/// One worker's share of the search.
pub(super) struct Lister<'l> {
    pub(super) sink: Sink<'l>,
    pub(super) found: u64,
    pub(super) outcome: Outcome,
    render: Render<'l>,
    limit: Option<&'l Limit>,
    console: &'l Console,
    /// What stands before every name in the directory being listed; nothing before a starting point.
    dir: Vec<u8>,
}

impl<'l> Lister<'l> {
    pub(super) fn new(
        sink: Sink<'l>,
        render: Render<'l>,
        limit: Option<&'l Limit>,
        console: &'l Console,
    ) -> Self {
        Self { sink, found: 0, outcome: Outcome::Success, render, limit, console, dir: Vec::new() }
    }

    fn take(&mut self, entry: &mut Entry<'_>) -> Step {
        let (dir, limit) = (&self.dir, self.limit);
        let take_one = || limit.map_or(Some(Step::Descend), Limit::take);
        let step = match &mut self.sink {
            Sink::Count => take_one(),
            Sink::Lines(lines) => {
                let line = lines.begin();
                let start = line.len();
                if let Err(failure) = self.render.push(line, dir, entry) {
                    line.truncate(start);
                    return self.fail(&failure);
                }
                let step = take_one();
                if step.is_none() {
                    line.truncate(start);
                }
                if lines.end() { step } else { None }
            }
            Sink::Sort(unsorted) => match unsorted.add(&mut self.render, dir, entry) {
                Ok(step) => Some(step),
                Err(failure) => return self.fail(&failure),
            },
            Sink::Commands(queue) => {
                let step = take_one();
                let path = || [dir, entry.name()].concat();
                step.filter(|_| queue.send(path()).is_ok())
            }
        };
        self.found += u64::from(step.is_some());
        step.unwrap_or(Step::Stop)
    }

    fn fail(&mut self, failure: &Failure) -> Step {
        failure.say(self.console);
        self.outcome = Outcome::Error;
        Step::Descend
    }
}

impl Visitor for Lister<'_> {
    type Dir = ();

    fn root(&mut self, root: &mut Entry<'_>) -> Step {
        self.take(root)
    }

    fn descend(&mut self, _from: Option<&()>, _entry: &Entry<'_>) {}

    fn enter(&mut self, _tag: &(), dir: &Directory<'_>) -> Step {
        self.dir.clear();
        dir.push_path(&mut self.dir);
        if !self.dir.ends_with(b"/") {
            self.dir.push(b'/');
        }
        Step::Descend
    }

    fn entry(&mut self, _tag: &(), entry: &mut Entry<'_>) -> Step {
        self.take(entry)
    }

    fn leave(&mut self, _tag: &()) {
        if let Sink::Lines(lines) = &mut self.sink {
            // Whether anyone still reads shows at the next line.
            lines.flush_if_waiting();
        }
    }

    fn error(&mut self, error: WalkError) -> Step {
        walk_error(&error, self.console);
        self.outcome = Outcome::Error;
        Step::Next
    }
}
