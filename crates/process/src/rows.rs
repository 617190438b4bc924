//! Results, one row a file. A digest can be had only from a row whose state is `Ok`.

use ftk_hash::Digest;
use ftk_read::Failure;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not processed (yet). A row that is still pending when a run has ended without being stopped is a bug.
    Pending,
    /// Pending, and known to be so large that it comes after the others.
    Deferred,
    /// Read to its end, unchanged; the digest is its content's.
    Ok,
    /// Could not be read.
    Failed,
    /// Changed while it was read.
    Changed,
}

impl State {
    /// The state of a file that has no digest for this reason.
    pub(crate) fn of(failure: &Failure) -> Self {
        if matches!(failure, Failure::Changed { .. }) { Self::Changed } else { Self::Failed }
    }
}

/// A table of digests: row `i` belongs to file number `i`. Takes 1 byte and one digest a file.
#[derive(Debug)]
pub struct Rows {
    state: Vec<State>,
    bytes: Vec<u8>,
    width: usize,
}

impl Rows {
    /// `files` pending rows for digests of `width` bytes.
    pub fn new(files: u32, width: usize) -> Self {
        let files = files as usize;
        Self { state: vec![State::Pending; files], bytes: vec![0; files * width], width }
    }

    /// What became of file number `file`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn state(&self, file: u32) -> State {
        self.state[file as usize]
    }

    /// Whether file number `file` was not processed.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn is_pending(&self, file: u32) -> bool {
        matches!(self.state(file), State::Pending | State::Deferred)
    }

    /// The digest of file number `file`, if its row is `Ok`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn digest(&self, file: u32) -> Option<&[u8]> {
        let at = file as usize * self.width;
        (self.state(file) == State::Ok).then(|| &self.bytes[at..at + self.width])
    }

    /// Rows nobody has touched.
    pub(crate) fn pending(&self) -> u64 {
        self.state.iter().filter(|state| **state == State::Pending).count() as u64
    }

    pub(crate) fn assert_fits(&self, files: u32, width: usize) {
        assert_eq!((self.state.len(), self.width), (files as usize, width), "rows made for other work");
    }

    pub(crate) fn all(&mut self) -> RowsMut<'_> {
        RowsMut { state: &mut self.state, bytes: &mut self.bytes, width: self.width }
    }
}

/// A run of rows that nobody else has.
#[derive(Debug, Default)]
pub(crate) struct RowsMut<'r> {
    state: &'r mut [State],
    bytes: &'r mut [u8],
    width: usize,
}

impl<'r> RowsMut<'r> {
    pub(crate) fn len(&self) -> usize {
        self.state.len()
    }

    /// Gives up the first `n` rows.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn skip(&mut self, n: usize) {
        self.state = &mut std::mem::take(&mut self.state)[n..];
        self.bytes = &mut std::mem::take(&mut self.bytes)[n * self.width..];
    }

    /// Takes the first row.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn take_first(&mut self) -> RowMut<'r> {
        let (state, states) = std::mem::take(&mut self.state).split_first_mut().expect("a row is left");
        let (bytes, rest) = std::mem::take(&mut self.bytes).split_at_mut(self.width);
        self.state = states;
        self.bytes = rest;
        RowMut { state, bytes }
    }
}

/// One pending row, to be filled once.
#[derive(Debug)]
pub(crate) struct RowMut<'r> {
    state: &'r mut State,
    bytes: &'r mut [u8],
}

impl RowMut<'_> {
    pub(crate) fn is_pending(&self) -> bool {
        *self.state == State::Pending
    }

    pub(crate) fn ok(self, digest: &Digest) {
        self.bytes.copy_from_slice(digest.as_bytes());
        *self.state = State::Ok;
    }

    pub(crate) fn fail(self, state: State) {
        *self.state = state;
    }

    pub(crate) fn defer(self) {
        *self.state = State::Deferred;
    }
}

#[cfg(test)]
mod tests {
    use ftk_hash::{Algorithm, Platform};

    use super::*;

    #[test]
    fn a_digest_can_be_had_from_an_ok_row_only() {
        let digest = Algorithm::Sha256.hash_one(Platform::detect(), b"abc");
        let mut rows = Rows::new(3, 32);
        let mut all = rows.all();
        all.take_first().fail(State::Changed);
        all.take_first().ok(&digest);
        assert_eq!(all.len(), 1);
        assert_eq!(rows.digest(0), None);
        assert_eq!(rows.digest(1), Some(digest.as_bytes()));
        assert_eq!((rows.state(2), rows.digest(2)), (State::Pending, None));
    }
}
