//! Opens directories, and keeps a bounded number of them open for the directories below them.
//!
//! Each worker keeps its most recently listed directories open in a ring, and closes the least recently used
//! one when the ring is full. If a worker needs a closed directory, it goes up to the nearest open ancestor
//! and opens the names from there down. One `openat` covers as many names as fit into `PATH_MAX`. So a worker
//! holds its ring and at most three more descriptors: the directory being listed, its parent, and one on the
//! way down.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::node::Node;
use crate::sys::{self, CWD, NO_ATIME, PATH_MAX, Stat};

/// Descriptors reserved for the rest of the process.
const SPARE: u64 = 16;
/// Descriptors that a worker holds besides its ring.
const IN_HAND: u64 = 3;
/// Directories that a worker keeps open if it was added because others wait for a remote file system.
pub(crate) const EXTRA_RING: usize = 8;

/// Returns how many of the `wanted` workers the descriptor limit allows, and how many directories each may
/// keep open.
///
/// Half of [`SPARE`] may be used to avoid reducing the number of workers: a limit of 16 allows two workers.
pub(crate) fn budget(wanted: usize) -> (usize, usize) {
    let limit = sys::descriptor_limit().unwrap_or(u64::MAX).saturating_sub(in_use());
    let affordable = limit.saturating_sub(SPARE / 2) / (IN_HAND + 1);
    let workers = wanted.min(usize::try_from(affordable).unwrap_or(usize::MAX)).max(1);
    let share = limit.saturating_sub(SPARE) / workers as u64;
    (workers, share.saturating_sub(IN_HAND).clamp(1, 64) as usize)
}

/// Returns how many workers may be added to those of a [`budget`], so that there are at most `wanted`. They use at most
/// half of the descriptors that the others leave.
pub(crate) fn extra(wanted: usize, workers: usize, ring: usize) -> usize {
    let limit = sys::descriptor_limit().unwrap_or(u64::MAX).saturating_sub(in_use());
    let affordable = limit.saturating_sub(most(workers, ring, 0) as u64) / 2 / (EXTRA_RING as u64 + IN_HAND);
    wanted.saturating_sub(workers).min(usize::try_from(affordable).unwrap_or(usize::MAX))
}

/// Returns about how many descriptors are in use before the walk, without the three standard streams.
///
/// The system gives the lowest free number to a new descriptor, so that number is the count unless there are
/// gaps. [`SPARE`] includes the standard streams.
fn in_use() -> u64 {
    probe().map_or(0, |fd| (fd.as_raw_fd() as u64).saturating_sub(3))
}

fn probe() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Returns how many descriptors this many workers, and this many extra ones, may open.
pub(crate) fn most(workers: usize, ring: usize, extra: usize) -> usize {
    workers * (ring + IN_HAND as usize) + extra * (EXTRA_RING + IN_HAND as usize) + SPARE as usize
}

/// Makes room for `descriptors` more descriptors in this thread's table.
///
/// A new table has room for 64. When a shared table has to grow, Linux waits for an RCU grace period: for 10
/// to 30 ms, no thread can open a file. An io_uring shares the table with kernel threads. So call this before
/// creating a ring, and before starting threads that share the table.
#[doc(hidden)]
pub fn make_room(descriptors: usize) {
    let Ok(probe) = probe() else { return };
    let highest = (probe.as_raw_fd() as u64).saturating_add(descriptors as u64);
    // The table keeps its size when the highest descriptor is closed. If this fails, threads only wait later.
    let limit = sys::descriptor_limit().unwrap_or(u64::MAX).saturating_sub(1);
    if let Ok(highest) = i32::try_from(highest.min(limit)) {
        let _ = rustix::io::fcntl_dupfd_cloexec(&probe, highest);
    }
}

/// The open directories of one worker.
pub(crate) struct Opener<T> {
    /// Least recently used first.
    ring: VecDeque<Arc<Node<T>>>,
    capacity: usize,
    extra: OFlags,
}

