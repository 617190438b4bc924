//! Opens files that ftk reads as input: checksum lists, manifests and reports.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, ErrorKind};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use ftk_file::StandardStream;
use ftk_sched::{Stop, Team, logical_cpus};

use crate::globals::Globals;

/// Returns standard input. The reader of the standard library must not be used: it takes the errors of a closed stream
/// for the end of the input.
///
/// # Errors
/// If it was closed when the process started.
pub(crate) fn stdin() -> io::Result<BorrowedFd<'static>> {
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

/// Opens a regular file or a FIFO.
///
/// # Errors
/// If the file cannot be opened, or is a device. Reading `/dev/zero` never ends, and opening some devices has
/// side effects.
pub(crate) fn open_file(path: &OsStr) -> io::Result<File> {
    let file_type = fs::metadata(path)?.file_type();
    if file_type.is_char_device() || file_type.is_block_device() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a device"));
    }
    File::open(path)
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
pub(crate) fn foreign(input: &mut impl BufRead) -> Option<&'static str> {
    // If this read fails, the next read by the caller fails too and reports the error.
    foreign_start(input.fill_buf().unwrap_or(b"?"))
}

/// Returns the kind of a file that begins with `start`, if it is not a checksum list.
pub(crate) fn foreign_start(start: &[u8]) -> Option<&'static str> {
    Some(match start {
        [] => "empty",
        [0x1f, 0x8b, ..] => "compressed with gzip",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "compressed with zstd",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "compressed with xz",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "compressed with bzip2",
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [0x7f, b'E', b'L', b'F', ..] => "a program",
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "text in UTF-16",
        [1..=255, 0, 1..=255, 0, ..] | [0, 1..=255, 0, 1..=255, ..] => "text in UTF-16",
        [b'{', b'"', ..] => "JSON, like a manifest or a report",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_formats_are_recognised_by_their_first_bytes() {
        for (start, what) in [
            (&b""[..], Some("empty")),
            (b"\x1f\x8b\x08\0", Some("compressed with gzip")),
            (b"\x28\xb5\x2f\xfd\x24", Some("compressed with zstd")),
            (b"\xfd7zXZ\0\0", Some("compressed with xz")),
            (b"BZh91AY&SY", Some("compressed with bzip2")),
            (b"PK\x03\x04\x14", Some("a zip archive")),
            (b"\x7fELF\x02", Some("a program")),
            (b"\xff\xfed\x004\0", Some("text in UTF-16")),
            (b"\xfe\xff\0d\x004", Some("text in UTF-16")),
            (b"d\x004\x001\0", Some("text in UTF-16")),
            (b"\0d\x004\x001", Some("text in UTF-16")),
            (b"{\"format\":", Some("JSON, like a manifest or a report")),
            (b"d41d8cd98f00b204e9800998ecf8427e  x\n", None),
            (b"BZhang (x) = 00\n", None),
            (b"\xef\xbb\xbfd41d", None),
            (b"\0\0\0\0", None),
            (b"\n", None),
        ] {
            assert_eq!(foreign(&mut &start[..]), what, "{}", start.escape_ascii());
        }
    }
}
