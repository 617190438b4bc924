//! What a spawned worker does to its thread before it opens its first file.
#![expect(unsafe_code, reason = "a private descriptor table is a promise the compiler cannot check")]

/// Gives the calling thread a descriptor table of its own, a copy of the shared one.
///
/// Opening and closing in a shared table takes a lock and, with several threads, an RCU round: a seventh of
/// the time of a small file. Where the kernel forbids it (containers may) nothing changes but the speed.
///
/// Call it on a thread of the team only, before it opens anything: from here on a descriptor opened by one
/// thread means another file, or none, in the next. That holds by construction: an `Inventory` carries no
/// descriptor, a worker makes its reader and opener itself and drops them before it returns, and what it
/// returns (`Failed`, counts) carries none either.
pub(crate) fn leave_shared_descriptors() {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{UnshareFlags, unshare_unsafe};
        // SAFETY: the callers are the spawned workers and the progress thread of this crate; as said above,
        // none receives a descriptor from another thread or passes one on, except standard error, which the
        // copy of the table has too.
        let _ = unsafe { unshare_unsafe(UnshareFlags::FILES) };
    }
}
