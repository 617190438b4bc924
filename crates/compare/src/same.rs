//! The byte proof: whether two open files have identical content.

use std::fmt;

use ftk_file::{AlignedBuf, Cursor, Failure, File, Holes};
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

impl Side {
    /// Returns the function that adds this side to a failure.
    pub(crate) fn failed(self) -> impl Fn(Failure) -> (Self, Failure) {
        move |failure| (self, failure)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// Whether two files have identical content. Unless their sizes differ, every byte is read, except where both
/// files have holes on file systems that report them reliably ([`Holes`]): inode numbers, extents and equal
/// sizes prove nothing here.
///
/// Returns `true` only if neither file changed while being read, as far as [`File::verify`] can tell. Returns
/// `false` once `stop` is raised, because then nothing is proven.
///
/// # Errors
/// If a file cannot be read, or changed while being read. The error includes the side of the file.
pub fn same_content(a: &File, b: &File, stop: &Stop) -> Result<bool, (Side, Failure)> {
    same_content_with(a, b, stop, |_| {})
}

/// Does the same as [`same_content`], and calls `each` with all bytes of the files, from the first on, as far as they are
/// equal. The bytes of holes that both files share are not read: `each` gets zeros.
///
/// # Errors
/// As for [`same_content`].
pub fn same_content_with(
    a: &File,
    b: &File,
    stop: &Stop,
    mut each: impl FnMut(&[u8]),
) -> Result<bool, (Side, Failure)> {
    let size = a.stat().size;
    if size != b.stat().size {
        return Ok(false);
    }
    // One byte more than the size, so that one read returns a small file and also shows its end.
    let len = size.saturating_add(1).min(BUF_LEN as u64) as usize;
    let (mut buf_a, mut buf_b) = (AlignedBuf::new(len), AlignedBuf::new(len));
    let (mut cursor_a, mut cursor_b) = (Cursor::new(a, 0), Cursor::new(b, 0));
    let (mut holes_a, mut holes_b) = (Holes::new(a, true), Holes::new(b, true));
    let mut at = 0;
    while !stop.is_raised() {
        let (in_a, in_b) = (holes_a.at(a, at), holes_b.at(b, at));
        let known = in_a.end.min(in_b.end) - at;
        if in_a.holds && in_b.holds {
            cursor_a.pass_hole(known);
            cursor_b.pass_hole(known);
            at += known;
            buf_a.fill(0);
            let mut zeros = known;
            while zeros > 0 && !stop.is_raised() {
                let len = zeros.min(buf_a.len() as u64);
                each(&buf_a[..len as usize]);
                zeros -= len;
            }
            if zeros > 0 {
                return Ok(false); // stopped
            }
        } else {
            // Where the hole of only one file ends, that of the other may begin.
            let len = known.min(len as u64) as usize;
            let len_a = cursor_a.fill(&mut buf_a[..len]).map_err(Side::A.failed())?;
            let len_b = cursor_b.fill(&mut buf_b[..len]).map_err(Side::B.failed())?;
            if buf_a[..len_a] != buf_b[..len_b] {
                verify(&cursor_a, &cursor_b)?; // Files that differ because one changed may have been equal.
                return Ok(false);
            }
            each(&buf_a[..len_a]);
            at += len_a as u64;
        }
        if cursor_a.has_ended() && cursor_b.has_ended() {
            verify(&cursor_a, &cursor_b)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks that neither file changed while it was read.
fn verify(a: &Cursor<'_>, b: &Cursor<'_>) -> Result<(), (Side, Failure)> {
    a.verify().map_err(Side::A.failed())?;
    b.verify().map_err(Side::B.failed())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt as _;
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
    fn the_bytes_of_equal_files_are_passed_on() {
        const LEN: u64 = (3 << 20) + 5;
        let (_dir, a, b) = sparse(LEN, [&[(0, 1), (LEN / 2, 2), (LEN - 1, 3)]; 2]);
        let mut expected = vec![0; LEN as usize];
        expected[0] = 1;
        expected[LEN as usize / 2] = 2;
        expected[LEN as usize - 1] = 3;
        let mut bytes = Vec::new();
        assert!(same_content_with(&a, &b, &Stop::new(), |piece| bytes.extend_from_slice(piece)).unwrap());
        assert!(bytes == expected);
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

    /// Creates two files of `len` bytes in which only the given bytes are not zero.
    fn sparse(len: u64, bytes: [&[(u64, u8)]; 2]) -> (tempfile::TempDir, File, File) {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = [("a", bytes[0]), ("b", bytes[1])].map(|(name, bytes)| {
            let path = dir.path().join(name);
            let file = fs::File::create(&path).unwrap();
            file.set_len(len).unwrap();
            bytes.iter().for_each(|&(at, byte)| file.write_all_at(&[byte], at).unwrap());
            open(&path)
        });
        (dir, a, b)
    }

    /// Reading a tebibyte would take minutes.
    #[test]
    fn holes_of_both_files_are_not_read() {
        const LEN: u64 = (1 << 40) + 5;
        let both: &[(u64, u8)] = &[(0, 1), (LEN / 3, 2), (LEN / 2 + 70_000, 3)];
        // A hole is equal to zeros that were written.
        let zeros = [both, &[(LEN / 5, 0), (LEN - 1, 0)]].concat();
        for (a, b) in [(&[][..], &[][..]), (both, both), (both, &zeros), (&zeros, both)] {
            let (_dir, a, b) = sparse(LEN, [a, b]);
            assert!(same_content(&a, &b, &Stop::new()).unwrap());
        }
        for at in [0, 1, LEN / 5, LEN / 2 + 69_999, LEN - 1] {
            let other = [both, &[(at, 9)]].concat();
            let (_dir, a, b) = sparse(LEN, [both, &other]);
            assert!(!same_content(&a, &b, &Stop::new()).unwrap(), "{at}");
            assert!(!same_content(&b, &a, &Stop::new()).unwrap(), "{at}");
        }
    }

    #[test]
    fn files_with_holes_that_change_are_an_error_with_their_side() {
        for (side, name) in [(Side::A, "a"), (Side::B, "b")] {
            for len in [0, (1 << 20) - 1, 1 << 21] {
                let (dir, a, b) = sparse(1 << 20, [&[], &[]]);
                fs::File::options().write(true).open(dir.path().join(name)).unwrap().set_len(len).unwrap();
                let answer = same_content(&a, &b, &Stop::new());
                assert!(matches!(answer, Err((of, Failure::Changed { .. })) if of == side), "{answer:?}");
            }
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
