//! Maps a window of a file, so that several threads can read its pages without a copy.
//!
//! A mapped page can vanish, because the file was truncated or its disk failed. Access to it normally ends
//! the process by `SIGBUS`. Here a signal handler, installed with the first mapping, replaces the missing
//! pages by zeros and marks the mapping. [`Map::check`] then returns an error.
#![expect(unsafe_code, reason = "mappings and signal handlers work with addresses")]

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use libc::{SA_ONSTACK, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, c_int, c_void, siginfo_t};
use rustix::mm::{MapFlags, ProtFlags};
#[cfg(target_os = "linux")]
use rustix::{fs::SeekFrom, mm::Advice};

use ftk_file::File;

use crate::guard::Guard;

/// The most mappings that can exist at once: enough for several per worker of a large machine.
const MAX_MAPPINGS: usize = 1024;

/// A window of a file, mapped for reading.
///
/// Writes by other processes show in the bytes. Only [`File::verify`] and [`Map::check`] together tell
/// whether the bytes can be trusted.
#[derive(Debug)]
pub struct Map {
    /// The beginning of the page in which the window begins, and the length of the mapping from there.
    start: NonNull<u8>,
    len: usize,
    /// Bytes before the window in its first page.
    before: usize,
    guard: &'static Guard,
}

