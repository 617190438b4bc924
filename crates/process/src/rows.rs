//! Results, one row a file. A digest can be had only from a row whose state is `Ok`.

use ftk_hash::Algorithm;
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

/// A table of digests: row `i` belongs to file number `i`.
#[derive(Debug)]
pub struct Rows {
    state: Vec<State>,
    bytes: Vec<u8>,
    algorithms: Vec<Algorithm>,
    /// Bytes of all digests of a file.
    width: usize,
}

impl Rows {
    /// `files` pending rows for digests of these algorithms.
    pub fn new(files: u32, algorithms: &[Algorithm]) -> Self {
        let (files, width) = (files as usize, width(algorithms));
        let (state, bytes) = (vec![State::Pending; files], vec![0; files * width]);
        Self { state, bytes, algorithms: algorithms.into(), width }
    }

    /// Bytes that the table takes for each file.
    pub fn bytes_per_file(algorithms: &[Algorithm]) -> usize {
        size_of::<State>() + width(algorithms)
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

    /// The digests of file number `file`, one for each algorithm and in their order, if its row is `Ok`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn digests(&self, file: u32) -> Option<impl Iterator<Item = &[u8]>> {
        let at = file as usize * self.width;
        (self.state(file) == State::Ok).then(|| {
            let mut rest = &self.bytes[at..at + self.width];
            self.algorithms.iter().map(move |algorithm| {
                rest.split_off(..algorithm.digest_len()).expect("a row holds every digest")
            })
        })
    }

    /// The digest of file number `file` by the algorithm with this number, if its row is `Ok`.
    ///
    /// # Panics
    /// If there is no such row or algorithm.
    pub fn digest(&self, file: u32, nth: usize) -> Option<&[u8]> {
        Some(self.digests(file)?.nth(nth).expect("an algorithm with this number"))
    }

    /// Rows nobody has touched.
    pub(crate) fn pending(&self) -> u64 {
        self.state.iter().filter(|state| **state == State::Pending).count() as u64
    }

    pub(crate) fn assert_fits(&self, files: u32, algorithms: &[Algorithm]) {
        let fits = self.state.len() == files as usize && self.algorithms == algorithms;
        assert!(fits, "rows made for other work");
    }

    pub(crate) fn all(&mut self) -> RowsMut<'_> {
        RowsMut { state: &mut self.state, bytes: &mut self.bytes, width: self.width }
    }
}

fn width(algorithms: &[Algorithm]) -> usize {
    algorithms.iter().map(|algorithm| algorithm.digest_len()).sum()
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

    pub(crate) fn ok(self, digests: &[u8]) {
        self.bytes.copy_from_slice(digests);
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
    use super::*;

    #[test]
    fn a_digest_can_be_had_from_an_ok_row_only() {
        let mut rows = Rows::new(3, &[Algorithm::Xxh3, Algorithm::Md5]);
        let mut all = rows.all();
        all.take_first().fail(State::Changed);
        all.take_first().ok(&[[1; 8], [2; 8], [3; 8]].concat());
        assert_eq!(all.len(), 1);
        assert!(rows.digests(0).is_none() && rows.digest(0, 0).is_none());
        assert!(rows.digests(1).unwrap().eq([&[1; 8][..], &[[2; 8], [3; 8]].concat()]));
        assert_eq!(rows.digest(1, 0), Some(&[1; 8][..]));
        assert_eq!(rows.state(2), State::Pending);
        assert!(rows.digests(2).is_none() && rows.digest(2, 1).is_none());
    }
}
