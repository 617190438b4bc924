//! The walk: its options, its starting points, and its threads.

use std::ffi::{CString, NulError};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crossbeam_deque::Worker as Deque;

use crate::idle::Idle;
use crate::limits::Limits;
use crate::node::Node;
use crate::opener::{EXTRA_RING, budget, extra, make_room, most};
use crate::roots::{self, Roots};
use crate::sys::{cpu_time, is_remote_path};
use crate::worker::{Grow, Shared, Task, Worker};
use crate::{Entry, FileType, Filter, Op, Step, Unfiltered, Visitor, WalkError};

/// Start another thread when at least this many directories are queued.
pub(crate) const MIN_QUEUED: usize = 4;
/// How long the calling thread works alone. Most small trees are done by then.
const HEAD_START: Duration = Duration::from_micros(200);

/// The most workers for remote file systems, unless there are more CPUs. More would hardly help: clients and servers limit
/// the requests in flight, NFS to 64 by default and libfuse to ten threads.
const REMOTE_WORKERS: usize = 32;

type Jobs<T> = Vec<Task<T>>;

/// Asks the system for the number of logical CPUs, which opens up to five files.
fn logical_cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// One worker per logical CPU. The kernel of macOS lists directories under a lock, so more than four wait for each other.
fn default_workers(cpus: usize) -> usize {
    if cfg!(target_vendor = "apple") { cpus.min(4) } else { cpus }
}

/// Whether one of these starting points is on a remote file system.
fn has_remote<T>(jobs: &Jobs<T>) -> bool {
    let mut last = None;
    jobs.iter().any(|job| {
        last.replace(job.node.root_dev()) != Some(job.node.root_dev()) && is_remote_path(job.node.name())
    })
}

/// Returns how many workers keep the CPUs busy if one of them is running for `cpu` of the time `elapsed`: each CPU has as
/// many as can run while others wait. `workers` is enough for workers that never wait, and `all` is the most.
fn busy_workers(workers: usize, all: usize, elapsed: Duration, cpu: Duration) -> usize {
    let each = elapsed.as_nanos() / cpu.as_nanos().max(1);
    usize::try_from(each).unwrap_or(usize::MAX).saturating_mul(workers).clamp(workers, all)
}

/// The symbolic links that a walk follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Follow {
    /// No links. A starting point that ends in a slash is still the target of a link: the kernel follows it.
    #[default]
    Never,
    /// Links given as starting points.
    Roots,
    /// All links. A directory that is found to be also above itself is an error, and is not entered.
    ///
    /// If links lead to one directory in several ways, the directory is entered once, under the first path in
    /// byte order. Paths through a directory that is not entered do not count. [`Visitor::again`] reports
    /// each other path.
    ///
    /// Such a walk uses one worker, and enters directories in the byte order of their paths: a path is known
    /// to be the first only when all paths before it were entered.
    Always,
}

/// A walk that is configured and can be run.
///
/// `F` is the [`Filter`] that [`filter_with`](Self::filter_with) sets. By default there is none.
#[derive(Clone, Debug)]
pub struct Walker<F = Unfiltered> {
    /// A path that contains a NUL is reported when the walk starts.
    roots: Vec<Result<CString, NulError>>,
    threads: usize,
    cpus: fn() -> usize,
    follow: Follow,
    pub(crate) limits: Limits,
    filter: F,
}

impl Walker {
    /// Makes a walk over these starting points: directories, and files of any type.
    pub fn new<P: AsRef<Path>>(roots: impl IntoIterator<Item = P>) -> Self {
        let roots = roots.into_iter().map(|root| CString::new(root.as_ref().as_os_str().as_bytes()));
        let (follow, limits) = (Follow::Never, Limits::default());
        Self { roots: roots.collect(), threads: 0, cpus: logical_cpus, follow, limits, filter: Unfiltered }
    }
    /// Sets a filter that keeps state for workers and directories, such as `IgnoreFiles` of the crate
    /// [ftk-ignore](https://docs.rs/ftk-ignore), which skips what git ignores.
    ///
    /// It sees the entries that [`filter_entry`](Self::filter_entry) leaves, in every form of the walk, whichever of the two
    /// options is set first. A walk has one such filter: a second call does not compile.
    pub fn filter_with<F: Filter>(self, filter: F) -> Walker<F> {
        let Self { roots, threads, cpus, follow, limits, filter: Unfiltered } = self;
        Walker { roots, threads, cpus, follow, limits, filter }
    }
}

