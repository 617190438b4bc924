//! A position in a file that is read front to back.

use std::ops::Range;

use crate::{Failure, File, ReadState};

/// A position in a file. It advances with every read and knows the end of the file.
#[derive(Clone, Debug)]
pub struct Cursor<'f> {
    file: &'f File,
    state: ReadState,
}

impl<'f> Cursor<'f> {
    /// Starts at offset `at`, and ends at the end of the file.
    pub fn new(file: &'f File, at: u64) -> Self {
        Self { file, state: ReadState::new(at, None) }
    }

    /// Starts and ends with the range.
    pub(crate) fn in_range(file: &'f File, range: Range<u64>) -> Self {
        Self { file, state: ReadState::new(range.start, Some(range.end)) }
    }

    /// Moves to another offset of the file.
    pub fn go_to(&mut self, at: u64) {
        self.state.go_to(at);
    }

    /// Whether nothing is left to read.
    pub fn has_ended(&self) -> bool {
        self.state.has_ended()
    }

    /// Reads until the buffer is full or the end is reached. Returns how many bytes were read.
    ///
    /// # Errors
    /// [`Failure::Io`] if a read fails; [`Failure::Changed`] if the file has grown.
    pub fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Failure> {
        let mut len = 0;
        while len < buf.len() && !self.state.has_ended() {
            let asked = &mut buf[len..];
            let got = self.file.read_at(asked, self.state.offset()).map_err(Failure::of_read)?;
            self.state.count_read(self.file, asked.len(), got)?;
            len += got;
        }
        Ok(len)
    }

    /// Passes `len` bytes of a hole without reading them.
    ///
    /// # Panics
    /// If the hole extends past the size at the open.
    pub fn pass_hole(&mut self, len: u64) {
        self.state.count_hole(self.file, len);
    }

    /// Checks that the file did not change while it was read.
    ///
    /// # Errors
    /// Those of [`File::verify`].
    pub fn verify(&self) -> Result<(), Failure> {
        self.state.verify(self.file)
    }

    /// Does the same if others have read the file too.
    ///
    /// # Errors
    /// Those of [`File::verify_always`].
    pub fn verify_always(&self) -> Result<(), Failure> {
        self.state.verify_always(self.file)
    }
}
