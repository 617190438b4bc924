//! One regular file, opened so that nothing on a path can make the reader hang, and the one place that says
//! whether its bytes can be trusted.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use crate::{Failure, Stat};

/// A file whose times are younger than this when it is opened is asked twice. Two seconds is the coarsest
/// time stamp of a file system in use (FAT), so that a writer at work is always noticed.
const YOUNG: Duration = Duration::from_secs(2);

/// Spares the disk the write of an access time.
#[cfg(target_os = "linux")]
const NOATIME: OFlags = OFlags::NOATIME;
#[cfg(not(target_os = "linux"))]
const NOATIME: OFlags = OFlags::empty();

/// Whether `O_NOATIME` is still tried: it is refused on files of other people, and where one is there are
/// mostly more, so the first refusal ends it for the whole process.
static TRY_NOATIME: AtomicBool = AtomicBool::new(true);

/// An open regular file and what `fstat` said of it first.
///
/// May be shared: any number of threads can [`read_at`](File::read_at) windows of their own. One of them
/// calls [`verify`](File::verify) when all are done.
#[derive(Debug)]
pub struct File {
    fd: OwnedFd,
    stat: Stat,
    is_young: bool,
}

impl File {
    /// Opens `name` in `dir` (or an absolute path) for reading, without blocking on a FIFO or a device and
    /// without taking a terminal. A symbolic link as last component is followed only if `follow` says so.
    ///
    /// # Errors
    /// [`Failure::NotRegular`] for whatever is not a regular file, a symbolic link not followed included;
    /// [`Failure::Io`] when a system call fails.
    pub fn open(dir: impl AsFd, name: &CStr, follow: bool) -> Result<Self, Failure> {
        let dir = dir.as_fd();
        let open = |flags| retry_on_intr(|| rustix::fs::openat(dir, name, flags, Mode::empty()));
        let flags = open_flags(follow);
        let fd = match open(flags) {
            Err(Errno::PERM) if flags.intersects(NOATIME) => {
                open(flags - NOATIME).inspect(|_| TRY_NOATIME.store(false, Relaxed))
            }
            result => result,
        };
        Self::from_fd(fd.map_err(open_failure)?)
    }

    /// Takes a descriptor opened with [`open_flags`].
    pub(crate) fn from_fd(fd: OwnedFd) -> Result<Self, Failure> {
        let stat = Stat::of(&fd).map_err(stat_failure)?;
        if !stat.is_regular() {
            return Err(Failure::NotRegular);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let young_from = now.saturating_sub(YOUNG).as_nanos() as i128;
        let is_young = stat.mtime_ns.max(stat.ctime_ns) > young_from;
        Ok(Self { fd, stat, is_young })
    }

    /// What `fstat` said when the file was opened.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Reads from `offset` into `buf` once, and says how many bytes came. Fewer than asked is **not** the end
    /// of the file; 0 is.
    ///
    /// # Errors
    /// Any error of `pread` but an interruption, which is tried again.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::pread(&self.fd, &mut *buf, offset))?)
    }

    /// The same, into memory that holds nothing yet: its first bytes, as many as came, are then written.
    pub(crate) fn read_into(&self, room: &mut [MaybeUninit<u8>], offset: u64) -> io::Result<usize> {
        let read = || rustix::io::pread(&self.fd, &mut *room, offset).map(|(bytes, _)| bytes.len());
        Ok(retry_on_intr(read)?)
    }

    /// Whether the bytes that were read are those of one state of the file; `bytes` is how many came in
    /// `reads` calls up to the end of the file.
    ///
    /// The file is asked again only where that can tell something: when more than one read was needed, when
    /// `bytes` is not the size it had, or when its content or inode changed less than two seconds before it
    /// was opened. What remains open is a file untouched for two seconds, read whole by one call, and
    /// rewritten in the microseconds between the first `fstat` and that call; and a change of equal length
    /// within one tick of the file system's clock. A file whose size never was its length but which did not
    /// change (procfs, sysfs) is accepted. One of which only pieces were read is always asked again, since their
    /// bytes are fewer than it has.
    ///
    /// # Errors
    /// [`Failure::Changed`] when identity, size, or time of content or inode differ; [`Failure::Io`] when
    /// asking fails.
    pub fn verify(&self, bytes: u64, reads: u64) -> Result<(), Failure> {
        if reads <= 1 && bytes == self.stat.size && !self.is_young {
            return Ok(());
        }
        let after = Stat::of(&self.fd).map_err(stat_failure)?;
        if self.stat.is_same_content(&after) {
            return Ok(());
        }
        Err(Failure::Changed { before: Box::new(self.stat), after: Box::new(after), read: bytes })
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// How every file is opened.
pub(crate) fn open_flags(follow: bool) -> OFlags {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    if TRY_NOATIME.load(Relaxed) {
        flags |= NOATIME;
    }
    flags
}

/// `ELOOP` is a symbolic link that was not to be followed (or a circle of them), `ENXIO` a socket or a device
/// without a driver: no regular file gives either.
pub(crate) fn open_failure(errno: Errno) -> Failure {
    match errno {
        Errno::LOOP | Errno::NXIO => Failure::NotRegular,
        errno => Failure::Io { op: "open", source: errno.into() },
    }
}

fn stat_failure(errno: Errno) -> Failure {
    Failure::Io { op: "stat", source: errno.into() }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::thread;

    use rustix::fs::CWD;

    use super::*;

    /// A file of 100 bytes, opened; and its directory and path.
    fn hundred() -> (tempfile::TempDir, std::path::PathBuf, File) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, [7; 100]).unwrap();
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        let file = File::open(CWD, &name, false).unwrap();
        (dir, path, file)
    }

    #[test]
    fn asked_again_only_where_it_can_tell_something() {
        let (_dir, path, mut file) = hundred();
        assert!(file.is_young, "its inode was made just now");
        fs::write(&path, [7; 101]).unwrap();
        let is_changed = |file: &File, bytes, reads| matches!(file.verify(bytes, reads), Err(Failure::Changed { read, .. }) if read == bytes);
        assert!(is_changed(&file, 100, 1));
        file.is_young = false;
        assert!(!is_changed(&file, 100, 1), "the window that is left open");
        assert!(is_changed(&file, 100, 2));
        assert!(is_changed(&file, 99, 1));
        assert!(is_changed(&file, 101, 1));
    }

    #[test]
    fn a_size_that_never_was_the_length_is_accepted() {
        let (_dir, _path, file) = hundred();
        for bytes in [0, 99, 101] {
            file.verify(bytes, 2).unwrap();
        }
    }

    #[test]
    fn windows_read_by_several_threads() {
        let (_dir, _path, file) = hundred();
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
}
