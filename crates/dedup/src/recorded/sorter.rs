//! Sorts more records than fit into memory: sorted runs are written to temporary files and merged.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::FileExt as _;

/// Bytes that are read from a run at a time.
const READ: usize = 64 << 10;

/// Runs that are merged at a time. More are first merged into one.
const MAX_RUNS: usize = 128;

/// Collects records, which are ordered by their bytes.
#[derive(Debug)]
pub(crate) struct Sorter {
    /// The bytes of the records in memory.
    bytes: Vec<u8>,
    /// Where each record is in `bytes`.
    spans: Vec<Span>,
    runs: Vec<Run>,
    /// Memory that the records and their places may use, in bytes.
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    len: usize,
}

/// Sorted records in an unnamed temporary file: each as its length in four bytes, and its bytes.
#[derive(Debug)]
struct Run {
    file: File,
    len: u64,
}

impl Sorter {
    /// Creates an empty sorter that uses about this much memory, but at least 16 KiB.
    pub(crate) fn new(memory: u64) -> Self {
        let limit = usize::try_from(memory).unwrap_or(usize::MAX).max(16 << 10);
        Self { bytes: Vec::new(), spans: Vec::new(), runs: Vec::new(), limit }
    }

    /// Adds the record that `push` appends to a buffer. It must be shorter than 4 GiB.
    pub(crate) fn add(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let start = self.bytes.len();
        push(&mut self.bytes);
        self.spans.push(Span { start, len: self.bytes.len() - start });
        if self.bytes.len() + self.spans.len() * size_of::<Span>() >= self.limit {
            self.write_run()?;
        }
        Ok(())
    }

    /// Ends the collection. Records stay in memory if they all fit.
    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        self.sort();
        if !self.runs.is_empty() && !self.spans.is_empty() {
            self.write_run()?;
            (self.bytes, self.spans) = (Vec::new(), Vec::new());
        }
        let Self { bytes, spans, runs, .. } = self;
        Ok(Sorted { bytes, spans, runs })
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.spans.sort_unstable_by(|a, b| a.of(bytes).cmp(b.of(bytes)));
    }

    fn write_run(&mut self) -> io::Result<()> {
        self.sort();
        let sorted = Sorted {
            bytes: std::mem::take(&mut self.bytes),
            spans: std::mem::take(&mut self.spans),
            runs: Vec::new(),
        };
        self.runs.push(Run::write(&sorted)?);
        if self.runs.len() == MAX_RUNS {
            let runs = Sorted { runs: std::mem::take(&mut self.runs), ..Sorted::default() };
            self.runs.push(Run::write(&runs)?);
        }
        Ok(())
    }
}

impl Span {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.start + self.len]
    }
}

impl Run {
    fn write(sorted: &Sorted) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        let (mut records, mut written) = (sorted.iter()?, 0);
        while let Some(record) = records.next()? {
            let len = u32::try_from(record.len()).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
            out.write_all(&len.to_le_bytes())?;
            out.write_all(record)?;
            written += 4 + u64::from(len);
        }
        Ok(Self { file: out.into_inner().map_err(|error| error.into_error())?, len: written })
    }
}

/// Sorted records. They can be read several times.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    runs: Vec<Run>,
}

impl Sorted {
    /// Returns a reader of the records in order.
    pub(crate) fn iter(&self) -> io::Result<Merged<'_>> {
        let of_run = |run| Source { record: Vec::new(), rest: Rest::File(RunReader::new(run)) };
        let of_memory = Source {
            record: Vec::new(),
            rest: Rest::Memory { bytes: &self.bytes, spans: self.spans.iter() },
        };
        let mut sources = BinaryHeap::with_capacity(self.runs.len() + 1);
        for mut source in self.runs.iter().map(of_run).chain([of_memory]) {
            if source.advance()? {
                sources.push(source);
            }
        }
        Ok(Merged { sources, has_started: false })
    }
}

/// A reader of sorted records.
pub(crate) struct Merged<'s> {
    /// The sources, each at its next record. After the first call of `next`, the first one is at the record that
    /// was returned last.
    sources: BinaryHeap<Source<'s>>,
    has_started: bool,
}

