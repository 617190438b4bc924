//! Whether the times of a file are so recent that a later write may not have changed them.

use crate::Stat;

impl Stat {
    /// Whether the file may have been written again after `read_ns`, the time at which a run began to read
    /// it, without a visible change of its times. Nanoseconds since the epoch.
    ///
    /// Without this margin, a digest of the earlier content would be valid for the later one: two writes
    /// within one tick of the file system's clock have the same times.
    pub fn is_recent(&self, read_ns: i128) -> bool {
        self.version().changed_ns() >= read_ns.saturating_sub(tick_ns(self.ctime_ns))
    }
}

/// The greatest delay of a file system's time stamps compared with the clock.
///
/// The kernel's stamps come from its timer, which ticks at least every 10 ms; this allows two ticks. A stamp
/// of whole seconds comes from a file system with coarse stamps; the coarsest in use (FAT) counts every other
/// second.
fn tick_ns(stamp_ns: i128) -> i128 {
    const SECOND: i128 = 1_000_000_000;
    if stamp_ns % SECOND == 0 { 2 * SECOND } else { SECOND / 50 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: i128 = 1_763_713_800_500_000_000;

    fn is_recent(mtime_ns: i128, ctime_ns: i128) -> bool {
        Stat { mtime_ns, ctime_ns, ..Stat::EMPTY }.is_recent(READ)
    }

    #[test]
    fn times_are_recent_up_to_two_ticks_before_the_read() {
        assert!(!is_recent(READ - 30_000_000, READ - 30_000_001));
        for (mtime_ns, ctime_ns) in [
            (READ, READ - 30_000_000),
            (READ - 30_000_000, READ),
            (READ - 10_000_000, READ - 10_000_000),
            (READ + 1, READ - 1_500_000_000),
        ] {
            assert!(is_recent(mtime_ns, ctime_ns), "{mtime_ns} {ctime_ns}");
        }
    }

    #[test]
    fn a_list_may_record_any_start() {
        assert!(Stat::EMPTY.is_recent(i128::MIN) && !Stat::EMPTY.is_recent(i128::MAX));
    }

    #[test]
    fn stamps_of_whole_seconds_may_be_two_seconds_old() {
        assert!(is_recent(READ - 1_500_000_000, READ - 1_500_000_000));
        assert!(!is_recent(READ - 2_500_000_000, READ - 2_500_000_000));
    }
}
