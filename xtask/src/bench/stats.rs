//! Median and spread of a few runs.

/// Five statistics of the runs of a command, in the unit of the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) min: f64,
    /// The first quartile.
    pub(crate) low: f64,
    pub(crate) median: f64,
    /// The third quartile.
    pub(crate) high: f64,
    pub(crate) max: f64,
}

impl Summary {
    /// Computes the statistics; `None` if there are no runs.
    pub(crate) fn of(runs: &[f64]) -> Option<Self> {
        let mut sorted = runs.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            min: *sorted.first()?,
            low: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            high: quantile(&sorted, 0.75),
            max: *sorted.last()?,
        })
    }

    /// Whether the ranges between the quartiles do not overlap.
    pub(crate) fn is_apart(&self, other: &Self) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// Returns the quantile `q` of `sorted`, interpolated between neighbours.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = sorted[at.floor() as usize];
    let above = sorted[at.ceil() as usize];
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter() {
        let summary = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(summary, Summary { min: 1.0, low: 2.0, median: 3.0, high: 4.0, max: 5.0 });
    }

    #[test]
    fn values_between_runs_are_interpolated() {
        let summary = Summary::of(&[1.0, 2.0]).unwrap();
        assert_eq!((summary.low, summary.median, summary.high), (1.25, 1.5, 1.75));
        assert_eq!(Summary::of(&[7.0]).unwrap().median, 7.0);
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn one_slow_run_does_not_separate_summaries() {
        let calm = Summary::of(&[10.0, 10.0, 11.0, 11.0, 12.0]).unwrap();
        let spiky = Summary::of(&[10.0, 11.0, 11.0, 12.0, 90.0]).unwrap();
        let slower = Summary::of(&[20.0, 20.0, 21.0, 22.0, 10.0]).unwrap();
        assert!(!calm.is_apart(&spiky));
        assert!(calm.is_apart(&slower) && slower.is_apart(&calm));
    }
}
