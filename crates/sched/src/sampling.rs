//! The sample: a few jobs spread over the table, done and measured on the calling thread.

use std::time::{Duration, Instant};
use std::vec;

use crate::{Counters, Progress, Sample, Waits};

/// Runs of neighbouring jobs in a sample. A directory is reopened once for a whole run of its files, so a
/// single file would seem to cost twice as much.
const RUNS: u32 = 4;

/// Maximum duration of the sample. A cold disk delivers some 10 files in this time.
const TIME: Duration = Duration::from_millis(20);

/// A kind of file system, by what is known about the waits of a thread that reads its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A local one whose input is counted for the thread that reads; see [`Waits::since`].
    Counted,
    /// One that asks another machine or program, such as NFS or FUSE.
    Remote,
}

/// An iterator over the jobs of a sample that measures how long they take. It ends early if they take too
/// long.
#[derive(Debug)]
pub struct Sampling<'s, J> {
    jobs: vec::IntoIter<J>,
    /// The number of jobs.
    len: u32,
    half: usize,
    counters: &'s Counters,
    start: Mark,
    /// The moment when half of the jobs were handed out. Earlier jobs use code and buffers for the first
    /// time. This makes small files several times slower and says nothing about later files.
    warm: Option<Mark>,
}

impl<'s, J> Sampling<'s, J> {
    /// Starts a sample of at most `most` jobs, a multiple of 4. `jobs` must yield all `len` jobs of the table.
    /// The thread that does them must count them in `counters`.
    pub fn start(jobs: impl Iterator<Item = J>, len: u32, most: u32, counters: &'s Counters) -> Self {
        let jobs = pick(jobs, spread(len, most, RUNS)).into_iter();
        // Rounded up, so that a single job is measured even if the next one is requested only after it is done.
        let (len, half) = (jobs.len() as u32, jobs.len().div_ceil(2));
        Self { jobs, len, half, counters, start: Mark::now(counters), warm: None }
    }

    /// Returns whether the next job may begin now. It may not while others are in progress, unless those that are done
    /// were so fast that the whole sample fits into its time: slow jobs that begin together would take much longer. The
    /// second half begins when the first is done. Jobs are done when they are counted as finished or deferred.
    pub fn may_begin(&self) -> bool {
        let (start, now) = (self.start.done, self.counters.sum());
        let done = now.files + now.large_files - start.files - start.large_files;
        let is_fast = || self.start.time.elapsed() * self.len <= TIME * done as u32;
        let begun = self.len - self.jobs.len() as u32;
        done == u64::from(begun) || self.jobs.len() != self.half && done > 0 && is_fast()
    }

    /// Returns the measurements, which are those of the second half, or of all jobs if there was no time for the second
    /// half. Call this when the jobs are done. `are_on` returns whether all files are on this kind of file system.
    pub fn measured(self, mut are_on: impl FnMut(Storage) -> bool) -> Sample {
        let (start, end) = (self.start, Mark::now(self.counters));
        let warm = self.warm.filter(|warm| warm.done.files < end.done.files).unwrap_or(start);
        let (all, files) = (end.done.files - start.done.files, end.done.files - warm.done.files);
        let of_files = |whole: u64| whole * files / all.max(1);
        let mut sample = Sample {
            files: files as u32,
            bytes: end.done.bytes - warm.done.bytes,
            nanos: (end.time - warm.time).as_nanos() as u64,
            // Waits are counted over the whole sample and scaled down: half a sample has too few to detect a
            // disk.
            waits: of_files(end.waits.since(start.waits, || are_on(Storage::Counted))) as u32,
            remote_cpu: None,
        };
        if sample.is_cold() && are_on(Storage::Remote) {
            sample.remote_cpu = Some(of_files(end.waits.cpu_since(start.waits)));
        }
        sample
    }
}

impl<J> Iterator for Sampling<'_, J> {
    type Item = J;

    fn next(&mut self) -> Option<J> {
        if self.jobs.len() == self.half {
            self.warm.get_or_insert_with(|| Mark::now(self.counters));
        }
        if self.start.time.elapsed() > TIME { None } else { self.jobs.next() }
    }
}

/// The counters at one moment of the sample.
#[derive(Clone, Copy, Debug)]
struct Mark {
    time: Instant,
    waits: Waits,
    done: Progress,
}

impl Mark {
    fn now(counters: &Counters) -> Self {
        Self { time: Instant::now(), waits: Waits::now(), done: counters.sum() }
    }
}

/// Returns the jobs with these numbers, which must be in ascending order.
pub fn pick<J>(mut jobs: impl Iterator<Item = J>, wanted: impl IntoIterator<Item = u32>) -> Vec<J> {
    let mut next = 0;
    let job = |nth: u32| {
        let job = jobs.nth((nth - next) as usize);
        next = nth + 1;
        job.expect("a job with this number")
    };
    wanted.into_iter().map(job).collect()
}

