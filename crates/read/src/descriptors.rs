//! What a worker that reads files does to its descriptor table before it opens the first one.
#![expect(unsafe_code, reason = "a private descriptor table breaks what safe code may assume of descriptors")]

use std::os::fd::AsRawFd as _;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, getrlimit};

/// Gives the calling thread a descriptor table of its own, with the standard streams in it and nothing else.
///
/// Opening and closing in a shared table takes a lock and, with several threads, an RCU round: a seventh of
/// the time of a small file. Where the kernel forbids it (containers may) nothing changes but the speed.
///
/// A mere copy of the shared table would hold, for as long as the thread runs, whatever the others had open
/// at that moment, and with a low limit there would be no descriptor left.
///
/// # Safety
/// From here on a descriptor that another thread opened means another file on this thread, or none, and the other way
/// round. Until the thread ends:
///
/// - it must not use, or close by dropping, a descriptor that was opened before this call or by another thread, except
///   the standard streams;
/// - it must drop every descriptor that it opens, and must not hand one to another thread.
///
/// Call it first thing on a thread that was started for one piece of work, and only where all code that runs on the
/// thread afterwards is known.
pub unsafe fn leave_shared_descriptors() {
    #[cfg(target_os = "linux")]
    {
        const FIRST: libc::c_uint = 3;
        // SAFETY: the call takes no pointers. It closes nothing in the table that is left, and the caller promises that
        // this thread needs nothing of what is missing in the new one.
        let closed = unsafe {
            libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
        };
        if closed != 0 {
            // Before Linux 5.11, or forbidden: a copy of the whole table, if at least that is possible.
            // SAFETY: as above.
            let _ = unsafe { libc::unshare(libc::CLONE_FILES) };
        }
    }
}

/// Makes room for so many more descriptors in the table that this thread uses.
///
/// A table begins with room for 64. When one that is shared has to grow, Linux waits for an RCU grace period: 10 to 30 ms
/// in which every thread that opens something stands still. A ring shares the table with threads of the kernel, so this
/// comes before the ring is made, and before threads start that keep the table.
pub fn make_room(descriptors: usize) {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(probe) = rustix::fs::open("/", flags, Mode::empty()) else { return };
    let highest = (probe.as_raw_fd() as u64).saturating_add(descriptors as u64);
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).saturating_sub(1);
    // The table stays as large as this number needs when it is closed. Failing costs only the wait.
    if let Ok(highest) = i32::try_from(highest.min(limit)) {
        let _ = rustix::io::fcntl_dupfd_cloexec(&probe, highest);
    }
}
