//! The pair of queues behind the io_uring reader: as little of it as the reader uses, behind a trait, so that
//! tests can put one in its place that fails, lies and dawdles.
#![expect(unsafe_code, reason = "the kernel is handed pointers")]
#![cfg_attr(
    any(not(target_os = "linux"), ftk_portable),
    allow(dead_code, reason = "only a kernel looks into operations")
)]

use std::ffi::c_char;
use std::io;
use std::os::fd::RawFd;

use rustix::fs::OFlags;

/// An operation for the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// `openat`; completes with a descriptor.
    Open { dir: RawFd, name: *const c_char, flags: OFlags },
    /// `pread`; completes with a number of bytes.
    Read { file: RawFd, into: *mut u8, len: u32, offset: u64 },
    /// Asks the operation with this key to end early.
    Cancel { key: u64 },
}

/// The end of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) key: u64,
    /// What the system call would have returned: 0 or more, or a negated error number.
    pub(crate) result: i32,
}

/// Takes operations and, in any order, gives one completion for each.
pub(crate) trait Ring {
    /// Queues an operation; nothing happens before [`submit`](Ring::submit).
    ///
    /// # Safety
    /// What `op` points to must stay valid, and a buffer to read into untouched, until its completion was
    /// taken, even if the ring is dropped before. The directory must stay open until then.
    unsafe fn push(&mut self, key: u64, op: Op) -> io::Result<()>;

    /// Operations queued and not yet handed over.
    fn queued(&mut self) -> usize;

    /// Hands queued operations over, or some of them, and waits for a completion if `wait`.
    fn submit(&mut self, wait: bool) -> io::Result<()>;

    /// Takes a completion, if there is one.
    fn completion(&mut self) -> Option<Completion>;
}

/// The ring of this machine's kernel, with room for `depth` queued operations and twice the completions.
pub(crate) fn open(depth: u32) -> io::Result<Box<dyn Ring>> {
    #[cfg(all(target_os = "linux", not(ftk_portable)))]
    return Ok(Box::new(crate::kernel::Kernel::new(depth)?));
    #[cfg(not(all(target_os = "linux", not(ftk_portable))))]
    return Err(io::Error::new(io::ErrorKind::Unsupported, format!("no ring of {depth} on this platform")));
}
