//! Extents on platforms other than Linux, which do not report them.

use std::io;
use std::os::fd::AsFd;

use crate::Extent;

/// Fails: extents are unknown on this platform.
pub fn extents(_: impl AsFd, _: u64, _: bool) -> io::Result<Vec<Extent>> {
    Err(rustix::io::Errno::NOSYS.into())
}

/// Returns `false`: places on the disk are unknown on this platform.
pub fn share_a_disk(_: impl AsFd, _: impl AsFd) -> bool {
    false
}

/// Returns `false`: extents are unknown on this platform.
pub fn marks_shared_extents(_: impl AsFd) -> bool {
    false
}

/// Does nothing: extents are unknown on this platform, so none change.
///
/// # Errors
/// None here.
pub fn flush_file_system(_: impl AsFd) -> io::Result<()> {
    Ok(())
}

/// Returns `None`: extents are unknown on this platform.
///
/// # Errors
/// None here.
pub fn exclusive_bytes(_: impl AsFd) -> io::Result<Option<u64>> {
    Ok(None)
}
