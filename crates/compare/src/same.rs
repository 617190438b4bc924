//! The byte proof: whether two open files have identical content.

use std::fmt;

use ftk_read::{Failure, File};
use ftk_sched::Stop;

/// Bytes of each file compared at a time: two buffers of this size fit into the second-level cache.
const BUF_LEN: usize = 128 << 10;

/// One of the two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first input.
    A,
    /// The second input.
    B,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// Whether two files have identical content. Unless their sizes differ, every byte is read: inode numbers,
/// extents and equal sizes prove nothing here.
///
/// Returns `true` only if neither file changed while being read, as far as [`File::verify`] can tell. Returns
/// `false` once `stop` is raised, because then nothing is proven.
///
/// # Errors
/// If a file cannot be read, or changed while being read. The error includes the side of the file.
pub fn same_content(a: &File, b: &File, stop: &Stop) -> Result<bool, (Side, Failure)> {
    if a.stat().size != b.stat().size {
        return Ok(false);
    }
    let mut a = SequentialRead::new(Side::A, a);
    let mut b = SequentialRead::new(Side::B, b);
    while !stop.is_raised() {
        if a.next()? != b.next()? {
            return Ok(false);
        }
        if a.has_ended && b.has_ended {
            a.verify()?;
            b.verify()?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// A file that is read from start to end.
struct SequentialRead<'f> {
    side: Side,
    file: &'f File,
    buf: Vec<u8>,
    bytes: u64,
    reads: u64,
    has_ended: bool,
}

impl<'f> SequentialRead<'f> {
    fn new(side: Side, file: &'f File) -> Self {
        // One byte more than the size, so that one read returns a small file and also shows its end.
        let len = file.stat().size.saturating_add(1).min(BUF_LEN as u64) as usize;
        Self { side, file, buf: vec![0; len], bytes: 0, reads: 0, has_ended: false }
    }

    /// Returns the next bytes: a full buffer, or the rest of the file.
    fn next(&mut self) -> Result<&[u8], (Side, Failure)> {
        let mut len = 0;
        while len < self.buf.len() && !self.has_ended {
            let got = self
                .file
                .read_at(&mut self.buf[len..], self.bytes)
                .map_err(|source| (self.side, Failure::Io { op: "read", source }))?;
            len += got;
            self.bytes += got as u64;
            self.reads += 1;
            let size = self.file.stat().size;
            if self.bytes > size {
                // Without this check, reading a file that grows as fast as it is read would never end.
                self.verify()?;
            }
            // A short read means the end only at the file's size.
            self.has_ended = got == 0 || (len < self.buf.len() && self.bytes == size);
        }
        Ok(&self.buf[..len])
    }

    fn verify(&self) -> Result<(), (Side, Failure)> {
        self.file.verify(self.bytes, self.reads).map_err(|failure| (self.side, failure))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::testing::{self, open};

    fn pair(a: &[u8], b: &[u8]) -> (tempfile::TempDir, File, File) {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = [("a", a), ("b", b)].map(|(name, bytes)| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            open(&path)
        });
        (dir, a, b)
    }

    fn same(a: &[u8], b: &[u8]) -> bool {
        let (_dir, a, b) = pair(a, b);
        same_content(&a, &b, &Stop::new()).unwrap()
    }

    #[test]
    fn one_differing_byte_anywhere_is_found() {
        for len in [0, 1, 100, BUF_LEN - 1, BUF_LEN, BUF_LEN + 1, 3 * BUF_LEN, 3 * BUF_LEN + 7] {
            let bytes = testing::random(len);
            assert!(same(&bytes, &bytes), "{len}");
            for at in [0, len / 2, len.wrapping_sub(1)].into_iter().filter(|&at| at < len) {
                let mut other = bytes.clone();
                other[at] ^= 1;
                assert!(!same(&bytes, &other), "{at} of {len}");
            }
            assert!(!same(&bytes, &[&bytes[..], &[0]].concat()), "{len} and one more");
        }
    }

    #[test]
    fn a_stopped_proof_proves_nothing() {
        let (_dir, a, b) = pair(b"same", b"same");
        let stop = Stop::new();
        stop.raise();
        assert!(!same_content(&a, &b, &stop).unwrap());
    }

    #[test]
    fn a_changed_file_is_an_error_with_its_side() {
        for (side, name) in [(Side::A, "a"), (Side::B, "b")] {
            let (dir, a, b) = pair(b"same", b"same");
            fs::write(dir.path().join(name), "same and more").unwrap();
            assert!(!same_content(&a, &b, &Stop::new()).is_ok_and(|same| same));

            // The bytes are the same, so only the times show the change.
            let (dir, a, b) = pair(b"same", b"same");
            std::thread::sleep(std::time::Duration::from_millis(20)); // more than one tick of file timestamps
            fs::write(dir.path().join(name), "same").unwrap();
            let answer = same_content(&a, &b, &Stop::new());
            assert!(matches!(answer, Err((of, Failure::Changed { .. })) if of == side), "{answer:?}");
        }
    }

    #[test]
    fn synthetic_sizes_are_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let status = Path::new("/proc/self/limits"); // reports a size of 0; its content does not change
        let copy = dir.path().join("copy");
        fs::write(&copy, "").unwrap();
        assert!(same_content(&open(status), &open(status), &Stop::new()).unwrap());
        assert!(!same_content(&open(status), &open(&copy), &Stop::new()).unwrap());
    }
}
