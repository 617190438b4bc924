//! Results, one row for each file. Only rows whose state is `Ok` have a digest.

use std::sync::Arc;

use ftk_file::{Attribute, Birth, Failure, File, Stat};
use ftk_hash::Algorithm;
use ftk_inventory::{Budget, Full};

use crate::attributes::{AttributeSet, AttributeTable, OpenAttributes};
use crate::stats::{FileStat, Kinds};

/// The result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not processed yet. A row that is still pending after a run that was not stopped is a bug.
    Pending,
    /// Pending, and deferred until the other files are done because the file is large.
    Deferred,
    /// Read to the end, and unchanged; the digest is that of its content.
    Ok,
    /// Could not be read.
    Failed,
    /// Changed while being read.
    Changed,
}

impl State {
    /// Returns the state of a file that failed for this reason.
    pub(crate) fn of(failure: &Failure) -> Self {
        if matches!(failure, Failure::Changed { .. }) { Self::Changed } else { Self::Failed }
    }
}

/// A table of digests. Row `i` belongs to the `i`th file of the work. If all files of an inventory are
/// wanted, that is file number `i`.
#[derive(Debug)]
pub struct Rows {
    state: Vec<State>,
    bytes: Vec<u8>,
    /// The result of `fstat` for each file; empty in a table without stats.
    stats: Vec<FileStat>,
    /// The rest of `stats`; `None` in a table without stats.
    kinds: Option<Kinds>,
    /// The extended attributes of each file; empty in a table without attributes.
    attributes: Vec<AttributeSet>,
    /// The rest of `attributes`; `None` in a table without attributes.
    sets: Option<AttributeTable>,
    algorithms: Vec<Algorithm>,
    /// Total length of one file's digests, in bytes.
    width: usize,
}

impl Rows {
    /// Creates `files` pending rows for digests of these algorithms.
    pub fn new(files: u32, algorithms: &[Algorithm]) -> Self {
        let (files, width) = (files as usize, width(algorithms));
        let (state, bytes) = (vec![State::Pending; files], vec![0; files * width]);
        let (stats, kinds, attributes, sets) = (Vec::new(), None, Vec::new(), None);
        Self { state, bytes, stats, kinds, attributes, sets, algorithms: algorithms.into(), width }
    }

    /// Creates `files` pending rows that also keep what `fstat` returns for each file when it is opened. This
    /// needs [`BYTES_PER_STAT`](Self::BYTES_PER_STAT) more bytes for each file.
    pub fn with_stats(files: u32, algorithms: &[Algorithm]) -> Self {
        let (stats, kinds) = (vec![FileStat::EMPTY; files as usize], Some(Kinds::new()));
        Self { stats, kinds, ..Self::new(files, algorithms) }
    }

    /// Also keeps the extended attributes of each file that is opened.
    ///
    /// # Errors
    /// If they do not fit into the budget.
    pub fn with_attributes(self, budget: &Budget) -> Result<Self, Full> {
        let files = self.state.len();
        budget.reserve((files * size_of::<AttributeSet>()) as u64)?;
        let sets = Some(AttributeTable::new(budget));
        Ok(Self { attributes: vec![AttributeSet::UNKNOWN; files], sets, ..self })
    }

    /// Bytes that [`with_stats`](Self::with_stats) needs for each file, in addition to
    /// [`bytes_per_file`](Self::bytes_per_file).
    pub const BYTES_PER_STAT: usize = size_of::<FileStat>();

    /// Returns how many bytes the table needs for each file.
    pub fn bytes_per_file(algorithms: &[Algorithm]) -> usize {
        size_of::<State>() + width(algorithms)
    }

    /// Returns the state of row number `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn state(&self, row: u32) -> State {
        self.state[row as usize]
    }

    /// Whether the file of row number `row` was not processed.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn is_pending(&self, row: u32) -> bool {
        matches!(self.state(row), State::Pending | State::Deferred)
    }

    /// Returns the digests of row number `row` if the row is `Ok`: one for each algorithm, in their order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn digests(&self, row: u32) -> Option<impl Iterator<Item = &[u8]>> {
        let at = row as usize * self.width;
        (self.state(row) == State::Ok).then(|| {
            let mut rest = &self.bytes[at..at + self.width];
            self.algorithms.iter().map(move |algorithm| {
                rest.split_off(..algorithm.digest_len()).expect("a row holds every digest")
            })
        })
    }

    /// Returns the digest of row number `row` by algorithm number `nth`, if the row is `Ok`.
    ///
    /// # Panics
    /// If there is no such row or algorithm.
    pub fn digest(&self, row: u32, nth: usize) -> Option<&[u8]> {
        Some(self.digests(row)?.nth(nth).expect("an algorithm with this number"))
    }

    /// Returns what `fstat` returned when the file of row number `row` was opened, if the row is `Ok`.
    ///
    /// # Panics
    /// If there is no such row, or the table was made without stats.
    pub fn stat(&self, row: u32) -> Option<Stat> {
        let kinds = self.kinds.as_ref().expect("the table was made with stats");
        (self.state(row) == State::Ok).then(|| kinds.unpack(&self.stats[row as usize]))
    }

    /// Returns the extended attributes of the file of row number `row`. `None` if they were not read, or reading them
    /// failed.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn attributes(&self, row: u32) -> Option<AttributeSet> {
        let set = self.attributes.get(row as usize).copied();
        set.filter(|set| *set != AttributeSet::UNKNOWN && self.state(row) == State::Ok)
    }

    /// Returns the attributes of a set, sorted by name.
    ///
    /// # Panics
    /// If the set belongs to another table, or is empty.
    pub fn set(&self, set: AttributeSet) -> Arc<[Attribute]> {
        self.sets.as_ref().expect("the table was made with attributes").get(set)
    }

    /// Returns the number of pending rows that are not deferred.
    pub(crate) fn pending(&self) -> u64 {
        self.state.iter().filter(|state| **state == State::Pending).count() as u64
    }

    pub(crate) fn assert_fits(&self, files: u32, algorithms: &[Algorithm]) {
        let fits = self.state.len() == files as usize && self.algorithms == algorithms;
        assert!(fits, "the rows were made for other work");
    }

    pub(crate) fn all(&mut self) -> RowsMut<'_> {
        let Self { state, bytes, stats, kinds, attributes, sets, width, .. } = self;
        let (kinds, sets) = (kinds.as_ref(), sets.as_ref());
        RowsMut { state, bytes, stats, kinds, attributes, sets, width: *width }
    }
}

