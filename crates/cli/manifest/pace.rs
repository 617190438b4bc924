//! How much a scrub reads before it looks at the clock again.

use std::time::Duration;

/// The manifest is written after this time. Together with the batch that is being read, this is less than a minute,
/// even if that batch takes several times as long as was estimated.
pub(super) const SAVE_EVERY: Duration = Duration::from_secs(40);

/// The estimated duration of a batch. A longer batch costs less, but may take much longer than estimated: files that
/// are not cached are read at a hundredth of the speed.
const STEP: Duration = Duration::from_secs(2);

/// The weight of the first batch, in bytes: a few seconds on a slow disk.
const FIRST: u64 = 32 << 20;

/// Estimates how much can be read in a time. Weights are in bytes.
#[derive(Debug)]
pub(super) struct Pace {
    /// The weight per second of the last batch.
    per_s: Option<f64>,
    /// The rate that was set as a limit.
    limit: Option<u64>,
}

impl Pace {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { per_s: None, limit }
    }

    /// Returns the weight of the next batch. `left`: the time that is left, if it is limited.
    pub(super) fn weight(&self, left: Option<Duration>) -> u64 {
        let step = left.map_or(STEP, |left| left.min(STEP)).as_secs_f64();
        let limit = self.limit.map_or(f64::INFINITY, |limit| limit as f64 * step);
        let weight = match self.per_s {
            Some(per_s) => per_s * step,
            None if step == 0.0 => 0.0,
            None => FIRST as f64,
        };
        weight.min(limit) as u64
    }

    /// Notes the weight of a batch and the time that it took.
    pub(super) fn note(&mut self, weight: u64, took: Duration) {
        self.per_s = Some(weight as f64 / took.as_secs_f64().max(1e-6));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_take_as_long_as_is_left() {
        let mut pace = Pace::new(None);
        assert_eq!(pace.weight(None), FIRST);
        assert_eq!(pace.weight(Some(Duration::ZERO)), 0);
        pace.note(1000, Duration::from_secs(2));
        assert_eq!(pace.weight(None), 1000);
        assert_eq!(pace.weight(Some(Duration::from_secs(1))), 500);
        assert_eq!(pace.weight(Some(Duration::from_secs(300))), 1000);
        pace.note(u64::MAX, Duration::ZERO);
        assert_eq!(pace.weight(None), u64::MAX);
        assert_eq!(Pace::new(Some(100)).weight(None), 200);
    }
}
