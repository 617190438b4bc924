//! The walk itself.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crossbeam_deque::Worker as Deque;

use crate::idle::Idle;
use crate::node::Node;
use crate::opener::{budget, make_room};
use crate::roots::{self, Roots};
use crate::worker::{Shared, Worker};
use crate::{Entry, FileType, Op, Step, Visitor, WalkError};

/// Directories that must wait before another thread is worth starting.
const CROWD: usize = 4;
/// How long the calling thread works alone: most small trees are done by then.
const HEAD_START: Duration = Duration::from_micros(200);

type Jobs<T> = Vec<Arc<Node<T>>>;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// None.
    #[default]
    Never,
    /// Those given as starting points.
    Roots,
    /// All; a link back to a directory on its own path is an error and not entered.
    ///
    /// A directory that links lead to in several ways is entered once, and [`Visitor::again`] is told of every other
    /// way. Directories are entered in the order of their paths as bytes, so that it is entered under the first of the
    /// paths that lead to it through directories entered themselves. Which path is the first is known only when all
    /// before it were entered: this walk uses one worker.
    Always,
}

/// A walk to be started.
#[derive(Clone, Debug)]
pub struct Walker {
    roots: Vec<CString>,
    threads: usize,
    follow: Follow,
}

impl Walker {
    /// A walk over these starting points: files, directories, anything with a name.
    pub fn new(roots: impl IntoIterator<Item = CString>) -> Self {
        Self { roots: roots.into_iter().collect(), threads: 0, follow: Follow::Never }
    }
    /// How many workers at most, the calling thread included. `0`, the default: one a logical CPU.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
    /// Which symbolic links are followed. Default: none.
    #[must_use]
    pub fn follow(self, follow: Follow) -> Self {
        Self { follow, ..self }
    }
    /// Walks, and hands every worker's visitor back.
    ///
    /// `make` is called for worker 0, which is shown the starting points, and then, if there is a directory
    /// among them, for the others, in order, before any is listed. With few descriptors left by the process's
    /// limit there are fewer workers than asked for, and always one. Which of them get to do anything is
    /// unspecified: a thread is started only when directories pile up, and one that cannot be started is done
    /// without.
    ///
    /// A starting point that lies below another is walked once, under its own name: met under another one, a
    /// directory is shown as an entry and not entered, and anything else is not shown. One that was given before
    /// is not walked again. Visitors that look at names and depths see each entry once, from where it is walked.
    ///
    /// # Panics
    /// With the payload of the first visitor that panicked, after all workers have ended.
    pub fn run<V: Visitor>(self, mut make: impl FnMut(usize) -> V) -> Vec<V> {
        let mut visitors = vec![make(0)];
        let Some((roots, jobs)) = self.start(&mut visitors[0]) else { return visitors };
        if jobs.is_empty() {
            return visitors;
        }
        let follows = self.follow == Follow::Always;
        let (workers, ring) = budget(match self.threads {
            _ if follows => 1,
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        });
        visitors.extend((1..workers).map(make));

        let deques: Vec<_> = (0..workers).map(|_| Deque::new_lifo()).collect();
        let shared = Shared {
            idle: Idle::new(workers),
            stealers: deques.iter().map(Deque::stealer).collect(),
            roots,
            follow: follows,
        };
        shared.idle.publish(jobs.len(), || jobs.into_iter().rev().for_each(|job| deques[0].push(job)));
        let first_panic = Mutex::new(None);
        let mut team = visitors.iter_mut().zip(deques).enumerate().map(|(me, (visitor, deque))| {
            let (shared, first_panic) = (&shared, &first_panic);
            move |grow: &mut dyn FnMut(usize)| {
                let mut worker = Worker::new(me, shared, visitor, deque, ring);
                let outcome = catch_unwind(AssertUnwindSafe(|| match follows {
                    true => worker.run_in_order(),
                    false => worker.run(grow),
                }));
                if let Err(payload) = outcome {
                    first_panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
                }
            }
        });
        thread::scope(|scope| {
            let started = Instant::now();
            let Some(caller) = team.next() else { return };
            let helpers = team.len();
            let mut grow = |waiting| {
                if team.len() > 0
                    && waiting >= CROWD
                    && started.elapsed() >= HEAD_START
                    && let Some(helper) = team.next()
                {
                    if team.len() + 1 == helpers {
                        make_room(workers, ring);
                    }
                    // Should it not start, the others do its share.
                    let _ = Builder::new().spawn_scoped(scope, move || helper(&mut |_| ()));
                }
            };
            caller(&mut grow);
        });
        if let Some(payload) = first_panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
        visitors
    }

    /// Shows the starting points to `visitor`. `None` if it stopped the walk.
    fn start<V: Visitor>(&self, visitor: &mut V) -> Option<(Roots, Jobs<V::Dir>)> {
        let mut roots = Roots::default();
        let mut jobs = Vec::new();
        for (number, path) in self.roots.iter().enumerate() {
            let (metadata, via_link) = match roots::look_up(path, self.follow) {
                Ok(found) => found,
                Err(source) => {
                    let error = WalkError { op: Op::Stat, path: path.to_bytes().into(), source };
                    match visitor.error(error) {
                        Step::Stop => return None,
                        Step::Next | Step::Descend => continue,
                    }
                }
            };
            if self.roots.len() > 1 && !roots.insert(number, path, &metadata, via_link) {
                visitor.covered();
                continue;
            }
            let mut entry = Entry::of_root(path, number, via_link, metadata);
            match visitor.root(&mut entry) {
                Step::Stop => return None,
                Step::Descend if metadata.file_type == FileType::Directory => {
                    let tag = visitor.descend(None, &entry);
                    jobs.push(Arc::new(Node::root(path, via_link, number, metadata.dev, tag)));
                }
                Step::Descend | Step::Next => {}
            }
        }
        Some((roots, jobs))
    }
}
