//! Opens directories, and keeps a bounded number of them open for what lies below them.
//!
//! The worker that listed a directory owns its descriptor by way of a ring of its last directories, and closes
//! the one it used longest ago. Who needs a closed one climbs to the nearest ancestor that is open and opens
//! the names from there down, in as many steps as the longest path a system call takes demands. A worker thus
//! holds its ring and at most three more: the directory being listed, its parent, one on the way down.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::node::{Id, Node};
use crate::sys::{self, CWD, NO_ATIME, PATH_MAX};

/// Descriptors left to the rest of the process.
const SPARE: u64 = 16;
/// What a worker holds besides its ring.
const IN_HAND: u64 = 3;

/// How many of the `wanted` workers the process's limit allows, and how many directories each may keep open.
///
/// Half of [`SPARE`] goes to the workers before one of them has to go: at the limit of 16 two are left.
pub(crate) fn budget(wanted: usize) -> (usize, usize) {
    let limit = sys::descriptor_limit().unwrap_or(u64::MAX).saturating_sub(taken());
    let affordable = limit.saturating_sub(SPARE / 2) / (IN_HAND + 1);
    let workers = wanted.min(usize::try_from(affordable).unwrap_or(usize::MAX)).max(1);
    let share = limit.saturating_sub(SPARE) / workers as u64;
    (workers, share.saturating_sub(IN_HAND).clamp(1, 64) as usize)
}

/// Descriptors that were taken before the walk. They are numbered from the lowest that is free, so a new one
/// tells, unless some in between are free; the three standard streams are in the reserve.
fn taken() -> u64 {
    probe().map_or(0, |fd| (fd.as_raw_fd() as u64).saturating_sub(3))
}

fn probe() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Makes the process's descriptor table large enough for so many workers. To be called before the first thread starts.
///
/// A table begins with room for 64 descriptors. When one that threads share has to grow, Linux waits for an RCU grace
/// period: every thread that opens something stands still for 10 to 30 ms.
pub(crate) fn make_room(workers: usize, ring: usize) {
    let Ok(probe) = probe() else { return };
    let most = workers as u64 * (ring as u64 + IN_HAND) + SPARE;
    let highest = (probe.as_raw_fd() as u64).saturating_add(most);
    // The table stays as large as the highest number needs when that is closed. Failing costs only the wait.
    let limit = sys::descriptor_limit().unwrap_or(u64::MAX).saturating_sub(1);
    if let Ok(highest) = i32::try_from(highest.min(limit)) {
        let _ = rustix::io::fcntl_dupfd_cloexec(&probe, highest);
    }
}

/// One worker's open directories.
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

    /// Opens `node` and says which directory that is.
    pub(crate) fn open(&mut self, node: &Node<T>) -> io::Result<(Arc<OwnedFd>, Id)> {
        let fd = match node.up() {
            None => self.open_at(CWD, node.name(), node.via_link())?,
            Some(up) => {
                let up = self.descriptor(up)?;
                self.open_at(up.as_fd(), node.name(), node.via_link())?
            }
        };
        let id = sys::identity(&fd)?;
        Ok((Arc::new(fd), id))
    }

    /// Keeps `node` open for its children, of whom some are about to be queued.
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

    /// The descriptor of a directory that was open before.
    fn descriptor(&mut self, node: &Arc<Node<T>>) -> io::Result<Arc<OwnedFd>> {
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

    /// Opens the first of `way`, each of which lies in the next and the last in `base`.
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
            if node.id() != Some(sys::identity(&fd)?) {
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

    /// Closes the directory used longest ago. `false` if there is none.
    fn evict(&mut self) -> bool {
        self.ring.pop_front().map(|node| node.fd().take()).is_some()
    }
}
