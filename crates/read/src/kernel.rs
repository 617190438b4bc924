//! The io_uring of the Linux kernel.
#![expect(unsafe_code, reason = "the kernel receives pointers")]

use std::io;

use io_uring::{IoUring, opcode, types};

use crate::ring::{Completion, Op, Ring};

/// Opens a ring with room for `depth` queued operations. The kernel makes room for twice as many completions.
pub(crate) fn open(depth: u32) -> io::Result<Box<dyn Ring>> {
    Ok(Box::new(Kernel(IoUring::new(depth)?)))
}

/// An io_uring.
///
/// It is set up without options. Those meant to save time (single issuer, deferred task work) gained nothing
/// measurable and need newer kernels; a polling kernel thread slows down machines with few cores.
struct Kernel(IoUring);

impl Ring for Kernel {
    unsafe fn push(&mut self, key: u64, op: Op) -> io::Result<()> {
        let entry = match op {
            Op::Open { dir, name, flags } => {
                opcode::OpenAt::new(types::Fd(dir), name).flags(flags.bits() as i32).build()
            }
            Op::Read { file, into, len, offset, flags } => opcode::Read::new(types::Fd(file), into, len)
                .offset(offset)
                .rw_flags(flags.cast_signed())
                .build(),
            Op::Cancel { key } => opcode::AsyncCancel::new(key).build(),
        };
        // SAFETY: the caller guarantees that all memory the operation points to stays valid until its
        // completion.
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
