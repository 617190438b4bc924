//! Entries of one large directory for several workers.
//!
//! The worker that lists a directory shows its entries itself, and hands some of them to others in batches if the others
//! have nothing to do and the entries are worth it. A batch is a job like a directory: it is pushed to the deque of the
//! worker that lists, so the idle protocol is the same.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use crate::FileType;
use crate::sys::Stat;

/// The time that the work on one batch should take. It is long compared with waking a worker (about 50 µs), and short
/// enough that all workers end at about the same time.
const TARGET: Duration = Duration::from_micros(200);
/// A batch with less work than this is not handed over.
const WORTH: Duration = Duration::from_micros(20);
/// The most entries in a batch.
const MOST: usize = 64;
/// After so many entries the worker looks whether others wait, while none does.
const LOOK: usize = 4;

/// Entries of a directory that were listed and not yet shown.
pub(crate) struct Batch {
    pub(crate) stat: Stat,
    /// The names, each with a NUL at its end.
    names: Vec<u8>,
    entries: Vec<Listed>,
}

struct Listed {
    name_len: usize,
    ino: u64,
    file_type: Option<FileType>,
}

impl Batch {
    fn new(stat: Stat) -> Self {
        Self { stat, names: Vec::new(), entries: Vec::new() }
    }

    /// Returns the entries: name, inode number, and the type if the listing reported it.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&CStr, u64, Option<FileType>)> {
        let mut rest = &self.names[..];
        self.entries.iter().filter_map(move |entry| {
            let name;
            (name, rest) = rest.split_at(entry.name_len);
            Some((CStr::from_bytes_with_nul(name).ok()?, entry.ino, entry.file_type))
        })
    }
}

/// Decides during a listing which entries are handed over.
pub(crate) struct Sharing {
    batch: Batch,
    /// How many entries the batch is to have. `0` if the worker shows the next entries itself.
    wanted: usize,
    /// Entries to show before the next look.
    left: usize,
    /// How many entries take about as long as [`TARGET`]; at most twice as many as were measured.
    chunk: usize,
    /// When the first of the last `chunk` entries was begun, if that is measured.
    since: Option<Instant>,
    /// Whether a batch was handed over before.
    has_shared: bool,
}

impl Sharing {
    /// Begins the listing of a directory. If others wait, the first entry is measured.
    pub(crate) fn new(stat: Stat, others_wait: bool) -> Self {
        let since = others_wait.then(Instant::now);
        Self { batch: Batch::new(stat), wanted: 0, left: 1, chunk: 1, since, has_shared: false }
    }

    /// Returns whether the next entry goes into the batch.
    pub(crate) fn is_filling(&self) -> bool {
        self.wanted > 0
    }

    /// Adds an entry to the batch. Returns the batch when it is full.
    pub(crate) fn push(&mut self, name: &CStr, ino: u64, file_type: Option<FileType>) -> Option<Batch> {
        let name = name.to_bytes_with_nul();
        self.batch.names.extend_from_slice(name);
        self.batch.entries.push(Listed { name_len: name.len(), ino, file_type });
        if self.batch.entries.len() < self.wanted {
            return None;
        }
        self.has_shared = true;
        self.finish()
    }

    /// Returns the batch, if it has entries.
    pub(crate) fn finish(&mut self) -> Option<Batch> {
        let empty = Batch::new(self.batch.stat);
        self.wanted = 0;
        // Filling the batch is no work on entries.
        self.since = self.since.map(|_| Instant::now());
        Some(std::mem::replace(&mut self.batch, empty)).filter(|batch| !batch.entries.is_empty())
    }

    /// Notes that the worker has shown an entry itself. `others_wait` is called with whether a batch was handed over before,
    /// and tells whether others have nothing to do.
    pub(crate) fn shown(&mut self, others_wait: impl FnOnce(bool) -> bool) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        if !others_wait(self.has_shared) {
            self.since = None;
            self.left = LOOK;
            return;
        }
        let now = Instant::now();
        match self.since {
            None => self.chunk = 1,
            Some(since) => {
                let each = now.duration_since(since).as_nanos() as usize / self.chunk;
                let fitting = TARGET.as_nanos() as usize / each.max(1);
                self.chunk = fitting.clamp(1, MOST.min(2 * self.chunk));
                if each * self.chunk >= WORTH.as_nanos() as usize {
                    self.wanted = self.chunk;
                }
            }
        }
        self.since = Some(now);
        self.left = self.chunk;
    }
}
