//! The pair of queues behind the io_uring reader: as little of it as the reader uses, behind a trait, so that
//! tests can put one in its place that fails, lies and dawdles.
#![expect(unsafe_code, reason = "the kernel is handed pointers")]

use std::ffi::c_char;
use std::io;
use std::os::fd::RawFd;

use io_uring::{IoUring, opcode, types};
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

/// The ring of the kernel.
///
/// It is set up without any option: those that are said to save time (single issuer, deferred task work)
/// gained nothing beyond noise here, need newer kernels, and a polling kernel thread harms on few cores.
pub(crate) struct Kernel(IoUring);

impl Kernel {
    /// A ring with room for `depth` queued operations, and for as many completions again.
    pub(crate) fn new(depth: u32) -> io::Result<Self> {
        IoUring::new(depth).map(Self)
    }
}

impl Ring for Kernel {
    unsafe fn push(&mut self, key: u64, op: Op) -> io::Result<()> {
        let entry = match op {
            Op::Open { dir, name, flags } => {
                opcode::OpenAt::new(types::Fd(dir), name).flags(flags.bits() as i32).build()
            }
            Op::Read { file, into, len, offset } => {
                opcode::Read::new(types::Fd(file), into, len).offset(offset).build()
            }
            Op::Cancel { key } => opcode::AsyncCancel::new(key).build(),
        };
        // SAFETY: the caller promises that the memory outlives the operation.
        let pushed = unsafe { self.0.submission().push(&entry.user_data(key)) };
        pushed.map_err(io::Error::other)
    }

    fn queued(&mut self) -> usize {
        self.0.submission().len()
    }

    fn submit(&mut self, wait: bool) -> io::Result<()> {
        self.0.submit_and_wait(usize::from(wait)).map(drop)
    }

    fn completion(&mut self) -> Option<Completion> {
        let entry = self.0.completion().next()?;
        Some(Completion { key: entry.user_data(), result: entry.result() })
    }
}
