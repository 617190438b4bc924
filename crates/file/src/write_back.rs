//! Writes modified pages back to the disk: to make later writes through a mapping visible in the times of a file, and to
//! keep the disk busy while a file is written.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "rustix has no sync_file_range"))]

use std::io;
use std::os::fd::AsFd;

use crate::File;

/// Starts to write modified pages back to the disk, from byte `start` on, `len` bytes, and does not wait for the end. The
/// last `fsync` of a large file then takes less time. This is only a hint: errors are ignored, and platforms other than
/// Linux do nothing.
pub fn begin_write_back(file: impl AsFd, start: u64, len: u64) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;

        let (fd, start, len) = (file.as_fd().as_raw_fd(), start.cast_signed(), len.cast_signed());
        // SAFETY: the call has no pointers, and the descriptor is open.
        unsafe { libc::sync_file_range(fd, start, len, libc::SYNC_FILE_RANGE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, start, len);
}

impl File {
    /// Writes modified pages of the file back to its disk. From then on, any write changes the times of the
    /// file.
    ///
    /// A program that writes through a shared mapping changes the times only with its first write to a page:
    /// the kernel then lets it write to this page without noticing, until the page has been written back. A
    /// digest of such a file could be followed by writes that `stat` does not show. So this must come before
    /// the first read of a file whose digest is remembered. For a file without modified pages it costs three
    /// short system calls.
    ///
    /// It first waits for a call of `write` in progress: such a call changes the times when it begins, and may
    /// then store bytes for seconds. A digest that was made meanwhile would stay valid afterwards.
    ///
    /// # Errors
    /// Any error of `lseek`, `fstatfs`, `sync_file_range` and `fdatasync`; [`io::ErrorKind::Unsupported`] on platforms
    /// other than Linux. The digest must not be remembered then.
    #[cfg(target_os = "linux")]
    pub fn write_back(&self) -> io::Result<()> {
        use std::os::fd::AsRawFd as _;

        use rustix::fs::{SeekFrom, fdatasync, fstatfs, seek};
        use rustix::io::Errno;

        use crate::clock::OVERLAYFS;

        // ext4 and Btrfs do this under the lock that a write holds (`ext4_llseek`, `btrfs_file_llseek`). On XFS, reads
        // wait for writes by themselves, but accesses to mapped files do not: such a file must not be mapped.
        match seek(self.as_fd(), SeekFrom::Data(0)) {
            Ok(_) | Err(Errno::NXIO) => {}
            Err(errno) => return Err(errno.into()),
        }
        // The pages belong to the file that the overlay shows. Only this call is passed on to it.
        if fstatfs(self)?.f_type as u32 == OVERLAYFS {
            return Ok(fdatasync(self)?);
        }
        // With all three flags, pages that are being written back are waited for, and no modified page is
        // skipped (`ksys_sync_file_range` in `fs/sync.c`). The length 0 means: up to the end.
        let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
            | libc::SYNC_FILE_RANGE_WRITE
            | libc::SYNC_FILE_RANGE_WAIT_AFTER;
        // SAFETY: the call has no pointers, and the descriptor is open.
        match unsafe { libc::sync_file_range(self.as_fd().as_raw_fd(), 0, 0, flags) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Returns an error: this platform has no such call.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`].
    #[cfg(not(target_os = "linux"))]
    pub fn write_back(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
