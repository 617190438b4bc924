//! A random sample of the files.

use std::hash::{BuildHasher as _, RandomState};

/// A random sample of all paths. Each new sample differs, but one sample always decides the same for the same
/// path.
#[derive(Clone, Debug)]
pub struct Sample {
    seed: RandomState,
    /// The sample contains the paths whose hash is smaller; 2^64 matches all.
    below: u128,
}

impl Sample {
    /// Creates a sample of `percent` of the paths, clamped to 0 and 100.
    pub fn new(percent: f64) -> Self {
        let below = percent.clamp(0.0, 100.0) / 100.0 * (1_u128 << 64) as f64;
        Self { seed: RandomState::new(), below: below as u128 }
    }

    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        u128::from(self.seed.hash_one(path)) < self.below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(sample: &Sample) -> Vec<u32> {
        (0..10_000_u32).filter(|n| sample.matches(&n.to_le_bytes())).collect()
    }

    #[test]
    fn a_sample_has_about_the_requested_share() {
        assert_eq!(sampled(&Sample::new(0.0)).len(), 0);
        assert_eq!(sampled(&Sample::new(100.0)).len(), 10_000);
        assert_eq!(sampled(&Sample::new(f64::NAN)).len(), 0);
        let sample = Sample::new(10.0);
        let first = sampled(&sample);
        // Ten standard deviations to either side.
        assert!((700..1_300).contains(&first.len()), "{}", first.len());
        assert_eq!(sampled(&sample), first);
        assert_ne!(sampled(&Sample::new(10.0)), first);
    }
}
