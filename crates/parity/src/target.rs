//! The file that is written.

use std::fs;
use std::io;

/// A parity file that is written.
pub trait Target {
    /// Writes bytes at an offset. The file grows if it is shorter. For a [`File`](fs::File), within the
    /// [limit](ftk_file::limit_rate) of the process.
    ///
    /// # Errors
    /// If not all can be written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Cuts or extends the file to this length in bytes.
    ///
    /// # Errors
    /// If it cannot get this length.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Waits until all that was written is on the disk. Nothing that is written later is there before.
    ///
    /// # Errors
    /// If that is not known.
    fn sync(&self) -> io::Result<()>;
}

impl Target for fs::File {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        ftk_file::write_all_at(self, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}
