//! Leaves the page cache as it was: pages that were loaded by this process are dropped, pages that were
//! cached before stay.
//!
//! There are two methods. The kernel drops pages after a read with `RWF_DONTCACHE` itself, and knows which
//! were cached before. Where it or the file system lacks this flag, `mincore` tells which pages are cached
//! before the first read, and `posix_fadvise` drops the others after the reads. `mincore` is better than the
//! newer `cachestat`: every kernel has it, and `cachestat` on an overlay reports that nothing is cached.
//!
//! Read-ahead loads pages that no read returns if a file is not read to its end. They cannot be dropped while
//! they are being loaded. So it is switched off where it may do that: for pieces of a file, and for the first
//! read of a file, after which many files are closed again. `posix_fadvise` drops the rest at the end.
//!
//! The kernel pretends that all pages of a file are cached if the user neither owns nor may write it. Then
//! nothing is dropped.

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

#[cfg(target_os = "linux")]
use rustix::fs::Advice;
use rustix::io::Errno;

use crate::Stat;
use crate::drop_method::{DropMethod, method};
use crate::uncached::Uncached;

/// `RWF_DONTCACHE` of `linux/fs.h`.
pub(crate) const DONTCACHE: u32 = 0x80;

/// The offset that stands for the position of the file.
const AT_POSITION: u64 = u64::MAX;

/// While a file is read, pages are dropped in steps of this many bytes. They limit the memory that one
/// file occupies.
const STEP: u64 = 8 << 20;

/// The type of [`PageCacheCalls::read`]: file, buffer, offset and flags.
pub type ReadCall =
    for<'r> fn(BorrowedFd<'_>, &'r mut [MaybeUninit<u8>], u64, u32) -> io::Result<&'r mut [u8]>;

