//! The system call that makes files share equal blocks. No library has a safe wrapper for it.
#![expect(unsafe_code, reason = "ioctl hands the kernel pointers")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::ioctl::{Direction, Opcode, Updater, ioctl, opcode};

/// `FIDEDUPERANGE`; the number contains the size of the structure without its array.
const DEDUPE: Opcode = opcode::from_components(Direction::ReadWrite, 0x94, 54, 24);

/// `FILE_DEDUPE_RANGE_DIFFERS`.
const DIFFERS: i32 = 1;

/// `struct file_dedupe_range` with one `struct file_dedupe_range_info`.
#[repr(C)]
struct DedupeRange {
    src_offset: u64,
    src_length: u64,
    dest_count: u16,
    reserved: [u16; 3],
    dest_fd: i64,
    dest_offset: u64,
    bytes_deduped: u64,
    status: i32,
    reserved2: u32,
}

/// Makes `to` share the blocks of `from` at `offset`, if the kernel finds them equal. Returns the number of
/// bytes that are now shared, which may be fewer than requested, or `None` if they differ.
///
/// # Errors
/// `EOPNOTSUPP` or `EINVAL` if the file system cannot share blocks, `EXDEV` if the files are on different
/// file systems, `EPERM` if the caller neither owns `to` nor may write to it.
pub(crate) fn dedupe(from: impl AsFd, to: impl AsFd, offset: u64, len: u64) -> io::Result<Option<u64>> {
    if !cfg!(target_os = "linux") {
        return Err(Errno::OPNOTSUPP.into()); // only Linux compares the blocks before it shares them
    }
    let mut range = DedupeRange {
        src_offset: offset,
        src_length: len,
        dest_count: 1,
        reserved: [0; 3],
        dest_fd: to.as_fd().as_raw_fd().into(),
        dest_offset: offset,
        bytes_deduped: 0,
        status: 0,
        reserved2: 0,
    };
    // SAFETY: `DEDUPE` is the number of FIDEDUPERANGE, which expects this structure: the kernel's header
    // followed by `dest_count` records, which is one. The kernel writes to the record only. `to` stays open
    // during the call.
    retry_on_intr(|| unsafe { ioctl(from.as_fd(), Updater::<DEDUPE, DedupeRange>::new(&mut range)) })?;
    match range.status {
        0 => Ok(Some(range.bytes_deduped)),
        DIFFERS => Ok(None),
        errno => Err(Errno::from_raw_os_error(-errno).into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn ioctl_number_and_size_match_linux() {
        assert_eq!((DEDUPE, size_of::<DedupeRange>()), (0xc018_9436, 24 + 32));
    }
}
