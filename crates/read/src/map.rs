//! A window of a file without a copy: its pages, mapped, for several threads at once.
//!
//! The trap of mappings is that a page which is not there any more, because the file was truncated or its disk
//! failed, ends the process by `SIGBUS`. Here it does not: a handler, installed with the first mapping, puts
//! zeros in the place of what is missing and marks the mapping, and [`Map::check`] says so.
#![expect(unsafe_code, reason = "mappings and signal handlers are made of addresses")]

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use libc::{SA_ONSTACK, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, c_int, c_void, siginfo_t};
#[cfg(target_os = "linux")]
use rustix::fs::SeekFrom;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::File;
use crate::guard::Guard;

/// Mappings that may exist at once: some for each worker of a large machine.
const MOST: usize = 1024;

/// A window of a file, mapped for reading.
///
/// What others write to the file shows in the bytes: [`File::verify`] and [`Map::check`] together say whether they can
/// be trusted.
#[derive(Debug)]
pub struct Map {
    start: NonNull<u8>,
    len: usize,
    guard: &'static Guard,
}

// SAFETY: the mapping is for reading only, belongs to the process and not to a thread, and the guard consists of
// atomics.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps the bytes `window` of the file and asks the kernel to have all of them at hand, which reads what is
    /// not in memory yet and spares a page fault for every few pages.
    ///
    /// # Errors
    /// When the window cannot be mapped: on some file systems nothing can, on tmpfs no holes, and no more than
    /// about a thousand mappings exist at once.
    ///
    /// # Panics
    /// When the window is empty or does not begin at a multiple of the page size.
    pub fn new(file: &File, window: Range<u64>) -> io::Result<Self> {
        let len = usize::try_from(window.end - window.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
        assert!(len > 0, "an empty window cannot be mapped");
        #[cfg(target_os = "linux")]
        if would_fill_holes(file, &window) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        install_handler()?;
        let (prot, flags) = (ProtFlags::READ, MapFlags::PRIVATE);
        // SAFETY: the kernel picks an address where nothing lies.
        let start =
            unsafe { rustix::mm::mmap(ptr::null_mut(), len, prot, flags, file.as_fd(), window.start) };
        let start = match start {
            Ok(start) => NonNull::new(start.cast::<u8>()).expect("nothing is mapped at address zero"),
            Err(rustix::io::Errno::INVAL)
                if !window.start.is_multiple_of(rustix::param::page_size() as u64) =>
            {
                panic!("a window that begins at {}", window.start)
            }
            Err(error) => return Err(error.into()),
        };
        let address = start.as_ptr() as usize;
        let Some(guard) = GUARDS.iter().find(|guard| guard.take(address, address + len)) else {
            // SAFETY: mapped above, and known to nobody else.
            let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), len) };
            return Err(io::Error::other("too many mappings at once"));
        };
        let map = Self { start, len, guard };
        #[cfg(target_os = "linux")]
        // SAFETY: the range is that of the mapping, whose content this does not change. Where the kernel is too
        // old or a page is missing it fails, and the pages come one by one.
        let _ = unsafe { rustix::mm::madvise(map.start.as_ptr().cast(), len, Advice::LinuxPopulateRead) };
        Ok(map)
    }

    /// How many bytes the window has.
    #[expect(clippy::len_without_is_empty, reason = "no window is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes; zeros where the file has none any more.
    ///
    /// # Safety
    /// A shared slice promises that its bytes stay as they are, and a file cannot promise it: another process may write
    /// to it at any time, or cut it off. So the slice may only go to code that
    ///
    /// - reads bytes as bytes: digests, comparisons, counts. What it reads must never be an index, a length, text or
    ///   anything else of which only some values are valid;
    /// - stays sound if a byte that it reads twice has two values.
    ///
    /// This process must not write to the file while the slice is in use.
    pub unsafe fn bytes(&self) -> &[u8] {
        // SAFETY: mapped from `start` for `len` bytes until the drop, and readable throughout, since the handler fills
        // in what the file lacks. The caller answers for bytes that change.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Whether all bytes that were looked at so far were the file's.
    ///
    /// # Errors
    /// When a page was missing: the file is shorter now, or could not be read.
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
        // First: the addresses may belong to others right after.
        self.guard.release();
        // SAFETY: mapped by `new`, and no slice of it outlives the map.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Whether looking at the window by mapping would give memory to the file: tmpfs does so for every page of a
/// hole, until it is full. Reading leaves holes as they are.
#[cfg(target_os = "linux")]
fn would_fill_holes(file: &File, window: &Range<u64>) -> bool {
    // Asked of tmpfs alone (TMPFS_MAGIC): elsewhere a hole is harmless, and finding one may write out the file.
    rustix::fs::fstatfs(file).is_ok_and(|fs| fs.f_type == 0x0102_1994)
        && rustix::fs::seek(file, SeekFrom::Hole(window.start)).map_or(true, |hole| hole < window.end)
}

static GUARDS: [Guard; MOST] = [const {
    Guard { start: AtomicUsize::new(0), end: AtomicUsize::new(0), is_hit: AtomicBool::new(false) }
}; MOST];

/// Puts zeros from the page at `at` to the end of the mapping if it is that of this guard. Called by the handler: only
/// atomics and a system call.
fn fill(guard: &Guard, at: usize) -> bool {
    let Some(end) = guard.end_of(at) else { return false };
    let page = at & !(rustix::param::page_size() - 1);
    let at = ptr::with_exposed_provenance_mut(page);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED;
    // First: another thread may see the zeros at once, and ask.
    guard.hit();
    // SAFETY: `Guard::end_of` says that the addresses are those of one mapping of ours, which is in use, since a
    // thread just looked at it.
    unsafe { rustix::mm::mmap_anonymous(at, end - page, ProtFlags::READ, flags) }.is_ok()
}

/// What was to be done on `SIGBUS` before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once in the life of the process.
fn install_handler() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let install = || {
        let error = || io::Error::last_os_error().raw_os_error().unwrap_or_default();
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: a null pointer changes nothing, and `before` is filled in when the call succeeds.
        if unsafe { libc::sigaction(SIGBUS, ptr::null(), before.as_mut_ptr()) } != 0 {
            return Err(error());
        }
        // SAFETY: the call succeeded. Set before the handler can run, which reads it.
        BEFORE.get_or_init(|| unsafe { before.assume_init() });
        // SAFETY: all bytes zero is a valid action: the default one, with an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        // SAFETY: the handler has the signature that `SA_SIGINFO` asks for and calls only what may be called in
        // a handler.
        if unsafe { libc::sigaction(SIGBUS, &raw const action, ptr::null_mut()) } != 0 {
            return Err(error());
        }
        Ok(())
    };
    INSTALLED.get_or_init(install).map_err(io::Error::from_raw_os_error)
}

