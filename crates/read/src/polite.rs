//! Makes the process yield to others: the lowest priority, the idle I/O class, and a page cache that stays as
//! it was.
#![expect(unsafe_code, reason = "the kernel receives pointers")]

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;
use std::slice;

#[cfg(not(target_env = "gnu"))]
use libc::preadv2;
#[cfg(target_env = "gnu")]
use libc::preadv64v2 as preadv2; // the other one has offsets of 32 bits on such CPUs

use ftk_file::{PageCacheCalls, preserve_page_cache};
use rustix::mm::{MapFlags, ProtFlags};

/// The lowest priority of a process (`setpriority`).
const LOWEST_PRIORITY: i32 = 19;

/// The idle class without a level: `IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)` of `linux/ioprio.h`.
const IDLE: libc::c_int = 3 << 13;

/// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`.
const WHO_PROCESS: libc::c_int = 1;

/// Bytes of a file that are mapped at once to look up its cached pages.
const WINDOW: u64 = 256 << 20;

/// The most ranges that are remembered for one file. With more, some pages stay in the cache that could be
/// dropped.
const MAX_RANGES: u64 = 1 << 15;

/// Gives the calling thread, and all threads that it starts, the lowest priority and the idle I/O class.
/// Makes all reads leave the page cache as it was. Call this before the process starts threads.
///
/// # Errors
/// If the kernel refuses the priority or the class. Everything else is in effect.
pub fn be_polite() -> io::Result<()> {
    preserve_page_cache(PageCacheCalls { read, uncached, present });
    let priority = rustix::process::setpriority_process(None, LOWEST_PRIORITY);
    // SAFETY: the call takes no pointers.
    let class = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, IDLE) };
    if class != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(priority?)
}

fn read<'r>(
    file: BorrowedFd<'_>,
    room: &'r mut [MaybeUninit<u8>],
    offset: u64,
    flags: u32,
) -> io::Result<&'r mut [u8]> {
    let part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    loop {
        // SAFETY: the kernel writes only to the memory that `part` describes, which is borrowed mutably.
        let got = unsafe {
            preadv2(file.as_raw_fd(), &raw const part, 1, offset.cast_signed(), flags.cast_signed())
        };
        match usize::try_from(got) {
            Ok(got) => {
                let room = &mut room[..got];
                // SAFETY: the kernel has written all these bytes, and their memory is borrowed mutably for `'r`.
                return Ok(unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) });
            }
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
}

/// Returns the ranges of a file of which no page is cached. If a part of the file cannot be looked up, it
/// belongs to no range.
fn uncached(file: BorrowedFd<'_>, size: u64) -> Vec<Range<u64>> {
    let page = rustix::param::page_size() as u64;
    // The usual answer for a cached file, several times faster. Where `cachestat` does not tell, it is 0.
    if present(file, 0..size) >= size.div_ceil(page) {
        return Vec::new();
    }
    // Blocks of this size are either dropped as a whole or kept. They are pages unless the file is huge.
    let block = size.div_ceil(2 * MAX_RANGES).max(1).next_multiple_of(page);
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let window = WINDOW.next_multiple_of(block);
    for start in (0..size).step_by(window as usize) {
        let Ok(cached) = cached_pages(file, start..size.min(start + window)) else { continue };
        for (nth, pages) in cached.chunks((block / page) as usize).enumerate() {
            if pages.iter().any(|page| page & 1 != 0) {
                continue;
            }
            let from = start + nth as u64 * block;
            match ranges.last_mut() {
                Some(last) if last.end == from => last.end += block,
                _ => ranges.push(from..from + block),
            }
        }
    }
    ranges
}

/// Returns how many pages of a range are cached or being loaded, by `cachestat`: `mincore` does not show pages
/// that are being loaded. Returns 0 if the kernel does not tell.
fn present(file: BorrowedFd<'_>, range: Range<u64>) -> u64 {
    /// The same number on all architectures.
    const SYS_CACHESTAT: libc::c_long = 451;
    let range = [range.start, range.end.min(i64::MAX as u64).saturating_sub(range.start)];
    let mut counts = [0_u64; 5];
    // SAFETY: the kernel reads a `struct cachestat_range` of two `__u64` and writes a `struct cachestat` of five,
    // of which the first is the number of cached pages.
    let result =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range.as_ptr(), counts.as_mut_ptr(), 0) };
    if result == 0 { counts[0] } else { 0 }
}

/// Returns a byte for every page of a part of a file, whose lowest bit is set if the page is cached.
fn cached_pages(file: BorrowedFd<'_>, part: Range<u64>) -> io::Result<Vec<u8>> {
    let len = usize::try_from(part.end - part.start).map_err(io::Error::other)?;
    let mut cached = vec![1; len.div_ceil(rustix::param::page_size())];
    // SAFETY: without `MAP_FIXED`, the kernel picks an unused address range.
    let start = unsafe {
        rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::PRIVATE, file, part.start)
    }?;
    // SAFETY: the range is exactly the mapping, and the vector has a byte for each of its pages.
    let looked_up = match unsafe { libc::mincore(start, len, cached.as_mut_ptr()) } {
        0 => Ok(cached),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: mapped above, never accessed, and the address was not passed to any other code.
    let _ = unsafe { rustix::mm::munmap(start, len) };
    looked_up
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "these are lists of ranges")]
mod tests {
    use std::fs::{self, File};
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileExt as _;

    use rustix::fs::{Advice, fadvise};

    use super::*;

    const PAGE: u64 = 64 << 10; // a multiple of every page size in use

    /// A synced file of 8 pages that is not cached. `None` if its file system keeps it in memory.
    fn uncached_file() -> Option<(tempfile::TempDir, File)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![7; 8 * PAGE as usize]).unwrap();
        let file = File::open(path).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        let is_uncached = uncached(file.as_fd(), 8 * PAGE) == [0..8 * PAGE];
        is_uncached.then_some((dir, file))
    }

    #[test]
    fn ranges_without_cached_pages_are_found() {
        let Some((_dir, file)) = uncached_file() else { return };
        fadvise(&file, 0, None, Advice::Random).unwrap(); // no read-ahead
        file.read_at(&mut [0], 2 * PAGE).unwrap();
        file.read_at(&mut [0], 8 * PAGE - 1).unwrap();
        let page = rustix::param::page_size() as u64;
        let expected = [0..2 * PAGE, 2 * PAGE + page..8 * PAGE - page];
        assert_eq!(uncached(file.as_fd(), 8 * PAGE), expected);
        assert_eq!(present(file.as_fd(), 0..2 * PAGE), 0);
        let is_known = present(file.as_fd(), 0..u64::MAX) == 2;
        assert!(is_known || present(file.as_fd(), 0..u64::MAX) == 0, "an old kernel does not know");
    }

    #[test]
    fn a_file_that_cannot_be_mapped_has_no_uncached_ranges() {
        let file = File::open("/proc/self/limits").unwrap();
        assert_eq!(uncached(file.as_fd(), 8 * PAGE), []);
        assert_eq!(uncached(file.as_fd(), 0), []);
    }

    #[test]
    fn reads_return_the_bytes_at_the_offset() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "0123456789").unwrap();
        let file = File::open(dir.path().join("file")).unwrap();
        let mut room = [MaybeUninit::uninit(); 8];
        assert_eq!(read(file.as_fd(), &mut room, 4, 0).unwrap(), b"456789");
        assert!(read(file.as_fd(), &mut room, 0, 1 << 31).is_err(), "an unknown flag");
    }
}
