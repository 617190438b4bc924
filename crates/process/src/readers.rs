//! Which reader a worker gets, and how much memory and how many descriptors it may take.

use ftk_read::{Ahead, Reader, SyncReader, Uring, make_room};
use ftk_sched::{Backend, COLD_WORKERS, Limits, Threads};

/// The widest engine: 16 lanes of 32 bits in a 512-bit register.
pub(crate) const MOST_LANES: usize = 16;

/// Descriptors left to the program itself.
const SPARE: usize = 16;

/// Sizes of readers within the limits of this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readers {
    /// Files under way at once in one ring.
    depth: usize,
    /// Directories one worker may hold open for a window of files in inode order.
    pub(crate) window_dirs: usize,
    most_workers: usize,
}

impl Readers {
    /// For buffers of `memory` bytes in all.
    pub(crate) fn new(limits: &Limits, memory: u64) -> Self {
        let most_workers = match limits.threads {
            Threads::Auto => limits.cpus.max(COLD_WORKERS),
            Threads::Fixed(n) => n.max(1),
        };
        let nofile =
            rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        let depth = ftk_read::depth(memory / most_workers as u64, nofile);
        let spare = nofile.saturating_sub((depth + SPARE) as u64);
        Self { depth, window_dirs: spare.clamp(1, 256) as usize, most_workers }
    }

    pub(crate) fn most_workers(&self) -> usize {
        self.most_workers
    }

    /// The most files under way at once in any reader made here.
    pub(crate) fn most_slots(&self) -> usize {
        self.depth.max(MOST_LANES)
    }

    /// Makes room for the descriptors of a worker with this reader. A plain one holds few.
    pub(crate) fn make_room(&self, backend: Backend) {
        if backend == Backend::Uring {
            make_room(self.depth + self.window_dirs + SPARE);
        }
    }

    /// A plain reader of many files for an engine that wants `width` at once.
    pub(crate) fn plain(width: usize) -> Box<dyn Reader> {
        let buf_len = if width <= 2 { SyncReader::STREAM_BUF_LEN } else { SyncReader::LANE_BUF_LEN };
        Box::new(SyncReader::new(width.min(MOST_LANES), buf_len))
    }

    /// A reader of many files for an engine that wants `width` at once. A ring that cannot be made, here and
    /// now, or for whose buffers there is no memory, means the plain reader.
    pub(crate) fn small(&self, backend: Backend, width: usize) -> Box<dyn Reader> {
        self.make_room(backend);
        if backend == Backend::Uring
            && has_room(self.depth * Uring::BUF_LEN)
            && let Ok(ring) = Uring::new(self.depth, Uring::BUF_LEN)
        {
            return Box::new(ring);
        }
        Self::plain(width)
    }

    /// A reader of one file at a time; with `ahead`, a thread of its own reads while this one hashes.
    pub(crate) fn stream(&self, ahead: bool) -> Box<dyn Reader> {
        if ahead { Box::new(Ahead::new(Ahead::BUF_LEN)) } else { Self::plain(1) }
    }
}

/// Whether so many bytes can be had now. The buffers of a ring are made one by one when they are needed, and it is too late
/// to do without them then.
fn has_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}
