//! A worker of a walk: it takes a directory from a deque, lists it, and queues the directories that its
//! visitor descends into.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ffi::{CStr, OsStr};
use std::io;
use std::ops::ControlFlow::{self, Break, Continue};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_deque::{Steal, Stealer, Worker as Deque};

use crate::idle::Idle;
use crate::limits::Limits;
use crate::node::{ByPath, Id, Node, Place};
use crate::opener::Opener;
use crate::roots::{Names, Roots};
use crate::sharing::{Batch, Sharing};
use crate::sys::{self, Listing, Stat, metadata};
use crate::walker::MIN_QUEUED;
use crate::{Directory, Entry, FileType, Op, Repeat, Step, Visitor, WalkError};

/// The state that all workers of a walk share.
pub(crate) struct Shared<T> {
    pub(crate) idle: Idle,
    pub(crate) stealers: Box<[Stealer<Task<T>>]>,
    pub(crate) roots: Roots,
    pub(crate) follow: bool,
    pub(crate) limits: Limits,
    /// Whether entries are examined before they are shown: because of links, starting points or limits.
    pub(crate) examines: bool,
}

/// A job: a directory to list, or entries of a directory that another worker lists.
pub(crate) struct Task<T> {
    pub(crate) node: Arc<Node<T>>,
    batch: Option<Box<Batch>>,
}

impl<T> From<Arc<Node<T>>> for Task<T> {
    fn from(node: Arc<Node<T>>) -> Self {
        Self { node, batch: None }
    }
}

/// Called with a number of queued jobs. May start another thread, and returns whether it may do so later.
pub(crate) type Grow<'g> = dyn FnMut(usize) -> bool + 'g;

/// What is done with an entry.
enum Admission {
    /// The entry is shown, and may be entered if it is a directory.
    Whole,
    /// The entry is shown but not entered: it is a directory that is also a starting point with another
    /// path, and the walk enters it there.
    Name,
    /// The entry is not shown, because a starting point shows it: one with the same path if it is a
    /// directory, otherwise one with the same name in the same directory.
    None,
}

/// A directory that is open and being shown.
struct Opened<'n, T> {
    node: &'n Arc<Node<T>>,
    id: Id,
    stat: Stat,
    fd: Arc<OwnedFd>,
}

/// One worker and the state that it owns.
pub(crate) struct Worker<'a, V: Visitor> {
    me: usize,
    shared: &'a Shared<V::Dir>,
    visitor: &'a mut V,
    deque: Deque<Task<V::Dir>>,
    opener: Opener<V::Dir>,
    buffer: Vec<u8>,
    /// Directories that were found and are not yet queued, with their inode numbers.
    found: Vec<(u64, Arc<Node<V::Dir>>)>,
    /// Whether more threads may be started.
    may_grow: bool,
    /// The directories that were entered. Empty unless all links are followed.
    entered: BTreeMap<Id, Arc<Node<V::Dir>>>,
}

impl<'a, V: Visitor> Worker<'a, V> {
    /// Makes worker number `me`, which keeps at most `ring` directories open.
    pub(crate) fn new(
        me: usize,
        shared: &'a Shared<V::Dir>,
        visitor: &'a mut V,
        deque: Deque<Task<V::Dir>>,
        ring: usize,
    ) -> Self {
        let (opener, buffer, found) = (Opener::new(ring), Vec::new(), Vec::new());
        Self { me, shared, visitor, deque, opener, buffer, found, may_grow: false, entered: BTreeMap::new() }
    }

    /// Works until the walk is over. Calls `grow` with the number of queued directories whenever it may have
    /// changed.
    pub(crate) fn run(&mut self, grow: &mut Grow<'_>) {
        self.may_grow = grow(0);
        while let Some(Task { node, batch }) = self.next() {
            let job = self.shared.idle.job();
            let flow = match batch {
                None => self.list(&node, grow),
                Some(batch) => self.show_batch(&node, &batch, grow),
            };
            if flow.is_break() {
                self.shared.idle.stop();
            }
            job.finish();
            self.may_grow = grow(self.deque.len());
        }
    }

    /// Does the whole walk as the only worker, and enters directories in the byte order of their paths.
    pub(crate) fn run_in_order(&mut self) {
        let mut waiting = BinaryHeap::new();
        loop {
            while let Some(task) = self.deque.pop() {
                waiting.push(Reverse(ByPath(task.node)));
            }
            let Some(Reverse(ByPath(node))) = waiting.pop() else { return };
            if self.list(&node, &mut |_| false).is_break() {
                return;
            }
        }
    }

