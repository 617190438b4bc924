//! Rows as a Parquet file.

use std::io::Write;

use anyhow::Result;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Print;

pub(super) struct Parquet<W: Write + Send>(ArrowWriter<W>);

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(schema: SchemaRef, out: W) -> Result<Self> {
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
        Ok(Self(ArrowWriter::try_new(out, schema, Some(properties.build()))?))
    }
}

impl<W: Write + Send> Print for Parquet<W> {
    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(batch)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.0.into_inner()?.flush()?)
    }
}
