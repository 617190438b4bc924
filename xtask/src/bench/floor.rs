//! A minimal lister as a lower bound for `find`: only `openat`, `getdents64` and printing.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, anyhow};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};

/// Buffer size for `getdents64`: large directories need few calls, and the buffer fits into the L2 cache.
const LISTING_BYTES: usize = 64 * 1024;
/// Buffered output of a thread before it writes.
const OUTPUT_BYTES: usize = 64 * 1024;

/// Lists the regular files below `root`, or only counts them.
///
/// # Errors
/// If anything cannot be opened, read or written: an incomplete listing is not a lower bound.
pub(crate) fn run(root: &Path, threads: usize, is_count: bool) -> Result<()> {
    let root = CString::new(root.as_os_str().as_bytes())?;
    let first = Dir { parent: None, path: root.as_bytes().to_vec(), name: root };
    let queue = Queue {
        state: Mutex::new(State { dirs: vec![first], busy: 0 }),
        ready: Condvar::new(),
        count: AtomicU64::new(0),
        is_count,
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(|| queue.work())).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a thread panicked"))?)
    })?;
    if is_count {
        writeln!(std::io::stdout(), "{}", queue.count.into_inner())?;
    }
    Ok(())
}

/// A directory to read.
struct Dir {
    /// The open directory that `name` is relative to.
    parent: Option<Arc<OwnedFd>>,
    name: CString,
    path: Vec<u8>,
}

struct State {
    dirs: Vec<Dir>,
    /// Number of directories that are being read.
    busy: usize,
}

struct Queue {
    state: Mutex<State>,
    ready: Condvar,
    count: AtomicU64,
    is_count: bool,
}

impl Queue {
    /// Reads directories until none are left and no other thread can find more.
    fn work(&self) -> Result<()> {
        let mut listing = vec![MaybeUninit::uninit(); LISTING_BYTES];
        let mut out =
            Output { file: File::from(std::io::stdout().as_fd().try_clone_to_owned()?), buf: vec![] };
        let mut found = Vec::new();
        let mut files = 0;
        while let Some(dir) = self.take() {
            let result = self.list(dir, &mut listing, &mut out, &mut found, &mut files);
            let mut state = self.lock();
            state.busy -= 1;
            state.dirs.append(&mut found);
            drop(state);
            self.ready.notify_all();
            result?;
        }
        self.count.fetch_add(files, Ordering::Relaxed);
        out.flush()
    }

    fn take(&self) -> Option<Dir> {
        let mut state = self.lock();
        loop {
            if let Some(dir) = state.dirs.pop() {
                state.busy += 1;
                return Some(dir);
            }
            if state.busy == 0 {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn list(
        &self,
        dir: Dir,
        listing: &mut [MaybeUninit<u8>],
        out: &mut Output,
        found: &mut Vec<Dir>,
        files: &mut u64,
    ) -> Result<()> {
        let parent = dir.parent.as_ref().map_or(CWD, |fd| fd.as_fd());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = Arc::new(openat(parent, &dir.name, flags, Mode::empty())?);
        let mut entries = RawDir::new(&*fd, listing);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    FileType::from_raw_mode(statat(&*fd, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
                }
                kind => kind,
            };
            match kind {
                FileType::RegularFile if self.is_count => *files += 1,
                FileType::RegularFile => out.line(&dir.path, name.to_bytes())?,
                FileType::Directory if !matches!(name.to_bytes(), b"." | b"..") => found.push(Dir {
                    parent: Some(Arc::clone(&fd)),
                    path: [&dir.path, b"/".as_slice(), name.to_bytes()].concat(),
                    name: name.to_owned(),
                }),
                _ => {}
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Buffered lines of one thread.
struct Output {
    file: File,
    buf: Vec<u8>,
}

impl Output {
    fn line(&mut self, dir: &[u8], name: &[u8]) -> Result<()> {
        for part in [dir, b"/", name, b"\n"] {
            self.buf.extend_from_slice(part);
        }
        if self.buf.len() >= OUTPUT_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes the buffer. Threads take turns, because a pipe would mix their lines.
    fn flush(&mut self) -> Result<()> {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock();
        self.file.write_all(&self.buf)?;
        drop(turn);
        self.buf.clear();
        Ok(())
    }
}
