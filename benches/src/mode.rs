//! How benches are run.

use std::env;
use std::time::Duration;

use criterion::Criterion;

/// Returns whether this run is for times, and not only for results.
pub fn is_timed() -> bool {
    // The rule of criterion: `cargo bench` passes `--bench`, and `cargo test` does not.
    let has = |option: &str| env::args().any(|arg| arg == option);
    has("--bench") && !has("--test")
}

/// Returns a configuration with about one second for each figure, since there are hundreds. Criterion's
/// options change it.
pub fn config() -> Criterion {
    Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
}
