//! Collects records and sorts them by path.

use ftk_inventory::{Budget, Full};
use ftk_walk::{Entry, Fields, Step, WalkError};

use super::render::Render;

/// The records of one worker, in the order of its walk. They are written during the walk, when metadata is
/// available and all workers share the work.
pub(super) struct Unsorted<'r> {
    render: Render<'r>,
    bytes: Vec<u8>,
    records: Vec<Record>,
    budget: Budget,
    reserved: u64,
    full: Option<Full>,
}

/// The position of a record in `bytes`: the path, and directly after it the text to print.
struct Record {
    start: usize,
    path_len: usize,
    end: usize,
}

/// Bytes reserved from the budget at a time.
const UNIT: u64 = 64 << 10;

impl<'r> Unsorted<'r> {
    /// Creates an empty collection, whose memory is reserved from `budget`.
    pub(super) fn new(render: Render<'r>, budget: Budget) -> Self {
        Self { render, bytes: Vec::new(), records: Vec::new(), budget, reserved: 0, full: None }
    }

    /// Returns the metadata that records need.
    pub(super) fn reads(&self) -> Fields {
        self.render.reads()
    }

    /// Adds a record. If the budget is exceeded, the walk stops and [`sort`] returns the error.
    pub(super) fn add(&mut self, dir: &[u8], entry: &mut Entry<'_>) -> Result<Step, WalkError> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(dir);
        self.bytes.extend_from_slice(entry.name());
        let path_len = self.bytes.len() - start;
        if let Err(failure) = self.render.push(&mut self.bytes, dir, entry) {
            self.bytes.truncate(start);
            return Err(failure);
        }
        self.records.push(Record { start, path_len, end: self.bytes.len() });
        self.full = self.full.or(self.reserve().err());
        Ok(if self.full.is_some() { Step::Stop } else { Step::Descend })
    }

    fn reserve(&mut self) -> Result<(), Full> {
        // Sorting needs a pair of slices for each record in addition.
        let record = size_of::<Record>() + size_of::<(&[u8], &[u8])>();
        while (self.bytes.capacity() + self.records.capacity() * record) as u64 > self.reserved {
            self.budget.reserve(UNIT)?;
            self.reserved += UNIT;
        }
        Ok(())
    }
}

/// Returns the text of all records, sorted by path.
///
/// # Errors
/// If the records of a worker exceeded the budget.
pub(super) fn sort<'p>(parts: &'p [Unsorted<'_>]) -> Result<impl Iterator<Item = &'p [u8]>, Full> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.records.len()).sum());
    for part in parts {
        if let Some(full) = part.full {
            return Err(full);
        }
        let pair = |record: &Record| part.bytes[record.start..record.end].split_at(record.path_len);
        all.extend(part.records.iter().map(pair));
    }
    all.sort_unstable();
    Ok(all.into_iter().map(|(_, record)| record))
}
