//! What a spawned worker does to its thread before it opens its first file.
#![expect(unsafe_code, reason = "a private descriptor table is a promise the compiler cannot check")]

/// Gives the calling thread a descriptor table of its own, with the standard streams in it and nothing else.
///
/// Opening and closing in a shared table takes a lock and, with several threads, an RCU round: a seventh of
/// the time of a small file. Where the kernel forbids it (containers may) nothing changes but the speed.
///
/// A mere copy of the shared table would hold, for as long as the thread runs, whatever the others had open
/// at that moment, and with a low limit there would be no descriptor left.
///
/// Call it on a thread of the team only, before it opens anything: from here on a descriptor opened by one
/// thread means another file, or none, in the next. That holds by construction: an `Inventory` carries no
/// descriptor, a worker makes its reader and opener itself and drops them before it returns, and what it
/// returns (`Failed`, counts) carries none either.
pub(crate) fn leave_shared_descriptors() {
    #[cfg(target_os = "linux")]
    {
        const FIRST: libc::c_uint = 3;
        // SAFETY: the call takes no pointers. It closes nothing of the table that is left behind, and in the
        // new one only what nobody uses: the callers are the spawned workers and the progress thread of this
        // crate; as said above, none receives a descriptor from another thread or passes one on, except
        // standard error.
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