fn width(algorithms: &[Algorithm]) -> usize {
    algorithms.iter().map(|algorithm| algorithm.digest_len()).sum()
}

/// Exclusive access to a run of rows.
#[derive(Debug, Default)]
pub(crate) struct RowsMut<'r> {
    state: &'r mut [State],
    bytes: &'r mut [u8],
    /// Empty in a table without stats.
    stats: &'r mut [FileStat],
    kinds: Option<&'r Kinds>,
    /// Empty in a table without attributes.
    attributes: &'r mut [AttributeSet],
    sets: Option<&'r AttributeTable>,
    width: usize,
}

impl<'r> RowsMut<'r> {
    pub(crate) fn len(&self) -> usize {
        self.state.len()
    }

    /// Removes the first `n` rows.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn skip(&mut self, n: usize) {
        self.state = &mut std::mem::take(&mut self.state)[n..];
        self.bytes = &mut std::mem::take(&mut self.bytes)[n * self.width..];
        let stats = n.min(self.stats.len());
        self.stats = &mut std::mem::take(&mut self.stats)[stats..];
        let attributes = n.min(self.attributes.len());
        self.attributes = &mut std::mem::take(&mut self.attributes)[attributes..];
    }

    /// Removes and returns the first row.
    ///
    /// # Panics
    /// If no rows are left.
    pub(crate) fn take_first(&mut self) -> RowMut<'r> {
        let (state, states) = std::mem::take(&mut self.state).split_first_mut().expect("a row is left");
        let (bytes, rest) = std::mem::take(&mut self.bytes).split_at_mut(self.width);
        self.state = states;
        self.bytes = rest;
        let stat = self.stats.split_off_first_mut().zip(self.kinds);
        RowMut { state, bytes, stat, attributes: self.attributes.split_off_first_mut().zip(self.sets) }
    }
}

/// One pending row, to be filled once.
#[derive(Debug)]
pub(crate) struct RowMut<'r> {
    state: &'r mut State,
    bytes: &'r mut [u8],
    stat: Option<(&'r mut FileStat, &'r Kinds)>,
    attributes: Option<(&'r mut AttributeSet, &'r AttributeTable)>,
}

impl RowMut<'_> {
    /// Returns whether the row keeps metadata.
    pub(crate) fn has_stat(&self) -> bool {
        self.stat.is_some()
    }

    /// Returns whether the row keeps the time of birth.
    pub(crate) fn birth(&self) -> Birth {
        if self.has_stat() { Birth::Requested } else { Birth::Unknown }
    }

    /// Reads the extended attributes of the open file, if the row keeps them.
    pub(crate) fn read_attributes<'f>(
        &mut self,
        file: impl FnOnce() -> Option<&'f File>,
        reader: &mut OpenAttributes,
    ) {
        if let Some((set, table)) = &mut self.attributes
            && let Some(file) = file()
        {
            **set = reader.read(file, table);
        }
    }

    pub(crate) fn is_pending(&self) -> bool {
        *self.state == State::Pending
    }

    pub(crate) fn ok(self, digests: &[u8], stat_at_open: &Stat) {
        self.bytes.copy_from_slice(digests);
        if let Some((stat, kinds)) = self.stat {
            *stat = kinds.pack(stat_at_open);
        }
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
    fn only_ok_rows_have_a_digest() {
        let mut rows = Rows::with_stats(3, &[Algorithm::Xxh3, Algorithm::Md5]);
        let mut all = rows.all();
        all.take_first().fail(State::Changed);
        let stat = Stat { size: 7, ..Stat::EMPTY };
        all.take_first().ok(&[[1; 8], [2; 8], [3; 8]].concat(), &stat);
        assert_eq!(all.len(), 1);
        assert_eq!([0, 1, 2].map(|row| rows.stat(row)), [None, Some(stat), None]);
        assert!(rows.digests(0).is_none() && rows.digest(0, 0).is_none());
        assert!(rows.digests(1).unwrap().eq([&[1; 8][..], &[[2; 8], [3; 8]].concat()]));
        assert_eq!(rows.digest(1, 0), Some(&[1; 8][..]));
        assert_eq!(rows.state(2), State::Pending);
        assert!(rows.digests(2).is_none() && rows.digest(2, 1).is_none());
    }
}