impl<F: Filter> Walker<F> {
    /// Sets the maximum number of workers, including the calling thread. `0`, the default, means one per
    /// logical CPU, and on macOS at most four: more of them wait for a lock in the kernel. On Linux, if a starting point is
    /// on a remote file system, such as NFS, SMB or FUSE, it means as many as keep the CPUs busy while others wait, up to 32
    /// or one per logical CPU.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }
    /// Sets a function that returns the number of logical CPUs, for programs that have already counted them. It is called
    /// only if directories are listed and [`threads`](Self::threads) is 0. The default asks the system.
    #[must_use]
    pub fn cpus(self, cpus: fn() -> usize) -> Self {
        Self { cpus, ..self }
    }
    /// Sets which symbolic links are followed. The default is [`Follow::Never`].
    #[must_use]
    pub fn follow(self, follow: Follow) -> Self {
        Self { follow, ..self }
    }
    /// Walks, and returns the visitors of all workers.
    ///
    /// `make` makes the visitor of a worker, given its number. It is called first for worker 0, which is
    /// shown the starting points. If one of them is a directory, it is then called for the other workers, in
    /// order, before any directory is listed. If the process's descriptor limit is low, there are fewer
    /// workers than asked for, but at least one. Some visitors may see no entries: a thread is started only
    /// when directories accumulate, and the walk continues without a thread that cannot be started.
    ///
    /// A starting point below another one is walked once, under its own path. Where the walk finds the same
    /// directory under a different path, it shows it as an entry and does not enter it. It does not show any
    /// other file again; a different hard link to the file is a different entry. A starting point that was
    /// given before is not walked again.
    ///
    /// # Panics
    /// If a visitor panics. All workers end first; then the panic of the first such visitor is resumed.
    pub fn run<V: Visitor>(self, mut make: impl FnMut(usize) -> V) -> Vec<V> {
        let visitors = self.walk(|number| self.filter.wrap(make(number)));
        visitors.into_iter().map(F::unwrap).collect()
    }

    /// Walks with visitors that are already wrapped in the filter.
    fn walk<V: Visitor>(&self, mut make: impl FnMut(usize) -> V) -> Vec<V> {
        let mut visitors = vec![make(0)];
        let Some((roots, jobs)) = self.start(&mut visitors[0]) else { return visitors };
        if jobs.is_empty() {
            return visitors;
        }
        let follows = self.follow == Follow::Always;
        let (workers, ring) = budget(match self.threads {
            _ if follows => 1,
            0 => default_workers((self.cpus)()),
            threads => threads,
        });
        let is_remote = self.threads == 0 && !follows && has_remote(&jobs);
        let extra = if is_remote { extra(REMOTE_WORKERS, workers, ring) } else { 0 };
        let all = workers + extra;
        visitors.extend((1..all).map(make));

        let deques: Vec<_> = (0..all).map(|_| Deque::new_lifo()).collect();
        let shared = Shared {
            idle: Idle::new(all),
            stealers: deques.iter().map(Deque::stealer).collect(),
            examines: follows || !roots.is_empty() || self.limits.examines_entries(),
            roots,
            follow: follows,
            limits: self.limits.clone(),
        };
        shared.idle.publish(jobs.len(), || jobs.into_iter().rev().for_each(|job| deques[0].push(job)));
        let first_panic = Mutex::new(None);
        let mut team = visitors.iter_mut().zip(deques).enumerate().map(|(me, (visitor, deque))| {
            let (shared, first_panic) = (&shared, &first_panic);
            move |grow: &mut Grow<'_>| {
                let ring = if me < workers { ring } else { EXTRA_RING };
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
            let remote = is_remote.then(cpu_time);
            let Some(caller) = team.next() else { return };
            let mut grow = |queued| {
                let is_worth_it = remote.is_some() || queued >= MIN_QUEUED;
                if team.len() == 0 || !is_worth_it {
                    return team.len() > 0;
                }
                let elapsed = started.elapsed();
                if elapsed < HEAD_START {
                    return true;
                }
                let now = all - team.len();
                let mut wanted = now + usize::from(queued >= MIN_QUEUED);
                if let Some(cpu) = remote {
                    // While this thread waits, each directory that no worker lists yet is worth another thread.
                    let busy = busy_workers(workers, all, elapsed, cpu_time().saturating_sub(cpu));
                    wanted = wanted.max(if busy > workers { busy.min(shared.idle.pending()) } else { 0 });
                }
                if now == 1 && wanted > now {
                    make_room(most(workers, ring, extra));
                }
                for helper in team.by_ref().take(wanted.saturating_sub(now)) {
                    // If it does not start, the other workers do its share.
                    let _ = Builder::new().spawn_scoped(scope, move || helper(&mut |_| false));
                }
                team.len() > 0
            };
            caller(&mut grow);
        });
        if let Some(payload) = first_panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
        visitors
    }

