//! What the kernel counts for the calling thread.

/// Times the calling thread has given up its CPU to wait, since it started: 0.2 us to ask.
///
/// Reads of cached files never wait, so the difference over some of them tells whether a disk was behind them.
/// A lock that was contended counts too. Always 0 where the system does not count by thread: there everything
/// passes for cached.
#[cfg(target_os = "linux")]
pub fn voluntary_switches() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};

    let count = getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.voluntary_context_switches());
    u64::try_from(count).unwrap_or(0)
}

/// Times the calling thread has given up its CPU to wait: not counted by thread on this system, hence 0.
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
    fn sleeping_counts_and_only_for_the_sleeper() {
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
