//! The trait that all readers implement.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use ftk_file::{Birth, Failure, File, Stat, Symlinks};

use crate::{Buf, Chunk, Span};

/// A request to read one file.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// The directory. The reader keeps it open until the file is open, so that its descriptor number cannot
    /// be reused.
    pub dir: &'a Rc<OwnedFd>,
    /// The file's name in `dir`.
    pub name: &'a CStr,
    /// How to open and read it.
    pub how: How,
}

/// When modified pages are [written back](ftk_file::File::write_back) before the first read. From then on, every write
/// changes the times of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteBack {
    /// Never: nothing is concluded from the times later.
    Never,
    /// Unless the file is so old that it [was written back](ftk_file::Version::is_written_back).
    IfRecent,
}

/// Whether modified pages were written back before the first read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenBack {
    /// Yes, by the kernel long ago, or by a call that returned at once.
    Yes,
    /// Yes, after a wait during which the file may have changed.
    AfterWait,
    /// Perhaps not. Nothing can be concluded from the times later.
    Unknown,
}

/// A call that takes longer than this has waited for a disk or a writer.
const WAIT: Duration = Duration::from_millis(1);

impl WriteBack {
    /// Writes the pages back if that is to be done.
    pub fn apply(self, file: &File) -> WrittenBack {
        match self {
            Self::Never => WrittenBack::Unknown,
            Self::IfRecent if file.stat().version().is_written_back() => WrittenBack::Yes,
            Self::IfRecent => {
                let start = Instant::now();
                match file.write_back() {
                    Err(_) => WrittenBack::Unknown,
                    Ok(()) if start.elapsed() < WAIT => WrittenBack::Yes,
                    Ok(()) => WrittenBack::AfterWait,
                }
            }
        }
    }
}

/// How to open and read a file.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether to follow a symbolic link as last component. If not, a symbolic link is an error.
    pub symlinks: Symlinks,
    /// Whether [`Reader::stat`] returns the time of birth too.
    pub birth: Birth,
    /// Whether modified pages are [written back](ftk_file::File::write_back) before the first read.
    pub write_back: WriteBack,
    /// Which bytes to read.
    pub span: Span,
}

impl How {
    /// Returns the simplest way: without the time of birth, and without writing anything back.
    pub fn new(symlinks: Symlinks, span: Span) -> Self {
        Self { symlinks, birth: Birth::Unknown, write_back: WriteBack::Never, span }
    }
}

/// The result of a [`Reader::poll`].
#[derive(Debug)]
pub enum Ready {
    /// Bytes of a file.
    Data(Chunk),
    /// The file on this slot could not be read. The slot is free again.
    Failed {
        /// The slot.
        slot: u32,
        /// The buffer that was passed to the reader.
        buf: Buf,
        /// The cause.
        failure: Failure,
    },
}

/// Reads files, several at once if the implementation can. Each file occupies one slot, numbered
/// `0..slots()`.
///
/// The life of a slot: call [`start`](Reader::start), then [`poll`](Reader::poll) until a chunk of the slot
/// arrives. While the chunk is not the end of the file, call [`more`](Reader::more) and poll again. After the
/// last chunk, call [`finish`](Reader::finish). While the caller has a chunk of the slot,
/// [`cancel`](Reader::cancel) ends the file early.
pub trait Reader {
    /// Returns how many files can be in progress at once; at least 1.
    fn slots(&self) -> usize;
    /// Returns the capacity in bytes that buffers should have.
    fn buf_len(&self) -> usize;
    /// Starts a file on a free slot. Its first bytes go into `buf`.
    fn start(&mut self, slot: u32, file: Open<'_>, buf: Buf);
    /// Requests the next bytes of the file on `slot`.
    fn more(&mut self, slot: u32, buf: Buf);
    /// Returns the next result, from any slot.
    ///
    /// With `wait`, blocks until there is one. Without `wait`, does not block on other files; a reader that
    /// handles one file at a time may still do the work of one file.
    ///
    /// Returns `None` if nothing is ready and `wait` is false, or if nothing can become ready before the
    /// caller acts: either no file is in progress, or those in progress wait for a descriptor that `finish`
    /// or `cancel` will free.
    fn poll(&mut self, wait: bool) -> Option<Ready>;
    /// Returns the `fstat` taken when the file on `slot` was opened.
    ///
    /// # Panics
    /// If the caller has no chunk of the file. `more`, `finish` and `cancel` panic in the same case.
    fn stat(&self, slot: u32) -> &Stat;
    /// Returns the open file on `slot`; `None` if another thread reads it.
    ///
    /// # Panics
    /// If the caller has no chunk of the file.
    fn file(&self, slot: u32) -> Option<&File>;
    /// Returns whether the modified pages of the file on `slot` were written back before the first read, so that every
    /// write since then has changed its times.
    ///
    /// # Panics
    /// If the caller has no chunk of the file.
    fn is_written_back(&self, slot: u32) -> bool;
    /// Closes a file after its last chunk, and checks whether its bytes can be trusted. The slot is free
    /// again, whatever the result.
    ///
    /// # Errors
    /// [`Failure::Changed`] if the file changed while being read; [`Failure::Io`] if `fstat` failed.
    fn finish(&mut self, slot: u32) -> Result<Stat, Failure>;
    /// Closes a file before its end. The caller must have a chunk of it.
    fn cancel(&mut self, slot: u32);
}
