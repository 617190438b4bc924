//! The seam: what every reader can do.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use crate::{Buf, Chunk, Span, Stat};

/// A file to be read.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// The directory, held by the reader until the open is done so that its number cannot be reused.
    pub dir: &'a Rc<OwnedFd>,
    /// The name in it.
    pub name: &'a CStr,
    /// Whether a symbolic link as last component is followed. Otherwise one is an error.
    pub follow: bool,
    /// Which bytes are wanted.
    pub span: Span,
}

/// Why a file has no content to offer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// A system call failed.
    Io {
        /// What was tried: "open", "stat", "read".
        op: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// Not a regular file (any longer): a directory, FIFO, socket or device, or a symbolic link where none is
    /// followed.
    NotRegular,
    /// It changed while it was read.
    Changed {
        /// As it was after opening.
        before: Box<Stat>,
        /// As it was after the last read.
        after: Box<Stat>,
        /// Bytes read.
        read: u64,
    },
}

/// What a reader has to say.
#[derive(Debug)]
pub enum Ready {
    /// Bytes of a file.
    Data(Chunk),
    /// The file on this slot cannot be read; the slot is free again.
    Failed {
        /// The slot.
        slot: u32,
        /// The buffer that was handed in.
        buf: Buf,
        /// The cause.
        failure: Failure,
    },
}

/// Reads files, several at once where it can. Slots are numbered `0..slots()`, one file each.
///
/// The life of a slot: [`start`](Reader::start); [`poll`](Reader::poll) until its chunk comes; while that is
/// not the end of the file [`more`](Reader::more) and poll again; then [`finish`](Reader::finish).
/// [`cancel`](Reader::cancel) ends it early, whenever a chunk of it is out.
pub trait Reader {
    /// How many files may be under way at once; at least 1.
    fn slots(&self) -> usize;
    /// Bytes a buffer should have.
    fn buf_len(&self) -> usize;
    /// Begins a file on a free slot. Its first bytes go into `buf`.
    fn start(&mut self, slot: u32, file: Open<'_>, buf: Buf);
    /// Asks for the next bytes of the file on `slot`.
    fn more(&mut self, slot: u32, buf: Buf);
    /// The next thing that is ready, in any order of slots. Without `wait` only what needs no blocking on
    /// other files; a reader that has nobody to wait for may do the work of one file either way.
    ///
    /// `None` when nothing is ready and `wait` is false, or when nothing can become ready before the caller
    /// acts: nothing is under way, or what is waits for a descriptor that `finish` or `cancel` will free.
    fn poll(&mut self, wait: bool) -> Option<Ready>;
    /// What `fstat` said when the file on `slot` was opened.
    ///
    /// # Panics
    /// If no chunk of the file is out. So do `more`, `finish` and `cancel`.
    fn stat(&self, slot: u32) -> &Stat;
    /// Closes a file whose end was delivered and says whether its bytes can be trusted. The slot is free
    /// again, whatever is answered.
    ///
    /// # Errors
    /// [`Failure::Changed`] when the file changed while it was read; [`Failure::Io`] when asking failed.
    fn finish(&mut self, slot: u32) -> Result<Stat, Failure>;
    /// Closes a file of which a chunk is out, without reading on.
    fn cancel(&mut self, slot: u32);
}
