//! The resource usage that the kernel counts for the calling thread.

/// Returns how many times the calling thread has given up its CPU to wait since it started. The call takes
/// 0.2 us.
///
/// Reads of cached files never wait, so the increase during some reads tells whether a disk was involved.
/// Waiting for a contended lock counts too. Always returns 0 if the system does not count per thread; then
/// all files are treated as cached.
#[cfg(target_os = "linux")]
pub fn voluntary_switches() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};

    let count = getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.voluntary_context_switches());
    u64::try_from(count).unwrap_or(0)
}

/// Returns 0, since this system does not count waits per thread.
#[cfg(not(target_os = "linux"))]
pub fn voluntary_switches() -> u64 {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn sleeping_counts_only_for_the_sleeping_thread() {
        let (mine, theirs) = thread::scope(|scope| {
            let before = voluntary_switches();
            thread::sleep(Duration::from_millis(1));
            let mine = voluntary_switches() - before;
            let sleeper = scope.spawn(|| {
                for _ in 0..50 {
                    thread::sleep(Duration::from_micros(10));
                }
                voluntary_switches()
            });
            (mine, sleeper.join().unwrap())
        });
        assert!(mine >= 1);
        assert!(theirs >= 50 && mine < 50, "{mine} {theirs}");
    }
}
