//! What a worker that reads files does to its thread before it opens the first one.
#![expect(unsafe_code, reason = "a private descriptor table breaks what safe code may assume of descriptors")]

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