/// The system calls that this module needs and that require unsafe code. `ftk-read` supplies them.
#[derive(Clone, Copy, Debug)]
pub struct PageCacheCalls {
    /// Calls `preadv2` with an offset and flags, and returns the bytes it has written to the beginning of the
    /// buffer. They are a slice, so that only code that has initialized them can return them.
    pub read: ReadCall,
    /// Returns the ranges of a file of this size of which no page is cached, in ascending order. Returns no
    /// ranges if that is unknown.
    pub uncached: fn(BorrowedFd<'_>, u64) -> Vec<Range<u64>>,
    /// Returns how many pages of a range are cached or being loaded; 0 if that is unknown.
    pub present: fn(BorrowedFd<'_>, Range<u64>) -> u64,
}

/// How often to check whether pages that are being loaded can be dropped, and the time between.
const CHECKS: u32 = 50;
const CHECK_EVERY: Duration = Duration::from_millis(1);

static CALLS: OnceLock<PageCacheCalls> = OnceLock::new();

/// Makes every file that this process opens from now on leave the page cache as it was. Call this before the
/// first read.
pub fn preserve_page_cache(calls: PageCacheCalls) {
    CALLS.get_or_init(|| calls);
}

/// Whether the process leaves the page cache as it was.
pub(crate) fn preserves_page_cache() -> bool {
    CALLS.get().is_some()
}

/// Drops the pages of a file that this process has created and synced.
pub fn drop_pages_of_new_file(file: BorrowedFd<'_>) {
    if preserves_page_cache() {
        drop_pages(file, 0..u64::MAX);
    }
}

/// The pages of one open file.
#[derive(Debug)]
pub(crate) struct Pages {
    calls: PageCacheCalls,
    /// Whether the kernel drops pages after each read.
    dont_cache: AtomicBool,
    /// The ranges that were not cached before the first read.
    uncached: OnceLock<Uncached>,
    /// The state of read-ahead, one of the constants below.
    read_ahead: AtomicU8,
    /// Where the last read ended.
    next: AtomicU64,
    identity: (u64, u64),
    size: u64,
}

/// Read-ahead is as the kernel's default has it. No read was made yet, or one read of the whole file.
const UNTOUCHED: u8 = 0;
/// Off until a read starts where the last one ended.
const OFF: u8 = 1;
/// On.
const ON: u8 = 2;
/// Off for good.
const NEVER: u8 = 3;
/// Off for good, but it was on before.
const NO_LONGER: u8 = 4;

impl Pages {
    /// Prepares for the reading of a file. `None` if the process does not care about the page cache.
    pub(crate) fn of(file: BorrowedFd<'_>, stat: &Stat) -> Option<Box<Self>> {
        let calls = *CALLS.get()?;
        let dont_cache = method(calls, file, stat) == DropMethod::DontCache;
        Some(Box::new(Self::with(calls, dont_cache, stat)))
    }

    fn with(calls: PageCacheCalls, dont_cache: bool, stat: &Stat) -> Self {
        let (identity, size) = (stat.identity(), stat.size);
        Self {
            calls,
            dont_cache: AtomicBool::new(dont_cache),
            uncached: OnceLock::new(),
            read_ahead: AtomicU8::new(UNTOUCHED),
            next: AtomicU64::new(0),
            identity,
            size,
        }
    }

    /// Switches read-ahead off, because only pieces of the file are read.
    pub(crate) fn expect_pieces(&self, file: BorrowedFd<'_>) {
        let to = match self.read_ahead.load(Relaxed) {
            NEVER | NO_LONGER => return,
            ON => NO_LONGER,
            _ => NEVER,
        };
        self.read_ahead.store(to, Relaxed);
        advise(file, 0..u64::MAX, Advice::Random);
    }

    /// Returns the flags for `preadv2` of a read of `len` bytes from `offset`. This may call `mincore`
    /// first.
    pub(crate) fn flags(&self, file: BorrowedFd<'_>, offset: u64, len: usize) -> u32 {
        let dont_cache = self.dont_cache.load(Relaxed);
        let is_only_read = offset == 0 && len as u64 >= self.size;
        if !(dont_cache && is_only_read) {
            let look_up = || (self.calls.uncached)(file, self.size);
            self.uncached.get_or_init(|| Uncached::of(self.identity, look_up));
            self.switch_read_ahead(file, offset);
        }
        if dont_cache { DONTCACHE } else { 0 }
    }

    fn switch_read_ahead(&self, file: BorrowedFd<'_>, offset: u64) {
        let (to, advice) = match self.read_ahead.load(Relaxed) {
            UNTOUCHED => (OFF, Advice::Random),
            OFF if offset > 0 && offset == self.next.load(Relaxed) => (ON, Advice::Normal),
            _ => return,
        };
        self.read_ahead.store(to, Relaxed);
        advise(file, 0..u64::MAX, advice);
    }

    /// Reads once into `room`. As many bytes as are returned are initialized, from the first on.
    ///
    /// # Panics
    /// If [`PageCacheCalls::read`] returns other memory.
    pub(crate) fn read_into(
        &self,
        file: BorrowedFd<'_>,
        room: &mut [MaybeUninit<u8>],
        offset: u64,
    ) -> io::Result<usize> {
        let (start, len) = (room.as_ptr().cast(), room.len());
        self.read(file, offset, len, |flags| {
            let written = (self.calls.read)(file, room, offset, flags)?;
            let is_of_room = written.is_empty() || ptr::eq(written.as_ptr(), start) && written.len() <= len;
            assert!(is_of_room, "a read returned other memory than it was given");
            Ok(written.len())
        })
    }

    /// Reads once into `buf`.
    pub(crate) fn read_at(&self, file: BorrowedFd<'_>, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read(file, offset, buf.len(), |flags| preadv2(file, buf, offset, flags))
    }

    /// Reads once into `buf` at the position of the file, which is `offset`.
    pub(crate) fn read_next(&self, file: BorrowedFd<'_>, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.read(file, offset, buf.len(), |flags| preadv2(file, buf, AT_POSITION, flags))
    }

    fn read(
        &self,
        file: BorrowedFd<'_>,
        offset: u64,
        len: usize,
        mut read: impl FnMut(u32) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let flags = self.flags(file, offset, len);
        let got = match read(flags) {
            // A file may differ from others of its file system, such as one with direct access (DAX).
            Err(error) if flags == DONTCACHE && is_refusal(&error) => {
                self.dont_cache.store(false, Relaxed);
                read(self.flags(file, offset, len))
            }
            result => result,
        }?;
        self.count_read(file, offset, got);
        Ok(got)
    }

    /// Drops pages some MiB before the end of a read, every few MiB.
    pub(crate) fn count_read(&self, file: BorrowedFd<'_>, offset: u64, got: usize) {
        self.next.store(offset + got as u64, Relaxed);
        let end = (offset + got as u64) / STEP * STEP;
        if end > offset && !self.dont_cache.load(Relaxed) {
            // Not the last step, because other threads may still be reading there.
            self.drop_uncached(file, end.saturating_sub(2 * STEP)..end.saturating_sub(STEP));
        }
    }

    /// Drops all pages that were loaded since the first read.
    pub(crate) fn finish(&self, file: BorrowedFd<'_>) {
        self.drop_uncached(file, 0..u64::MAX);
        let next = self.next.load(Relaxed);
        match self.read_ahead.load(Relaxed) {
            ON if next < self.size => self.drop_read_ahead(file, next),
            NO_LONGER => self.drop_read_ahead(file, 0),
            _ => {}
        }
    }

    /// Drops the pages that read-ahead is loading. The kernel keeps them as long as they are being loaded.
    fn drop_read_ahead(&self, file: BorrowedFd<'_>, from: u64) {
        let Some(uncached) = self.uncached.get() else { return };
        for _ in 0..CHECKS {
            let present = |range| (self.calls.present)(file, range);
            if uncached.within(from..u64::MAX).map(present).all(|pages| pages == 0) {
                return;
            }
            sleep(CHECK_EVERY);
            self.drop_uncached(file, from..u64::MAX);
        }
    }

    fn drop_uncached(&self, file: BorrowedFd<'_>, within: Range<u64>) {
        if let Some(uncached) = self.uncached.get() {
            uncached.within(within).for_each(|range| drop_pages(file, range));
        }
    }
}

/// Advises the kernel to drop the pages of a range. It keeps those that are dirty or in use.
fn drop_pages(file: BorrowedFd<'_>, range: Range<u64>) {
    advise(file, range, Advice::DontNeed);
}

/// Calls `posix_fadvise`. A failure harms nothing: pages stay in the cache.
#[cfg(target_os = "linux")]
fn advise(file: BorrowedFd<'_>, range: Range<u64>, advice: Advice) {
    let len = range.end.min(i64::MAX as u64).saturating_sub(range.start);
    let _ = rustix::fs::fadvise(file, range.start, std::num::NonZero::new(len), advice);
}

/// Other systems set no [`PageCacheCalls`], so that nothing calls this.
#[cfg(not(target_os = "linux"))]
fn advise(_: BorrowedFd<'_>, _: Range<u64>, _: Advice) {}

#[cfg(not(target_os = "linux"))]
enum Advice {
    DontNeed,
    Normal,
    Random,
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS))
}

#[cfg(target_os = "linux")]
fn preadv2(file: BorrowedFd<'_>, buf: &mut [u8], offset: u64, flags: u32) -> io::Result<usize> {
    let flags = rustix::io::ReadWriteFlags::from_bits_retain(flags);
    let mut read = || rustix::io::preadv2(file, &mut [io::IoSliceMut::new(buf)], offset, flags);
    Ok(rustix::io::retry_on_intr(&mut read)?)
}

/// Never called, because nothing sets the calls on this platform.
#[cfg(not(target_os = "linux"))]
fn preadv2(file: BorrowedFd<'_>, buf: &mut [u8], offset: u64, _: u32) -> io::Result<usize> {
    Ok(rustix::io::pread(file, buf, offset)?)
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of ranges")]
mod tests {
    use std::os::fd::AsFd as _;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::testing::file_of_100_bytes;

    fn no_read<'r>(
        _: BorrowedFd<'_>,
        _: &'r mut [MaybeUninit<u8>],
        _: u64,
        _: u32,
    ) -> io::Result<&'r mut [u8]> {
        unreachable!("only `read_at` is tested")
    }

