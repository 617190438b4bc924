//! A file made anew from another one's content.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use ftk_compare::same_content;
use ftk_sched::Stop;
use rustix::fs::{Mode, OFlags, SeekFrom, fsync, ioctl_ficlone, openat, seek};
use rustix::io::Errno;

use crate::metadata::{Metadata, restore};
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::temp::Temp;

/// Bytes copied at a time.
const BUFFER: usize = 256 << 10;

/// Makes a copy of `source` at `place`, whose name must be free, with the metadata another file had. It is on the
/// disk, and was compared with its source, when this returns.
pub(crate) fn copy(source: &Held, place: Place, metadata: &Metadata, stop: &Stop) -> Result<Temp, ActError> {
    // Nobody else may open it before it has the owner and the permissions it is to have.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
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
    // Where blocks can be shared the copy costs none, and holes stay holes.
    if ioctl_ficlone(file, &source.file).is_err() {
        copy_bytes(source, file, stop)?;
    }
    let copied = ftk_read::File::open(&temp.place.dir, temp.name(), false)
        .map_err(|failure| ActError::from(Refusal::of_failure(Side::Victim, failure)))?;
    let same = same_content(&copied, &source.file, stop).map_err(|(side, failure)| {
        let side = if side == ftk_compare::Side::A { Side::Victim } else { Side::Keeper };
        Refusal::of_failure(side, failure)
    })?;
    if !same {
        return Err(if stop.is_raised() { ActError::Stopped } else { Refusal::ContentDiffers.into() });
    }
    restore(file, metadata).map_err(|(op, errno)| ActError::failed(op, errno))?;
    fsync(file).map_err(|errno| ActError::failed("sync the copy", errno))
}

/// Copies what is data, and leaves holes.
fn copy_bytes(source: &Held, file: &File, stop: &Stop) -> Result<(), ActError> {
    let size = source.stat.st_size as u64;
    let failed = |error: io::Error| ActError::failed("write the copy", error);
    let mut buffer = vec![0; BUFFER];
    let mut at = 0;
    while let Some(data) = data_from(source, at, size) {
        for start in (data.start..data.end).step_by(BUFFER) {
            if stop.is_raised() {
                return Err(ActError::Stopped);
            }
            let len = (data.end - start).min(BUFFER as u64) as usize;
            let read = source.file.read_at(&mut buffer[..len], start);
            let read = read.map_err(|error| Refusal::unreadable(Side::Keeper, "read", error))?;
            if read < len {
                return Err(Refusal::Changed { side: Side::Keeper, what: "while it was copied" }.into());
            }
            file.write_all_at(&buffer[..len], start).map_err(failed)?;
        }
        at = data.end;
    }
    file.set_len(size).map_err(failed)
}

/// The next run of data, or all that is left where the file system does not tell holes.
fn data_from(source: &Held, at: u64, size: u64) -> Option<std::ops::Range<u64>> {
    let start = match seek(&source.file, SeekFrom::Data(at)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return None,
        Err(_) => at,
    };
    let end = seek(&source.file, SeekFrom::Hole(start)).unwrap_or(size).min(size);
    (start < end).then_some(start..end)
}