    /// Shows the starting points to `visitor`. Returns `None` if it stopped the walk.
    fn start<V: Visitor>(&self, visitor: &mut V) -> Option<(Roots, Jobs<V::Dir>)> {
        let mut roots = Roots::default();
        let mut jobs = Vec::new();
        for (number, path) in self.roots.iter().enumerate() {
            let found = match path {
                Ok(path) => roots::look_up(path, self.follow)
                    .map(|(metadata, via_link)| (&**path, metadata, via_link)),
                Err(nul) => Err(nul.clone().into()),
            };
            let (path, metadata, via_link) = match found {
                Ok(found) => found,
                Err(source) => {
                    let path = path.clone().map_or_else(NulError::into_vec, CString::into_bytes);
                    let error = WalkError { op: Op::Stat, path, source };
                    match visitor.error(error) {
                        Step::Stop => return None,
                        Step::Next | Step::Descend => continue,
                    }
                }
            };
            if self.roots.len() > 1 && !roots.insert(number, path, &metadata, via_link) {
                visitor.covered(path.to_bytes());
                continue;
            }
            let mut entry = Entry::of_root(path, number, via_link, metadata);
            if let Err(error) = entry.prefetch(self.limits.prefetch) {
                match visitor.error(error) {
                    Step::Stop => return None,
                    Step::Next | Step::Descend => continue,
                }
            }
            match visitor.entry(None, &mut entry) {
                Step::Stop => return None,
                Step::Descend if metadata.file_type == FileType::Directory && self.limits.max_depth > 0 => {
                    let tag = visitor.descend(None, &mut entry);
                    jobs.push(Arc::new(Node::root(path, via_link, number, metadata.dev, tag)).into());
                }
                Step::Descend | Step::Next => {}
            }
        }
        Some((roots, jobs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_follow_the_part_of_the_time_that_one_waits() {
        let ms = Duration::from_millis;
        for (workers, all, elapsed, cpu, expected) in [
            (2, 32, ms(20), ms(20), 2),
            (2, 32, ms(20), ms(11), 2),
            (2, 32, ms(20), ms(5), 8),
            (2, 32, ms(20), ms(1), 32),
            (2, 32, ms(20), Duration::ZERO, 32),
            (16, 32, ms(20), ms(10), 32),
            (2, 9, ms(20), ms(1), 9),
            // The descriptors allow no more, or the clock of the thread is ahead.
            (2, 2, ms(20), ms(1), 2),
            (4, 32, ms(20), ms(21), 4),
            (4, 32, ms(20), Duration::MAX, 4),
        ] {
            assert_eq!(
                busy_workers(workers, all, elapsed, cpu),
                expected,
                "{workers} {all} {elapsed:?} {cpu:?}"
            );
        }
    }
}