// SAFETY: the mapping is read-only and belongs to the process, not to a thread (`mmap`), and the guard
// consists of atomics.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps the bytes `window` of the file. Asks the kernel to load and map all pages of the window now.
    /// Otherwise there would be a page fault for every few pages.
    ///
    /// # Errors
    /// If the window cannot be mapped. Some file systems do not support mappings. A window of a tmpfs file
    /// that contains a hole is refused, and so is every file on FUSE. At most 1024 mappings can exist at once.
    /// Nothing is mapped unless [`File::may_be_mapped`].
    ///
    /// # Panics
    /// If the window is empty.
    pub fn new(file: &File, window: Range<u64>) -> io::Result<Self> {
        assert!(!window.is_empty(), "an empty window cannot be mapped");
        if !File::may_be_mapped() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let before = window.start % rustix::param::page_size() as u64;
        let offset = window.start - before;
        let len = usize::try_from(window.end - offset).map_err(|_| io::ErrorKind::OutOfMemory)?;
        #[cfg(target_os = "linux")]
        if is_harmful(file, &window) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        install_handler()?;
        let (prot, flags) = (ProtFlags::READ, MapFlags::PRIVATE);
        // SAFETY: without `MAP_FIXED`, the kernel picks an unused address range.
        let start = unsafe { rustix::mm::mmap(ptr::null_mut(), len, prot, flags, file.as_fd(), offset) }?;
        let start = NonNull::new(start.cast::<u8>()).expect("the kernel maps nothing at address zero");
        let address = start.as_ptr() as usize;
        let Some(guard) = GUARDS.iter().find(|guard| guard.acquire(address, address + len)) else {
            // SAFETY: mapped above, and the address was not passed to any other code.
            let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), len) };
            return Err(io::Error::other("too many mappings at once"));
        };
        let map = Self { start, len, before: before as usize, guard };
        #[cfg(target_os = "linux")]
        // SAFETY: the range is exactly the mapping made above, and the call does not change its content. It
        // fails on old kernels and for missing pages; then pages are loaded one by one.
        let _ = unsafe { rustix::mm::madvise(map.start.as_ptr().cast(), len, Advice::LinuxPopulateRead) };
        Ok(map)
    }

    /// Returns the bytes, with zeros in the place of missing pages.
    ///
    /// # Safety
    /// Rust assumes that the bytes of a shared slice do not change. A file cannot guarantee that: another
    /// process may write to it or truncate it at any time. So pass the slice only to code that
    ///
    /// - treats the bytes as plain numbers: digests, comparisons, counts. No byte may be used as an index, a
    ///   length, text or anything else for which only some values are valid;
    /// - stays sound if it reads a byte twice and gets two values.
    ///
    /// This process must not write to the file while the slice is in use.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: `new` mapped `len` bytes from `start`, which stay mapped until the drop. They stay
        // readable, since the handler replaces missing pages. The caller accepts that bytes may change (see
        // above).
        let pages = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) };
        &pages[self.before..]
    }

    /// Checks that all bytes accessed so far were the file's.
    ///
    /// # Errors
    /// If a page was missing: the file is shorter now, or could not be read.
    pub fn check(&self) -> io::Result<()> {
        if self.guard.is_hit() {
            let what = "the file was truncated, or could not be read, while it was mapped";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        Ok(())
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // Before the unmapping: afterwards the addresses may belong to other code.
        self.guard.release();
        // SAFETY: mapped by `new` with this length. All slices that `bytes` returned borrow from the map, so
        // none is left.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Returns whether a mapping of the window would do harm.
///
/// - On tmpfs, access to a hole allocates memory for every page, until the file system is full. Plain reads
///   leave holes as they are. Other file systems map holes without harm, and searching for a hole there may
///   write out the file.
/// - On FUSE, a program with `direct_io` may return fewer bytes than the kernel asked for. A read shows this,
///   but a mapping has zeros or missing pages in their place.
#[cfg(target_os = "linux")]
fn is_harmful(file: &File, window: &Range<u64>) -> bool {
    use crate::file_system::{FUSE, TMPFS, magic};
    match magic(file) {
        Ok(FUSE) => true,
        Ok(TMPFS) => {
            rustix::fs::seek(file, SeekFrom::Hole(window.start)).map_or(true, |hole| hole < window.end)
        }
        _ => false,
    }
}

static GUARDS: [Guard; MAX_MAPPINGS] = [const {
    Guard { start: AtomicUsize::new(0), end: AtomicUsize::new(0), is_hit: AtomicBool::new(false) }
}; MAX_MAPPINGS];

/// Maps zeros from the page that contains `at` to the end of the guard's mapping, if `at` lies in it. Returns
/// whether it did. Runs in the signal handler: it uses only atomics and one system call.
fn fill(guard: &Guard, at: usize) -> bool {
    let Some(end) = guard.end_of(at) else { return false };
    let page = at & !(rustix::param::page_size() - 1);
    let at = ptr::with_exposed_provenance_mut(page);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED;
    // Before the zeros are mapped: another thread may read them at once and then call `check`.
    guard.hit();
    // SAFETY: `Guard::end_of` established that `page..end` lies in one mapping made by `Map::new`. That
    // mapping is still in use, since a thread is just accessing it.
    unsafe { rustix::mm::mmap_anonymous(at, end - page, ProtFlags::READ, flags) }.is_ok()
}

/// The action for `SIGBUS` that was installed before ours.
static PREVIOUS_ACTION: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once per process.
fn install_handler() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let install = || {
        let error = || io::Error::last_os_error().raw_os_error().unwrap_or_default();
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: the null pointer makes the call change nothing, and `before` is filled in when the call
        // succeeds.
        if unsafe { libc::sigaction(SIGBUS, ptr::null(), before.as_mut_ptr()) } != 0 {
            return Err(error());
        }
        // SAFETY: the call succeeded, so `before` is initialized. Set before the handler is installed, which
        // reads it.
        PREVIOUS_ACTION.get_or_init(|| unsafe { before.assume_init() });
        // SAFETY: all bytes zero is a valid action: the default one, with an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        // SAFETY: the handler has the signature that `SA_SIGINFO` requires, and calls only async-signal-safe
        // functions.
        if unsafe { libc::sigaction(SIGBUS, &raw const action, ptr::null_mut()) } != 0 {
            return Err(error());
        }
        Ok(())
    };
    INSTALLED.get_or_init(install).map_err(io::Error::from_raw_os_error)
}

/// Replaces missing pages of our mappings by zeros, so that the thread continues. Passes every other `SIGBUS`
/// to the previous action.
extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid pointer to a handler that was installed with `SA_SIGINFO`.
    let at = unsafe { (*info).si_addr() } as usize;
    if GUARDS.iter().any(|guard| fill(guard, at)) {
        return;
    }
    let Some(before) = PREVIOUS_ACTION.get() else { return };
    match before.sa_sigaction {
        SIG_DFL | SIG_IGN => {
            // SAFETY: restores the action that `sigaction` returned before. The access is repeated when this
            // returns, and then ends the process as it would have without this handler.
            unsafe { libc::sigaction(signal, &raw const *before, ptr::null_mut()) };
        }
        handler if before.sa_flags & SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            // SAFETY: `SA_SIGINFO` in the flags of the previous action means that the address is a function
            // of this type.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without `SA_SIGINFO` the address is a function of this type; the two special values are
            // handled above.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt as _;
    #[cfg(target_os = "linux")]
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};
    use std::path::Path;

    use ftk_file::Symlinks;
    use rustix::fs::CWD;

    use super::*;

    const PAGE: usize = 64 << 10; // a multiple of every page size in use

    fn open(path: &Path) -> File {
        File::open(CWD, &CString::new(path.as_os_str().as_bytes()).unwrap(), Symlinks::NoFollow).unwrap()
    }

    fn file(dir: &tempfile::TempDir, pages: usize) -> (std::path::PathBuf, File) {
        let path = dir.path().join("file");
        let bytes: Vec<_> = (0..pages * PAGE + 10).map(|i| (i / PAGE + 1) as u8).collect();
        std::fs::write(&path, bytes).unwrap();
        let file = open(&path);
        (path, file)
    }

    fn bytes(map: &Map) -> &[u8] {
        // SAFETY: the bytes are only compared. These tests truncate files but write no bytes into them.
        unsafe { map.bytes() }
    }

    #[test]
    fn bytes_match_the_window() {
        let dir = tempfile::tempdir().unwrap();
        let (_, file) = file(&dir, 3);
        let map = Map::new(&file, PAGE as u64..file.stat().size).unwrap();
        assert_eq!(bytes(&map).len(), 2 * PAGE + 10);
        assert!(bytes(&map)[..PAGE].iter().all(|&byte| byte == 2));
        assert_eq!(bytes(&map)[2 * PAGE..], [4; 10]);
        map.check().unwrap();
    }

    #[test]
    fn a_truncated_file_reads_as_zeros_and_fails_the_check() {
        let dir = tempfile::tempdir().unwrap();
        let (path, file) = file(&dir, 3);
        let (hit, other) = (Map::new(&file, 0..file.stat().size).unwrap(), Map::new(&file, 0..10).unwrap());
        std::fs::File::options().write(true).open(&path).unwrap().set_len(PAGE as u64).unwrap();
        assert!(bytes(&hit)[..PAGE].iter().all(|&byte| byte == 1));
        hit.check().expect("no missing page was accessed yet");
        assert!(bytes(&hit)[PAGE..].iter().all(|&byte| byte == 0));
        assert_eq!(hit.check().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        other.check().expect("the other mapping of the file lost no page");
        drop(hit);
        let again = Map::new(&file, 0..10).unwrap();
        again.check().expect("a reused guard starts unmarked");
    }

    #[test]
    fn threads_that_share_a_truncated_mapping_all_see_the_error() {
        let dir = tempfile::tempdir().unwrap();
        let (path, file) = file(&dir, 16);
        let map = Map::new(&file, 0..file.stat().size).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        std::thread::scope(|scope| {
            for nth in 0..4 {
                let map = &map;
                scope.spawn(move || {
                    assert!(bytes(map)[nth * PAGE..].iter().all(|&byte| byte == 0));
                    map.check().expect_err("the check fails after zeros were read");
                });
            }
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn holes_of_tmpfs_are_not_mapped() {
        let memory = rustix::fs::memfd_create("holes", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let memory = std::fs::File::from(memory);
        memory.set_len(4 * PAGE as u64).unwrap();
        memory.write_all_at(&[1; PAGE], 0).unwrap();
        let file = File::from_fd(memory.try_clone().unwrap().into(), ftk_file::Birth::Unknown).unwrap();
        let blocks = memory.metadata().unwrap().blocks();
        assert_eq!(bytes(&Map::new(&file, 0..PAGE as u64).unwrap()), [1; PAGE]);
        Map::new(&file, 0..4 * PAGE as u64).unwrap_err();
        assert_eq!(memory.metadata().unwrap().blocks(), blocks);
    }

    #[test]
    fn windows_may_begin_within_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let (_, file) = file(&dir, 2);
        for start in [1, PAGE - 1, PAGE + 7] {
            let map = Map::new(&file, start as u64..2 * PAGE as u64 + 3).unwrap();
            assert!(bytes(&map).iter().eq((start..2 * PAGE + 3).map(|i| &[1, 2, 3][i / PAGE])));
        }
    }
}
