//! The submission and completion queues of the io_uring reader, reduced to the operations it uses. They are a
//! trait, so that tests can substitute a ring that fails, misreports and delays.
#![expect(unsafe_code, reason = "the kernel receives pointers")]

use std::ffi::c_char;
use std::io;
use std::os::fd::RawFd;

use rustix::fs::OFlags;

/// An operation that the kernel performs.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "only the ring of the kernel reads the fields")]
pub(crate) enum Op {
    /// `openat`. The result is a descriptor.
    Open { dir: RawFd, name: *const c_char, flags: OFlags },
    /// `preadv2`. The result is a number of bytes.
    Read { file: RawFd, into: *mut u8, len: u32, offset: u64, flags: u32 },
    /// Requests the early end of the operation with this key.
    Cancel { key: u64 },
}

/// The result of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) key: u64,
    /// What the system call would return: 0 or more, or a negated `errno`.
    pub(crate) result: i32,
}

/// Accepts operations and returns one completion for each, in any order.
pub(crate) trait Ring {
    /// Queues an operation, which a later [`submit`](Ring::submit) starts.
    ///
    /// # Safety
    /// Until the completion has been received, even if the ring is dropped before: everything `op` points to
    /// must stay valid, the buffer of a read must not be accessed, and the directory must stay open.
    unsafe fn push(&mut self, key: u64, op: Op) -> io::Result<()>;

    /// Returns how many operations are queued but not submitted.
    fn queued(&mut self) -> usize;

    /// Submits queued operations, or some of them. With `wait`, blocks until there is a completion.
    fn submit(&mut self, wait: bool) -> io::Result<()>;

    /// Returns the next completion, or `None` if there is none yet.
    fn completion(&mut self) -> Option<Completion>;
}

/// Opens a ring of the kernel with room for `depth` queued operations and twice as many completions.
pub(crate) fn open(depth: u32) -> io::Result<Box<dyn Ring>> {
    crate::kernel::open(depth)
}
