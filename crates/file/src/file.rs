//! One open regular file. A FIFO or device in its place cannot make the reader hang, and [`File::verify`]
//! decides whether its bytes can be trusted.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::page_cache::Pages;
use crate::stat::with_access_time;
use crate::{Birth, Cursor, Failure, Stat, Symlinks, limit, now_ns, page_cache};

/// If the mtime or ctime at the open is younger than this, the file is always checked by another `fstat`. Two
/// seconds is the coarsest time resolution of a file system in use (FAT), so a writer at work is always
/// noticed.
const RECENT_NS: i128 = 2_000_000_000;

/// Avoids the update of the access time on disk.
#[cfg(target_os = "linux")]
const NOATIME: OFlags = OFlags::NOATIME;
#[cfg(not(target_os = "linux"))]
const NOATIME: OFlags = OFlags::empty();

/// Whether to open files with `O_NOATIME`. The kernel refuses it on other users' files. The first refusal
/// clears this for the whole process, since a tree with one such file usually contains more.
static TRY_NOATIME: AtomicBool = AtomicBool::new(true);

/// An open regular file and its first `fstat`.
///
/// Threads can share it: any number of them can [`read_at`](File::read_at) different windows. When all are
/// done, one of them calls [`verify`](File::verify).
#[derive(Debug)]
pub struct File {
    fd: OwnedFd,
    stat: Stat,
    atime_ns: i128,
    is_recent: bool,
    pages: Option<Box<Pages>>,
}

impl File {
    /// Opens `name` in `dir` (or an absolute path) for reading. Does not block on a FIFO or a device, and
    /// does not acquire a controlling terminal.
    ///
    /// # Errors
    /// [`Failure::NotRegular`] if it is not a regular file, or a symbolic link that is not to be followed;
    /// [`Failure::Io`] if a system call fails.
    pub fn open(dir: impl AsFd, name: &CStr, symlinks: Symlinks) -> Result<Self, Failure> {
        Self::open_with(dir, name, symlinks, Birth::Unknown)
    }

