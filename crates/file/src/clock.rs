//! The clock of a file system, which is not always that of this host.

use std::io;
use std::os::fd::AsFd;

/// The number of overlayfs in `linux/magic.h`.
#[cfg(target_os = "linux")]
pub(crate) const OVERLAYFS: u32 = 0x794c_7630;

/// File systems that stamp files with the clock of this host, by their numbers in `linux/magic.h`.
///
/// All others are asked. overlayfs must not be: it copies a directory before it creates a file in it.
#[cfg(target_os = "linux")]
const LOCAL: [u32; 5] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x0102_1994, // tmpfs
    OVERLAYFS,
];

/// Whether the file system may stamp files with another clock than that of this host, as file servers do.
#[cfg(target_os = "linux")]
pub fn has_own_clock(file: impl AsFd) -> bool {
    !rustix::fs::fstatfs(file).is_ok_and(|fs| LOCAL.contains(&(fs.f_type as u32)))
}

/// Whether the file system may stamp files with another clock than that of this host. Unknown on this platform, so
/// always true.
#[cfg(not(target_os = "linux"))]
pub fn has_own_clock(_: impl AsFd) -> bool {
    true
}

/// Returns the time on the clock of a file system: the ctime of an unnamed file that is created in `dir` and vanishes
/// again. The directory and its times stay as they are. Nanoseconds since the epoch.
///
/// # Errors
/// If no file may be created there, or the file system has no unnamed files, as NFS.
#[cfg(target_os = "linux")]
pub fn clock_ns(dir: impl AsFd) -> io::Result<i128> {
    use rustix::fs::{Mode, OFlags, openat};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(dir, ".", flags, Mode::from_raw_mode(0o600))?;
    Ok(crate::Stat::of(&file)?.ctime_ns)
}

/// Unnamed files do not exist on this platform.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn clock_ns(_: impl AsFd) -> io::Result<i128> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::{Stat, now_ns};

    #[test]
    fn asking_for_the_time_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let open = File::open(dir.path()).unwrap();
        let before = Stat::of(&open).unwrap();
        let first_ns = now_ns();
        let clock_ns = clock_ns(&open).unwrap();
        // A stamp may be a tick older than the clock.
        assert!((first_ns - 20_000_000..=now_ns()).contains(&clock_ns), "{clock_ns}");
        assert_eq!(Stat::of(&open).unwrap(), before);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_file_systems_that_invent_their_times_have_their_own_clock() {
        assert!(has_own_clock(File::open("/proc").unwrap()), "procfs is not in the list");
        let tmpfs = File::open("/dev/shm").unwrap();
        assert_eq!(has_own_clock(&tmpfs), !crate::is_trusted(&tmpfs));
    }
}
