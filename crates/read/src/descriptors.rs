//! What a worker that reads files does to its thread before it opens the first one.
#![expect(unsafe_code, reason = "a private descriptor table is a promise the compiler cannot check")]

/// Gives the calling thread a descriptor table of its own, with the standard streams in it and nothing else.
///
/// Opening and closing in a shared table takes a lock and, with several threads, an RCU round: a seventh of
/// the time of a small file. Where the kernel forbids it (containers may) nothing changes but the speed.
///
/// A mere copy of the shared table would hold, for as long as the thread runs, whatever the others had open
/// at that moment, and with a low limit there would be no descriptor left.
///
/// Call it only on a thread that was just started to do one piece of work, and before it opens anything: from here
/// on a descriptor opened by one thread means another file, or none, in the next. The thread must use no descriptor
/// but standard error that it was handed, and must drop those it opens before it returns. Workers hold to that by
/// construction: an inventory carries no descriptor, each makes its reader and opener itself, and what they return
/// (failures, counts) carries none either.
pub fn leave_shared_descriptors() {
    #[cfg(target_os = "linux")]
    {
        const FIRST: libc::c_uint = 3;
        // SAFETY: the call takes no pointers. It closes nothing of the table that is left behind, and in the
        // new one only what nobody uses: the callers are threads that our crates spawn for this purpose, and as
        // said above none receives a descriptor from another thread or passes one on, except standard error.
        let closed = unsafe {
            libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
        };
        if closed != 0 {
            // Before Linux 5.11, or forbidden: a copy of the whole table, if at least that may be had.
            // SAFETY: as above.
            let _ = unsafe { libc::unshare(libc::CLONE_FILES) };
        }
    }
}