/// Lets the thread go on with zeros where one of our mappings lacks a page, and leaves everything else to
/// whoever was there before.
extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands a valid pointer to a handler installed with `SA_SIGINFO`.
    let at = unsafe { (*info).si_addr() } as usize;
    if GUARDS.iter().any(|guard| fill(guard, at)) {
        return;
    }
    let Some(before) = BEFORE.get() else { return };
    match before.sa_sigaction {
        SIG_DFL | SIG_IGN => {
            // SAFETY: restores an action that was valid before. The access is tried again when this returns,
            // and then ends the process as it would have without this handler.
            unsafe { libc::sigaction(signal, &raw const *before, ptr::null_mut()) };
        }
        handler if before.sa_flags & SA_SIGINFO != 0 => {
            type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
            // SAFETY: `SA_SIGINFO` says that the address is that of such a function.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without `SA_SIGINFO` the address is that of such a function.
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

    use rustix::fs::CWD;

    use super::*;

    const PAGE: usize = 64 << 10; // a multiple of every page size in use

    fn open(path: &Path) -> File {
        File::open(CWD, &CString::new(path.as_os_str().as_bytes()).unwrap(), false).unwrap()
    }

    fn file(dir: &tempfile::TempDir, pages: usize) -> (std::path::PathBuf, File) {
        let path = dir.path().join("file");
        let bytes: Vec<_> = (0..pages * PAGE + 10).map(|i| (i / PAGE + 1) as u8).collect();
        std::fs::write(&path, bytes).unwrap();
        let file = open(&path);
        (path, file)
    }

    fn bytes(map: &Map) -> &[u8] {
        // SAFETY: only compared, and these tests cut files off but write no bytes into them.
        unsafe { map.bytes() }
    }

    #[test]
    fn the_bytes_are_those_of_the_window() {
        let dir = tempfile::tempdir().unwrap();
        let (_, file) = file(&dir, 3);
        let map = Map::new(&file, PAGE as u64..file.stat().size).unwrap();
        assert_eq!(bytes(&map).len(), 2 * PAGE + 10);
        assert!(bytes(&map)[..PAGE].iter().all(|&byte| byte == 2));
        assert_eq!(bytes(&map)[2 * PAGE..], [4; 10]);
        map.check().unwrap();
    }

    #[test]
    fn a_truncated_file_reads_as_zeros_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let (path, file) = file(&dir, 3);
        let (hit, other) = (Map::new(&file, 0..file.stat().size).unwrap(), Map::new(&file, 0..10).unwrap());
        std::fs::File::options().write(true).open(&path).unwrap().set_len(PAGE as u64).unwrap();
        assert!(bytes(&hit)[..PAGE].iter().all(|&byte| byte == 1));
        hit.check().expect("nothing missing was looked at yet");
        assert!(bytes(&hit)[PAGE..].iter().all(|&byte| byte == 0));
        assert_eq!(hit.check().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        other.check().expect("another mapping of the file lost nothing");
        drop(hit);
        let again = Map::new(&file, 0..10).unwrap();
        again.check().expect("a guard is taken over without its past");
    }

    #[test]
    fn threads_share_a_mapping_that_loses_its_pages() {
        let dir = tempfile::tempdir().unwrap();
        let (path, file) = file(&dir, 16);
        let map = Map::new(&file, 0..file.stat().size).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        std::thread::scope(|scope| {
            for nth in 0..4 {
                let map = &map;
                scope.spawn(move || {
                    assert!(bytes(map)[nth * PAGE..].iter().all(|&byte| byte == 0));
                    map.check().expect_err("whoever sees zeros is told");
                });
            }
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_hole_of_tmpfs_is_left_as_it_is() {
        let memory = rustix::fs::memfd_create("holes", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let memory = std::fs::File::from(memory);
        memory.set_len(4 * PAGE as u64).unwrap();
        memory.write_all_at(&[1; PAGE], 0).unwrap();
        let file = File::from_fd(memory.try_clone().unwrap().into()).unwrap();
        let blocks = memory.metadata().unwrap().blocks();
        assert_eq!(bytes(&Map::new(&file, 0..PAGE as u64).unwrap()), [1; PAGE]);
        Map::new(&file, 0..4 * PAGE as u64).unwrap_err();
        assert_eq!(memory.metadata().unwrap().blocks(), blocks);
    }

    #[test]
    #[should_panic(expected = "a window that begins at 1")]
    fn a_window_begins_at_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let (_, file) = file(&dir, 1);
        let _ = Map::new(&file, 1..2);
    }
}
