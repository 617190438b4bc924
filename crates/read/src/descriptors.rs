//! Prepares the descriptor table of a thread before it opens files.
#![expect(unsafe_code, reason = "safe code assumes that all threads share one descriptor table")]

#[cfg(target_os = "linux")]
use std::hash::RandomState;

/// Gives the calling thread a private descriptor table that contains only the standard streams.
///
/// In a shared table, opening and closing a file takes a lock and, with several threads, RCU work: a seventh
/// of the time for a small file. Where the kernel forbids private tables (containers may), the thread keeps
/// the shared one and only loses speed.
///
/// The new table is not a copy of the shared one, except before Linux 5.11. A copy would keep open, until
/// this thread ends, every file that other threads had open at that moment. With a low limit, no descriptor
/// would be left.
///
/// # Safety
/// From this call on, a descriptor number means different files on this thread and on others, or a file here
/// and nothing there. Until the thread ends:
///
/// - It must not use or close (by dropping) a descriptor that was opened before this call or by another
///   thread, except the standard streams.
/// - It must close every descriptor that it opens, and must not pass one to another thread.
///
/// Call this first on a thread that was started for one task, and only if you know all code that the thread
/// runs afterwards.
pub unsafe fn leave_shared_descriptors() {
    #[cfg(target_os = "linux")]
    {
        const FIRST: libc::c_uint = 3;
        // Draws the keys of this thread's hash maps. Where `getrandom` is refused, the standard library reads them from a
        // descriptor that it opens once for all threads.
        let _ = RandomState::new();
        // SAFETY: the call takes no pointers. It closes nothing in the table that the other threads use, and
        // the caller guarantees that this thread needs none of the descriptors that its new table lacks.
        let closed = unsafe {
            libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
        };
        if closed != 0 {
            // Before Linux 5.11, or where the call is forbidden: try a copy of the whole table.
            // SAFETY: as above.
            let _ = unsafe { libc::unshare(libc::CLONE_FILES) };
        }
    }
}
