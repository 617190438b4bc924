//! Rate of a run, and the time left.

use std::time::Duration;

use ftk_process::Progress;

/// Measures a run over a known number of files. The size of each file is unknown until it is opened.
#[derive(Debug)]
pub(crate) struct Meter {
    files: u64,
    /// When the run ends in any case.
    until: Option<Duration>,
    at: Duration,
    done: Progress,
    files_per_s: f64,
    bytes_per_s: f64,
    fraction: f64,
}

/// Time constant of the rates, in seconds: progress made this long ago has about a third (1/e) of the weight
/// of the current progress.
const MEMORY: f64 = 5.0;

impl Meter {
    /// Returns a meter for a run over this many files.
    pub(crate) fn new(files: u64) -> Self {
        let done = Progress::default();
        let at = Duration::ZERO;
        Self { files, until: None, at, done, files_per_s: 0.0, bytes_per_s: 0.0, fraction: 0.0 }
    }

    /// Sets a time after which the run ends, even if files are left.
    pub(crate) fn until(self, limit: Option<Duration>) -> Self {
        Self { until: limit, ..self }
    }

    /// Records the progress of the run, `at` this time after its start.
    pub(crate) fn update(&mut self, at: Duration, done: Progress) {
        let seconds = at.saturating_sub(self.at).as_secs_f64();
        if seconds > 0.0 {
            // The first measurement has no older one to be averaged with.
            let weight = if self.at.is_zero() { 1.0 } else { seconds / (seconds + MEMORY) };
            let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
            self.files_per_s += weight * (rate(done.files, self.done.files) - self.files_per_s);
            self.bytes_per_s += weight * (rate(done.bytes, self.done.bytes) - self.bytes_per_s);
        }
        (self.at, self.done) = (at, done);
        if let Some(eta) = self.eta() {
            let (past, left) = (at.as_secs_f64(), eta.as_secs_f64());
            // The bar must not go back when a large file is found.
            self.fraction = self.fraction.max(past / (past + left).max(f64::MIN_POSITIVE));
        }
    }

    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    pub(crate) fn done(&self) -> Progress {
        self.done
    }

    pub(crate) fn bytes_per_s(&self) -> u64 {
        self.bytes_per_s as u64
    }

    /// Returns the number of files that have not been opened, whose sizes are unknown.
    fn unseen(&self) -> u64 {
        self.files.saturating_sub(self.done.files + self.done.large_files)
    }

    /// Returns the bytes of all files, once every file has been opened.
    pub(crate) fn bytes_total(&self) -> Option<u64> {
        (self.unseen() == 0).then(|| self.done.bytes + self.done.large_bytes)
    }

    /// Returns the time left. Unopened files are counted at the recent rate of files, large files at the
    /// recent rate of bytes. `None` before anything is done.
    pub(crate) fn eta(&self) -> Option<Duration> {
        let part = |left: u64, per_s: f64| if left == 0 { 0.0 } else { left as f64 / per_s };
        let seconds = part(self.unseen(), self.files_per_s) + part(self.done.large_bytes, self.bytes_per_s);
        let eta = Duration::try_from_secs_f64(seconds).ok();
        match self.until.map(|until| until.saturating_sub(self.at)) {
            Some(left) => Some(eta.map_or(left, |eta| eta.min(left))),
            None => eta,
        }
    }

    /// Returns the estimated part of the run that is done, from 0 to 1. It never decreases.
    pub(crate) fn fraction(&self) -> f64 {
        self.fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(files: u64, bytes: u64, large_files: u64, large_bytes: u64) -> Progress {
        Progress { files, bytes, large_files, large_bytes }
    }

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn small_files_are_estimated_by_number() {
        let mut meter = Meter::new(1000);
        assert_eq!((meter.eta(), meter.bytes_total()), (None, None));
        meter.update(seconds(2), done(250, 5000, 0, 0));
        assert_eq!(meter.eta(), Some(seconds(6)));
        assert_eq!(meter.bytes_per_s(), 2500);
        assert!((meter.fraction() - 0.25).abs() < 1e-9);
        assert_eq!(meter.bytes_total(), None);
    }

    #[test]
    fn large_files_are_estimated_by_bytes() {
        let mut meter = Meter::new(10);
        meter.update(seconds(1), done(8, 1000, 2, 4000));
        assert_eq!(meter.eta(), Some(seconds(4)));
        assert_eq!(meter.bytes_total(), Some(5000));
        meter.update(seconds(2), done(8, 2000, 2, 3000));
        assert_eq!((meter.eta(), meter.bytes_total()), (Some(seconds(3)), Some(5000)));
        meter.update(seconds(5), done(10, 5000, 0, 0));
        assert_eq!((meter.eta(), meter.fraction()), (Some(seconds(0)), 1.0));
    }

    #[test]
    fn a_time_limit_ends_the_run() {
        let mut meter = Meter::new(1000).until(Some(seconds(5)));
        assert_eq!(meter.eta(), Some(seconds(5)));
        meter.update(seconds(2), done(10, 5000, 0, 0));
        assert_eq!(meter.eta(), Some(seconds(3)));
        assert!((meter.fraction() - 0.4).abs() < 1e-9);
        meter.update(seconds(4), done(999, 5000, 0, 0));
        assert!(meter.eta().unwrap() < seconds(1));
        meter.update(seconds(7), done(999, 5000, 1, 1 << 40));
        assert_eq!(meter.eta(), Some(seconds(0)));
    }

    #[test]
    fn the_bar_does_not_go_back() {
        let mut meter = Meter::new(100);
        meter.update(seconds(1), done(50, 100, 0, 0));
        let before = meter.fraction();
        meter.update(seconds(2), done(60, 110, 1, 1 << 40));
        assert!(meter.fraction() >= before && meter.eta() > Some(seconds(1000)));
    }

    #[test]
    fn a_run_without_progress_has_no_time_left() {
        let mut meter = Meter::new(3);
        meter.update(seconds(1), done(0, 0, 0, 0));
        assert_eq!((meter.eta(), meter.fraction()), (None, 0.0));
    }
}
