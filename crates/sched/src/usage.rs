//! The resource usage that the kernel counts for the calling thread.

/// How often a thread has waited since it started, and how much it has read from disks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// Voluntary context switches: the thread gave up its CPU to wait.
    switches: u64,
    /// Units of 512 bytes that were read from disks for this thread.
    input: u64,
}

impl Waits {
    /// Returns the counts of the calling thread. The call takes 0.2 us.
    ///
    /// The counts are always 0 if the system does not count per thread. Then all files are treated as cached.
    #[cfg(target_os = "linux")]
    pub fn now() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};

        let count = |n| u64::try_from(n).unwrap_or(0);
        getrusage(UsageWho::RUSAGE_THREAD).map_or(Self::default(), |usage| Self {
            switches: count(usage.voluntary_context_switches()),
            input: count(usage.block_reads()),
        })
    }

    /// Returns zeros, since this system does not count waits per thread.
    #[cfg(not(target_os = "linux"))]
    pub fn now() -> Self {
        Self::default()
    }

    /// Returns how many times the thread has waited for a disk since `earlier`.
    ///
    /// Reads of cached files need no disk, but the thread may wait for a lock, for memory, or until modified pages
    /// are written back. Such waits count only if something was read from a disk meanwhile.
    ///
    /// Some file systems read in other threads or wait for a server; all their waits count. `has_input` returns
    /// whether the files are on file systems whose reads are counted for the thread. It is called only if there
    /// were waits without input.
    pub fn since(self, earlier: Self, has_input: impl FnOnce() -> bool) -> u64 {
        let switches = self.switches - earlier.switches;
        let is_disk = switches > 0 && (self.input > earlier.input || !kernel_counts_input() || !has_input());
        if is_disk { switches } else { 0 }
    }
}

/// Whether the kernel counts input. It has this file if it was built with `CONFIG_TASK_IO_ACCOUNTING`.
fn kernel_counts_input() -> bool {
    std::path::Path::new("/proc/self/io").exists()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn sleeping_counts_only_for_the_sleeping_thread() {
        let since = |start| Waits::now().since(start, || false);
        let (mine, theirs) = thread::scope(|scope| {
            let start = Waits::now();
            thread::sleep(Duration::from_millis(1));
            let mine = since(start);
            let sleeper = scope.spawn(move || {
                let start = Waits::now();
                for _ in 0..50 {
                    thread::sleep(Duration::from_micros(10));
                }
                since(start)
            });
            (mine, sleeper.join().unwrap())
        });
        assert!(mine >= 1);
        assert!(theirs >= 50 && mine < 50, "{mine} {theirs}");
    }

    #[test]
    fn waits_without_input_are_not_waits_for_a_disk() {
        let waited = |input| Waits { switches: 5, input }.since(Waits { switches: 2, input: 8 }, || true);
        assert_eq!(waited(16), 3);
        assert_eq!(waited(8), if kernel_counts_input() { 0 } else { 3 });
    }

    #[test]
    fn without_waits_nothing_else_is_asked() {
        let waits = Waits { switches: 2, input: 8 };
        assert_eq!(waits.since(waits, || panic!("not needed")), 0);
    }
}
