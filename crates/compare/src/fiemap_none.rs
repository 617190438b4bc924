//! Other systems than Linux do not say where the bytes of a file lie.

use std::os::fd::AsFd;

use rustix::io::{Errno, Result};

use crate::shared::Extent;

/// Extents of a file: not known.
pub(crate) fn extents(_: impl AsFd, _: u64, _: bool) -> Result<Vec<Extent>> {
    Err(Errno::NOSYS)
}

/// Whether places are counted apart: not known.
pub(crate) fn is_realtime(_: impl AsFd) -> Result<bool> {
    Err(Errno::NOSYS)
}
