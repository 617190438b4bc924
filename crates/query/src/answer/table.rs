//! Rows as a table for people.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use ftk_record::sanitize;

use super::{Cell, Print};

/// The rows that determine the widths of the columns. Later rows may be wider.
const SAMPLE: usize = 1000;

/// Columns separated by two blanks. Names are safe on a terminal.
pub(super) struct Table<W> {
    out: W,
    header: Vec<String>,
    /// The first rows, until the widths are known.
    sample: Vec<Vec<Shown>>,
    /// Empty until they are known.
    widths: Vec<usize>,
}

struct Shown {
    text: String,
    is_number: bool,
}

impl<W: Write> Table<W> {
    pub(super) fn new(schema: SchemaRef, out: W) -> Self {
        let header = schema.fields().iter().map(|field| sanitize(field.name().as_bytes()).into_owned());
        Self { out, header: header.collect(), sample: Vec::new(), widths: Vec::new() }
    }

    /// Prints the header and the first rows.
    fn begin(&mut self) -> Result<()> {
        if !self.widths.is_empty() || (self.sample.is_empty() && self.header.is_empty()) {
            return Ok(());
        }
        self.widths = self.header.iter().map(|name| name.chars().count()).collect();
        for row in &self.sample {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = cell.text.chars().count().max(*width);
            }
        }
        let is_number = |nth: usize| self.sample.first().is_some_and(|row| row[nth].is_number);
        let header = self.header.iter().enumerate();
        let header = header.map(|(nth, name)| Shown { text: name.clone(), is_number: is_number(nth) });
        let rows: Vec<_> =
            std::iter::once(header.collect()).chain(std::mem::take(&mut self.sample)).collect();
        rows.iter().try_for_each(|row| self.line(row))
    }

    fn line(&mut self, row: &[Shown]) -> Result<()> {
        let mut line = String::new();
        for (Shown { text, is_number }, width) in row.iter().zip(&self.widths) {
            let padding = " ".repeat(width.saturating_sub(text.chars().count()));
            let (before, after) = if *is_number { (&*padding, "") } else { ("", &*padding) };
            if !line.is_empty() {
                line.push_str("  ");
            }
            line.extend([before, text, after]);
        }
        line.truncate(line.trim_end_matches(' ').len());
        line.push('\n');
        Ok(self.out.write_all(line.as_bytes())?)
    }
}

impl<W: Write> Print for Table<W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            let shown = |cell: Cell<'_>| {
                let text = cell.text();
                let text = match sanitize(text.as_bytes()) {
                    Cow::Owned(text) => text,
                    Cow::Borrowed(text) => text.to_owned(),
                };
                Shown { text, is_number: cell.is_number() }
            };
            let cells = batch.columns().iter().map(|column| Cell::of(column, row).map(shown));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            if self.widths.is_empty() {
                self.sample.push(cells);
                if self.sample.len() == SAMPLE {
                    self.begin()?;
                }
            } else {
                self.line(&cells)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.begin()?;
        Ok(self.out.flush()?)
    }
}
