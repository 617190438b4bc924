//! Copies of files, with the metadata of another file.

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt;

use ftk_compare::same_content;
use ftk_file::{AlignedBuf, Holes, Symlinks, drop_pages_of_new_file};
use ftk_sched::Stop;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, ioctl_ficlone, openat};

use crate::metadata::{Metadata, restore};
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::temp::Temp;

/// Bytes copied at a time.
const BUFFER: usize = 256 << 10;

/// A check of a copy that is on the disk, in addition to the comparison with its source.
pub(crate) type Check<'c> = &'c mut dyn FnMut(&ftk_file::File) -> Result<(), ActError>;

/// Copies `source` to `place`, whose name must be free, with the metadata that another file had. On return
/// the copy has been compared with its source and is on the disk.
pub(crate) fn copy(source: &Held, place: Place, metadata: &Metadata, stop: &Stop) -> Result<Temp, ActError> {
    copy_checked(source, place, metadata, None, stop)
}

/// Like [`copy`], and also runs a check on the copy. Both the comparison and the check then read the bytes
/// from the disk, as far as the system permits.
pub(crate) fn copy_checked(
    source: &Held,
    place: Place,
    metadata: &Metadata,
    check: Option<Check<'_>>,
    stop: &Stop,
) -> Result<Temp, ActError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Until the copy has its final owner and permissions, only the caller may open it.
    let file = openat(&place.dir, &place.name, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| ActError::failed("make the copy", errno))?;
    let file = File::from(file);
    let temp = Temp::made(place)?;
    match fill(source, &file, &temp, metadata, check, stop) {
        Ok(()) => Ok(temp),
        Err(error) => Err(temp.discard(error)),
    }
}

fn fill(
    source: &Held,
    file: &File,
    temp: &Temp,
    metadata: &Metadata,
    check: Option<Check<'_>>,
    stop: &Stop,
) -> Result<(), ActError> {
    // A reflink uses no space for shared blocks, and keeps holes.
    if ioctl_ficlone(file, &source.file).is_err() {
        copy_bytes(source, file, stop)?;
    }
    if check.is_some() {
        // Written and unused pages leave the cache, so the next reads come from the disk.
        fsync(file).map_err(|errno| ActError::failed("sync the copy", errno))?;
        _ = fadvise(file, 0, None, Advice::DontNeed);
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
    if let Some(check) = check {
        check(&copied)?;
    }
    restore(file, metadata).map_err(|(op, errno)| ActError::failed(op, errno))?;
    fsync(file).map_err(|errno| ActError::failed("sync the copy", errno))?;
    drop_pages_of_new_file(file.as_fd());
    Ok(())
}

/// Copies data and keeps holes.
fn copy_bytes(source: &Held, file: &File, stop: &Stop) -> Result<(), ActError> {
    let size = source.stat.size;
    let mut buffer = AlignedBuf::new(BUFFER);
    let mut holes = Holes::all(&source.file);
    let mut at = 0;
    while at < size {
        let known = holes.at(&source.file, at);
        let data = at..known.end.min(size);
        at = data.end;
        if !known.holds {
            copy_data(&source.file, data, &mut buffer, file, stop)?;
        }
    }
    file.set_len(size).map_err(|error| ActError::failed("write the copy", error))
}

/// Copies a range of data, which the source must have.
fn copy_data(
    source: &ftk_file::File,
    data: Range<u64>,
    buffer: &mut [u8],
    file: &File,
    stop: &Stop,
) -> Result<(), ActError> {
    for at in data.clone().step_by(buffer.len()) {
        if stop.is_raised() {
            return Err(ActError::Stopped);
        }
        let len = (data.end - at).min(buffer.len() as u64) as usize;
        let read = source.read_exact_at(&mut buffer[..len], at);
        read.map_err(|failure| Refusal::of_failure(Side::Keeper, failure))?;
        file.write_all_at(&buffer[..len], at).map_err(|error| ActError::failed("write the copy", error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies the bytes 3 to 103 of a file of 200 bytes, which is cut to `len` bytes after the open.
    fn copied(len: u64) -> (Result<(), ActError>, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let directory = File::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("source"), (0..200).collect::<Vec<u8>>()).unwrap();
        let source = ftk_file::File::open(&directory, c"source", Symlinks::NoFollow).unwrap();
        File::options().write(true).open(dir.path().join("source")).unwrap().set_len(len).unwrap();
        let path = dir.path().join("copy");
        let file = File::create(&path).unwrap();
        let outcome = copy_data(&source, 3..103, &mut [0; 16], &file, &Stop::new());
        (outcome, std::fs::read(path).unwrap())
    }

    #[test]
    fn a_range_is_copied_in_pieces() {
        let (outcome, bytes) = copied(200);
        assert!(outcome.is_ok() && bytes.into_iter().eq([0; 3].into_iter().chain(3..103)), "{outcome:?}");
    }

    #[test]
    fn a_truncated_source_is_reported_as_changed() {
        for len in [102, 50, 3, 0] {
            let (outcome, _) = copied(len);
            assert!(
                matches!(outcome, Err(ActError::Refused(Refusal::Changed { side: Side::Keeper, .. }))),
                "{len}: {outcome:?}"
            );
        }
    }
}
