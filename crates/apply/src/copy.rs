//! Copies of files, with the metadata of another file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt;

use ftk_compare::same_content;
use ftk_file::{Holes, Symlinks, drop_pages_of_new_file};
use ftk_sched::Stop;
use rustix::fs::{Mode, OFlags, fsync, ioctl_ficlone, openat};

use crate::metadata::{Metadata, restore};
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::temp::Temp;

/// Bytes copied at a time.
const BUFFER: usize = 256 << 10;

/// Copies `source` to `place`, whose name must be free, with the metadata that another file had. On return
/// the copy has been compared with its source and is on the disk.
pub(crate) fn copy(source: &Held, place: Place, metadata: &Metadata, stop: &Stop) -> Result<Temp, ActError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Until the copy has its final owner and permissions, only the caller may open it.
    let file = openat(&place.dir, &place.name, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| ActError::failed("make the copy", errno))?;
    let file = File::from(file);
    let temp = Temp::made(place)?;
    match fill(source, &file, &temp, metadata, stop) {
        Ok(()) => Ok(temp),
        Err(error) => Err(temp.discard(error)),
    }
}

fn fill(source: &Held, file: &File, temp: &Temp, metadata: &Metadata, stop: &Stop) -> Result<(), ActError> {
    // A reflink uses no space for shared blocks, and keeps holes.
    if ioctl_ficlone(file, &source.file).is_err() {
        copy_bytes(source, file, stop)?;
    }
    let copied = ftk_file::File::open(&temp.place.dir, temp.name(), Symlinks::NoFollow)
        .map_err(|failure| ActError::from(Refusal::of_failure(Side::Victim, failure)))?;
    let same = same_content(&copied, &source.file, stop).map_err(|(side, failure)| {
        let side = if side == ftk_compare::Side::A { Side::Victim } else { Side::Keeper };
        Refusal::of_failure(side, failure)
    })?;
    if !same {
        return Err(if stop.is_raised() { ActError::Stopped } else { Refusal::ContentDiffers.into() });
    }
    restore(file, metadata).map_err(|(op, errno)| ActError::failed(op, errno))?;
    fsync(file).map_err(|errno| ActError::failed("sync the copy", errno))?;
    drop_pages_of_new_file(file.as_fd());
    Ok(())
}

/// Copies data and keeps holes.
fn copy_bytes(source: &Held, file: &File, stop: &Stop) -> Result<(), ActError> {
    let size = source.stat.size;
    let mut buffer = vec![0; BUFFER];
    let mut holes = Holes::all(&source.file);
    let mut at = 0;
    while at < size {
        let known = holes.at(at);
        let data = at..known.end.min(size);
        at = data.end;
        if !known.holds {
            copy_data(|buf, at| source.file.read_at(buf, at), data, &mut buffer, file, stop)?;
        }
    }
    file.set_len(size).map_err(|error| ActError::failed("write the copy", error))
}

/// Copies a range of data. Only a read of zero bytes is the end of the source: POSIX allows short reads
/// anywhere, and FUSE file systems make them.
fn copy_data(
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
    data: Range<u64>,
    buffer: &mut [u8],
    file: &File,
    stop: &Stop,
) -> Result<(), ActError> {
    let mut at = data.start;
    while at < data.end {
        if stop.is_raised() {
            return Err(ActError::Stopped);
        }
        let len = (data.end - at).min(buffer.len() as u64) as usize;
        let got = read(&mut buffer[..len], at);
        let got = got.map_err(|error| Refusal::unreadable(Side::Keeper, "read", error))?;
        if got == 0 {
            return Err(Refusal::Changed { side: Side::Keeper, what: "while being copied" }.into());
        }
        file.write_all_at(&buffer[..got], at).map_err(|error| ActError::failed("write the copy", error))?;
        at += got as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies the bytes 3 to 103 with reads of at most `most` bytes, from a source that ends after `len`
    /// bytes.
    fn copied(most: usize, len: usize) -> (Result<(), ActError>, Vec<u8>) {
        let source: Vec<u8> = (0..200).collect();
        let read = |buf: &mut [u8], at: u64| {
            let left = &source[..len][(at as usize).min(len)..];
            let got = most.min(buf.len()).min(left.len());
            buf[..got].copy_from_slice(&left[..got]);
            Ok(got)
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copy");
        let file = File::create(&path).unwrap();
        let outcome = copy_data(read, 3..103, &mut [0; 16], &file, &Stop::new());
        (outcome, std::fs::read(path).unwrap())
    }

    #[test]
    fn h46_a_short_read_is_not_a_change() {
        let expected: Vec<u8> = [0; 3].into_iter().chain(3..103).collect();
        for most in [1, 7, 15, 16] {
            let (outcome, bytes) = copied(most, 200);
            assert!(outcome.is_ok() && bytes == expected, "{most}: {outcome:?} {bytes:?}");
        }
    }

    #[test]
    fn a_truncated_source_is_reported_as_changed() {
        for (most, len) in [(16, 102), (7, 50), (1, 3), (16, 0)] {
            let (outcome, _) = copied(most, len);
            assert!(
                matches!(outcome, Err(ActError::Refused(Refusal::Changed { side: Side::Keeper, .. }))),
                "{most} {len}: {outcome:?}"
            );
        }
    }
}
