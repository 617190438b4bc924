//! Copies of files, with the metadata of another file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt;

use ftk_compare::same_content_with;
use ftk_file::{AlignedBuf, Birth, Holes, drop_pages_of_new_file};
use ftk_sched::Stop;

use crate::metadata::{Metadata, restore, restore_permitted};
use crate::private::NewFile;
use crate::reach::{Held, Place};
use crate::refusal::{ActError, Refusal, Side};
use crate::sys::{drop_cached_pages, share_content, sync};
use crate::temp::Temp;

/// Bytes copied at a time.
const BUFFER: usize = 256 << 10;

/// A check of a copy that is on the disk, in addition to the comparison with its source.
pub(crate) type Check<'c> = &'c mut dyn FnMut(&ftk_file::File) -> Result<(), ActError>;

/// A complete copy that is not in place yet.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) temp: Temp,
    /// The copy. Links to it are made from this descriptor, since another user may change what its name leads to.
    pub(crate) file: OwnedFd,
    /// The digest of its content.
    pub(crate) digest: blake3::Hash,
    /// Whether it has all the metadata.
    pub(crate) is_complete: bool,
}

/// What the content of a copy must be, besides that of its source.
pub(crate) enum Expected<'c> {
    Nothing,
    /// Content with this digest. If the caller may not set some of the metadata, the copy lacks it.
    Digest(&'c blake3::Hash),
    /// Content that passes this check. The comparison and the check then read the bytes from the disk, as far as the
    /// system permits.
    Checked(Check<'c>),
}

/// Copies `source` to the name `aside`, which must be free, with the metadata that another file had. On return
/// the copy has been compared with its source and is on the disk.
///
/// The copy gets the metadata and a name that others can see only if its content is what is expected.
pub(crate) fn copy(
    source: &Held,
    aside: Place,
    metadata: &Metadata,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<Copied, ActError> {
    let new = NewFile::new(aside)?;
    match fill(source, new.file(), metadata, expected, stop) {
        Ok((digest, is_complete)) => {
            new.into_temp().map(|(file, temp)| Copied { temp, file, digest, is_complete })
        }
        Err(error) => Err(new.discard(error)),
    }
}

fn fill(
    source: &Held,
    file: &File,
    metadata: &Metadata,
    expected: Expected<'_>,
    stop: &Stop,
) -> Result<(blake3::Hash, bool), ActError> {
    // A reflink uses no space for shared blocks, and keeps holes.
    if !share_content(file, &source.file) {
        copy_bytes(source, file, stop)?;
    }
    if matches!(expected, Expected::Checked(_)) {
        // Written and unused pages leave the cache, so the next reads come from the disk.
        sync(file).map_err(|errno| ActError::failed("sync the copy", errno))?;
        drop_cached_pages(file);
    }
    let again = file.try_clone().map_err(|error| ActError::failed("open the copy", error))?;
    let copied = ftk_file::File::from_fd(again.into(), Birth::Unknown)
        .map_err(|failure| ActError::from(Refusal::of_failure(Side::Victim, failure)))?;
    let mut hasher = blake3::Hasher::new();
    let hash = |bytes: &[u8]| _ = hasher.update(bytes);
    let same = same_content_with(&copied, &source.file, stop, hash).map_err(|(side, failure)| {
        let side = if side == ftk_compare::Side::A { Side::Victim } else { Side::Keeper };
        Refusal::of_failure(side, failure)
    })?;
    if !same {
        return Err(if stop.is_raised() { ActError::Stopped } else { Refusal::ContentDiffers.into() });
    }
    let digest = hasher.finalize();
    let restored = match expected {
        Expected::Nothing => restore(file, metadata).map(|()| true),
        Expected::Digest(expected) if digest == *expected => restore_permitted(file, metadata),
        Expected::Digest(_) => {
            return Err(Refusal::Changed { side: Side::Keeper, what: "its content" }.into());
        }
        Expected::Checked(check) => {
            check(&copied)?;
            restore(file, metadata).map(|()| true)
        }
    };
    let is_complete = restored.map_err(|(op, errno)| ActError::failed(op, errno))?;
    sync(file).map_err(|errno| ActError::failed("sync the copy", errno))?;
    drop_pages_of_new_file(file.as_fd());
    Ok((digest, is_complete))
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

/// Blocks of zeros of this size are holes of the copy.
const BLOCK: usize = 4096;
static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Copies a range of data, which the source must have. Blocks of zeros are not written: they may be holes that the file system
/// does not report, and a copy with all their bytes may not fit on the disk.
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
        write_data(&buffer[..len], at, file).map_err(|error| ActError::failed("write the copy", error))?;
    }
    Ok(())
}

/// Writes all bytes except blocks of zeros.
fn write_data(bytes: &[u8], at: u64, file: &File) -> io::Result<()> {
    let mut start = 0;
    // The first block ends where a block of the file ends.
    let mut end = (BLOCK - (at % BLOCK as u64) as usize).min(bytes.len());
    let mut written = 0; // up to here, everything is written or zero
    loop {
        let is_zero = bytes[start..end] == ZEROS[..end - start];
        if is_zero || end == bytes.len() {
            let data = &bytes[written..if is_zero { start } else { end }];
            file.write_all_at(data, at + written as u64)?;
            written = end;
        }
        if end == bytes.len() {
            return Ok(());
        }
        (start, end) = (end, (end + BLOCK).min(bytes.len()));
    }
}

#[cfg(test)]
mod tests {
    use ftk_file::Symlinks;

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

    /// FUSE and overlays do not report holes.
    #[test]
    fn blocks_of_zeros_are_not_written() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("copy");
        for at in [0, 1, 4095, 4096, 8191] {
            for data in [
                [0..0, 0..0],
                [0..1, 0..0],
                [0..100_000, 0..0],
                [9_000..9_001, 30_000..50_000],
                [99_999..100_000, 0..0],
            ] {
                let mut bytes = vec![0_u8; 100_000];
                for range in data {
                    bytes[range].fill(7);
                }
                // What is not written keeps these bytes.
                let mut expected = vec![1; at + bytes.len()];
                std::fs::write(&path, &expected).unwrap();
                expected[at..].copy_from_slice(&bytes);
                for (nth, block) in expected.chunks_mut(BLOCK).enumerate() {
                    let given = at.saturating_sub(nth * BLOCK).min(block.len());
                    if block[given..].iter().all(|&byte| byte == 0) {
                        block[given..].fill(1);
                    }
                }
                let file = File::options().write(true).open(&path).unwrap();
                write_data(&bytes, at as u64, &file).unwrap();
                assert!(std::fs::read(&path).unwrap() == expected, "at {at}");
            }
        }
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
