//! Rows as CSV.

use std::io::Write;

use anyhow::Result;
use csv::{Terminator, Writer, WriterBuilder};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::record_batch::RecordBatch;

use super::{Cell, Print};

/// Comma-separated values as in RFC 4180: a header, and lines that end with CR LF. Null is empty.
pub(super) struct Csv<W: Write>(Writer<W>);

impl<W: Write> Csv<W> {
    /// Prints the header.
    pub(super) fn new(schema: &Schema, out: W) -> Result<Self> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        writer.write_record(schema.fields().iter().map(|field| field.name()))?;
        Ok(Self(writer))
    }
}

impl<W: Write> Print for Csv<W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        for row in 0..batch.num_rows() {
            for column in batch.columns() {
                self.0.write_field(&*Cell::of(column, row)?.text())?;
            }
            self.0.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.0.flush()?)
    }
}
