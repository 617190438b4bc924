//! How benches are run.

use std::env;
use std::time::Duration;

use criterion::Criterion;

/// Whether this run is for its times, and not for its answers only.
pub fn is_timed() -> bool {
    // As criterion decides it: `cargo bench` says `--bench` and `cargo test` does not.
    let has = |option: &str| env::args().any(|arg| arg == option);
    has("--bench") && !has("--test")
}

/// A second or so for each figure: there are hundreds of them. The options of criterion change it.
pub fn config() -> Criterion {
    Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
}
