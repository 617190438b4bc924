//! Other systems than Linux do not say where the bytes of a file lie.

use std::io;
use std::os::fd::AsFd;

use crate::Extent;

/// Extents of a file: not known.
pub fn extents(_: impl AsFd, _: u64, _: bool) -> io::Result<Vec<Extent>> {
    Err(rustix::io::Errno::NOSYS.into())
}

/// Whether places are counted alike: not known.
pub fn share_a_disk(_: impl AsFd, _: impl AsFd) -> bool {
    false
}
