//! Detects the end of a file and decides whether its bytes can be trusted.

use crate::{Failure, File, limit};

/// How far a file has been read.
///
/// This performs no reads. The caller reads as it likes, blocking or not, and counts each read here in the
/// order of offsets.
#[derive(Clone, Debug)]
pub struct ReadState {
    at: u64,
    end: Option<u64>,
    bytes: u64,
    reads: u64,
    has_ended: bool,
}

impl ReadState {
    /// Starts reading at offset `at`, up to the offset `end` or, if that is `None`, to the end of the file.
    pub fn new(at: u64, end: Option<u64>) -> Self {
        Self { at, end, bytes: 0, reads: 0, has_ended: end == Some(at) }
    }

    /// Returns the offset of the next read.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Whether nothing is left to read.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Continues at another offset.
    pub fn go_to(&mut self, at: u64) {
        self.at = at;
        self.has_ended = self.end == Some(at);
    }

    /// Forgets the last `bytes` bytes, which must be read again.
    pub fn go_back(&mut self, bytes: u64) {
        self.at -= bytes;
        self.bytes -= bytes;
    }

    /// Counts a read of the file that was to return `asked` bytes and returned `got`, and detects the end.
    ///
    /// A short read is the end only if it reaches the size at the open, since file systems may return fewer
    /// bytes than asked for at any time. A size of 0 proves nothing, since procfs reports it for every file.
    ///
    /// # Errors
    /// [`Failure::Changed`] if the file has grown since it was opened: one that grows as fast as it is read
    /// would never end. Reading ends here, and [`verify`](Self::verify) reports the same failure again.
    pub fn count_read(&mut self, file: &File, asked: usize, got: usize) -> Result<(), Failure> {
        self.at += got as u64;
        self.bytes += got as u64;
        self.reads += 1;
        if let Some(end) = self.end {
            self.has_ended = got == 0 || self.at == end;
            return Ok(());
        }
        let size = file.stat().size;
        // With a rate limit, only an empty read is the end: the read may have asked for less. And since two reads are
        // then needed, `verify` sees changes during the wait for the limit.
        let is_short = got < asked && !limit::may_have_limited();
        self.has_ended = got == 0 || (is_short && self.at == size);
        if self.at > size {
            self.verify(file).inspect_err(|_| self.has_ended = true)?;
        }
        Ok(())
    }

    /// Counts `len` bytes of a hole, which are zeros without a read, and detects the end. It counts as two reads,
    /// so that [`verify`](Self::verify) always calls `fstat`: no read shows that the file shrank or grew.
    ///
    /// # Panics
    /// If the hole extends past the end of the range or the size at the open.
    pub fn count_hole(&mut self, file: &File, len: u64) {
        let end = self.end.unwrap_or(file.stat().size);
        self.at += len;
        self.bytes += len;
        self.reads += 2;
        assert!(self.at <= end, "a hole ends at {}, after the end {end}", self.at);
        self.has_ended = self.at == end;
    }

    /// Checks that the file did not change while it was read. See [`File::verify`].
    ///
    /// # Errors
    /// Those of [`File::verify`].
    pub fn verify(&self, file: &File) -> Result<(), Failure> {
        file.verify(self.bytes, self.reads)
    }

    /// Does the same if others have read the file too. See [`File::verify_always`].
    ///
    /// # Errors
    /// Those of [`File::verify_always`].
    pub fn verify_always(&self, file: &File) -> Result<(), Failure> {
        file.verify_always(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;
    use crate::testing::file_of_100_bytes;

    #[test]
    fn only_the_size_or_an_empty_read_is_the_end() {
        let (_dir, _path, file) = file_of_100_bytes();
        for (reads, has_ended) in [
            (&[(60, 40), (60, 60)][..], false), // the size, but no more was asked for
            (&[(60, 40), (60, 60), (60, 0)], true),
            (&[(101, 100)], true),
            (&[(200, 99)], false),
            (&[(200, 0)], true), // the size at the open was wrong
        ] {
            let mut state = ReadState::new(0, None);
            reads.iter().for_each(|&(asked, got)| state.count_read(&file, asked, got).unwrap());
            assert_eq!(state.has_ended(), has_ended, "{reads:?}");
            state.verify(&file).unwrap();
        }
    }

    #[test]
    fn a_range_ends_where_it_was_told_to() {
        let (_dir, _path, file) = file_of_100_bytes();
        let mut state = ReadState::new(10, Some(30));
        for (got, offset, has_ended) in [(15, 25, false), (5, 30, true)] {
            state.count_read(&file, 20, got).unwrap();
            assert_eq!((state.offset(), state.has_ended()), (offset, has_ended));
        }
        assert!(ReadState::new(30, Some(30)).has_ended());
    }

    #[test]
    fn reading_a_file_that_has_grown_ends_with_an_error() {
        let (_dir, path, file) = file_of_100_bytes();
        OpenOptions::new().append(true).open(path).unwrap().write_all(&[7; 100]).unwrap();
        let mut state = ReadState::new(0, None);
        state.count_read(&file, 100, 100).unwrap();
        let grown = state.count_read(&file, 100, 1);
        assert!(matches!(grown, Err(Failure::Changed { read: 101, .. })), "{grown:?}");
        assert!(state.has_ended() && state.verify(&file).is_err());
    }

    #[test]
    fn a_hole_that_reaches_the_size_ends_the_file() {
        let (_dir, path, file) = file_of_100_bytes();
        for (end, len) in [(None, 40), (Some(90), 30)] {
            let mut state = ReadState::new(0, end);
            state.count_read(&file, 60, 60).unwrap();
            state.count_hole(&file, len - 10);
            assert_eq!((state.offset(), state.has_ended()), (50 + len, false));
            state.count_hole(&file, 10);
            assert!(state.has_ended());
            state.verify(&file).unwrap();
        }
        let mut state = ReadState::new(0, None);
        state.count_hole(&file, 100);
        assert!(state.reads > 1, "`verify` calls `fstat` whenever the file was last changed");
        OpenOptions::new().append(true).open(path).unwrap().write_all(&[7; 100]).unwrap();
        let mut state = ReadState::new(0, None);
        state.count_hole(&file, 100);
        assert!(matches!(state.verify(&file), Err(Failure::Changed { read: 100, .. })));
    }

    #[test]
    #[should_panic(expected = "a hole ends at 101, after the end 100")]
    fn a_hole_past_the_size_panics() {
        let (_dir, _path, file) = file_of_100_bytes();
        ReadState::new(0, None).count_hole(&file, 101);
    }

    #[test]
    fn bytes_that_are_read_again_count_once() {
        let (_dir, _path, file) = file_of_100_bytes();
        let mut state = ReadState::new(0, None);
        state.count_read(&file, 60, 60).unwrap();
        state.go_back(60);
        state.count_read(&file, 200, 100).unwrap();
        assert!(state.has_ended() && state.offset() == 100);
    }
}
