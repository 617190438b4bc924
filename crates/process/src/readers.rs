//! Chooses a worker's reader, and limits its memory and descriptors.

use ftk_file::make_room;
use ftk_read::{Ahead, Reader, SyncReader, Uring};
use ftk_sched::{Backend, Limits};

/// Lanes of the widest engine: 16 lanes of 32 bits in a 512-bit register.
pub(crate) const MAX_LANES: usize = 16;

/// Descriptors reserved for the rest of the program.
const SPARE: usize = 16;

/// Sizes of readers within the limits of this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Readers {
    /// Files in progress at once in one ring.
    depth: usize,
    /// Directories that one worker may hold open for a window of files in inode order.
    pub(crate) window_dirs: usize,
}

impl Readers {
    /// Computes the sizes; all buffers together may use `memory` bytes.
    pub(crate) fn new(limits: &Limits, memory: u64) -> Self {
        let nofile =
            rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        let depth = ftk_read::depth(memory / limits.max_workers() as u64, nofile);
        let spare = nofile.saturating_sub((depth + SPARE) as u64);
        Self { depth, window_dirs: spare.clamp(1, 256) as usize }
    }

    /// Returns the largest number of slots of any reader created here.
    pub(crate) fn max_slots(&self) -> usize {
        self.depth.max(MAX_LANES)
    }

    /// Enlarges the descriptor table for a worker with this reader. A plain reader needs few descriptors, so
    /// nothing is done for it.
    pub(crate) fn make_room(&self, backend: Backend) {
        if backend == Backend::Uring {
            make_room(self.depth + self.window_dirs + SPARE);
        }
    }

    /// Creates a plain reader for an engine that hashes `width` files in parallel.
    pub(crate) fn plain(width: usize) -> Box<dyn Reader> {
        let buf_len = if width <= 2 { SyncReader::STREAM_BUF_LEN } else { SyncReader::LANE_BUF_LEN };
        Box::new(SyncReader::new(width.min(MAX_LANES), buf_len))
    }

    /// Creates a reader of many files, for an engine that hashes `width` files in parallel. If a ring cannot
    /// be created, or there is no memory for its buffers, this is the plain reader.
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

    /// Creates a reader of one file at a time. With `ahead`, another thread reads while this one hashes.
    pub(crate) fn stream(&self, ahead: bool) -> Box<dyn Reader> {
        if ahead { Box::new(Ahead::new(Ahead::BUF_LEN)) } else { Self::plain(1) }
    }
}

/// Whether this many bytes can be allocated now. A ring allocates its buffers one by one on first use, when
/// it would be too late to fall back to the plain reader.
fn has_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}