impl<T> Opener<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { ring: VecDeque::new(), capacity, extra: NO_ATIME }
    }

    /// Opens `node`, and returns its descriptor and its metadata.
    pub(crate) fn open(&mut self, node: &Node<T>) -> io::Result<(Arc<OwnedFd>, Stat)> {
        let fd = match node.up() {
            None => self.open_at(CWD, node.name(), node.via_link())?,
            Some(up) => {
                let up = self.descriptor(up)?;
                self.open_at(up.as_fd(), node.name(), node.via_link())?
            }
        };
        let stat = fstat(&fd)?;
        Ok((Arc::new(fd), stat))
    }

    /// Keeps `node` open for its children, some of which are about to be queued.
    pub(crate) fn keep(&mut self, node: &Arc<Node<T>>, fd: &Arc<OwnedFd>) {
        {
            let mut cell = node.fd();
            if cell.is_some() {
                return;
            }
            *cell = Some(Arc::clone(fd));
        }
        if self.ring.len() == self.capacity {
            self.evict();
        }
        self.ring.push_back(Arc::clone(node));
    }

    /// Returns the descriptor of a directory that was open before, and opens it again if necessary.
    pub(crate) fn descriptor(&mut self, node: &Arc<Node<T>>) -> io::Result<Arc<OwnedFd>> {
        if let Some(fd) = node.fd().clone() {
            self.touch(node);
            return Ok(fd);
        }
        let mut way = vec![node];
        let mut base = None;
        while let Some(up) = way[way.len() - 1].up() {
            base = up.fd().clone();
            if base.is_some() {
                break;
            }
            way.push(up);
        }
        self.descend(way, base)
    }

    /// Opens the first directory of `way`. Each is a child of the next one, and the last is a child of
    /// `base`.
    ///
    /// Fails with `ESTALE` if a directory on the way has another identity than when it was opened first.
    fn descend(
        &mut self,
        mut way: Vec<&Arc<Node<T>>>,
        base: Option<Arc<OwnedFd>>,
    ) -> io::Result<Arc<OwnedFd>> {
        let mut base = base;
        let mut path = Vec::new();
        loop {
            let Some(node) = way.pop() else { unreachable!("the last of the way is returned") };
            path.extend_from_slice(node.name().to_bytes());
            path.push(b'/');
            if way.last().is_some_and(|next| path.len() + next.name().count_bytes() < PATH_MAX) {
                continue;
            }
            path.pop();
            let at = base.as_ref().map_or(CWD, |fd| fd.as_fd());
            let fd = Arc::new(self.open_at(at, path.as_slice(), node.via_link())?);
            if node.id() != Some(sys::identity(&fstat(&fd)?)) {
                return Err(Errno::STALE.into());
            }
            self.keep(node, &fd);
            if way.is_empty() {
                return Ok(fd);
            }
            base = Some(fd);
            path.clear();
        }
    }

    fn open_at(&mut self, at: BorrowedFd<'_>, path: impl Arg + Copy, follow: bool) -> io::Result<OwnedFd> {
        loop {
            match sys::open_directory(at, path, follow, self.extra) {
                Err(Errno::PERM) if !self.extra.is_empty() => self.extra = OFlags::empty(),
                Err(Errno::MFILE | Errno::NFILE) if self.evict() => {}
                opened => return Ok(opened?),
            }
        }
    }

    fn touch(&mut self, node: &Arc<Node<T>>) {
        let used = self.ring.iter().rposition(|kept| Arc::ptr_eq(kept, node));
        if let Some(node) = used.filter(|&at| at + 1 < self.ring.len()).and_then(|at| self.ring.remove(at)) {
            self.ring.push_back(node);
        }
    }

    /// Closes the least recently used directory. Returns `false` if the ring is empty.
    fn evict(&mut self) -> bool {
        self.ring.pop_front().map(|node| node.fd().take()).is_some()
    }
}