    fn next(&self) -> Option<Task<V::Dir>> {
        let Shared { idle, stealers, .. } = self.shared;
        idle.next(self.me, || {
            self.deque.pop().or_else(|| {
                let (before, from) = stealers.split_at(self.me);
                from[1..].iter().chain(before).find_map(|victim| {
                    let job = steal(victim)?;
                    if !victim.is_empty() {
                        idle.wake_one();
                    }
                    Some(job)
                })
            })
        })
    }

    fn list(&mut self, node: &Arc<Node<V::Dir>>, grow: &mut Grow<'_>) -> ControlFlow<()> {
        let (fd, stat) = match self.opener.open(node) {
            Ok(opened) => opened,
            Err(error) => return self.report(failure(&**node, Op::Open, error)),
        };
        let id = sys::identity(&stat);
        if let Some(up) = node.up() {
            // For a mount point, the listing reported the inode of the covered directory. So check the opened
            // one.
            if self.shared.roots.other(id, node.root_number()).is_some() {
                let mut path = Vec::new();
                node.push_path(&mut path);
                self.visitor.covered(&path);
                return Continue(());
            }
            if let Some(ancestor) = up.find(id) {
                let op = if node.below_link() { Op::Loop } else { Op::Cycle };
                return self.report(failure(&**node, op, leads_back_to(ancestor)));
            }
        }
        node.set_id(id);
        if self.shared.limits.same_file_system && id.dev != node.root_dev() {
            return Continue(());
        }
        // Without a link on either path the directories differ: their file system gave both the same inode
        // number.
        let linked = |first: &&Arc<Node<V::Dir>>| node.below_link() || first.below_link();
        if let Some(first) = self.entered.get(&id).filter(linked) {
            self.visitor.again(&Repeat { place: &**node, first: &**first });
            return Continue(());
        }
        let opened = Opened { node, id, stat, fd };
        match self.enter(&opened) {
            Step::Next => return Continue(()),
            Step::Stop => return Break(()),
            Step::Descend => {}
        }
        if self.shared.follow {
            self.entered.entry(id).or_insert_with(|| Arc::clone(node));
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let flow = self.entries(&opened, &mut buffer, grow);
        self.buffer = buffer;
        self.leave(&opened, grow);
        flow
    }

    /// Shows entries that another worker has listed.
    fn show_batch(
        &mut self,
        node: &Arc<Node<V::Dir>>,
        batch: &Batch,
        grow: &mut Grow<'_>,
    ) -> ControlFlow<()> {
        let fd = match self.opener.descriptor(node) {
            Ok(fd) => fd,
            Err(error) => return self.report(failure(&**node, Op::Open, error)),
        };
        let opened = Opened { node, id: sys::identity(&batch.stat), stat: batch.stat, fd };
        match self.enter(&opened) {
            Step::Next => return Continue(()),
            Step::Stop => return Break(()),
            Step::Descend => {}
        }
        let names = self.shared.roots.names_in(opened.id);
        let flow = batch.entries().try_for_each(|(name, ino, file_type)| {
            if self.shared.idle.stopped() {
                return Break(());
            }
            self.show(&opened, names, name, ino, file_type)
        });
        self.leave(&opened, grow);
        flow
    }

    fn enter(&mut self, opened: &Opened<'_, V::Dir>) -> Step {
        let Opened { node, id, stat, fd } = opened;
        let up_dev = node.up().and_then(|up| up.id()).map(|id| id.dev);
        let (root_dev, place) = (node.root_dev(), &***node);
        let dir = Directory { fd: fd.as_fd(), place, id: *id, metadata: metadata(stat), root_dev, up_dev };
        self.visitor.enter(node.tag(), &dir)
    }

    fn leave(&mut self, opened: &Opened<'_, V::Dir>, grow: &mut Grow<'_>) {
        self.publish(opened, grow);
        self.visitor.leave(opened.node.tag());
    }

    /// Lists a directory. Shows the entries, or hands them over in batches.
    fn entries(
        &mut self,
        opened: &Opened<'_, V::Dir>,
        buffer: &mut Vec<u8>,
        grow: &mut Grow<'_>,
    ) -> ControlFlow<()> {
        if !self.visitor.shares_directories() || self.shared.stealers.len() == 1 {
            return self.entries_with(opened, buffer, None, grow);
        }
        let mut sharing = Sharing::new(opened.stat, self.others_wait(false), Instant::now);
        let flow = self.entries_with(opened, buffer, Some(&mut sharing), grow);
        match sharing.finish() {
            Some(batch) if flow.is_continue() => self.hand_over(opened, batch, grow),
            _ => {}
        }
        flow
    }

    fn entries_with(
        &mut self,
        opened: &Opened<'_, V::Dir>,
        buffer: &mut Vec<u8>,
        mut sharing: Option<&mut Sharing>,
        grow: &mut Grow<'_>,
    ) -> ControlFlow<()> {
        let shared = self.shared;
        let Opened { node, id, fd, .. } = opened;
        let names = shared.roots.names_in(*id);
        let mut listing = match Listing::new(fd.as_fd(), buffer) {
            Ok(listing) => listing,
            Err(error) => return self.report(failure(&***node, Op::List, error)),
        };
        while let Some(next) = listing.next() {
            if shared.idle.stopped() {
                return Break(());
            }
            match next {
                Ok(raw) if matches!(raw.file_name().to_bytes(), b"." | b"..") => {}
                Ok(raw) => {
                    let (name, ino, file_type) =
                        (raw.file_name(), raw.ino(), FileType::from_raw(raw.file_type()));
                    match &mut sharing {
                        Some(sharing) if sharing.is_filling() => {
                            if let Some(batch) = sharing.push(name, ino, file_type) {
                                self.hand_over(opened, batch, grow);
                            }
                        }
                        sharing => {
                            self.show(opened, names, name, ino, file_type)?;
                            if let Some(sharing) = sharing {
                                sharing.shown(|has_shared| self.others_wait(has_shared));
                            }
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return self.report(failure(&***node, Op::List, error)),
            }
            if listing.drained() {
                self.publish(opened, grow);
            }
        }
        Continue(())
    }

    /// Returns whether other workers have nothing to do. After entries were handed over (`has_shared`), returns
    /// whether they are about to have nothing to do. A wrong answer costs time only: entries that are not handed
    /// over are shown by this worker.
    fn others_wait(&self, has_shared: bool) -> bool {
        let Shared { idle, stealers, .. } = self.shared;
        self.deque.len() < stealers.len() && (has_shared || self.may_grow || idle.has_sleepers())
    }

    /// Queues entries for whichever worker has time.
    fn hand_over(&mut self, opened: &Opened<'_, V::Dir>, batch: Batch, grow: &mut Grow<'_>) {
        self.opener.keep(opened.node, &opened.fd);
        let task = Task { node: Arc::clone(opened.node), batch: Some(Box::new(batch)) };
        self.shared.idle.publish(1, || self.deque.push(task));
        // A batch is worth a thread.
        self.may_grow = grow(self.deque.len().max(MIN_QUEUED));
    }

    /// Shows an entry to the visitor, unless a starting point shows it or it is a link that leads back.
    // A call would make a walk 3 % longer in instructions. The other caller is for batches.
    #[inline(always)]
    fn show(
        &mut self,
        opened: &Opened<'_, V::Dir>,
        names: Option<&Names>,
        name: &CStr,
        ino: u64,
        file_type: Option<FileType>,
    ) -> ControlFlow<()> {
        let Opened { node, id, fd, .. } = opened;
        let node = *node;
        let mut entry = match Entry::listed(name, ino, file_type, &**node, fd.as_fd()) {
            Ok(entry) => entry,
            Err(error) => return self.report(error),
        };
        if self.shared.examines {
            match self.examine(node, *id, names, &mut entry)? {
                Admission::Whole => {}
                Admission::Name => entry.is_covered = true,
                Admission::None => return Continue(()),
            }
        }
        let is_entered = |entry: &Entry<'_>| {
            entry.file_type() == FileType::Directory
                && !entry.is_covered
                && entry.depth() < self.shared.limits.max_depth
        };
        match self.visitor.entry(Some(node.tag()), &mut entry) {
            Step::Stop => return Break(()),
            Step::Descend if is_entered(&entry) => {
                // Otherwise this is known when it is opened.
                if let Some(ancestor) = entry.known_id().and_then(|id| node.find(id)) {
                    let op = if node.below_link() { Op::Loop } else { Op::Cycle };
                    return self.report(entry.error(op, leads_back_to(ancestor)));
                }
                let tag = self.visitor.descend(Some(node.tag()), &mut entry);
                let child = Node::child(node, entry.name_c(), entry.via_link(), tag);
                self.found.push((ino, Arc::new(child)));
            }
            Step::Descend if entry.is_covered => {
                let mut path = Vec::new();
                entry.push_path(&mut path);
                self.visitor.covered(&path);
            }
            Step::Descend | Step::Next => {}
        }
        Continue(())
    }

    /// Follows a link if all are followed, and decides what is done with an entry. Reports errors.
    fn examine(
        &mut self,
        node: &Arc<Node<V::Dir>>,
        id: Id,
        names: Option<&Names>,
        entry: &mut Entry<'_>,
    ) -> ControlFlow<(), Admission> {
        let Shared { follow, limits, .. } = self.shared;
        if *follow && entry.file_type() == FileType::Symlink {
            match entry.follow() {
                Err(error) if error.op == Op::Loop => return self.refuse(error),
                Err(error) => self.report(error)?,
                Ok(()) => {}
            }
        }
        let admission = match self.admits(node, id, names, entry) {
            Ok(Admission::None) => return Continue(Admission::None),
            Ok(admission) => admission,
            Err(error) => return self.refuse(error),
        };
        if let Err(error) = entry.prefetch(limits.prefetch) {
            return self.refuse(error);
        }
        let is_shown = limits.filter.as_ref().is_none_or(|filter| filter.accepts(entry));
        Continue(if is_shown { admission } else { Admission::None })
    }

    /// Reports an error about an entry that is not shown.
    fn refuse(&mut self, error: WalkError) -> ControlFlow<(), Admission> {
        self.report(error)?;
        Continue(Admission::None)
    }

    /// Decides what is done with an entry of the directory `id`, which may itself be a starting point.
    fn admits(
        &self,
        node: &Node<V::Dir>,
        id: Id,
        names: Option<&Names>,
        entry: &mut Entry<'_>,
    ) -> Result<Admission, WalkError> {
        if entry.file_type() != FileType::Directory {
            let named = names.is_some_and(|names| names.contains(entry.name()));
            return Ok(if named { Admission::None } else { Admission::Whole });
        }
        let other = |id| self.shared.roots.other(id, node.root_number());
        let linked = entry.via_link() || node.below_link();
        let listed = Id { dev: id.dev, ino: entry.ino() };
        if !(entry.via_link() || other(listed).is_some() || linked && node.find(listed).is_some()) {
            return Ok(Admission::Whole);
        }
        // For a mount point, the listing reports the inode of the covered directory. So read the entry's own.
        let id = entry.metadata()?.id();
        if let Some(ancestor) = Some(node).filter(|_| linked).and_then(|node| node.find(id)) {
            return Err(entry.error(Op::Loop, leads_back_to(ancestor)));
        }
        let Some(root) = other(id) else { return Ok(Admission::Whole) };
        let mut path = Vec::new();
        entry.push_path(&mut path);
        // If the paths differ, this is one more entry. If they are equal, it is shown as the starting point.
        Ok(if path == root { Admission::None } else { Admission::Name })
    }

    /// Queues the directories found in a directory so far.
    fn publish(&mut self, opened: &Opened<'_, V::Dir>, grow: &mut Grow<'_>) {
        if self.found.is_empty() {
            return;
        }
        self.opener.keep(opened.node, &opened.fd);
        let (deque, found) = (&self.deque, &mut self.found);
        // The last one queued is the next one listed. On ext4 and XFS, inode numbers are in the order of their blocks:
        // where each of 20 directories has 100, a cold walk seeks backward 81 times instead of 1,094, 387 instead of
        // 876 on XFS, and with two workers two thirds as often as without.
        found.sort_unstable_by_key(|&(ino, _)| Reverse(ino));
        self.shared
            .idle
            .publish(found.len(), || found.drain(..).for_each(|(_, child)| deque.push(child.into())));
        self.may_grow = grow(self.deque.len());
    }

    fn report(&mut self, error: WalkError) -> ControlFlow<()> {
        match self.visitor.error(error) {
            Step::Stop => Break(()),
            Step::Next | Step::Descend => Continue(()),
        }
    }
}

/// Steals the oldest job of another worker. Retries until it succeeds or the deque is empty.
fn steal<J>(victim: &Stealer<J>) -> Option<J> {
    loop {
        match victim.steal() {
            Steal::Success(job) => return Some(job),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}

fn failure(place: &dyn Place, op: Op, source: io::Error) -> WalkError {
    let mut path = Vec::new();
    place.push_path(&mut path);
    WalkError { op, path, source }
}

fn leads_back_to(ancestor: &dyn Place) -> io::Error {
    let mut path = Vec::new();
    ancestor.push_path(&mut path);
    io::Error::other(format!("leads back to {:?}", OsStr::from_bytes(&path)))
}
