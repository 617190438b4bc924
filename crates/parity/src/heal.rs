//! Computing contents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::ops::Range;

use crate::code::Decoder;
use crate::load::Loader;
use crate::{Error, Parity, Piece, Sources, UNIT};

/// Receives parts of contents: the position of the content, the offset of the part in it, and the bytes. A content's holes
/// are not passed.
pub type Output<'o> = &'o mut dyn FnMut(usize, u64, &[u8]) -> io::Result<()>;

/// What can be computed of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes of the content, in whole units, that no file has, and that were computed or can be.
    pub computed: u64,
    /// Bytes of the content that cannot be computed.
    pub lost: u64,
    /// The largest number of recovery blocks that a group of it lacks. 0 if nothing is lost.
    pub lacking: u64,
}

/// Computes the contents at these positions, from the files that have parts of them, the other contents and the recovery
/// blocks. Without an output, only finds out what can be computed. Returns an outcome for each of them.
///
/// `memory` is what it may use, in bytes, besides two blocks; at least a unit of each row of a group is held.
///
/// The caller must compare the digests of all contents: a file that changes meanwhile can make the bytes wrong.
///
/// # Errors
/// If the output fails.
pub fn heal(
    parity: &Parity,
    wanted: &[usize],
    sources: &mut dyn Sources,
    memory: u64,
    mut output: Option<Output<'_>>,
) -> Result<Vec<Outcome>, Error> {
    let layout = &parity.index.layout;
    let mut outcomes: HashMap<usize, Outcome> = wanted.iter().map(|it| (*it, Outcome::default())).collect();
    let mut loader = Loader::new(&parity.index, sources);
    let mut buf = vec![0; layout.block as usize];
    // The groups that have lost parts of wanted contents, with these.
    let mut groups: BTreeMap<(usize, u64), Vec<(u64, Piece)>> = BTreeMap::new();
    for block in blocks_of(parity, &outcomes) {
        let lost = loader.load(block, &mut buf);
        for piece in layout.pieces_of(block).filter(|piece| outcomes.contains_key(&piece.content)) {
            let start = piece.place - block * layout.block;
            if lost.iter().any(|lost| lost.contains(&start)) {
                let (nth, group, row) = position(parity, block);
                groups.entry((nth, group)).or_default().push((row, piece));
            } else if let Some(output) = &mut output {
                output(piece.content, piece.offset, &buf[start as usize..][..piece.len as usize])?;
            }
        }
    }
    let mut decoder = Decoder::default();
    for ((nth, group), parts) in groups {
        let work = Work { parity, nth, group, parts: &parts, memory };
        work.run(&mut loader, &mut decoder, &mut outcomes, &mut output)?;
    }
    Ok(wanted.iter().map(|it| outcomes[it]).collect())
}

/// Returns the blocks that have parts of these contents, ascending.
fn blocks_of(parity: &Parity, wanted: &HashMap<usize, Outcome>) -> BTreeSet<u64> {
    let layout = &parity.index.layout;
    let pieces = layout.pieces.iter().filter(|piece| wanted.contains_key(&piece.content));
    pieces.flat_map(|piece| piece.place / layout.block..piece.range().end.div_ceil(layout.block)).collect()
}

/// Returns the batch, the group and the row of a block.
fn position(parity: &Parity, block: u64) -> (usize, u64, u64) {
    let batches = &parity.index.batches;
    let nth = batches.partition_point(|batch| batch.range().end <= block);
    let within = block - batches[nth].first;
    (nth, within % batches[nth].groups, within / batches[nth].groups)
}

/// The lost parts of wanted contents in a group, with their rows.
struct Work<'w> {
    parity: &'w Parity,
    nth: usize,
    group: u64,
    parts: &'w [(u64, Piece)],
    memory: u64,
}

/// The same columns of all rows of a group.
struct Slice {
    columns: Range<u64>,
    /// The rows one after the other: data, then recovery.
    bytes: Vec<u8>,
    /// The columns that are lost, by row.
    lost: Vec<Vec<Range<u64>>>,
}