    /// Like [`open`](Self::open), and determines whether the first `fstat` has the time of birth.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_with(dir: impl AsFd, name: &CStr, symlinks: Symlinks, birth: Birth) -> Result<Self, Failure> {
        let dir = dir.as_fd();
        let open = |flags| retry_on_intr(|| rustix::fs::openat(dir, name, flags, Mode::empty()));
        let flags = Self::open_flags(symlinks);
        let fd = match open(flags) {
            Err(Errno::PERM) if flags.intersects(NOATIME) => {
                open(flags - NOATIME).inspect(|_| TRY_NOATIME.store(false, Relaxed))
            }
            result => result,
        };
        Self::from_fd(fd.map_err(Failure::of_open)?, birth)
    }

    /// Returns the flags with which every file is opened.
    pub fn open_flags(symlinks: Symlinks) -> OFlags {
        let flags =
            OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | symlinks.open_flags();
        if TRY_NOATIME.load(Relaxed) { flags | NOATIME } else { flags }
    }

    /// Wraps a descriptor that was opened with [`open_flags`](Self::open_flags).
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn from_fd(fd: OwnedFd, birth: Birth) -> Result<Self, Failure> {
        let (stat, atime_ns) = with_access_time(&fd, birth).map_err(Failure::of_stat)?;
        if !stat.is_regular() {
            return Err(Failure::NotRegular);
        }
        let is_recent = stat.version().changed_ns() > now_ns() - RECENT_NS;
        let pages = Pages::of(fd.as_fd(), &stat);
        Ok(Self { fd, stat, atime_ns, is_recent, pages })
    }

    /// Returns the `fstat` taken when the file was opened.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Returns the time of the last access before the file was opened. It is not part of [`Stat`], because no
    /// table needs it and reading changes it.
    pub fn atime_ns(&self) -> i128 {
        self.atime_ns
    }

    /// Reads once from `offset` into `buf`, and returns how many bytes were read. Fewer bytes than requested
    /// do **not** mean the end of the file; 0 does.
    ///
    /// # Errors
    /// Any error of `pread` except an interruption, which is retried.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = self.wait_for(buf.len(), offset);
        let buf = &mut buf[..len];
        let got = match &self.pages {
            None => retry_on_intr(|| rustix::io::pread(&self.fd, &mut *buf, offset))?,
            Some(pages) => pages.read_at(self.fd.as_fd(), buf, offset)?,
        };
        self.settle(len, offset, got);
        Ok(got)
    }

    /// Like [`read_at`](File::read_at), but into uninitialized memory. As many bytes as are returned are
    /// initialized, from the first on.
    ///
    /// # Errors
    /// As for [`read_at`](File::read_at).
    pub fn read_into(&self, room: &mut [MaybeUninit<u8>], offset: u64) -> io::Result<usize> {
        let len = self.wait_for(room.len(), offset);
        let room = &mut room[..len];
        let got = match &self.pages {
            None => retry_on_intr(|| {
                rustix::io::pread(&self.fd, &mut *room, offset).map(|(bytes, _)| bytes.len())
            })?,
            Some(pages) => pages.read_into(self.fd.as_fd(), room, offset)?,
        };
        self.settle(len, offset, got);
        Ok(got)
    }

    /// Whether files may be read through mappings. Such reads are neither [limited](crate::limit_rate) nor do
    /// they [leave the page cache as it was](crate::preserve_page_cache).
    pub fn may_be_mapped() -> bool {
        !limit::is_rate_limited() && !page_cache::preserves_page_cache()
    }

    /// Announces that only pieces of the file will be read. If the page cache is to be
    /// [left as it was](crate::preserve_page_cache), the kernel then does not read ahead.
    pub fn expect_pieces(&self) {
        if let Some(pages) = &self.pages {
            pages.expect_pieces(self.fd.as_fd());
        }
    }

    /// Prepares a read of `len` bytes that the caller makes itself. Waits until the
    /// [rate limit](crate::limit_rate) permits it. Returns how many bytes to ask for, at most `len`, and the
    /// flags for `preadv2`. Call [`after_read`](File::after_read) when the read is complete.
    pub fn before_read(&self, len: usize, offset: u64) -> (usize, u32) {
        let len = self.wait_for(len, offset);
        (len, self.pages.as_ref().map_or(0, |pages| pages.flags(self.fd.as_fd(), offset, len)))
    }

    /// Counts a read that [`before_read`](File::before_read) prepared. `len` and `offset` are the same as
    /// there, and `got` is the number of bytes that were read.
    pub fn after_read(&self, len: usize, offset: u64, got: usize) {
        self.settle(limit::most(len), offset, got);
        if let Some(pages) = &self.pages {
            pages.count_read(self.fd.as_fd(), offset, got);
        }
    }

    /// Waits until the rate limit permits a read, and returns how many bytes it may ask for.
    fn wait_for(&self, len: usize, offset: u64) -> usize {
        let len = limit::most(len);
        limit::wait_for(self.expected(len, offset));
        len
    }

    fn settle(&self, len: usize, offset: u64, got: usize) {
        limit::settle(self.expected(len, offset), got as u64);
    }

    /// Returns how many bytes a read of `len` bytes is expected to return.
    fn expected(&self, len: usize, offset: u64) -> u64 {
        self.stat.size.saturating_sub(offset).min(len as u64)
    }

    /// Fills the buffer with the bytes from `offset` on. The file must have them.
    ///
    /// # Errors
    /// [`Failure::Io`] if a read fails; that of [`lost`](Self::lost) if the file ends before.
    pub fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<(), Failure> {
        let range = offset..offset.saturating_add(buf.len() as u64);
        if Cursor::in_range(self, range).fill(buf)? < buf.len() {
            return Err(self.lost(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(())
    }

    /// Returns why bytes before the file's end are missing: [`Failure::Changed`] if the file changed, and
    /// otherwise `source` as the error of a read.
    pub fn lost(&self, source: io::Error) -> Failure {
        self.verify_always(0).err().unwrap_or(Failure::of_read(source))
    }

    /// Checks that the file did not change while being read. `bytes` is the number of bytes that were read up
    /// to the end of the file, `reads` the number of calls.
    ///
    /// Calls `fstat` again only if at least one of these holds:
    ///
    /// - More than one read was needed.
    /// - `bytes` differs from the size at the open. This is always so if only pieces were read.
    /// - The content or the inode changed less than two seconds before the open.
    ///
    /// Two kinds of change go unnoticed. A file unmodified for two seconds can be rewritten in the
    /// microseconds between the first `fstat` and the only read. And a rewrite of equal size within one tick
    /// of the file system's clock leaves the times as they were.
    ///
    /// A file that did not change is accepted even if its reported size is wrong (procfs, sysfs).
    ///
    /// # Errors
    /// [`Failure::Changed`] if device, inode number, size, mtime or ctime differ; [`Failure::Io`] if `fstat`
    /// fails.
    pub fn verify(&self, bytes: u64, reads: u64) -> Result<(), Failure> {
        if reads <= 1 && bytes == self.stat.size && !self.is_recent {
            return Ok(());
        }
        self.verify_always(bytes)
    }

    /// Does the same as [`verify`](Self::verify), but always calls `fstat`. This is for files that several
    /// threads have read.
    ///
    /// # Errors
    /// Those of [`verify`](Self::verify).
    pub fn verify_always(&self, bytes: u64) -> Result<(), Failure> {
        let after = Stat::of(&self.fd).map_err(Failure::of_stat)?;
        if self.stat.is_same_content(&after) {
            return Ok(());
        }
        Err(Failure::Changed { before: Box::new(self.stat), after: Box::new(after), read: bytes })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if let Some(pages) = &self.pages {
            pages.finish(self.fd.as_fd());
        }
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;
    use crate::testing::file_of_100_bytes;

    #[test]
    fn verify_calls_fstat_only_if_a_change_could_show() {
        let (_dir, path, mut file) = file_of_100_bytes();
        assert!(file.is_recent, "the inode was created just now");
        fs::write(&path, [7; 101]).unwrap();
        let is_changed = |file: &File, bytes, reads| matches!(file.verify(bytes, reads), Err(Failure::Changed { read, .. }) if read == bytes);
        assert!(is_changed(&file, 100, 1));
        file.is_recent = false;
        assert!(!is_changed(&file, 100, 1), "this change is documented as unnoticed");
        assert!(is_changed(&file, 100, 2));
        assert!(is_changed(&file, 99, 1));
        assert!(is_changed(&file, 101, 1));
    }

    #[test]
    fn wrong_reported_sizes_are_accepted() {
        let (_dir, _path, file) = file_of_100_bytes();
        for bytes in [0, 99, 101] {
            file.verify(bytes, 2).unwrap();
        }
    }

    #[test]
    fn several_threads_can_read_windows() {
        let (_dir, _path, file) = file_of_100_bytes();
        let sum: u64 = thread::scope(|scope| {
            let window = |nth: u64| {
                let mut buf = [0; 25];
                assert_eq!(file.read_at(&mut buf, 25 * nth).unwrap(), 25);
                buf.iter().map(|&b| u64::from(b)).sum::<u64>()
            };
            let threads: Vec<_> = (0..4).map(|nth| scope.spawn(move || window(nth))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(sum, 700);
        file.verify(100, 4).unwrap();
        assert_eq!(file.read_at(&mut [0; 8], 100).unwrap(), 0, "the end");
        assert_eq!(file.stat().size, 100);
    }

    #[test]
    fn bytes_that_a_file_must_have_are_lost_or_the_file_has_changed() {
        let (_dir, path, file) = file_of_100_bytes();
        let mut buf = [0; 60];
        file.read_exact_at(&mut buf, 40).unwrap();
        assert_eq!(buf, [7; 60]);
        let missing = file.read_exact_at(&mut buf, 41);
        let eof = |source: &io::Error| source.kind() == io::ErrorKind::UnexpectedEof;
        assert!(matches!(&missing, Err(Failure::Io { op: "read", source }) if eof(source)), "{missing:?}");
        fs::File::options().write(true).open(path).unwrap().set_len(50).unwrap();
        let changed = file.read_exact_at(&mut buf, 40);
        assert!(matches!(changed, Err(Failure::Changed { .. })), "{changed:?}");
    }
}
