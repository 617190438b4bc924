//! The time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in nanoseconds since the Unix epoch; 0 for a clock that is set to a time before it.
pub fn now_ns() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}
