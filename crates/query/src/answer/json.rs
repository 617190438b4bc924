//! Rows as JSON, one object per line.

use std::io::Write;

use anyhow::Result;
use datafusion::arrow::record_batch::RecordBatch;
use ftk_record::write_record;

use super::{Cell, Print};

pub(super) struct Json<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, line: Vec::new() }
    }
}

impl<W: Write> Print for Json<W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|column| Cell::of(column, row));
            let cells = cells.collect::<Result<Vec<_>>>()?;
            self.line.clear();
            write_record(&mut self.line, |record| {
                for (field, cell) in schema.fields().iter().zip(&cells) {
                    record.member(field.name(), cell);
                }
            });
            self.out.write_all(&self.line)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}
