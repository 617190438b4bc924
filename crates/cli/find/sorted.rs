//! Collects records and sorts them.

use ftk_inventory::{Budget, Full};
use ftk_walk::{Entry, Fields, Step, WalkError};

use super::order::Order;
use super::render::Render;

/// The records of one worker, in the order of its walk. They are written during the walk, when metadata is
/// available and all workers share the work.
pub(super) struct Unsorted<'r> {
    render: Render<'r>,
    order: Order,
    bytes: Vec<u8>,
    records: Vec<Record>,
    /// The number that each record is sorted by; empty if that is text.
    numbers: Vec<i128>,
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
    pub(super) fn new(render: Render<'r>, order: Order, budget: Budget) -> Self {
        let (bytes, records, numbers) = (Vec::new(), Vec::new(), Vec::new());
        Self { render, order, bytes, records, numbers, budget, reserved: 0, full: None }
    }

    /// Returns the metadata that records need.
    pub(super) fn reads(&self) -> Fields {
        self.render.reads() | self.order.reads()
    }

    /// Adds a record. If the budget is exceeded, the walk stops and [`sort`] returns the error.
    pub(super) fn add(&mut self, dir: &[u8], entry: &mut Entry<'_>) -> Result<Step, WalkError> {
        let number = self.order.number(entry)?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(dir);
        self.bytes.extend_from_slice(entry.name());
        let path_len = self.bytes.len() - start;
        if let Err(failure) = self.render.push(&mut self.bytes, dir, entry) {
            self.bytes.truncate(start);
            return Err(failure);
        }
        self.numbers.extend(number);
        self.records.push(Record { start, path_len, end: self.bytes.len() });
        self.full = self.full.or(self.reserve().err());
        Ok(if self.full.is_some() { Step::Stop } else { Step::Descend })
    }

    fn reserve(&mut self) -> Result<(), Full> {
        // Sorting needs a number and a pair of slices for each record in addition.
        let record = size_of::<Record>() + size_of::<(i128, &[u8], &[u8])>();
        let numbers = self.numbers.capacity() * size_of::<i128>();
        while (self.bytes.capacity() + numbers + self.records.capacity() * record) as u64 > self.reserved {
            self.budget.reserve(UNIT)?;
            self.reserved += UNIT;
        }
        Ok(())
    }
}

/// Returns the path and the text of all records, sorted.
///
/// # Errors
/// If the records of a worker exceeded the budget.
pub(super) fn sort<'p>(
    parts: &'p [Unsorted<'_>],
    order: Order,
) -> Result<impl Iterator<Item = (&'p [u8], &'p [u8])>, Full> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.records.len()).sum());
    for part in parts {
        if let Some(full) = part.full {
            return Err(full);
        }
        let numbers = part.numbers.iter().copied().chain(std::iter::repeat(0));
        all.extend(part.records.iter().zip(numbers).map(|(record, number)| {
            let (path, text) = part.bytes[record.start..record.end].split_at(record.path_len);
            (number, path, text)
        }));
    }
    all.sort_unstable_by(|a, b| order.cmp((a.0, a.1), (b.0, b.1)));
    Ok(all.into_iter().map(|(_, path, record)| (path, record)))
}
