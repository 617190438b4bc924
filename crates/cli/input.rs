//! Opens files that ftk reads as input: checksum lists, manifests and reports.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, ErrorKind, Read as _};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use ftk_file::{FileType, StandardStream, open_checked};
use ftk_record::Magic;
use ftk_sched::{Stop, Team, logical_cpus};
use rustix::fs::{CWD, OFlags};
use rustix::process::geteuid;

use crate::globals::Globals;

/// Returns standard input. The reader of the standard library must not be used: it takes the errors of a closed stream
/// for the end of the input.
///
/// # Errors
/// If it was closed when the process started.
pub(crate) fn stdin() -> io::Result<BorrowedFd<'static>> {
    if USE_OF_STDIN.fetch_or(AS_INPUT, Ordering::Relaxed) & AS_LIST != 0 {
        return Err(io::Error::other("standard input is already the list of --exclude-from"));
    }
    StandardStream::Input.check()?;
    Ok(rustix::stdio::stdin())
}

/// What standard input was used for: its content can be read once.
static USE_OF_STDIN: AtomicUsize = AtomicUsize::new(0);
const AS_INPUT: usize = 1;
const AS_LIST: usize = 2;

/// Returns standard input for the list of `--exclude-from`.
///
/// # Errors
/// If it has another use, or was closed when the process started.
pub(crate) fn stdin_as_list() -> io::Result<BorrowedFd<'static>> {
    if USE_OF_STDIN.fetch_or(AS_LIST, Ordering::Relaxed) != 0 {
        return Err(io::Error::other("standard input has another use"));
    }
    StandardStream::Input.check()?;
    Ok(rustix::stdio::stdin())
}

/// Opens `path`, or standard input for `-`.
///
/// # Errors
/// Like [`open_file`] and [`stdin`].
pub(crate) fn open(path: &OsStr) -> io::Result<File> {
    if path == "-" { Ok(File::from(stdin()?.try_clone_to_owned()?)) } else { open_file(path) }
}

/// Paths that lead to a descriptor of the caller, whatever user made it.
const OWN_DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];

/// Returns whether a path leads to a pipe that a descriptor of the caller has, as `<(command)` of a shell does.
pub(crate) fn is_pipe_of_caller(path: &OsStr) -> bool {
    let is_fifo = || fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    OWN_DESCRIPTORS.iter().any(|own| path.as_bytes().starts_with(own.as_bytes())) && is_fifo()
}

/// Opens a regular file, a FIFO of the caller, or a descriptor of the caller (`/dev/fd/3`).
///
/// # Errors
/// If the file cannot be opened, is a device, or is a FIFO of another user: no process may ever write to it.
/// Reading `/dev/zero` never ends, and opening some devices has side effects.
pub(crate) fn open_file(path: &OsStr) -> io::Result<File> {
    let is_own = OWN_DESCRIPTORS.iter().any(|own| path.as_bytes().starts_with(own.as_bytes()));
    let refused = |why| Err(io::Error::new(ErrorKind::InvalidInput, why));
    open_checked(CWD, path, OFlags::RDONLY | OFlags::NOCTTY, |found| match found.file_type {
        FileType::Char | FileType::Block if !is_own => refused("it is a device"),
        FileType::Fifo if found.uid != geteuid().as_raw() && !is_own => {
            refused("it is a FIFO of another user")
        }
        FileType::Regular
        | FileType::Directory
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::Block
        | FileType::Char => Ok(()),
        _ => refused("its type is not known"),
    })
}

/// Returns the first bytes of a file, at most `most`.
///
/// # Errors
/// Those of [`open_file`], and of reading.
pub(crate) fn start_of(path: &OsStr, most: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    open_file(path)?.take(most).read_to_end(&mut start)?;
    Ok(start)
}

/// Reads all inputs, several at a time. Returns what `read` makes of each, in order.
///
/// # Errors
/// The first error in order.
pub(crate) fn all<P: AsRef<OsStr> + Sync, T: Send>(
    paths: &[P],
    globals: &Globals,
    read: impl Fn(&OsStr) -> anyhow::Result<T> + Sync,
) -> anyhow::Result<Vec<T>> {
    let workers = globals.workers().unwrap_or_else(|| logical_cpus().max(2)).min(paths.len());
    let next = AtomicUsize::new(0);
    let parts = Team::new(workers.max(1)).run(&Stop::new(), |_| {
        // Relaxed: the counter hands out numbers and nothing else.
        let claim = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < paths.len());
        std::iter::from_fn(claim).map(|nth| (nth, read(paths[nth].as_ref()))).collect::<Vec<_>>()
    });
    let mut made: Vec<_> = parts.into_iter().flatten().collect();
    made.sort_by_key(|(nth, _)| *nth);
    made.into_iter().map(|(_, made)| made).collect()
}

/// Returns the kind of the input, such as `compressed with gzip`, if its first bytes show that it is not a
/// checksum list. Consumes nothing.
pub(crate) fn foreign(input: &mut impl BufRead) -> Option<String> {
    // If this read fails, the next read by the caller fails too and reports the error.
    let start = input.fill_buf().unwrap_or(b"?");
    match start {
        [b'{', b'"', ..] => Some("JSON, like a manifest or a report".to_owned()),
        start => Magic::of(start).map(|magic| magic.to_string()),
    }
}