impl Merged<'_> {
    /// Returns the next record, valid until the next call.
    pub(crate) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if self.has_started
            && let Some(mut first) = self.sources.peek_mut()
            && !first.advance()?
        {
            PeekMut::pop(first);
        }
        self.has_started = true;
        Ok(self.sources.peek().map(|source| &*source.record))
    }
}

/// A run, or the records in memory. The greatest one in the heap has the smallest record.
struct Source<'s> {
    record: Vec<u8>,
    rest: Rest<'s>,
}

enum Rest<'s> {
    Memory { bytes: &'s [u8], spans: std::slice::Iter<'s, Span> },
    File(RunReader<'s>),
}

impl Source<'_> {
    fn advance(&mut self) -> io::Result<bool> {
        match &mut self.rest {
            Rest::Memory { bytes, spans } => {
                let Some(span) = spans.next() else { return Ok(false) };
                self.record.clear();
                self.record.extend_from_slice(span.of(bytes));
                Ok(true)
            }
            Rest::File(reader) => reader.read(&mut self.record),
        }
    }
}

impl PartialEq for Source<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.record == other.record
    }
}

impl Eq for Source<'_> {}

impl PartialOrd for Source<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Source<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.record.cmp(&self.record)
    }
}

/// Reads a run from its start. Several readers may read the same run.
struct RunReader<'s> {
    run: &'s Run,
    /// The offset in the file after `buf`.
    offset: u64,
    buf: Vec<u8>,
    /// The part of `buf` that was used.
    at: usize,
}

impl<'s> RunReader<'s> {
    fn new(run: &'s Run) -> Self {
        Self { run, offset: 0, buf: Vec::new(), at: 0 }
    }

    /// Reads the next record. Returns `false` at the end.
    fn read(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        record.clear();
        if self.at == self.buf.len() && self.offset == self.run.len {
            return Ok(false);
        }
        let mut len = Vec::with_capacity(4);
        self.take(4, &mut len)?;
        let len = u32::from_le_bytes(len.try_into().expect("four bytes were read"));
        self.take(len as usize, record)?;
        Ok(true)
    }

    fn take(&mut self, mut n: usize, to: &mut Vec<u8>) -> io::Result<()> {
        while n > 0 {
            if self.at == self.buf.len() {
                let left = usize::try_from(self.run.len - self.offset).unwrap_or(READ).min(READ);
                if left == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                self.buf.resize(left, 0);
                self.run.file.read_exact_at(&mut self.buf, self.offset)?;
                (self.offset, self.at) = (self.offset + left as u64, 0);
            }
            let part = n.min(self.buf.len() - self.at);
            to.extend_from_slice(&self.buf[self.at..self.at + part]);
            (self.at, n) = (self.at + part, n - part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn sorted(limit: usize, records: &[Vec<u8>]) -> Sorted {
        let mut sorter = Sorter { limit, ..Sorter::new(0) };
        for record in records {
            sorter.add(|out| out.extend_from_slice(record)).unwrap();
        }
        sorter.finish().unwrap()
    }

    fn read(sorted: &Sorted) -> Vec<Vec<u8>> {
        let (mut merged, mut read) = (sorted.iter().unwrap(), Vec::new());
        while let Some(record) = merged.next().unwrap() {
            read.push(record.to_vec());
        }
        read
    }

    proptest! {
        #[test]
        fn records_are_sorted_with_any_memory(
            records in vec(vec(0..3_u8, 0..9), 0..200), limit in 1..4000_usize,
        ) {
            let sorted = sorted(limit, &records);
            let mut expected = records;
            expected.sort();
            prop_assert_eq!(&read(&sorted), &expected);
            prop_assert_eq!(&read(&sorted), &expected, "a second time");
        }
    }

    #[test]
    fn many_runs_are_merged_in_steps() {
        let records: Vec<_> = (0..MAX_RUNS as u32 * 3).rev().map(|nth| nth.to_be_bytes().to_vec()).collect();
        let sorted = sorted(1, &records);
        assert!(sorted.runs.len() < MAX_RUNS && sorted.runs.len() > 1, "{}", sorted.runs.len());
        assert!(read(&sorted).iter().rev().eq(&records));
    }

    #[test]
    fn records_may_be_longer_than_the_buffer() {
        let records: Vec<_> = (0..5).rev().map(|nth| vec![nth; 3 * READ + 7]).collect();
        assert!(read(&sorted(1, &records)).iter().rev().eq(&records));
    }
}
