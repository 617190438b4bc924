//! Limits how many bytes the process reads per second, and writes by [`write_all_at`].

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// One read asks for at most the bytes of this part of a second. So workers take turns quickly, and a stop
/// need not wait long for a sleeping worker.
const READS_PER_SECOND: u64 = 100;

/// The smallest limit of one read: a page. Smaller reads would read each page from the disk several times.
const MIN_READ: u64 = 4096;

/// A sleep is interrupted this often to check whether the limit was lifted.
const NAP: Duration = Duration::from_millis(50);

static LIMIT: OnceLock<Limit> = OnceLock::new();

struct Limit {
    bucket: Bucket,
    start: Instant,
    is_lifted: AtomicBool,
}

/// Limits the bytes that all threads of this process together read per second. Call this once, before the
/// first read. Later calls have no effect.
///
/// # Panics
/// If the limit is 0.
pub fn limit_rate(bytes_per_second: u64) {
    assert!(bytes_per_second > 0, "nothing could be read");
    LIMIT.get_or_init(|| Limit {
        bucket: Bucket { rate: bytes_per_second, next: AtomicU64::new(0) },
        start: Instant::now(),
        is_lifted: AtomicBool::new(false),
    });
}

/// Writes all bytes at an offset. They count for the [limit](limit_rate) together with what is read.
///
/// # Errors
/// If not all can be written.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let (mut left, mut offset) = (bytes, offset);
    while !left.is_empty() {
        let (part, others) = left.split_at(most(left.len()));
        wait_for(part.len() as u64);
        file.write_all_at(part, offset)?;
        (left, offset) = (others, offset + part.len() as u64);
    }
    Ok(())
}

/// Removes the limit and wakes all reads that wait for it: the process is about to end.
pub fn lift_rate_limit() {
    if let Some(limit) = LIMIT.get() {
        limit.is_lifted.store(true, Relaxed);
    }
}

/// Whether reads may have to wait.
pub fn is_rate_limited() -> bool {
    limit().is_some()
}

/// Whether a read may have asked for fewer bytes than its caller, now or earlier, or have waited after the file
/// was opened.
pub(crate) fn may_have_limited() -> bool {
    LIMIT.get().is_some()
}

fn limit() -> Option<&'static Limit> {
    LIMIT.get().filter(|limit| !limit.is_lifted.load(Relaxed))
}

/// Returns how many of `len` bytes one read may ask for.
pub(crate) fn most(len: usize) -> usize {
    match limit() {
        None => len,
        Some(limit) => len.min(usize::try_from(limit.bucket.most()).unwrap_or(len)),
    }
}

/// Waits until `bytes` bytes may be read. They may be 0: files such as those of procfs are larger than their
/// size.
pub(crate) fn wait_for(bytes: u64) {
    let Some(limit) = limit() else { return };
    let due = limit.start + limit.bucket.reserve(bytes, limit.start.elapsed());
    while !limit.is_lifted.load(Relaxed) {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        sleep(left.min(NAP));
    }
}

/// Corrects a reservation: `expected` bytes were reserved, and `got` bytes were read.
pub(crate) fn settle(expected: u64, got: u64) {
    if let Some(limit) = limit().filter(|_| expected != got) {
        limit.bucket.settle(expected, got);
    }
}

/// A token bucket. Its unit is the byte: the time at which a byte may be read is its number divided by the
/// rate. So sums are exact, however small the reads are.
#[derive(Debug)]
struct Bucket {
    /// Bytes per second.
    rate: u64,
    /// The number of the next byte.
    next: AtomicU64,
}

impl Bucket {
    /// Returns the most bytes that one read may ask for.
    fn most(&self) -> u64 {
        (self.rate / READS_PER_SECOND).max(MIN_READ)
    }

    /// Reserves `bytes` bytes, and returns when they may be read. `now` is the current time. Both times count
    /// from the start.
    ///
    /// Time in which nothing was read is lost, except the last 100 ms: these bytes may be read at once.
    fn reserve(&self, bytes: u64, now: Duration) -> Duration {
        let earliest = self.bytes_until(now).saturating_sub(self.rate / 10);
        // Relaxed: the number is all that threads share.
        let add = |next: u64| Some(next.max(earliest).saturating_add(bytes));
        let next = self.next.fetch_update(Relaxed, Relaxed, add).expect("`add` is always `Some`");
        self.time_of(next.max(earliest))
    }

    fn settle(&self, expected: u64, got: u64) {
        let correct = |next: u64| Some(next.saturating_add(got).saturating_sub(expected));
        self.next.fetch_update(Relaxed, Relaxed, correct).expect("`correct` is always `Some`");
    }

    fn bytes_until(&self, time: Duration) -> u64 {
        let bytes = time.as_nanos().saturating_mul(u128::from(self.rate)) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    fn time_of(&self, byte: u64) -> Duration {
        let nanos = (u128::from(byte) * 1_000_000_000).div_ceil(u128::from(self.rate));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn bucket(rate: u64) -> Bucket {
        Bucket { rate, next: AtomicU64::new(0) }
    }

    #[test]
    fn a_busy_reader_gets_exactly_the_rate() {
        // Rates and sizes that are no multiples of each other.
        for (rate, len) in [(1, 1), (7, 3), (1000, 999), (1 << 20, 10_007), (3_000_000_007, 262_144)] {
            let (bucket, mut now, mut bytes) = (bucket(rate), Duration::ZERO, 0);
            while bytes < 100 * len {
                now = bucket.reserve(len, now).max(now);
                assert_eq!(now, bucket.time_of(bytes), "{rate} {len}");
                bytes += len;
            }
        }
    }

    #[test]
    fn unused_time_is_lost_but_for_a_tenth_of_a_second() {
        let bucket = bucket(1000);
        assert_eq!(bucket.reserve(1000, 5 * SECOND), SECOND * 49 / 10);
        assert_eq!(bucket.reserve(1000, 5 * SECOND), SECOND * 59 / 10);
        assert_eq!(bucket.reserve(1, 5 * SECOND), SECOND * 69 / 10);
    }

    #[test]
    fn bytes_that_were_not_read_are_given_back() {
        let bucket = bucket(1000);
        bucket.reserve(1000, Duration::ZERO);
        bucket.settle(1000, 10);
        assert_eq!(bucket.reserve(1000, Duration::ZERO), SECOND / 100);
        bucket.settle(1000, 3000);
        assert_eq!(bucket.reserve(1, Duration::ZERO), SECOND * 301 / 100);
    }

    #[test]
    fn threads_share_the_rate() {
        let bucket = bucket(1000);
        let last = thread::scope(|scope| {
            let reserve = || (0..1000).map(|_| bucket.reserve(3, Duration::ZERO)).max().unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(reserve)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap()
        });
        assert_eq!(last, bucket.time_of(8 * 1000 * 3 - 3));
    }

    #[test]
    fn one_read_is_short() {
        assert_eq!(bucket(1).most(), 4096);
        assert_eq!(bucket(1_000_000).most(), 10_000);
    }

    #[test]
    fn extreme_rates_do_not_overflow() {
        let bucket = bucket(u64::MAX);
        assert_eq!(
            bucket.reserve(1 << 40, Duration::from_secs(1 << 40)),
            bucket.time_of(u64::MAX - u64::MAX / 10)
        );
        let slow = super::tests::bucket(1);
        slow.reserve(u64::MAX, Duration::ZERO);
        assert!(slow.reserve(1, Duration::ZERO) > Duration::from_secs(100 << 20));
    }
}
