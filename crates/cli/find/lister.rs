//! The visitor that takes the entries that one worker finds.

use std::sync::mpsc::SyncSender;

use ftk_walk::{Directory, Entry, Step, Visitor, WalkError};

use super::limit::Limit;
use super::render::Render;
use super::sorted::Unsorted;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::scan::walk_error;
use crate::stdout::Lines;

/// Where entries go.
pub(super) enum Sink<'l> {
    /// Nowhere: they are only counted.
    Count,
    /// To standard output, as the bytes of their paths and what ends them.
    Paths { lines: Lines<'l>, end: u8 },
    /// To standard output in another form.
    Lines { lines: Lines<'l>, render: Render<'l> },
    /// Kept until all are there.
    Sort(Unsorted<'l>),
    /// To those who run commands.
    Commands(SyncSender<Vec<u8>>),
}

/// One worker's share of the search.
pub(super) struct Lister<'l> {
    pub(super) sink: Sink<'l>,
    pub(super) found: u64,
    pub(super) outcome: Outcome,
    limit: Option<&'l Limit>,
    console: &'l Console,
    /// What stands before every name in the directory being listed; nothing before a starting point.
    dir: Vec<u8>,
}

impl<'l> Lister<'l> {
    pub(super) fn new(sink: Sink<'l>, limit: Option<&'l Limit>, console: &'l Console) -> Self {
        Self { sink, found: 0, outcome: Outcome::Success, limit, console, dir: Vec::new() }
    }

    fn take(&mut self, entry: &mut Entry<'_>) -> Step {
        let (dir, limit) = (&self.dir, self.limit);
        let step = match &mut self.sink {
            Sink::Count => Limit::take(limit),
            Sink::Paths { lines, end } => Limit::take(limit).filter(|_| lines.path(dir, entry.name(), *end)),
            Sink::Lines { lines, render } => {
                let line = lines.begin();
                let start = line.len();
                if let Err(error) = render.push(line, dir, entry) {
                    line.truncate(start);
                    return self.lose(error);
                }
                let step = Limit::take(limit);
                if step.is_none() {
                    line.truncate(start);
                }
                step.filter(|_| lines.end())
            }
            Sink::Sort(unsorted) => match unsorted.add(dir, entry) {
                Ok(step) => Some(step),
                Err(error) => return self.lose(error),
            },
            Sink::Commands(queue) => {
                let path = || [dir, entry.name()].concat();
                Limit::take(limit).filter(|_| queue.send(path()).is_ok())
            }
        };
        self.found += u64::from(step.is_some());
        step.unwrap_or(Step::Stop)
    }

    /// An entry without a record may still be a directory with entries of its own.
    fn lose(&mut self, error: WalkError) -> Step {
        self.error(error);
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
        if let Sink::Paths { lines, .. } | Sink::Lines { lines, .. } = &mut self.sink {
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
