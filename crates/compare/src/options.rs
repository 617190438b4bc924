//! What is asked for, and what may be used for it.

use std::io;
use std::sync::atomic::AtomicU64;

use ftk_read::File;
use ftk_sched::Stop;

/// One of the two inputs.
pub enum Source<'s> {
    /// A regular file, from its beginning.
    File(&'s File),
    /// Anything that can be read on from where it stands: standard input, a FIFO, a device.
    Stream(&'s mut dyn io::Read),
}

/// What is compared, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// So many mismatches are wanted at most, the first ones; `0`, the default, for all. Nothing is read for the sake
    /// of more.
    pub max_mismatches: u64,
    /// Bytes that are left out at the start of the first input; none by default.
    pub skip_a: u64,
    /// Bytes that are left out at the start of the second.
    pub skip_b: u64,
    /// How many bytes behind those are compared at most; `None`, the default, for all.
    pub limit: Option<u64>,
    /// Bytes that are compared between two looks at what others found, and the least that a worker claims; `0`, the
    /// default, for 128 KiB.
    pub block: usize,
    /// How large files are read.
    pub method: Method,
    /// Whether bytes may be taken for equal without being read, as by default: those of a file and itself, those of
    /// holes, and those that both files share on the disk.
    pub shortcuts: bool,
    /// Whether lines are counted; not by default.
    pub lines: bool,
}

/// Bytes of a block where nothing else is asked for: two of them fit the second-level cache.
const BLOCK: usize = 128 << 10;

/// Blocks do not shrink below this for lack of memory.
const LEAST_BLOCK: u64 = 4 << 10;

impl Options {
    /// Bytes of a block, of which each worker may have two in memory.
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

/// How large files are read. It has no influence on the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// As the files and the memory suggest.
    #[default]
    Auto,
    /// Mapped into memory, which spares a copy. What cannot be mapped is read.
    Mapped,
    /// Read in blocks, which needs no more memory than the blocks have.
    Stream,
}

/// What a comparison may use.
#[derive(Clone, Copy, Debug)]
pub struct FileResources<'e> {
    /// How many workers, the calling thread included; `0` for as many as there are logical CPUs.
    pub workers: usize,
    /// Bytes of memory: what both files may have together to be mapped, and what buffers may take.
    pub memory: u64,
    /// Ends the comparison within a block.
    pub stop: &'e Stop,
    /// Is kept at the offset up to which the inputs are compared, more or less, for whoever shows progress.
    pub done: &'e AtomicU64,
}