/// Returns at most `most` of `jobs` jobs, in ascending order: all of a few jobs, otherwise `runs` runs of neighbours,
/// each in the middle of an equal part.
pub fn spread(jobs: u32, most: u32, runs: u32) -> impl Iterator<Item = u32> {
    let (runs, run) = if jobs < most { (1, jobs) } else { (runs, most / runs) };
    let start = move |nth: u32| {
        let part = |nth: u32| (u64::from(nth) * u64::from(jobs) / u64::from(runs)) as u32;
        part(nth) + (part(nth + 1) - part(nth) - run) / 2
    };
    (0..runs).flat_map(move |nth| start(nth)..start(nth) + run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_ascending_and_covers_all_parts() {
        for most in [16, 32] {
            for jobs in [0, 1, 7, 15, 16, 17, 31, 32, 33, 100, 1_000_003, u32::MAX] {
                let spread: Vec<_> = spread(jobs, most, RUNS).collect();
                assert_eq!(spread.len() as u32, jobs.min(most));
                assert!(spread.is_sorted_by(|a, b| a < b) && spread.iter().all(|&job| job < jobs));
            }
            let quarters: Vec<_> =
                spread(4000, most, RUNS).step_by(most as usize / 4).map(|row| row / 1000).collect();
            assert_eq!(quarters, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn the_second_half_is_measured() {
        for (jobs, files) in [(1, 1), (2, 1), (3, 2), (5, 3), (1000, 8)] {
            let counters = Counters::default();
            let mut sampling = Sampling::start(0..jobs, jobs, 16, &counters);
            for job in &mut sampling {
                counters.of(0).add_bytes(job as usize, false);
                counters.of(0).add_file(false);
            }
            let sample = sampling.measured(|_| true);
            assert_eq!(sample.files, files);
            let measured = if jobs == 1000 {
                (623..627).chain(873..877).sum()
            } else {
                (jobs - files..jobs).sum::<u32>()
            };
            assert_eq!(sample.bytes, u64::from(measured));
        }
    }

    /// Uses the time of a sample up.
    fn be_late(sampling: &Sampling<'_, u32>) {
        while sampling.start.time.elapsed() <= TIME {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn without_time_for_the_second_half_the_first_is_measured() {
        // 8 jobs are the first half.
        for before in [1, 7, 8] {
            let counters = Counters::default();
            let mut sampling = Sampling::start(0..1000, 1000, 16, &counters);
            // They begin together, and none ends in time.
            assert_eq!(sampling.by_ref().take(before).count(), before);
            be_late(&sampling);
            counters.of(0).add_bytes(7 * before, false);
            counters.of(0).add_files(before as u64);
            assert_eq!(sampling.next(), None);
            let start = sampling.start.time;
            let sample = sampling.measured(|_| false);
            assert_eq!((sample.files, sample.bytes), (before as u32, 7 * before as u64), "{before}");
            assert!(
                sample.nanos > TIME.as_nanos() as u64 && sample.nanos <= start.elapsed().as_nanos() as u64
            );
        }
    }

    #[test]
    fn slow_jobs_begin_one_at_a_time() {
        let counters = Counters::default();
        let mut sampling = Sampling::start(0..1000, 1000, 32, &counters);
        assert!(sampling.may_begin(), "the first one");
        sampling.next();
        assert!(!sampling.may_begin(), "nothing is known of the others");
        be_late(&sampling);
        assert!(!sampling.may_begin());
        counters.of(0).add_file(false);
        assert!(sampling.may_begin(), "nothing is in progress");
        // A job that is deferred is done for the sample.
        sampling.start.time = Instant::now();
        (0..2).for_each(|_| _ = sampling.next());
        counters.of(0).defer(1 << 30);
        sampling.start.time -= TIME / 32 * 2 + Duration::from_micros(100);
        assert!(!sampling.may_begin(), "33 jobs of this length take more than the time of a sample");
        sampling.start.time = Instant::now() + Duration::from_secs(1);
        assert!(sampling.may_begin(), "they are fast");
        assert_eq!(sampling.by_ref().take(13).count(), 13);
        assert!(!sampling.may_begin(), "the first half is not done");
        counters.of(0).add_files(13);
        assert!(!sampling.may_begin());
        counters.of(0).add_file(false);
        assert!(sampling.may_begin());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_time_of_a_remote_file_system_is_measured_if_it_waits() {
        let measured = |storage: Storage| {
            let counters = Counters::default();
            let mut sampling = Sampling::start(0..1000, 1000, 16, &counters);
            for _ in &mut sampling {
                std::thread::sleep(Duration::from_millis(1));
                counters.of(0).add_file(false);
            }
            sampling.measured(|asked| asked == storage)
        };
        let sample = measured(Storage::Remote);
        assert!(sample.is_cold() && sample.remote_cpu.is_some_and(|cpu| cpu < sample.nanos), "{sample:?}");
        assert_eq!(measured(Storage::Counted).remote_cpu, None);
    }

    #[test]
    fn picked_jobs_have_the_wanted_numbers() {
        assert_eq!(pick(0..10, [0, 1, 4, 9]), [0, 1, 4, 9]);
        assert!(pick(0..10, []).is_empty());
    }
}
