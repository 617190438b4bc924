//! A file and the version of its content.

use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

use crate::{Stat, now_ns};

/// The age from which an unchanged file is regarded as written, in nanoseconds. The kernel writes data back after 30
/// seconds (`dirty_expire_centisecs`), or after ten minutes on a laptop that lets its disk sleep.
pub(crate) const WRITTEN_BACK_NS: i128 = 3_600_000_000_000;

/// The longest time, in hundredths of a second, after which a kernel may begin to write data back for
/// [`WRITTEN_BACK_NS`] to be long enough: half of it.
const MAX_DELAY: u64 = 180_000;

/// Whether this kernel writes data back in time. It can be told to do so later, or only on request.
fn writes_back() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let read = |name| std::fs::read_to_string(format!("/proc/sys/vm/{name}"));
        !cfg!(target_os = "linux")
            || is_in_time(
                read("dirty_writeback_centisecs").unwrap_or_default().trim(),
                read("dirty_expire_centisecs").unwrap_or_default().trim(),
            )
    })
}

/// Whether data is written back in time with these settings: the time between two searches for old data, where 0 stands
/// for never, and the age from which data is old.
fn is_in_time(interval: &str, age: &str) -> bool {
    match (interval.parse::<u64>(), age.parse::<u64>()) {
        (Ok(interval @ 1..), Ok(age)) => interval.saturating_add(age) <= MAX_DELAY,
        _ => false,
    }
}

/// Returns how long this system has been running, in nanoseconds, without the time in which it was suspended.
fn up_ns() -> i128 {
    let up = clock_gettime(ClockId::Monotonic);
    i128::from(up.tv_sec) * 1_000_000_000 + i128::from(up.tv_nsec)
}

/// Whether a change at `changed_ns` is old enough to be on the disk. The clock may have been set forward when the system
/// started, which makes new changes look old. So no change is old on a system that started less than an hour ago.
fn is_old(changed_ns: i128, now_ns: i128, up_ns: i128) -> bool {
    changed_ns < now_ns - WRITTEN_BACK_NS && up_ns > WRITTEN_BACK_NS
}

/// A file and the version of its content. Times are nanoseconds since the Unix epoch, negative before it.
///
/// Equal versions are the same file with the same content, as far as `stat` can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Device of the file system that holds the inode.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change to the content.
    pub mtime_ns: i128,
    /// Time of the last change to the inode.
    pub ctime_ns: i128,
}

impl Version {
    /// Returns the device and the inode number. Equal numbers mean one file only on
    /// [trusted](crate::is_trusted) file systems.
    pub fn identity(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// Returns the time of the last change to the content or the inode.
    pub fn changed_ns(&self) -> i128 {
        self.mtime_ns.max(self.ctime_ns)
    }

    /// Returns whether the last change is so old that the kernel has written all of the content to the disk. If the
    /// kernel was told not to do so in time, or the system started less than an hour ago, no change is.
    pub fn is_written_back(&self) -> bool {
        is_old(self.changed_ns(), now_ns(), up_ns()) && writes_back()
    }

    /// Returns whether `stat` describes this version, of which a program has kept only the first 53 bits of each
    /// number.
    pub fn is_rounded(&self, stat: &Stat) -> bool {
        let Self { dev, ino, size, mtime_ns, ctime_ns } = stat.version();
        let is_like = |recorded: i128, now: i128| recorded as f64 == now as f64;
        *self != stat.version()
            && self.size == size
            && is_like(self.dev.into(), dev.into())
            && is_like(self.ino.into(), ino.into())
            && is_like(self.mtime_ns, mtime_ns)
            && is_like(self.ctime_ns, ctime_ns)
    }

    /// Returns whether `stat` describes this version, whatever its ctime: links that are added or removed
    /// change that.
    pub fn is_same_except_ctime(&self, stat: &Stat) -> bool {
        *self == Self { ctime_ns: self.ctime_ns, ..stat.version() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_numbers_are_told_from_others() {
        let stat = Stat::at(rustix::fs::CWD, ".", crate::Symlinks::Follow).unwrap();
        let (mtime_ns, ctime_ns) = (1_795_733_891_440_869_331, 1_795_733_891_445_854_571);
        let now = Stat { ino: (1 << 60) + 77, mtime_ns, ctime_ns, ..stat };
        let exact = now.version();
        // As jq 1.6 writes them, and as a number of JavaScript.
        let jq = Version { ino: 1_152_921_504_606_847_000, mtime_ns: 1_795_733_891_440_869_400, ..exact };
        let (mtime_ns, ctime_ns) = (1_795_733_891_440_869_376, 1_795_733_891_445_854_464);
        let double = Version { ino: 1 << 60, mtime_ns, ctime_ns, ..exact };
        assert!(jq.is_rounded(&now) && double.is_rounded(&now));
        for other in [
            exact,
            Version { mtime_ns: exact.mtime_ns + 1000, ..exact },
            Version { ino: exact.ino + 1000, ..double },
            Version { ctime_ns: 0, ..double },
            Version { size: exact.size + 1, ..double },
            Version { dev: exact.dev + 1, ..double },
        ] {
            assert!(!other.is_rounded(&now), "{other:?}");
        }
    }

    #[test]
    fn old_changes_are_on_the_disk_only_if_the_kernel_writes_them_back() {
        for (interval, age, is_so) in [
            ("500", "3000", true),
            ("60000", "60000", true),
            ("0", "3000", false),
            ("500", "360000", false),
            ("500", "18446744073709551615", false),
            ("", "", false),
        ] {
            assert_eq!(is_in_time(interval, age), is_so, "{interval} {age}");
        }
    }

    #[test]
    fn no_change_is_old_on_a_system_that_started_recently() {
        const W: i128 = WRITTEN_BACK_NS;
        for (changed, now, up, is_so) in [
            (0, 9 * W, 2 * W, true),
            (0, W + 1, W + 1, true),
            (0, W, 2 * W, false),
            (9 * W, 0, 2 * W, false),
            (0, 9 * W, W, false),
            (0, 9 * W, 0, false),
        ] {
            assert_eq!(is_old(changed, now, up), is_so, "{changed} {now} {up}");
        }
        let (before, after) = (up_ns(), up_ns());
        assert!(0 < before && before <= after);
        assert!(!Version { mtime_ns: now_ns(), ..Version::default() }.is_written_back());
        let old = Version::default();
        assert_eq!(old.is_written_back(), up_ns() > W && writes_back());
    }

    #[test]
    fn only_the_five_fields_of_a_version_count() {
        let stat = Stat { dev: 1, ino: 2, size: 3, mtime_ns: 4, ctime_ns: 5, ..Stat::EMPTY };
        let version = stat.version();
        assert_eq!(version, Version { dev: 1, ino: 2, size: 3, mtime_ns: 4, ctime_ns: 5 });
        assert_eq!(version.identity(), stat.identity());
        let compare = |now: Stat| (stat.is_same_content(&now), version.is_same_except_ctime(&now));
        for same in [stat, Stat { mode: 1, uid: 1, gid: 1, rdev: 1, nlink: 1, blocks: 1, ..stat }] {
            assert_eq!(compare(same), (true, true));
        }
        assert_eq!(compare(Stat { ctime_ns: 6, ..stat }), (false, true));
        for other in [
            Stat { dev: 6, ..stat },
            Stat { ino: 6, ..stat },
            Stat { size: 6, ..stat },
            Stat { mtime_ns: 6, ..stat },
        ] {
            assert_eq!(compare(other), (false, false));
        }
    }
}