    #[test]
    fn cached_pages_are_looked_up_before_the_first_read_unless_it_reads_the_whole_file() {
        static LOOKUPS: AtomicU32 = AtomicU32::new(0);
        let uncached = |_: BorrowedFd<'_>, size| {
            LOOKUPS.fetch_add(1, Relaxed);
            vec![0..size]
        };
        let calls = PageCacheCalls { read: no_read, uncached, present: |_, _| 0 };
        let (_dir, _path, file) = file_of_100_bytes();
        let lookups = |dont_cache, len| {
            let pages = Pages::with(calls, dont_cache, file.stat());
            let before = LOOKUPS.load(Relaxed);
            let flags: Vec<_> = [0, 50].map(|at| pages.flags(file.as_fd(), at, len)).into();
            assert_eq!(flags, [if dont_cache { DONTCACHE } else { 0 }; 2]);
            LOOKUPS.load(Relaxed) - before
        };
        assert_eq!(lookups(true, 99), 1);
        assert_eq!(lookups(false, 100), 1);
        let pages = Pages::with(calls, true, file.stat());
        pages.flags(file.as_fd(), 0, 100);
        assert!(pages.uncached.get().is_none(), "one read of the whole file needs no lookup");
    }

    #[test]
    fn a_file_without_the_flag_is_read_without_it() {
        let uncached = |_: BorrowedFd<'_>, size| vec![0..size];
        let calls = PageCacheCalls { read: no_read, uncached, present: |_, _| 0 };
        let (_dir, _path, file) = file_of_100_bytes();
        let pages = Pages::with(calls, true, file.stat());
        let mut flags = Vec::new();
        let refuse = |with| {
            flags.push(with);
            if with == 0 { Ok(100) } else { Err(Errno::OPNOTSUPP.into()) }
        };
        assert_eq!(pages.read(file.as_fd(), 0, 100, refuse).unwrap(), 100);
        assert_eq!(flags, [DONTCACHE, 0]);
        assert!(pages.uncached.get().is_some(), "the lookup came before the second read");
        assert_eq!(pages.flags(file.as_fd(), 0, 100), 0);
        let failure = pages.read(file.as_fd(), 0, 100, |_| Err(Errno::OPNOTSUPP.into())).unwrap_err();
        assert_eq!(Errno::from_io_error(&failure), Some(Errno::OPNOTSUPP), "no endless retries");
    }

    #[test]
    fn only_initialized_bytes_of_the_buffer_count_as_read() {
        let (_dir, _path, file) = file_of_100_bytes();
        let read = |read: ReadCall| {
            let calls = PageCacheCalls { read, uncached: |_, _| Vec::new(), present: |_, _| 0 };
            let pages = Pages::with(calls, true, file.stat());
            pages.read_into(file.as_fd(), &mut [MaybeUninit::uninit(); 8], 0).unwrap()
        };
        assert_eq!(read(|file, room, offset, _| Ok(rustix::io::pread(file, &mut room[..3], offset)?.0)), 3);
        assert_eq!(read(|_, _, _, _| Ok(&mut [])), 0);
        let elsewhere: [ReadCall; 2] = [
            |_, _, _, _| Ok(Box::leak(Box::new([7; 3]))),
            |file, room, offset, _| Ok(rustix::io::pread(file, &mut room[1..], offset)?.0),
        ];
        for call in elsewhere {
            let wrong = catch_unwind(AssertUnwindSafe(|| read(call)));
            assert!(wrong.is_err(), "{wrong:?} bytes are not those of the buffer");
        }
    }

    #[test]
    fn read_ahead_begins_with_the_second_read_in_a_row() {
        let calls = PageCacheCalls { read: no_read, uncached: |_, _| Vec::new(), present: |_, _| 0 };
        let (_dir, _path, file) = file_of_100_bytes();
        let pages = Pages::with(calls, true, file.stat());
        let state = |offset, len| {
            pages.flags(file.as_fd(), offset, len);
            pages.count_read(file.as_fd(), offset, len);
            pages.read_ahead.load(Relaxed)
        };
        assert_eq!(state(0, 10), OFF);
        assert_eq!(state(20, 10), OFF, "not where the last read ended");
        assert_eq!(state(30, 10), ON);
        pages.expect_pieces(file.as_fd());
        assert_eq!(state(40, 10), NO_LONGER);
    }
}
