//! The resource usage that the kernel counts for the calling thread.

use std::fs::File;
use std::io::Read as _;

/// How often a thread has waited since it started, how much it has read from disks, and how long it has been running.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// Voluntary context switches: the thread gave up its CPU to wait.
    switches: u64,
    /// Units of 512 bytes that were read from disks for this thread.
    input: u64,
    /// Nanoseconds on a CPU.
    cpu: u64,
}

impl Waits {
    /// Returns the counts of the calling thread. The call takes 0.2 us.
    ///
    /// The counts are always 0 if the system does not count per thread. Then all files are treated as cached.
    #[cfg(target_os = "linux")]
    pub fn now() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::{TimeVal, TimeValLike as _};

        let count = |n| u64::try_from(n).unwrap_or(0);
        let nanos = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0) * 1_000;
        getrusage(UsageWho::RUSAGE_THREAD).map_or(Self::default(), |usage| Self {
            switches: count(usage.voluntary_context_switches()),
            input: count(usage.block_reads()),
            cpu: nanos(usage.user_time()) + nanos(usage.system_time()),
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

    /// Returns for how many nanoseconds the thread has been running since `earlier`. If it has waited meanwhile, this
    /// is exact; otherwise it may be short by a clock tick.
    pub(crate) fn cpu_since(self, earlier: Self) -> u64 {
        self.cpu.saturating_sub(earlier.cpu)
    }
}

/// For how long a thread has been running, and for how long it has been ready to run while others had the CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Nanoseconds on a CPU.
    pub running: u64,
    /// Nanoseconds of waiting for a CPU.
    pub waiting: u64,
}

impl CpuTime {
    /// Returns the times of the calling thread since its start, or `None` if the system does not measure both. Takes
    /// three system calls.
    pub fn now() -> Option<Self> {
        let mut text = [0; 64];
        let len = File::open("/proc/thread-self/schedstat").ok()?.read(&mut text).ok()?;
        Self::parse(&text[..len])
    }

    /// Parses `running waiting slices`. A kernel that does not measure says zeros.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut numbers =
            str::from_utf8(text).ok()?.split_ascii_whitespace().map(|number| number.parse().ok());
        let (running, waiting) = (numbers.next()??, numbers.next()??);
        (running > 0).then_some(Self { running, waiting })
    }

    /// Returns the times since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        let Self { running, waiting } = earlier;
        Self { running: self.running.saturating_sub(running), waiting: self.waiting.saturating_sub(waiting) }
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
    fn cpu_time_is_that_of_the_thread() {
        let Some(start) = CpuTime::now() else { return };
        let spinner = thread::spawn(|| {
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_millis(30) {}
            CpuTime::now().unwrap()
        });
        let theirs = spinner.join().unwrap();
        // The kernel may count a thread's own time at its next clock tick only.
        assert!(theirs.running + theirs.waiting > 10_000_000, "{theirs:?}");
        let mine = CpuTime::now().unwrap().since(start);
        assert!(mine.running < theirs.running + theirs.waiting, "{mine:?} {theirs:?}");
    }

    #[test]
    fn a_kernel_that_does_not_measure_cpu_time_has_none() {
        assert_eq!(CpuTime::parse(b"70 12 3\n"), Some(CpuTime { running: 70, waiting: 12 }));
        for text in [&b""[..], b"0 0 0\n", b"70", b"70 x 3\n", b"-1 2 3\n", b"\xff 1 2"] {
            assert_eq!(CpuTime::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn waits_without_input_are_not_waits_for_a_disk() {
        let waits = |switches, input| Waits { switches, input, cpu: 0 };
        let waited = |input| waits(5, input).since(waits(2, 8), || true);
        assert_eq!(waited(16), 3);
        assert_eq!(waited(8), if kernel_counts_input() { 0 } else { 3 });
    }

    #[test]
    fn without_waits_nothing_else_is_asked() {
        let waits = Waits { switches: 2, input: 8, cpu: 0 };
        assert_eq!(waits.since(waits, || panic!("not needed")), 0);
    }
}