impl Work<'_> {
    fn run(
        &self,
        loader: &mut Loader<'_>,
        decoder: &mut Decoder,
        outcomes: &mut HashMap<usize, Outcome>,
        output: &mut Option<Output<'_>>,
    ) -> Result<(), Error> {
        let (batch, block) = (&self.parity.index.batches[self.nth], self.parity.index.layout.block);
        let rows = batch.rows(self.group);
        let held = rows + batch.recovery + Decoder::held(rows, batch);
        let width = (self.memory / held / UNIT * UNIT).clamp(UNIT, block);
        let mut start = 0;
        while start < block {
            let columns = start..(start + width).min(block);
            start = columns.end;
            if self.parts.iter().any(|(_, piece)| overlaps(&self.columns(piece), &columns)) {
                let slice = self.load(loader, columns);
                self.decode(&slice, decoder, outcomes, output)?;
            }
        }
        Ok(())
    }

    /// Returns the columns of a part, in whole units.
    fn columns(&self, piece: &Piece) -> Range<u64> {
        let start = piece.place % self.parity.index.layout.block;
        start..crate::round_up(start + piece.len, UNIT)
    }

    /// Loads all rows. Each block is read as a whole, so that its checksum is known.
    fn load(&self, loader: &mut Loader<'_>, columns: Range<u64>) -> Slice {
        let (batch, block) = (&self.parity.index.batches[self.nth], self.parity.index.layout.block);
        let mut buf = vec![0; block as usize];
        let mut slice = Slice { columns: columns.clone(), bytes: Vec::new(), lost: Vec::new() };
        let part = columns.start as usize..columns.end as usize;
        for row in 0..batch.rows(self.group) {
            slice.lost.push(loader.load(batch.block(self.group, row), &mut buf));
            slice.bytes.extend(&buf[part.clone()]);
        }
        for row in 0..batch.recovery {
            let is_good = self.parity.recovery(self.nth, self.group, row, &mut buf);
            slice.lost.push((!is_good).then_some(0..block).into_iter().collect());
            slice.bytes.extend(&buf[part.clone()]);
        }
        slice
    }

    /// Computes the lost parts in a slice.
    fn decode(
        &self,
        slice: &Slice,
        decoder: &mut Decoder,
        outcomes: &mut HashMap<usize, Outcome>,
        output: &mut Option<Output<'_>>,
    ) -> Result<(), Error> {
        let data = self.parity.index.batches[self.nth].rows(self.group) as usize;
        for columns in slice.runs() {
            let parts = self.parts.iter().filter(|(_, piece)| overlaps(&self.columns(piece), &columns));
            let parts: Vec<_> = parts.collect();
            if parts.is_empty() {
                continue;
            }
            let rows = slice.rows(&columns);
            let available = rows[data..].iter().flatten().count() as u64;
            let missing = rows[..data].iter().filter(|row| row.is_none()).count() as u64;
            let is_enough = missing <= available;
            for (_, piece) in &parts {
                let outcome = outcomes.get_mut(&piece.content).expect("a wanted content");
                let wanted = self.columns(piece);
                let len = wanted.end.min(columns.end) - wanted.start.max(columns.start);
                if is_enough {
                    outcome.computed += len;
                } else {
                    outcome.lost += len;
                    outcome.lacking = outcome.lacking.max(missing - available);
                }
            }
            let Some(output) = output.as_mut().filter(|_| is_enough) else { continue };
            let mut result = Ok(());
            let len = (columns.end - columns.start) as usize;
            decoder.decode(&rows[..data], &rows[data..], len, |row, bytes| {
                for (_, piece) in parts.iter().filter(|(at, _)| *at == row as u64) {
                    let start = piece.place % self.parity.index.layout.block;
                    let (from, end) = (start.max(columns.start), (start + piece.len).min(columns.end));
                    let bytes = &bytes[(from - columns.start) as usize..(end - columns.start) as usize];
                    if result.is_ok() {
                        result = output(piece.content, piece.offset + (from - start), bytes);
                    }
                }
            });
            result?;
        }
        Ok(())
    }
}

impl Slice {
    /// Divides the columns into runs in each of which the same rows are lost.
    fn runs(&self) -> Vec<Range<u64>> {
        let all = self.lost.iter().flatten().flat_map(|lost| [lost.start, lost.end]);
        let within = all.filter(|it| self.columns.contains(it));
        let mut bounds: BTreeSet<u64> = within.collect();
        bounds.extend([self.columns.start, self.columns.end]);
        let bounds: Vec<_> = bounds.into_iter().collect();
        bounds.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    /// Returns the bytes of all rows in a run. `None`: the row is lost there.
    fn rows(&self, columns: &Range<u64>) -> Vec<Option<&[u8]>> {
        let width = (self.columns.end - self.columns.start) as usize;
        let start = (columns.start - self.columns.start) as usize;
        let len = (columns.end - columns.start) as usize;
        let rows = self.bytes.chunks_exact(width).zip(&self.lost);
        rows.map(|(bytes, lost)| {
            let is_lost = lost.iter().any(|lost| overlaps(lost, columns));
            (!is_lost).then(|| &bytes[start..start + len])
        })
        .collect()
    }
}

fn overlaps(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}
