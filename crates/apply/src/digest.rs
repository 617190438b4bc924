//! BLAKE3 digests of open files.

use ftk_file::{AlignedBuf, Cursor, Failure, File, Holes};
use ftk_sched::Stop;

/// Bytes hashed at a time.
const BUFFER: usize = 128 << 10;

/// Returns the digest of a whole file, which must not change while it is read. Holes are not read, where the file system
/// reports them reliably. Returns `None` once `stop` is raised.
///
/// # Errors
/// If the file cannot be read, or has changed.
pub(crate) fn digest(file: &File, stop: &Stop) -> Result<Option<blake3::Hash>, Failure> {
    let mut hasher = blake3::Hasher::new();
    let len = file.stat().size.saturating_add(1).min(BUFFER as u64) as usize;
    let mut buffer = AlignedBuf::new(len);
    let (mut cursor, mut holes) = (Cursor::new(file, 0), Holes::new(file, true));
    let mut at = 0;
    while !cursor.has_ended() {
        if stop.is_raised() {
            return Ok(None);
        }
        let known = holes.at(file, at);
        let room = (known.end - at).min(len as u64) as usize;
        let len = if known.holds {
            buffer[..room].fill(0);
            cursor.pass_hole(room as u64);
            room
        } else {
            cursor.fill(&mut buffer[..room])?
        };
        hasher.update(&buffer[..len]);
        at += len as u64;
    }
    cursor.verify_always()?;
    Ok(Some(hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt as _;

    use ftk_file::Symlinks;
    use rustix::fs::CWD;

    use super::*;

    #[test]
    fn digests_are_those_of_all_bytes() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("x");
        for len in [0, 1, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 7] {
            for data in [None, Some(0), Some(len as u64 / 2)] {
                let file = fs::File::create(&path).unwrap();
                file.set_len(len as u64).unwrap();
                if let Some(at) = data {
                    file.write_all_at(b"data"[..len.min(4)].as_ref(), at).unwrap();
                }
                let bytes = fs::read(&path).unwrap();
                let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
                let file = File::open(CWD, &name, Symlinks::NoFollow).unwrap();
                assert_eq!(
                    digest(&file, &Stop::new()).unwrap(),
                    Some(blake3::hash(&bytes)),
                    "{len} {data:?}"
                );
                let stop = Stop::new();
                stop.raise();
                assert_eq!(digest(&file, &stop).unwrap(), None);
            }
        }
    }
}
