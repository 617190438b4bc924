//! File systems that need care, by their numbers in `linux/magic.h`.

use std::io;

use ftk_file::File;

/// `FUSE_SUPER_MAGIC`.
pub(crate) const FUSE: u32 = 0x6573_5546;

/// `TMPFS_MAGIC`.
pub(crate) const TMPFS: u32 = 0x0102_1994;

/// Returns the number of the file system that holds the file.
pub(crate) fn magic(file: &File) -> io::Result<u32> {
    Ok(rustix::fs::fstatfs(file)?.f_type as u32)
}
