//! Options of a comparison, and the resources it may use.

use std::io;
use std::sync::atomic::AtomicU64;

use ftk_file::File;
use ftk_sched::Stop;

/// One of the two inputs.
pub enum Source<'s> {
    /// A regular file, from its beginning.
    File(&'s File),
    /// Anything that can only be read from its current position on: standard input, a FIFO, a device.
    Stream(&'s mut dyn io::Read),
}

/// What is compared, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Stop after this many mismatches; `0`, the default, finds all of them. Nothing is read to find more.
    pub max_mismatches: u64,
    /// Bytes to skip at the start of the first input; 0 by default.
    pub skip_a: u64,
    /// Bytes to skip at the start of the second input; 0 by default.
    pub skip_b: u64,
    /// How many bytes to compare after the skipped ones; `None`, the default, compares all.
    pub limit: Option<u64>,
    /// Bytes that a worker compares before it checks the results of the others, and the minimum size of a
    /// claim. `0`, the default, means 128 KiB.
    pub block: usize,
    /// How large files are read.
    pub method: Method,
    /// Whether bytes may be treated as equal without being read; true by default. This applies to a file
    /// compared with itself, to holes, and to extents that both files share on the disk.
    pub shortcuts: bool,
    /// Whether to count lines; false by default.
    pub lines: bool,
}

/// The default block size, in bytes: two blocks fit into the second-level cache.
const BLOCK: usize = 128 << 10;

/// The minimum block size if memory is short, in bytes.
const LEAST_BLOCK: u64 = 4 << 10;

impl Options {
    /// Returns the block size in bytes. Each worker may hold two blocks in memory.
    pub(crate) fn block(&self, workers: u64, memory: u64) -> usize {
        let wanted = if self.block == 0 { BLOCK } else { self.block };
        let room = (memory / (2 * workers)).max(LEAST_BLOCK);
        wanted.min(usize::try_from(room).unwrap_or(usize::MAX))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_mismatches: 0,
            skip_a: 0,
            skip_b: 0,
            limit: None,
            block: 0,
            method: Method::default(),
            shortcuts: true,
            lines: false,
        }
    }
}

/// How large files are read. This does not affect the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Decides by the files and the available memory.
    #[default]
    Auto,
    /// Maps the files into memory, which avoids a copy. Ranges that cannot be mapped are read.
    Mapped,
    /// Reads blocks, which needs no memory except for the blocks.
    Stream,
}

/// What a comparison may use.
#[derive(Clone, Copy, Debug)]
pub struct FileResources<'e> {
    /// The number of workers, including the calling thread; `0` means one for each logical CPU.
    pub workers: usize,
    /// Memory limit in bytes. [`Method::Auto`] maps two files only if their bytes to compare fit into it
    /// together. The buffers of all workers together fit into it too, except that a block has at least 4 KiB.
    pub memory: u64,
    /// Ends the comparison within one block when raised.
    pub stop: &'e Stop,
    /// Updated with the approximate number of bytes of both inputs that have been compared, to show progress.
    pub done: &'e AtomicU64,
}
